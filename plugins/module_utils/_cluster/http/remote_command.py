# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command in a container, over a WebSocket (KEP-4006)."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..cluster import ExecResult
from ..errors import ClusterError, ExecOutputTooLarge, ExecTimeout, Unreachable, api_error
from .answers import decoded_status, plain_reason
from .attempts import CONNECT_SECONDS
from .login import missing_library
from .pool import bypasses_proxy, keepalive_options
from .tls import tls_context
from .transport import Transport

if TYPE_CHECKING:
    import websocket

PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
STDOUT, STDERR, STATUS = 1, 2, 3
"""The channels; the first byte of each message names one."""
BREAK_OFF_SECONDS = 0.1
"""Seconds between attempts to break off a connection that was still being opened when its time ended."""


def run_command(
    transport: Transport,
    action: str,
    path: str,
    command: Sequence[str],
    container: str | None,
    *,
    seconds: float,
    max_bytes: int,
) -> ExecResult:
    """Run a command in a container and wait for its end.

    Args:
        transport: the connection whose server and login to use.
        action: the operation, for errors.
        path: the path of the pod's ``exec`` subresource.
        command: the program and its arguments; no shell interprets them.
        container: the container, or None for the pod's default one.
        seconds: the time limit of all of it.
        max_bytes: the limit of its output.

    Raises:
        ExecTimeout: the command took longer.
        Unreachable: the server did not accept the connection, or not in that time.
        ExecOutputTooLarge: the command printed more.
        ApiError: the server refuses it.
        ClusterError: the command could not be started, or the connection broke off before its end.
    """
    try:
        import websocket
    except ImportError as error:
        raise missing_library("websocket-client") from error
    url = transport.url(
        path,
        [
            ("container", container or ""),
            ("stdout", "true"),
            ("stderr", "true"),
            *(("command", part) for part in command),
        ],
    )
    transport.count("GET")
    output = {STDOUT: bytearray(), STDERR: bytearray(), STATUS: bytearray()}
    connection = websocket.WebSocket(sockopt=keepalive_options(), sslopt=tls_options(transport))
    connection.settimeout(min(CONNECT_SECONDS, seconds))
    expired, is_open = threading.Event(), False
    end = time.monotonic() + seconds
    try:
        with closed_after(seconds, connection, expired):
            connection.connect(
                "ws" + url.removeprefix("http"),
                header=[f"{name}: {value}" for name, value in transport.identity()],
                subprotocols=PROTOCOLS,
                suppress_origin=True,
                **proxy_options(transport),
            )
            connection.settimeout(None)
            is_open = True
            with suppress(websocket.WebSocketConnectionClosedException):
                while message := connection.recv():
                    data = message if isinstance(message, bytes) else message.encode()
                    output.get(data[0], bytearray()).extend(data[1:])
                    if len(output[STDOUT]) + len(output[STDERR]) > max_bytes:
                        raise ExecOutputTooLarge(action, max_bytes)
    except websocket.WebSocketBadStatusException as error:
        raise api_error(action, error.status_code, decoded_status(error.resp_body or b"")) from error
    except (websocket.WebSocketException, OSError) as error:
        if is_open and (expired.is_set() or time.monotonic() >= end):
            raise ExecTimeout(action, seconds) from error
        raise Unreachable(
            f"{action}: no answer from {transport.login.shown}: {plain_reason(error)}"
        ) from error
    if expired.is_set():
        raise ExecTimeout(action, seconds)
    if not output[STATUS]:
        raise ClusterError(f"{action}: the connection broke off before the command ended")
    exit_code = exit_code_of(action, decoded_status(bytes(output[STATUS])))
    return ExecResult(bytes(output[STDOUT]), bytes(output[STDERR]), exit_code)


@contextmanager
def closed_after(seconds: float, connection: websocket.WebSocket, expired: threading.Event) -> Iterator[None]:
    """Close a connection at the end of this block, or break it off after some seconds.

    A timeout of the socket would restart with each byte.

    Args:
        seconds: how long the block may take.
        connection: it may have no socket yet.
        expired: set before the connection is broken off.
    """
    ended = threading.Event()

    def break_off() -> None:
        pause = seconds
        while not ended.wait(pause):
            expired.set()
            # The library sets the socket when it is connected, and removes it when the connection has failed.
            own: Any = connection.sock
            if own is not None:
                with suppress(OSError):
                    # The shutdown of a TLS socket would remove it while the other thread reads.
                    socket.socket.shutdown(own, socket.SHUT_RDWR)
            pause = BREAK_OFF_SECONDS

    thread = threading.Thread(target=break_off, name="exec timeout", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        # A closing handshake would wait for the server, which knows already or does not answer.
        connection.shutdown()


def exit_code_of(action: str, status: dict[str, Any]) -> int:
    """The exit code in the closing Status.

    Raises:
        ClusterError: the command did not run.
    """
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise ClusterError(f"{action}: {status.get('message') or json.dumps(status)}")


def tls_options(transport: Transport) -> dict[str, Any]:
    """The login's TLS settings for the WebSocket library."""
    login = transport.login
    if not login.server.startswith("https:"):
        return {}
    options: dict[str, Any] = {"context": tls_context(login)}
    if login.server_name:
        options["server_hostname"] = login.server_name
    return options


def proxy_options(transport: Transport) -> dict[str, Any]:
    """The login's proxy for the WebSocket library, which must not find one by itself."""
    login = transport.login
    if not login.proxy or bypasses_proxy(login.server, login.no_proxy):
        return {"http_no_proxy": ["*"]}
    parts = urlsplit(login.proxy)
    options: dict[str, Any] = {
        "http_proxy_host": parts.hostname,
        "http_proxy_port": parts.port,
        "proxy_type": parts.scheme if parts.scheme.startswith("socks") else "http",
        # With an empty list it would read the environment.
        "http_no_proxy": ["none.invalid"],
    }
    if parts.username:
        options["http_proxy_auth"] = (parts.username, parts.password or "")
    return options
