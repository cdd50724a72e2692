# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`helm upgrade --install`, one component after the other."""

from __future__ import annotations

from tests.cluster.console import say

from ..charts import Chart
from ..measurements import NOTHING, Sample
from ..names import HELM, HELM_ONE
from ..workload import COMPONENT
from .kubectl import apply_before
from .tool import Samples, Tool

AGENT = "Helm/"
UNTHROTTLED = ("--qps=1000", "--burst-limit=1000")
"""Helm lists pods so often while it waits that with its own limits it takes minutes for a large chart."""
WAIT = ("--wait", "--wait-for-jobs", "--timeout=15m")


class Helm(Tool):
    """It waits where we do, and only there."""

    row = HELM

    def first(self) -> Samples:
        """Install the components after namespaces and CRDs, which Helm can't upgrade; wait for each."""
        before = apply_before(self.place, self.cluster, self.workload.before)
        return {HELM: sum((self._upgrade(chart, *WAIT) for chart in self.workload.charts), before)}

    def unchanged(self) -> Samples:
        """Upgrade every component to its current state."""
        return {HELM: sum((self._upgrade(chart) for chart in self.workload.charts), NOTHING)}

    def changed(self) -> Samples:
        """Upgrade every component, and wait for the changed one."""
        self.workload.change()
        one = others = NOTHING
        for chart in self.workload.charts:
            if chart.component == COMPONENT:
                one += self._upgrade(chart, *WAIT)
            else:
                others += self._upgrade(chart)
        return {HELM: one + others, HELM_ONE: one}

    def _upgrade(self, chart: Chart, *wait: str) -> Sample:
        number = self.workload.charts.index(chart) + 1
        say(f"    chart {number} of {len(self.workload.charts)}, {chart.name} ...")
        command = ("helm", "upgrade", "--install", chart.name, chart.folder, "--namespace", chart.namespace)
        return self.place.run([*command, *UNTHROTTLED, *wait], self.cluster, AGENT).sample
