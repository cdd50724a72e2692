# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go through steps, say what is going on, and what they came to."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tests.cluster.console import say
from tests.cluster.errors import ClusterError

from .command import CommandError
from .outcome import Outcome, failed, together
from .steps import Step

RULE = "-" * 78


@dataclass(frozen=True)
class Row:
    """A step that was done, or not tried."""

    name: str
    outcome: Outcome
    seconds: float


class Report:
    """Runs steps one after the other. One that fails doesn't stop the others, unless they need it."""

    def __init__(self, total: int) -> None:
        """Begin a report on this many steps."""
        self._total = total
        self._begin = time.monotonic()
        self._rows: list[Row] = []

    @property
    def good(self) -> bool:
        """Whether nothing failed so far."""
        return not any(row.outcome.failed for row in self._rows)

    def run(self, step: Step) -> None:
        """Do a step, unless one that it needs has failed."""
        say(f"\n{RULE}\n[{len(self._rows) + 1}/{self._total}] {step.name}: {step.what}")
        begin = time.monotonic()
        outcome = self._outcome(step)
        seconds = time.monotonic() - begin
        self._rows.append(Row(step.name, outcome, seconds))
        say(f"[{len(self._rows)}/{self._total}] {step.name}: {_verdict(outcome)} in {seconds:.1f} s")
        if outcome.note:
            say(outcome.note)

    def _outcome(self, step: Step) -> Outcome:
        broken = [row.name for row in self._rows if row.name in step.needs and row.outcome.failed]
        if broken:
            return failed(f"not tried, as {broken[0]} failed")
        try:
            return step.do()
        except (CommandError, ClusterError) as error:
            return failed(str(error))

    def close(self) -> None:
        """Print the table of what was done, and one line with the sums."""
        say(f"\n{RULE}\n{'step':<17} {'seconds':>8} {'passed':>7} {'failed':>7} {'skipped':>8}")
        for row in self._rows:
            outcome = row.outcome
            note = outcome.note.splitlines()[0][:120] if outcome.note and not _clean(outcome) else ""
            columns = f"{row.seconds:>8.1f} {outcome.passed:>7} {outcome.failed:>7} {outcome.skipped:>8}"
            say(f"{row.name:<17} {columns}  {note}".rstrip())
        everything = together(row.outcome for row in self._rows)
        say(f"{'all':<17} {time.monotonic() - self._begin:>8.1f}\n")
        if everything.skipped:
            say(f"{everything.skipped} skipped")
        say(f"{everything.passed} passed, {everything.failed} failed")


def _clean(outcome: Outcome) -> bool:
    return not outcome.failed and not outcome.skipped


def _verdict(outcome: Outcome) -> str:
    if outcome.failed:
        return "FAILED"
    return "skipped" if outcome.skipped and not outcome.passed else "ok"
