# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No deletion takes an operator away while what it manages lives."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError, Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.removal_gate import (
    PlannedRemovals,
    RemovalGate,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.delete import deletion
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import Right
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories

from tests.support.clock import FOREVER
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
from tests.support.operators import operator, operator_role
from tests.support.served_kinds import silent_api, with_versions

BOOKKEEPING = ("KymaRun", "KymaInventory", "KymaInstallation", "Lease")
GUARD = "example.com/guard"


def entry(name: str, *needs: str, prerequisite: bool = False) -> ComponentEntry:
    return ComponentEntry(name, "kyma-system", needs=needs, prerequisite=prerequisite)


KYMA: Entries = {
    "base": (entry("base", prerequisite=True), [config_map("base")]),
    "store": [config_map("store")],
    "operator": (entry("operator", "store"), operator("op", "things")),
    "other": [deployment("other")],
}


def installed(components: Entries | None = None, *crds: Object, **options: Any) -> Deployer:
    """A deployed release; the foundation has the definitions, of Things if no others are given."""
    given = release("2.9", components or KYMA, crds=crds or [crd("Thing")])
    return deployer_after(given, timeout=3, **options)


def thing(name: str, kind: str = "Thing", **meta: Any) -> Object:
    return {**custom(kind, name), "metadata": {"name": name, "namespace": "default", **meta}}


def make(someone: Deployer, *objects: Object) -> None:
    """Let a user make objects."""
    for obj in objects:
        someone.cluster.with_field_manager("kubectl").create(obj)
    memory(someone).requests.clear()


def let_go(someone: Deployer, name: str, kind: str = "Thing") -> None:
    place = next(
        one["metadata"]["namespace"]
        for one in someone.cluster.list("example.com/v1", kind).items
        if one["metadata"]["name"] == name
    )
    patch = {"metadata": {"finalizers": None}}
    someone.cluster.patch("example.com/v1", kind, name, place, patch)


def deletions(someone: Deployer) -> list[str]:
    """What was deleted, in this order, without the collection's own records."""
    refs = [one.ref for one in memory(someone).requests if one.verb == "delete" and one.writes]
    return [f"{r.kind} {r.name}" for r in refs if r.kind not in BOOKKEEPING and r.name != LIFECYCLE_NAMESPACE]


def states(result: Any) -> dict[str, str]:
    return {one["name"]: one["state"] for one in result["components"]}


def is_running(someone: Deployer, name: str = "op") -> bool:
    return someone.cluster.get("apps/v1", "Deployment", name, "kyma-system") is not None


@pytest.mark.parametrize("check_mode", [True, False])
def test_an_operator_stays_with_all_that_it_needs_while_its_resources_live(check_mode: bool) -> None:
    someone = installed()
    make(someone, thing("theirs"))
    result = someone.delete(check_mode=check_mode)
    assert result["failed"]
    assert states(result) == {
        "other": "succeeded",
        "operator": "not started",
        "store": "not started",
        "base": "not started",
        "foundation": "not started",
    }
    message = result["msg"]
    assert (
        "operator not started: nothing of it is deleted, because resources that it manages exist and need it:"
        " 1 Thing.example.com\n    Thing default/theirs: " in message
    )
    assert "written by kubectl" in message
    assert "Delete them first, or have them deleted while it still runs: force=true" in message
    assert "store not started: operator may need it" in message
    if check_mode:
        assert deletions(someone) == []
    else:
        assert deletions(someone) == ["Deployment other"]
        assert set(read_inventories(someone.cluster)) == {"foundation", "base", "store", "operator"}
        someone.cluster.delete("example.com/v1", "Thing", "theirs", "default")
        assert not someone.delete().get("failed")
        assert someone.cluster.resource(API_VERSION, "KymaInventory") is None


def test_the_progress_names_blocking_resources_in_one_line() -> None:
    someone = installed()
    make(someone, thing("theirs"))
    someone.delete()
    [detail] = [
        detail for name, state, detail in someone.reports if (name, state) == ("operator", "not started")
    ]
    assert detail.endswith("need it: 1 Thing.example.com")


def test_a_deletion_lists_each_kind_once() -> None:
    someone = installed(KYMA, crd("Thing"), crd("Widget"))
    someone.delete(check_mode=True)
    lists = [one.ref.kind for one in memory(someone).requests if one.verb == "list"]
    # The other one is for the definition, when its own turn has come.
    assert (lists.count("Thing"), lists.count("Widget")) == (2, 2)
    memory(someone).requests.clear()
    someone.delete("operator", check_mode=True)
    lists = [one.ref.kind for one in memory(someone).requests if one.verb == "list"]
    assert lists.count("Thing") == 1
    assert "Widget" not in lists


def test_a_component_that_manages_nothing_costs_nothing() -> None:
    someone = installed()
    memory(someone).fail_when(
        lambda one: one.verb == "list" and one.ref.kind in ("Thing", "ClusterRole"), ApiError("", status=500)
    )
    assert not someone.delete("other", "store").get("failed")


def test_with_force_its_resources_go_first_while_it_runs() -> None:
    someone = installed()
    make(someone, thing("theirs", finalizers=[GUARD]))

    def reconcile(cluster: Cluster, event: Event) -> None:
        meta = event.object["metadata"]
        if meta.get("deletionTimestamp") and meta.get("finalizers") == [GUARD]:
            running = cluster.get("apps/v1", "Deployment", "op", "kyma-system")
            assert running, "the operator is gone"
            patch = {"metadata": {"finalizers": None}}
            cluster.patch("example.com/v1", "Thing", meta["name"], meta["namespace"], patch)

    memory(someone).on_write(reconcile)
    result = someone.delete("operator", force=True)
    assert not result.get("failed")
    assert deletions(someone)[0] == "Thing theirs"
    assert not is_running(someone)


def test_with_force_it_stays_as_long_as_a_finalizer_holds_a_resource() -> None:
    someone = installed()
    make(someone, thing("theirs", finalizers=[GUARD]))
    someone.options["timeout"] = 0.3
    result = someone.delete(force=True)
    assert "custom resources failed: Thing default/theirs: it was deleted" in result["msg"]
    assert is_running(someone)
    let_go(someone, "theirs")
    assert not someone.delete(force=True).get("failed")


def test_a_role_for_people_and_one_for_all_groups_manage_nothing() -> None:
    everything = {"apiGroups": ["example.com"], "resources": ["*"], "verbs": ["*"]}
    for_all = {"apiGroups": ["*"], "resources": ["*/status"], "verbs": ["*"]}
    role = {**operator_role("people"), "rules": [everything, for_all]}
    someone = installed({"people": [role]})
    make(someone, thing("theirs"))
    assert not someone.delete("people").get("failed")


# Resources that components themselves bring.

HELD = thing("ours", finalizers=[GUARD])
ORDERS: dict[str, tuple[Entries, str]] = {
    "in the same component": ({"operator": [*operator("op", "things"), HELD]}, "operator"),
    "beside it": ({"apps": [HELD], "operator": operator("op", "things")}, "apps"),
    "in one that it needs": (
        {"apps": [HELD], "operator": (entry("operator", "apps"), operator("op", "things"))},
        "operator",
    ),
    "in one that needs it": (
        {"apps": (entry("apps", "operator"), [HELD]), "operator": operator("op", "things")},
        "apps",
    ),
    "in a prerequisite": (
        {"apps": (entry("apps", prerequisite=True), [HELD]), "operator": operator("op", "things")},
        "operator",
    ),
}


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("order", ORDERS)
def test_a_resource_of_a_component_blocks_nothing_and_is_deleted_before_its_operator(
    order: str, force: bool
) -> None:
    components, failing = ORDERS[order]
    someone = installed(components)
    assert not someone.delete(check_mode=True, force=force).get("failed")
    someone.options["timeout"] = 0.3
    result = someone.delete(force=force)
    assert states(result)[failing] == "failed"
    assert GUARD in result["msg"]
    assert "Thing ours" in deletions(someone)
    assert is_running(someone)
    assert "Deployment op" not in deletions(someone)
    let_go(someone, "ours")
    again = someone.delete(force=force)
    assert not again.get("failed"), again["msg"]
    assert someone.cluster.resource(API_VERSION, "KymaInventory") is None


@pytest.mark.parametrize("workers", [1, 4])
# Whichever of both is first in its wave.
@pytest.mark.parametrize("names", [("apps", "operator"), ("operator", "apps")])
def test_an_operator_beside_it_waits_until_it_is_gone(workers: int, names: tuple[str, str]) -> None:
    parts: dict[str, Sequence[Object]] = {"apps": [HELD], "operator": operator("op", "things")}
    someone = installed({name: parts[name] for name in names}, workers=workers)
    running: list[bool] = []

    def end() -> None:
        running.append(is_running(someone))
        let_go(someone, "ours")

    def start(_cluster: Cluster, event: Event) -> None:
        meta = event.object["metadata"]
        if meta["name"] == "ours" and meta.get("deletionTimestamp") and not running:
            running.append(True)
            threading.Timer(0.3, end).start()

    memory(someone).on_write(start)
    result = someone.delete()
    assert not result.get("failed"), result["msg"]
    assert running == [True, True]


def test_an_operator_waits_for_dependents_of_a_deleted_resource() -> None:
    someone = installed({"operator": [*operator("op", "things"), thing("ours")]})
    parent = someone.cluster.get("example.com/v1", "Thing", "ours", "default")
    assert parent
    owner = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "ours"}
    owner["uid"] = parent["metadata"]["uid"]
    make(someone, thing("child", ownerReferences=[owner], finalizers=[GUARD]))
    someone.options["timeout"] = 0.3
    result = someone.delete("operator")
    assert "operator failed: its operator stays, because its resources exist: 1 Thing" in result["msg"]
    assert f"(finalizers: {GUARD})" in result["msg"]
    assert is_running(someone)
    assert read_inventories(someone.cluster)["operator"].refs
    let_go(someone, "child")
    assert not someone.delete("operator").get("failed")
    assert not is_running(someone)


def test_an_operator_stays_at_once_if_a_user_creates_a_resource_meanwhile() -> None:
    someone = installed({"operator": [*operator("op", "things"), thing("ours")]})

    def make_one(cluster: Cluster, event: Event) -> None:
        if (event.type, event.object["metadata"]["name"]) == ("DELETED", "ours"):
            cluster.create(thing("late"))

    memory(someone).on_write(make_one)
    someone.options["timeout"] = FOREVER
    result = someone.delete("operator")
    assert (
        "operator failed: its operator stays, because its resources exist: 1 Thing.example.com"
        in result["msg"]
    )
    assert "Thing default/late" in result["msg"]
    assert is_running(someone)


def test_a_cancellation_ends_that_wait() -> None:
    someone = installed({"operator": [*operator("op", "things"), thing("ours")]}, grace=0)
    parent = someone.cluster.get("example.com/v1", "Thing", "ours", "default")
    assert parent
    owner = {"apiVersion": "example.com/v1", "kind": "Thing", "name": "ours"}
    owner["uid"] = parent["metadata"]["uid"]
    make(someone, thing("child", ownerReferences=[owner], finalizers=[GUARD]))
    someone.options["timeout"] = FOREVER
    someone.cancelled = lambda: "Thing ours" in deletions(someone)
    result = someone.delete("operator")
    assert states(result) == {"operator": "cancelled"}
    assert is_running(someone)


def test_a_resource_of_a_component_that_stays_blocks() -> None:
    someone = installed({"apps": [thing("ours")], "operator": operator("op", "things")})
    result = someone.delete("operator")
    assert states(result) == {"operator": "not started"}
    assert "Thing default/ours" in result["msg"]
    assert not someone.delete("operator", "apps").get("failed")


def test_a_resource_of_a_component_that_is_blocked_itself_blocks_too() -> None:
    components: Entries = {
        "apps": [*operator("apps", "widgets"), thing("ours")],
        "operator": operator("op", "things"),
    }
    someone = installed(components, crd("Thing"), crd("Widget"))
    make(someone, thing("theirs", "Widget"))
    result = someone.delete()
    assert {name for name, state in states(result).items() if state == "not started"} == {
        "apps",
        "operator",
        "foundation",
    }
    assert deletions(someone) == []


def test_a_prerequisite_that_is_blocked_keeps_none_that_goes_before_it() -> None:
    components: Entries = {
        "first": (entry("first", prerequisite=True), operator("first", "widgets")),
        "second": (entry("second", prerequisite=True), [thing("ours")]),
        "operator": operator("op", "things"),
    }
    someone = installed(components, crd("Thing"), crd("Widget"))
    make(someone, thing("theirs", "Widget"))
    assert states(someone.delete()) == {
        "operator": "succeeded",
        "second": "succeeded",
        "first": "not started",
        "foundation": "not started",
    }


def test_a_definition_that_lost_its_last_resource_and_has_a_new_one_stays() -> None:
    someone = installed()

    def make_one(cluster: Cluster, event: Event) -> None:
        if (event.type, event.object["kind"]) == ("DELETED", "Deployment") and not made:
            made.append(1)
            cluster.create(thing("late"))

    made: list[int] = []
    memory(someone).on_write(make_one)
    result = someone.delete()
    assert not result.get("failed")
    assert "CustomResourceDefinition things.example.com: it stays, as these exist" in result["warnings"][0]


# Asking fails.


def fail_lists(someone: Deployer, kind: str, status: int) -> None:
    error = (Forbidden if status == 403 else ApiError)(f"list {kind}", status=status, api_message="no")
    memory(someone).fail_when(lambda one: one.verb == "list" and one.ref.kind == kind, error)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("status", [403, 500])
@pytest.mark.parametrize("kind", ["Thing", "ClusterRole", "CustomResourceDefinition"])
def test_if_asking_fails_nothing_of_that_component_goes(kind: str, status: int, force: bool) -> None:
    someone = installed()
    fail_lists(someone, kind, status)
    result = someone.delete("operator", "other", force=force)
    assert states(result) == {"operator": "not started", "other": "succeeded"}
    reason = "operator not started: nothing of it is deleted, because it is unknown whether resources"
    assert f"{reason} that it manages exist: list {kind}: no" in result["msg"]
    assert deletions(someone) == ["Deployment other"]


def test_nothing_of_an_operator_is_deleted_without_a_served_version_or_an_aggregated_api() -> None:
    someone = installed(KYMA, crd("Thing"), crd("Widget"))
    someone.cluster.apply(with_versions(crd("Thing"), v1=False))
    result = someone.delete("operator", "other")
    assert states(result) == {"operator": "not started", "other": "succeeded"}
    assert (
        "CustomResourceDefinition things.example.com: the cluster serves Thing in no version" in result["msg"]
    )
    someone.cluster.apply(silent_api("example.com", "v9"))
    assert "APIService v9.example.com" in someone.delete("operator")["msg"]
    assert is_running(someone)


@pytest.mark.parametrize("force", [False, True])
def test_the_rights_to_look_are_asked_for_beforehand(monkeypatch: pytest.MonkeyPatch, force: bool) -> None:
    local = {**operator_role("local"), "kind": "Role"}
    someone = installed({"operator": [*operator("op", "things"), local], "other": [deployment("other")]})
    inventories = read_inventories(someone.cluster)

    def rights(name: str) -> set[Right]:
        removed = {name: inventories[name].entries}
        planned = PlannedRemovals(removed, [name], inventories, force=force)
        return RemovalGate(someone.cluster, planned).rights()

    rbac = "rbac.authorization.k8s.io"
    looking = {
        Right("list", "apiextensions.k8s.io", "customresourcedefinitions"),
        Right("list", rbac, "clusterroles"),
        Right("list", rbac, "roles", "kyma-system"),
        Right("list", "example.com", "things"),
    }
    deleting = {Right(verb, "example.com", "things") for verb in ("get", "delete")}
    assert rights("operator") == looking | (deleting if force else set())
    assert rights("other") == set()
    # A deletion does not begin without them.
    demanded: list[set[Right]] = []
    monkeypatch.setattr(deletion, "demand", lambda _cluster, needed, _what: demanded.append(set(needed)))
    someone.delete("operator", check_mode=True, force=force)
    assert rights("operator") <= demanded[0]
    # Which kinds these are is not known then.
    fail_lists(someone, "ClusterRole", 403)
    assert rights("operator") == {right for right in looking if right.group != "example.com"}
