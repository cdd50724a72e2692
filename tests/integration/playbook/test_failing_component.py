# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A component whose image can't start: what it takes with it, and going on once it is mended."""

from __future__ import annotations

from typing import Any

import pytest

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
    return _record(own_cluster, "Installation", "kyma")


@pytest.fixture(scope="module")
def mended(left_behind: dict[str, Any], playbook: Playbook, small: SmallRelease) -> Outcome:
    """The outcome once the image has been put right."""
    assert left_behind
    small.write("broken", deployment("broken", progressDeadlineSeconds=60))
    return playbook.deploy(small.folder).succeeded()


def _marks(cluster: OwnCluster) -> set[str]:
    return {obj["metadata"]["name"] for obj in cluster.api.list("v1", "ConfigMap", "default").items}


def _record(cluster: OwnCluster, kind: str, name: str) -> dict[str, Any]:
    record = cluster.api.get("lifecycle.kyma-project.io/v1alpha1", kind, name)
    assert record
    return dict(record)


def test_a_broken_component_fails_within_its_progress_deadline_with_the_reason(failed: Outcome) -> None:
    broken = failed.components["broken"]
    assert broken["state"] == "failed"
    assert broken["seconds"] < PROGRESS_DEADLINE + 10
    assert "- component broken failed: its task says why" in failed.run["msg"].splitlines()
    [task] = [one for one in failed.results if "msg" in one and "components" in one]
    [line] = [line for line in task["msg"].splitlines() if line.startswith("component broken failed:")]
    assert f"Deployment {NAMESPACE}/broken" in line
    assert "pod broken-" in line
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
    assert "it needs broken, which failed" in failed.components["dependent"]["error"]
    assert "it needs dependent, which was not started" in failed.components["remote"]["error"]
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
    run = _record(own_cluster, "Run", failed.run["run"])
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
    installation = _record(own_cluster, "Installation", "kyma")
    assert (installation["status"]["version"], installation["status"]["target"]) == ("1.0", "1.0")
