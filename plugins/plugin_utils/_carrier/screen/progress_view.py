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
from ....module_utils._progress import NOTICE, Step
from .waiting_lines import OpenStep, shortened

GATHERED_SECONDS = 10.0
"""Seconds in which successes share a line, so that many quick components do not fill the screen."""
SUCCEEDED = "succeeded"

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


class ProgressView:
    """Decides which lines are printed of one task.

    It prints nothing and reads no clock: each method takes the time, in seconds that only grow.

    Args:
        verbosity: how much the user wants to see.
        is_log: whether each report is a line of its own, as in the log of a task that has no end.
        has_notices: whether reports that most users need not read are printed.
    """

    def __init__(
        self, verbosity: Verbosity = Verbosity.NORMAL, *, is_log: bool = False, has_notices: bool = False
    ) -> None:
        self._verbosity = verbosity
        self._has_notices = has_notices or verbosity is Verbosity.ALL
        self._gathers = verbosity is Verbosity.NORMAL and not is_log
        self._open: dict[str, OpenStep] = {}
        self._successes: list[ProgressLine] = []
        self._gathered_since = 0.0

    def take(self, line: ProgressLine, now: float) -> list[PrintedLine]:
        """Record a report; return the lines to print because of it."""
        if line.state == NOTICE and not self._has_notices:
            return []
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
        unprinted, self._successes = self._successes, []
        # A module succeeds when its manifest is applied, and again when it is ready.
        subjects = list(dict.fromkeys(line.subject for line in unprinted))
        if len(subjects) < 2:
            return [PrintedLine(str(max(unprinted, key=lambda line: len(line.detail))))] if unprinted else []
        names = ", ".join(subjects)
        # Each took its own time, which the table has; the count of the last one holds for all.
        count = unprinted[-1].detail.partition(", ")[2]
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
        open_step = self._open.get(line.subject)
        if open_step and line.state in LOG_STATES:
            # A migration's own report is the best explanation of why it takes so long.
            open_step.replace_reason(line.detail, now)
        else:
            self._open.pop(line.subject, None)
        if self._verbosity is Verbosity.QUIET and line.state not in BAD_ENDS:
            return []
        if line.state in BAD_ENDS:
            has_cause = open_step is not None and open_step.has_printed(line.detail)
            line = replace(line, detail="" if has_cause else shortened(line.detail))
        return [PrintedLine(str(line), line.state == "failed")]

    def _begin(self, line: ProgressLine, step: Step, now: float) -> list[PrintedLine]:
        before = self._open.get(line.subject)
        open_step = before or OpenStep(line.state, step, now, now, now)
        is_new = open_step is not before or open_step.state != line.state
        if is_new:
            open_step.state, open_step.since = line.state, now
        open_step.step, open_step.reported = step, now
        self._open[line.subject] = open_step
        is_shown = {
            Verbosity.QUIET: False,
            Verbosity.NORMAL: step.is_announced and is_new,
            Verbosity.ALL: line.detail != "",
        }[self._verbosity]
        text = str(line)
        if not is_shown or text == open_step.announced:
            return []
        open_step.announced = text
        return [PrintedLine(text)]
