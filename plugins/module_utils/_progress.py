# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a task reports what it is doing, and how long it may go on after a cancellation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Progress(Protocol):
    """Where a task tells what it is at; a line reaches the terminal within two seconds."""

    def __call__(self, subject: str, state: str, detail: str = "") -> None:
        """Tell that ``subject`` (a component, a migration's id, a phase) has come to ``state``."""


def no_progress(subject: str, state: str, detail: str = "") -> None:
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
