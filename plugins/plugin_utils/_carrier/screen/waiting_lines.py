# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting lines, like "waiting 65 of 600 s: 1 of 2 replicas": when one is printed, and what it says. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....module_utils._progress import Step

DUE_SECONDS = 10.0
"""Seconds after which a line is printed about a step, and after which another one has its new reason."""
QUICK_SECONDS, QUICK_PAUSE = 2.0, 5.0
"""The same for a quick step, such as those of a plan, for which users wait."""
REPEAT_SECONDS = 30.0
"""Seconds after which a line is printed again although nothing has changed: nothing hangs silently."""


@dataclass
class OpenStep:
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
        due, pause = (QUICK_SECONDS, QUICK_PAUSE) if self.step.is_quick else (DUE_SECONDS, DUE_SECONDS)
        if now - begun < due:
            return False
        if self.printed_at is None:
            return True
        return now - self.printed_at >= (pause if self.printed != self.content else REPEAT_SECONDS)

    def replace_reason(self, reason: str, now: float) -> None:
        """Record that a line with its reason was printed: that of a migration is the best explanation."""
        self.step = replace(self.step, spent=self.step.spent + now - self.reported, reason=reason)
        self.reported = self.printed_at = now
        self.printed = self.content

    def has_printed(self, failure: str) -> bool:
        """Whether the last line about it has the cause of a failure."""
        # Imported here, as most plans have no failure.
        from ....module_utils._objects.health.named_pods import cause_in, without_random_names

        cause = without_random_names(cause_in(failure))
        return cause in without_random_names(self.printed)

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
        return f"{what}: {shortened(step.reason)}" if step.reason else what


def shortened(reason: str) -> str:
    """A reason as the screen has it; records have all of it."""
    # Imported here, as only a step that lasts or fails needs it.
    from ....module_utils._objects.health.named_pods import in_short

    return in_short(reason)


def _count(step: Step) -> str:
    return f"{step.done} of {step.total} {step.unit}" if step.total > 1 else ""
