# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A component whose image can't start: what it takes with it, and going on once it is mended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment, mark_of, marking

pytestmark = pytest.mark.control_plane

PROGRESS_DEADLINE = 4


@pytest.fixture(scope="module")
def failed(playbook: Playbook, small: SmallRelease) -> Outcome:
    """The outcome with a component that can't start."""
    image = deployment("broken", image="broken.invalid/x", progressDeadlineSeconds=PROGRESS_DEADLINE)
    small.component("first", config_map("first"), prerequisite=True)
    small.component("broken", image)
    small.component("fine", deployment("fine", progressDeadlineSeconds=60))
    small.component("dependent", config_map("dependent"), needs=["broken"])
    small.component("remote", config_map("remote"), needs=["dependent"])
    for component, phase in (("broken", "pre"), ("broken", "post"), ("fine", "post"), ("global", "post")):
        name = f"{component}{phase}".title()
        playbook.migration(f"{component}_{phase}", marking(name, component, phase))
    return playbook.deploy(small.folder, component_timeout=40).failed()


@pytest.fixture(scope="module")
def left_behind(failed: Outcome, own_cluster: OwnCluster) -> dict[str, Any]:
    """The cluster's record after that."""
    assert failed.status
    return _record(own_cluster, "KymaInstallation", "kyma")


@pytest.fixture(scope="module")
def mended(left_behind: dict[str, Any], playbook: Playbook, small: SmallRelease) -> Outcome:
    """The outcome once the image has been put right."""
    assert left_behind
    small.write("broken", deployment("broken", progressDeadlineSeconds=60))
    return playbook.deploy(small.folder).succeeded()


def _marks(cluster: OwnCluster) -> set[str]:
    return {obj["metadata"]["name"] for obj in cluster.api.list("v1", "ConfigMap", "default").items}


def _record(cluster: OwnCluster, kind: str, name: str) -> dict[str, Any]:
    record = cluster.api.get("lifecycle.kyma-project.io/v1", kind, name)
    assert record
    return dict(record)


def test_a_broken_component_fails_within_its_progress_deadline_with_the_reason(failed: Outcome) -> None:
    broken = failed.components["broken"]
    assert broken["state"] == "failed"
    assert broken["seconds"] < PROGRESS_DEADLINE + 10
    assert "- component broken failed: its task says why" in failed.run["msg"].splitlines()
    lines = [line for one in failed.results for line in str(one.get("msg")).splitlines()]
    [line] = [line for line in lines if line.startswith("component broken failed:")]
    assert f"pod {NAMESPACE}/broken-" in line
    assert "ImagePullBackOff" in line
    assert "broken.invalid/x" in line
    # A person sees the same on the terminal.
    assert line in failed.text


def test_others_go_on_and_what_needs_it_does_not_start(failed: Outcome, own_cluster: OwnCluster) -> None:
    states = {name: one["state"] for name, one in failed.components.items()}
    assert states == {
        "foundation": "succeeded",
        "first": "succeeded",
        "broken": "failed",
        "fine": "succeeded",
        "dependent": "not started",
        "remote": "not started",
    }
    assert failed.run["failures"][-1].startswith(
        "never started: dependent, remote, global/globalpost (it needs broken, which failed)"
    )
    assert own_cluster.api.get("v1", "ConfigMap", "dependent", NAMESPACE) is None


def test_neither_its_own_migrations_after_nor_the_global_ones_run(failed: Outcome) -> None:
    assert {id_ for id_, one in failed.migrations.items() if one["state"] == "done"} == {
        "broken/brokenpre",
        "fine/finepost",
    }


def test_the_version_does_not_move_and_the_record_says_why(
    failed: Outcome, left_behind: dict[str, Any], own_cluster: OwnCluster
) -> None:
    assert left_behind["status"]["target"] == "1.0"
    assert "version" not in left_behind["status"]
    run = _record(own_cluster, "KymaRun", failed.run["run"])
    assert run["status"]["state"] == "failed"
    assert "ImagePullBackOff" in run["status"]["message"]


def test_the_next_deployment_goes_on_from_there(mended: Outcome, own_cluster: OwnCluster) -> None:
    actions = {one["name"]: one["action"] for one in mended.plan["components"]}
    assert actions["broken"] == "resume"
    assert {actions["foundation"], actions["first"], actions["fine"]} == {"unchanged"}
    assert {name: one["state"] for name, one in mended.components.items()} == dict.fromkeys(
        ("broken", "dependent", "remote"), "succeeded"
    )
    done = {mark_of("BrokenPost", "broken", "post"), mark_of("GlobalPost", "global", "post")}
    assert done <= _marks(own_cluster)
    installation = _record(own_cluster, "KymaInstallation", "kyma")
    assert (installation["status"]["version"], installation["status"]["target"]) == ("1.0", "1.0")


@pytest.fixture(scope="module")
def _dead(mended: Outcome, own_cluster: OwnCluster) -> Iterator[None]:
    """The pods of the Deployment ``fine`` have died, and no node takes new ones."""
    assert mended.status == 0
    api = own_cluster.api
    nodes = [one["metadata"]["name"] for one in api.list("v1", "Node").items]
    for node in nodes:
        api.patch("v1", "Node", node, None, {"spec": {"unschedulable": True}})
    for pod in api.list("v1", "Pod", NAMESPACE, label_selector="app=fine").items:
        api.delete("v1", "Pod", pod["metadata"]["name"], NAMESPACE)

    def is_down() -> bool:
        live = api.get("apps/v1", "Deployment", "fine", NAMESPACE) or {}
        return not live["status"].get("availableReplicas")

    eventually(is_down, 60)
    yield
    for node in nodes:
        api.patch("v1", "Node", node, None, {"spec": {"unschedulable": None}})


DOWN = f"fine: Deployment {NAMESPACE}/fine is not healthy: 0 of 1 replicas are available"


@pytest.mark.usefixtures("_dead")
def test_an_unchanged_deployment_without_replicas_is_a_warning(
    playbook: Playbook, small: SmallRelease
) -> None:
    outcome = playbook.deploy(small.folder).succeeded()
    assert (outcome.recap["ok"], outcome.recap["changed"]) == (1, 0)
    assert outcome.planning["state"] == "unchanged"
    assert [one["object"] for one in outcome.plan["unhealthy"]] == [f"Deployment {NAMESPACE}/fine"]
    assert outcome.planning["warnings"] == [DOWN]
    assert "objects as deployed, 1 object not healthy" in outcome.text
    lists = [one for one in outcome.requests if one.verb == "list" and one.target.startswith("deployments")]
    assert len(lists) == 1


@pytest.mark.usefixtures("_dead")
def test_with_require_healthy_it_is_refused_and_after_a_run_it_fails(
    playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster
) -> None:
    refusal = playbook.deploy(small.folder, require_healthy=True)
    assert refusal.refused().splitlines()[1:] == [f"- {DOWN}"]
    assert refusal.planning["state"] == "refused"
    small.write("first", config_map("first", level="debug"))
    outcome = playbook.deploy(small.folder, require_healthy=True).failed()
    assert (outcome.run["state"], outcome.run["failures"]) == ("failed", [DOWN])
    assert _record(own_cluster, "KymaRun", outcome.run["run"])["status"]["state"] == "succeeded"
