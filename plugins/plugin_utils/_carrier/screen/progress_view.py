# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which lines of progress to print, and when: pure, from the reports of a task and a clock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from ....module_utils._carrier.progress_file import ProgressLine
from ....module_utils._migrations.results import LOG_STATES
from ....module_utils._progress import Step

GATHERED_SECONDS = 10.0
"""Seconds in which successes share a line, so that many quick components do not fill the screen."""
SUCCEEDED = "succeeded"
REPEAT_SECONDS = 30.0
"""Seconds after which a step is printed again although nothing has changed: nothing hangs silently."""

BAD_ENDS = frozenset({"failed", "blocked", "timeout", "cancelled", "stopping"})
"""States that are printed however quiet the user wants it to be."""


class Verbosity(StrEnum):
    """How much progress a user wants to see: the values of ``kyma_progress``."""

    QUIET = "quiet"
    NORMAL = "normal"
    ALL = "all"


@dataclass(frozen=True)
class PrintedLine:
    """A line for the terminal.

    Attributes:
        text: the line, without the name of the host.
        is_failure: whether it reports a failure.
    """

    text: str
    is_failure: bool = False


@dataclass
class _OpenStep:
    """The current step of a subject.

    Attributes:
        state: its name.
        step: its last report.
        since: when it began, by the clock of the view.
        busy_since: when the first step of the current unended series of steps began.
        reported: when ``step`` was reported.
        printed_at: when a line about it was printed last; None before the first one.
        printed: the content of that line, without the time.
        announced: the last line that was printed because of a report.
    """

    state: str
    step: Step
    since: float
    busy_since: float
    reported: float
    printed_at: float | None = None
    printed: str = ""
    announced: str = ""

    def is_due(self, now: float) -> bool:
        """Whether it has lasted so long, or changed so much, that a line about it is due."""
        if self.step.total and self.step.done >= self.step.total:
            return False
        # A count that has only begun says nothing, no matter how long the steps before it took.
        begun = self.since if self.step.total > 1 and not self.step.done else self.busy_since
        if now - begun < self.step.due:
            return False
        if self.printed_at is None:
            return True
        pause = self.step.pause if self.printed != self.content else REPEAT_SECONDS
        return now - self.printed_at >= pause

    @property
    def content(self) -> str:
        """The content of a line about it, without the time."""
        return f"{self.state} {_count(self.step)} {self.step.reason}"

    def text(self, subject: str, now: float) -> str:
        """The line about it."""
        step, count = self.step, _count(self.step)
        if step.limit:
            spent = min(step.spent + now - self.reported, step.limit)
            time = f"{spent:.0f} of {step.limit:.0f} s"
        else:
            time = f"{now - self.since:.0f} s"
        what = f"{subject}: {self.state} {count}, {time}" if count else f"{subject}: {self.state} {time}"
        return f"{what}: {step.reason}" if step.reason else what


class ProgressView:
    """Decides which lines are printed of one task.

    It prints nothing and reads no clock: each method takes the time, in seconds that only grow.

    Args:
        verbosity: how much the user wants to see.
        is_log: whether each report is a line of its own, as in the log of a task that has no end.
    """

    def __init__(self, verbosity: Verbosity = Verbosity.NORMAL, *, is_log: bool = False) -> None:
        self._verbosity = verbosity
        self._gathers = verbosity is Verbosity.NORMAL and not is_log
        self._open: dict[str, _OpenStep] = {}
        self._successes: list[ProgressLine] = []
        self._gathered_since = 0.0

    def take(self, line: ProgressLine, now: float) -> list[PrintedLine]:
        """Record a report; return the lines to print because of it."""
        if self._gathers and line.state == SUCCEEDED and not line.step:
            self._open.pop(line.subject, None)
            if not self._successes:
                self._gathered_since = now
            self._successes.append(line)
            return []
        printed = self._begin(line, line.step, now) if line.step else self._note(line, now)
        return [*self.rest(), *printed] if printed else []

    def rest(self) -> list[PrintedLine]:
        """One line for all successes that are not printed yet."""
        done, self._successes = self._successes, []
        # A module succeeds when its manifest is applied, and again when it is ready.
        subjects = list(dict.fromkeys(line.subject for line in done))
        if len(subjects) < 2:
            return [PrintedLine(str(max(done, key=lambda line: len(line.detail))))] if done else []
        names = ", ".join(subjects)
        # Each took its own time, which the table has; the count of the last one holds for all.
        count = done[-1].detail.partition(", ")[2]
        return [PrintedLine(f"{names}: {SUCCEEDED}" + (f" ({count})" if count else ""))]

    def due(self, now: float) -> list[PrintedLine]:
        """The lines to print because of the time that has passed."""
        return list(self._due(now)) if self._verbosity is not Verbosity.QUIET else []

    def _due(self, now: float) -> Iterator[PrintedLine]:
        if self._successes and now - self._gathered_since >= GATHERED_SECONDS:
            yield from self.rest()
        for subject, one in self._open.items():
            if one.is_due(now):
                one.printed_at, one.printed = now, one.content
                yield PrintedLine(one.text(subject, now))

    def _note(self, line: ProgressLine, now: float) -> list[PrintedLine]:
        one = self._open.get(line.subject)
        if one and line.state in LOG_STATES:
            # A migration's own report is the best explanation of why it takes so long.
            one.step, one.reported = _with_reason(one, line.detail, now), now
            one.printed_at, one.printed = now, one.content
        else:
            self._open.pop(line.subject, None)
        if self._verbosity is Verbosity.QUIET and line.state not in BAD_ENDS:
            return []
        return [PrintedLine(str(line), line.state == "failed")]

    def _begin(self, line: ProgressLine, step: Step, now: float) -> list[PrintedLine]:
        before = self._open.get(line.subject)
        one = before or _OpenStep(line.state, step, now, now, now)
        is_new = one is not before or one.state != line.state
        if is_new:
            one.state, one.since = line.state, now
        one.step, one.reported = step, now
        self._open[line.subject] = one
        is_shown = {
            Verbosity.QUIET: False,
            Verbosity.NORMAL: step.is_announced and is_new,
            Verbosity.ALL: line.detail != "",
        }[self._verbosity]
        text = str(line)
        if not is_shown or text == one.announced:
            return []
        one.announced = text
        return [PrintedLine(text)]


def _with_reason(one: _OpenStep, reason: str, now: float) -> Step:
    return replace(one.step, spent=one.step.spent + now - one.reported, reason=reason)


def _count(step: Step) -> str:
    return f"{step.done} of {step.total} {step.unit}" if step.total > 1 else ""
