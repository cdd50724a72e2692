# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether to repeat a request, and after how long: pure decisions, no clock and no network."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Loss(Enum):
    """The reason that a request has no answer."""

    NOT_SENT = "not sent"
    """The connection was never made, so the server can't have acted on it."""
    NO_ANSWER = "no answer"
    """It may have been sent, and the server may have acted on it."""


REFUSED_UNREAD = frozenset({429})
"""Statuses of a server that did not act: priority and fairness (KEP-1040), storage not yet ready."""
INTERNAL = 500
UNAVAILABLE = frozenset({INTERNAL, 502, 503, 504})
"""Statuses of a server, or of a proxy before it, that is starting or stopping; it may have acted."""


@dataclass(frozen=True)
class RetryPolicy:
    """The limits of one request's attempts.

    Attributes:
        first_delay: seconds before the second attempt.
        factor: the growth of the delay per attempt.
        longest_delay: the maximum delay, in seconds.
        limit: seconds after the first attempt during which another may start; more than a read may take.
        internal_limit: the same for failures inside the server: mostly a webhook that does not answer.
        absent_limit: the same if the server has never answered: a user waits to learn of a wrong address.
    """

    first_delay: float = 0.1
    factor: float = 2.0
    longest_delay: float = 2.0
    limit: float = 120.0
    internal_limit: float = 20.0
    absent_limit: float = 1.5

    def delay(
        self,
        outcome: Loss | int,
        *,
        attempt: int,
        elapsed: float,
        repeatable: bool,
        retry_after: float | None = None,
        patient: bool = True,
    ) -> float | None:
        """Seconds to wait before the next attempt, or None if this outcome is final.

        Args:
            outcome: the reason that there was no answer, or the HTTP status of the answer.
            attempt: the number of attempts so far, from 1 on.
            elapsed: seconds since the first attempt.
            repeatable: whether a second request has the same effect (reads, server-side apply).
            retry_after: the delay that the server requested (RFC 9110, 10.2.3), in seconds.
            patient: whether the server has answered before, or surely will.
        """
        safe = outcome is Loss.NOT_SENT or outcome in REFUSED_UNREAD
        unsure = outcome is Loss.NO_ANSWER or outcome in UNAVAILABLE
        if not safe and not (unsure and repeatable):
            return None
        wait = min(self.first_delay * self.factor ** min(attempt - 1, 30), self.longest_delay)
        if retry_after is not None:
            wait = max(retry_after, self.first_delay)
        return None if elapsed + wait > self._limit(outcome, patient) else wait

    def _limit(self, outcome: Loss | int, patient: bool) -> float:
        if outcome == INTERNAL:
            return self.internal_limit
        return self.absent_limit if isinstance(outcome, Loss) and not patient else self.limit
