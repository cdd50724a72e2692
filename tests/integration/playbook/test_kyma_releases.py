# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real releases of Kyma on one cluster: from empty to 2.9, by 2.10 to 2.11 in one go, and not back.

Each fixture is one call of the playbook, and builds on the one before it.
"""

from __future__ import annotations

import os
import re
import signal
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.audit import writes
from tests.support.manifests import Manifest, manifests_of, missing
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook, Running

from .snapshot import Snapshot, differing_fields

pytestmark = pytest.mark.control_plane

OURS = ("lifecycle.kyma-project.io", "/kyma-lifecycle", "/namespaces/default/events")
"""What the paths of the collection's own objects have in them."""
NAMESPACES = {f"Namespace {name}" for name in ("kyma-system", "istio-system", "kyma-integration")}
GATEWAY_JOB = "Job kyma-system/api-gateway-init"


@dataclass(frozen=True)
class Deployed:
    """A release that was deployed.

    Attributes:
        manifests: what it consists of.
        outcome: of the playbook.
        before, after: what the cluster had then.
    """

    manifests: list[Manifest]
    outcome: Outcome
    before: Snapshot
    after: Snapshot


class Upgrades:
    """Deploys the real releases to one cluster."""

    def __init__(self, cluster: OwnCluster, playbook: Playbook, releases: Path) -> None:
        self._cluster = cluster
        self._playbook = playbook
        self._releases = releases
        self._seen: list[Manifest] = []

    def after(self, _step: Outcome | Deployed) -> Upgrades:
        """Itself, in the state in which a step has left the cluster."""
        return self

    def try_(self, version: str, *arguments: str, profile: str = "evaluation", **variables: Any) -> Outcome:
        """Call the playbook for a version."""
        return self._playbook.deploy(self._releases / version, *arguments, profile=profile, **variables)

    def deploy(self, version: str) -> Deployed:
        """Deploy a version, and look at the cluster before and after."""
        manifests = self.manifests(version)
        before = self._look(manifests)
        outcome = self.try_(version, "--diff").succeeded()
        return Deployed(manifests, outcome, before, self._look())

    def hop(self, by: str, to: str) -> tuple[Deployed, Deployed]:
        """Deploy two versions in one go, and look at the cluster before, between and after."""
        manifests = self.manifests(by), self.manifests(to)
        before, between = self._look(*manifests), list[Snapshot]()

        def look(line: str, running: Running) -> None:
            if f"Kyma {by}: succeeded" in line and not between:
                # Nothing of ours is at work then: the run has ended, and the next plan is not begun.
                os.killpg(running.pid, signal.SIGSTOP)
                between.append(self._look())
                os.killpg(running.pid, signal.SIGCONT)

        outcome = self._playbook.deploy(
            self._releases / to, "--diff", watch=look, profile="evaluation", hops="auto"
        ).succeeded()
        first, second = _hops_of(outcome)
        return (
            Deployed(manifests[0], first, before, between[0]),
            Deployed(manifests[1], second, between[0], self._look()),
        )

    def _look(self, *more: list[Manifest]) -> Snapshot:
        for manifests in more:
            self._seen += manifests
        return Snapshot(self._cluster.api, self._seen)

    def manifests(self, version: str, profile: str = "evaluation") -> list[Manifest]:
        """What a version consists of."""
        return manifests_of(self._releases / version, profile)

    def live(self, api_version: str, kind: str, name: str) -> dict[str, Any] | None:
        """An object in the namespace of Kyma, if it is there."""
        return self._cluster.api.get(api_version, kind, name, "kyma-system")

    def record(self, kind: str, name: str) -> dict[str, Any]:
        """One of the collection's records."""
        record = self._cluster.api.get("lifecycle.kyma-project.io/v1", kind, name)
        assert record
        return record


@pytest.fixture(scope="module")
def upgrades(own_cluster: OwnCluster, playbook: Playbook, kyma_releases: Path) -> Upgrades:
    return Upgrades(own_cluster, playbook, kyma_releases)


@pytest.fixture(scope="module")
def refused_2_8(upgrades: Upgrades) -> Outcome:
    return upgrades.try_("2.8", profile="production")


@pytest.fixture(scope="module")
def rehearsed_2_9(upgrades: Upgrades, refused_2_8: Outcome) -> Outcome:
    return upgrades.after(refused_2_8).try_("2.9", "--check", "--diff").succeeded()


@pytest.fixture(scope="module")
def deployed_2_9(upgrades: Upgrades, rehearsed_2_9: Outcome) -> Deployed:
    return upgrades.after(rehearsed_2_9).deploy("2.9")


@pytest.fixture(scope="module")
def again_2_9(upgrades: Upgrades, deployed_2_9: Deployed) -> Outcome:
    return upgrades.after(deployed_2_9).try_("2.9").succeeded()


@pytest.fixture(scope="module")
def skipping_2_11(upgrades: Upgrades, again_2_9: Outcome) -> Outcome:
    return upgrades.after(again_2_9).try_("2.11")


@pytest.fixture(scope="module")
def rehearsed_hops(upgrades: Upgrades, skipping_2_11: Outcome) -> Outcome:
    return upgrades.after(skipping_2_11).try_("2.11", "--check", "--diff", hops="auto").succeeded()


@pytest.fixture(scope="module")
def hopped(upgrades: Upgrades, rehearsed_hops: Outcome) -> tuple[Deployed, Deployed]:
    return upgrades.after(rehearsed_hops).hop("2.10", "2.11")


@pytest.fixture(scope="module")
def deployed_2_10(hopped: tuple[Deployed, Deployed]) -> Deployed:
    return hopped[0]


@pytest.fixture(scope="module")
def deployed_2_11(hopped: tuple[Deployed, Deployed]) -> Deployed:
    return hopped[1]


@pytest.fixture(scope="module")
def back_to_2_10(upgrades: Upgrades, deployed_2_11: Deployed) -> Outcome:
    flags = {"abandon": True, "hops": "auto", "force_conflicts": True}
    return upgrades.after(deployed_2_11).try_("2.10", **flags)


@pytest.fixture(scope="module")
def pruned_2_11(upgrades: Upgrades, back_to_2_10: Outcome) -> Outcome:
    return upgrades.after(back_to_2_10).try_("2.11", "-e", "kyma_prune=true").succeeded()


def test_2_8_is_refused_with_everything_that_the_cluster_does_not_serve(
    refused_2_8: Outcome, upgrades: Upgrades, own_cluster: OwnCluster
) -> None:
    objects = upgrades.manifests("2.8", "production")
    own = {one.object["spec"]["names"]["kind"] for one in objects if not one.component}
    bad = [
        one
        for one in objects
        if one.object["kind"] not in own
        and own_cluster.api.resource(one.object["apiVersion"], one.object["kind"]) is None
    ]
    kinds = [one.object["kind"] for one in bad]
    assert (kinds.count("PodSecurityPolicy"), len(kinds)) == (13, 15)
    assert {"PodDisruptionBudget", "HorizontalPodAutoscaler"} < set(kinds)
    listed = [line for line in refused_2_8.refused().splitlines() if line.startswith("- ")]
    assert len(listed) == len(bad)
    for one in bad:
        name, kind, version = one.object["metadata"]["name"], one.object["kind"], one.object["apiVersion"]
        expected = re.compile(
            f"- {one.component}: {kind} (\\S+/)?{name}: .* does not serve {kind} in {version}"
        )
        assert any(expected.match(line) for line in listed), f"{one} isn't listed"


def test_a_rehearsal_on_an_empty_cluster_shows_every_object_and_field_and_writes_nothing(
    rehearsed_2_9: Outcome, deployed_2_9: Deployed
) -> None:
    assert writes(rehearsed_2_9.requests) == []
    live = deployed_2_9.after
    diff = {entry["after_header"]: yaml.safe_load(entry["after"]) for entry in rehearsed_2_9.diff}
    manifests = {live.name_of(one): one for one in deployed_2_9.manifests}
    assert set(diff) == set(manifests) | NAMESPACES
    for name, manifest in manifests.items():
        shown = diff[name]
        if shown["kind"] == "Secret":
            assert set(shown.pop("data", {})) == set(live.objects[name].get("data") or {})
        else:
            assert missing(manifest, shown) == []
        assert _unexplained(name, missing(replace(manifest, object=shown), live.objects[name])) == []


def test_the_real_run_writes_what_was_rehearsed(rehearsed_2_9: Outcome, deployed_2_9: Deployed) -> None:
    assert deployed_2_9.outcome.planning["diff"] == rehearsed_2_9.planning["diff"]
    assert _written(deployed_2_9.outcome) == len(rehearsed_2_9.planning["diff"])


@pytest.mark.parametrize("version", ["2.9", "2.10", "2.11"])
def test_a_deployed_release_is_there_as_written_and_healthy_and_recorded(
    version: str, upgrades: Upgrades, request: pytest.FixtureRequest
) -> None:
    deployed: Deployed = request.getfixturevalue(f"deployed_{version.replace('.', '_')}")
    for manifest in deployed.manifests:
        name = deployed.after.name_of(manifest)
        assert name in deployed.after.objects, f"{manifest} is not there"
        assert _unexplained(name, missing(manifest, deployed.after.objects[name])) == []
    assert deployed.after.unhealthy() == []
    assert deployed.outcome.run["state"] == "succeeded"
    record = upgrades.record("KymaRun", deployed.outcome.run["run"])
    components = record["status"]["components"]
    assert (record["status"]["begin"]["version"], record["status"]["state"]) == (version, "succeeded")
    assert {one["state"] for one in components.values()} == {"succeeded"}
    assert set(components) <= {"foundation", *(one.component for one in deployed.manifests)}
    if version == "2.9":
        assert len(components) == 1 + 15


def test_nothing_to_do_is_one_task_that_reads_each_kind_once(
    again_2_9: Outcome, deployed_2_9: Deployed
) -> None:
    assert again_2_9.recap["ok"] == 1
    assert again_2_9.recap["changed"] == 0
    assert len(again_2_9.results) == 1
    assert {request.verb for request in again_2_9.requests} <= {"get", "list"}
    assert len(again_2_9.requests) <= len(deployed_2_9.after.kinds) + 11


def test_a_release_that_skips_one_is_refused(skipping_2_11: Outcome) -> None:
    message = skipping_2_11.refused()
    [why] = [line for line in message.splitlines() if line.startswith("- ")]
    assert "2.9" in why
    assert "deploy 2.10 first" in message
    assert "hops=auto (kyma_hops)" in message


def test_both_hops_are_shown_and_nothing_is_written(rehearsed_hops: Outcome) -> None:
    assert writes(rehearsed_hops.requests) == []
    assert "Kyma 2.9 → 2.10 (evaluation), hop 1 of 2, exact:" in rehearsed_hops.text
    assert "Kyma 2.10 → 2.11 (evaluation), hop 2 of 2, provisional" in rehearsed_hops.text
    [later] = rehearsed_hops.plan["later"]
    assert later["blockers"] == []
    assert [one["name"] for one in later["components"] if one["action"] == "orphaned"] == ["kiali"]


def test_each_hop_is_a_run_of_its_own(
    deployed_2_10: Deployed, deployed_2_11: Deployed, upgrades: Upgrades
) -> None:
    assert deployed_2_10.outcome.run["run"] != deployed_2_11.outcome.run["run"]
    assert deployed_2_11.outcome.text.index("Kyma 2.10: succeeded") < deployed_2_11.outcome.text.index(
        "Kyma 2.11: succeeded"
    )
    status = upgrades.record("KymaInstallation", "kyma")["status"]
    assert (status["version"], status["target"]) == ("2.11", "2.11")


def test_a_downgrade_is_refused_with_any_option(back_to_2_10: Outcome) -> None:
    message = back_to_2_10.refused()
    assert len([line for line in message.splitlines() if line.startswith("- ")]) == 1
    assert "2.10 is older than 2.11, which the cluster has: downgrades are never safe" in message


def test_the_rehearsal_of_an_upgrade_shows_the_objects_and_fields_that_it_then_changes(
    rehearsed_hops: Outcome, deployed_2_10: Deployed
) -> None:
    exact = _exact_diff(rehearsed_hops)
    assert _exact_diff(deployed_2_10.outcome) == exact
    before, after = deployed_2_10.before.objects, deployed_2_10.after.objects
    shown = {}
    for entry in exact:
        old, new = yaml.safe_load(entry["before"]), yaml.safe_load(entry["after"])
        name = entry["after_header"] if new else entry["before_header"]
        shown[name] = "gone" if not new else differing_fields(old, new) if old else "new"
    done = {
        name: differing_fields(before[name], obj) if name in before else "new"
        for name, obj in after.items()
        if name not in before or differing_fields(before[name], obj)
    }
    done = {name: fields for name, fields in done.items() if not _is_made_by_a_controller(after[name])}
    gone = [name for name in before if name not in after]
    done |= {name: "gone" for name in gone if not _is_made_by_a_controller(before[name])}
    # What is made anew gets labels from its controller, which nobody can foretell.
    assert shown.pop(GATEWAY_JOB)
    done.pop(GATEWAY_JOB)
    assert {name: (shown.get(name), done.get(name)) for name in {*shown, *done}} == {
        name: (fields, fields) for name, fields in done.items()
    }


def test_a_changed_job_runs_again(deployed_2_10: Deployed) -> None:
    assert deployed_2_10.before.uid(GATEWAY_JOB) != deployed_2_10.after.uid(GATEWAY_JOB)
    changes = [one for part in deployed_2_10.outcome.plan["components"] for one in part["changes"]]
    assert [one["name"] for one in changes if one["action"] == "replace"] == ["api-gateway-init"]


def test_a_component_that_a_release_drops_is_reported_and_keeps_running(deployed_2_11: Deployed) -> None:
    plan = deployed_2_11.outcome.plan
    assert [one["name"] for one in plan["components"] if one["action"] == "orphaned"] == ["kiali"]
    assert re.search(r"orphaned +kiali +not in 2\.11", deployed_2_11.outcome.text)
    kiali = "Deployment kyma-system/kiali"
    assert deployed_2_11.before.uid(kiali) == deployed_2_11.after.uid(kiali)
    assert kiali not in deployed_2_11.after.unhealthy()


def test_an_orphaned_component_goes_when_it_is_asked_for(pruned_2_11: Outcome, upgrades: Upgrades) -> None:
    plan = pruned_2_11.plan
    changes = {one["name"]: one["changes"] for one in plan["components"]}
    actions = {one["name"]: one["action"] for one in plan["components"]}
    assert [name for name, action in actions.items() if action != "unchanged"] == ["kiali"]
    assert {one["action"] for one in changes["kiali"]} == {"delete"}
    deleted = [one for one in pruned_2_11.requests if one.verb == "delete" and one.persists]
    assert len(deleted) == len(changes["kiali"]) + 1  # and its inventory
    assert upgrades.live("apps/v1", "Deployment", "kiali") is None
    assert upgrades.live("apps/v1", "Deployment", "serverless-ctrl-mngr")
    again = upgrades.after(pruned_2_11).try_("2.11", "-e", "kyma_prune=true").succeeded()
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)


def _hops_of(outcome: Outcome) -> tuple[Outcome, Outcome]:
    """What came of each of two hops: the second begins with its plan."""
    second = [position for position, result in enumerate(outcome.results) if "plan" in result][-1]
    assert second > 0
    return (
        replace(outcome, results=outcome.results[:second]),
        replace(outcome, results=outcome.results[second:]),
    )


def _exact_diff(outcome: Outcome) -> list[dict[str, str]]:
    """What is shown of the first hop: what the later one changes is provisional."""
    return [entry for entry in outcome.diff if "provisional" not in entry["after_header"]]


def _unexplained(name: str, fields: list[str]) -> list[str]:
    """Without the field that Kyma's own chart has wrong: the CRD's schema lacks it, and a warning says so."""
    wrong = name == "ServiceMonitor kyma-system/eventing-nats"
    return [field for field in fields if not (wrong and field.startswith(".spec.path:"))]


def _written(outcome: Outcome) -> int:
    """How many objects were written, without the collection's own records."""
    persisting = [request for request in outcome.requests if request.persists]
    targets = {one.target for one in persisting if not any(own in one.uri for own in OURS)}
    return len(targets)


def _is_made_by_a_controller(obj: dict[str, Any]) -> bool:
    return bool(obj["metadata"].get("ownerReferences")) or obj["metadata"]["name"] == "kube-root-ca.crt"
