# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole rollout over three rings, which two machines move on in turn: what may go goes, and nothing else.

Of the clusters, one breaks, one is held, one does not answer, one is slow, one is added in the middle, and
the Deployment of one dies during its soak. The tests read the calls of one rollout; see ``roll_out``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import write_hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.run_record import begin_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_runs

from tests.support.deployment_controllers import DeploymentControllers, deployment_controllers
from tests.support.eventually import eventually
from tests.support.extent import IS_FULL
from tests.support.kubectl import kubectl
from tests.support.many_clusters import new_clusters
from tests.support.own_cluster import OwnCluster
from tests.support.ring_fleet import Call, RingFleet, wait_until
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

GONE, ADDED = "gone", "added"
RINGS = {"canary": ["first"], "early": ["broken", "slow"], "rest": ["held", GONE]}
OTHERS = {"canary": ["second"], "early": ["third", "fourth"], "rest": ["fifth", "sixth", "seventh"]}
"""With these, and the one that is added, there are twelve."""
SOAK = 600
"""Seconds that the canaries are to soak: no call finds their soak over before the user changes it."""
SHORT_SOAKS = {"canary": 1, "early": 3}
OLD, NEW = "1.0", "1.1"


@dataclass(frozen=True)
class Seen:
    """What kubectl shows of a cluster: its release, and whether its Deployment is available."""

    version: str
    health: str


class Rollout:
    """The fleet and its release, and the calls by the names of what they are for.

    Attributes:
        calls: of the rollout.
        seen: what kubectl showed of the clusters after a call.
    """

    def __init__(self, fleet: RingFleet, controllers: DeploymentControllers, release: SmallRelease) -> None:
        self.fleet = fleet
        self.controllers = controllers
        self.calls: dict[str, Call] = {}
        self.seen: dict[str, Mapping[str, Seen]] = {}
        self._release = release

    def ring(self, name: str) -> set[str]:
        """The clusters of a ring that answer."""
        return set(self.fleet.rings[name]) - {GONE}

    def call(self, name: str, status: int, *arguments: str) -> Call:
        """Call the playbook once; it must end with an exit code."""
        # Among many clusters those that are alike share a row, unless each is to have its own.
        arguments = (*arguments, *(("-v",) if IS_FULL else ()))
        self.calls[name] = self.fleet.call(self._release.folder, *arguments).ended(status)
        return self.calls[name]

    def look(self, name: str) -> None:
        """Record what kubectl shows now."""
        clusters = self.fleet.clusters
        with ThreadPoolExecutor() as threads:
            self.seen[name] = dict(zip(clusters, threads.map(see, clusters.values()), strict=True))


def see(cluster: OwnCluster) -> Seen:
    """What kubectl shows of a cluster."""
    names = ("kyin/kyma", "deployment/shop")
    printed = kubectl(cluster.kubeconfig, "get", *names, "-o", "json", namespace=NAMESPACE)
    installation, shop = json.loads(printed)["items"]
    is_healthy = shop["status"].get("availableReplicas") == 1
    return Seen(installation["status"]["version"], "healthy" if is_healthy else "unhealthy")


@pytest.fixture(scope="module")
def rollout(tmp_path_factory: pytest.TempPathFactory, small: SmallRelease) -> Iterator[Rollout]:
    """The whole rollout, after its end."""
    rings = {ring: [*hosts, *(OTHERS[ring] if IS_FULL else ())] for ring, hosts in RINGS.items()}
    names = [host for hosts in rings.values() for host in hosts if host != GONE]
    folder = tmp_path_factory.mktemp("fleet")
    with (
        new_clusters(tmp_path_factory.mktemp("clusters"), *names, ADDED) as clusters,
        deployment_controllers(clusters) as controllers,
    ):
        fleet = RingFleet(folder, clusters, rings)
        fleet.rings["rest"].append(ADDED)
        deploy_old(fleet, small)
        fleet.rings["rest"].remove(ADDED)
        write_release(small, NEW)
        fleet.options = {"rings": list(rings), "ring_soak": {"canary": SOAK}}
        played = Rollout(fleet, controllers, small)
        roll_out(played)
        yield played


def write_release(release: SmallRelease, version: str) -> None:
    """Write the release of this version."""
    (release.folder / "release.yaml").write_text(f"version: '{version}'\n")
    release.write("shop", deployment("shop", f"example.com/shop:{version}"), config_map("shop", v=version))


def deploy_old(fleet: RingFleet, release: SmallRelease) -> None:
    """Let all clusters have the release before, from a time without rings."""
    release.component("shop")
    write_release(release, OLD)
    call = fleet.call(release.folder, "--forks", "12")
    assert call.written == set(fleet.clusters), call.outcome.text


def roll_out(rollout: Rollout) -> None:
    """Call the playbook until all is done that may be done."""
    rollout.look("before")
    rollout.call("shown", 0, "--check")
    _soak_the_canaries(rollout)
    _break_the_early_ring(rollout)
    _deploy_the_rest(rollout)
    rollout.look("after")


def _soak_the_canaries(rollout: Rollout) -> None:
    """A Deployment dies, and a cluster is added meanwhile."""
    rollout.call("canary", 0)
    rollout.controllers.report("first", is_available=False)
    rollout.call("dead", 2)
    rollout.look("dead")
    rollout.controllers.report("first", is_available=True)
    rollout.fleet.rings["canary"].append(ADDED)
    rollout.call("added", 0)


def _break_the_early_ring(rollout: Rollout) -> None:
    """One breaks while another is still under way, and is mended."""
    rollout.fleet.options["ring_soak"] = SHORT_SOAKS
    rollout.controllers.failing.add("broken")
    rollout.controllers.paused.add("slow")
    with ThreadPoolExecutor(1) as threads:
        breaking = threads.submit(rollout.call, "breaking", 2)
        try:
            eventually(lambda: state_of_run(rollout, "broken") == "failed" or breaking.done())
            rollout.call("meanwhile", 2, "--check")
        finally:
            rollout.controllers.paused.clear()
    breaking.result()
    rollout.controllers.failing.clear()
    rollout.controllers.report("broken", is_available=True)
    rollout.call("mended", 0)


def _deploy_the_rest(rollout: Rollout) -> None:
    """One is held at first, and one never answers: without others the ring is below its minimum."""
    wait_until(rollout.calls["mended"].rollout["next_at"])
    held = rollout.fleet.clusters["held"].api
    write_hold(held, Hold(by="the auditors", reason="they are here"))
    rollout.call("held", 0 if rollout.ring("rest") - {"held"} else 2)
    write_hold(held, None)
    rollout.call("released", 0)
    rollout.call("again", 0)


def state_of_run(rollout: Rollout, name: str) -> str:
    """The state of a cluster's run of the new release; empty without any."""
    newest = read_runs(rollout.fleet.clusters[name].api)[0]
    is_new = begin_of(newest).version == NEW
    return str((newest.get("status") or {}).get("state", "")) if is_new else ""


def test_nothing_is_written_by_check_mode(rollout: Rollout) -> None:
    assert [rollout.calls[name].written for name in ("shown", "meanwhile")] == [set()] * 2


def test_the_first_ring_goes_alone(rollout: Rollout) -> None:
    first = rollout.calls["canary"]
    assert first.written == rollout.ring("canary") - {ADDED}
    assert first.rings == {"canary": "open", "early": "waiting", "rest": "waiting"}


def test_a_canary_whose_deployment_dies_stops_the_rollout(rollout: Rollout) -> None:
    dead = rollout.calls["dead"]
    assert dead.written == set()
    assert dead.rings == {"canary": "stopped", "early": "waiting", "rest": "waiting"}
    assert "Deployment small/shop" in dead.clusters["first"]["reason"]


def test_a_cluster_that_is_added_to_a_ring_of_before_goes_next_and_alone(rollout: Rollout) -> None:
    added = rollout.calls["added"]
    assert added.written == {ADDED}
    assert added.rings == {"canary": "open", "early": "waiting", "rest": "waiting"}


def test_a_soak_begins_again_when_a_dead_deployment_is_available_again(rollout: Rollout) -> None:
    added = rollout.calls["added"]
    since = {name: added.clusters[name]["done_since"] for name in ("first", ADDED)}
    assert rollout.calls["canary"].clusters["first"]["done_since"] < since["first"] <= since[ADDED]
    end = datetime.fromisoformat(since[ADDED]) + timedelta(seconds=SOAK)
    # As much later as what is known of a cluster is older than the decision.
    assert end <= datetime.fromisoformat(added.rollout["next_at"]) <= end + timedelta(seconds=30)


def test_in_a_ring_that_one_cluster_stops_the_others_come_to_their_end(rollout: Rollout) -> None:
    breaking = rollout.calls["breaking"]
    assert breaking.written == rollout.ring("early")
    assert breaking.rings == {"canary": "done", "early": "stopped", "rest": "waiting"}
    others = rollout.ring("early") - {"broken"}
    assert breaking.states("broken", *others) == ["failed", *["unchanged"] * len(others)]


def test_another_machine_sees_which_clusters_are_under_way(rollout: Rollout) -> None:
    meanwhile = rollout.calls["meanwhile"]
    assert meanwhile.states("broken", "slow", "held") == ["failed", "running", "waiting"]


def test_a_mended_cluster_goes_alone(rollout: Rollout) -> None:
    assert rollout.calls["mended"].written == {"broken"}
    assert rollout.calls["mended"].rings["canary"] == "done"


def test_held_and_unreachable_clusters_are_named_and_stop_no_other(rollout: Rollout) -> None:
    held = rollout.calls["held"]
    assert held.written == rollout.ring("rest") - {"held"}
    assert held.states("held", GONE) == ["held", "unreachable"]
    for words in ("they are here", "no answer from"):
        assert words in held.outcome.text


def test_a_released_cluster_goes_with_the_next_call(rollout: Rollout) -> None:
    released = rollout.calls["released"]
    assert released.written == {"held"}
    assert released.rings["early"] == "done"


def test_a_call_with_nothing_to_do_writes_nothing(rollout: Rollout) -> None:
    again = rollout.calls["again"]
    assert again.written == set()
    assert again.rollout["deploy"] == []
    assert again.rollout["next_at"] == ""


def test_each_cluster_was_deployed_once_and_the_broken_one_twice(rollout: Rollout) -> None:
    runs = {name: read_runs(cluster.api) for name, cluster in rollout.fleet.clusters.items()}
    states = {
        name: [run["status"]["state"] for run in listed if run["status"]["begin"]["version"] == NEW]
        for name, listed in runs.items()
    }
    assert states == {**{name: ["succeeded"] for name in states}, "broken": ["succeeded", "failed"]}


@pytest.mark.parametrize(("call", "moment"), [("shown", "before"), ("dead", "dead"), ("again", "after")])
def test_the_table_agrees_with_kubectl(rollout: Rollout, call: str, moment: str) -> None:
    clusters = rollout.calls[call].clusters
    shown = {
        name: Seen(clusters[name]["previous"], clusters[name]["health"])
        for name in rollout.seen[moment]
        if name in clusters
    }
    assert shown == {name: one for name, one in rollout.seen[moment].items() if name in clusters}
    printed = [re.findall(r"[\w-]+", line) for line in rollout.calls[call].outcome.text.splitlines()]
    for name, one in clusters.items():
        assert any({name, one["state"], one["health"]} <= set(row) for row in printed), name


def test_after_the_rollout_all_clusters_that_answer_have_the_release(rollout: Rollout) -> None:
    assert set(rollout.seen["after"].values()) == {Seen(NEW, "healthy")}
    assert rollout.calls["again"].states(*rollout.seen["after"]) == ["unchanged"] * len(
        rollout.fleet.clusters
    )
