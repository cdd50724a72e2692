# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two things that were timed in turns, and what their medians come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from tests.cluster.console import say

Timed = Callable[[], float]
"""Does something once, and returns how many seconds it took."""


@dataclass(frozen=True)
class Comparison:
    """What we do, against what it is compared with.

    Attributes:
        ours: what we did.
        seconds: how long that took, each time.
        theirs: what it is compared with.
        their_seconds: how long that took, each time.
        bound: what the ratio of the medians may be at most.
    """

    ours: str
    seconds: tuple[float, ...]
    theirs: str
    their_seconds: tuple[float, ...]
    bound: float

    @property
    def ratio(self) -> float:
        """The ratio of the medians."""
        return median(self.seconds) / median(self.their_seconds)

    @property
    def good(self) -> bool:
        """Whether the bound is kept."""
        return self.ratio <= self.bound

    def row(self) -> tuple[str, str, str, str, str, str, str]:
        """Itself as a row of the table."""
        return (
            self.ours,
            f"{median(self.seconds):.2f}",
            self.theirs,
            f"{median(self.their_seconds):.2f}",
            f"{self.ratio:.2f}",
            f"<= {self.bound}",
            "ok" if self.good else "BROKEN",
        )


def compare(
    ours: str, do_ours: Timed, theirs: str, do_theirs: Timed, *, bound: float, rounds: int
) -> Comparison:
    """Do both in turns, so that what else the machine is at hits both alike."""
    say(f"{ours}, against {theirs}: {rounds} times each ...")
    pairs = [(do_ours(), do_theirs()) for _round in range(rounds)]
    say("  " + "  ".join(f"{mine:.2f}/{other:.2f}" for mine, other in pairs))
    return Comparison(ours, tuple(p[0] for p in pairs), theirs, tuple(p[1] for p in pairs), bound)
