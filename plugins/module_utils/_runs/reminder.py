# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Saying again what is still going on, so that nothing hangs silently."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from .._migrations.results import ENDS as MIGRATION_ENDS
from .._migrations.results import LOG_STATES
from .._progress import Progress
from .outcomes import ENDS

SILENCE_SECONDS = 30.0
"""How long a component may be at the same thing before that is said again."""


class Reminder:
    """Passes progress on, and repeats the last word on whatever has been silent for too long.

    Args:
        progress: where to tell.
        silence: seconds.
    """

    def __init__(self, progress: Progress, silence: float = SILENCE_SECONDS) -> None:
        self._progress = progress
        self._silence = silence
        self._last: dict[str, tuple[str, str, float, float]] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._remind, daemon=True)

    def __call__(self, subject: str, state: str, detail: str = "") -> None:
        """See Progress."""
        now = time.monotonic()
        with self._lock:
            before = self._last.pop(subject, None)
            if state in LOG_STATES and before:
                self._last[subject] = (*before[:3], now)
            elif state not in (*ENDS, *MIGRATION_ENDS, *LOG_STATES):
                self._last[subject] = (state, detail, now, now)
        self._progress(subject, state, detail)

    def replace_detail(self, subject: str, detail: str) -> None:
        """Repeat another detail from now on than the one that was told; nothing at all where it is empty."""
        with self._lock:
            before = self._last.pop(subject, None)
            if before and detail:
                self._last[subject] = (before[0], detail, *before[2:])

    def __enter__(self) -> Reminder:
        self._thread.start()
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _remind(self) -> None:
        while not self._over.wait(self._silence / 10):
            now = time.monotonic()
            for subject, (state, detail, since, told) in self._silent_ones(now):
                with self._lock:
                    if self._last.get(subject) != (state, detail, since, told):
                        continue
                    self._last[subject] = (state, detail, since, now)
                self._progress(subject, state, f"for {now - since:.0f} s: {detail}")

    def _silent_ones(self, now: float) -> list[tuple[str, tuple[str, str, float, float]]]:
        with self._lock:
            return [one for one in self._last.items() if now - one[1][3] >= self._silence]
