# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP to one API server: a connection pool, our identity, retries that are safe, errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from ..cluster import WriteTerms
from .answers import Answer
from .attempts import Attempts, Request, interruptible, unreachable
from .endpoint import Endpoint

if TYPE_CHECKING:
    from ..stop_signal import StopSignal


class Transport(Endpoint):
    """Requests to one API server, from any number of threads."""

    def with_terms(self, terms: WriteTerms) -> Transport:
        """The same server, with the identity and the time limit of the terms.

        The server gets the limit, too: if our process is suspended, it can't close the connection.
        """
        login = self.login
        if terms.authorization:
            # A certificate would take precedence over the token.
            login = replace(
                login,
                authorization=terms.authorization,
                cert_file="",
                cert_data="",
                key_file="",
                key_data="",
                impersonate_user="",
                impersonate_groups=(),
            )
        other = copy(self)
        other.login = login
        other.terms = terms.within(self.terms)
        is_same_client = (login.cert_file, login.cert_data) == (self.login.cert_file, self.login.cert_data)
        other._pool = self.pool() if is_same_client else None
        return other

    def request(
        self,
        action: str,
        method: str,
        path: str,
        *,
        query: Iterable[tuple[str, str]] = (),
        body: object = None,
        content_type: str = "application/json",
        accept: str = "application/json",
        repeatable: bool = False,
    ) -> Answer:
        """Send a request and read its answer.

        Args:
            action: the operation and its object, for errors, e.g. ``apply Pod a/b``.
            method: the HTTP method.
            path: the path below the server's URL, escaped.
            query: the query's parameters; empty values are omitted.
            body: the content to send as JSON, or None.
            content_type: of the body.
            accept: the Accept header.
            repeatable: whether a second request has the same effect; reads always do. Others are repeated
                only if the server has surely not acted on them.

        Raises:
            ApiError: the server refuses it.
            Unreachable: there was no answer, also not to a retry.
            ClusterError: no time was left for it, and there will be no more.
            Unconfigured: the server's certificate is not trusted, or ours can't be read.
        """
        request = Request(action, method, path, query, accept, body, content_type, repeatable)
        attempts = Attempts(self, request)
        response = attempts.response()
        self.report_warnings(action, response)
        return Answer(response.status, attempts.data)

    @contextmanager
    def stream(
        self,
        action: str,
        path: str,
        *,
        query: Iterable[tuple[str, str]],
        seconds: float,
        accept: str = "application/json",
        stop: StopSignal | None = None,
    ) -> Iterator[Iterator[bytes]]:
        """Open a continuing answer, and read it line by line; it ends after ``seconds`` without data.

        Args:
            action: the operation and its object, for errors.
            path: the path below the server's URL, escaped.
            query: the query's parameters; empty values are omitted.
            seconds: how long the server may be silent.
            accept: the Accept header.
            stop: ends it at once, also during a wait for the server.

        Raises:
            ApiError: the server refuses it.
            Unreachable: there was no answer, or it broke off.
        """
        import urllib3

        request = Request(action, "GET", path, query, accept, stream_seconds=max(seconds, 0.1))
        response = Attempts(self, request).response()

        def lines() -> Iterator[bytes]:
            rest = b""
            try:
                for chunk in response.stream(2**16, decode_content=True):
                    *complete, rest = (rest + chunk).split(b"\n")
                    yield from (line for line in complete if line)
            except urllib3.exceptions.ReadTimeoutError:
                return
            except urllib3.exceptions.HTTPError as error:
                if stop is not None and stop.is_set:
                    return
                raise unreachable(self.login, error) from error

        try:
            with interruptible(response, stop) if stop is not None else nullcontext():
                yield lines()
        finally:
            response.close()
