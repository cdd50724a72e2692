# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One line in the log when the API server stops answering, and one when it is back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http import HTTPStatus

from ..._cluster.errors import Unreachable
from ..._redaction import without_secrets

AWAY_SECONDS = 3.0
"""Seconds after which the log reports that the server does not answer."""
RECENT_SECONDS = 15.0
"""How long an error counts: watches are tried again more often than that."""
_BUSY = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)
"""What a load balancer answers in place of the server."""


class ServerOutage:
    """Whether the API server answers an engine. Usable from several threads.

    Args:
        report: gets a state and a sentence.
        now: a clock, in seconds that only grow.
    """

    def __init__(self, report: Callable[[str, str], None], now: Callable[[], float] = time.monotonic) -> None:
        self._report = report
        self._now = now
        self._lock = threading.Lock()
        self._error, self._error_time = "", 0.0
        self._since: float | None = None
        self.is_reported = False

    def is_unanswered(self, error: Exception) -> bool:
        """Note the error of a request; whether it is that of a server which does not answer."""
        if not isinstance(error, Unreachable) and getattr(error, "status", 0) not in _BUSY:
            return False
        with self._lock:
            self._error, self._error_time = without_secrets(str(error)), self._now()
        return True

    def check(self, *, has_failing_watches: bool, lease_age: float, lease_seconds: float) -> None:
        """Report the beginning and the end of an outage, each once.

        Args:
            has_failing_watches: whether a watch does not follow.
            lease_age: seconds since the lease was last renewed.
            lease_seconds: how long it lasts.
        """
        now = self._now()
        with self._lock:
            has_error = bool(self._error) and now - self._error_time < RECENT_SECONDS
            what = (
                f"does not answer: {self._error}" if has_error else f"has not answered for {lease_age:.0f} s"
            )
        if not (has_failing_watches and has_error) and lease_age < lease_seconds / 2:
            if self.is_reported and self._since is not None:
                self._report("back", f"the API server answers again, after {now - self._since:.0f} s")
            self._since, self.is_reported = None, False
            return
        self._since = now if self._since is None else self._since
        if not self.is_reported and now - self._since >= AWAY_SECONDS:
            self.is_reported = True
            self._report("away", f"the API server {what}. Errands go on when it is back")
