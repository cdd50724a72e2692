# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a task reports what it is doing, and how long it may go on after a cancellation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

DUE_SECONDS = 10.0
"""Seconds that a step may take before a person wants to know why."""
REASON_SECONDS = 5.0
"""Seconds after which the reason of a step is looked for, so that it is known by then."""
QUICK_SECONDS, QUICK_PAUSE = 2.0, 5.0
"""The same of a step of a plan, for which people wait, and the seconds until a new number is printed."""


@dataclass(frozen=True)
class Step:
    """What is known of a state that lasts, for whoever prints it when it lasts too long.

    Attributes:
        limit: seconds that it may take; 0 if it has no limit.
        spent: how many of these were over when it was reported.
        done, total: how many of the things that it works on are done; a total of 0 says nothing. A step with
            all of them done is over.
        unit: what these things are called, in the plural.
        reason: why it lasts, as it is now; may be empty.
        due: seconds after which a line is printed, since the subject began with the first step of several.
        pause: seconds after which another one is printed if reason or number have changed.
        is_announced: whether its beginning is printed, too.
    """

    limit: float = 0.0
    spent: float = 0.0
    done: int = 0
    total: int = 0
    unit: str = "objects"
    reason: str = ""
    due: float = DUE_SECONDS
    pause: float = DUE_SECONDS
    is_announced: bool = False


class Progress(Protocol):
    """Where a task reports its progress; a line reaches the terminal within two seconds.

    A report with a step is about a state that lasts: people read of it only if it lasts too long, or if they
    want to see every change. Any other report is printed at once, and ends the step of its subject.
    """

    def __call__(self, subject: str, state: str, detail: str = "", step: Step | None = None, /) -> None:
        """Report that ``subject`` (a component, a migration's id, a phase) is in ``state`` now."""


def no_progress(subject: str, state: str, detail: str = "", step: Step | None = None) -> None:
    """Progress that nobody sees, as a plan and a rehearsal say at their end what they found."""


def report_step(subject: str, step: str) -> None:
    """Report that code of others has begun a step, or none any more where ``step`` is empty.

    A process that ends without a word can be explained by that; see :mod:`~._carrier.forked_worker`.
    """
    for listener in _STEP_LISTENERS:
        listener(subject, step)


def listen_to_steps(listener: Callable[[str, str], None]) -> None:
    """Have this process call ``listener`` with each step that is reported, instead of those before."""
    _STEP_LISTENERS[:] = [listener]


_STEP_LISTENERS: list[Callable[[str, str], None]] = []

GRACE = 60.0
"""Seconds that what is in flight gets to end after a cancellation, unless the user says otherwise."""
