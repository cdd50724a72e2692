# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let a tool deploy a workload to new clusters: first, unchanged, changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from tests.cluster.console import say

from .measurements import Measurements, Setting
from .names import CHANGED, FIRST, LARGE, LIMITS, NEAR, UNCHANGED
from .running import Place, TooLong
from .tools.helm import Helm
from .tools.kubectl import Kubectl
from .tools.kubernetes_core import KubernetesCore
from .tools.ours import Ours
from .tools.tool import Samples, Tool
from .workload import Workload

TOOLS: Mapping[str, type[Tool]] = {
    "ours": Ours,
    "kubectl": Kubectl,
    "kubernetes.core": KubernetesCore,
    "helm": Helm,
}
QUICK = ("ours", "kubectl")
"""The tools that need less than a minute for each case on a distant cluster."""


@dataclass(frozen=True)
class Rounds:
    """How often each case is measured; on how many clusters in sequence, for the first deployment."""

    first: int
    unchanged: int
    changed: int


def rounds_of(tool: str, objects: int, limit: int | None = None, *, round_trip: int = NEAR) -> Rounds:
    """As many as end in a sensible time: others take minutes with a large release, or a distant cluster."""
    # In a first deployment, the server counts some waits in whole seconds, so a single one is inexact.
    many, few = (Rounds(5, 9, 7), Rounds(1, 7, 7)), (Rounds(5, 3, 2), Rounds(1, 1, 1))
    usual = (many if tool == "ours" else few)[objects == LARGE]
    if round_trip:
        usual = Rounds(3, 3, 1) if tool in QUICK else Rounds(1, 1, 1)
    most = limit or max(usual.first, usual.unchanged, usual.changed)
    return Rounds(min(usual.first, most), min(usual.unchanged, most), min(usual.changed, most))


class Trial:
    """One tool and one workload.

    Args:
        tool: one of `TOOLS`.
        place: where to work.
        workload: to deploy.
        objects: roughly how many objects it has.
        round_trip: to the clusters, one of `ROUND_TRIPS`.
        measurements: gets the samples.
        limit: seconds for one measurement of a case; None for those of its size.
    """

    def __init__(
        self,
        tool: str,
        place: Place,
        workload: Workload,
        objects: int,
        round_trip: int,
        measurements: Measurements,
        limit: float | None = None,
    ) -> None:
        self._tool = tool
        self._place = place
        self._workload = workload
        self._objects = objects
        self._round_trip = round_trip
        self._measurements = measurements
        self._limit = limit or LIMITS[objects]

    def run(self, cases: Collection[str], rounds: Rounds) -> None:
        """Measure these cases; there is always a first deployment.

        Raises:
            TooLong: a command exceeded its time limit. The measurements record that. Later cases on this
                cluster are not measured, because the state of the cluster is unknown.
            BenchmarkError: something failed.
        """
        say(f"{self._tool}, {self._workload.count} objects, {self._round_trip} ms away:")
        clusters = rounds.first if FIRST in cases else 1
        for left in reversed(range(clusters)):
            with self._place.cluster(round_trip=self._round_trip) as cluster:
                tool = TOOLS[self._tool](self._place, self._workload, cluster)
                self._measure(FIRST, tool.first, 1, keep=FIRST in cases)
                if left == 0 and UNCHANGED in cases:
                    self._measure(UNCHANGED, tool.unchanged, rounds.unchanged)
                if left == 0 and CHANGED in cases:
                    self._measure(CHANGED, tool.changed, rounds.changed)

    def _measure(self, case: str, do: Callable[[], Samples], times: int, *, keep: bool = True) -> None:
        setting = Setting(case, self._objects, self._round_trip)
        for number in range(1, times + 1):
            say(f"  {case}, {number} of {times} ...")
            try:
                with self._place.within(self._limit):
                    samples = do()
            except TooLong as error:
                if keep:
                    row = TOOLS[self._tool].row
                    self._measurements.add_limit(setting, row, error.limit)
                raise
            said = ", ".join(f"{label} {sample.seconds:.2f} s" for label, sample in samples.items())
            say(f"    {said}")
            if keep:
                for label, sample in samples.items():
                    self._measurements.add(setting, label, sample)
