# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes when a release no longer has it, and what may be deleted at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Object,
    Ref,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_inventory import (
    DeployedAs,
    with_deployed_as,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.delete.deletion_order import (
    deletion_waves,
    objects_by_component,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.prune_decision import (
    decide_removal,
    is_protected,
    may_prune,
    obsolete_entries,
)

CRD = "apiextensions.k8s.io"


def entry(name: str, *, kind: str = "ConfigMap", uid: str = "", dropped: bool = False) -> InventoryEntry:
    return InventoryEntry("v1", Ref("", kind, "ns", name), uid or f"uid-{name}", "7", dropped=dropped)


def live(manager: str = FIELD_MANAGER, **metadata: object) -> Object:
    meta = {"name": "a", "uid": "uid-a", "resourceVersion": "7", "managedFields": [{"manager": manager}]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {**meta, **metadata}}


def inventory(
    component: str, *entries: InventoryEntry, prerequisite: bool = False, needs: str = ""
) -> Inventory:
    deployed = DeployedAs(prerequisite=prerequisite, needs=tuple(needs.split()))
    return with_deployed_as(Inventory(component, entries=entries, digest="d"), deployed)


def names(obsolete: dict[str, tuple[InventoryEntry, ...]]) -> dict[str, list[str]]:
    return {component: [one.ref.name for one in entries] for component, entries in obsolete.items()}


# What may be deleted.


def test_an_object_as_recorded_is_deleted_with_its_uid_and_version_as_preconditions() -> None:
    fate = decide_removal(entry("a"), live())
    assert (fate.action, fate.uid, fate.resource_version) == ("delete", "uid-a", "7")


def test_an_object_of_ours_that_changed_is_deleted_in_its_present_version() -> None:
    fate = decide_removal(entry("a"), live(resourceVersion="9"))
    assert (fate.action, fate.resource_version) == ("delete", "9")


@pytest.mark.parametrize(
    ("present", "what", "why"),
    [
        (None, "gone", ""),
        (live(uid="another"), "left", "recreated it"),
        (live("somebody", resourceVersion="9"), "left", "written by somebody"),
        # Others may write inventories: uid and resourceVersion are those that the entry has.
        (live("somebody"), "left", "kyma.lifecycle has written nothing of it (written by somebody)"),
        (live(managedFields=[]), "left", "so it stays"),
        (live(managedFields=[{"manager": FIELD_MANAGER, "subresource": "status"}]), "left", "so it stays"),
        (live(annotations={"helm.sh/resource-policy": "keep"}), "kept", "helm.sh/resource-policy"),
    ],
)
def test_an_object_that_is_no_longer_ours_or_protected_is_not_deleted(
    present: Object | None, what: str, why: str
) -> None:
    fate = decide_removal(entry("a"), present)
    assert fate.action == what
    assert why in fate.reason


def test_an_object_of_others_goes_only_if_its_very_uid_is_approved() -> None:
    theirs = live("somebody")
    assert decide_removal(entry("a"), theirs, approved={"uid-a"}).action == "delete"
    assert decide_removal(entry("a"), theirs, approved={"uid-b"}, force=True).action == "left"
    assert decide_removal(entry("a", uid="uid-c"), theirs, approved={"uid-a"}).action == "left"


def test_a_protected_object_is_deleted_by_force() -> None:
    assert (
        decide_removal(entry("a"), live(annotations={"helm.sh/resource-policy": "keep"}), force=True).action
        == "delete"
    )


def test_an_object_that_was_only_intended_is_deleted_only_if_we_applied_it() -> None:
    intended = entry("a")._replace(uid="", resource_version="")
    assert decide_removal(intended, live()).action == "delete"
    assert decide_removal(intended, live("somebody")).action == "left"


@pytest.mark.parametrize(
    ("ref", "allowed", "protected"),
    [
        (Ref("", "ConfigMap", "ns", "a"), (), False),
        (Ref("", "Namespace", "", "a"), (), True),
        (Ref("", "PersistentVolumeClaim", "ns", "a"), ("Namespace",), True),
        (Ref("", "PersistentVolumeClaim", "ns", "a"), ("PersistentVolumeClaim",), False),
        (Ref("", "PersistentVolumeClaim", "ns", "a"), ("PersistentVolumeClaim ns/a",), False),
        (Ref("", "PersistentVolumeClaim", "ns", "a"), ("PersistentVolumeClaim ns/b",), True),
        (Ref(CRD, "CustomResourceDefinition", "", "a"), (), True),
        (Ref("serving.knative.dev", "Namespace", "", "a"), (), False),
    ],
)
def test_some_kinds_are_protected_unless_allowed(ref: Ref, allowed: tuple[str, ...], protected: bool) -> None:
    assert is_protected(ref, allowed) is protected


# What the release no longer has.


def test_an_object_that_moved_to_another_component_lives() -> None:
    inventories = [
        inventory("a", entry("kept"), entry("moved", dropped=True), entry("old", dropped=True)),
        inventory("b", entry("moved")),
    ]
    desired = {Ref("", "ConfigMap", "ns", name) for name in ("kept", "moved")}
    assert names(obsolete_entries(inventories, desired, {"a", "b"})) == {"a": ["old"]}


def test_an_object_that_another_group_serves_too_lives() -> None:
    old = InventoryEntry("extensions/v1beta1", Ref("extensions", "Ingress", "ns", "web"), "uid-web")
    new = InventoryEntry("networking.k8s.io/v1", Ref("networking.k8s.io", "Ingress", "ns", "web"), "uid-web")
    inventories = [inventory("a", old._replace(dropped=True), new)]
    assert obsolete_entries(inventories, {new.ref}, {"a"}) == {}


def test_orphans_keep_what_they_have_unless_they_go() -> None:
    inventories = [inventory("a", entry("shared", dropped=True)), inventory("orphan", entry("shared"))]
    assert obsolete_entries(inventories, set(), {"a"}) == {}
    assert set(obsolete_entries(inventories, set(), {"a", "orphan"})) == {"a", "orphan"}


@pytest.mark.parametrize(
    ("old", "allowed", "orphans", "expected"),
    [
        (live(name="old", namespace="ns", uid="uid-old"), (), False, True),
        (live(name="old", namespace="ns", uid="another"), (), False, False),
        (None, (), False, False),
        (None, (), True, True),
    ],
)
def test_a_deployed_release_can_leave_something_to_prune(
    old: Object | None, allowed: tuple[str, ...], orphans: bool, expected: bool
) -> None:
    inventories = {
        "a": inventory("a", entry("old", dropped=True)),
        "orphan": inventory("orphan", entry("a")),
    }
    there = {Ref("", "ConfigMap", "ns", "a"): live()}
    if old:
        there[Ref("", "ConfigMap", "ns", "old")] = old
    assert may_prune(inventories, ["a"], there, allowed, orphans) is expected


# In which order components are deleted.


def test_components_go_before_what_they_need_and_prerequisites_last_in_reverse() -> None:
    inventories = [
        inventory("foundation", prerequisite=True),
        inventory("logging"),
        inventory("certs", prerequisite=True),
        inventory("telemetry", needs="logging"),
        inventory("istio", prerequisite=True),
        inventory("orphan"),
    ]
    order = ["foundation", "certs", "istio", "telemetry", "logging"]
    assert deletion_waves(inventories, order) == [
        ("telemetry",),
        ("logging", "orphan"),
        ("istio",),
        ("certs",),
        ("foundation",),
    ]


def test_inventories_that_contradict_each_other_are_deleted_all_the_same() -> None:
    assert deletion_waves([inventory("a", needs="b"), inventory("b", needs="a")], []) == [("a", "b")]


def test_an_object_goes_with_the_last_component_that_has_it() -> None:
    inventories = {
        "a": inventory("a", entry("x", dropped=True), entry("y"), entry("z", dropped=True)),
        "b": inventory("b", entry("x"), entry("y")),
        "c": inventory("c", entry("y", dropped=True)),
        "stays": inventory("stays", entry("s")),
    }
    inventories["a"] = replace(inventories["a"], entries=(*inventories["a"].entries, entry("s")))
    by_component = objects_by_component([("a",), ("b",), ("c",)], inventories)
    assert names(by_component) == {"a": ["z"], "b": ["x", "y"], "c": []}
