# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One API server for requests: its address, our identity, the pool of connections, its reachability."""

from __future__ import annotations

import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from ..._threads import REQUESTS_AT_ONCE
from ..._timestamp import timestamp
from ..cluster import WriteTerms
from ..substitute import original_warning
from .login import Login
from .pool import open_pool
from .retry import Loss, RetryPolicy

if TYPE_CHECKING:
    import urllib3

OnWarning = Callable[[str, str], None]
"""Receives the operation, and the warning of the API server (KEP-1693)."""

WARNING = re.compile(r'\b299 \S+ "((?:[^"\\]|\\.)*)"')
AWAY_SECONDS = 1.0
"""Seconds without any answer after which a server counts as away, instead of one connection as broken."""
STARTING_SECONDS = 10.0
"""Seconds in which a restarted server may refuse what is allowed, until it knows its own rules."""


@dataclass
class Presence:
    """The known reachability of a server, shared by all threads that send requests.

    Attributes:
        patient: whether it has answered before, or surely will.
        away_since: the time since which no request got an answer; None if the last one did.
        back_since: the time of the first answer after the server was last away.
        answered_at: the header ``Date`` of the last answer, and the time when it arrived.
    """

    patient: bool
    away_since: float | None = None
    back_since: float = -math.inf
    answered_at: tuple[str, float] = ("", 0.0)

    def is_starting(self) -> bool:
        """Whether the server was away just now."""
        return time.monotonic() - self.back_since < STARTING_SECONDS

    def server_time(self) -> str:
        """The time by the server's clock (RFC 3339); empty if the last answer had none."""
        date, arrived = self.answered_at
        if not date:
            return ""
        # Imported here, because few tasks need it.
        from email.utils import parsedate_to_datetime

        try:
            answered = parsedate_to_datetime(date)
        except ValueError:
            return ""
        return timestamp(answered + timedelta(seconds=time.monotonic() - arrived))

    def note_answer(self, date: str | None) -> None:
        """Note that a request got an answer now, with this header ``Date``."""
        self.answered_at = date or "", time.monotonic()
        since = self.away_since
        self.away_since = None
        if since is not None and time.monotonic() - since >= AWAY_SECONDS:
            self.back_since = time.monotonic()

    def gone_since(self, outcome: Loss | int) -> float:
        """The time since which no request got an answer: later requests need not wait as long again."""
        now = time.monotonic()
        if not isinstance(outcome, Loss):
            return now
        since = self.away_since
        if since is None:
            since = self.away_since = now
        return since


class Endpoint:
    """One API server, for any number of threads.

    Args:
        login: the server, and our identity.
        on_warning: receives the server's warnings.
        retry: the limits of one request's attempts.
        patient: wait for a server that has not answered this process yet: it is known to exist.
        sleep: waits so many seconds.
        terms: how long a request that begins now may take, if that is limited.

    Attributes:
        requests: the number of HTTP requests by method, including every attempt.
        retry_policy, sleep, terms: see the arguments.
        presence: what is known of the server's reachability.
        turns: bounds how many requests are sent at once.
    """

    def __init__(
        self,
        login: Login,
        *,
        on_warning: OnWarning | None = None,
        retry: RetryPolicy | None = None,
        patient: bool = False,
        sleep: Callable[[float], None] = time.sleep,
        terms: WriteTerms | None = None,
    ) -> None:
        self.login = login
        self.requests: Counter[str] = Counter()
        self._on_warning = on_warning
        self.retry_policy = retry or RetryPolicy()
        self.presence = Presence(patient)
        self.sleep = sleep
        self.terms = terms
        self.turns = threading.BoundedSemaphore(REQUESTS_AT_ONCE)
        self._lock = threading.Lock()
        self._pool: urllib3.PoolManager | None = None

    @property
    def is_starting(self) -> bool:
        """Whether the server was away just now: it may not yet know permissions and served kinds."""
        return self.presence.is_starting()

    def url(self, path: str, query: Iterable[tuple[str, str]] = ()) -> str:
        """The whole URL of a path."""
        parameters = [(key, value) for key, value in query if value != ""]
        return self.login.server + path + ("?" + urlencode(parameters) if parameters else "")

    def identity(self, refused: str = "") -> list[tuple[str, str]]:
        """The headers with our identity and impersonation, without an Authorization that was refused."""
        headers = []
        authorization = self.login.authorization(refused)
        if authorization:
            headers.append(("Authorization", authorization))
        if self.login.impersonate_user:
            headers.append(("Impersonate-User", self.login.impersonate_user))
        headers.extend(("Impersonate-Group", group) for group in self.login.impersonate_groups)
        return headers

    def count(self, method: str) -> None:
        """Count one request."""
        with self._lock:
            self.requests[method] += 1

    def pool(self) -> urllib3.PoolManager:
        """The pool of connections; see :func:`~.pool.open_pool`."""
        with self._lock:
            if self._pool is None:
                self._pool = open_pool(self.login)
            return self._pool

    def report_warnings(self, action: str, response: urllib3.BaseHTTPResponse) -> None:
        """Report the warnings in a response."""
        if self._on_warning is None:
            return
        for header in response.headers.getlist("Warning") if "Warning" in response.headers else ():
            for text in WARNING.findall(header):
                self._on_warning(*original_warning(action, re.sub(r"\\(.)", r"\1", text)))
