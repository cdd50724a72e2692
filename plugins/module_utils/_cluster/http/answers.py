# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an API server, or something before it, answers to a request. Pure."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..._redaction import without_login
from ..errors import ApiError, ClusterError, ServerTimeout
from .retry import INTERNAL

DISCOVERY_ROOTS = ("/api", "/apis")
"""Paths that every API server serves."""
NOT_SERVED = b"404 page not found"
"""The answer of an API server for an unknown path, if it is no Status."""


class Answer(NamedTuple):
    """The server's answer to a request that succeeded."""

    status: int
    data: bytes

    def json(self) -> dict[str, Any]:
        """The decoded body.

        Raises:
            ClusterError: the body is not from an API server.
        """
        try:
            decoded = json.loads(self.data)
        except (ValueError, RecursionError):
            decoded = None
        if not isinstance(decoded, dict):
            raise ClusterError(
                "the server that answered is not an API server, because its answer is not a JSON object: "
                "perhaps a proxy or a login page; check the server in the kubeconfig"
            )
        return decoded


def is_refused_rehearsal(failure: ApiError, query: Iterable[tuple[str, str]]) -> bool:
    """Whether a dry run failed inside the server: mostly due to a webhook, which many objects may need."""
    return (
        failure.status == INTERNAL and not isinstance(failure, ServerTimeout) and ("dryRun", "All") in query
    )


def is_own_404(path: str, data: bytes) -> bool:
    """Whether a 404 is from an API server itself, not from a proxy or another server at its address.

    Args:
        path: the requested path.
        data: the answer's body.
    """
    if path in DISCOVERY_ROOTS:
        return False
    body = decoded_status(data)
    # For an unknown path an extension API server lists the known ones (metav1.RootPaths).
    return body.get("kind") == "Status" or body.keys() == {"paths"} or data.strip() == NOT_SERVED


def foreign_404(data: bytes) -> str:
    """The sender of a 404 that isn't from an API server, for a message."""
    text = " ".join(data[:200].decode("utf-8", "replace").split())
    return "the server that answered is not an API server: HTTP 404" + (f", {text}" if text else "")


def is_broken_off(error: BaseException) -> bool:
    """Whether TLS failed only because the other end closed the connection, as when a server stops."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, (ssl.SSLEOFError, ssl.SSLZeroReturnError, ConnectionError)):
            return True
        inner = cause.args[0] if cause.args and isinstance(cause.args[0], BaseException) else None
        cause = inner or cause.__cause__ or cause.__context__
    return False


def decoded_status(data: bytes) -> dict[str, Any]:
    """The Status in an answer; any other answer becomes a Status with the text as its message."""
    try:
        decoded = json.loads(data)
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, dict):
        return decoded
    return {"message": data[:500].decode("utf-8", "replace").strip()}


def explained_status(
    status: int, data: bytes, headers: Mapping[str, str], server: str, limit: float
) -> dict[str, Any]:
    """The Status in an answer that refuses a request, with what to do if no API server answers like this.

    Args:
        status, data, headers: of the answer.
        server: its URL, for people.
        limit: the most seconds that a request waits for the server.
    """
    if 300 <= status < 400:
        location = without_login(headers.get("Location") or "nowhere")
        return {
            "message": f"{server} redirects to {location} (HTTP {status}), which no API server does: it is"
            " perhaps a proxy or a login page. Set the server in the kubeconfig to the URL of the API server"
        }
    body = decoded_status(data)
    seconds = retry_after_seconds(headers.get("Retry-After"))
    if seconds is None or seconds <= limit:
        return body
    wait = f"{seconds / 86400:.1f} days" if seconds >= 86400 else f"{seconds / 60:.0f} minutes"
    return {
        **body,
        "message": f"{body.get('message') or f'HTTP {status}'}. {server} asks to wait {wait} (Retry-After),"
        f" and a request waits {limit:.0f} s at most. Check what limits your requests there, or run this"
        " again later",
    }


def retry_after_seconds(retry_after: str | None) -> float | None:
    """The Retry-After header if it is a number; API servers send no dates."""
    return float(retry_after) if retry_after and retry_after.isdecimal() else None


def plain_reason(error: BaseException) -> str:
    """The innermost reason of a transport's error, in plain words."""
    while True:
        inner = getattr(error, "reason", None) or error.__cause__ or error.__context__
        if not isinstance(inner, BaseException):
            break
        error = inner
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
