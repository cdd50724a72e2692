# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An HTTP endpoint of an engine: liveness, readiness and metrics. It reads nothing and shows no secret."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeAlias

from ..._errors import LifecycleError

Answer: TypeAlias = "tuple[HTTPStatus, str]"
TIMEOUT = 10.0
"""Seconds that a client may take to send its request."""
_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]]*):(?P<port>[0-9]{1,5})")
_HIGHEST_PORT = 65535
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of Prometheus's text format."""


def parse_address(text: str) -> tuple[str, int]:
    """The host and the port of ``127.0.0.1:8080``, ``[::1]:8080`` or ``:8080``, which is every address.

    Raises:
        LifecycleError: it is something else.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or not 0 < int(match["port"]) <= _HIGHEST_PORT:
        raise LifecycleError(
            f"http_address (kyma_errand_http) is {text!r}; use an address and a port, such as 127.0.0.1:8080,"
            " or :8080 for every address of the machine"
        )
    return match["host"].strip("[]"), int(match["port"])


@contextmanager
def http_endpoint(address: str, answers: Mapping[str, Callable[[], Answer]]) -> Iterator[None]:
    """Answer GET and HEAD requests while this block goes on.

    Args:
        address: see :func:`parse_address`; empty for no endpoint.
        answers: by path, what gives the answer. Each request calls it in a separate thread.

    Raises:
        LifecycleError: the address can't be used.
    """
    if not address:
        yield
        return
    host, port = parse_address(address)
    try:
        server = _server_class(host)((host, port), _handler(answers))
    except OSError as error:
        raise LifecycleError(
            f"the engine can't listen on {address}: {error.strerror or error}. Set http_address"
            " (kyma_errand_http) to an address of this machine with a free port"
        ) from None
    thread = threading.Thread(target=server.serve_forever, name=f"http {address}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()


def _server_class(host: str) -> type[ThreadingHTTPServer]:
    class Server(ThreadingHTTPServer):
        # Every address, also those of IPv4.
        address_family = (
            socket.AF_INET6 if ":" in host or (not host and socket.has_dualstack_ipv6()) else socket.AF_INET
        )
        daemon_threads = True

        def server_bind(self) -> None:
            if self.address_family == socket.AF_INET6 and not host:
                self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            # Without the look for the machine's name, which may ask a DNS server.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(self.server_address)
            self.server_address = self.socket.getsockname()
            self.server_name, self.server_port = host, self.server_address[1]

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing of clients that go away."""

    return Server


def _handler(answers: Mapping[str, Callable[[], Answer]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = TIMEOUT
        server_version, sys_version = "kyma-lifecycle", ""

        def do_GET(self) -> None:
            known = answers.get(self.path.partition("?")[0])
            status, text = known() if known else (HTTPStatus(404), f"use one of {', '.join(answers)}")
            body = (text if text.endswith("\n") else f"{text}\n").encode()
            self.send_response(status)
            self.send_header("Content-Type", _TEXT)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_HEAD = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing of requests: a probe comes each few seconds."""

    return Handler
