# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What plans say about unchanged objects that are not healthy, and when that fails a deployment."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import plan

from tests.support.driver import (
    Deployer,
    config_map,
    crd,
    custom,
    deployer,
    deployer_after,
    deployment,
    job,
    memory,
    release,
)

DOWN = {
    "component": "checkout",
    "object": "Deployment kyma-system/web",
    "reason": "0 of 1 replicas are available",
}
WARNING = "checkout: Deployment kyma-system/web is not healthy: 0 of 1 replicas are available"


def shop(version: str = "2.9", *, image: str = "nginx:1", level: str = "info") -> Release:
    components: dict[str, list[Object]] = {
        "checkout": [deployment("web", image), job("setup"), custom("Gateway", "kyma")],
        "logging": [config_map("settings", level=level), deployment("loki")],
    }
    return release(version, components, crds=[crd("Gateway")])


def take_down(someone: Deployer, name: str = "web") -> None:
    """What its controller reports when the pod of a Deployment has died."""
    status = {
        "readyReplicas": 0,
        "availableReplicas": 0,
        "conditions": [{"type": "Available", "status": "False"}],
    }
    memory(someone).with_field_manager("controller").patch(
        "apps/v1", "Deployment", name, "kyma-system", {"status": status}, subresource="status"
    )


def deployed(**options: Any) -> Deployer:
    return deployer_after(shop(), **options)


def upgraded(someone: Deployer, given: Release) -> Deployer:
    """The same user, with the next release."""
    return Deployer(someone.cluster, deployer(given).materials, dict(someone.options))


def rollout(someone: Deployer) -> dict[str, Any]:
    """The plan that a rollout in rings makes of each cluster."""
    return someone.task(plan.DEFINITION, rollout=True)


def test_a_healthy_cluster_has_no_unhealthy_objects() -> None:
    planned = deployed().plan()
    assert planned["plan"]["unhealthy"] == []
    assert planned["warnings"] == []


def test_an_unchanged_plan_names_what_is_not_healthy_and_stays_unchanged() -> None:
    someone = deployed()
    someone.materials.unreadable = True
    take_down(someone)
    planned = someone.plan()
    assert planned["plan"]["unhealthy"] == [DOWN]
    assert planned["warnings"] == [WARNING]
    assert (planned["changed"], planned["plan"]["needed"], planned.get("failed", False)) == (
        False,
        False,
        False,
    )
    assert planned["summary"] == ["Kyma 2.9: nothing to do, 7 objects as deployed, 1 object not healthy"]


def test_health_costs_no_request_more_than_the_metadata_did() -> None:
    someone = deployed()
    memory(someone).requests.clear()
    someone.plan()
    lists = [one.ref.kind for one in memory(someone).requests if one.verb == "list"]
    assert sorted(lists).count("Deployment") == 1
    assert len(lists) == len(set(lists))


def test_a_needed_plan_names_the_unhealthy_objects_of_unchanged_components_only() -> None:
    someone = deployed()
    take_down(someone)
    take_down(someone, "loki")
    planned = upgraded(someone, shop("2.10", level="debug")).plan()
    assert {one["name"]: one["action"] for one in planned["plan"]["components"]} == {
        "foundation": "unchanged",
        "checkout": "unchanged",
        "logging": "upgrade",
    }
    assert planned["plan"]["unhealthy"] == [DOWN]
    assert WARNING in planned["warnings"]
    assert "  unchanged 2 components, 1 object not healthy" in planned["summary"]


def test_the_health_of_a_later_hop_is_unknown() -> None:
    someone = deployed()
    take_down(someone)
    materials = deployer(shop("2.11", level="trace")).materials
    materials.others = (shop("2.10", level="debug"),)
    planned = Deployer(someone.cluster, materials, {"hops": "auto"}).plan()
    assert planned["plan"]["unhealthy"] == [DOWN]
    assert [one["unhealthy"] for one in planned["plan"]["later"]] == [[]]


def test_components_alone_are_asked_alone() -> None:
    someone = deployed(components=["logging"])
    take_down(someone)
    assert someone.plan()["plan"]["unhealthy"] == []
    take_down(someone, "loki")
    assert [one["component"] for one in someone.plan()["plan"]["unhealthy"]] == ["logging"]


# require_healthy


def test_require_healthy_refuses_an_unchanged_plan_and_names_each_object() -> None:
    someone = deployed(require_healthy=True)
    take_down(someone)
    take_down(someone, "loki")
    planned = someone.plan()
    assert (planned["failed"], planned["changed"], planned["state"]) == (True, False, "refused")
    assert planned["blockers"] == [WARNING, WARNING.replace("checkout", "logging").replace("web", "loki")]
    assert planned["failures"] == planned["blockers"]
    assert planned["msg"].splitlines() == [
        "Kyma 2.9 is deployed, and 2 objects are not healthy, which require_healthy (kyma_require_healthy)"
        " does not allow:",
        *(f"- {blocker}" for blocker in planned["blockers"]),
    ]
    assert len(planned["plan"]["unhealthy"]) == 2


def test_require_healthy_allows_a_healthy_cluster() -> None:
    planned = deployed(require_healthy=True).plan()
    assert not planned.get("failed")


def test_require_healthy_lets_a_run_mend_what_is_not_healthy() -> None:
    someone = deployed(require_healthy=True)
    take_down(someone)
    mending = upgraded(someone, shop("2.10", image="nginx:2"))
    ended = mending.deploy()
    assert ended["state"] == "succeeded"
    assert mending.plan()["plan"]["unhealthy"] == []


@pytest.mark.parametrize("required", [True, False])
def test_an_object_still_unhealthy_after_a_run_fails_only_if_health_is_required(*, required: bool) -> None:
    someone = deployed(require_healthy=required)
    take_down(someone)
    upgrading = upgraded(someone, shop("2.10", level="debug"))
    ended = upgrading.deploy()
    assert upgrading.installation().version == "2.10"
    assert upgrading.record()["status"]["state"] == "succeeded"
    if not required:
        assert (ended["state"], ended["failures"]) == ("succeeded", [])
        return
    assert (ended["failed"], ended["state"], ended["failures"]) == (True, "failed", [WARNING])
    assert ended["msg"].splitlines() == [
        "Kyma 2.10 is deployed, and 1 object is not healthy, which require_healthy (kyma_require_healthy)"
        " does not allow:",
        f"- {WARNING}",
    ]


def test_after_a_run_of_components_alone_only_their_objects_count() -> None:
    someone = upgraded(deployed(require_healthy=True, components=["logging"]), shop(level="debug"))
    take_down(someone)
    assert someone.deploy()["state"] == "succeeded"


# Rollouts in rings.


def test_a_rollout_learns_since_when_all_is_healthy_and_not_of_what_it_changes() -> None:
    someone = deployed()
    since = "2026-01-02T03:04:05Z"
    condition = {"type": "Available", "status": "True", "lastTransitionTime": since}
    memory(someone).with_field_manager("controller").patch(
        "apps/v1",
        "Deployment",
        "loki",
        "kyma-system",
        {"status": {"conditions": [condition]}},
        subresource="status",
    )
    assert rollout(someone)["rollout"]["healthy_since"] == since
    changed = upgraded(someone, shop("2.10", level="debug"))
    assert rollout(changed)["rollout"]["healthy_since"] == ""


def test_for_a_rollout_a_cluster_that_is_not_healthy_stays_unchanged() -> None:
    someone = deployed(require_healthy=True)
    take_down(someone)
    planned = rollout(someone)
    assert not planned.get("failed")
    assert planned["plan"]["unhealthy"] == [DOWN]
