# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scripted API server: real HTTP on the loopback, with answers that a test decides."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    method: str
    path: str
    query: dict[str, str]
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """The first header of that name, or an empty string."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), "")


@dataclass(frozen=True)
class Reply:
    """An answer. A list as the body is a stream of JSON lines; None hangs up without an answer."""

    body: object = field(default_factory=dict)
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


Script = Callable[[Seen], Reply]


@dataclass
class ApiServer:
    """A running scripted server, and its requests."""

    url: str
    seen: list[Seen] = field(default_factory=list)

    def paths(self) -> list[str]:
        """The requested paths, in order."""
        return [request.path for request in self.seen]


@contextmanager
def serve(script: Script, tls: ssl.SSLContext | None = None) -> Iterator[ApiServer]:
    """Run a server with a script of answers until the block ends.

    Args:
        script: answers each request.
        tls: has the certificate of the server; None for plain HTTP.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            query = dict(parse_qsl(parts.query))
            request = Seen(self.command, parts.path, query, list(self.headers.items()), body)
            server.seen.append(request)
            reply = script(request)
            if reply.body is None:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            if isinstance(reply.body, list):
                self.send_stream(reply.body)
                return
            data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_one

        def send_stream(self, lines: list[Any]) -> None:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in lines:
                # In two chunks each, as a network may split them.
                data = json.dumps(line).encode() + b"\n"
                for part in (data[:7], data[7:]):
                    self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    if tls:
        httpd.socket = tls.wrap_socket(httpd.socket, server_side=True)
    server = ApiServer(f"http{'s' if tls else ''}://127.0.0.1:{httpd.server_address[1]}")
    thread = Thread(target=httpd.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        httpd.shutdown()
        httpd.server_close()
        thread.join()


def kind(plural: str, name: str, *, namespaced: bool = True) -> dict[str, Any]:
    """One resource as aggregated discovery names it."""
    return {
        "resource": plural,
        "responseKind": {"group": "", "version": "", "kind": name},
        "scope": "Namespaced" if namespaced else "Cluster",
        "verbs": ["get", "list"],
    }


CORE = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "versions": [
                {
                    "version": "v1",
                    "resources": [
                        kind("configmaps", "ConfigMap"),
                        kind("pods", "Pod"),
                        kind("namespaces", "Namespace", namespaced=False),
                    ],
                }
            ]
        }
    ],
}
GROUPS = {
    "kind": "APIGroupDiscoveryList",
    "items": [
        {
            "metadata": {"name": "rbac.authorization.k8s.io"},
            "versions": [
                {"version": "v1", "resources": [kind("clusterroles", "ClusterRole", namespaced=False)]}
            ],
        }
    ],
}


def discovery_or(script: Script) -> Script:
    """A script that answers discovery, and passes all else to another one."""

    def answer(request: Seen) -> Reply:
        if request.path == "/api":
            return Reply(CORE)
        if request.path == "/apis":
            return Reply(GROUPS)
        return script(request)

    return answer


def status(code: int, reason: str = "", message: str = "", **details: object) -> Reply:
    """An answer that refuses."""
    body = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}
    return Reply({**body, "details": details}, code)
