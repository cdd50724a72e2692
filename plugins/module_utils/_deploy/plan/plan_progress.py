# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The progress of a plan, for plans that take more than two seconds."""

from __future__ import annotations

from ..._progress import Progress, Step

SUBJECT = "plan"


class PlanProgress:
    """Reports which part of a plan is in progress; a quick plan prints nothing of it.

    Args:
        progress: where to report.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def reading(self) -> None:
        """Report that the inventories and their objects are being read."""
        self._report("reading inventories", 0, 1, "")

    def has_read(self) -> None:
        """Report that they are read."""
        self._report("reading inventories", 1, 1, "")

    def rehearsing(self, done: int, total: int) -> None:
        """Report how many components are rehearsed."""
        self._report("rehearsing", done, total, "components")

    def _report(self, state: str, done: int, total: int, unit: str) -> None:
        step = Step(done=done, total=total, unit=unit, is_quick=True)
        self._progress(SUBJECT, state, "", step)
