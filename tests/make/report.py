# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs steps, in parallel if they allow it, and shows their progress and their outcomes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.cluster.console import say

from .outcome import Outcome, failed, together
from .schedule import LANES, Schedule
from .screen import RULE, Screen, Section
from .step_process import Running, StepProcess, stop_all
from .steps import Step

POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Row:
    """A step that has ended, or was not tried."""

    name: str
    outcome: Outcome
    seconds: float
    was_tried: bool = True


class Report:
    """Runs steps to their end. One that fails doesn't stop the others, unless they need it."""

    def __init__(
        self,
        steps: Sequence[Step],
        *,
        lanes: int = LANES,
        start: Callable[[Step], Running] = StepProcess,
        screen: Screen | None = None,
        earlier: Mapping[str, Row] | None = None,
        passed: Callable[[Row], None] = lambda _row: None,
    ) -> None:
        """Begin a report on these steps.

        Args:
            steps: in the order of their priority.
            lanes: how many run at most at the same time.
            start: starts one of them.
            screen: shows their output.
            earlier: steps that have passed before and are not run again.
            passed: is called with each step that passes.
        """
        self._schedule = Schedule(steps, lanes)
        self._start = start
        self._screen = screen or Screen()
        self._begin = time.monotonic()
        self.rows: dict[str, Row] = {}
        self._passed = passed
        for step in steps:
            if row := (earlier or {}).get(step.name):
                self._schedule.end(step, succeeded=True)
                self.rows[step.name] = row
        self._running: dict[str, tuple[Running, Section]] = {}
        self._started = 0

    @property
    def good(self) -> bool:
        """Whether nothing has failed so far."""
        return not any(row.outcome.failed for row in self.rows.values())

    @property
    def seconds(self) -> float:
        """The time since the report began."""
        return time.monotonic() - self._begin

    def run(self) -> None:
        """Run all steps. After an interruption, end those that run."""
        try:
            while not self._schedule.is_done:
                self._start_steps()
                self._end_steps()
                self._screen.refresh(
                    [
                        f"{name} runs for {one.seconds:.0f} s"
                        for name, (one, _section) in self._running.items()
                    ]
                )
                if self._running:
                    time.sleep(POLL_SECONDS)
        except BaseException:
            say(f"\nStopping {', '.join(self._running) or 'no step'} ...")
            stop_all([one for one, _section in self._running.values()])
            raise

    def _start_steps(self) -> None:
        while step := self._schedule.next():
            self._started += 1
            title = f"[{self._started}/{len(self._schedule.steps)}] {step.name}: {step.what}"
            blocker = self._schedule.blocker(step)
            if blocker:
                section = Section(title, None)
                self._screen.add(section)
                outcome = failed(f"not tried, as {blocker} failed")
                self._end(section, Row(step.name, outcome, 0.0, was_tried=False))
                continue
            self._schedule.start(step)
            running = self._start(step)
            section = Section(title, running.log)
            self._running[step.name] = (running, section)
            self._screen.add(section)

    def _end_steps(self) -> None:
        for name, (running, section) in list(self._running.items()):
            if running.has_ended:
                del self._running[name]
                self._end(section, Row(name, running.outcome, running.seconds))

    def _end(self, section: Section, row: Row) -> None:
        [step] = [step for step in self._schedule.steps if step.name == row.name]
        self._schedule.end(step, succeeded=not row.outcome.failed)
        self.rows[row.name] = row
        if not row.outcome.failed:
            self._passed(row)
        verdict = f"{row.name}: {_verdict(row.outcome)} in {row.seconds:.1f} s"
        self._screen.end(section, verdict, row.outcome.note)

    def close(self) -> None:
        """Print the table of the steps, and one line with the sums."""
        rows = [self.rows[step.name] for step in self._schedule.steps if step.name in self.rows]
        say(f"\n{RULE}\n{'step':<17} {'seconds':>8} {'CPU s':>8} {'passed':>7} {'failed':>7} {'skipped':>8}")
        for row in rows:
            outcome = row.outcome
            note = outcome.note.splitlines()[0][:120] if outcome.note and not _clean(outcome) else ""
            seconds = f"{row.seconds:>8.1f} {outcome.cpu_seconds:>8.1f}"
            counts = f"{outcome.passed:>7} {outcome.failed:>7} {outcome.skipped:>8}"
            say(f"{row.name:<17} {seconds} {counts}  {note}".rstrip())
        everything = together(row.outcome for row in rows)
        total = f"{sum(row.seconds for row in rows):>8.1f} {everything.cpu_seconds:>8.1f}"
        say(f"{'one by one':<17} {total}")
        say(f"{'all':<17} {self.seconds:>8.1f}\n")
        if everything.skipped:
            say(f"{everything.skipped} skipped")
        say(f"{everything.passed} passed, {everything.failed} failed")


def _clean(outcome: Outcome) -> bool:
    return not outcome.failed and not outcome.skipped


def _verdict(outcome: Outcome) -> str:
    if outcome.failed:
        return "FAILED"
    return "skipped" if outcome.skipped and not outcome.passed else "ok"
