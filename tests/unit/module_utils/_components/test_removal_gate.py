# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When an operator may be removed, and which resources are deleted before it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.removal_gate import (
    PlannedRemovals,
    RemovalGate,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.managed_kinds import (
    ManagedKinds,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import crd, custom, deployment

GUARD = "example.com/guard"


def placed(obj: Object, **meta: Any) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default", **meta}}


def thing(name: str, **meta: Any) -> Object:
    return placed(custom("Thing", name), **meta)


def manager(*kinds: str) -> list[Object]:
    """The objects of an operator that brings the definitions of its resources."""
    return [*map(crd, kinds), placed(deployment("op"))]


def gate_of(
    cluster: MemoryCluster, removed: Mapping[str, Sequence[Object]], *, force: bool = False
) -> RemovalGate:
    """The gate for the removal of some components as a whole, all of whose objects exist."""
    entries = {name: [entry_of(cluster.apply(obj)) for obj in objects] for name, objects in removed.items()}
    inventories = {name: Inventory(name, entries=tuple(known)) for name, known in entries.items()}
    return RemovalGate(cluster, PlannedRemovals(entries, list(entries), inventories, force=force))


def fail_list(cluster: MemoryCluster, kind: str) -> None:
    error = ApiError(f"list {kind}", status=500, api_message="no")
    cluster.fail_when(lambda one: (one.verb, one.ref.kind) == ("list", kind), error)


def names(objects: Sequence[Object]) -> list[str]:
    return [ref_of(obj).name for obj in objects]


def test_an_operator_stays_if_its_resources_can_no_longer_be_read() -> None:
    cluster = MemoryCluster()
    gate = gate_of(cluster, {"operator": [*manager("Thing"), thing("ours")]})
    gate.look()
    assert gate.refusal("operator") == ""
    fail_list(cluster, "Thing")
    reason = "its operator stays, because it is unknown whether its resources exist: list Thing: no"
    assert gate.wait_until_gone("operator", inf, lambda: False) == reason


def test_an_operator_waits_for_what_the_garbage_collector_has_yet_to_delete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def collect(_seconds: float) -> None:
        cluster.delete("example.com/v1", "Thing", "child", "default")

    cluster = MemoryCluster()
    gate = gate_of(cluster, {"operator": [*manager("Thing"), thing("ours")]})
    gate.look()
    reference = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "ours", "uid": "its-own-uid"}
    cluster.delete("example.com/v1", "Thing", "ours", "default")
    cluster.seed(thing("child", ownerReferences=[reference]))
    monkeypatch.setattr(time, "sleep", collect)
    assert gate.wait_until_gone("operator", inf, lambda: False) == ""


def test_by_force_an_operator_waits_only_for_what_is_being_deleted() -> None:
    cluster = MemoryCluster()
    gate = gate_of(cluster, {"operator": [*manager("Thing"), thing("ours", finalizers=[GUARD])]}, force=True)
    gate.look()
    cluster.delete("example.com/v1", "Thing", "ours", "default")
    cluster.create(thing("late"))
    reason = gate.wait_until_gone("operator", 0.0, lambda: False)
    assert reason.startswith("its operator stays, because its resources exist: 1 Thing.example.com\n")
    assert "Thing default/ours" in reason
    cluster.patch("example.com/v1", "Thing", "ours", "default", {"metadata": {"finalizers": None}})
    assert gate.wait_until_gone("operator", 0.0, lambda: False) == ""


@pytest.mark.parametrize("is_readable", [False, True])
def test_by_force_no_resource_of_a_refused_component_is_deleted(is_readable: bool) -> None:
    cluster = MemoryCluster()
    gate = gate_of(cluster, {"operator": manager("Thing", "Widget")}, force=True)
    cluster.with_field_manager("somebody").create(thing("theirs"))
    if not is_readable:
        fail_list(cluster, "Widget")
    gate.look()
    assert bool(gate.refusal("operator")) != is_readable
    assert names(gate.foreign_resources()) == (["theirs"] if is_readable else [])


@pytest.mark.parametrize("is_readable", [False, True])
def test_a_refused_component_gives_up_no_resource_before_its_turn(is_readable: bool) -> None:
    cluster = MemoryCluster()
    parts = {"operator": manager("Thing"), "apps": [*manager("Widget"), thing("ours")]}
    gate = gate_of(cluster, parts, force=True)
    if not is_readable:
        fail_list(cluster, "Widget")
    gate.look()
    entries = gate.resources_of_later("operator", ["apps"])
    assert [entry.ref.name for entry in entries] == (["ours"] if is_readable else [])


def test_creations_are_denied_before_the_resources_are_read() -> None:
    def deny(managed: Mapping[str, ManagedKinds]) -> None:
        denied.append({name: dict(kinds) for name, kinds in managed.items()})
        # Another client creates one before the denial is in force.
        cluster.with_field_manager("somebody").create(thing("late"))

    denied: list[Mapping[str, ManagedKinds]] = []
    cluster = MemoryCluster(crd("Widget"))
    entries = [entry_of(cluster.apply(obj)) for obj in manager("Thing")]
    associated = {"operator": [("example.com", "Widget"), ("", "Secret")]}
    gate = RemovalGate(
        cluster, PlannedRemovals({"operator": entries}, ["operator"], {}, associated=associated)
    )
    gate.look(deny)
    kinds = {("example.com", "Thing"): "things", ("example.com", "Widget"): "widgets"}
    assert denied == [{"operator": kinds}]
    assert names(gate.resources("operator")) == ["late"]
    assert "Thing default/late" in gate.refusal("operator")


@pytest.mark.parametrize("kind", ["Thing", "CustomResourceDefinition"])
def test_the_gate_knows_why_resources_are_unknown(kind: str) -> None:
    cluster = MemoryCluster()
    gate = gate_of(cluster, {"operator": [*manager("Thing", "Widget"), thing("ours")]})
    fail_list(cluster, kind)
    denied: list[object] = []
    gate.look(denied.append)
    assert list(map(str, gate.errors("operator"))) == [f"list {kind}: no"]
    assert gate.resources("operator") == []
    # Nothing is denied for kinds that are unknown.
    assert bool(denied) == (kind == "Thing")
