# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of inventories: their parts, as they grow and shrink, and whoever else writes them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Conflict, Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_inventory import (
    DeployedAs,
    intended_inventory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.observations import (
    record_observations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import to_record
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    ENTRIES_PER_OBJECT,
    INVENTORY,
    delete_inventory,
    inventory_objects,
    read_inventories,
    rewrite_inventory,
    write_inventory,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

KIND = "KymaInventory"


def entries(count: int) -> tuple[InventoryEntry, ...]:
    return tuple(InventoryEntry("v1", Ref("", "ConfigMap", "ns", f"c{n}"), uid=f"u{n}") for n in range(count))


def inventory(component: str = "big", parts: int = 2, digest: str = "d") -> Inventory:
    return Inventory(component, "ns", digest, entries((parts - 1) * ENTRIES_PER_OBJECT + 1))


@pytest.fixture(name="cluster")
def _cluster() -> MemoryCluster:
    return MemoryCluster(INVENTORY.definition)


def names(cluster: MemoryCluster) -> list[str]:
    return sorted(obj["metadata"]["name"] for obj in cluster.list(API_VERSION, KIND).items)


def write_as_before(cluster: MemoryCluster, recorded: Inventory) -> None:
    """As versions before this one named the parts."""
    for obj in inventory_objects(recorded):
        name = obj["metadata"]["name"].replace(".", "-")
        cluster.apply({**obj, "metadata": {"name": name}}, force=True)


def test_an_inventory_that_shrinks_to_fewer_parts_is_complete(cluster: MemoryCluster) -> None:
    write_inventory(cluster, inventory(parts=3))
    before = read_inventories(cluster)["big"]
    smaller = replace(before, digest="e", entries=before.entries[:ENTRIES_PER_OBJECT])
    write_inventory(cluster, smaller)
    assert names(cluster) == ["big"]
    assert read_inventories(cluster)["big"] == smaller


def test_a_deletion_that_was_lost_does_no_harm_and_is_made_up_for(cluster: MemoryCluster) -> None:
    write_inventory(cluster, inventory(parts=2))
    smaller = inventory(parts=1, digest="e")
    # What was not read before knows of no surplus.
    write_inventory(cluster, smaller)
    assert names(cluster) == ["big", "big.1"]
    recorded = read_inventories(cluster)["big"]
    assert recorded == smaller
    write_inventory(cluster, recorded)
    assert names(cluster) == ["big"]


def test_a_surplus_part_that_others_have_changed_meanwhile_stays_until_the_next_write(
    cluster: MemoryCluster,
) -> None:
    write_inventory(cluster, inventory(parts=2))
    recorded = read_inventories(cluster)["big"]
    touched = {"metadata": {"labels": {"a": "b"}}}
    cluster.patch(API_VERSION, KIND, "big.1", None, touched)
    smaller = replace(recorded, entries=recorded.entries[:1])
    write_inventory(cluster, smaller)
    assert names(cluster) == ["big", "big.1"]
    assert read_inventories(cluster)["big"] == smaller


def test_no_further_request_where_nothing_shrinks(cluster: MemoryCluster) -> None:
    write_inventory(cluster, inventory(parts=2))
    recorded = read_inventories(cluster)["big"]
    start = len(cluster.requests)
    write_inventory(cluster, recorded)
    assert [request.verb for request in cluster.requests[start:]] == ["apply", "apply"]


def test_no_component_is_called_as_a_part_of_another(cluster: MemoryCluster) -> None:
    expected = {one.owner: one for one in (inventory(), inventory("big-1", parts=1))}
    for one in expected.values():
        write_inventory(cluster, one)
    assert read_inventories(cluster) == expected


def test_parts_of_an_older_version_are_read_and_go_with_the_next_write(cluster: MemoryCluster) -> None:
    write_as_before(cluster, inventory(parts=3))
    recorded = read_inventories(cluster)["big"]
    assert recorded == inventory(parts=3)
    write_inventory(cluster, recorded)
    assert names(cluster) == ["big", "big.1", "big.2"]


def test_a_component_that_has_taken_the_name_of_an_old_part_keeps_it(cluster: MemoryCluster) -> None:
    write_as_before(cluster, inventory())
    recorded = read_inventories(cluster)["big"]
    other = inventory("big-1", parts=1)
    write_inventory(cluster, other)
    write_inventory(cluster, recorded)
    assert read_inventories(cluster) == {"big": recorded, "big-1": other}


def test_parts_that_an_older_version_left_do_no_harm(cluster: MemoryCluster) -> None:
    write_as_before(cluster, inventory())
    newer = inventory(digest="e")
    for obj in inventory_objects(newer):
        cluster.apply(obj, force=True)
    assert read_inventories(cluster)["big"] == newer


def test_until_a_deployment_is_complete_nothing_is_lost_or_double(cluster: MemoryCluster) -> None:
    write_inventory(cluster, inventory(parts=3))
    recorded = read_inventories(cluster)["big"]

    smaller = replace(recorded, digest="", entries=recorded.entries[10 : ENTRIES_PER_OBJECT + 20])
    cluster.fail_at(2, Unreachable("killed"), writes_only=True)
    with pytest.raises(Unreachable):
        rewrite_inventory(cluster, smaller)
    left = read_inventories(cluster)["big"]
    assert left.digest == ""
    assert set(left.entries) >= set(smaller.entries)
    assert len({entry.ref for entry in left.entries}) == len(left.entries)


def test_an_inventory_that_a_run_has_written_since_is_neither_overwritten_nor_deleted(
    cluster: MemoryCluster,
) -> None:
    write_inventory(cluster, inventory(parts=1))
    seen = read_inventories(cluster)
    intent = inventory(parts=2, digest="")
    write_inventory(cluster, replace(intent, record_versions=seen["big"].record_versions))
    plan: Object = {
        "noted": {"big": {"objects": [{**to_record(entries(1)[0], is_compact=True), "added": ["x (y)"]}]}}
    }
    assert record_observations(cluster, plan, seen) == 0
    with pytest.raises(Conflict):
        delete_inventory(cluster, seen["big"])
    assert read_inventories(cluster)["big"] == intent
    assert record_observations(cluster, plan, read_inventories(cluster)) == 1
    assert read_inventories(cluster)["big"].entries[0].added == ("x (y)",)


def test_an_intent_that_was_written_in_part_has_all_that_was_there(cluster: MemoryCluster) -> None:
    write_inventory(cluster, inventory(parts=3))
    recorded = read_inventories(cluster)["big"]
    # The first ones are dropped, and as many are new.
    names_now = [entry.ref.name for entry in recorded.entries[10:]] + [f"new{n}" for n in range(10)]
    metadata = [{"name": name, "namespace": "ns"} for name in names_now]
    objects = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta} for meta in metadata]
    intent = intended_inventory(recorded, "ns", DeployedAs(), objects)
    cluster.fail_at(2, Unreachable("killed"), writes_only=True)
    with pytest.raises(Unreachable):
        write_inventory(cluster, intent)
    left = read_inventories(cluster)["big"]
    assert left.digest == ""
    assert {entry.ref for entry in left.entries} == {entry.ref for entry in recorded.entries}
    assert len([entry for entry in left.entries if entry.dropped]) == 10
