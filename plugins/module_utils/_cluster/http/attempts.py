# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The attempts of one request, until the server has acted on it or refuses it for good."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..._long_waits import alarm, report_wait
from ..cluster import WriteTerms
from ..errors import ApiError, Unconfigured, Unreachable, api_error, is_answer, may_have_acted
from ..stop_signal import StopSignal
from .answers import (
    explained_status,
    foreign_404,
    is_broken_off,
    is_own_404,
    is_refused_rehearsal,
    plain_reason,
    retry_after_seconds,
)
from .endpoint import Endpoint
from .login import Login, login_not_accepted
from .pool import is_loopback
from .retry import INTERNAL, Loss

if TYPE_CHECKING:
    import urllib3

CONNECT_SECONDS = 10.0
READ_SECONDS = 75.0
"""More than the 60 seconds after which an API server itself gives up, so that its answer arrives."""
MOST_BYTES = 512 * 1024 * 1024
"""More than a page of the largest objects has, which API servers limit to 1.5 MiB each."""
PIECE_BYTES = 1024 * 1024
STARTING_POLL_SECONDS = 0.2
NOT_YET_KNOWN = frozenset({401, 403})
"""The statuses of a restarted server that does not know its own rules yet; it has not acted."""
SHORTEST_SECONDS = 1.0
"""The least remaining time, in seconds, in which a request is sent."""
TIME_POLL_SECONDS = 0.2
"""How often a request without time checks whether there is some, in seconds."""
USER_AGENT = "kyma-lifecycle"
LEASES = "/apis/coordination.k8s.io/"


@dataclass(frozen=True)
class Request:
    """One request to an API server; see :meth:`~.transport.Transport.request`.

    Attributes:
        stream_seconds: how long the server may be silent in a continuing answer; None for others.
    """

    action: str
    method: str
    path: str
    query: Iterable[tuple[str, str]]
    accept: str
    body: object = None
    content_type: str = ""
    repeatable: bool = False
    stream_seconds: float | None = None


class Attempts:
    """The attempts of one request.

    Attributes:
        data: the body of the last response, if it isn't a stream.
    """

    data = b""

    def __init__(self, endpoint: Endpoint, request: Request) -> None:
        self._endpoint = endpoint
        self._request = request
        self._query = list(request.query)
        self._body = None if request.body is None else json.dumps(request.body, ensure_ascii=False).encode()
        self._repeatable = request.repeatable or request.method == "GET"
        self._pool = endpoint.pool()
        self._started = time.monotonic()
        self._count = 0
        self._authorization = ""
        self._refused = ""
        """The Authorization that the server has refused."""
        self._failure: Unreachable | ApiError = Unreachable(
            f"{request.action}: not sent, as there was no time left for it", sent=False
        )
        self._missing = "" if request.stream_seconds else "no answer yet"
        """What is waited for; empty if a long wait is normal."""

    def response(self) -> urllib3.BaseHTTPResponse:
        """The response of a server that has accepted the request; errors as of Transport.request."""
        with report_wait("API server", self._wait_reason):
            while True:
                self._count += 1
                response = self._attempt()
                if response is not None:
                    return response

    def _wait_reason(self) -> str:
        if not self._missing:
            return ""
        last = f"; the last attempt begins after {self._endpoint.retry_policy.limit:.0f} s"
        return f"{self._request.action}: {self._missing}, attempt {self._count}{last}"

    def _attempt(self) -> urllib3.BaseHTTPResponse | None:
        """The response to one attempt; None if another attempt is due now."""
        from urllib3.exceptions import HTTPError

        retry_after = None
        try:
            response = self._send()
        except HTTPError as error:
            outcome: Loss | int | None = self._note_loss(error)
        else:
            if response is None or self._is_accepted(response):
                return response
            outcome = self._note_refusal(response)
            retry_after = retry_after_seconds(response.headers.get("Retry-After"))
        if outcome is not None:
            self._wait(outcome, retry_after)
        return None

    def _send(self) -> urllib3.BaseHTTPResponse | None:
        """The response to the request as sent now; None after a wait, if no time was left to send it."""
        headers = self._headers()
        with self._turn():
            return self._send_with(headers)

    def _turn(self) -> AbstractContextManager[object]:
        """Waits while too many others are sent. A watch does not do that, and a lease is renewed at once."""
        is_urgent = self._request.path.startswith(LEASES) or self._request.stream_seconds is not None
        return nullcontext() if is_urgent else self._endpoint.turns

    def _send_with(self, headers: urllib3.HTTPHeaderDict) -> urllib3.BaseHTTPResponse | None:
        from urllib3 import Timeout
        from urllib3.exceptions import ProtocolError

        # Only now, as the login and the other requests may take time.
        limit = self._request.stream_seconds or READ_SECONDS
        bounds: list[tuple[str, str]] = []
        if self._endpoint.terms is not None:
            limit = min(limit, self._endpoint.terms.seconds_left())
            if limit < SHORTEST_SECONDS:
                self._await_time(self._endpoint.terms)
                return None
            bounds = [("timeout", f"{int(limit)}s")]
        self._endpoint.count(self._request.method)
        response = self._pool.request(
            self._request.method,
            self._endpoint.url(self._request.path, [*self._query, *bounds]),
            body=self._body,
            headers=headers,
            timeout=Timeout(connect=min(CONNECT_SECONDS, limit), read=limit),
            retries=False,
            redirect=False,
            preload_content=False,
        )
        if self._missing:
            self._missing = "its answer has not ended"
        if self._request.stream_seconds is None or response.status >= 300:
            self._read_body(response, limit)
        if response.status == 404 and not is_own_404(self._request.path, self.data):
            raise ProtocolError(foreign_404(self.data))
        return response

    def _read_body(self, response: urllib3.BaseHTTPResponse, seconds: float) -> None:
        """Read the body of a response.

        Raises:
            Unreachable: it does not end.
        """
        from urllib3.exceptions import HTTPError

        end = StopSignal()
        pieces: list[bytes] = []
        size = 0
        # A read waits for a whole piece, and a server that sends a byte from time to time prolongs it.
        with interruptible(response, end), alarm(seconds, end.set):
            try:
                while not end.is_set and (piece := response.read(PIECE_BYTES, decode_content=True)):
                    pieces.append(piece)
                    size += len(piece)
                    if size > MOST_BYTES:
                        end.set()
            except HTTPError:
                if not end.is_set:
                    raise
        if end.is_set:
            response.close()
            raise endless(self._endpoint.login, self._request.action, size, seconds)
        self.data = b"".join(pieces)

    def _headers(self) -> urllib3.HTTPHeaderDict:
        from urllib3 import HTTPHeaderDict

        headers = HTTPHeaderDict({"Accept": self._request.accept, "User-Agent": USER_AGENT})
        if self._request.stream_seconds is None and not is_loopback(self._endpoint.login.server):
            # Lists shrink to a twentieth; servers compress answers of more than 128 KiB.
            headers["Accept-Encoding"] = "gzip"
        if self._body is not None:
            headers["Content-Type"] = self._request.content_type
        for name, value in self._endpoint.identity(self._refused):
            headers.add(name, value)
        self._authorization = headers.get("Authorization", "")
        return headers

    def _await_time(self, terms: WriteTerms) -> None:
        """Wait for more time; a server that is away prevents every extension.

        Raises:
            ClusterError: the last failure, if no extension is pending or it takes too long; or the error of
                the terms if there will be none.
        """
        while True:
            waited = time.monotonic() - self._started
            if not terms.is_extension_pending() or waited > self._endpoint.retry_policy.limit:
                raise self._failure
            self._endpoint.sleep(TIME_POLL_SECONDS)
            if terms.seconds_left() >= SHORTEST_SECONDS:
                return

    def _note_loss(self, error: urllib3.exceptions.HTTPError) -> Loss:
        """The kind of a loss: the server has not answered."""
        from urllib3 import exceptions as errors

        login = self._endpoint.login
        if isinstance(error, errors.SSLError) and not is_broken_off(error):
            raise untrusted(login, error) from error
        if isinstance(error, (errors.NewConnectionError, errors.ConnectTimeoutError, errors.ProxyError)):
            # The server may have received an earlier attempt whose answer was lost.
            self._failure = unreachable(login, error, sent=may_have_acted(self._failure))
            self._missing = f"no connection ({plain_reason(error)})"
            return Loss.NOT_SENT
        self._failure = unreachable(login, error)
        self._missing = f"no answer ({plain_reason(error)})"
        if isinstance(error, errors.ReadTimeoutError) and self._request.stream_seconds is not None:
            # The time limit of a stream is not extended.
            self._repeatable = False
        return Loss.NO_ANSWER

    def _is_accepted(self, response: urllib3.BaseHTTPResponse) -> bool:
        self._endpoint.presence.note_answer(response.headers.get("Date"))
        if response.status < INTERNAL:
            self._endpoint.presence.patient = True
        return bool(response.status < 300)

    def _note_refusal(self, response: urllib3.BaseHTTPResponse) -> int | None:
        """The status of an answer that refuses the request; None if another attempt is due now."""
        status: int = response.status
        self._missing = f"HTTP {status}"
        body = explained_status(
            status, self.data, response.headers, self._endpoint.login.shown, self._endpoint.retry_policy.limit
        )
        self._failure = api_error(self._request.action, status, body)
        if status >= INTERNAL and (
            is_answer(self._failure) or is_refused_rehearsal(self._failure, self._query)
        ):
            raise self._failure
        if status == 401:
            self._failure = login_not_accepted(self._endpoint.login, self._request.action)
            if self._has_new_login():
                return None
        if status in NOT_YET_KNOWN and self._endpoint.is_starting:
            self._endpoint.sleep(STARTING_POLL_SECONDS)
            return None
        return status

    def _has_new_login(self) -> bool:
        """Whether the login differs from the refused one: the token may have expired or been rotated."""
        if self._refused:
            return False
        self._refused = self._authorization
        return bool(self._refused) and self._endpoint.login.authorization(self._refused) != self._refused

    def _wait(self, outcome: Loss | int, retry_after: float | None) -> None:
        """Wait until the next attempt; raises the failure if there is none."""
        wait = self._endpoint.retry_policy.delay(
            outcome,
            attempt=self._count,
            elapsed=time.monotonic() - min(self._started, self._endpoint.presence.gone_since(outcome)),
            repeatable=self._repeatable,
            retry_after=retry_after,
            patient=self._endpoint.presence.patient,
        )
        if wait is None:
            raise self._failure
        self._endpoint.sleep(wait)


def unreachable(login: Login, error: Exception, *, sent: bool = True) -> Unreachable:
    """The error for a server that has not answered.

    Args:
        login: names the server.
        error: the error of the HTTP library.
        sent: whether the server may have received a request.
    """
    origin = f" ({login.origin})" if login.origin else ""
    return Unreachable(
        f"no answer from {login.shown}{origin}: {plain_reason(error)}. Check that the API server"
        " runs, and that network, VPN and proxy let you reach it (`kubectl get --raw /readyz`);"
        " then run this again",
        sent=sent,
    )


def endless(login: Login, action: str, size: int, seconds: float) -> Unreachable:
    """The error for an answer that does not end after so many bytes, in so many seconds."""
    return Unreachable(
        f"{action}: the answer of {login.shown} did not end within {seconds:.0f} s and {MOST_BYTES >> 20} MB,"
        f" so the connection was closed after {size} bytes. Check the network, and what is between you and"
        " the API server (a proxy, a VPN); then run this again"
    )


def untrusted(login: Login, error: Exception) -> Unconfigured:
    """The error for a server whose certificate is not trusted."""
    origin = f" ({login.origin})" if login.origin else ""
    return Unconfigured(
        f"no trusted connection to {login.shown}{origin}: {plain_reason(error)}. "
        "The option ca_cert, or the kubeconfig, must name the CA that signed the server's certificate"
    )


@contextmanager
def interruptible(response: urllib3.BaseHTTPResponse, stop: StopSignal) -> Iterator[None]:
    """Let a signal end the reading of a response in this block."""
    try:
        # A duplicate: while we hold it, its number can't name another connection.
        own = socket.socket(fileno=os.dup(response.fileno()))
    except (OSError, ValueError):
        # The response has already ended.
        yield
        return

    def interrupt() -> None:
        with suppress(OSError):
            own.shutdown(socket.SHUT_RDWR)

    with own, stop.interrupting(interrupt):
        yield
