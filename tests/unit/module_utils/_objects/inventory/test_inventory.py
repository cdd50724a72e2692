# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an inventory knows, and how it is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Object,
    Ref,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_inventory import (
    DeployedAs,
    completed_inventory,
    deployed_as,
    intended_inventory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import (
    Inventory,
    refreshed_inventory,
    refs_to_check,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entries_without,
    entry_of,
    is_as_recorded,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import Policy
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    ENTRIES_PER_OBJECT,
    inventories_from,
    inventory_objects,
)


def config_map(name: str = "a", **metadata: object) -> Object:
    ours = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {"f:data": {}}, "time": "t1"}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": "u",
            "resourceVersion": "1",
            "managedFields": [ours],
            **metadata,
        },
    }


def managers(**changed: object) -> list[dict]:
    return [
        {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {"f:data": {}}, "time": "t1", **changed}
    ]


def test_an_object_that_was_scaled_by_hand_is_not_checked_in_every_run() -> None:
    ceded = ("spec.replicas (kubectl (scale))", "spec.replicas (kube-controller-manager (scale))")
    recorded = Inventory("a", entries=(entry_of(config_map())._replace(ceded=ceded),))
    live = {recorded.entries[0].ref: config_map()}
    assert not refs_to_check(recorded, live, Policy())
    assert refs_to_check(recorded, live, Policy(force_conflicts=True)) == set(live)


def test_the_same_version_is_unchanged() -> None:
    assert is_as_recorded(entry_of(config_map()), config_map())


def test_a_status_write_is_no_change() -> None:
    status = {"manager": "controller", "subresource": "status", "fieldsV1": {"f:status": {}}}
    live = config_map(resourceVersion="2", managedFields=[*managers(), status])
    assert is_as_recorded(entry_of(config_map()), live)


def test_a_recorded_autoscaler_is_no_change_and_a_second_edit_is_one() -> None:
    edit = {"manager": "kubectl", "fieldsV1": {"f:spec": {}}, "time": "t2"}
    scale = {"manager": "hpa", "subresource": "scale", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
    before = entry_of(config_map(generation=1, managedFields=[*managers(), edit]))
    scaled = config_map(resourceVersion="2", generation=2, managedFields=[*managers(), edit, scale])
    assert not is_as_recorded(before, scaled)
    known = entry_of(scaled)
    scale = {**scale, "time": "t4"}
    scaled = config_map(resourceVersion="3", generation=3, managedFields=[*managers(), edit, scale])
    assert is_as_recorded(known, scaled)
    again = [*managers(), {**edit, "time": "t3"}, scale]
    assert not is_as_recorded(known, config_map(resourceVersion="4", generation=4, managedFields=again))


@pytest.mark.parametrize(
    "metadata",
    [
        {"uid": "other"},
        {"generation": 2, "managedFields": [*managers(), {"manager": "x", "time": "t2"}]},
        {"managedFields": managers(fieldsV1={})},
        {"managedFields": [*managers(), {"manager": "kubectl", "fieldsV1": {"f:metadata": {}}}]},
        {"managedFields": []},
    ],
)
def test_an_object_with_a_relevant_change_is_not_as_recorded(metadata: dict) -> None:
    assert not is_as_recorded(entry_of(config_map()), config_map(resourceVersion="2", **metadata))


def test_a_second_edit_of_the_same_field_is_looked_at_closely_also_where_nothing_counts_generations() -> None:
    edit = {"manager": "kubectl-edit", "fieldsV1": {"f:data": {}}, "time": "t2"}
    set_back = entry_of(config_map(managedFields=[*managers(), edit]))
    again = [*managers(), {**edit, "time": "t3"}]
    assert not is_as_recorded(set_back, config_map(resourceVersion="2", managedFields=again))


def test_an_object_that_is_gone_or_incomplete_is_not_as_recorded() -> None:
    assert not is_as_recorded(entry_of(config_map()), None)
    assert not is_as_recorded(entry_of(config_map())._replace(uid=""), config_map())


def test_a_controller_that_annotates_what_counts_annotations_is_no_change() -> None:
    def annotated(version: int) -> Object:
        fields = {"f:metadata": {"f:annotations": {"f:example.com/heartbeat": {}}}}
        busy = {"manager": "busy", "operation": "Update", "fieldsV1": fields, "time": f"t{version}"}
        return config_map(resourceVersion=str(version), generation=version, managedFields=[*managers(), busy])

    assert is_as_recorded(entry_of(annotated(2)), annotated(3))


def test_the_order_in_which_others_wrote_is_no_change() -> None:
    one, other = {"manager": "one", "fieldsV1": {}}, {"manager": "other", "fieldsV1": {}}
    known = entry_of(config_map(managedFields=[*managers(), one, other]))
    assert is_as_recorded(known, config_map(resourceVersion="2", managedFields=[*managers(), other, one]))


def test_entries_of_objects_of_others_are_left_out() -> None:
    ingress = Ref("networking.k8s.io", "Ingress", "shop", "web")
    entries = [
        InventoryEntry("v1", Ref("", "ConfigMap", "shop", "ours"), "1"),
        InventoryEntry("v1", Ref("", "ConfigMap", "shop", "shared"), "2"),
        InventoryEntry("networking.k8s.io/v1", ingress, "3"),
        InventoryEntry("v1", Ref("", "ConfigMap", "shop", "intended")),
        InventoryEntry("v1", Ref("", "ConfigMap", "shop", "recreated"), "4"),
    ]
    others = (
        InventoryEntry("v1", Ref("", "ConfigMap", "shop", "shared")),
        InventoryEntry("v1", Ref("", "ConfigMap", "shop", "recreated"), "5"),
        # Another group serves the same object.
        InventoryEntry("extensions/v1beta1", ingress._replace(group="extensions"), "3"),
    )
    left = entries_without(entries, iter(others))
    assert [entry.ref.name for entry in left] == ["ours", "intended", "recreated"]


def test_the_intent_keeps_what_the_release_drops() -> None:
    before = Inventory("c", "ns", "d", (entry_of(config_map("old")), entry_of(config_map("kept"))))
    intent = intended_inventory(before, "ns", DeployedAs(), [config_map("kept"), config_map("new")])
    assert intent.digest == ""
    assert {entry.ref.name: (bool(entry.uid), entry.dropped) for entry in intent.entries} == {
        "kept": (True, False),
        "new": (False, False),
        "old": (True, True),
    }


def test_the_intent_to_apply_a_part_drops_nothing() -> None:
    dropped = entry_of(config_map("dropped"))._replace(dropped=True)
    entries = (entry_of(config_map("old")), entry_of(config_map("kept")), dropped)
    before = Inventory("c", "ns", "d", entries)
    intent = intended_inventory(before, "ns", DeployedAs(), [config_map("kept")], whole=False)
    assert intent.digest == ""
    assert [(one.ref.name, one.dropped) for one in intent.entries] == [
        ("old", False),
        ("kept", False),
        ("dropped", True),
    ]
    assert intent.entries[0] == entries[0]


def test_a_dropped_entry_is_unchanged_until_its_object_is_pruned() -> None:
    before = Inventory("c", "ns", "d", (entry_of(config_map("old")),))
    intent = intended_inventory(before, "ns", DeployedAs(), [config_map("new")])
    others = config_map("old", uid="somebody-elses")
    live = {entry_of(obj).ref: obj for obj in (config_map("new"), others)}
    deployed = DeployedAs("1.1", component_version="3", release="f")
    done = completed_inventory(intent, live, digest="e", deployed=deployed)
    assert [(entry.ref.name, entry.uid, entry.dropped) for entry in done.entries] == [
        ("old", "u", True),
        ("new", "u", False),
    ]
    assert (deployed_as(done), done.digest) == (deployed, "e")


def test_a_large_inventory_is_split_and_comes_back_whole() -> None:
    entries = tuple(entry_of(config_map(f"c{n}")) for n in range(ENTRIES_PER_OBJECT + 1))
    inventory = Inventory("c", "ns", "d", entries)
    objects = inventory_objects(inventory)
    assert [obj["metadata"]["name"] for obj in objects] == ["c", "c.1"]
    assert inventories_from(reversed(objects)) == [inventory]


def test_fields_of_others_fit_into_an_inventory() -> None:
    added = tuple(f"metadata.annotations.example.com/{n} (somebody)" for n in range(40))
    entries = tuple(entry_of(config_map(f"c{n}"))._replace(added=added) for n in range(ENTRIES_PER_OBJECT))
    objects = inventory_objects(Inventory("c", "ns", "d", entries))
    assert max(len(json.dumps(obj)) for obj in objects) < 2**20
    [inventory] = inventories_from(objects)
    assert inventory.entries == entries


def test_the_longest_names_take_room_too() -> None:
    name, hashed, uid = "n" * 248, "0123456789abcdef", "01234567-89ab-cdef-0123-456789abcdef"
    entries = tuple(
        InventoryEntry(
            api_version="monitoring.example.com/v1",
            ref=Ref("monitoring.example.com", "ServiceMonitor", "kyma-system", f"{name}{n:05}"),
            uid=uid,
            resource_version="1234567890",
            own=hashed,
            others_hash=hashed,
            manual_write_time="2026-11-21T12:00:00Z",
            intent=hashed,
        )
        for n in range(ENTRIES_PER_OBJECT)
    )
    objects = inventory_objects(Inventory("c", "ns", "d", entries))
    assert max(len(json.dumps(obj)) for obj in objects) < 2**19 + 2**15
    [inventory] = inventories_from(objects)
    assert inventory.entries == entries


def test_parts_of_two_deployments_are_no_complete_one() -> None:
    entries = tuple(entry_of(config_map(f"c{n}")) for n in range(ENTRIES_PER_OBJECT + 1))
    first = inventory_objects(Inventory("c", "ns", "d", entries))
    second = inventory_objects(Inventory("c", "ns", "e", entries))
    for parts in ([first[0], second[1]], [first[0]]):
        [inventory] = inventories_from(parts)
        assert inventory.digest == ""


def test_a_refreshed_inventory_follows_controllers_and_not_people() -> None:
    ours = {"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": {"f:a": {}, "f:x": {}}}
    without = {**ours, "fieldsV1": {"f:a": {}}}
    recorded = entry_of(config_map(managedFields=[ours]))
    inventory = Inventory("c", entries=(recorded,))

    def after(manager: str, own: Mapping[str, object], **changed: object) -> InventoryEntry:
        other = {"manager": manager, "operation": "Update", "fieldsV1": {"f:x": {}}, "time": "t2"}
        live = config_map(resourceVersion="2", managedFields=[own, other], **changed)
        return refreshed_inventory(inventory, {recorded.ref: live}).entries[0]

    assert after("some-controller", ours).resource_version == "2"
    assert after("kubectl-edit", ours) == recorded
    assert after("some-controller", ours, uid="another") == recorded
    assert after("some-controller", without) == recorded
    assert after(f"{FIELD_MANAGER}/a/migration", without).resource_version == "2"
    assert refreshed_inventory(inventory, {}) == inventory
