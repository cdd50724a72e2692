# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay: what it asks the server, what it decides by itself, and that it never writes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Conflict,
    Forbidden,
    Invalid,
    KindNotServed,
    NotFound,
    NotRehearsable,
    Untypeable,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run import dry_run_cluster as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import FOREVER, Clock
from tests.support.owned_objects import owned_by

CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.t"},
    "spec": {
        "group": "t",
        "names": {"kind": "Thing", "plural": "things"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "properties": {"size": {"type": "integer"}}}
                },
            }
        ],
    },
}


FORBIDDEN = api_error("read it", 403, {"reason": "Forbidden", "message": "you may not read it"})


def config_map(name: str = "a", namespace: str = "default", **data: str) -> Object:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def unverified_in(overlay: DryRunCluster) -> set[Ref]:
    return {change.ref for change in overlay.changes() if change.unverified}


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def thing(**fields: Any) -> Object:
    return {
        "apiVersion": "t/v1",
        "kind": "Thing",
        "metadata": {"name": "a", "namespace": "default"},
        **fields,
    }


@pytest.fixture
def inner() -> MemoryCluster:
    cluster = MemoryCluster(config_map(k="1"))
    cluster.requests.clear()
    return cluster


@pytest.fixture
def overlay(inner: MemoryCluster) -> DryRunCluster:
    return DryRunCluster(inner)


@pytest.fixture(autouse=True)
def nothing_is_written(inner: MemoryCluster) -> Any:
    yield
    assert [request for request in inner.requests if request.writes or request.verb == "exec"] == []


class TestChanges:
    def test_first_before_and_last_after_in_order(self, overlay: DryRunCluster) -> None:
        overlay.create(config_map("b", k="1"))
        overlay.apply(config_map(k="2"))
        overlay.patch("v1", "ConfigMap", "a", "default", {"data": {"k": "3"}})
        first, second = overlay.changes()
        assert (first.ref.name, first.before) == ("b", None)
        assert second.before is not None
        assert second.after is not None
        assert (second.before["data"], second.after["data"]) == ({"k": "1"}, {"k": "3"})

    def test_writes_without_effect_are_no_changes(self, overlay: DryRunCluster) -> None:
        overlay.apply(config_map(k="1"))
        overlay.patch("v1", "ConfigMap", "a", "default", {"data": {"k": "1"}})
        overlay.create(config_map("b"))
        overlay.delete("v1", "ConfigMap", "b", "default")
        assert overlay.changes() == []

    def test_a_write_that_was_taken_back_is_no_change(self, overlay: DryRunCluster) -> None:
        overlay.apply(config_map(k="2"))
        overlay.apply(config_map(k="1"))
        assert overlay.changes() == []

    def test_a_callers_own_dry_run_is_not_recorded(self, overlay: DryRunCluster) -> None:
        overlay.create(config_map("b"), dry_run=True)
        overlay.apply(config_map(k="2"), dry_run=True)
        overlay.patch("v1", "ConfigMap", "a", "default", {"data": None}, dry_run=True)
        assert overlay.delete("v1", "ConfigMap", "a", "default", dry_run=True)
        assert overlay.changes() == []

    def test_handles_share_them(self, overlay: DryRunCluster) -> None:
        overlay.with_field_manager("other").create(config_map("b"))
        assert overlay.get("v1", "ConfigMap", "b", "default") is not None
        (change,) = overlay.changes()
        assert change.after is not None
        assert change.after["metadata"]["managedFields"][0]["manager"] == "other"

    def test_an_answer_is_a_copy_that_the_caller_may_change(self, overlay: DryRunCluster) -> None:
        answer = overlay.apply(config_map(k="2"))
        answer["data"]["k"] = "spoilt"
        read = overlay.get("v1", "ConfigMap", "a", "default")
        assert read is not None
        assert read["data"] == {"k": "2"}


class TestVerification:
    def test_the_first_write_is_the_servers_to_judge(
        self, overlay: DryRunCluster, inner: MemoryCluster
    ) -> None:
        overlay.apply(config_map(k="2"))
        assert [request.verb for request in inner.requests if request.dry_run] == ["apply"]
        assert unverified_in(overlay) == set()

    def test_an_apply_of_something_new_is_one_request(
        self, overlay: DryRunCluster, inner: MemoryCluster
    ) -> None:
        overlay.apply(config_map("b"))
        assert [(request.verb, request.dry_run) for request in inner.requests] == [("apply", True)]

    def test_later_writes_are_merged_here_and_completed_by_the_server(
        self, overlay: DryRunCluster, inner: MemoryCluster
    ) -> None:
        overlay.apply(config_map(k="2", l="1"))
        merged = overlay.with_field_manager("other").apply(config_map(m="1"))
        assert merged["data"] == {"k": "2", "l": "1", "m": "1"}
        assert [request.verb for request in inner.requests if request.dry_run] == ["apply", "patch"]
        assert unverified_in(overlay) == set()
        with pytest.raises(Conflict, match=r'conflict with "other": [.]data[.]m'):
            overlay.apply(config_map(k="2", m="2"))

    def test_errors_of_the_server_are_raised(self, overlay: DryRunCluster, inner: MemoryCluster) -> None:
        with pytest.raises(NotFound, match='namespaces "nowhere" not found'):
            overlay.apply(config_map(namespace="nowhere"))
        with pytest.raises(KindNotServed):
            overlay.apply(thing())
        with pytest.raises(Conflict):
            overlay.with_field_manager("other").apply(config_map(k="2"))
        inner.fail_when(lambda request: request.verb == "patch", Forbidden("patch", status=403))
        with pytest.raises(Forbidden):
            overlay.patch("v1", "ConfigMap", "a", "default", {})
        assert overlay.changes() == []

    def test_a_namespace_that_is_only_here(self, overlay: DryRunCluster) -> None:
        overlay.apply(namespace("later"))
        overlay.apply(config_map(namespace="later"))
        assert unverified_in(overlay) == {Ref("", "ConfigMap", "later", "a")}
        assert [i["metadata"]["name"] for i in overlay.list("v1", "ConfigMap", "later").items] == ["a"]

    def test_a_kind_that_is_only_here(self, overlay: DryRunCluster) -> None:
        assert overlay.resource("t/v1", "Thing") is None
        overlay.apply(CRD)
        resource = overlay.resource("t/v1", "Thing")
        assert resource is not None
        assert resource.namespaced
        assert overlay.list("t/v1", "Thing").items == []
        assert overlay.get("t/v1", "Thing", "a", "default") is None
        with pytest.raises(Untypeable, match="field not declared in schema"):
            overlay.apply(thing(bogus=1))
        with pytest.raises(Invalid, match="must be of type integer"):
            overlay.create(thing(size="big"))
        overlay.apply(thing(size=1))
        assert unverified_in(overlay) == {Ref("t", "Thing", "default", "a")}
        crd = overlay.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.t")
        assert crd is not None
        assert ("Established", "True") in [(c["type"], c["status"]) for c in crd["status"]["conditions"]]

    def test_a_new_definition_is_asked_about_as_an_apply(
        self, overlay: DryRunCluster, inner: MemoryCluster
    ) -> None:
        answer = overlay.apply(CRD)
        assert [(request.verb, request.dry_run) for request in inner.requests] == [("apply", True)]
        [ours] = answer["metadata"]["managedFields"]
        [theirs] = MemoryCluster().apply(CRD, dry_run=True)["metadata"]["managedFields"]
        assert {**ours, "time": ""} == {**theirs, "time": ""}

    def test_a_new_definition_counts_as_established(
        self, overlay: DryRunCluster, inner: MemoryCluster, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        apply = inner.apply

        def apply_without_status(obj: Object, **how: Any) -> Object:
            return {key: value for key, value in apply(obj, **how).items() if key != "status"}

        monkeypatch.setattr(inner, "apply", apply_without_status)
        overlay.apply(CRD)
        crd = overlay.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.t")
        assert crd is not None
        assert ("Established", "True") in [(c["type"], c["status"]) for c in crd["status"]["conditions"]]

    @pytest.mark.parametrize("served", [True, False])
    def test_a_definition_that_is_there_is_asked_about_as_an_apply(self, served: bool) -> None:
        versions = [{**CRD["spec"]["versions"][0], "served": served}]
        crd = {**CRD, "spec": {**CRD["spec"], "versions": versions}}
        inner = MemoryCluster(crd)
        DryRunCluster(inner).apply(crd)
        assert [request.verb for request in inner.requests if request.dry_run] == ["apply"]

    def test_a_definition_that_makes_no_sense_is_the_servers_to_refuse(
        self, overlay: DryRunCluster, inner: MemoryCluster
    ) -> None:
        inner.fail_when(lambda request: request.verb == "apply", Forbidden("apply", status=403))
        with pytest.raises(Forbidden):
            overlay.apply({**CRD, "spec": {"versions": ["v1"]}})

    def test_a_claim_whose_storage_class_changes_here(
        self, overlay: DryRunCluster, inner: MemoryCluster
    ) -> None:
        storage_class = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "s"},
            "provisioner": "p",
        }
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {"storageClassName": "s", "resources": {"requests": {"storage": "10Gi"}}},
        }
        inner.seed(storage_class, claim)
        grow = {"spec": {"resources": {"requests": {"storage": "30Gi"}}}}
        with pytest.raises(Forbidden, match="must support resize"):
            overlay.patch("v1", "PersistentVolumeClaim", "c", "default", grow)
        overlay.patch("storage.k8s.io/v1", "StorageClass", "s", None, {"allowVolumeExpansion": True})
        grown = overlay.patch("v1", "PersistentVolumeClaim", "c", "default", grow)
        assert grown["spec"]["resources"]["requests"]["storage"] == "30Gi"

    def test_preconditions_of_later_writes(self, overlay: DryRunCluster) -> None:
        read = overlay.get("v1", "ConfigMap", "a", "default")
        assert read is not None
        version = read["metadata"]["resourceVersion"]
        change = {"metadata": {"resourceVersion": version}, "data": {"k": "2"}}
        overlay.patch("v1", "ConfigMap", "a", "default", change)
        with pytest.raises(Conflict, match="the object has been modified"):
            overlay.patch("v1", "ConfigMap", "a", "default", change)
        with pytest.raises(Conflict, match="ResourceVersion in the precondition"):
            overlay.delete("v1", "ConfigMap", "a", "default", resource_version=version)


class TestDeletion:
    def test_a_deleted_object_is_gone_for_every_read(self, overlay: DryRunCluster) -> None:
        assert overlay.delete("v1", "ConfigMap", "a", "default") is True
        assert overlay.delete("v1", "ConfigMap", "a", "default") is False
        assert overlay.get("v1", "ConfigMap", "a", "default") is None
        assert overlay.list("v1", "ConfigMap", "default").items == []
        with pytest.raises(NotFound):
            overlay.patch("v1", "ConfigMap", "a", "default", {})
        (change,) = overlay.changes()
        assert change.after is None

    def test_a_deleted_object_can_be_recreated(self, overlay: DryRunCluster) -> None:
        overlay.delete("v1", "ConfigMap", "a", "default")
        made = overlay.create(config_map(k="9"))
        (change,) = overlay.changes()
        assert change.before is not None
        assert change.before["metadata"]["uid"] != made["metadata"]["uid"]
        assert change.unverified

    def test_a_recreated_object_is_not_completed_from_the_deleted_one(self, overlay: DryRunCluster) -> None:
        overlay.delete("v1", "ConfigMap", "a", "default")
        made = overlay.create(config_map(k="2"))
        assert overlay.apply(config_map(k="2", l="1"))["metadata"]["uid"] == made["metadata"]["uid"]

    def test_finalizers_are_taken_as_served(self, overlay: DryRunCluster, inner: MemoryCluster) -> None:
        held = config_map("held")
        held["metadata"]["finalizers"] = ["somebody.test/f"]
        inner.seed(held)
        overlay.delete("v1", "ConfigMap", "held", "default")
        assert overlay.get("v1", "ConfigMap", "held", "default") is None

    def test_preconditions_are_the_servers_to_judge(self, overlay: DryRunCluster) -> None:
        with pytest.raises(Conflict, match="the UID in the precondition"):
            overlay.delete("v1", "ConfigMap", "a", "default", uid="another")
        assert overlay.get("v1", "ConfigMap", "a", "default") is not None

    def test_dependents_of_dependents_go_too(self, overlay: DryRunCluster, inner: MemoryCluster) -> None:
        owner: Object = {**config_map("owner"), "metadata": {**config_map("owner")["metadata"], "uid": "u1"}}
        middle = owned_by(config_map("middle"), owner)
        middle["metadata"]["uid"] = "u2"
        inner.seed(owner, middle, owned_by(config_map("last"), middle))
        overlay.delete("v1", "ConfigMap", "owner", "default")
        assert overlay.get("v1", "ConfigMap", "last", "default") is None
        names = [item["metadata"]["name"] for item in overlay.list("v1", "ConfigMap", "default").items]
        assert names == ["a"]
        assert overlay.create(config_map("last"))["data"] == {}

    def test_orphans_stay(self, overlay: DryRunCluster, inner: MemoryCluster) -> None:
        owner: Object = {**config_map("owner"), "metadata": {**config_map("owner")["metadata"], "uid": "u1"}}
        inner.seed(owner, owned_by(config_map("child"), owner))
        overlay.delete("v1", "ConfigMap", "owner", "default", propagation="Orphan")
        child = overlay.get("v1", "ConfigMap", "child", "default")
        assert child is not None
        assert "ownerReferences" not in child["metadata"]

    def test_a_namespace_takes_its_contents_for_good(self, overlay: DryRunCluster) -> None:
        overlay.create(config_map("mine"))
        overlay.delete("v1", "Namespace", "default")
        assert overlay.list("v1", "ConfigMap").items == []
        with pytest.raises(NotFound, match='namespaces "default" not found'):
            overlay.create(config_map("late"))
        overlay.create(namespace("default"))
        overlay.create(config_map("late"))
        assert [item["metadata"]["name"] for item in overlay.list("v1", "ConfigMap").items] == ["late"]
        # The server still has the namespace from before.
        assert Ref("", "ConfigMap", "default", "late") in unverified_in(overlay)


class TestDeployment:
    """What the server does with an object that has a status and a generation, and so does a rehearsal."""

    @pytest.fixture
    def web(self, inner: MemoryCluster) -> Object:
        spec = {"replicas": 1, "selector": {}, "template": {"spec": {"containers": []}}}
        meta = {"name": "web", "namespace": "default"}
        web = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}
        made = inner.create(web | {"status": {"replicas": 9}})
        inner.requests.clear()
        return made

    @staticmethod
    def patch(overlay: DryRunCluster, patch: Object, subresource: str = "") -> Object:
        return overlay.patch("apps/v1", "Deployment", "web", "default", patch, subresource=subresource)

    def test_a_status_is_written_only_as_such(self, overlay: DryRunCluster, web: Object) -> None:
        assert "status" not in web
        for replicas in (1, 2):
            assert self.patch(overlay, {"status": {"replicas": replicas}}, "status")["status"] == {
                "replicas": replicas
            }
        both = {"spec": {"replicas": 3}, "status": {"replicas": 3}}
        assert self.patch(overlay, both)["status"] == {"replicas": 2}

    def test_each_change_counts_as_a_generation_and_a_status_does_not(
        self, overlay: DryRunCluster, web: Object
    ) -> None:
        assert web["metadata"]["generation"] == 1
        for replicas in (2, 3):
            self.patch(overlay, {"status": {"replicas": replicas}}, "status")
            changed = self.patch(overlay, {"spec": {"replicas": replicas}})
            assert changed["metadata"]["generation"] == replicas

    @pytest.mark.parametrize("field", ["uid", "creationTimestamp", "generation"])
    def test_identity_can_not_be_removed(self, overlay: DryRunCluster, web: Object, field: str) -> None:
        patched = self.patch(overlay, {"metadata": {field: None}})
        assert patched["metadata"][field] == web["metadata"][field]


class TestFewRights:
    def test_a_user_without_access_to_namespaces_recreates_a_deleted_object(
        self, inner: MemoryCluster, overlay: DryRunCluster
    ) -> None:
        inner.fail_when(lambda request: request.ref.kind == "Namespace", FORBIDDEN)
        overlay.delete("v1", "ConfigMap", "a", "default")
        assert overlay.create(config_map(k="2"))["data"] == {"k": "2"}

    def test_an_owner_that_may_not_be_read_lives(self, inner: MemoryCluster, overlay: DryRunCluster) -> None:
        owner = config_map("owner") | {"metadata": {"name": "owner", "namespace": "default", "uid": "u"}}
        inner.seed(*(owned_by(config_map(f"child-{number}"), owner) for number in range(9)))
        overlay.delete("v1", "ConfigMap", "a", "default")
        inner.fail_when(lambda request: request.ref.name == "owner", FORBIDDEN)
        inner.requests.clear()
        for _time in range(2):
            assert len(overlay.list("v1", "ConfigMap").items) == 9
        assert len([one for one in inner.requests if one.ref.name == "owner"]) == 1

    def test_a_webhook_that_knows_no_dry_run_leaves_a_write_unverified(
        self, inner: MemoryCluster, overlay: DryRunCluster
    ) -> None:
        message = 'admission webhook "audit.shop" does not support dry run'
        refusal = api_error("create it", 400, {"reason": "BadRequest", "message": message})
        inner.fail_when(lambda request: request.dry_run, refusal)
        overlay.create(config_map("b"))
        assert [one.name for one in unverified_in(overlay)] == ["b"]

    def test_a_definition_that_is_known_is_not_read(self) -> None:
        inner = MemoryCluster(CRD)
        inner.fail_when(lambda request: request.ref.kind == "CustomResourceDefinition", FORBIDDEN)
        overlay, stranger = DryRunCluster(inner, [CRD]), DryRunCluster(inner)
        for one in (overlay, stranger):
            one.create(thing(size=1))
        assert overlay.patch("t/v1", "Thing", "a", "default", {"size": 2})["size"] == 2
        with pytest.raises(Forbidden):
            stranger.patch("t/v1", "Thing", "a", "default", {"size": 2})


class TestTheRest:
    @pytest.mark.parametrize("name", ["labels", "annotations", "finalizers"])
    def test_an_empty_field_of_the_metadata_is_nobodys(self, overlay: DryRunCluster, name: str) -> None:
        first = overlay.patch("v1", "ConfigMap", "a", "default", {"data": {"x": "1"}})["metadata"]
        empty: object = [] if name == "finalizers" else {}
        second = overlay.patch("v1", "ConfigMap", "a", "default", {"metadata": {name: empty}})["metadata"]
        assert second["managedFields"] == first["managedFields"]
        assert name not in second

    def test_a_list_is_selected_from_what_is_here(self, overlay: DryRunCluster) -> None:
        overlay.patch("v1", "ConfigMap", "a", "default", {"metadata": {"labels": {"x": "1"}}})
        overlay.create(config_map("b"))
        overlay.create(namespace("other"))
        overlay.create(config_map("c", "other"))
        for selector, names in {"x=1": ["a"], "!x": ["b"], "": ["a", "b"]}.items():
            page = overlay.list("v1", "ConfigMap", "default", label_selector=selector)
            assert [item["metadata"]["name"] for item in page.items] == names
        page = overlay.list("v1", "ConfigMap", field_selector="metadata.name=b", metadata_only=True)
        assert [item.keys() for item in page.items] == [{"apiVersion", "kind", "metadata"}]

    def test_nothing_ever_happens(self, overlay: DryRunCluster, monkeypatch: pytest.MonkeyPatch) -> None:
        clock = Clock()
        monkeypatch.setattr(module, "time", clock)
        began = clock.monotonic()
        assert list(overlay.watch("v1", "ConfigMap", resource_version="1", seconds=30)) == []
        assert clock.monotonic() - began == pytest.approx(module.LONGEST_WATCH)

    def test_a_watch_can_be_stopped(self, overlay: DryRunCluster, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "LONGEST_WATCH", FOREVER)
        stop = StopSignal()
        stop.set()
        watch = overlay.watch(
            "v1",
            "ConfigMap",
            resource_version="1",
            seconds=FOREVER,
            label_selector="a=b",
            metadata_only=True,
            stop=stop,
        )
        assert list(watch) == []

    def test_commands_can_not_be_rehearsed(self, overlay: DryRunCluster, inner: MemoryCluster) -> None:
        meta = {"name": "p", "namespace": "default"}
        inner.seed({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {}})
        inner.set_log("p", "default", "hello\n")
        assert overlay.logs("p", "default") == "hello\n"
        with pytest.raises(NotRehearsable, match="run a command in Pod default/p: what rm does"):
            overlay.exec("p", "default", ["rm", "-rf", "/data"])
        overlay.delete("v1", "Pod", "p", "default")
        with pytest.raises(NotFound):
            overlay.logs("p", "default")

    def test_a_scale_can_not_be_rehearsed(self, overlay: DryRunCluster) -> None:
        with pytest.raises(NotRehearsable):
            overlay.patch("apps/v1", "Deployment", "d", "default", {"spec": {}}, subresource="scale")


class Busy(MemoryCluster):
    """Where a controller writes an object whenever somebody is about to read it."""

    times = 2

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        if self.times and kind == "ConfigMap":
            self.times -= 1
            beat = {"metadata": {"annotations": {"heartbeat": str(self.times)}}}
            self.with_field_manager("busy").patch("v1", "ConfigMap", "a", "default", beat)
        return super().get(api_version, kind, name, namespace)


def test_a_controllers_write_meanwhile_is_not_taken_for_an_effect() -> None:
    cluster = Busy(config_map(x="1"))
    cluster.with_field_manager("busy").patch(
        "v1", "ConfigMap", "a", "default", {"metadata": {"annotations": {"heartbeat": "0"}}}
    )
    overlay = DryRunCluster(cluster)
    overlay.apply(config_map(x="2"))
    [change] = overlay.changes()
    assert change.before is not None
    assert change.after is not None
    assert change.before["metadata"]["annotations"] == change.after["metadata"]["annotations"]
    assert change.after["data"] == {"x": "2"}


class TestNewNamespace:
    """What goes to a namespace that is only in the rehearsal is validated as if it went to another one."""

    @staticmethod
    def rehearsed(*objects: Object) -> tuple[MemoryCluster, DryRunCluster]:
        inner = MemoryCluster(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}, *objects
        )
        overlay = DryRunCluster(inner)
        overlay.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}})
        inner.requests.clear()
        return inner, overlay

    def test_a_write_in_a_new_namespace_is_one_request_without_a_read(self) -> None:
        inner, overlay = self.rehearsed()
        overlay.apply(config_map(namespace="new"))
        assert [(one.verb, str(one.ref)) for one in inner.requests] == [("create", "ConfigMap default/a")]
        assert unverified_in(overlay) >= {Ref("", "ConfigMap", "new", "a")}

    def test_an_object_of_the_same_name_in_the_substitute_is_no_obstacle(self) -> None:
        inner, overlay = self.rehearsed(config_map("a", "default"))
        assert overlay.apply(config_map(namespace="new", k="v"))["data"] == {"k": "v"}
        assert [one.verb for one in inner.requests] == ["create", "create"]

    def test_an_invalid_object_is_refused_under_its_own_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        inner, overlay = self.rehearsed()

        def refuse(obj: Object, **_more: Any) -> Object:
            place = "{namespace}/{name}".format(**obj["metadata"])
            status = {"reason": "Invalid", "message": f"ConfigMap {place} is too large"}
            raise api_error("create", 422, status)

        monkeypatch.setattr(inner, "create", refuse)
        with pytest.raises(Invalid, match="ConfigMap new/a is too large"):
            overlay.apply(config_map(namespace="new"))
        assert overlay.get("v1", "ConfigMap", "a", "new") is None

    def test_a_refusal_that_holds_for_the_substitute_alone_is_ignored(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inner, overlay = self.rehearsed()

        def refuse(_obj: Object, **_more: Any) -> Object:
            raise api_error("create", 403, {"reason": "Forbidden", "message": "exceeded quota"})

        monkeypatch.setattr(inner, "create", refuse)
        assert overlay.apply(config_map(namespace="new", k="v"))["data"] == {"k": "v"}

    @pytest.mark.parametrize("verb", ["apply", "create"])
    @pytest.mark.parametrize("names_taken", [False, True])
    def test_the_refusal_is_that_of_the_same_write(self, verb: str, *, names_taken: bool) -> None:
        taken = [CRD, thing(spec={})] if names_taken else [CRD]
        _inner, overlay = self.rehearsed(*taken)
        wrong = thing(size="wrong")
        wrong["metadata"]["namespace"] = "new"
        with pytest.raises(Invalid) as refused:
            getattr(overlay, verb)(wrong)
        with pytest.raises(Invalid) as refused_there:
            getattr(MemoryCluster(CRD, namespace("new")), verb)(wrong)
        assert (type(refused.value), str(refused.value)) == (
            type(refused_there.value),
            str(refused_there.value),
        )

    def test_unknown_fields_in_a_new_namespace_are_refused_on_request(self) -> None:
        inner, overlay = self.rehearsed()
        unknown = Untypeable("apply", status=500, api_message=".bogus: field not declared in schema")
        inner.fail_when(lambda request: request.verb == "apply", unknown)
        overlay.apply(config_map(namespace="new"))
        assert [one.verb for one in inner.requests] == ["create"]
        overlay.find_unknown_fields()
        with pytest.raises(Untypeable, match=r"apply ConfigMap new/b: \.bogus: field not declared in schema"):
            overlay.apply(config_map("b", "new"))
        overlay.create(config_map("b", "new"))

    def test_a_refusal_of_the_name_counts_though_another_one_would_do(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inner, overlay = self.rehearsed()

        def refuse(obj: Object, **_more: Any) -> Object:
            status = {"reason": "Invalid", "message": f"{obj['metadata']['name']} is no name"}
            raise api_error("create", 422, status)

        monkeypatch.setattr(inner, "create", refuse)
        with pytest.raises(Invalid, match="apply ConfigMap new/a: a is no name"):
            overlay.apply(config_map(namespace="new"))

    def test_a_plain_create_is_validated_too(self, monkeypatch: pytest.MonkeyPatch) -> None:
        inner, overlay = self.rehearsed()

        def refuse(obj: Object, **_more: Any) -> Object:
            place = "{namespace}/{name}".format(**obj["metadata"])
            raise api_error("create", 422, {"reason": "Invalid", "message": f"{place} is too large"})

        monkeypatch.setattr(inner, "create", refuse)
        with pytest.raises(Invalid, match="create ConfigMap new/a: new/a is too large"):
            overlay.create(config_map(namespace="new"))
