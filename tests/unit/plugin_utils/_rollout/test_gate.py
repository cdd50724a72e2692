# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which rings may start, and which clusters are deployed now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.gate import (
    broken_clusters,
    decide,
    rings_to_check,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    ApprovalFacts,
    CheckVerdict,
    ClusterFacts,
    Minimum,
    RingOptions,
    Rollout,
    RolloutRing,
    RunFacts,
)

from tests.support.rollout_facts import (
    DIGEST,
    NOW,
    OTHER_DIGEST,
    approval,
    done,
    ended,
    held,
    let_in,
    pending,
    refused,
    unhealthy,
    unreachable,
    unrecorded,
)

Fleet = Mapping[str, list[ClusterFacts]]


def decided(
    fleet: Fleet,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    now: datetime = NOW,
    limit: Collection[str] | None = None,
    checks: Mapping[str, CheckVerdict] | None = None,
) -> Rollout:
    """What is decided about a fleet of rings with their clusters."""
    rings = ring_options(fleet, options or {})
    known = {one.cluster: one for clusters in fleet.values() for one in clusters}
    return decide(rings, known, now, limit=limit, checks=checks)


def ring_options(fleet: Fleet, options: Mapping[str, Mapping[str, Any]]) -> list[RingOptions]:
    return [
        RingOptions(name, tuple(one.cluster for one in clusters), **options.get(name, {}))
        for name, clusters in fleet.items()
    ]


def ring_of(rollout: Rollout, name: str) -> RolloutRing:
    return next(ring for ring in rollout.rings if ring.name == name)


def states(rollout: Rollout) -> list[str]:
    return [ring.state for ring in rollout.rings]


def behind(*canaries: ClusterFacts, **options: Any) -> Rollout:
    """What is decided about a ring behind canaries."""
    return decided({"canary": [*canaries], "rest": [pending("r1")]}, {"canary": options})


def may_follow(*canaries: ClusterFacts, **options: Any) -> bool:
    """Whether the ring behind canaries may start."""
    return "r1" in behind(*canaries, **options).deploy


class TestDone:
    """A ring may start when every cluster of each earlier ring is done."""

    def test_the_first_ring_starts_alone(self) -> None:
        rollout = decided({"canary": [pending("c1"), pending("c2")], "rest": [pending("r1")]})
        assert rollout.deploy == ("c1", "c2")
        assert states(rollout) == ["open", "waiting"]
        assert ring_of(rollout, "rest").reasons == ("canary: not deployed yet: 2 clusters (c1, c2)",)
        assert not rollout.failed

    def test_a_ring_starts_behind_a_done_one(self) -> None:
        rollout = behind(done("c1"))
        assert (rollout.deploy, states(rollout)) == (("r1",), ["done", "open"])

    @pytest.mark.parametrize(
        "canary",
        [
            pending("c1"),
            unrecorded("c1"),
            unrecorded("c1", installed_digest=""),
            # It has drifted.
            done("c1", state="planned"),
            unhealthy("c1"),
            done("c1", unhealthy=None),
            done("c1", run=RunFacts("run-2", "running", DIGEST)),
            done("c1", run=RunFacts("run-2", "running", OTHER_DIGEST)),
            ended("c1"),
            ended("c1", "lost"),
            ended("c1", "cancelled"),
            refused("c1"),
        ],
    )
    def test_a_cluster_is_not_done_before_all_holds(self, canary: ClusterFacts) -> None:
        assert not may_follow(canary, done("c2"))

    def test_each_earlier_ring_counts(self) -> None:
        fleet = {"a": [pending("a1")], "b": [done("b1")], "c": [pending("c1")]}
        assert decided(fleet).deploy == ("a1",)

    def test_a_cluster_with_another_digest_that_needs_nothing_is_deployed_to_be_recorded(self) -> None:
        assert behind(unrecorded("c1")).deploy == ("c1",)

    def test_no_run_begins_beside_an_open_one(self) -> None:
        rollout = behind(pending("c1", run=RunFacts("run-2", "running", OTHER_DIGEST)))
        assert rollout.deploy == ()
        assert rollout.rings[0].state == "open"
        assert rollout.rings[0].clusters[0].state == "running"
        assert not rollout.failed

    def test_all_rings_done(self) -> None:
        rollout = decided({"canary": [done("c1")], "rest": [done("r1")]})
        assert (states(rollout), rollout.deploy, rollout.failed) == (["done", "done"], (), False)
        assert rollout.next_at is None

    def test_a_release_whose_digest_is_unknown_is_nowhere_done(self) -> None:
        canary = done("c1", release_digest="", installed_digest="")
        rollout = decided({"canary": [canary], "rest": [refused("r1", release_digest="")]})
        assert states(rollout)[0] != "done"

    def test_clusters_with_different_releases_are_refused_by_name(self) -> None:
        with pytest.raises(LifecycleError, match=r"1\.1 \(digest d{12}\): c1; 1\.2 \(digest 0{12}\): r1"):
            decided(
                {
                    "canary": [pending("c1")],
                    "rest": [pending("r1", version="1.2", release_digest=OTHER_DIGEST)],
                }
            )


class TestSoak:
    """A soak is counted by the cluster's own clock."""

    def test_a_ring_waits_for_the_soak_before_it(self) -> None:
        rollout = behind(done("c1", seconds=600), soak=3600)
        assert (rollout.deploy, states(rollout)) == ((), ["open", "waiting"])
        assert ring_of(rollout, "rest").opens_at == NOW + timedelta(seconds=3000)
        assert rollout.next_at == NOW + timedelta(seconds=3000)
        assert ring_of(rollout, "rest").reasons == (
            "canary: soaks until 2026-11-27T12:50:00Z: 1 cluster (c1)",
        )
        assert not rollout.failed

    def test_a_soak_is_over_at_its_last_second(self) -> None:
        assert not may_follow(done("c1", seconds=3599), soak=3600)
        assert may_follow(done("c1", seconds=3600), soak=3600)

    def test_a_soak_begins_when_the_last_component_became_healthy(self) -> None:
        late = done("c1", healthy_since=NOW - timedelta(seconds=60))
        early = done("c1", healthy_since=NOW - timedelta(days=9))
        assert not may_follow(late, soak=3600)
        assert may_follow(early, soak=3600)
        assert behind(late, soak=3600).next_at == NOW + timedelta(seconds=3540)

    @pytest.mark.parametrize("minutes", [-10, 10])
    def test_the_controller_s_clock_does_not_count(self, minutes: int) -> None:
        theirs = NOW + timedelta(minutes=minutes)
        assert not may_follow(done("c1", seconds=3590, now=theirs), soak=3600)
        assert may_follow(done("c1", seconds=3600, now=theirs), soak=3600)
        # What is left is shown in the controller's time.
        rollout = behind(done("c1", seconds=600, now=theirs), soak=3600)
        assert rollout.next_at == NOW + timedelta(seconds=3000)

    def test_the_slowest_cluster_counts(self) -> None:
        rollout = behind(done("c1", seconds=600), done("c2", seconds=60), done("c3"), soak=3600)
        assert rollout.next_at == NOW + timedelta(seconds=3540)

    def test_no_moment_is_named_while_something_else_is_lacking_too(self) -> None:
        rollout = behind(done("c1", seconds=600), pending("c2"), soak=3600)
        assert ring_of(rollout, "rest").opens_at is None

    def test_a_moment_is_shown_as_the_second_in_which_it_has_passed(self) -> None:
        rollout = behind(done("c1", seconds=599.5), soak=3600)
        assert rollout.next_at == NOW + timedelta(seconds=3001)

    @pytest.mark.parametrize("unknown", [{"since": None}, {"now": None}])
    def test_an_unknown_time_is_no_soak(self, unknown: Mapping[str, None]) -> None:
        canary = replace(done("c1"), **unknown)
        assert not may_follow(canary, soak=3600)
        assert may_follow(canary)

    def test_the_last_ring_soaks_too(self) -> None:
        rest = [done("r1", 600), done("r2", 60), done("r3", 300)]
        rollout = decided({"canary": [done("c1")], "rest": rest}, {"rest": {"soak": 3600}})
        assert states(rollout) == ["done", "open"]
        assert rollout.next_at == NOW + timedelta(seconds=3540)

    def test_a_ring_that_waits_for_an_approval_names_the_end_of_the_soak_as_the_next_time(self) -> None:
        fleet = {"canary": [done("c1", 600)], "rest": [pending("r1")]}
        rollout = decided(fleet, {"canary": {"soak": 3600}, "rest": {"is_approval_required": True}})
        assert ring_of(rollout, "rest").opens_at is None
        assert rollout.next_at == NOW + timedelta(seconds=3000)


class TestOut:
    """A cluster that is held or unreachable is out: it neither blocks nor counts as failed."""

    @pytest.mark.parametrize("canary", [held("c1"), unreachable("c1")])
    def test_a_cluster_that_is_out_closes_no_gate(self, canary: ClusterFacts) -> None:
        rollout = behind(canary, done("c2"))
        assert (rollout.deploy, rollout.failed) == (("r1",), False)
        row = rollout.rings[0].clusters[0]
        assert (row.state, row.reason) == (canary.state, canary.reason)

    def test_a_held_cluster_that_has_the_release_is_done(self) -> None:
        # Its plan is unchanged, so the hold does not matter.
        assert may_follow(done("c1"))

    def test_a_held_cluster_on_which_the_release_failed_is_out(self) -> None:
        canary = held("c1", run=RunFacts("run-1", "failed", DIGEST))
        assert may_follow(canary, done("c2"))

    def test_a_ring_of_which_all_are_out_stays_closed(self) -> None:
        rollout = behind(held("c1"), unreachable("c2"))
        assert (rollout.deploy, states(rollout), rollout.failed) == ((), ["stopped", "waiting"], True)
        assert rollout.rings[0].reasons == (
            "0 of 2 clusters done, minimum 1; held or unreachable: 2 clusters (c1, c2)",
        )

    def test_a_cluster_that_stops_answering_after_its_run_began_has_failed(self) -> None:
        assert may_follow(unreachable("c1"), done("c2"))
        assert not may_follow(unreachable("c1", has_begun=True), done("c2"))
        assert not may_follow(unreachable("c1", run=RunFacts("run-1", "running", DIGEST)), done("c2"))

    def test_a_cluster_that_stops_answering_after_its_run_succeeded_is_out(self) -> None:
        assert may_follow(unreachable("c1", run=RunFacts("run-1", "succeeded", DIGEST)), done("c2"))

    def test_a_ring_of_which_all_are_out_lacks_nothing_else(self) -> None:
        options = {"is_approval_required": True, "check": "gate.sh", "not_before": NOW + timedelta(hours=1)}
        for name in options:
            rollout = decided({"rest": [held("r1")]}, {"rest": {name: options[name]}})
            assert len(rollout.rings[0].reasons) == 1

    def test_a_ring_of_which_all_are_out_waits_for_its_turn(self) -> None:
        rollout = decided({"canary": [pending("c1")], "rest": [held("r1")]})
        assert (states(rollout), rollout.failed) == (["open", "waiting"], False)


class TestMinimumAndFailures:
    """How many must be done, and how many may have failed."""

    def test_a_ring_s_size_includes_those_that_are_out(self) -> None:
        half = Minimum(50, is_percentage=True)
        assert may_follow(done("c1"), done("c2"), held("c3"), minimum=half)
        assert not may_follow(done("c1"), held("c2"), held("c3"), minimum=half)

    def test_a_number_as_minimum(self) -> None:
        assert may_follow(done("c1"), done("c2"), held("c3"), minimum=Minimum(2))
        assert not may_follow(done("c1"), held("c2"), held("c3"), minimum=Minimum(2))

    def test_a_ring_below_its_minimum_in_which_nothing_is_left_has_failed(self) -> None:
        rollout = behind(done("c1"), held("c2"), minimum=Minimum(2))
        assert (states(rollout), rollout.failed) == (["stopped", "waiting"], True)

    def test_a_ring_has_not_failed_while_something_is_left(self) -> None:
        rollout = behind(pending("c1"), held("c2"), minimum=Minimum(1))
        assert not rollout.failed
        soaking = behind(done("c1", 60), held("c2"), soak=3600)
        assert not soaking.failed

    @pytest.mark.parametrize("canary", [ended("c1"), refused("c1"), unhealthy("c1")])
    def test_failures_up_to_the_maximum_close_no_gate(self, canary: ClusterFacts) -> None:
        assert not may_follow(canary, done("c2"))
        rollout = behind(canary, done("c2"), max_failures=1)
        assert "r1" in rollout.deploy
        assert rollout.failed

    def test_a_ring_is_not_done_while_an_allowed_failure_is_tried_again(self) -> None:
        rollout = behind(ended("c1"), done("c2"), max_failures=1)
        assert (rollout.deploy, states(rollout)) == (("c1", "r1"), ["open", "open"])
        assert states(behind(refused("c1"), done("c2"), max_failures=1)) == ["done", "open"]

    def test_failures_of_all_kinds_are_added(self) -> None:
        canaries = [ended("c1"), refused("c2"), done("c3")]
        assert not may_follow(*canaries, max_failures=1)
        assert may_follow(*canaries, max_failures=2)

    def test_an_allowed_failure_does_not_count_as_done(self) -> None:
        assert not may_follow(ended("c1"), done("c2"), max_failures=1, minimum=Minimum(2))

    def test_a_run_of_another_release_that_failed_is_no_failure(self) -> None:
        rollout = behind(pending("c1", run=RunFacts("run-1", "failed", OTHER_DIGEST)))
        assert (rollout.deploy, rollout.failed) == (("c1",), False)

    def test_a_failed_run_is_forgotten_once_its_cluster_has_the_release(self) -> None:
        assert may_follow(done("c1", run=RunFacts("run-2", "failed", DIGEST)))


class TestStop:
    """A ring with more failures than allowed stops."""

    def test_only_what_was_begun_goes_on_and_failed_ones_are_tried_first(self) -> None:
        fleet = {"rest": [pending("r1"), ended("r2", "lost"), ended("r3"), done("r4"), pending("r5")]}
        rollout = decided(fleet)
        assert (rollout.deploy, states(rollout), rollout.failed) == (("r3", "r2"), ["stopped"], True)
        rows = [one.state for one in rollout.rings[0].clusters]
        assert rows == ["waiting", "planned", "failed", "unchanged", "waiting"]

    def test_unstarted_clusters_name_the_failures(self) -> None:
        row = decided({"rest": [pending("r1"), ended("r2")]}).rings[0].clusters[0]
        assert row.state == "waiting"
        assert row.reason == (
            "1 cluster (r2) failed, refused or unhealthy, and ring_max_failures (kyma_ring_max_failures)"
            " allows 0"
        )

    def test_allowed_failures_do_not_stop_it(self) -> None:
        fleet = {"rest": [pending("r1"), ended("r2"), pending("r3")]}
        rollout = decided(fleet, {"rest": {"max_failures": 1}})
        assert (rollout.deploy, states(rollout)) == (("r2", "r1", "r3"), ["open"])

    def test_an_unhealthy_cluster_stops_it(self) -> None:
        rollout = decided({"rest": [unhealthy("r1"), pending("r2")]})
        assert (rollout.deploy, states(rollout), rollout.failed) == ((), ["stopped"], True)
        row = rollout.rings[0].clusters[0]
        assert (row.state, row.health) == ("unchanged", "unhealthy")
        assert row.reason == "Deployment shop/checkout: 0 of 1 replicas are available"

    def test_a_refused_plan_stops_no_other_cluster_of_its_ring(self) -> None:
        # The release has done nothing there.
        rollout = decided({"canary": [refused("c1"), pending("c2")], "rest": [pending("r1")]})
        assert (rollout.deploy, rollout.failed) == (("c2",), True)
        assert rollout.rings[0].clusters[0].state == "refused"

    def test_interrupted_runs_are_no_failures(self) -> None:
        # The process or the person ended them, and not the release.
        rollout = decided({"rest": [pending("r1"), ended("r2", "lost"), ended("r3", "cancelled")]})
        assert (rollout.deploy, rollout.failed) == (("r2", "r3", "r1"), False)

    def test_a_failed_cluster_whose_plan_is_refused_is_not_tried_again(self) -> None:
        rollout = decided({"rest": [ended("r1", state="refused"), pending("r2")]})
        assert rollout.deploy == ()

    def test_a_failed_cluster_whose_plan_names_no_digest_is_not_tried_again(self) -> None:
        rollout = decided({"rest": [ended("r1", release_digest=""), done("r2")]})
        assert rollout.deploy == ()

    def test_a_refused_plan_in_the_last_ring_ends_in_a_ring_that_has_stopped(self) -> None:
        rollout = decided({"rest": [done("r1"), refused("r2")]})
        assert (states(rollout), rollout.failed) == (["stopped"], True)

    def test_broken_clusters_are_those_that_stop_their_ring(self) -> None:
        old = held("r3", run=RunFacts("run-0", "failed", DIGEST))
        fleet = {"rest": [ended("r1"), unhealthy("r2"), old, refused("r4"), ended("r5", "lost"), done("r6")]}
        known = {one.cluster: one for one in fleet["rest"]}
        assert broken_clusters(ring_options(fleet, {}), known, NOW) == {"r1", "r2"}


class TestBegun:
    """A ring that has begun goes on while a cluster that was added before it is under way.

    Only a run that its gate let begin has begun it.
    """

    BEGUN = (
        let_in(done("r1")),
        let_in(ended("r1")),
        let_in(ended("r1", "running")),
        let_in(pending("r1", installed_digest=DIGEST)),
        # Its last run was one by hand, of another release.
        let_in(pending("r1", run=RunFacts("run-0", "failed", OTHER_DIGEST))),
    )
    BY_OTHERS = (
        done("r1"),
        ended("r1"),
        ended("r1", "running"),
        let_in(done("r1"), "canary"),
        let_in(done("r1"), digest=OTHER_DIGEST),
    )

    @pytest.mark.parametrize("begun", BEGUN)
    @pytest.mark.parametrize("added", [pending("c2"), done("c2", 60), ended("c2", "running")])
    def test_a_ring_that_has_begun_does_not_wait_for_an_added_cluster(
        self, begun: ClusterFacts, added: ClusterFacts
    ) -> None:
        fleet = {"canary": [done("c1"), added], "rest": [begun, pending("r2")]}
        options = {"canary": {"soak": 3600}, "rest": {"max_failures": 1}}
        rollout = decided(fleet, options)
        assert "r2" in rollout.deploy
        assert ("c2" in rollout.deploy) == (added == pending("c2"))

    @pytest.mark.parametrize("by_others", BY_OTHERS)
    @pytest.mark.parametrize("added", [pending("c2"), done("c2", 60), ended("c2", "running")])
    def test_a_deployment_by_hand_or_in_another_ring_begins_no_ring(
        self, by_others: ClusterFacts, added: ClusterFacts
    ) -> None:
        fleet = {"canary": [done("c1"), added], "early": [pending("e1")], "rest": [by_others, pending("r2")]}
        options = {"canary": {"soak": 3600}, "rest": {"max_failures": 1}}
        assert not {"e1", "r1", "r2"} & {*decided(fleet, options).deploy}

    def test_a_ring_has_begun_also_if_the_cluster_that_says_so_was_moved(self) -> None:
        moved = let_in(done("c2"))
        fleet = {"canary": [done("c1"), moved, pending("c3")], "rest": [pending("r2")]}
        assert decided(fleet).deploy == ("c3", "r2")

    def test_a_ring_that_has_not_begun_waits_for_it_with_its_soak(self) -> None:
        rest = [pending("r1"), unrecorded("r2"), pending("r3", run=RunFacts("run-0", "failed", OTHER_DIGEST))]
        for added in (pending("c2"), done("c2", 60)):
            rollout = decided({"canary": [done("c1"), added], "rest": rest}, {"canary": {"soak": 3600}})
            assert not {"r1", "r2", "r3"} & {*rollout.deploy}

    @pytest.mark.parametrize("broken", [ended("c2"), unhealthy("c2")])
    def test_a_ring_that_has_begun_waits_for_a_cluster_that_broke(self, broken: ClusterFacts) -> None:
        rollout = decided({"canary": [done("c1"), broken], "rest": [let_in(done("r1")), pending("r2")]})
        assert "r2" not in rollout.deploy
        assert states(rollout) == ["stopped", "waiting"]

    def test_a_ring_that_has_begun_does_not_wait_for_a_refused_plan(self) -> None:
        fleet = {"canary": [done("c1"), refused("c2")], "rest": [let_in(done("r1")), pending("r2")]}
        rollout = decided(fleet)
        assert (rollout.deploy, rollout.failed) == (("r2",), True)

    @pytest.mark.parametrize("minimum", [Minimum(), Minimum(50, is_percentage=True)])
    def test_a_cluster_that_was_deployed_by_hand_opens_no_gate(self, minimum: Minimum) -> None:
        by_hand = [done("r1"), pending("r2")]
        options = {"canary": {"soak": 3600, "minimum": minimum}}
        assert decided({"canary": [pending("c1")], "rest": by_hand}, options).deploy == ("c1",)
        soaking = decided({"canary": [done("c1", 60)], "rest": by_hand}, options)
        assert soaking.deploy == ()
        assert soaking.rings[1].opens_at == NOW + timedelta(seconds=3540)
        assert soaking.rings[1].reasons == ("canary: soaks until 2026-11-27T12:59:00Z: 1 cluster (c1)",)

    def test_a_ring_in_which_only_a_soak_is_left_does_not_wait_for_another(self) -> None:
        rollout = decided({"canary": [pending("c1")], "rest": [done("r1", 60)]}, {"rest": {"soak": 3600}})
        assert states(rollout) == ["open", "open"]

    def test_a_ring_that_is_done_opens_at_no_time(self) -> None:
        rollout = decided({"canary": [done("c1", 60)], "rest": [done("r1")]}, {"canary": {"soak": 3600}})
        assert [(ring.state, ring.opens_at) for ring in rollout.rings] == [("open", None), ("done", None)]
        assert rollout.next_at == NOW + timedelta(seconds=3540)

    def test_a_percentage_counts_without_added_clusters(self) -> None:
        fleet = {"canary": [done("c1"), pending("c2")], "rest": [let_in(done("r1")), pending("r2")]}
        options = {"canary": {"minimum": Minimum(100, is_percentage=True)}}
        assert decided(fleet, options).deploy == ("c2", "r2")

    def test_without_a_cluster_that_is_done_no_ring_goes_on(self) -> None:
        fleet = {"canary": [held("c1"), pending("c2")], "rest": [let_in(done("r1")), pending("r2")]}
        assert decided(fleet).deploy == ("c2",)

    def test_a_number_as_minimum_counts_with_added_clusters(self) -> None:
        fleet = {"canary": [done("c1"), pending("c2")], "rest": [let_in(done("r1")), pending("r2")]}
        rollout = decided(fleet, {"canary": {"minimum": Minimum(2)}})
        assert rollout.deploy == ("c2",)
        assert rollout.rings[1].reasons == ("canary: 1 of 2 clusters done, minimum 2",)

    def test_no_moment_is_named_at_which_too_few_clusters_have_soaked(self) -> None:
        fleet = {"canary": [done("c1", 60), held("c2")], "rest": [let_in(done("r1")), pending("r2")]}
        options = {"canary": {"soak": 3600, "minimum": Minimum(2)}}
        assert decided(fleet, options).rings[1].opens_at is None
        options = {"canary": {"soak": 3600, "minimum": Minimum(50, is_percentage=True)}}
        assert decided(fleet, options).rings[1].opens_at == NOW + timedelta(seconds=3540)


class TestApproval:
    """A ring that needs an approval has it from the clusters of the ring before."""

    OPTIONS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"rest": {"is_approval_required": True}}

    def approved(self, *canaries: ClusterFacts) -> bool:
        rollout = decided({"canary": [*canaries], "rest": [pending("r1")]}, self.OPTIONS)
        return rollout.deploy == ("r1",)

    def test_a_ring_waits_for_its_approval(self) -> None:
        rollout = decided({"canary": [done("c1")], "rest": [pending("r1")]}, self.OPTIONS)
        assert (rollout.deploy, states(rollout), rollout.failed) == ((), ["done", "waiting"], False)
        assert ring_of(rollout, "rest").needs_approval
        assert ring_of(rollout, "rest").reasons == ("no approval for this release (kyma_ring_approve)",)

    def test_a_cluster_whose_approvals_could_not_be_read_is_named(self) -> None:
        given = (approval("rest", ["c1", "c2"]),)
        unread = done("c2", approvals_problem="the cluster has no definition of approvals")
        canaries = [done("c1", approvals=given), unread]
        rollout = decided({"canary": canaries, "rest": [pending("r1")]}, self.OPTIONS)
        [reason] = ring_of(rollout, "rest").reasons
        assert reason.endswith("; it is missing on c2; c2: the cluster has no definition of approvals")
        # A cluster that joined later needs none.
        assert self.approved(done("c1", approvals=(approval("rest", ["c1"]),)), unread)

    def test_an_approval_counts_when_every_cluster_has_it(self) -> None:
        given = (approval("rest", ["c1", "c2"]),)
        assert self.approved(done("c1", approvals=given), done("c2", approvals=given))
        assert not self.approved(done("c1", approvals=given), done("c2"))

    def test_a_cluster_that_is_out_need_not_have_it(self) -> None:
        given = (approval("rest", ["c1", "c2"]),)
        assert self.approved(done("c1", approvals=given), held("c2"))
        assert self.approved(done("c1", approvals=given), unreachable("c2"))

    def test_a_cluster_that_was_added_later_need_not_have_it(self) -> None:
        given = (approval("rest", ["c1"]),)
        assert self.approved(done("c1", approvals=given), done("c2"))

    def test_a_cluster_that_was_unreachable_and_is_back_has_to_have_it(self) -> None:
        given = (approval("rest", ["c1", "c2"]),)
        canaries = [done("c1", approvals=given), done("c2")]
        rollout = decided({"canary": canaries, "rest": [pending("r1")]}, self.OPTIONS)
        assert rollout.deploy == ()
        [reason] = ring_of(rollout, "rest").reasons
        assert reason.endswith("(kyma_ring_approve); it is missing on c2")
        again = (approval("rest", ["c1", "c2"]),)
        assert self.approved(done("c1", approvals=given), done("c2", approvals=again))

    def test_an_approval_without_clusters_is_one_of_all(self) -> None:
        given = (approval("rest", []),)
        assert not self.approved(done("c1", approvals=given), done("c2"))

    @pytest.mark.parametrize(
        "worthless",
        [
            approval("rest", ["c1"], release_digest=OTHER_DIGEST),
            approval("rest", ["c1"], release_digest=""),
            approval("early", ["c1"]),
            approval("rest", ["c1"], until=NOW),
        ],
    )
    def test_another_digest_another_ring_and_its_end_make_it_worthless(
        self, worthless: ApprovalFacts
    ) -> None:
        assert not self.approved(done("c1", approvals=(worthless,)))

    def test_its_end_is_read_on_the_cluster_s_clock(self) -> None:
        given = (approval("rest", ["c1"], until=NOW + timedelta(minutes=5)),)
        assert self.approved(done("c1", approvals=given))
        assert not self.approved(done("c1", approvals=given, now=NOW + timedelta(minutes=10)))
        assert not self.approved(replace(done("c1", approvals=given), now=None))

    def test_the_first_ring_has_its_own(self) -> None:
        options = {"canary": {"is_approval_required": True}}
        given = (approval("canary", ["c1"]),)
        assert decided({"canary": [pending("c1")]}, options).deploy == ()
        assert decided({"canary": [pending("c1", approvals=given)]}, options).deploy == ("c1",)

    def test_a_ring_behind_one_without_hosts_has_it_from_the_ring_before_that(self) -> None:
        given = (approval("rest", ["c1"]),)
        fleet = {"canary": [done("c1", approvals=given)], "early": [], "rest": [pending("r1")]}
        assert decided(fleet, self.OPTIONS).deploy == ("r1",)

    def test_no_approval_is_asked_for_that_no_ring_needs(self) -> None:
        rollout = decided({"canary": [done("c1")], "rest": [pending("r1")]})
        assert [ring.needs_approval for ring in rollout.rings] == [False, False]

    def test_no_approval_is_asked_for_before_the_gate_is_open(self) -> None:
        for canary in (pending("c1"), done("c1", 60), unhealthy("c1"), held("c1")):
            fleet = {"canary": [canary], "rest": [pending("r1")]}
            rollout = decided(fleet, {"canary": {"soak": 3600}, **self.OPTIONS})
            assert not ring_of(rollout, "rest").needs_approval

    def test_a_ring_may_be_approved_before_its_earliest_time(self) -> None:
        options = {"rest": {"is_approval_required": True, "not_before": NOW + timedelta(hours=1)}}
        rollout = decided({"canary": [done("c1")], "rest": [pending("r1")]}, options)
        assert ring_of(rollout, "rest").needs_approval

    def test_a_ring_in_which_nothing_is_left_needs_none(self) -> None:
        rollout = decided({"canary": [done("c1")], "rest": [done("r1")]}, self.OPTIONS)
        assert (states(rollout), ring_of(rollout, "rest").needs_approval) == (["done", "done"], False)

    def test_a_ring_that_has_begun_needs_it_still(self) -> None:
        # So a person can withdraw it.
        rollout = decided({"canary": [done("c1")], "rest": [done("r1"), pending("r2")]}, self.OPTIONS)
        assert (rollout.deploy, states(rollout)) == ((), ["done", "waiting"])


class TestTime:
    """A ring may have an earliest time."""

    OPTIONS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"rest": {"not_before": NOW + timedelta(hours=1)}}
    FLEET: ClassVar[Fleet] = {"canary": [done("c1")], "rest": [pending("r1")]}

    def test_a_ring_waits_for_its_time_and_names_it(self) -> None:
        rollout = decided(self.FLEET, self.OPTIONS)
        assert (rollout.deploy, rollout.next_at) == ((), NOW + timedelta(hours=1))
        assert ring_of(rollout, "rest").reasons == (
            "not before 2026-11-27T13:00:00Z by the clock of 1 cluster (r1); see ring_not_before"
            " (kyma_ring_not_before)",
        )

    @pytest.mark.parametrize("minutes", [-600, 0, 600])
    def test_a_ring_starts_at_its_time_by_the_clock_of_its_clusters(self, minutes: int) -> None:
        start, ours = NOW + timedelta(hours=1), NOW + timedelta(minutes=minutes)
        for clock, may in ((start, True), (start - timedelta(seconds=1), False)):
            rollout = decided({**self.FLEET, "rest": [pending("r1", now=clock)]}, self.OPTIONS, now=ours)
            assert (rollout.deploy, rollout.next_at) == (
                (("r1",), None) if may else ((), ours + timedelta(seconds=1))
            )

    def test_the_slowest_clock_of_those_that_are_to_be_deployed_counts(self) -> None:
        slow, fast = NOW - timedelta(minutes=10), NOW + timedelta(hours=2)
        rest = [done("r1", now=slow), pending("r2", now=NOW), pending("r3", now=fast)]
        rollout = decided({"canary": [done("c1")], "rest": rest}, self.OPTIONS)
        assert (rollout.deploy, rollout.next_at) == ((), NOW + timedelta(hours=1))
        assert "by the clock of 1 cluster (r2)" in ring_of(rollout, "rest").reasons[0]

    def test_a_cluster_without_a_clock_does_not_start_and_has_no_moment(self) -> None:
        rollout = decided({**self.FLEET, "rest": [pending("r1", now=None)]}, self.OPTIONS)
        assert (rollout.deploy, rollout.next_at) == ((), None)

    def test_the_later_of_two_times_counts(self) -> None:
        fleet = {"canary": [done("c1", 60)], "rest": [pending("r1")]}
        rollout = decided(fleet, {"canary": {"soak": 86460}, **self.OPTIONS})
        assert rollout.next_at == NOW + timedelta(seconds=86400)
        rollout = decided(fleet, {"canary": {"soak": 120}, **self.OPTIONS})
        assert rollout.next_at == NOW + timedelta(hours=1)

    def test_the_earliest_ring_is_the_next(self) -> None:
        fleet = {"a": [pending("a1")], "b": [done("b1")], "c": [pending("c1")]}
        options = {
            "a": {"not_before": NOW + timedelta(hours=2)},
            "c": {"not_before": NOW + timedelta(hours=1)},
        }
        rollout = decided(fleet, options)
        # What has to be deployed in the first ring is no question of time for the last.
        assert [ring.opens_at for ring in rollout.rings] == [NOW + timedelta(hours=2), None, None]
        assert rollout.next_at == NOW + timedelta(hours=2)
        fleet = {"a": [done("a1"), pending("a2")], "c": [let_in(done("c1"), "c"), pending("c2")]}
        rollout = decided(fleet, options)
        assert [ring.opens_at for ring in rollout.rings] == [
            NOW + timedelta(hours=2),
            NOW + timedelta(hours=1),
        ]
        assert rollout.next_at == NOW + timedelta(hours=1)


class TestCheck:
    """The user's check is asked last, and only its verdict go opens the gate."""

    OPTIONS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"rest": {"check": "gate.sh"}}
    FLEET: ClassVar[Fleet] = {"canary": [done("c1")], "rest": [pending("r1")]}

    def to_check(
        self, fleet: Fleet, options: Mapping[str, Mapping[str, Any]], **more: Any
    ) -> tuple[str, ...]:
        known = {one.cluster: one for clusters in fleet.values() for one in clusters}
        return rings_to_check(ring_options(fleet, options), known, NOW, **more)

    def test_a_check_is_asked_when_nothing_else_is_lacking(self) -> None:
        assert self.to_check(self.FLEET, self.OPTIONS) == ("rest",)
        assert self.to_check(self.FLEET, {}) == ()

    def test_a_check_is_not_asked_before_or_in_vain(self) -> None:
        soak = {"canary": {"soak": 3600}, **self.OPTIONS}
        assert self.to_check({"canary": [done("c1", 60)], "rest": [pending("r1")]}, soak) == ()
        for more in ({"is_approval_required": True}, {"not_before": NOW + timedelta(hours=1)}):
            assert self.to_check(self.FLEET, {"rest": {"check": "gate.sh", **more}}) == ()
        assert self.to_check({"canary": [done("c1")], "rest": [done("r1")]}, self.OPTIONS) == ()
        assert self.to_check(self.FLEET, self.OPTIONS, limit={"c1"}) == ()

    def test_go_opens_the_gate(self) -> None:
        assert decided(self.FLEET, self.OPTIONS, checks={"rest": CheckVerdict("go")}).deploy == ("r1",)

    @pytest.mark.parametrize(
        ("verdict", "reason", "failed"),
        [
            (None, "its check was not asked", False),
            (CheckVerdict("wait", "p99 is 900 ms"), "its check says wait: p99 is 900 ms", False),
            (CheckVerdict("wait"), "its check says wait", False),
            (CheckVerdict("failed", "no such file"), "its check failed: no such file", True),
        ],
    )
    def test_everything_else_keeps_it_closed(
        self, verdict: CheckVerdict | None, reason: str, failed: bool
    ) -> None:
        rollout = decided(self.FLEET, self.OPTIONS, checks={"rest": verdict} if verdict else {})
        assert (rollout.deploy, states(rollout)) == ((), ["done", "waiting"])
        assert ring_of(rollout, "rest").reasons == (f"{reason}; see ring_check (kyma_ring_check)",)
        assert ring_of(rollout, "rest").opens_at is None
        assert rollout.failed is failed

    def test_a_moment_is_named_although_the_check_is_not_asked_yet(self) -> None:
        fleet = {"canary": [done("c1", 600)], "rest": [pending("r1")]}
        rollout = decided(fleet, {"canary": {"soak": 3600}, **self.OPTIONS})
        assert ring_of(rollout, "rest").opens_at == NOW + timedelta(seconds=3000)


class TestLimit:
    """With --limit all earlier clusters are read, and only those in the limit are deployed."""

    def test_earlier_rings_count_in_full(self) -> None:
        fleet = {"canary": [done("c1"), pending("c2")], "rest": [pending("r1"), pending("r2")]}
        rollout = decided(fleet, limit={"c1", "r1"})
        assert rollout.deploy == ()
        assert rollout.rings[0].clusters[1].reason == "it is outside of --limit"
        assert rollout.rings[0].clusters[1].state == "waiting"

    def test_only_clusters_in_it_are_deployed(self) -> None:
        fleet = {"canary": [done("c1")], "rest": [pending("r1"), pending("r2")]}
        assert decided(fleet, limit={"r1"}).deploy == ("r1",)

    def test_a_cluster_that_was_not_planned_is_not_done(self) -> None:
        rings = [RingOptions("canary", ("c1", "c2")), RingOptions("rest", ("r1", "r2"))]
        known = {"c1": done("c1"), "r1": pending("r1")}
        rollout = decide(rings, known, NOW, limit={"c1", "r1"})
        assert rollout.deploy == ()
        known["c2"] = done("c2")
        rollout = decide(rings, known, NOW, limit={"r1"})
        assert (rollout.deploy, rollout.failed) == (("r1",), False)
        row = rollout.rings[1].clusters[1]
        assert (row.state, row.reason) == ("not started", "it is outside of --limit, and was not planned")


class TestEmpty:
    """Only a group without hosts is skipped."""

    def test_a_group_without_hosts_is_skipped_with_a_word(self) -> None:
        rollout = decided({"canary": [], "rest": [pending("r1")]})
        assert (rollout.deploy, states(rollout)) == (("r1",), ["empty", "open"])
        assert rollout.rings[0].reasons == (
            "the group has no hosts in the inventory, so the ring is skipped",
        )


def test_the_rows_of_a_rollout() -> None:
    soaking = done("c1", 600, healthy_since=NOW - timedelta(seconds=60))
    fleet = {"canary": [soaking, unrecorded("c2")], "rest": [pending("r1"), held("r2")]}
    rollout = decided(fleet, {"canary": {"soak": 3600}})
    rows = [
        (row.name, row.previous, row.version, row.state, row.health, row.done_since, row.reason)
        for ring in rollout.rings
        for row in ring.clusters
    ]
    reason = "canary: not deployed yet: 1 cluster (c2)"
    assert rows == [
        (
            "c1",
            "1.1",
            "1.1",
            "unchanged",
            "healthy",
            "2026-11-27T11:59:00Z",
            "soaks until 2026-11-27T12:59:00Z",
        ),
        ("c2", "1.0", "1.1", "planned", "healthy", "", ""),
        ("r1", "1.0", "1.1", "waiting", "healthy", "", reason),
        ("r2", "1.0", "1.1", "held", "healthy", "", "the cluster is held by alice"),
    ]
    assert (rollout.version, rollout.release_digest) == ("1.1", DIGEST)


def test_many_names_are_shortened() -> None:
    rollout = decided({"canary": [pending(f"c{n}") for n in range(9)], "rest": [pending("r1")]})
    assert rollout.rings[1].reasons == (
        "canary: not deployed yet: 9 clusters (c0, c1, c2, c3, c4 and 4 more)",
    )
