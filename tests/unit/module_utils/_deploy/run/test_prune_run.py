# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that prune what the release no longer has, on the in-memory cluster."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune import removal
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    Phase,
    Verdict,
    not_needed,
)

from tests.support.driver import (
    Deployer,
    Entries,
    config_map,
    crd,
    custom,
    delete_slowly,
    deployer,
    deployment,
    healthy_cluster,
    job,
    memory,
    only_reads,
    release,
)

Given = dict[str, Any]


def held(obj: Object) -> Object:
    """An object that a finalizer holds."""
    return {**obj, "metadata": {**obj["metadata"], "finalizers": ["example.com/guard"]}}


def claim(name: str) -> Object:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def webhook(name: str) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [],
    }


def aggregated_api(name: str) -> Object:
    version, _dot, group = name.partition(".")
    spec = {"group": group, "version": version, "service": {"name": "server", "namespace": "kyma-system"}}
    meta = {"name": name}
    return {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": meta, "spec": spec}


def make_available(cluster: Cluster, event: Event) -> None:
    """What the aggregator does about an APIService."""
    obj = event.object
    if event.type != "DELETED" and obj["kind"] == "APIService" and not obj.get("status"):
        status = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
        name = obj["metadata"]["name"]
        cluster.patch(obj["apiVersion"], "APIService", name, None, status, subresource="status")


def upgraded(before: Entries, after: Entries, **options: Any) -> Deployer:
    """Somebody who has deployed 2.9 and holds 2.10."""
    more = {key: options.pop(key) for key in ("crds",) if key in options}
    someone = deployer(release("2.9", before, **more), **{"timeout": 3, **options})
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.given = release("2.10", after)
    return someone


def find(someone: Deployer, name: str, kind: str = "ConfigMap", api_version: str = "v1") -> Object | None:
    return someone.cluster.get(api_version, kind, name, "kyma-system")


def actions(planned: Result) -> dict[str, str]:
    return {one["name"]: one["action"] for one in planned["plan"]["components"]}


def recorded_names(someone: Deployer, component: str) -> list[str]:
    inventory = read_inventories(someone.cluster).get(component)
    return [entry.ref.name for entry in inventory.entries] if inventory else []


def deletions(someone: Deployer, start: int = 0) -> list[str]:
    return [
        request.ref.name
        for request in memory(someone).requests[start:]
        if request.verb == "delete"
        and request.writes
        and request.ref.kind not in ("KymaRun", "KymaInventory")
    ]


KEEP = config_map("keep", a="1")
BROKEN = deployment("b", "broken")


def test_a_dropped_object_is_shown_and_deleted_when_all_is_healthy() -> None:
    someone = upgraded(
        {"logging": [KEEP, config_map("old"), deployment("loki")], "other": [deployment("x", "x:1")]},
        {"logging": [KEEP, deployment("loki")], "other": [deployment("x", "x:2")]},
    )
    planned = someone.plan()
    [logging] = [one for one in planned["plan"]["components"] if one["name"] == "logging"]
    assert [(one["name"], one["action"]) for one in logging["changes"]] == [("old", "delete")]
    assert "ConfigMap kyma-system/old (deleted)" in [entry["after_header"] for entry in planned["diff"]]
    assert planned["plan"]["prune"] == ["logging"]
    assert find(someone, "old")
    start = len(memory(someone).requests)
    assert someone.carry_out(planned)["state"] == "succeeded"
    verbs = [(one.verb, one.ref.name) for one in memory(someone).requests[start:] if one.ref]
    assert verbs.index(("delete", "old")) > verbs.index(("apply", "x"))
    assert find(someone, "old") is None
    assert recorded_names(someone, "logging") == ["keep", "loki"]
    assert someone.record()["status"]["components"]["logging"]["deleted"] == 1
    assert not someone.plan()["plan"]["needed"]


def test_an_object_that_moves_to_another_component_stays() -> None:
    someone = upgraded(
        {"a": [KEEP, config_map("moved", v="1")], "b": [config_map("b")]},
        {"a": [KEEP], "b": [config_map("b"), config_map("moved", v="1")]},
    )
    before = find(someone, "moved")
    planned = someone.plan()
    changes = [one for component in planned["plan"]["components"] for one in component["changes"]]
    assert "delete" not in {one["action"] for one in changes}
    assert someone.carry_out(planned)["state"] == "succeeded"
    after = find(someone, "moved")
    assert before
    assert after
    assert before["metadata"]["uid"] == after["metadata"]["uid"]
    assert recorded_names(someone, "b") == ["b", "moved"]
    assert deletions(someone) == []
    assert not someone.plan()["plan"]["needed"]


def test_an_orphan_is_forgotten_although_another_component_has_an_object_of_it() -> None:
    moved = config_map("moved", v="1")
    before: Entries = {"a": [KEEP], "orphan": [moved, config_map("old")]}
    someone = upgraded(before, {"a": [KEEP, moved]}, prune=True)
    assert someone.deploy()["state"] == "succeeded"
    assert find(someone, "moved")
    assert deletions(someone) == ["old"]
    assert "orphan" not in read_inventories(someone.cluster)


def test_an_object_that_moves_later_is_recorded_until_the_other_component_has_it() -> None:
    moved = config_map("moved", v="1")
    someone = upgraded(
        {"a": [KEEP, moved, config_map("old")], "b": [config_map("b")]},
        {"a": [KEEP], "b": [config_map("b"), moved]},
    )
    alone = deployer(someone.materials.given, cluster=memory(someone), components=["a"])
    assert alone.deploy()["state"] == "succeeded"
    assert find(someone, "old") is None
    assert recorded_names(someone, "a") == ["keep", "moved"]
    someone.materials.given = release("2.10", {"a": [KEEP], "b": [config_map("b")]})
    assert someone.deploy()["state"] == "succeeded"
    assert find(someone, "moved") is None
    assert recorded_names(someone, "a") == ["keep"]


def test_a_component_that_returns_is_deployed_despite_its_leftovers() -> None:
    team: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    with_it: Entries = {"a": [KEEP], "b": [team, config_map("b")]}
    someone = upgraded(with_it, {"a": [KEEP]}, prune=True)
    assert someone.deploy()["state"] == "succeeded"
    assert find(someone, "b") is None
    assert recorded_names(someone, "b") == ["team"]
    someone.materials.given = release("2.11", with_it)
    planned = someone.plan()
    assert actions(planned)["b"] == "resume"
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert find(someone, "b")


def test_an_object_that_another_user_recreated_stays_with_a_warning_and_without_a_record() -> None:
    someone = upgraded({"a": [KEEP, config_map("old")]}, {"a": [KEEP]})
    someone.cluster.delete("v1", "ConfigMap", "old", "kyma-system")
    foreign = {**config_map("old", theirs="1"), "metadata": {"name": "old", "namespace": "kyma-system"}}
    someone.cluster.with_field_manager("somebody").create(foreign)
    planned = someone.plan()
    [component] = [one for one in planned["plan"]["components"] if one["name"] == "a"]
    assert component["changes"] == []
    assert "recreated it" in component["warnings"][0]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert find(someone, "old")
    assert recorded_names(someone, "a") == ["keep"]


@pytest.mark.parametrize("names", [("guard", "metrics", "server"), ("server", "metrics", "guard")])
def test_webhooks_and_aggregated_apis_of_all_components_are_deleted_first(names: list[str]) -> None:
    api = "v1.metrics.example.com"
    dropped = {
        "guard": webhook("guard"),
        "metrics": aggregated_api(api),
        "server": deployment("server"),
    }
    retained = {name: config_map(f"keep-{name}") for name in names}
    cluster = healthy_cluster()
    cluster.on_write(make_available)
    someone = upgraded(
        {name: [retained[name], dropped[name]] for name in names},
        {name: [retained[name]] for name in names},
        cluster=cluster,
        workers=1,
    )
    planned = someone.plan()
    assert planned["plan"]["prune"] == list(names)
    assert someone.carry_out(planned)["state"] == "succeeded"
    *first, last = deletions(someone)
    assert (sorted(first), last) == (["guard", api], "server")


def test_an_object_that_a_failed_run_has_created_again_is_pruned() -> None:
    someone = upgraded({"a": [KEEP, config_map("old")]}, {"a": [KEEP, config_map("old"), BROKEN]})
    someone.cluster.delete("v1", "ConfigMap", "old", "kyma-system")
    assert someone.deploy()["failed"]
    assert find(someone, "old")
    someone.materials.given = release("2.10", {"a": [KEEP]})
    assert someone.deploy()["state"] == "succeeded"
    assert find(someone, "old") is None


def test_an_object_that_a_failed_run_has_replaced_is_deleted_with_its_component() -> None:
    someone = upgraded({"a": [job("setup", "setup:1")]}, {"a": [job("setup", "setup:2"), BROKEN]})
    before = find(someone, "setup", "Job", "batch/v1")
    assert someone.deploy()["failed"]
    replaced = find(someone, "setup", "Job", "batch/v1")
    assert before
    assert replaced
    assert before["metadata"]["uid"] != replaced["metadata"]["uid"]
    assert someone.delete()["warnings"] == []
    assert find(someone, "setup", "Job", "batch/v1") is None


def test_an_object_that_a_cancelled_run_has_replaced_is_deleted_too() -> None:
    cancelled: list[bool] = []
    held_one = held(job("held", "setup:1"))
    someone = upgraded(
        {"a": [job("setup", "setup:1"), held_one]},
        {"a": [job("setup", "setup:2"), held(job("held", "setup:2"))]},
        grace=0,
    )
    someone.cancelled = lambda: bool(cancelled)

    def cancel(_cluster: Any, event: Any) -> None:
        if event.object["metadata"]["name"] == "setup" and event.type == "ADDED":
            cancelled.append(True)

    memory(someone).on_write(cancel)
    assert someone.deploy()["failed"]
    cancelled.clear()
    assert someone.states() == {"a": "cancelled"}
    someone.cluster.patch("batch/v1", "Job", "held", "kyma-system", {"metadata": {"finalizers": None}})
    assert someone.delete()["warnings"] == []
    assert find(someone, "setup", "Job", "batch/v1") is None


def test_a_failed_run_without_a_recreated_object_writes_its_inventory_once() -> None:
    someone = upgraded({"a": [KEEP, deployment("b")]}, {"a": [config_map("keep", a="2"), BROKEN]})
    start = len(memory(someone).requests)
    assert someone.deploy()["failed"]
    inventories = [
        one
        for one in memory(someone).requests[start:]
        if one.writes and one.ref and (one.ref.kind, one.ref.name) == ("KymaInventory", "a")
    ]
    assert len(inventories) == 1


@pytest.mark.parametrize("times", [2, 8])
def test_an_object_that_changes_all_the_time_is_read_again_and_deleted(
    monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    monkeypatch.setattr(removal, "LONGEST_PAUSE", 0.01)
    someone = upgraded({"a": [KEEP, config_map("old")]}, {"a": [KEEP]})
    planned = someone.plan()

    def meddle(cluster: Any, event: Any) -> None:
        del event
        if cluster.get("v1", "ConfigMap", "old", "kyma-system") and len(meddled) < times:
            meddled.append(1)
            by_hand = cluster.with_field_manager("controller")
            patch = {"metadata": {"annotations": {"seen": str(len(meddled))}}}
            by_hand.patch("v1", "ConfigMap", "old", "kyma-system", patch)

    meddled: list[int] = []
    memory(someone).on_write(meddle)
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert meddled
    assert find(someone, "old") is None


def test_a_prune_that_fails_fails_its_component_and_a_rerun_goes_on() -> None:
    someone = upgraded({"a": [KEEP, held(config_map("old")), webhook("hook")]}, {"a": [KEEP]}, timeout=0.2)
    ended = someone.deploy()
    assert ended["failed"]
    [failure] = ended["failures"]
    assert "component a: ConfigMap kyma-system/old: it was deleted" in failure
    assert "example.com/guard" in failure
    assert someone.installation().version == "2.9"
    assert deletions(someone) == ["hook", "old"]
    assert recorded_names(someone, "a") == ["keep", "old"]
    someone.cluster.patch("v1", "ConfigMap", "old", "kyma-system", {"metadata": {"finalizers": None}})
    assert find(someone, "old") is None
    assert someone.deploy()["state"] == "succeeded"
    assert recorded_names(someone, "a") == ["keep"]


def test_nothing_is_pruned_while_anything_is_unhealthy() -> None:
    someone = upgraded(
        {"a": [KEEP, config_map("old")], "b": [deployment("b")]},
        {"a": [KEEP], "b": [deployment("b", "broken")]},
    )
    assert someone.deploy()["failed"]
    assert find(someone, "old")
    pruned = next(one for one in someone.results if "nothing is pruned" in str(one.get("msg")))
    assert "component b" in pruned["msg"]
    someone.materials.given = release("2.10", {"a": [KEEP], "b": [deployment("b", "mended")]})
    planned = someone.plan()
    assert actions(planned)["a"] == "prune"
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert find(someone, "old") is None


def test_a_global_migration_after_sees_the_release_as_it_stays() -> None:
    class Looks(Migration):
        """It looks for what was dropped."""

        component, phase, keep = GLOBAL, Phase.POST, "for tests"

        def check(self, ctx: Context) -> Verdict:
            seen.append(ctx.cluster.get("v1", "ConfigMap", "old", "kyma-system") is not None)
            return not_needed("it only looks")

        def run(self, ctx: Context) -> None:
            """Never."""

    seen: list[bool] = []
    someone = upgraded({"a": [KEEP, config_map("old")]}, {"a": [KEEP]})
    someone.materials.classes = (Looks,)
    someone.deploy()
    assert seen == [False, False]


def test_data_definitions_and_namespaces_stay_unless_they_are_allowed() -> None:
    before: Entries = {
        "a": (ComponentEntry("a", "kyma-system"), [KEEP, claim("data")]),
        "b": (ComponentEntry("b", "lost"), [config_map("b")]),
    }
    after: Entries = {"a": [KEEP], "b": (ComponentEntry("b", "kyma-system"), [config_map("b")])}
    someone = upgraded(before, after, crds=[crd("Gateway")])
    planned = someone.plan()
    warnings = {one["name"]: one["warnings"] for one in planned["plan"]["components"]}
    warning = "PersistentVolumeClaim kyma-system/data belongs to no component any more, and stays"
    assert warning in warnings["a"][0]
    assert len(warnings["foundation"]) == 2
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert deletions(someone) == ["b"]
    again = someone.plan()
    assert not again["plan"]["needed"]
    someone.options["prune_allow"] = ["PersistentVolumeClaim kyma-system/data", "Namespace"]
    planned = someone.plan()
    assert actions(planned) == {"foundation": "prune", "a": "prune", "b": "unchanged"}
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert sorted(deletions(someone)) == ["b", "data", "lost"]
    assert someone.cluster.get("v1", "Namespace", "lost") is None
    assert someone.cluster.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "gateways.example.com")


def test_a_namespace_and_a_definition_are_pruned_with_objects_of_other_components() -> None:
    before: Entries = {
        "a": [KEEP, custom("Gateway", "kyma")],
        "b": (ComponentEntry("b", "lost"), [config_map("b")]),
    }
    after: Entries = {"a": [KEEP], "b": (ComponentEntry("b", "kyma-system"), [config_map("b")])}
    allowed = ["CustomResourceDefinition", "Namespace"]
    someone = upgraded(before, after, crds=[crd("Gateway")], prune_allow=allowed)

    delete_slowly(memory(someone), 0.2, "kyma", "b")
    planned = someone.plan()
    assert [one["warnings"] for one in planned["plan"]["components"]] == [[], [], []]
    result = someone.carry_out(planned)
    assert result["state"] == "succeeded"
    assert sorted(deletions(someone)) == ["b", "gateways.example.com", "kyma", "lost"]
    assert someone.cluster.get("v1", "Namespace", "lost") is None
    assert someone.cluster.resource("example.com/v1", "Gateway") is None


def test_a_definition_that_is_allowed_by_its_kind_stays_while_anybody_uses_it() -> None:
    someone = upgraded({"a": [KEEP]}, {"a": [KEEP]}, crds=[crd("Gateway")])
    gateway = custom("Gateway", "theirs")
    gateway["metadata"]["namespace"] = "default"
    someone.cluster.with_field_manager("somebody").create(gateway)
    someone.options["prune_allow"] = ["CustomResourceDefinition"]
    planned = someone.plan()
    [foundation] = [one for one in planned["plan"]["components"] if one["name"] == "foundation"]
    assert "these exist: Gateway default/theirs" in foundation["warnings"][0]
    assert someone.carry_out(planned)["state"] == "succeeded"
    someone.options["prune_allow"] = ["CustomResourceDefinition gateways.example.com"]
    planned = someone.plan()
    [foundation] = [one for one in planned["plan"]["components"] if one["name"] == "foundation"]
    note = "gateways.example.com is deleted with all that it has: Gateway default/theirs"
    assert foundation["warnings"] == [f"CustomResourceDefinition {note}"]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.cluster.resource("example.com/v1", "Gateway") is None


def test_a_namespace_that_is_allowed_by_its_name_is_pruned_with_contents_that_the_plan_names() -> None:
    before: Entries = {"a": [KEEP], "b": (ComponentEntry("b", "lost"), [config_map("b")])}
    after: Entries = {"a": [KEEP], "b": (ComponentEntry("b", "kyma-system"), [config_map("b")])}
    someone = upgraded(before, after, prune_allow=["Namespace lost"])
    theirs = {**config_map("theirs"), "metadata": {"name": "theirs", "namespace": "lost"}}
    someone.cluster.with_field_manager("somebody").create(theirs)
    planned = someone.plan()
    note = "Namespace lost is deleted with all that it has: ConfigMap lost/theirs"
    assert [one["warnings"] for one in planned["plan"]["components"] if one["warnings"]] == [[note]]
    result = someone.carry_out(planned)
    assert result["state"] == "succeeded"
    assert note in str(someone.record()["status"]["components"])
    assert someone.cluster.get("v1", "Namespace", "lost") is None


def test_an_orphaned_component_goes_only_when_asked_for() -> None:
    someone = upgraded(
        {"a": [KEEP, config_map("shared")], "kiali": [deployment("kiali"), config_map("kiali")]},
        {"a": [KEEP, config_map("shared")]},
    )
    assert someone.deploy()["state"] == "succeeded"
    assert actions(someone.plan())["kiali"] == "orphaned"
    assert find(someone, "kiali", "Deployment", "apps/v1")
    someone.options["prune"] = True
    planned = someone.plan()
    assert actions(planned) == {"foundation": "unchanged", "a": "unchanged", "kiali": "delete"}
    assert planned["plan"]["needed"]
    assert planned["plan"]["waves"] == []
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert find(someone, "kiali", "Deployment", "apps/v1") is None
    assert "kiali" not in read_inventories(someone.cluster)
    assert someone.installation().components == ("foundation", "a")
    with only_reads(memory(someone)):
        assert not someone.plan()["plan"]["needed"]


def test_a_recreated_object_is_pruned_with_the_component_that_had_it() -> None:
    other = {**KEEP, "metadata": {"name": "other"}}
    someone = deployer(release("2.9", {"a": [config_map("shared")], "b": [other]}), prune=True)
    assert someone.deploy()["state"] == "succeeded"
    memory(someone).delete("v1", "ConfigMap", "shared", "kyma-system")
    # Only b is deployed, so the inventory of a still names the object that was deleted by hand.
    someone.options["components"] = ["b"]
    for objects in ([other, config_map("shared")], [other]):
        someone.materials.given = release("2.10", {"b": objects})
        assert someone.deploy()["state"] == "succeeded"
    someone.options["components"] = []
    assert someone.deploy()["state"] == "succeeded"
    assert memory(someone).get("v1", "ConfigMap", "shared", "kyma-system") is None
    with only_reads(memory(someone)):
        assert not someone.plan()["plan"]["needed"]


@pytest.mark.parametrize("is_orphan", [False, True])
def test_an_object_that_two_components_drop_is_deleted_once_in_plan_and_run(is_orphan: bool) -> None:
    other = {**KEEP, "metadata": {"name": "other"}}
    someone = upgraded(
        {"a": [KEEP, config_map("shared")], "b": [other]},
        {"a": [KEEP], "b": [other, config_map("shared")]},
        prune=True,
    )
    assert someone.deploy()["state"] == "succeeded"
    assert recorded_names(someone, "a") == ["keep", "shared"], "nothing was pruned of it"
    someone.materials.given = release("2.11", {"a": [KEEP], **({} if is_orphan else {"b": [other]})})
    planned = someone.plan()
    changes = {one["name"]: one["changes"] for one in planned["plan"]["components"]}
    deleted = {"b": ["other"]} if is_orphan else {}
    assert {
        name: [one["name"] for one in some if one["action"] == "delete"] for name, some in changes.items()
    } == {"foundation": [], "b": [], "a": ["shared"], **deleted}
    start = len(memory(someone).requests)
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert deletions(someone, start).count("shared") == 1
    ended = someone.record()["status"]["components"]
    assert {name: one["deleted"] for name, one in ended.items() if one["deleted"]} == {
        name: len(some) for name, some in {"a": ["shared"], **deleted}.items()
    }
    note = "ConfigMap kyma-system/shared: component a has it too, and deletes it"
    assert [one["name"] for one in planned["plan"]["components"] if note in one["warnings"]] == ["b"]
    assert [name for name, one in ended.items() if note in one["warnings"]] == ["b"]
    assert "shared" not in [*recorded_names(someone, "a"), *recorded_names(someone, "b")]
    with only_reads(memory(someone)):
        assert not someone.plan()["plan"]["needed"]


def test_a_deletion_that_the_server_refuses_blocks() -> None:
    someone = upgraded({"a": [KEEP, config_map("old")]}, {"a": [KEEP]})
    memory(someone).fail_when(
        lambda request: request.verb == "delete", Forbidden("delete ConfigMap kyma-system/old", status=403)
    )
    planned = someone.plan()
    assert planned["failed"]
    assert "a: delete ConfigMap kyma-system/old" in planned["msg"]


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_plan_that_prunes_only_reads(check_mode: bool) -> None:
    someone = upgraded(
        {"a": [KEEP, config_map("old")], "b": [KEEP | {"metadata": {"name": "b"}}]}, {"a": [KEEP]}
    )
    someone.options["prune"] = True
    with only_reads(memory(someone)):
        assert someone.plan(check_mode=check_mode)["plan"]["prune"] == ["a", "b"]
