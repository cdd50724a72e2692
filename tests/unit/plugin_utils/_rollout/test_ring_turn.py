# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A ring is deployed in batches until too many of its clusters have failed."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    RingOptions,
    Rollout,
    RolloutCluster,
    RolloutRing,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.ring_turn import (
    failures_left,
    failures_of,
    ring_batches,
    turn_refusal,
)

CANARY = RingOptions("canary", ("c1", "c2", "c3"), max_failures=1)
REST = RingOptions("rest", ("r1", "r2"))


def decided(*deploy: str, canary: int = 0) -> dict[str, Any]:
    """The result of the module, in which so many clusters of the first ring may fail."""
    rings = [
        {"name": ring.name, "clusters": [{"name": host} for host in ring.hosts]} for ring in (CANARY, REST)
    ]
    return {"deploy": list(deploy), "rings": rings, "failures_left": {"canary": canary, "rest": 0}}


def ended(**states: str) -> list[ClusterState]:
    return [ClusterState(name, state=state) for name, state in states.items()]


@pytest.mark.parametrize(
    ("parallel", "batches"),
    [((0, 0), [4]), ((2, 0), [2, 1, 1]), ((0, 2), [3, 1]), ((9, 1), [3, 1]), ((1, 1), [1, 1, 1, 1])],
)
def test_a_batch_has_clusters_of_one_ring(parallel: tuple[int, int], batches: list[int]) -> None:
    rings = [
        RingOptions("canary", CANARY.hosts, parallel=parallel[0]),
        RingOptions("rest", REST.hosts, parallel=parallel[1]),
    ]
    assert ring_batches(rings, ["c2", "c1", "c3", "r1"]) == batches


def test_nothing_to_deploy_is_one_batch() -> None:
    # Ansible takes a size of 0 for all hosts, of which there are none.
    assert ring_batches([CANARY], []) == [0]


def test_clusters_that_are_deployed_again_have_not_failed_yet() -> None:
    rollout = Rollout(deploy=("c1",))
    assert failures_left([CANARY, REST], rollout, ["c1"]) == {"canary": 1, "rest": 0}
    assert failures_left([CANARY, REST], rollout, ["c1", "c2", "r1"]) == {"canary": 0, "rest": 0}


@pytest.mark.parametrize(
    ("left", "states", "out", "is_refused"),
    [
        (0, {}, [], False),
        (0, {"c1": "succeeded", "c2": "running", "c3": "planned"}, [], False),
        (0, {"c1": "failed"}, [], True),
        (0, {"c1": "lost"}, [], True),
        (0, {"c1": "refused"}, [], True),
        (1, {"c1": "failed"}, [], False),
        (1, {"c1": "failed", "c2": "cancelled"}, [], True),
        # Another ring, and a cluster that this call does not deploy to.
        (0, {"r1": "failed", "old": "failed"}, [], False),
        # Held or unreachable from the start is no failure, and unreachable in a run is one.
        (0, {"c1": "held", "c2": "unreachable"}, ["c1", "c2"], False),
        (0, {"c1": "unreachable"}, [], True),
    ],
)
def test_a_ring_stops_after_too_many_failures(
    left: int, states: dict[str, str], out: list[str], is_refused: bool
) -> None:
    rollout = decided("c1", "c2", "c3", "r1", canary=left)
    refusal = turn_refusal(rollout, "c3", ended(**states), out)
    assert bool(refusal) is is_refused
    assert not is_refused or "the ring canary has stopped, as c1" in refusal


def test_a_host_that_was_not_decided_does_not_begin() -> None:
    # Such as one of a group that has the name of another host.
    assert "has not decided" in turn_refusal(decided("c1"), "c2", [], [])


def rollout_of(state: str, *clusters: RolloutCluster, failed: bool = True) -> Rollout:
    return Rollout(rings=(RolloutRing("canary", state, ("too few",), clusters=clusters),), failed=failed)


DONE = RolloutCluster("c1", state="unchanged", health="healthy")
BROKEN = RolloutCluster("c2", state="failed", reason="no room")
SICK = RolloutCluster("c3", state="unchanged", health="unhealthy", reason="no pod is ready")
GONE = RolloutCluster("c4", state="unreachable", reason="no answer")


def test_hosts_fail_where_a_person_has_to_act() -> None:
    rollout = rollout_of("stopped", DONE, BROKEN, SICK, GONE)
    hosts = ["c1", "c2", "c3", "c4"]
    assert failures_of(rollout, hosts) == {
        "c2": "failed: no room",
        "c3": "unchanged: no pod is ready",
    }


def test_no_host_fails_without_a_reason() -> None:
    rollout = rollout_of("open", DONE, GONE, failed=False)
    assert failures_of(rollout, ["c1", "c4"]) == {}


def test_clusters_that_are_out_fail_if_too_few_others_are_left() -> None:
    rollout = rollout_of("stopped", DONE, GONE)
    assert failures_of(rollout, ["c1", "c4"]) == {"c4": "unreachable: no answer"}


def test_a_failure_outside_of_the_limit_fails_a_host_inside() -> None:
    rollout = rollout_of("stopped", BROKEN, SICK)
    assert failures_of(rollout, ["r1", "r2"]) == {"r1": "c2: failed: no room; c3: unchanged: no pod is ready"}


def test_a_check_that_failed_fails_a_host() -> None:
    rollout = Rollout(rings=(RolloutRing("canary", "open", clusters=(DONE,)),), failed=True)
    assert failures_of(rollout, ["c1"]) == {"c1": "the check of a ring has failed"}


def test_a_cluster_that_this_call_has_mended_fails_no_host() -> None:
    assert failures_of(rollout_of("open", DONE, failed=False), ["c1"]) == {}
