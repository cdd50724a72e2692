# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that is said of hops: what was written, how far the way leads, and what stops it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState, Hop
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.hop_lines import (
    describe_way,
    hop_lines,
    plan_lines,
    reach,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.closing_lines import render_summary
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.cluster_table import cells_of
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._last_lines.playbook_summary import (
    summarize,
)

SUMS: Mapping[str, int] = {"create": 4, "change": 1, "replace": 0, "delete": 2, "migrations": 1}
BLOCKER = "web: apply Deployment shop/web: its selector is immutable"
DONE = Hop("2.9", "2.10", "succeeded", 30.04, "r1", SUMS, SUMS)
NEXT = Hop("2.10", "2.11", "succeeded", 31.0, "r2", SUMS, {**SUMS, "replace": 1, "migrations": 0})


def last(state: str, **more: Any) -> Hop:
    return Hop("2.11", "2.12", state, **more)


def on(cluster: str, *hops: Hop, state: str = "") -> ClusterState:
    state, failures = state or hops[-1].state, next((hop.failures[:1] for hop in hops if hop.failures), ())
    return ClusterState(cluster, hops[0].previous, hops[-1].version, state, 61.0, failures, hops=hops)


def test_each_hop_has_a_numbered_line_about_what_was_written() -> None:
    refused = on("eu", DONE, NEXT, last("refused", failures=(BLOCKER, "no room")))
    assert describe_way(refused) == [
        "1. 2.9 → 2.10: succeeded, 30.0 s: 4 created, 1 changed, 2 deleted, 1 migration",
        "2. 2.10 → 2.11: succeeded, 31.0 s: 4 created, 1 changed, 1 replaced, 2 deleted, 0 migrations",
        "3. 2.11 → 2.12: refused: nothing was written",
        "2.11 was deployed completely, and the hop to 2.12 is refused, for 2 reasons",
    ]
    assert cells_of(refused)[:4] == ("eu", "2.9", "2.12", "refused")
    assert cells_of(refused)[5].startswith("2.11 was deployed completely, and the hop to 2.12 is refused")


@pytest.mark.parametrize(
    ("hop", "line", "end"),
    [
        (
            last("failed", seconds=7.0, run="r3", written=SUMS, failures=("it hangs",)),
            "failed, 7.0 s: at least 4 created, 1 changed, 2 deleted, 1 migration",
            "and 2.12 is not deployed completely",
        ),
        (
            last("unreachable", run="r3", failures=("no answer",)),
            "unreachable: the record of its run says what was written",
            "and 2.12 is not deployed completely",
        ),
        (
            last("failed", failures=("no answer",)),
            "failed: no run has begun",
            "and the hop to 2.12 has failed, for 1 reason",
        ),
        (last("not started"), "not started: nothing was written", "and the hop to 2.12 is not started"),
        (
            last("held", failures=("it is held",)),
            "held: no run has begun",
            "and the hop to 2.12 is held, for 1 reason",
        ),
    ],
)
def test_no_more_is_said_than_is_known(hop: Hop, line: str, end: str) -> None:
    assert describe_way(on("eu", DONE, NEXT, hop))[2:] == [
        f"3. 2.11 → 2.12: {line}",
        f"2.11 was deployed completely, {end}",
    ]


def test_a_rehearsal_says_how_far_the_way_leads() -> None:
    first = Hop("2.9", "2.10", "planned", 2.0, planned=SUMS)
    second = Hop("2.10", "2.11", "planned", planned=SUMS)
    whole = on("eu", first, second, state="planned")
    assert describe_way(whole) == [
        "1. 2.9 → 2.10: 4 to create, 1 to change, 2 to delete, 1 migration",
        "2. 2.10 → 2.11: 4 to create, 1 to change, 2 to delete, 1 migration, provisional",
        "the way leads to 2.11: nothing that is known stops it",
    ]
    third = last("refused", planned=SUMS, failures=(BLOCKER,))
    fourth = Hop("2.12", "2.13")
    lines = render_summary(summarize([on("eu", first, second, third, fourth, state="planned")]), 200)
    assert lines == [
        "eu: planned, Kyma 2.9 → 2.13, 61.0 s",
        *describe_way(whole)[:2],
        "3. 2.11 → 2.12: 4 to create, 1 to change, 2 to delete, 1 migration, would be refused, provisional",
        "4. 2.12 → 2.13: not started",
        "the way leads to 2.11: the hop to 2.12 would be refused, for 1 reason",
        BLOCKER,
        "next: nothing was written; correct what stops the way, or run the playbook without --check to apply"
        " the plan as far as it leads",
    ]


def test_a_way_that_is_refused_at_once_leaves_the_release() -> None:
    refused = Hop("2.9", "2.10", "refused", failures=(BLOCKER,))
    way = on("eu", refused, Hop("2.10", "2.11"), state="refused")
    assert describe_way(way) == [
        "1. 2.9 → 2.10: refused: nothing was written",
        "2. 2.10 → 2.11: not started: nothing was written",
        "the cluster has 2.9, and the hop to 2.10 is refused, for 1 reason",
    ]
    assert summarize([way]).next_steps == (
        "nothing was written; correct the blockers, then run the same playbook again",
    )


def test_after_hops_nothing_says_that_nothing_was_written() -> None:
    refused = on("eu", DONE, last("refused", failures=(BLOCKER,)))
    assert summarize([refused]).next_steps == (
        "correct the blockers, then run the same playbook again: it continues",
    )


def test_one_release_needs_no_lines_but_the_sums_of_its_plan() -> None:
    assert describe_way(on("eu", DONE)) == []
    planned = on("eu", Hop("2.9", "2.10", "planned", planned=SUMS))
    assert plan_lines([planned, planned, on("us", DONE)]) == [
        "plan: 8 to create, 2 to change, 4 to delete, 2 migrations"
    ]
    assert hop_lines([planned, on("us", DONE)]) == []


def test_clusters_share_the_lines_of_equal_hops() -> None:
    fleet = [on("eu", DONE, NEXT), on("us", DONE, NEXT), on("asia", NEXT)]
    assert hop_lines(fleet) == [
        "1. 2.9 → 2.10 on 2 clusters: succeeded, 30.0 s: 8 created, 2 changed, 4 deleted, 2 migrations",
        "1. 2.10 → 2.11 on 1 cluster: succeeded, 31.0 s: 4 created, 1 changed, 1 replaced, 2 deleted,"
        " 0 migrations",
        "2. 2.10 → 2.11 on 2 clusters: succeeded, 31.0 s: 8 created, 2 changed, 2 replaced, 4 deleted,"
        " 0 migrations",
    ]
    assert [reach(one.hops) for one in fleet] == ["2.11 was deployed completely"] * 2 + [""]
    lines = render_summary(summarize(fleet), 200)
    assert lines[4] == "[eu, us] 2.11 was deployed completely"
