# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hops of a call, task after task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import from_result, to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import (
    NO_CHANGES,
    ClusterState,
    Hop,
    cluster_state,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.hop_progress import hops_after

SUMS = {**NO_CHANGES, "create": 3}
WAY = (
    Hop("2.9", "2.10", "planned", 1.0, planned=SUMS),
    Hop("2.10", "2.11", "planned", planned=SUMS),
    Hop("2.11", "2.12", "refused", planned=SUMS, failures=("immutable",)),
)
BEGUN = hops_after(WAY, [Hop(state="running", run="r1")], 0)
ENDED = hops_after(BEGUN, [Hop("2.9", "2.10", "succeeded", 9.0, "r1", written=SUMS)], 0)


def states(hops: tuple[Hop, ...]) -> list[tuple[str, str, str]]:
    return [(hop.version, hop.state, hop.run) for hop in hops]


def test_the_plan_of_the_first_hop_has_the_whole_way() -> None:
    assert hops_after((), WAY, 1) == WAY
    # It was outdated, and is made again.
    assert hops_after(WAY, WAY[1:], 1) == WAY[1:]


def test_the_tasks_of_a_run_complete_its_hop() -> None:
    assert states(BEGUN)[0] == ("2.10", "running", "r1")
    assert (Hop("2.9", "2.10", "succeeded", 9.0, "r1", SUMS, SUMS), *WAY[1:]) == ENDED
    # The task that ends a run may be repeated.
    assert hops_after(ENDED, [replace(ENDED[0], planned=None)], 0) == ENDED


def test_a_later_hop_takes_its_place() -> None:
    planned = hops_after(ENDED, [Hop("2.10", "2.11", "planned", 2.0, planned=SUMS)], 2)
    assert states(planned)[1:] == [("2.11", "planned", ""), ("2.12", "refused", "")]
    begun = hops_after(planned, [Hop(state="running", run="r2")], 0)
    done = hops_after(begun, [Hop("2.10", "2.11", "succeeded", 8.0, "r2", written=SUMS)], 0)
    refused = hops_after(done, [Hop("2.11", "2.12", "refused", failures=("immutable",))], 3)
    assert states(refused) == [
        ("2.10", "succeeded", "r1"),
        ("2.11", "succeeded", "r2"),
        ("2.12", "refused", ""),
    ]


@pytest.mark.parametrize("state", ["failed", "refused", "unreachable", "held", "cancelled"])
def test_after_a_bad_end_the_hops_behind_it_are_not_started(state: str) -> None:
    stopped = hops_after(ENDED, [Hop(state=state, failures=("why",))], 2)
    assert states(stopped)[1:] == [("2.11", state, ""), ("2.12", "not started", "")]
    assert (stopped[1].previous, stopped[2].failures) == ("2.10", ())


def test_another_deployment_of_the_same_call_begins_after_what_has_ended() -> None:
    other = Hop("2.12", "2.13", "planned", planned=SUMS)
    assert hops_after(ENDED, [other], 1) == (ENDED[0], other)
    assert hops_after(ENDED, [Hop("2.10", "2.10", "unchanged")], 1) == ENDED[:1]
    assert hops_after((), [Hop("2.10", "2.10", "unchanged")], 1) == (Hop("2.10", "2.10", "unchanged"),)


def test_a_hop_is_the_same_in_a_result() -> None:
    assert tuple(from_result(Hop, to_result(hop)) for hop in ENDED[:1]) == ENDED[:1]
    assert to_result(WAY[0])["written"] == NO_CHANGES
    assert to_result(BEGUN[0])["written"] is None


def attempt(hops: tuple[Hop, ...], state: str, *, ends: bool = True) -> ClusterState:
    return ClusterState("eu", "2.9", "2.10", state, 1.0, ends_with_playbook=ends, hops=hops)


def test_the_target_of_a_cluster_is_that_of_its_last_hop() -> None:
    checked = cluster_state("eu", [attempt(WAY, "planned", ends=False)], is_over=True)
    assert (checked.previous, checked.version, checked.state, checked.hops) == ("2.9", "2.12", "planned", WAY)


@pytest.mark.parametrize(("is_over", "state"), [(True, "cancelled"), (False, "running")])
def test_a_way_is_not_done_before_its_last_hop(is_over: bool, state: str) -> None:
    one = cluster_state("eu", [attempt(ENDED, "succeeded")], is_over=is_over)
    assert (one.state, one.version) == (state, "2.12")
    later = ["not started"] * 2 if is_over else ["planned", "refused"]
    assert [hop.state for hop in one.hops] == ["succeeded", *later]


def test_a_run_that_is_cut_off_is_cancelled_with_unknown_writes() -> None:
    one = cluster_state("eu", [attempt(BEGUN, "running")], is_over=True)
    assert [hop.state for hop in one.hops] == ["cancelled", "not started", "not started"]
    assert one.hops[0].written is None


def test_a_failure_of_another_task_stops_the_way() -> None:
    failed = ClusterState("eu", state="failed", failures=("no such module",))
    one = cluster_state("eu", [attempt(ENDED, "succeeded"), failed], is_over=True)
    assert (one.state, one.version) == ("failed", "2.12")
    assert [hop.state for hop in one.hops] == ["succeeded", "not started", "not started"]
