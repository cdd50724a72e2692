# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run takes from other field managers only what its plan lists, whatever they write meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component

from tests.support.driver import (
    Deployer,
    config_map,
    deployer,
    deployer_after,
    deployment,
    healthy_cluster,
    job,
    release,
    secret,
)
from tests.support.hooked_cluster import HookedCluster

NAMESPACE = "kyma-system"
KUBECTL = "kubectl-client-side-apply"


def shop(version: str, **more: Any) -> Release:
    """Components of which the second needs the first, and the third needs nothing."""
    first = [
        config_map("settings", level="info", v=version),
        config_map("more", v=version),
        *more.get("also", ()),
    ]
    return release(
        version,
        {
            "first": first,
            "second": (
                ComponentEntry("second", NAMESPACE, needs=("first",)),
                [config_map("second", v=version)],
            ),
            "third": [config_map("third", v=version)],
        },
    )


def written(cluster: Cluster, manager: str, kind: str, name: str, patch: Mapping[str, Any]) -> None:
    version = "v1" if kind in ("ConfigMap", "Secret") else "batch/v1" if kind == "Job" else "apps/v1"
    cluster.with_field_manager(manager).patch(version, kind, name, NAMESPACE, patch)


def live(someone: Deployer, name: str = "settings", kind: str = "ConfigMap") -> Object:
    obj = someone.cluster.get("v1" if kind in ("ConfigMap", "Secret") else "apps/v1", kind, name, NAMESPACE)
    assert obj is not None
    return obj


def error_of(someone: Deployer, name: str = "first") -> str:
    error: str = someone.record()["status"]["components"][name]["error"]
    return error


def upgrade(meanwhile: Callable[[Cluster], object], **options: Any) -> tuple[Deployer, Result]:
    """An upgrade, with something that happens between its plan and its run."""
    someone = deployer_after(shop("1.0"), **options)
    someone.materials.given = shop("1.1")
    planned = someone.plan()
    meanwhile(someone.cluster)
    return someone, someone.carry_out(planned)


def edit(cluster: Cluster) -> None:
    written(cluster, "kubectl-edit", "ConfigMap", "settings", {"data": {"level": "debug"}})


def test_a_field_that_a_person_changed_after_the_plan_fails_only_its_component() -> None:
    someone, ended = upgrade(edit)
    assert ended["state"] == "failed"
    assert someone.states() == {"first": "failed", "second": "not started", "third": "succeeded"}
    assert live(someone)["data"] == {"level": "debug", "v": "1.0"}
    error = error_of(someone)
    assert "ConfigMap kyma-system/settings has changed since the plan was made" in error
    assert 'data.level = "debug" of kubectl-edit' in error
    assert "run the playbook again: the plan then lists them" in error
    assert "add them to the release" in error


def test_the_next_plan_lists_it_and_its_run_takes_it() -> None:
    someone, _ended = upgrade(edit)
    planned = someone.plan()
    assert any("data.level was changed by kubectl-edit" in line for line in planned["summary"])
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert live(someone)["data"] == {"level": "info", "v": "1.1"}


def test_no_further_object_of_the_component_is_written() -> None:
    # Objects of one rank are applied side by side, so the other one is of a later rank.
    someone = deployer_after(shop("1.0", also=[deployment("late", "nginx:1.0")]))
    someone.materials.given = shop("1.1", also=[deployment("late", "nginx:1.1")])
    planned = someone.plan()
    edit(someone.cluster)
    someone.carry_out(planned)
    [container] = live(someone, "late", "Deployment")["spec"]["template"]["spec"]["containers"]
    assert container["image"] == "nginx:1.0"


def made_by_kubectl(*objects: Object) -> Deployer:
    """A user of a cluster with objects that a client-side apply created."""
    cluster = healthy_cluster()
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for obj in objects:
        whole = {**obj, "metadata": {**obj["metadata"], "namespace": NAMESPACE}}
        cluster.with_field_manager(KUBECTL).create(whole)
    return deployer(shop("1.0", also=[secret("login", user="us")]), cluster=cluster)


def test_a_value_that_the_maker_adds_after_the_plan_stays_with_it() -> None:
    someone = made_by_kubectl(secret("login", user="us"), config_map("settings", level="info"))
    planned = someone.plan()
    before = live(someone, "login", "Secret")
    assert before["metadata"]["managedFields"][0]["manager"] == KUBECTL
    written(someone.cluster, KUBECTL, "Secret", "login", {"data": {"password": "czNjcjN0"}})
    assert someone.carry_out(planned)["state"] == "failed"
    after = live(someone, "login", "Secret")
    assert after["data"]["password"] == "czNjcjN0"
    # As nothing was taken, the object is still its maker's.
    owners = {one["manager"]: str(one["fieldsV1"]) for one in after["metadata"]["managedFields"]}
    assert "f:password" in owners[KUBECTL]
    error = error_of(someone)
    assert f"data.password = (hidden) of {KUBECTL}" in error
    assert "czNjcjN0" not in error


def test_the_run_takes_all_that_was_planned() -> None:
    someone = made_by_kubectl(config_map("settings", level="debug"))
    planned = someone.plan()
    assert not planned["plan"]["blockers"]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert live(someone)["data"] == {"level": "info", "v": "1.0"}


def test_a_manager_that_gives_up_a_shared_value_after_the_plan_does_not_count() -> None:
    someone = made_by_kubectl(config_map("settings", level="debug"))
    shared = config_map("settings", level="debug")
    shared["metadata"]["namespace"] = NAMESPACE
    other = someone.cluster.with_field_manager("kubectl")
    other.apply(shared)
    planned = someone.plan()
    assert not planned["plan"]["blockers"]
    other.apply({**shared, "data": {}})
    assert someone.carry_out(planned)["state"] == "succeeded", error_of(someone)
    assert live(someone)["data"] == {"level": "info", "v": "1.0"}


def autoscaled(cluster: Cluster) -> None:
    cluster.with_field_manager("kube-controller-manager").patch(
        "apps/v1", "Deployment", "web", NAMESPACE, {"spec": {"replicas": 5}}, subresource="scale"
    )


def test_a_run_leaves_what_controllers_and_others_write_meanwhile() -> None:
    someone = deployer_after(shop("1.0", also=[deployment("web", "nginx:1.0", replicas=2)]))
    someone.materials.given = shop("1.1", also=[deployment("web", "nginx:1.1", replicas=2)])
    planned = someone.plan()
    cluster = someone.cluster
    # A CA injector, a controller with its status, a person who adds a label, and one who gives up a field.
    written(cluster, "cainjector", "ConfigMap", "settings", {"data": {"ca": "PEM"}})
    written(cluster, "kubectl-label", "ConfigMap", "more", {"metadata": {"labels": {"team": "blue"}}})
    written(cluster, "hpa", "Deployment", "web", {"spec": {"replicas": 5}})
    cluster.with_field_manager("controller").patch(
        "apps/v1", "Deployment", "web", NAMESPACE, {"status": {"collisionCount": 1}}, subresource="status"
    )
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert live(someone)["data"]["ca"] == "PEM"
    assert live(someone, "web", "Deployment")["spec"]["replicas"] == 5


def test_an_edit_that_was_reverted_before_the_run_does_not_count() -> None:
    def edit_and_revert(cluster: Cluster) -> None:
        edit(cluster)
        written(cluster, "kubectl-edit", "ConfigMap", "settings", {"data": {"level": "info"}})

    _someone, ended = upgrade(edit_and_revert)
    assert ended["state"] == "succeeded"


def is_bound(call: Call) -> bool:
    """Whether a write is valid only for one version of the object, as one that takes values is."""
    return not call.dry_run and bool((call.obj or {}).get("metadata", {}).get("resourceVersion"))


def test_a_change_between_the_check_and_the_write_is_checked_too() -> None:
    someone = deployer_after(shop("1.0"))
    edit(someone.cluster)
    someone.materials.given = shop("1.1")
    planned = someone.plan()
    inner, left = someone.cluster, ["once"]

    def meddle(_number: int, call: Call) -> None:
        if left and call.verb == "apply" and call.name == "settings" and is_bound(call):
            left.clear()
            written(inner, "kubectl-patch", "ConfigMap", "settings", {"data": {"v": "mine"}})

    someone.cluster = HookedCluster(inner, before=meddle)
    assert someone.carry_out(planned)["state"] == "failed"
    assert not left
    assert live(someone)["data"] == {"level": "debug", "v": "mine"}


def test_a_controller_that_writes_all_the_time_does_not_stop_the_write() -> None:
    someone = deployer_after(shop("1.0"))
    inner, after = someone.cluster, list[Call]()

    def beat(number: int) -> None:
        heartbeat = {"metadata": {"annotations": {"heartbeat": str(number)}}}
        written(inner, "busy", "ConfigMap", "settings", heartbeat)

    def meddle(number: int, call: Call) -> None:
        if call.name != "settings":
            return
        if after or is_bound(call):
            after.append(call)
        if is_bound(call) and sum(map(is_bound, after)) < 8:
            beat(number)

    edit(inner)
    beat(0)
    someone.materials.given = shop("1.1")
    planned = someone.plan()
    someone.cluster = HookedCluster(inner, before=meddle)
    assert someone.carry_out(planned)["state"] == "succeeded", error_of(someone)
    assert live(someone)["data"] == {"level": "info", "v": "1.1"}
    assert sum(map(is_bound, after)) == 8


def test_an_object_is_recreated_only_with_what_the_plan_lists() -> None:
    someone = deployer_after(shop("1.0", also=[job("once", "busybox:1")]))
    someone.materials.given = shop("1.1", also=[job("once", "busybox:2")])
    planned = someone.plan()
    uid = live_job(someone)["metadata"]["uid"]
    written(someone.cluster, "kubectl-label", "Job", "once", {"metadata": {"labels": {"keep": "me"}}})
    assert someone.carry_out(planned)["state"] == "failed"
    assert live_job(someone)["metadata"]["uid"] == uid
    assert "metadata.labels" in error_of(someone)
    assert someone.deploy()["state"] == "succeeded"
    assert live_job(someone)["metadata"]["uid"] != uid


def live_job(someone: Deployer) -> Object:
    obj = someone.cluster.get("batch/v1", "Job", "once", NAMESPACE)
    assert obj is not None
    return obj


@pytest.mark.parametrize("options", [{"force_conflicts": True}, {"strict_drift": True}], ids=str)
def test_an_option_allows_what_the_plan_lists_and_no_more(options: dict[str, Any]) -> None:
    def act(cluster: Cluster) -> None:
        written(cluster, "portal", "ConfigMap", "settings", {"data": {"level": "debug", "extra": "1"}})

    someone, ended = upgrade(act, **options)
    assert ended["state"] == "failed"
    # A write that takes nothing may precede the refused one.
    assert {**live(someone)["data"], "v": ""} == {"level": "debug", "extra": "1", "v": ""}
    assert someone.deploy()["state"] == "succeeded"


def test_a_task_without_a_plan_follows_the_policy_alone() -> None:
    someone = deployer_after(shop("1.0"))
    edit(someone.cluster)
    ended = someone.task(component.DEFINITION, names=["first"], state="present")
    assert not ended.get("failed"), ended
    assert live(someone)["data"]["level"] == "info"


def test_a_task_without_a_plan_refuses_to_lose_values_of_the_creator_too() -> None:
    someone = made_by_kubectl(config_map("settings", level="info", extra="1"))
    ended = someone.task(component.DEFINITION, names=["first"], state="present")
    assert ended["failed"]
    assert "ConfigMap kyma-system/settings would lose values of its creator" in ended["msg"]
    assert 'data.extra = "1" of kubectl-client-side-apply' in ended["msg"]
    assert """-e '{"kyma_adopt_losses": ["ConfigMap kyma-system/settings"]}'""" in ended["msg"]
    assert live(someone)["data"]["extra"] == "1"
    someone.options["adopt_losses"] = ["first"]
    assert not someone.task(component.DEFINITION, names=["first"], state="present").get("failed")
    assert live(someone)["data"] == {"level": "info", "v": "1.0"}
