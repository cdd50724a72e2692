# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_table import (
    LONGEST_REASON,
    NEVER_ENDED,
    ClusterRow,
    merge_rows,
    render_clusters,
    row_of,
)


def result(cluster: str, state: str, seconds: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"cluster": cluster, "state": state, "seconds": seconds, "failures": [], **more}


def merged(*results: dict[str, Any], hosts: tuple[str, ...] = ("one",)) -> list[ClusterRow]:
    return merge_rows(hosts, [row_of(one) for one in results])


def test_hosts_in_their_order_and_those_whose_turn_never_came() -> None:
    rows = merged(result("two", "succeeded"), hosts=("one", "two", "three"))
    assert [(row.cluster, row.state) for row in rows] == [
        ("one", "not started"),
        ("two", "succeeded"),
        ("three", "not started"),
    ]


def test_a_run_replaces_its_plan_and_has_the_seconds_of_both() -> None:
    planned = result("one", "planned", 0.5, previous="2.9", version="2.10")
    ended = result("one", "succeeded", 12.5, previous="2.9", version="2.10")
    assert merged(planned, result("one", "running", 0.5), ended) == [
        ClusterRow("one", "2.9", "2.10", "succeeded", 12.5)
    ]


def test_releases_on_the_way_are_one_row() -> None:
    first = [result("one", state, 5.0, previous="2.9", version="2.10") for state in ("planned", "succeeded")]
    second = [result("one", "planned", 0.5, previous="2.10", version="2.11")]
    failed = result("one", "failed", 7.0, previous="2.10", version="2.11", failures=["the moon is full"])
    assert merged(*first, *second, failed) == [
        ClusterRow("one", "2.9", "2.11", "failed", 12.0, "the moon is full")
    ]


@pytest.mark.parametrize("before", ["succeeded", "failed"])
def test_nothing_to_do_after_a_run_leaves_its_row(before: str) -> None:
    assert merged(result("one", before), result("one", "unchanged"))[0].state == before


def test_a_run_without_an_end_was_cancelled() -> None:
    [row] = merged(result("one", "planned"), result("one", "running"))
    assert (row.state, row.reason) == ("cancelled", NEVER_ENDED)


def test_a_later_task_that_fails_counts_where_a_deployment_was_planned() -> None:
    failed = ClusterRow("one", state="failed", reason="no such module")
    rows = [row_of(result("one", "succeeded", 3.0, previous="2.9", version="2.10")), failed]
    assert merge_rows(["one"], rows) == [ClusterRow("one", "2.9", "2.10", "failed", 3.0, "no such module")]
    assert merge_rows([], [failed]) == []


def test_the_table_has_a_line_of_sums_and_reasons_that_fit() -> None:
    rows = [
        ClusterRow("staging", "2.9", "2.10", "succeeded", 103.52),
        ClusterRow("eu", "2.9", "2.10", "failed", 7.0, "component checkout:\nthe pod hangs"),
        ClusterRow("us", state="unreachable", seconds=0.7, reason="x" * 500),
        ClusterRow("asia"),
    ]
    lines = render_clusters(rows)
    assert lines[:3] == [
        "cluster  from  to    state        seconds  first reason",
        "staging  2.9   2.10  succeeded      103.5",
        "eu       2.9   2.10  failed           7.0  component checkout: the pod hangs",
    ]
    assert lines[3].split()[-1] == "x" * (LONGEST_REASON - 1) + "…"
    assert lines[4:] == [
        "asia     -     -     not started        -",
        "4 clusters: 1 succeeded, 1 failed, 1 unreachable, 1 not started",
    ]
