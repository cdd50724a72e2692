# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a task reports its progress, and how long it may continue after a cancellation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

REASON_SECONDS = 5.0
"""Seconds after which the search for a step's reason starts, so that its first line has it."""


@dataclass(frozen=True)
class Step:
    """The data about a lasting state, to print when it lasts too long.

    Attributes:
        limit: seconds that it may take; 0 if it has no limit.
        spent: seconds of the limit that had passed when it was reported.
        done, total: the number of finished items and of all items; a total of 0 means unknown. A step with
            all of them done is over.
        unit: the name of these items, in the plural.
        reason: why it lasts at present; may be empty.
        is_quick: whether users expect it to be quick, so that its lines are printed sooner.
        is_announced: whether its beginning is printed, too.
    """

    limit: float = 0.0
    spent: float = 0.0
    done: int = 0
    total: int = 0
    unit: str = "objects"
    reason: str = ""
    is_quick: bool = False
    is_announced: bool = False


NOTICE = "notice"
"""The state of a report that is printed only with ``-v``, or if the user wants to see every change."""


class Progress(Protocol):
    """Where a task reports its progress; a line reaches the terminal within two seconds.

    A report with a step is about a lasting state: it is printed only if it lasts too long, or if the user
    wants to see every change. Any other report is printed at once, and ends the step of its subject.
    """

    def __call__(self, subject: str, state: str, detail: str = "", step: Step | None = None, /) -> None:
        """Report that ``subject`` (a component, a migration's id, a phase) is now in ``state``."""


def no_progress(subject: str, state: str, detail: str = "", step: Step | None = None) -> None:
    """Progress that is not shown, as a plan and a rehearsal report their findings at their end."""


def report_step(subject: str, step: str) -> None:
    """Report that foreign code has begun a step, or ended it if ``step`` is empty.

    This explains why a process ended without a message; see :mod:`~._carrier.forked_worker`.
    """
    for listener in _STEP_LISTENERS:
        listener(subject, step)


def listen_to_steps(listener: Callable[[str, str], None]) -> None:
    """Make this process call ``listener`` with each reported step, in place of earlier listeners."""
    _STEP_LISTENERS[:] = [listener]


_STEP_LISTENERS: list[Callable[[str, str], None]] = []

GRACE = 60.0
"""Seconds for running work to end after a cancellation, unless the user sets another value."""
