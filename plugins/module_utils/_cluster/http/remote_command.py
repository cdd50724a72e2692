# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a command in a container, over a WebSocket (KEP-4006)."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ..cluster import ExecResult
from ..errors import ClusterError, Unreachable, api_error
from .login import missing_client
from .tls import tls_context
from .transport import CONNECT_SECONDS, Transport, bypasses_proxy, decoded_status, plain_reason

PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
STDOUT, STDERR, STATUS = 1, 2, 3
"""The channels, of which each message names one in its first byte."""


def run_command(
    transport: Transport, action: str, path: str, command: Sequence[str], container: str | None
) -> ExecResult:
    """Run a command in a container and wait for its end.

    Args:
        transport: the connection whose server and login to use.
        action: what is being done, for errors.
        path: the path of the pod's ``exec`` subresource.
        command: the program and its arguments; no shell is between.
        container: the container, or None for the pod's default one.

    Raises:
        ApiError: the server says no.
        ClusterError: the command could not be started, or the connection broke off before its end.
    """
    try:
        import websocket
    except ImportError as error:
        raise missing_client() from error
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
    try:
        connection = websocket.create_connection(
            "ws" + url.removeprefix("http"),
            timeout=CONNECT_SECONDS,
            header=[f"{name}: {value}" for name, value in transport.identity()],
            subprotocols=PROTOCOLS,
            suppress_origin=True,
            sockopt=[(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)],
            sslopt=tls_options(transport),
            **proxy_options(transport),
        )
        try:
            connection.settimeout(None)
            while message := connection.recv():
                data = message if isinstance(message, bytes) else message.encode()
                output.get(data[0], bytearray()).extend(data[1:])
        except websocket.WebSocketConnectionClosedException:
            pass
        finally:
            connection.close()
    except websocket.WebSocketBadStatusException as error:
        raise api_error(action, error.status_code, decoded_status(error.resp_body or b"")) from error
    except (websocket.WebSocketException, OSError) as error:
        raise Unreachable(
            f"{action}: no answer from {transport.login.server}: {plain_reason(error)}"
        ) from error
    if not output[STATUS]:
        raise ClusterError(f"{action}: the connection broke off before the command ended")
    exit_code = exit_code_of(action, decoded_status(bytes(output[STATUS])))
    return ExecResult(bytes(output[STDOUT]), bytes(output[STDERR]), exit_code)


def exit_code_of(action: str, status: dict[str, Any]) -> int:
    """The exit code that the closing Status tells.

    Raises:
        ClusterError: the command didn't run.
    """
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise ClusterError(f"{action}: {status.get('message') or json.dumps(status)}")


def tls_options(transport: Transport) -> dict[str, Any]:
    """The login's TLS as the WebSocket library takes it."""
    login = transport.login
    if not login.server.startswith("https:"):
        return {}
    options: dict[str, Any] = {"context": tls_context(login)}
    if login.server_name:
        options["server_hostname"] = login.server_name
    return options


def proxy_options(transport: Transport) -> dict[str, Any]:
    """The login's proxy as the WebSocket library takes it; never one that it finds by itself."""
    login = transport.login
    if not login.proxy or bypasses_proxy(login.server, login.no_proxy):
        return {"http_no_proxy": ["*"]}
    parts = urlsplit(login.proxy)
    options: dict[str, Any] = {
        "http_proxy_host": parts.hostname,
        "http_proxy_port": parts.port,
        "proxy_type": parts.scheme if parts.scheme.startswith("socks") else "http",
        # An empty list would make it look at the environment.
        "http_no_proxy": ["none.invalid"],
    }
    if parts.username:
        options["http_proxy_auth"] = (parts.username, parts.password or "")
    return options
