# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a request is worth another attempt, and after how long: pure decisions, no clock and no network."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Loss(Enum):
    """How a request came to have no answer."""

    NOT_SENT = "not sent"
    """The connection was never made, so the server can't have acted on it."""
    NO_ANSWER = "no answer"
    """It may have been sent, and the server may have acted on it."""


REFUSED_UNREAD = frozenset({429})
"""Statuses that say the server did not act: priority and fairness (KEP-1040), storage not yet ready."""
UNAVAILABLE = frozenset({502, 503, 504})
"""Statuses of a server, or a proxy before it, that is on its way up or down; it may have acted."""


@dataclass(frozen=True)
class RetryPolicy:
    """Bounds of one request's attempts.

    Attributes:
        attempts: how often a request is sent at the most.
        first_delay: seconds before the second attempt.
        factor: by how much the delay grows each time.
        limit: seconds since the first attempt after which no other one starts.
    """

    attempts: int = 5
    first_delay: float = 0.1
    factor: float = 2.0
    limit: float = 15.0

    def delay(
        self,
        outcome: Loss | int,
        *,
        attempt: int,
        elapsed: float,
        repeatable: bool,
        retry_after: float | None = None,
    ) -> float | None:
        """Seconds to wait before the next attempt, or None if this outcome is final.

        Args:
            outcome: how there was no answer, or the HTTP status of the answer.
            attempt: how many attempts there were, from 1 on.
            elapsed: seconds since the first attempt.
            repeatable: whether doing it twice comes to the same (reads, server-side apply).
            retry_after: what the server asked for (RFC 9110, 10.2.3), in seconds.
        """
        safe = outcome is Loss.NOT_SENT or outcome in REFUSED_UNREAD
        unsure = outcome is Loss.NO_ANSWER or outcome in UNAVAILABLE
        if not safe and not (unsure and repeatable):
            return None
        wait = self.first_delay * self.factor ** (attempt - 1) if retry_after is None else retry_after
        if attempt >= self.attempts or elapsed + wait > self.limit:
            return None
        return wait
