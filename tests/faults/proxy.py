# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proxy before an API server that lets faults happen, and says which."""

from __future__ import annotations

import http.client
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .fault import NOTHING, Fault, Request

Script = Callable[[Request], Fault]
"""Decides what befalls a request; called for one after the other."""

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "upgrade", "host", "content-length"})
UPSTREAM_SECONDS = 120.0


@dataclass(frozen=True)
class Passage:
    """What came of one request.

    Attributes:
        request: as it came.
        fault: what befell it.
        status: what the API server answered; 0 if it was not asked, or has not answered.
    """

    request: Request
    fault: Fault
    status: int

    def __str__(self) -> str:
        line = f"{self.request.number:4d} {self.request} -> {self.status or '-'}"
        return f"{line}   *** {self.fault.name}" if self.fault.name else line


class Proxy:
    """Listens with the API server's certificate, and passes on what the script lets pass.

    Who asks has to bring a token: a client's certificate can't be passed on.

    Attributes:
        url: where it listens.
        passages: everything that came, in the order in which it was answered.
    """

    def __init__(self, server: str, pki: Path) -> None:
        parts = urlsplit(server)
        self.upstream = (str(parts.hostname), int(parts.port or 443))
        self.trust = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        self.passages: list[Passage] = []
        self._script: Script = lambda _request: NOTHING
        self._lock = threading.Lock()
        self._count = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pki / "apiserver.crt", pki / "apiserver.key")
        self._server = _Server(self, context)
        self.url = f"https://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def play(self, script: Script) -> None:
        """Let this script decide from now on."""
        with self._lock:
            self._script = script

    def pass_all(self) -> None:
        """Let everything pass from now on."""
        self.play(lambda _request: NOTHING)

    def forget(self) -> None:
        """Begin anew: count from one, and forget what came."""
        with self._lock:
            self.passages = []
            self._count = 0

    @property
    def sequence(self) -> str:
        """What came and what befell it, a line each, without what only read and was let alone."""
        with self._lock:
            lines = [str(one) for one in self.passages if one.request.writes or one.fault.name]
        return "\n".join(lines)

    def close(self) -> None:
        """Listen no longer."""
        self._server.shutdown()
        self._server.server_close()

    def decide(self, method: str, target: str, peer: int, content: bytes) -> tuple[Request, Fault]:
        """Ask the script about a request; one at a time."""
        path, _mark, query = target.partition("?")
        with self._lock:
            self._count += 1
            request = Request(self._count, method, path, query, peer, content)
            return request, self._script(request)

    def note(self, request: Request, fault: Fault, status: int) -> None:
        """Keep what came of a request."""
        with self._lock:
            self.passages.append(Passage(request, fault, status))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, proxy: Proxy, context: ssl.SSLContext) -> None:
        self.proxy = proxy
        self._context = context
        super().__init__(("127.0.0.1", 0), _Handler)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """In the connection's own thread: who is slow to shake hands keeps nobody else waiting."""
        request.settimeout(UPSTREAM_SECONDS)
        with self._context.wrap_socket(request, server_side=True) as wrapped:
            super().finish_request(wrapped, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asks may be killed at any moment."""


class _Broken(Exception):
    """The connection is to break now."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def setup(self) -> None:
        super().setup()
        self._upstream: http.client.HTTPSConnection | None = None

    def finish(self) -> None:
        if self._upstream is not None:
            self._upstream.close()
        with suppress(OSError, ValueError):
            super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """The proxy keeps its own log."""

    def _pass(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        proxy = self.server.proxy
        request, fault = proxy.decide(self.command, self.path, self.client_address[1], content)
        status = 0
        try:
            if fault.before:
                fault.before()
            if fault.reset_before:
                raise _Broken
            if fault.answer:
                self._refuse(fault)
                return
            answer = self._ask(content)
            status = answer.status
            if fault.after:
                fault.after()
            if fault.reset_after:
                raise _Broken
            self._send_back(answer, fault)
        except _Broken:
            self._break()
        except (OSError, http.client.HTTPException):
            # Whoever asked or the API server is away: to the other side that is a broken connection.
            self._break()
        finally:
            proxy.note(request, fault, status)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass

    def _ask(self, content: bytes) -> http.client.HTTPResponse:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
        for fresh in (False, True):
            if self._upstream is None:
                host, port = self.server.proxy.upstream
                self._upstream = http.client.HTTPSConnection(
                    host, port, timeout=UPSTREAM_SECONDS, context=self.server.proxy.trust
                )
                fresh = True
            try:
                self._upstream.request(self.command, self.path, body=content or None, headers=headers)
                return self._upstream.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                # Idle connections end at the API server's own time; a new one's failure is the truth.
                self._upstream.close()
                self._upstream = None
                if fresh:
                    raise
        raise AssertionError("the second attempt returns or raises")

    def _refuse(self, fault: Fault) -> None:
        self.send_response(fault.answer)
        if fault.retry_after:
            self.send_header("Retry-After", str(fault.retry_after))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(fault.body)))
        self.end_headers()
        self.wfile.write(fault.body)

    def _send_back(self, answer: http.client.HTTPResponse, fault: Fault) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if fault.heard or answer.getheader("Content-Length") is not None:
            whole = answer.read()
            if fault.heard:
                fault.heard(whole)
            self.send_header("Content-Length", str(len(whole)))
            self.end_headers()
            self.wfile.write(whole[: len(whole) // 2] if fault.cut else whole)
        else:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            while piece := answer.read1(65536):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                if fault.cut:
                    break
            else:
                self.wfile.write(b"0\r\n\r\n")
        if fault.cut:
            raise _Broken

    def _break(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            # Not an orderly end: whoever asked gets a reset, as from a proxy or a node that dies.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()
