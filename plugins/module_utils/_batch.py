# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work on many objects that can be stopped between two of them, and that reports how many are done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ._errors import LifecycleError
from ._progress import Progress, Step, no_progress
from ._text import short_list
from ._threads import REQUESTS_AT_ONCE, Answer, Item, map_in_threads

REPORT_SECONDS = 0.5
"""Seconds between two reports; the screen shows one after ten seconds."""
MOST_LEFT = 5
"""How many of the objects that are not done a message lists."""


class Stopped(LifecycleError):
    """Work was stopped that is needed as a whole.

    Attributes:
        not_done: the names of the objects that were not begun.
    """

    def __init__(self, message: str, not_done: Sequence[str]) -> None:
        super().__init__(message)
        self.not_done = not_done


class Batch:
    """Work on many objects, in one part or in several.

    Args:
        subject, state: the names of the work for reports, e.g. ``import`` and ``creating``.
        unit: the name of the objects, in the plural.
        progress: where to report.
        cancelled: whether to stop. It is called before each object, and from several threads.

    Attributes:
        cancelled: see the argument.
        done: how many objects were worked on.
        left: the names of the objects that were not begun, as the work was stopped.
    """

    def __init__(
        self,
        subject: str = "",
        state: str = "",
        unit: str = "objects",
        *,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.done = 0
        self.left: list[str] = []
        self._subject, self._state, self._unit = subject, state, unit
        self._progress = progress
        self.cancelled = cancelled
        self._total = 0
        self._reported_at = 0.0
        self._lock = threading.Lock()

    def map(
        self,
        work: Callable[[Item], Answer],
        items: Iterable[Item],
        name: Callable[[Item], object] = str,
        threads: int = REQUESTS_AT_ONCE,
    ) -> list[Answer | None]:
        """Call ``work`` for every item until the work is stopped.

        Returns the answers in the order of the items; None for each item that was not begun.

        Args:
            work: the work on one object. A stop does not interrupt it.
            items: the objects.
            name: returns the name of an object, for the message about those that are left.
            threads: how many objects are worked on at once.
        """

        def attempt(item: Item) -> Answer | None:
            if self.cancelled():
                with self._lock:
                    self.left.append(str(name(item)))
                return None
            answer = work(item)
            with self._lock:
                self.done += 1
                self._report()
            return answer

        things = list(items)
        self._total += len(things)
        self._report()
        answers = map_in_threads(attempt, things, threads)
        if self.left:
            self.left.sort()
            self._progress(self._subject, "cancelled", self.message)
        return answers

    @property
    def message(self) -> str:
        """How many objects are done, and the names of some others; empty if the work was not stopped."""
        if not self.left:
            return ""
        listed = short_list(self.left, MOST_LEFT)
        return (
            f"stopped after {self.done} of {self._total} {self._unit}. Not done: {listed}. Run it again to do"
            " the rest"
        )

    def stopped(self, *problems: str) -> dict[str, Any]:
        """The part of a task's result for work that was stopped; empty if it was not.

        Args:
            problems: other failures of the task, for its message.
        """
        if not self.left:
            return {}
        return {"failed": True, "msg": "\n".join([self.message, *problems]), "not_done": self.left}

    def require_all(self) -> None:
        """Raise Stopped if the work was stopped."""
        if self.left:
            raise Stopped(self.message, self.left)

    def _report(self) -> None:
        now = time.monotonic()
        if self.done in (0, self._total) or now - self._reported_at >= REPORT_SECONDS:
            self._reported_at = now
            step = Step(done=self.done, total=self._total, unit=self._unit)
            self._progress(self._subject, self._state, "", step)
