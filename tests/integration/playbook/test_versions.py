# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way of versions, on small releases: hops, giving up, some components alone, and plans that are kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION

from tests.support.audit import writes
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

PROGRESS_DEADLINE = 4
COLOUR = {"colour": "red"}


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the releases 1.0 to 1.4; in 1.3 a component can't start."""
    folder = tmp_path_factory.mktemp("releases")
    for version in ("1.0", "1.1", "1.2", "1.3", "1.4"):
        image = "broken.invalid/x" if version == "1.3" else f"example.com/fine:{version}"
        release = SmallRelease(folder / version)
        (release.folder / "release.yaml").write_text(f"version: '{version}'\n")
        release.component("first", config_map("first", v=version), prerequisite=True)
        release.component("logging", config_map("logging", v=version))
        release.component(
            "telemetry",
            config_map("telemetry", v=version),
            deployment("telemetry", image, progressDeadlineSeconds=PROGRESS_DEADLINE),
            needs=["logging"],
        )
    (folder / "README.md").write_text("what else lies there does not matter")
    return folder


@pytest.fixture(scope="module")
def first(playbook: Playbook, releases: Path) -> Outcome:
    return playbook.deploy(releases / "1.0").succeeded()


@pytest.fixture(scope="module")
def rehearsed(first: Outcome, playbook: Playbook, releases: Path) -> Outcome:
    assert first.status == 0
    return playbook.deploy(releases / "1.2", "--check", "--diff", hops="auto").succeeded()


@pytest.fixture(scope="module")
def saved(rehearsed: Outcome, playbook: Playbook, releases: Path) -> Outcome:
    """The outcome with a plan of 1.1 that was kept."""
    assert rehearsed.status == 0
    return playbook.deploy(releases / "1.1", plan_out="plan.json").succeeded()


@pytest.fixture(scope="module")
def alone(saved: Outcome, playbook: Playbook, releases: Path) -> Outcome:
    """The outcome with one component of 1.1 alone."""
    assert saved.status == 0
    return playbook.deploy(releases / "1.1", components="logging").succeeded()


@pytest.fixture(scope="module")
def after_alone(alone: Outcome, own_cluster: OwnCluster) -> dict[str, Any]:
    assert alone.status == 0
    return _status(own_cluster)


@pytest.fixture(scope="module")
def stale(after_alone: dict[str, Any], playbook: Playbook, releases: Path) -> Outcome:
    """The outcome with the plan that was kept before somebody deployed a component alone."""
    assert after_alone
    return playbook.deploy(releases / "1.1", plan="plan.json").failed()


@pytest.fixture(scope="module")
def carried_out(stale: Outcome, playbook: Playbook, releases: Path) -> tuple[Outcome, Outcome]:
    """The outcomes of keeping a plan in check mode, and of carrying it out by its file and digest alone."""
    assert stale.status
    planned = playbook.deploy(releases / "1.1", "--check", plan_out="plan.json").succeeded()
    digest = planned.planning["plan_digest"]
    return planned, playbook.deploy("", plan="plan.json", plan_digest=digest).succeeded()


@pytest.fixture(scope="module")
def kept_way(
    carried_out: tuple[Outcome, Outcome], playbook: Playbook, releases: Path, own_cluster: OwnCluster
) -> Outcome:
    """The outcome with a plan that was kept of the way to 1.4, which is to remove a label that was added."""
    assert carried_out
    api = own_cluster.api.with_field_manager("kubectl-label")
    api.patch("v1", "ConfigMap", "logging", NAMESPACE, {"metadata": {"labels": {"team": "a"}}})
    hops = {"hops": "auto", "release_catalog": str(releases)}
    options = {"plan_out": "way.json", "migration_variables": COLOUR, "strict_drift": True}
    return playbook.deploy(releases / "1.4", **hops, **options).succeeded()


@pytest.fixture(scope="module")
def given_otherwise(kept_way: Outcome, playbook: Playbook) -> tuple[str, str]:
    """What is told of a plan that was kept, where it is given less or more than it was made with."""
    assert kept_way.status == 0
    return (
        playbook.deploy("", plan="way.json").refused(),
        playbook.deploy("", plan="way.json", migration_variables=COLOUR, takeover=True).refused(),
    )


@pytest.fixture(scope="module")
def held(
    given_otherwise: tuple[str, str], playbook: Playbook, own_cluster: OwnCluster
) -> tuple[str, Outcome]:
    """What is told of a plan that was kept while the cluster is held, and what comes of it afterwards."""
    assert given_otherwise
    hold = {"apiVersion": API_VERSION, "kind": "KymaHold", "metadata": {"name": "kyma"}}
    given = {"plan": "way.json", "migration_variables": COLOUR}
    api = own_cluster.api.with_field_manager("kubectl-patch")
    api.apply({**hold, "spec": {"reason": "the auditors are here"}})
    refused = playbook.deploy("", **given).refused()
    api.delete(API_VERSION, "KymaHold", "kyma")
    return refused, playbook.deploy("", "--check", **given).succeeded()


@pytest.fixture(scope="module")
def last_one_changed(held: tuple[str, Outcome], playbook: Playbook, releases: Path) -> str:
    """What is told of a plan that was kept when the release at the end of its way is another one."""
    assert held
    file = next((releases / "1.4").rglob("logging*/*"))
    before = file.read_text()
    file.write_text(before.replace("1.4", "1.4-changed"))
    refusal = playbook.deploy("", plan="way.json", migration_variables=COLOUR).refused()
    file.write_text(before)
    return refusal


@pytest.fixture(scope="module")
def hopped(last_one_changed: str, playbook: Playbook) -> Outcome:
    """The outcome of going to 1.4 by the plan that was kept: over 1.2 and 1.3, which fails."""
    assert last_one_changed
    return playbook.deploy("", plan="way.json", migration_variables=COLOUR).failed()


@pytest.fixture(scope="module")
def after_hops(hopped: Outcome, own_cluster: OwnCluster) -> dict[str, Any]:
    assert hopped.status
    return _status(own_cluster)


@pytest.fixture(scope="module")
def only_the_target(after_hops: dict[str, Any], playbook: Playbook, releases: Path) -> Outcome:
    assert after_hops
    return playbook.deploy(releases / "1.2").failed()


@pytest.fixture(scope="module")
def abandoned(only_the_target: Outcome, playbook: Playbook, releases: Path) -> Outcome:
    assert only_the_target.status
    return playbook.deploy(releases / "1.2", abandon=True).succeeded()


def _status(cluster: OwnCluster) -> dict[str, Any]:
    installation = cluster.api.get("lifecycle.kyma-project.io/v1", "KymaInstallation", "kyma")
    assert installation
    return dict(installation["status"])


def _version_of(cluster: OwnCluster, name: str) -> str:
    live = cluster.api.get("v1", "ConfigMap", name, NAMESPACE)
    assert live
    return str(live["data"]["v"])


def test_a_saved_plan_with_hops_says_which_of_them_are_provisional(
    kept_way: Outcome, held: tuple[str, Outcome]
) -> None:
    for outcome in (kept_way, held[1]):
        for version in ("1.3", "1.4"):
            assert f"the hop to {version} is bound to its release" in outcome.text
        assert "the hop to 1.2 is kept" not in outcome.text


def test_only_what_may_be_secret_is_given_again_with_a_kept_plan(
    given_otherwise: tuple[str, str], held: tuple[str, Outcome]
) -> None:
    less, more = given_otherwise
    assert (
        "migration_variables (kyma_migration_variables): the plan was made with colour: set it again" in less
    )
    assert "strict_drift" not in less
    assert "takeover (kyma_takeover) differs from the plan" in more
    assert held[1].plan["options"]["strict_drift"] is True


def test_the_options_of_a_saved_plan_hold_for_its_run(hopped: Outcome, own_cluster: OwnCluster) -> None:
    assert hopped.status
    live = own_cluster.api.get("v1", "ConfigMap", "logging", NAMESPACE)
    assert live
    assert "labels" not in live["metadata"]


def test_a_kept_way_is_bound_to_all_of_its_releases(last_one_changed: str) -> None:
    assert "hop to 1.4: the release, its values, or the tools that render it are others" in last_one_changed
    assert "hop to 1.3" not in last_one_changed


def test_a_hold_does_not_outdate_a_kept_plan(held: tuple[str, Outcome]) -> None:
    refused, afterwards = held
    assert "the cluster is held: the auditors are here" in refused
    assert "no longer holds" not in refused
    assert afterwards.status == 0


def test_check_mode_shows_all_hops_and_says_what_is_provisional(rehearsed: Outcome) -> None:
    plan = rehearsed.plan
    assert (plan["previous"], plan["version"]) == ("1.0", "1.1")
    assert [(one["previous"], one["version"]) for one in plan["later"]] == [("1.1", "1.2")]
    assert "hop 1 of 2, exact" in rehearsed.text
    assert "hop 2 of 2, provisional" in rehearsed.text
    assert "(1.2, provisional)" in rehearsed.text
    assert writes(rehearsed.requests) == []


def test_a_plan_is_kept_and_nothing_is_done(saved: Outcome, playbook: Playbook) -> None:
    file = playbook.folder / "plan.json"
    assert file.stat().st_mode & 0o777 == 0o600
    assert saved.planning["plan_digest"] in saved.text
    assert saved.recap["ok"] == 1
    assert writes(saved.requests) == []
    assert json.loads(file.read_text())["apiVersion"] == "lifecycle.kyma-project.io/v1"


def test_a_component_alone_leaves_the_version(alone: Outcome, after_alone: dict[str, Any]) -> None:
    assert list(alone.components) == ["logging"]
    assert (after_alone["version"], after_alone["target"]) == ("1.0", "1.0")


def test_a_plan_that_no_longer_holds_is_refused(stale: Outcome) -> None:
    refusal = stale.refused()
    assert "another run has deployed to the cluster" in refusal
    assert "component logging action: the plan has upgrade, and now it is unchanged" in refusal


def test_a_digest_alone_approves_nothing(
    carried_out: tuple[Outcome, Outcome], playbook: Playbook, releases: Path
) -> None:
    digest = carried_out[0].planning["plan_digest"]
    assert "no plan is given" in playbook.deploy(releases / "1.1", plan_digest=digest).refused()


def test_a_plan_is_carried_out_by_its_file(carried_out: tuple[Outcome, Outcome]) -> None:
    planned, outcome = carried_out
    assert writes(planned.requests) == []
    assert set(outcome.components) == {"first", "telemetry"}
    assert outcome.run["state"] == "succeeded"


def test_a_hop_that_fails_stops_the_rest(hopped: Outcome, after_hops: dict[str, Any]) -> None:
    assert "Kyma 1.2: succeeded" in hopped.text
    assert re.search(r"^localhost: failed, Kyma \S+ → 1\.4, ", hopped.text, re.MULTILINE)
    assert "1.2 was deployed completely, and 1.3 is not deployed completely" in hopped.text
    assert "Begin the run" in hopped.text
    assert "Kyma 1.4: " not in hopped.text
    assert (after_hops["version"], after_hops["target"]) == ("1.2", "1.3")


def test_only_the_target_may_be_deployed(only_the_target: Outcome) -> None:
    assert "the deployment of 1.3 has begun and has not ended" in only_the_target.refused()


def test_an_abandoned_run_reports_the_components_that_stay_changed(
    abandoned: Outcome, own_cluster: OwnCluster
) -> None:
    assert "component logging has moved to 1.3" in abandoned.plan["stays"]
    assert abandoned.run["state"] == "succeeded"
    assert _version_of(own_cluster, "logging") == "1.2"
    status = _status(own_cluster)
    assert (status["version"], status["target"]) == ("1.2", "1.2")
