# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A first deployment on an empty cluster, healthy to the end, against Helm with each component in turn."""

from __future__ import annotations

from pathlib import Path

from .charts import Chart, charts_of, server_side_apply
from .comparison import Comparison, compare
from .running import BenchmarkError, Place


def first_deployment(place: Place, release: Path, *, bound: float, rounds: int) -> Comparison:
    """Time both, each time on a new cluster.

    CRDs and namespaces come first on both sides: for Helm, which can't upgrade CRDs, by kubectl.
    """
    before, charts = charts_of(release, place.folder / "charts")

    def deploy() -> float:
        with place.cluster() as kubeconfig:
            return place.deploy(release, kubeconfig).seconds

    def helm() -> float:
        with place.cluster() as kubeconfig:
            seconds = server_side_apply(place, kubeconfig, before)
            return seconds + sum(_install(place, kubeconfig, chart) for chart in charts)

    ours = f"first deployment of {release.name}"
    return compare(ours, deploy, "Helm, with --wait", helm, bound=bound, rounds=rounds)


def _install(place: Place, kubeconfig: Path, chart: Chart) -> float:
    """Install a chart by server-side apply, or, where Helm can't, without. Only what succeeds counts."""
    where = ("--namespace", chart.namespace)
    command = ("helm", "upgrade", "--install", chart.name, chart.folder, *where, "--wait")
    try:
        return place.run(command, kubeconfig).seconds
    except BenchmarkError:
        place.run(("helm", "uninstall", chart.name, *where, "--wait", "--ignore-not-found"), kubeconfig)
        return place.run((*command, "--server-side=false"), kubeconfig).seconds
