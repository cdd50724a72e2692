# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which components must not be removed, by what lives and what goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.blocked_removals import (
    BlockedRemoval,
    blocked_removals,
    refs_that_go,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.managed_resources import (
    LivingResources,
)

THING = ("example.com", "Thing")
WIDGET = ("example.com", "Widget")
OURS = {"manager": "kyma-lifecycle", "operation": "Apply", "fieldsV1": {}}


def resource(name: str, kind: str = "Thing", **meta: Any) -> Object:
    named = {"name": name, "namespace": "shop", "uid": name, "resourceVersion": "1", "managedFields": [OURS]}
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": {**named, **meta}}


def owned_by(*uids: str) -> dict[str, Any]:
    owners = [{"apiVersion": "x/v1", "kind": "X", "name": uid, "uid": uid} for uid in uids]
    return {"ownerReferences": owners}


def blocked(
    living: LivingResources,
    removed: Mapping[str, Sequence[InventoryEntry]],
    managed: Mapping[str, set[tuple[str, str]]] | None = None,
    needs: Mapping[str, str] | None = None,
    *,
    force: bool = False,
) -> dict[str, list[str]]:
    """The names of what blocks each component; those of ``needs`` stay as their values do."""
    blocked_by_name = blocked_removals(
        managed or {"operator": {THING}},
        living,
        removed,
        lambda name, staying: (needs or {}).get(name) in staying,
        force=force,
    )
    return {name: [ref_of(obj).name for obj in one.living] for name, one in blocked_by_name.items()}


def test_a_resource_that_is_not_removed_blocks_and_a_removed_one_does_not() -> None:
    theirs, ours = resource("theirs"), resource("ours")
    removed = {"operator": [entry_of(ours)]}
    assert blocked({THING: [theirs, ours]}, removed) == {"operator": ["theirs"]}
    assert blocked({THING: [ours]}, removed) == {}
    assert blocked({THING: []}, removed) == {}


def test_a_recreated_resource_or_one_with_a_keep_policy_blocks() -> None:
    ours = entry_of(resource("a"))
    remade = resource("a", uid="another")
    assert blocked({THING: [remade]}, {"operator": [ours]}) == {"operator": ["a"]}
    keeps = resource("a", annotations={"helm.sh/resource-policy": "keep"})
    assert blocked({THING: [keeps]}, {"operator": [ours]}) == {"operator": ["a"]}
    assert blocked({THING: [keeps]}, {"operator": [ours]}, force=True) == {}


def test_a_resource_of_another_component_blocks_only_if_that_component_stays() -> None:
    ours = resource("ours")
    removed = {"apps": [entry_of(ours)], "operator": []}
    managed = {"operator": {THING}, "apps": {WIDGET}}
    assert blocked({THING: [ours], WIDGET: []}, removed, managed) == {}
    theirs = resource("theirs", "Widget")
    assert blocked({THING: [ours], WIDGET: [theirs]}, removed, managed) == {
        "apps": ["theirs"],
        "operator": ["ours"],
    }


def test_a_component_that_stays_for_others_takes_nothing_along() -> None:
    ours, theirs = resource("ours"), resource("theirs", "Widget")
    removed = {"apps": [], "base": [entry_of(ours)], "operator": []}
    managed = {"apps": {WIDGET}, "operator": {THING}}
    living: LivingResources = {THING: [ours], WIDGET: [theirs]}
    assert set(blocked(living, removed, managed)) == {"apps"}
    assert set(blocked(living, removed, managed, {"base": "apps"})) == {"apps", "operator"}


def test_dependents_that_the_garbage_collector_deletes_block_nothing() -> None:
    ours = resource("ours")
    child, grandchild = resource("child", **owned_by("ours")), resource("grandchild", **owned_by("child"))
    shared = resource("shared", **owned_by("ours", "somebody"))
    living: LivingResources = {THING: [grandchild, shared, child, ours]}
    assert blocked(living, {"operator": [entry_of(ours)]}) == {"operator": ["shared"]}
    # A resource of a kind that nobody manages is an owner, too; a workload goes too late.
    other = entry_of(resource("other", "Other", uid="ours"))
    assert blocked({THING: [child]}, {"operator": [other]}) == {}
    workload = {**resource("web", uid="ours"), "apiVersion": "apps/v1", "kind": "Deployment"}
    assert blocked({THING: [child]}, {"operator": [entry_of(workload)]}) == {"operator": ["child"]}


def test_an_owner_that_stays_retains_its_dependents() -> None:
    keeps = resource("ours", annotations={"helm.sh/resource-policy": "keep"})
    child = resource("child", **owned_by("ours"))
    assert refs_that_go({THING: [keeps, child]}, [entry_of(resource("ours"))]) == set()


def test_a_kind_that_cannot_be_listed_blocks_its_operator() -> None:
    error = ApiError("list Thing", status=500)
    result = blocked_removals(
        {"operator": {THING}, "other": {WIDGET}},
        {THING: error, WIDGET: []},
        {"operator": [], "other": []},
        lambda _name, _staying: False,
    )
    assert result == {"operator": BlockedRemoval(errors=(error,))}
