# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No run prunes an operator while what it manages lives, and the plan says the same."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError, Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component

from tests.support.driver import (
    Deployer,
    Entries,
    config_map,
    crd,
    custom,
    deployer_after,
    deployment,
    memory,
    release,
)
from tests.support.operators import operator

KEEP = config_map("keep", a="1")
BLOCKED = "nothing of it is deleted, because resources that it manages exist and need it: 1 Thing.example.com"


def thing(name: str, **meta: Any) -> Object:
    return {**custom("Thing", name), "metadata": {"name": name, "namespace": "default", **meta}}


def upgraded(before: Entries, after: Entries, *, keeps_crd: bool = True, **options: Any) -> Deployer:
    """Somebody who has deployed 2.9 with the definition of Things, and holds 2.10."""
    someone = deployer_after(release("2.9", before, crds=[crd("Thing")]), timeout=3, **options)
    someone.materials.given = release("2.10", after, crds=[crd("Thing")] if keeps_crd else [])
    return someone


def make(someone: Deployer, *objects: Object) -> None:
    for obj in objects:
        someone.cluster.with_field_manager("kubectl").create(obj)


def is_running(someone: Deployer, name: str = "op") -> bool:
    return someone.cluster.get("apps/v1", "Deployment", name, "kyma-system") is not None


def component_of(planned: Result, name: str) -> Any:
    return next(one for one in planned["plan"]["components"] if one["name"] == name)


# Components that the release no longer has.

ORPHANED: Entries = {
    "a": [KEEP],
    "old": [*operator("op", "things"), config_map("old")],
    "kiali": [deployment("kiali")],
}


def orphaned(**options: Any) -> Deployer:
    return upgraded(ORPHANED, {"a": [KEEP]}, prune=True, **options)


def test_an_orphan_whose_resources_live_stays_and_fails_the_run_at_its_end() -> None:
    someone = orphaned()
    make(someone, thing("theirs"))
    planned = someone.plan()
    assert not planned.get("failed")
    old = component_of(planned, "old")
    assert (old["action"], old["changes"]) == ("orphaned", [])
    assert old["warnings"][0].startswith(f"{BLOCKED}\n    Thing default/theirs: ")
    assert "state=absent and force=true" in old["warnings"][0]
    assert component_of(planned, "kiali")["action"] == "delete"
    assert f"note: {BLOCKED}" in "\n".join(planned["summary"])

    ended = someone.carry_out(planned)
    assert ended["failed"]
    assert f"component old: {BLOCKED}" in ended["failures"][0]
    assert is_running(someone)
    assert len(read_inventories(someone.cluster)["old"].entries) == 4
    # Others go on.
    assert not is_running(someone, "kiali")

    someone.cluster.delete("example.com/v1", "Thing", "theirs", "default")
    planned = someone.plan()
    assert component_of(planned, "old")["action"] == "delete"
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert not is_running(someone)
    assert "old" not in read_inventories(someone.cluster)


def test_a_resource_that_is_created_after_the_plan_retains_the_operator_too() -> None:
    someone = orphaned()
    planned = someone.plan()
    assert component_of(planned, "old")["action"] == "delete"
    make(someone, thing("theirs"))
    assert f"component old: {BLOCKED}" in someone.carry_out(planned)["failures"][0]
    assert is_running(someone)


def test_a_resource_of_an_orphan_is_deleted_before_its_operator() -> None:
    components = {**ORPHANED, "apps": [thing("ours", finalizers=["example.com/guard"])]}
    someone = upgraded(components, {"a": [KEEP]}, prune=True)
    planned = someone.plan()
    assert {component_of(planned, name)["action"] for name in ("old", "apps")} == {"delete"}
    assert component_of(planned, "old")["warnings"] == []
    someone.options["timeout"] = 0.3
    failures = "\n".join(someone.carry_out(planned)["failures"])
    assert "component apps: Thing default/ours: it was deleted, and its finalizers hold it" in failures
    assert "component old: its operator stays, because its resources exist: 1 Thing.example.com" in failures
    assert is_running(someone)
    patch = {"metadata": {"finalizers": None}}
    someone.cluster.patch("example.com/v1", "Thing", "ours", "default", patch)
    assert someone.deploy()["state"] == "succeeded"
    assert not is_running(someone)


def test_an_orphan_of_which_only_a_protected_definition_is_left_fails_no_run() -> None:
    widget = {**custom("Widget", "theirs"), "metadata": {"name": "theirs", "namespace": "default"}}
    someone = upgraded({"a": [KEEP], "old": [crd("Widget"), *operator("op")]}, {"a": [KEEP]}, prune=True)
    assert someone.deploy()["state"] == "succeeded"
    assert not is_running(someone)
    make(someone, widget)
    someone.materials.given = release("2.11", {"a": [config_map("keep", a="2"), config_map("new")]})
    planned = someone.plan()
    assert "widgets.example.com belongs to no component" in component_of(planned, "old")["warnings"][0]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert not someone.task(component.DEFINITION, state="pruned", names=["old"]).get("failed")


def test_an_orphan_that_is_not_to_be_pruned_is_not_asked_about() -> None:
    someone = upgraded(ORPHANED, {"a": [KEEP]})
    make(someone, thing("theirs"))
    memory(someone).requests.clear()
    planned = someone.plan()
    assert "Thing" not in [one.ref.kind for one in memory(someone).requests]
    assert component_of(planned, "old")["warnings"] == []
    assert not planned.get("failed")


@pytest.mark.parametrize("status", [500, 503])
def test_if_asking_fails_nothing_of_the_orphan_goes(status: int) -> None:
    someone = orphaned()
    error = ApiError("list Thing", status=status, api_message="no")
    memory(someone).fail_when(lambda one: one.verb == "list" and one.ref.kind == "Thing", error)
    planned = someone.plan()
    reason = (
        "nothing of it is deleted, because it is unknown whether resources that it manages exist: list "
        "Thing: no"
    )
    assert component_of(planned, "old")["warnings"] == [reason]
    ended = someone.carry_out(planned)
    assert f"component old: {reason}" in ended["failures"][0]
    assert is_running(someone)
    assert not is_running(someone, "kiali")


def test_a_right_to_ask_that_is_missing_blocks_the_plan() -> None:
    someone = orphaned()
    right = 'cannot list resource "things" in API group "example.com" at the cluster scope'
    refusal = f'things.example.com is forbidden: User "ci" {right}'
    error = Forbidden("list Thing", status=403, reason="Forbidden", api_message=refusal)
    memory(someone).fail_when(lambda one: one.verb == "list" and one.ref.kind == "Thing", error)
    planned = someone.plan()
    assert planned["failed"]
    assert "list things.example.com" in planned["msg"]
    assert is_running(someone)


# Objects that a component lost.


def test_an_operator_that_is_dropped_with_its_definition_stays_while_resources_live() -> None:
    before: Entries = {"a": [KEEP, *operator("op", "things")]}
    someone = upgraded(before, {"a": [KEEP]}, keeps_crd=False)
    make(someone, thing("theirs"))
    planned = someone.plan()
    notes = component_of(planned, "a")["warnings"]
    reason = "it stays, because resources that may need it exist: 1 Thing.example.com"
    assert sorted(notes) == [
        f"ClusterRole op: {reason}",
        f"Deployment kyma-system/op: {reason}",
        f"ServiceAccount kyma-system/op: {reason}",
    ]
    assert component_of(planned, "a")["changes"] == []
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert is_running(someone)
    assert someone.cluster.get("v1", "ServiceAccount", "op", "kyma-system")
    # Nothing is done about it again and again.
    assert not someone.plan()["plan"]["needed"]
    someone.cluster.delete("example.com/v1", "Thing", "theirs", "default")
    assert someone.deploy()["state"] == "succeeded"
    assert not is_running(someone)
    assert someone.cluster.get("v1", "ServiceAccount", "op", "kyma-system") is None


def test_a_dropped_operator_stays_also_with_resources_of_its_own_definition() -> None:
    before: Entries = {"a": [KEEP, crd("Widget"), *operator("op")]}
    someone = upgraded(before, {"a": [KEEP]}, prune_allow=["CustomResourceDefinition"])
    make(someone, {**custom("Widget", "theirs"), "metadata": {"name": "theirs", "namespace": "default"}})
    planned = someone.plan()
    notes = component_of(planned, "a")["warnings"]
    assert "CustomResourceDefinition widgets.example.com: it stays, as these exist: Widget" in "\n".join(
        notes
    )
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert is_running(someone)
    someone.cluster.delete("example.com/v1", "Widget", "theirs", "default")
    assert someone.deploy()["state"] == "succeeded"
    assert not is_running(someone)
    assert someone.cluster.resource("example.com/v1", "Widget") is None


def test_a_resource_that_is_created_after_the_plan_retains_a_dropped_operator_too() -> None:
    someone = upgraded({"a": [KEEP, *operator("op", "things")]}, {"a": [KEEP]}, keeps_crd=False)
    planned = someone.plan()
    assert planned["plan"]["prune"] == ["a"]
    make(someone, thing("theirs"))
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert is_running(someone)


def test_an_operator_that_is_replaced_while_its_definition_stays_is_pruned() -> None:
    someone = upgraded({"a": [KEEP, *operator("op", "things")]}, {"a": [KEEP, *operator("new", "things")]})
    make(someone, thing("theirs"))
    planned = someone.plan()
    assert component_of(planned, "a")["warnings"] == []
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert (is_running(someone), is_running(someone, "new")) == (False, True)


def test_an_object_that_is_no_part_of_an_operator_is_pruned_while_resources_live() -> None:
    someone = upgraded({"a": [KEEP, config_map("old")]}, {"a": [KEEP]}, keeps_crd=False)
    make(someone, thing("theirs"))
    assert someone.deploy()["state"] == "succeeded"
    assert someone.cluster.get("v1", "ConfigMap", "old", "kyma-system") is None


def test_a_definition_stays_alone_if_nothing_that_is_dropped_runs_its_operator() -> None:
    someone = upgraded({"a": [KEEP, crd("Widget"), config_map("old")]}, {"a": [KEEP]})
    someone.options["prune_allow"] = ["CustomResourceDefinition"]
    make(someone, {**custom("Widget", "theirs"), "metadata": {"name": "theirs", "namespace": "default"}})
    planned = someone.plan()
    [note] = component_of(planned, "a")["warnings"]
    assert note.startswith("CustomResourceDefinition widgets.example.com: it stays, as these exist")
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.cluster.get("v1", "ConfigMap", "old", "kyma-system") is None


def test_if_asking_fails_nothing_of_such_a_component_is_pruned() -> None:
    someone = upgraded({"a": [KEEP, *operator("op", "things")]}, {"a": [KEEP]}, keeps_crd=False)
    error = ApiError("list Thing", status=500, api_message="no")
    memory(someone).fail_when(lambda one: one.verb == "list" and one.ref.kind == "Thing", error)
    ended = someone.deploy()
    assert "component a: nothing of it is deleted, because it is unknown" in ended["failures"][0]
    assert is_running(someone)


def test_a_resource_that_is_made_while_the_operator_is_pruned_keeps_the_definition() -> None:
    someone = upgraded({"a": [KEEP, crd("Widget"), *operator("op")]}, {"a": [KEEP]})
    someone.options["prune_allow"] = ["CustomResourceDefinition"]
    planned = someone.plan()

    def make_one(cluster: Cluster, event: Event) -> None:
        if (event.type, event.object["kind"]) == ("DELETED", "Deployment"):
            obj = custom("Widget", "late")
            cluster.create({**obj, "metadata": {"name": "late", "namespace": "default"}})

    memory(someone).on_write(make_one)
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.cluster.resource("example.com/v1", "Widget")
