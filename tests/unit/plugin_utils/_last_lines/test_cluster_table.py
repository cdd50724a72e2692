# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.cluster_table import (
    LONGEST_REASON,
    render_clusters,
)


def test_the_table_has_a_line_of_sums_and_reasons_that_fit() -> None:
    rows = [
        ClusterState("staging", "2.9", "2.10", "succeeded", 103.52),
        ClusterState("eu", "2.9", "2.10", "failed", 7.0, ("component checkout:\nthe pod hangs",)),
        ClusterState("us", state="unreachable", seconds=0.7, failures=("x" * 500,)),
        ClusterState("asia", failures=("not yet",)),
    ]
    lines = render_clusters(rows)
    assert lines[:3] == [
        "cluster  from  to    state        seconds  first reason",
        "staging  2.9   2.10  succeeded      103.5",
        "eu       2.9   2.10  failed           7.0  component checkout: the pod hangs",
    ]
    assert lines[3].split()[-1] == "x" * (LONGEST_REASON - 1) + "…"
    assert lines[4:] == [
        "asia     -     -     not started        -  not yet",
        "4 clusters: 1 succeeded, 1 failed, 1 unreachable, 1 not started",
    ]


def test_the_first_reason_is_that_of_the_pod_and_not_cut_before_it() -> None:
    workload = f"component cart: Deployment shop/cart: {'not all replicas are available and ' * 4}"
    reason = f"{workload}; pod cart-6dc5479cf5-4pffp, container main: CrashLoopBackOff after 5 restarts"
    (_head, row, _sums) = render_clusters([ClusterState("eu", state="failed", failures=(reason,))])
    assert row.endswith("component cart: CrashLoopBackOff after 5 restarts")
