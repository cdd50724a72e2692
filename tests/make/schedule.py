# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides which step starts next, of steps that run in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .steps import Step

LANES = 2
"""CI's machine has two cores, and most steps keep one of them busy. Steps that mostly wait take no lane."""


@dataclass
class Schedule:
    """The steps of one run, and the state of each.

    A step starts when the steps before it have ended, enough lanes are free, and no running step uses what it
    uses. If several steps can start, the first of the list does. With one lane, each step runs alone.

    Attributes:
        steps: in the order of their priority.
        lanes: how many lanes its running steps take at most.
    """

    steps: Sequence[Step]
    lanes: int = LANES
    _running: dict[str, Step] = field(default_factory=dict, init=False)
    _succeeded: dict[str, bool] = field(default_factory=dict, init=False)

    @property
    def is_done(self) -> bool:
        """Whether every step has ended."""
        return len(self._succeeded) == len(self.steps)

    @property
    def running(self) -> Sequence[Step]:
        """The steps that run, the first started first."""
        return tuple(self._running.values())

    def next(self) -> Step | None:
        """Return the step that can start now, or nothing until another one ends."""
        return next((step for step in self.steps if self._can_start(step)), None)

    def blocker(self, step: Step) -> str:
        """Return the name of a failed step that this one needs, or an empty string."""
        return next((name for name in step.needs if not self._succeeded.get(name, True)), "")

    def start(self, step: Step) -> None:
        """Record that a step runs."""
        self._running[step.name] = step

    def end(self, step: Step, succeeded: bool) -> None:
        """Record that a step has ended, also one that was not tried."""
        self._running.pop(step.name, None)
        self._succeeded[step.name] = succeeded

    def _can_start(self, step: Step) -> bool:
        if step.name in self._running or step.name in self._succeeded:
            return False
        if not all(self._has_ended(name) for name in (*step.needs, *step.after)):
            return False
        if self.blocker(step):
            return True  # It takes no lane: the report only says that it was not tried.
        used = {resource for running in self._running.values() for resource in running.uses}
        busy = sum(running.lanes for running in self._running.values())
        if self.lanes == 1 and self._running:
            return False
        return busy + min(step.lanes, self.lanes) <= self.lanes and not used & step.uses

    def _has_ended(self, name: str) -> bool:
        """Whether a step has ended; a step outside this run needs no wait."""
        return name in self._succeeded or all(step.name != name for step in self.steps)
