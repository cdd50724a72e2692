# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints the reason of a failure once: in the task's result, or as progress if the task continues."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ...module_utils._carrier.progress_file import ProgressLine

HOLD_SECONDS = 1.0
"""How long a failure is held, in case that it ends its task."""
FAILURES = ("failed", "timeout", "blocked")


class HeldFailures:
    """Shows progress, and holds each failure until it is known whether its task continues.

    Args:
        show: prints a line.
        clock: for tests.
    """

    def __init__(
        self, show: Callable[[ProgressLine], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._show = show
        self._clock = clock
        self._held: list[tuple[float, ProgressLine]] = []

    def show(self, line: ProgressLine) -> None:
        """Show a line, or hold it if it is a failure."""
        if line.state in FAILURES:
            self._held.append((self._clock(), line))
        else:
            self._show(line)

    def show_late(self) -> None:
        """Show the failures that have not ended their task."""
        while self._held and self._clock() - self._held[0][0] >= HOLD_SECONDS:
            self._show(self._held.pop(0)[1])

    def show_rest(self, *, with_reasons: bool) -> None:
        """Show all held failures, because the task has ended.

        Args:
            with_reasons: whether the task's result does not have them.
        """
        lines = [line for _time, line in self._held]
        if not with_reasons:
            # The result names each of them.
            by_state = {one.state: [other for other in lines if other.state == one.state] for one in lines}
            lines = [
                replace(same[0], subject=", ".join(one.subject for one in same), detail="")
                for same in by_state.values()
            ]
        for line in lines:
            self._show(line)
        self._held.clear()
