# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undoing by the journal: what a migration changed goes back, what others have changed since stays."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
    manager_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ApiError,
    ClusterError,
    Conflict,
    Invalid,
    NotFound,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fence import LeaseLost
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalEntry,
    JournalInMemory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journaling_cluster import (
    JournalingCluster,
    Writer,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo import undo_writes
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo_report import (
    UndoneObject,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.driver import crd, custom
from tests.support.hooked_cluster import Killed
from tests.support.loki import claim, stateful_set, storage_class
from tests.support.migrations import config_map
from tests.support.served_kinds import silent_api, with_versions

Write = Callable[[Cluster], object]
SECRET = "correct-horse-battery"


class Scene:
    """A cluster, and a journal through which a migration writes."""

    def __init__(self, *objects: Object, writer: Writer | None = None) -> None:
        self.live = MemoryCluster(*objects)
        self.journal = JournalInMemory()
        writer = writer or Writer("logging/it")
        manager = manager_of(writer.migration)
        self.migrating = JournalingCluster(self.live.with_field_manager(manager), self.journal, writer)
        self.by_hand = self.live.with_field_manager("somebody")

    def config_map(self, name: str = "a") -> Object | None:
        return self.live.get("v1", "ConfigMap", name, "default")

    def data(self, name: str = "a") -> Any:
        live = self.config_map(name)
        assert live
        return live.get("data")

    def undo(self, *, force: bool = False) -> list[UndoneObject]:
        return undo_writes(self.live, self.journal.entries, force=force, sleep=lambda _s: None)

    def undo_one(self, *, force: bool = False) -> UndoneObject:
        [one] = self.undo(force=force)
        return one


def patch_data(cluster: Cluster, name: str = "a", **data: Any) -> None:
    cluster.patch("v1", "ConfigMap", name, "default", {"data": data})


def bare(obj: Object | None) -> Object | None:
    """An object without what the server counts and keeps."""
    if obj is None:
        return None
    server_fields = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
    return {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k not in server_fields}}


WRITES: dict[str, Write] = {
    "patch": lambda c: patch_data(c, x="2", y=None),
    "twice": lambda c: (patch_data(c, x="2"), patch_data(c, x="3", z="4")),
    "json patch": lambda c: c.patch(
        "v1", "ConfigMap", "a", "default", [{"op": "replace", "path": "/data/x", "value": "9"}]
    ),
    "apply": lambda c: c.apply(config_map("a", x="2", new="3"), force=True),
    "delete": lambda c: c.delete("v1", "ConfigMap", "a", "default"),
    "delete and create": lambda c: (
        c.delete("v1", "ConfigMap", "a", "default"),
        c.create(config_map("a", x="other")),
    ),
    "create and delete": lambda c: (
        c.create(config_map("b", x="1")),
        c.delete("v1", "ConfigMap", "b", "default"),
    ),
    "create": lambda c: c.create(config_map("b", x="1")),
    "create by apply, and change": lambda c: (
        c.apply(config_map("b", x="1")),
        patch_data(c, "b", x="2"),
    ),
}


@pytest.mark.parametrize("write", WRITES)
def test_each_kind_of_write_is_undone_and_a_second_undo_changes_nothing(write: str) -> None:
    scene = Scene(config_map("a", x="1", y="2"))
    before = [bare(scene.config_map(name)) for name in ("a", "b")]
    WRITES[write](scene.migrating)
    report = undo_writes(scene.live, scene.journal.entries)
    assert all(one.is_complete for one in report)
    assert [bare(scene.config_map(name)) for name in ("a", "b")] == before
    again = undo_writes(scene.live, scene.journal.entries)
    assert all(one.is_complete and not one.is_changed for one in again)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_killed_at_each_call_before_or_after_its_effect_it_can_still_be_undone(
    write: str, before: bool
) -> None:
    n, dies = 0, True
    while dies:
        n += 1
        scene = Scene(config_map("a", x="1", y="2"))
        was = [bare(scene.config_map(name)) for name in ("a", "b")]
        scene.live.fail_at(n, Killed(), before=before)
        try:
            WRITES[write](scene.migrating)
            dies = False
        except Killed:
            pass
        live = MemoryCluster()
        live.__dict__.update(scene.live.__dict__)
        scene.live._test.faults.clear()
        report = undo_writes(live, scene.journal.entries)
        assert all(one.is_complete for one in report)
        assert [bare(scene.config_map(name)) for name in ("a", "b")] == was
    assert n > 2


def test_fields_that_others_have_changed_stay_and_are_reported() -> None:
    scene = Scene(config_map("a", x="1", y="2", z="3"))
    patch_data(scene.migrating, x="10", y="20", new="30")
    patch_data(scene.by_hand, y="theirs", other="theirs")
    one = scene.undo_one()
    assert (one.state, one.fields, one.retained) == ("restored", ("data.x", "data.new"), ("data.y",))
    assert not one.is_complete
    assert one.entries == ()
    assert scene.data() == {"x": "1", "y": "theirs", "z": "3", "other": "theirs"}
    forced = scene.undo_one(force=True)
    assert (forced.fields, forced.is_complete) == (("data.y",), True)
    assert scene.data() == {"x": "1", "y": "2", "z": "3", "other": "theirs"}


def test_a_map_that_the_migration_made_stays_with_what_others_put_into_it() -> None:
    scene = Scene(config_map("a", x="1"))
    annotate = {"metadata": {"annotations": {"ours": "1"}}}
    scene.migrating.patch("v1", "ConfigMap", "a", "default", annotate)
    scene.by_hand.patch("v1", "ConfigMap", "a", "default", {"metadata": {"annotations": {"theirs": "1"}}})
    assert scene.undo_one().fields == ("metadata.annotations.ours",)
    live = scene.config_map()
    assert live
    assert live["metadata"]["annotations"] == {"theirs": "1"}


def deployment(**images: str) -> Object:
    containers = [{"name": name, "image": image} for name, image in images.items()]
    labels = {"app": "x"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "x", "namespace": "default"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}},
        },
    }


def test_items_of_keyed_lists_are_fields_of_their_own() -> None:
    scene = Scene(deployment(a="1", b="1"))
    scene.migrating.apply(deployment(a="2", c="1"), force=True)
    pod = {"spec": {"template": {"spec": {"containers": [{"name": "d", "image": "theirs"}]}}}}
    scene.by_hand.apply({**deployment(), **pod}, force=True)
    scene.by_hand.patch(
        "apps/v1",
        "Deployment",
        "x",
        "default",
        [{"op": "add", "path": "/spec/template/spec/containers/0/tty", "value": True}],
    )
    one = scene.undo_one()
    assert one.is_complete
    live = scene.live.get("apps/v1", "Deployment", "x", "default")
    assert live
    containers = live["spec"]["template"]["spec"]["containers"]
    assert {c["name"]: c["image"] for c in containers} == {"a": "1", "b": "1", "d": "theirs"}
    assert containers[0]["tty"]
    assert one.fields == (
        'spec.template.spec.containers[name="a"].image',
        'spec.template.spec.containers[name="c"]',
    )


def test_an_item_returns_to_its_place_in_the_list() -> None:
    scene = Scene(deployment(a="1", b="1", c="1"))
    scene.migrating.patch("apps/v1", "Deployment", "x", "default", deployment(a="1", c="1"))
    assert scene.undo_one().fields == ('spec.template.spec.containers[name="b"]',)
    live = scene.live.get("apps/v1", "Deployment", "x", "default")
    assert live
    assert [c["name"] for c in live["spec"]["template"]["spec"]["containers"]] == ["a", "b", "c"]


def test_a_field_of_an_item_that_others_have_removed_is_not_restored() -> None:
    scene = Scene(deployment(a="1", b="1"))
    scene.migrating.patch("apps/v1", "Deployment", "x", "default", deployment(a="1", b="2"))
    scene.by_hand.patch("apps/v1", "Deployment", "x", "default", deployment(a="1"))
    for force in (False, True):
        one = scene.undo_one(force=force)
        expected = ("changed_since", ('spec.template.spec.containers[name="b"].image',))
        assert (one.state, one.retained) == expected


def test_an_item_that_others_have_changed_stays_whole() -> None:
    scene = Scene(deployment(a="1"))
    scene.migrating.apply(deployment(a="1", c="1"), force=True)
    scene.by_hand.patch(
        "apps/v1",
        "Deployment",
        "x",
        "default",
        [{"op": "replace", "path": "/spec/template/spec/containers/1/image", "value": "theirs"}],
    )
    one = scene.undo_one()
    assert one.retained == ('spec.template.spec.containers[name="c"]',)
    assert one.state == "changed_since"


@pytest.mark.parametrize("force", [False, True])
def test_an_object_that_others_have_recreated_is_theirs(force: bool) -> None:
    scene = Scene(config_map("a", x="1"))
    scene.migrating.delete("v1", "ConfigMap", "a", "default")
    scene.by_hand.create(config_map("a", x="theirs"))
    one = scene.undo_one(force=force)
    assert (one.state, one.retained, one.reason) == ("changed_since", ("data.x",), "it was recreated since")
    assert scene.data() == {"x": "theirs"}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("value", ["2", "theirs"])
def test_a_changed_object_that_others_have_recreated_is_never_restored(force: bool, value: str) -> None:
    scene = Scene(config_map("a", x="1"))
    patch_data(scene.migrating, x="2")
    scene.by_hand.delete("v1", "ConfigMap", "a", "default")
    scene.by_hand.create(config_map("a", x=value))
    one = scene.undo_one(force=force)
    assert (one.state, one.reason, one.entries) == ("changed_since", "it was recreated since", ())
    assert scene.data() == {"x": value}


@pytest.mark.parametrize("force", [False, True])
def test_a_created_object_that_was_recreated_is_not_deleted(force: bool) -> None:
    scene = Scene()
    scene.migrating.create(config_map("a", x="1"))
    scene.by_hand.delete("v1", "ConfigMap", "a", "default")
    scene.migrating.create(config_map("a", x="1"))
    entry, _later = scene.journal.entries
    [one] = undo_writes(scene.live, [entry], force=force, sleep=lambda _s: None)
    assert (one.state, one.reason, one.entries) == ("changed_since", "it was recreated since", ())
    assert scene.data() == {"x": "1"}


def test_an_object_that_others_have_put_something_into_is_not_deleted() -> None:
    scene = Scene()
    scene.migrating.create(config_map("a", x="1"))
    scene.by_hand.patch("v1", "ConfigMap", "a", "default", {"metadata": {"annotations": {"seen": "1"}}})
    patch_data(scene.by_hand, theirs="1")
    one = scene.undo_one()
    assert (one.state, one.retained) == ("changed_since", ("data.theirs",))
    patch_data(scene.by_hand, theirs=None)
    assert scene.undo_one().state == "deleted"


def test_a_status_goes_back_by_itself() -> None:
    scene = Scene({**deployment(a="1"), "status": {"replicas": 1}})
    for change in ({"replicas": 2}, {"readyReplicas": 1}):
        scene.migrating.patch(
            "apps/v1", "Deployment", "x", "default", {"status": change}, subresource="status"
        )
    one = scene.undo_one()
    assert (one.fields, one.is_complete) == (("status.readyReplicas", "status.replicas"), True)
    live = scene.live.get("apps/v1", "Deployment", "x", "default")
    assert live
    assert live["status"] == {"replicas": 1}


def test_a_status_that_controllers_write_is_no_change_by_others() -> None:
    scene = Scene({**deployment(a="1"), "status": {"replicas": 1}})
    scene.migrating.patch("apps/v1", "Deployment", "x", "default", {"spec": {"replicas": 3}})
    status = {"status": {"replicas": 3}}
    scene.by_hand.patch("apps/v1", "Deployment", "x", "default", status, subresource="status")
    assert scene.undo_one().fields == ("spec.replicas",)
    live = scene.live.get("apps/v1", "Deployment", "x", "default")
    assert live
    assert live["status"] == {"replicas": 3}


def test_writes_of_controllers_do_not_keep_a_created_object_from_deletion() -> None:
    scene = Scene()
    scene.migrating.create(deployment(a="1"))
    status = {"status": {"replicas": 1}}
    scene.by_hand.patch("apps/v1", "Deployment", "x", "default", status, subresource="status")
    revision = {"metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}}}
    scene.by_hand.patch("apps/v1", "Deployment", "x", "default", revision)
    assert scene.undo_one().state == "deleted"


@pytest.mark.parametrize("is_recreated", [False, True])
def test_a_service_comes_back_without_its_addresses_and_says_so(is_recreated: bool) -> None:
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "s",
            "namespace": "default",
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "1"}],
        },
        "spec": {
            "clusterIP": "10.0.0.7",
            "clusterIPs": ["10.0.0.7"],
            "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}],
        },
    }
    scene = Scene(config_map("gone"))
    owner = scene.config_map("gone")
    assert owner
    service["metadata"]["ownerReferences"][0]["uid"] = owner["metadata"]["uid"]
    scene.live.seed(service)
    scene.migrating.delete("v1", "Service", "s", "default")
    scene.by_hand.delete("v1", "ConfigMap", "gone", "default")
    if is_recreated:
        # It has another uid, for which the garbage collector would delete the Service again.
        scene.by_hand.create(config_map("gone"))
    one = scene.undo_one()
    assert one.state == "recreated"
    assert one.lost == ("its uid", "its status", "its clusterIP", "its nodePorts", "its owner ConfigMap gone")
    live = scene.live.get("v1", "Service", "s", "default")
    assert live
    assert live["spec"] == {"ports": [{"port": 80, "protocol": "TCP"}]}
    assert "recreated, without its uid, its status, its clusterIP" in str(one)


def test_a_claim_that_grew_is_refused_by_the_server_and_named_and_the_rest_goes_back() -> None:
    scene = Scene(storage_class(expands=True), claim("10Gi"))
    scene.migrating.patch(
        "v1",
        "PersistentVolumeClaim",
        "storage-logging-loki-0",
        "kyma-system",
        {"spec": {"resources": {"requests": {"storage": "30Gi"}}}, "metadata": {"labels": {"new": "1"}}},
    )
    grown = {"status": {"capacity": {"storage": "30Gi"}}}
    scene.live.patch(
        "v1", "PersistentVolumeClaim", "storage-logging-loki-0", "kyma-system", grown, subresource="status"
    )
    one = scene.undo_one()
    assert (one.state, one.fields, one.is_changed) == ("refused", ("metadata.labels.new",), True)
    assert one.entries == ()
    name = "PersistentVolumeClaim kyma-system/storage-logging-loki-0"
    refused = "not undone, as the API server refuses it: "
    assert str(one).startswith(f"{name}: as before (metadata.labels.new), all else {refused}")
    assert "can not be less than status.capacity" in one.reason
    live = scene.live.get("v1", "PersistentVolumeClaim", "storage-logging-loki-0", "kyma-system")
    assert live
    assert "new" not in live["metadata"]["labels"]
    again = scene.undo_one()
    assert (again.state, again.fields, again.is_changed) == ("refused", (), False)
    assert str(again).startswith(f"{name}: {refused}")


def test_a_write_that_is_declared_irreversible_is_not_undone() -> None:
    writer = Writer("logging/it", "A volume that has grown can't shrink.", ["PersistentVolumeClaim"])
    scene = Scene(storage_class(expands=False), claim("10Gi"), config_map("a", x="1"), writer=writer)
    allow = {"allowVolumeExpansion": True}
    scene.migrating.patch("storage.k8s.io/v1", "StorageClass", "fast", None, allow)
    size = {"spec": {"resources": {"requests": {"storage": "30Gi"}}}}
    scene.migrating.patch("v1", "PersistentVolumeClaim", "storage-logging-loki-0", "kyma-system", size)
    claimed, disks = scene.undo()
    assert (claimed.state, disks.state) == ("irreversible", "restored")
    assert claimed.reason == "A volume that has grown can't shrink (spec.resources.requests.storage)"
    assert not claimed.is_changed
    # Where it is as before anyhow there is nothing to refuse.
    scene.live.seed(claim("10Gi"))
    assert scene.undo()[0].state == "as_before"


def test_a_stateful_set_that_came_back_with_its_component_is_reported() -> None:
    scene = Scene(stateful_set("10Gi"))
    scene.migrating.delete("apps/v1", "StatefulSet", "logging-loki", "kyma-system", propagation="Orphan")
    scene.by_hand.create(stateful_set("30Gi"))
    one = scene.undo_one()
    assert (one.state, one.reason) == ("changed_since", "it was recreated since")
    assert one.retained == ("spec.volumeClaimTemplates",)


@pytest.mark.parametrize("force", [False, True])
def test_an_object_that_others_live_in_is_not_replaced_unless_forced(force: bool) -> None:
    scene = Scene(stateful_set("10Gi"))
    scene.migrating.delete("apps/v1", "StatefulSet", "logging-loki", "kyma-system", propagation="Orphan")
    scene.migrating.create(stateful_set("30Gi"))
    [one] = undo_writes(
        scene.live, scene.journal.entries, force=force, inhabited=lambda live: f"these live in {live['kind']}"
    )
    expected = ("recreated", "") if force else ("changed_since", "these live in StatefulSet")
    assert (one.state, one.reason) == expected
    assert bool(one.entries) == force


def test_newest_first_also_over_several_migrations() -> None:
    scene = Scene(config_map("a", x="1"))
    patch_data(scene.migrating, x="2")
    later = JournalingCluster(scene.live, scene.journal, Writer("logging/later"))
    patch_data(later, x="3")
    earlier = [one for one in scene.journal.entries if one.migration == "logging/it"]
    [alone] = undo_writes(scene.live, earlier)
    assert (alone.state, alone.retained) == ("changed_since", ("data.x",))
    assert scene.undo_one().migrations == ("logging/later", "logging/it")
    assert scene.data() == {"x": "1"}


def test_a_change_by_others_between_read_and_write_is_neither_lost_nor_journaled_as_ours() -> None:
    scene = Scene(config_map("a", x="1", y="1"))
    interfere(scene, lambda: patch_data(scene.by_hand, y="theirs"))
    patch_data(scene.migrating, x="2")
    [entry] = scene.journal.entries
    assert entry.before
    assert entry.before["data"] == {"x": "1", "y": "theirs"}
    interfere(scene, lambda: patch_data(scene.by_hand, y="again"))
    assert scene.undo_one().fields == ("data.x",)
    assert scene.data() == {"x": "1", "y": "again"}


def test_an_object_that_others_delete_between_read_and_write_is_read_again() -> None:
    scene = Scene(config_map("a", x="1"))
    interfere(scene, lambda: scene.by_hand.delete("v1", "ConfigMap", "a", "default"), verb="apply")
    scene.migrating.apply(config_map("a", x="2"))
    [entry] = scene.journal.entries
    # Not as a change of what is gone: it was made.
    assert entry.before is None
    assert scene.undo_one().state == "deleted"


def test_endless_changes_by_others_do_not_make_the_migration_fail() -> None:
    scene = Scene(config_map("a", x="1"))
    count = iter(range(1000))

    def act(request: Request) -> bool:
        if request.verb == "patch":
            with_faults, scene.live._test.faults = scene.live._test.faults, []
            patch_data(scene.by_hand, busy=str(next(count)))
            scene.live._test.faults = with_faults
        return False

    scene.live.fail_when(act, Unreachable("never raised"))
    patch_data(scene.migrating, x="2")
    assert scene.data()["x"] == "2"
    assert len(scene.journal.entries) == 1
    scene.live._test.faults.clear()
    busy = scene.data()["busy"]
    assert scene.undo_one().fields == ("data.x",)
    assert scene.data() == {"x": "1", "busy": busy}


def test_an_object_that_others_recreate_all_the_time_is_not_overwritten() -> None:
    scene = Scene(config_map("a", x="1"))

    def act(request: Request) -> bool:
        if request.verb == "apply":
            faults, scene.live._test.faults = scene.live._test.faults, []
            scene.by_hand.delete("v1", "ConfigMap", "a", "default")
            scene.by_hand.create(config_map("a", x="theirs"))
            scene.live._test.faults = faults
        return False

    scene.live.fail_when(act, Unreachable("never raised"))
    with pytest.raises(Invalid, match="uid"):
        scene.migrating.apply(config_map("a", x="2"), force=True)
    assert scene.data() == {"x": "theirs"}
    assert scene.journal.entries == []


def test_a_deleted_object_is_recreated_as_it_was_at_its_deletion() -> None:
    scene = Scene(config_map("a", x="1"))
    interfere(scene, lambda: patch_data(scene.by_hand, x="theirs"), verb="delete")
    scene.migrating.delete("v1", "ConfigMap", "a", "default")
    assert scene.undo_one().state == "recreated"
    assert scene.data() == {"x": "theirs"}


@pytest.mark.parametrize("verb", ["patch", "delete"])
def test_an_object_that_others_create_between_read_and_write_is_journaled(verb: str) -> None:
    scene = Scene()
    interfere(scene, lambda: scene.by_hand.create(config_map("a", x="theirs")), verb=verb)
    if verb == "patch":
        patch_data(scene.migrating, x="2")
    else:
        assert scene.migrating.delete("v1", "ConfigMap", "a", "default")
    [entry] = scene.journal.entries
    assert entry.before
    assert entry.before["data"] == {"x": "theirs"}
    assert scene.undo_one().state == ("restored" if verb == "patch" else "recreated")
    assert scene.data() == {"x": "theirs"}


def test_a_write_to_a_missing_object_fails_by_the_server_and_is_not_journaled() -> None:
    scene = Scene()
    with pytest.raises(NotFound, match='configmaps "a" not found'):
        patch_data(scene.migrating, x="2")
    assert not scene.migrating.delete("v1", "ConfigMap", "a", "default")
    assert scene.journal.entries == []
    assert [(one.verb, one.writes) for one in scene.live.requests if one.verb != "get"] == [
        ("patch", False),
        ("delete", False),
    ]


@pytest.mark.parametrize("force", [False, True])
def test_an_object_that_only_the_journal_ascribes_to_the_migration_is_not_deleted(force: bool) -> None:
    """Others may write journals, with the uid and the content of any object."""
    scene = Scene()
    scene.migrating.create(config_map("a", x="1"))
    [entry] = scene.journal.entries
    theirs = scene.by_hand.create(config_map("b", x="1"))
    forged = replace(entry, ref=entry.ref._replace(name="b"), after=theirs)
    undone = undo_writes(scene.live, [forged], force=force, sleep=lambda _s: None)
    assert [one.reason for one in undone] == ["its managedFields don't say that the migration created it"]
    assert scene.config_map("b")


def test_an_entry_about_an_object_of_the_collection_is_refused() -> None:
    scene = Scene(config_map("deployment", x="1"))
    patch_data(scene.migrating, "deployment", x="2")
    [entry] = scene.journal.entries
    ref = Ref("coordination.k8s.io", "Lease", "kyma-lifecycle", "deployment")
    forged = replace(entry, api_version="coordination.k8s.io/v1", ref=ref)
    [undone] = undo_writes(scene.live, [forged], sleep=lambda _s: None)
    assert (undone.state, undone.fields) == ("refused", ())
    assert "belongs to the collection kyma.lifecycle itself" in undone.reason


def test_a_field_that_others_write_before_the_undo_does_stays() -> None:
    scene = Scene(config_map("a", x="1"))
    patch_data(scene.migrating, x="2")
    interfere(scene, lambda: patch_data(scene.by_hand, x="theirs"))
    assert scene.undo_one().retained == ("data.x",)
    assert scene.data() == {"x": "theirs"}


def test_an_object_that_others_change_before_the_undo_deletes_it_stays() -> None:
    scene = Scene()
    scene.migrating.create(config_map("a", x="1"))
    interfere(scene, lambda: patch_data(scene.by_hand, x="theirs"), verb="delete")
    assert scene.undo_one().retained == ("data.x",)
    assert scene.data() == {"x": "theirs"}


def interfere(scene: Scene, act: Callable[[], object], verb: str = "patch") -> None:
    """Let somebody act just before the next write of the ConfigMap."""

    def first(request: Request) -> bool:
        if request.verb != verb or interfered:
            return False
        interfered.append(request)
        act()
        return False

    interfered: list[Request] = []
    scene.live.fail_when(first, Unreachable("never raised"))


def test_a_conflict_of_the_migration_s_own_is_its_own() -> None:
    scene = Scene(config_map("a", x="1"))
    stale = {"metadata": {"resourceVersion": "1"}, "data": {"x": "2"}}
    with pytest.raises(Conflict):
        scene.migrating.patch("v1", "ConfigMap", "a", "default", stale)
    with pytest.raises(Conflict):
        scene.migrating.apply(config_map("a", x="3"))
    assert scene.journal.entries == []


def test_refused_writes_and_writes_without_a_change_are_not_journaled() -> None:
    scene = Scene(config_map("a", x="1"))
    patch_data(scene.migrating, x="1")
    for refused in (
        lambda: patch_data(scene.migrating, "missing", x="1"),
        lambda: scene.migrating.create(config_map("a")),
        lambda: scene.migrating.apply({**config_map("a"), "apiVersion": "nobody.serves/v1"}),
    ):
        with pytest.raises(ClusterError):
            refused()
    scene.migrating.delete("v1", "ConfigMap", "missing", "default")
    scene.migrating.patch("v1", "ConfigMap", "a", "default", {"data": {"x": "2"}}, dry_run=True)
    assert scene.journal.entries == []


def test_after_the_server_s_own_failure_the_intent_stands() -> None:
    scene = Scene(config_map("a", x="1"))
    failure = ApiError("patch", status=504, api_message="timeout")
    scene.live.fail_when(lambda request: request.verb == "patch", failure, before=False, times=1)
    with pytest.raises(ApiError):
        patch_data(scene.migrating, x="2")
    assert scene.data() == {"x": "2"}
    assert not scene.journal.entries[0].is_settled
    assert scene.undo_one().is_complete
    assert scene.data() == {"x": "1"}


@pytest.mark.parametrize("force", [False, True])
def test_an_object_that_others_created_after_an_unanswered_write_stays(
    force: bool,
) -> None:
    namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    scene = Scene()
    scene.live.fail_when(lambda request: request.verb == "apply", Unreachable("reset"), times=1)
    with pytest.raises(Unreachable):
        scene.migrating.apply(namespace)
    scene.by_hand.create({**namespace, "metadata": {"name": "shop", "labels": {"team": "shop"}}})
    one = scene.undo_one(force=force)
    assert scene.live.get("v1", "Namespace", "shop")
    assert (one.state, one.is_complete) == ("changed_since", False)
    assert one.reason == "its managedFields don't say that the migration created it"


@pytest.mark.parametrize(
    ("ours", "theirs", "state"),
    [("00", "05", "deleted"), ("05", "00", "changed_since"), ("05", "10", "changed_since")],
    ids=["made by us", "made by others", "made by others, who wrote again"],
)
def test_the_creator_of_an_object_is_the_manager_that_wrote_at_its_creation(
    ours: str, theirs: str, state: str
) -> None:
    def written(manager: str, second: str) -> Object:
        entry = {"manager": manager, "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1"}
        return {**entry, "time": f"2026-11-21T10:00:{second}Z", "fieldsV1": {"f:data": {}}}

    scene = Scene()
    scene.live.fail_when(lambda request: request.verb == "create", Unreachable("reset"), times=1)
    with pytest.raises(Unreachable):
        scene.migrating.create(config_map("a", x="1"))
    obj = config_map("a", x="1")
    obj["metadata"]["creationTimestamp"] = "2026-11-21T10:00:00Z"
    obj["metadata"]["managedFields"] = [written(manager_of("logging/it"), ours), written("somebody", theirs)]
    scene.live.seed(obj)
    assert scene.undo_one().state == state


def test_an_object_that_an_unanswered_write_created_and_a_later_one_deleted_stays_gone() -> None:
    scene = Scene()
    scene.live.fail_when(lambda request: request.verb == "apply", Unreachable("reset"), before=False, times=1)
    with pytest.raises(Unreachable):
        scene.migrating.apply(config_map("a", x="1"))
    assert scene.migrating.delete("v1", "ConfigMap", "a", "default")
    assert scene.undo_one().state == "as_before"
    assert scene.config_map() is None


@pytest.mark.parametrize(
    "refusal", [Unreachable("refused", sent=False), LeaseLost("lost")], ids=["sent", "lease"]
)
def test_a_write_that_was_surely_never_sent_is_not_journaled(refusal: ClusterError) -> None:
    scene = Scene(config_map("a", x="1"))
    scene.live.fail_when(lambda request: request.writes, refusal)
    for write in (
        lambda: scene.migrating.apply(config_map("b", x="1")),
        lambda: patch_data(scene.migrating, x="2"),
        lambda: scene.migrating.delete("v1", "ConfigMap", "a", "default"),
    ):
        with pytest.raises(type(refusal)):
            write()
    assert scene.journal.entries == []


def test_an_object_that_others_deleted_first_is_not_recreated() -> None:
    scene = Scene(config_map("a", x="1"))
    interfere(scene, lambda: scene.by_hand.delete("v1", "ConfigMap", "a", "default"), verb="delete")
    assert not scene.migrating.delete("v1", "ConfigMap", "a", "default")
    assert scene.undo() == []
    assert scene.config_map() is None


def test_an_undo_that_fails_is_reported_and_the_rest_is_undone() -> None:
    scene = Scene(config_map("a", x="1"), config_map("b", x="1"))
    patch_data(scene.migrating, "a", x="2")
    patch_data(scene.migrating, "b", x="2")
    scene.live.fail_when(
        lambda request: request.verb == "patch" and request.ref.name == "b", Unreachable("no route")
    )
    second, first = scene.undo()
    assert (second.state, second.reason, second.is_complete) == ("failed", "no route", False)
    assert first.state == "restored"


def test_a_command_in_a_container_can_t_be_undone_and_its_words_are_not_recorded() -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    scene = Scene()
    scene.live.seed(pod)
    scene.migrating.exec("p", "default", ["login", SECRET])
    assert SECRET not in repr(scene.journal.entries)
    one = scene.undo_one()
    assert (one.state, one.is_complete) == ("irreversible", False)
    assert "a command was run in it" in str(one)


def test_a_command_without_an_answer_is_journaled() -> None:
    scene = Scene()
    scene.live.fail_when(lambda request: request.verb == "exec", Unreachable("reset"))
    with pytest.raises(Unreachable):
        scene.migrating.exec("p", "default", ["login"])
    [entry] = scene.journal.entries
    assert (entry.verb, entry.is_settled) == ("exec", False)


def test_a_journal_that_fails_after_a_write_fails_no_migration() -> None:
    class OnlyIntents(JournalInMemory):
        def record_result(self, entry: JournalEntry) -> None:
            raise Unreachable(f"{entry.ref}: reset")

        def discard_intent(self, entry: JournalEntry) -> None:
            raise Unreachable(f"{entry.ref}: reset")

    scene = Scene(config_map("a", x="1"))
    migrating = JournalingCluster(scene.live, OnlyIntents(), Writer("logging/it"))
    patch_data(migrating, x="2")
    patch_data(migrating, x="2")
    assert scene.data() == {"x": "2"}
    with pytest.raises(NotFound):
        migrating.apply({**config_map("a", x="3"), "metadata": {"name": "a", "namespace": "gone"}})


def test_no_value_of_a_secret_is_reported() -> None:
    secret: Object = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "default"},
        "immutable": True,
        "data": {"password": base64.b64encode(SECRET.encode()).decode()},
    }
    scene = Scene(secret)
    scene.migrating.delete("v1", "Secret", "s", "default")
    refusal = ApiError("create", status=422, reason="Invalid", api_message=f"bad {SECRET}")
    scene.live.fail_when(lambda request: request.verb == "create", refusal)
    one = scene.undo_one()
    assert one.state == "failed"
    printed = json.dumps(to_result(one)) + str(one)
    assert SECRET not in printed
    assert secret["data"]["password"] not in printed


def test_an_object_that_is_being_deleted_is_not_undone_until_it_is_gone() -> None:
    scene = Scene(config_map("a", x="1"))
    finalizer = {"metadata": {"finalizers": ["kyma.test/wait"]}}
    scene.by_hand.patch("v1", "ConfigMap", "a", "default", finalizer)
    scene.migrating.delete("v1", "ConfigMap", "a", "default")
    one = scene.undo_one()
    assert (one.state, one.reason) == (
        "failed",
        "it is being deleted (finalizers: kyma.test/wait); undo again then",
    )


def gateway() -> Object:
    obj = custom("Gateway", "edge")
    return {**obj, "metadata": {"name": "edge", "namespace": "default"}}


def test_an_object_is_undone_in_another_version_if_that_is_the_served_one() -> None:
    scene = Scene(crd("Gateway"), gateway())
    scene.migrating.patch("example.com/v1", "Gateway", "edge", "default", {"spec": {"size": 2}})
    scene.live.apply(with_versions(crd("Gateway"), v1=False, v2=True))
    assert scene.undo_one().state == "restored"
    live = scene.live.get("example.com/v2", "Gateway", "edge", "default")
    assert live
    assert not live["spec"]


def test_of_a_kind_whose_aggregated_api_is_down_nothing_counts_as_undone() -> None:
    scene = Scene(crd("Gateway"), gateway())
    scene.migrating.patch("example.com/v1", "Gateway", "edge", "default", {"spec": {"size": 2}})
    scene.live.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gateways.example.com")
    gone = scene.undo_one()
    assert (gone.state, "does not serve Gateway any more" in gone.reason) == ("changed_since", True)
    scene.live.apply(silent_api("example.com"))
    unknown = scene.undo_one()
    assert (unknown.state, "APIService v1.example.com" in unknown.reason) == ("failed", True)


def test_an_owner_is_read_in_the_version_that_is_served() -> None:
    scene = Scene(crd("Gateway"), gateway())
    owner = scene.live.get("example.com/v1", "Gateway", "edge", "default")
    assert owner
    owned = config_map("a", x="1")
    reference = {"apiVersion": "example.com/v1", "kind": "Gateway", "name": "edge"}
    owned["metadata"]["ownerReferences"] = [{**reference, "uid": owner["metadata"]["uid"]}]
    scene.live.seed(owned)
    scene.migrating.delete("v1", "ConfigMap", "a", "default")
    scene.live.apply(with_versions(crd("Gateway"), v1=False, v2=True))
    assert scene.undo_one().state == "recreated"
    live = scene.config_map()
    assert live
    assert live["metadata"]["ownerReferences"][0]["name"] == "edge"
