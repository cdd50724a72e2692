# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an engine lives, and whether it is ready, for probes of Kubernetes. Pure, but for its clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable

from ..._runs.lease.named_lease import RETRIES

LONGEST_PAUSE = 300.0
"""Seconds without a turn of the engine's loop after which it counts as dead. It turns each second."""
WATCHING, STANDING_BY = "watching", "standing by"
_OF_ENGINE = frozenset({WATCHING, STANDING_BY, "holding", "waiting", "lost", "ended"})
"""The states in reports of an engine about itself, and not about an errand or a watch."""


class EngineHealth:
    """The state of an engine. Usable from several threads.

    Args:
        now: a clock, in seconds that only grow.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._last_turn = now()
        self._state, self._text = "starting", ""
        self._failing: tuple[str, ...] = ()
        self._errands: Callable[[], int] = lambda: 0
        self._lease_left: Callable[[], float] = lambda: 0.0

    def turns(self, cancelled: Callable[[], bool]) -> Callable[[], bool]:
        """The same question, each call of which counts as a turn of the engine's loop."""

        def is_cancelled() -> bool:
            with self._lock:
                self._last_turn = self._now()
            return cancelled()

        return is_cancelled

    def note(self, state: str, text: str) -> None:
        """Note a report of the engine; those about errands and watches change nothing."""
        if state in _OF_ENGINE:
            with self._lock:
                self._state, self._text = state, text

    def follow(self, errands: Callable[[], int], lease_left: Callable[[], float]) -> None:
        """Show what an engine works on as it is at each request.

        Args:
            errands: how many there are.
            lease_left: for how many seconds its lease is certainly its own.
        """
        with self._lock:
            self._errands, self._lease_left = errands, lease_left

    def note_watches(self, failing: Iterable[str]) -> None:
        """Note the kinds whose watch does not follow at the moment."""
        with self._lock:
            self._failing = tuple(failing)

    @property
    def failing_watches(self) -> int:
        """How many watches do not follow."""
        with self._lock:
            return len(self._failing)

    def death(self) -> str:
        """Why the engine counts as dead; empty if it lives."""
        with self._lock:
            pause = self._now() - self._last_turn
        return f"the engine has not moved for {pause:.0f} s" if pause > LONGEST_PAUSE else ""

    def readiness(self) -> tuple[bool, str]:
        """Whether the engine works, or can take over at once; and what it does, or why it can't."""
        with self._lock:
            state, text, failing = self._state, self._text, self._failing
            errands, lease_left = self._errands, self._lease_left
        if state != WATCHING:
            shown = f"{state}: {text}" if text else state
            return state == STANDING_BY and RETRIES not in text, shown
        left = lease_left()
        if left <= 0:
            return (
                False,
                f"its lease expired {-left:.0f} s ago, as it could not be renewed. Another engine may work",
            )
        if failing:
            return False, f"these are not watched at the moment: {', '.join(failing)}"
        return True, f"{state}: {errands()} errands"
