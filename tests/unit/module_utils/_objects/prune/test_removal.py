# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting what inventories name, while others are at work."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    Object,
    Ref,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError, ApiUnavailable
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.removal import (
    Removal,
    Terms,
    remove_objects,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import config_map, crd, custom, deployment, job
from tests.support.served_kinds import silent_api, with_versions


def placed(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default"}}


def remove_while(cluster: MemoryCluster, entry: InventoryEntry, meddle: Callable[[], object]) -> Removal:
    """Remove an object, and let somebody meddle between the look at it and its deletion."""

    def spare(_entry: InventoryEntry, _live: Object) -> None:
        meddle()

    return remove_objects(Terms(cluster, retain=spare), [entry])


def deletions(cluster: MemoryCluster) -> int:
    return len([one for one in cluster.requests if one.verb == "delete"])


def test_an_object_recreated_between_check_and_deletion_lives() -> None:
    cluster = MemoryCluster()
    entry = entry_of(cluster.apply(placed(config_map("a"))))

    def recreate() -> None:
        cluster.delete("v1", "ConfigMap", "a", "default")
        cluster.with_field_manager("somebody").create(placed(config_map("a", theirs="1")))

    removal = remove_while(cluster, entry, recreate)
    assert [one.ref.name for one in removal.not_owned] == ["a"]
    assert cluster.get("v1", "ConfigMap", "a", "default")


def test_an_object_that_others_recreate_after_its_deletion_counts_as_deleted() -> None:
    def recreate(recreating: Cluster, event: Event) -> None:
        if event.type == "DELETED":
            recreating.with_field_manager("somebody").create(placed(config_map("a")))

    cluster = MemoryCluster()
    entry = entry_of(cluster.apply(placed(config_map("a"))))
    cluster.on_write(recreate)
    removal = remove_objects(Terms(cluster, deadline=0.0), [entry])
    assert (names(removal.deleted), removal.errors) == (["a"], [])
    assert cluster.get("v1", "ConfigMap", "a", "default")


def test_an_object_changed_between_check_and_deletion_is_checked_again() -> None:
    cluster = MemoryCluster()
    entry = entry_of(cluster.apply(placed(config_map("a", ours="1"))))

    def take_over() -> None:
        theirs = placed(config_map("a", theirs="1"))
        cluster.apply(placed({**config_map("a"), "data": {}}))
        managers = [
            {"manager": "somebody", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {}}}
        ]
        theirs["metadata"]["managedFields"] = managers
        cluster.with_field_manager("somebody").patch("v1", "ConfigMap", "a", "default", theirs)

    removal = remove_while(cluster, entry, take_over)
    assert deletions(cluster) == 1
    assert [one.ref.name for one in removal.not_owned] == ["a"]
    assert "somebody" in removal.notes[0]


def test_an_object_served_in_another_version_than_it_was_applied_in_is_deleted() -> None:
    cluster = MemoryCluster()
    definition = crd("Gateway")
    cluster.apply(definition)
    entry = entry_of(cluster.apply(placed(custom("Gateway", "a"))))
    cluster.apply(with_versions(definition, v1=False, v2=True))
    removal = remove_objects(Terms(cluster), [entry])
    assert [one.ref.name for one in removal.deleted] == ["a"]
    assert cluster.list("example.com/v2", "Gateway").items == []


@pytest.mark.parametrize("kind", ["Deployment", "Job"])
def test_a_workload_is_gone_only_when_its_pods_are(kind: str) -> None:
    cluster = MemoryCluster()
    workload = cluster.apply(placed({"Deployment": deployment, "Job": job}[kind]("web")))
    owner = {"apiVersion": workload["apiVersion"], "kind": kind, "name": "web"}
    owner |= {"uid": workload["metadata"]["uid"], "blockOwnerDeletion": True}
    meta = {"name": "web-1", "namespace": "default", "ownerReferences": [owner]}
    meta["finalizers"] = ["example.com/guard"]
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": []}})
    removal = remove_objects(Terms(cluster, deadline=0.0), [entry_of(workload)])
    assert (removal.deleted, names(removal.failed)) == ([], ["web"])
    assert "has to wait for" in removal.errors[0]


def test_an_object_that_others_delete_before_us_counts_as_gone() -> None:
    cluster = MemoryCluster()
    entry = entry_of(cluster.apply(placed(config_map("a"))))
    removal = remove_while(cluster, entry, lambda: cluster.delete("v1", "ConfigMap", "a", "default"))
    assert (removal.deleted, names(removal.gone)) == ([], ["a"])


def test_an_object_that_others_create_after_its_deletion_is_not_waited_for() -> None:
    cluster = MemoryCluster()
    entry = entry_of(cluster.apply(placed(config_map("a"))))

    def create_again(others: Cluster, event: Event) -> None:
        if event.type == "DELETED":
            others.create(placed(config_map("a", theirs="1")))

    cluster.on_write(create_again)
    removal = remove_objects(Terms(cluster, deadline=0.0), [entry])
    assert (names(removal.deleted), removal.failed) == (["a"], [])
    assert cluster.get("v1", "ConfigMap", "a", "default")


def test_an_object_of_others_is_deleted_only_if_it_is_approved() -> None:
    cluster = MemoryCluster()
    entry = entry_of(cluster.with_field_manager("somebody").apply(placed(config_map("a"))))
    assert names(remove_objects(Terms(cluster), [entry]).not_owned) == ["a"]
    removal = remove_objects(Terms(cluster, approved=frozenset({entry.uid})), [entry])
    assert names(removal.deleted) == ["a"]


def test_a_cancellation_ends_the_wait_for_the_last_rank() -> None:
    cluster = MemoryCluster()
    held = placed(config_map("a"))
    held["metadata"]["finalizers"] = ["example.com/guard"]
    entry = entry_of(cluster.apply(held))
    removal = remove_objects(Terms(cluster, cancelled=lambda: deletions(cluster) > 0), [entry])
    assert (removal.cancelled, names(removal.failed)) == (True, ["a"])


def test_an_inventory_drops_what_is_deleted_gone_or_not_ours() -> None:
    a, b, c, *others = (InventoryEntry("v1", Ref("", "ConfigMap", "default", name)) for name in "abcdef")
    retained, failed, untried = ([one] for one in others)
    removal = Removal([a], [b], [c], retained, failed, untried)
    assert {ref.name for ref in removal.refs_to_drop} == {"a", "b", "c"}


def test_of_an_aggregated_api_that_is_down_nothing_counts_as_gone() -> None:
    cluster = MemoryCluster(silent_api("example.com"))
    entry = InventoryEntry("example.com/v1", Ref("example.com", "Gateway", "default", "edge"))
    with pytest.raises(ApiUnavailable):
        remove_objects(Terms(cluster), [entry])


@pytest.fixture
def three_ranks() -> tuple[MemoryCluster, list[InventoryEntry]]:
    """Objects of three ranks: a custom resource goes first, then a Deployment, then ConfigMaps."""
    cluster = MemoryCluster()
    cluster.apply(crd("Gateway"))
    objects = [config_map("first"), config_map("second"), deployment("web"), custom("Gateway", "edge")]
    return cluster, [entry_of(cluster.apply(placed(obj))) for obj in objects]


def names(entries: list[InventoryEntry]) -> list[str]:
    return [entry.ref.name for entry in entries]


def test_ranks_go_one_after_the_other(three_ranks: tuple[MemoryCluster, list[InventoryEntry]]) -> None:
    cluster, entries = three_ranks
    removal = remove_objects(Terms(cluster), entries)
    assert names(removal.deleted) == ["edge", "web", "first", "second"]
    assert (removal.untried, removal.errors) == ([], [])


def test_after_a_refused_deletion_no_later_rank_is_tried(
    three_ranks: tuple[MemoryCluster, list[InventoryEntry]],
) -> None:
    cluster, entries = three_ranks
    refused = ApiError("delete", status=500, api_message="the disk is full")
    cluster.fail_when(lambda one: (one.verb, one.ref.kind) == ("delete", "Deployment"), refused)
    removal = remove_objects(Terms(cluster), entries)
    assert names(removal.deleted) == ["edge"]
    assert names(removal.failed) == ["web"]
    assert names(removal.untried) == ["first", "second"]
    assert not removal.cancelled
    assert {one["metadata"]["name"] for one in cluster.list("v1", "ConfigMap").items} == {"first", "second"}


def test_after_an_object_that_does_not_go_no_later_rank_is_tried(
    three_ranks: tuple[MemoryCluster, list[InventoryEntry]],
) -> None:
    cluster, entries = three_ranks
    held = {"metadata": {"finalizers": ["example.com/guard"]}}
    cluster.patch("example.com/v1", "Gateway", "edge", "default", held)
    removal = remove_objects(Terms(cluster, deadline=0.0), entries)
    assert (removal.deleted, names(removal.failed)) == ([], ["edge"])
    assert names(removal.untried) == ["web", "first", "second"]
    assert deletions(cluster) == 1


def test_a_cancelled_wait_for_an_object_is_a_cancelled_removal(
    three_ranks: tuple[MemoryCluster, list[InventoryEntry]],
) -> None:
    cluster, entries = three_ranks
    held = {"metadata": {"finalizers": ["example.com/guard"]}}
    cluster.patch("example.com/v1", "Gateway", "edge", "default", held)
    removal = remove_objects(Terms(cluster, cancelled=lambda: deletions(cluster) > 0), entries)
    assert (names(removal.failed), removal.cancelled) == (["edge"], True)
    assert names(removal.untried) == ["web", "first", "second"]
