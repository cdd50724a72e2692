# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting everything that was deployed, or some of it, on the in-memory cluster."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Event,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs import cancellation as stopping
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    read_inventories,
    rewrite_inventory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import hold, run
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import (
    Deployer,
    config_map,
    crd,
    custom,
    delete_slowly,
    deployer,
    deployer_after,
    deployment,
    healthy_cluster,
    memory,
    only_reads,
    release,
    slow_clock,
)
from tests.support.extent import sample

BOOKKEEPING = ("KymaRun", "KymaInventory", "KymaInstallation", "Lease")


def kyma(version: str = "2.9", **more: Any) -> Release:
    """Two prerequisites, three components of which one needs another, and a definition."""

    def entry(name: str, *needs: str, prerequisite: bool = False) -> ComponentEntry:
        return ComponentEntry(name, "kyma-system", needs=needs, prerequisite=prerequisite)

    components: dict[str, Any] = {
        "certs": (entry("certs", prerequisite=True), [config_map("ca")]),
        "istio": (entry("istio", prerequisite=True), [deployment("istio"), config_map("mesh")]),
        "dashboards": (entry("dashboards", "monitoring"), [config_map("boards")]),
        "monitoring": [deployment("monitoring")],
        "gateway": [custom("Gateway", "kyma"), config_map("routes")],
    }
    return release(version, components, crds=[crd("Gateway")], **more)


def installed(cluster: MemoryCluster | None = None, **options: Any) -> Deployer:
    if cluster is None:
        return deployer_after(kyma(), timeout=3, **options)
    someone = deployer(kyma(), cluster=cluster, timeout=3, **options)
    assert someone.deploy()["state"] == "succeeded"
    memory(someone).requests.clear()
    return someone


def named(name: str, **metadata: Any) -> Object:
    return {**config_map(name), "metadata": {"name": name, "namespace": "kyma-system", **metadata}}


def deletions(someone: Deployer) -> list[str]:
    """What was deleted, in this order, without the collection's own records."""
    refs = [one.ref for one in memory(someone).requests if one.verb == "delete" and one.writes and one.ref]
    return [str(ref) for ref in refs if ref.kind not in BOOKKEEPING and ref.name != LIFECYCLE_NAMESPACE]


LEASE_OBJECTS = {
    Ref("", "Namespace", "", LIFECYCLE_NAMESPACE),
    Ref("coordination.k8s.io", "Lease", LIFECYCLE_NAMESPACE, "deployment"),
}


def everything(cluster: MemoryCluster) -> set[Ref]:
    # An API server deletes Events itself, after an hour.
    return {ref for ref in cluster._store.objects if ref.kind != "Event"}


def test_everything_goes_backwards_and_nothing_of_ours_remains() -> None:
    cluster = healthy_cluster()
    empty = everything(cluster)
    someone = installed(cluster)
    result = someone.delete()
    assert (result["changed"], result.get("failed", False)) == (True, False)
    assert everything(cluster) == empty
    order = deletions(someone)
    places = [
        order.index(f"{kind} kyma-system/{name}")
        for kind, name in (
            ("ConfigMap", "boards"),
            ("Deployment", "monitoring"),
            ("Deployment", "istio"),
            ("ConfigMap", "mesh"),
            ("ConfigMap", "ca"),
        )
    ]
    assert places == sorted(places)
    assert order.index("Gateway kyma-system/kyma") < order.index("ConfigMap kyma-system/routes")
    assert order[-10:-7] == [
        "CustomResourceDefinition gateways.example.com",
        "Namespace kyma-system",
        "ClusterRole kyma-lifecycle-view",
    ]
    assert all(one.endswith(".lifecycle.kyma-project.io") for one in order[-7:])


def test_a_cluster_without_our_objects_needs_no_deletion() -> None:
    someone = deployer(kyma())
    with only_reads(memory(someone)):
        result = someone.delete()
    assert (result["changed"], result["summary"]) == (False, ["nothing to delete"])


def test_check_mode_lists_all_deletions_and_deletes_nothing() -> None:
    someone = installed()
    with only_reads(memory(someone)):
        result = someone.delete(check_mode=True)
    assert result["changed"]
    shown = [entry["before_header"] for entry in result["diff"]]
    memory(someone).requests.clear()
    someone.delete()
    assert sorted(shown) == sorted(deletions(someone))


def test_a_definition_that_others_use_stays_and_its_resources_are_listed() -> None:
    someone = installed()
    theirs = custom("Gateway", "theirs")
    theirs["metadata"]["namespace"] = "default"
    someone.cluster.with_field_manager("somebody").create(theirs)
    result = someone.delete()
    assert result["failed"]
    reason = (
        "foundation not started: nothing of it is deleted, because resources that it manages exist and "
        "need it:"
    )
    assert f"{reason} 1 Gateway.example.com\n    Gateway default/theirs" in result["msg"]
    assert someone.cluster.get("example.com/v1", "Gateway", "theirs", "default")
    assert [(name, len(one.entries)) for name, one in read_inventories(someone.cluster).items()] == [
        ("foundation", 2)
    ]
    with only_reads(memory(someone)):
        again = someone.delete()
    assert (again["changed"], reason in again["msg"]) == (False, True)
    someone.cluster.delete("example.com/v1", "Gateway", "theirs", "default")
    assert someone.delete()["changed"]
    assert someone.cluster.resource(API_VERSION, "KymaInventory") is None


def test_a_definition_that_gets_a_resource_meanwhile_stays_and_is_all_that_is_recorded() -> None:
    someone = installed()
    theirs = custom("Gateway", "theirs")
    theirs["metadata"]["namespace"] = "default"

    def make(cluster: Cluster, event: Event) -> None:
        if (event.type, event.object["metadata"]["name"]) == ("DELETED", "istio") and not made:
            made.append(1)
            cluster.create(theirs)

    made: list[int] = []
    memory(someone).on_write(make)
    result = someone.delete()
    assert not result.get("failed")
    warning = (
        "CustomResourceDefinition gateways.example.com: it stays, as these exist: Gateway default/theirs"
    )
    assert result["warnings"] == [warning]
    assert warning in result["msg"]
    assert [
        entry.ref.kind for one in read_inventories(someone.cluster).values() for entry in one.entries
    ] == ["CustomResourceDefinition"]
    assert (read_installation(someone.cluster).version, read_installation(someone.cluster).target) == ("", "")
    someone.cluster.delete("example.com/v1", "Gateway", "theirs", "default")
    assert someone.delete()["changed"]
    assert someone.cluster.resource(API_VERSION, "KymaInventory") is None


def test_with_force_the_resources_of_others_go_first_and_then_their_definition() -> None:
    someone = installed()
    theirs = custom("Gateway", "theirs")
    theirs["metadata"]["namespace"] = "default"
    someone.cluster.with_field_manager("somebody").create(theirs)
    result = someone.delete(force=True)
    assert not result.get("failed")
    assert deletions(someone)[0] == "Gateway default/theirs"
    assert someone.cluster.resource(API_VERSION, "KymaInventory") is None


def test_a_namespace_in_which_others_live_stays_unless_forced() -> None:
    someone = installed()
    someone.cluster.with_field_manager("somebody").create(named("theirs"))
    result = someone.delete()
    assert result["warnings"] == [
        "Namespace kyma-system: it stays, as it still has: ConfigMap kyma-system/theirs"
    ]
    assert someone.cluster.get("v1", "ConfigMap", "theirs", "kyma-system")
    note = "  note: Namespace kyma-system is deleted with all that it has: ConfigMap kyma-system/theirs"
    assert note in someone.delete(force=True, check_mode=True)["summary"]
    result = someone.delete(force=True)
    assert result["changed"]
    assert note in result["summary"]
    assert someone.cluster.get("v1", "Namespace", "kyma-system") is None


def test_with_force_a_namespace_whose_contents_are_unknown_is_named() -> None:
    someone = installed()
    memory(someone).fail_when(
        lambda request: request.verb == "list" and request.ref.kind == "Pod", Unreachable("no answer")
    )
    summary = someone.delete(force=True, check_mode=True)["summary"]
    assert any("is deleted with all that it has: it is unknown what that is" in one for one in summary)


def test_objects_of_controllers_in_every_namespace_do_not_retain_a_namespace() -> None:
    someone = installed()
    root = named("kube-root-ca.crt")
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "ca", "uid": "1"}
    owned = named("owned", ownerReferences=[owner])
    for obj in (root, owned):
        someone.cluster.with_field_manager("controller").create(obj)
    assert someone.delete()["warnings"] == []
    assert someone.cluster.get("v1", "Namespace", "kyma-system") is None


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_components_namespace_goes_although_another_one_lives_in_it(check_mode: bool) -> None:
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "home"}}
    guest = {**config_map("guest"), "metadata": {"name": "guest", "namespace": "home"}}
    someone = deployer_after(release("2.9", {"host": [home]}), timeout=3)
    someone.materials.given = release("2.10", {"host": [home], "guest": [guest]})
    assert someone.deploy()["state"] == "succeeded"

    delete_slowly(memory(someone), 0.2, "guest")
    result = someone.delete("host", "guest", check_mode=check_mode)
    assert {one["name"]: (one["state"], one["deleted"]) for one in result["components"]} == {
        "host": ("succeeded", 1),
        "guest": ("succeeded", 1),
    }
    assert result["warnings"] == []
    assert (someone.cluster.get("v1", "Namespace", "home") is None) is not check_mode


def test_the_time_that_others_take_is_not_a_components_own() -> None:
    meta = {"name": "home", "finalizers": ["example.com/guard"]}
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}
    someone = deployer_after(release("2.9", {"host": [home], "other": [config_map("slow")]}), timeout=1)
    cluster = memory(someone)

    def let_go(_cluster: Cluster, event: Event) -> None:
        meta = event.object["metadata"]
        if meta["name"] == "home" and "deletionTimestamp" in meta and meta.get("finalizers"):
            patch = {"metadata": {"finalizers": None}}
            threading.Timer(0.2, cluster.patch, ("v1", "Namespace", "home", None, patch)).start()

    delete_slowly(cluster, 1.2, "slow")
    cluster.on_write(let_go)
    result = someone.delete("host", "other")
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get("v1", "Namespace", "home") is None


def test_a_namespace_that_existed_before_stays_even_by_force(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slow_clock(monkeypatch)
    cluster = healthy_cluster()
    labelled = {"name": "kyma-system", "labels": {"team": "a"}}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": labelled}
    cluster.with_field_manager("kubectl-create").create(namespace)
    someone = installed(cluster)
    result = someone.delete(force=True)
    assert result["warnings"] == ["Namespace kyma-system: kyma.lifecycle did not create it, so it stays"]
    assert cluster.get("v1", "Namespace", "kyma-system")
    assert cluster.resource(API_VERSION, "KymaInventory") is None


def test_an_object_with_a_finalizer_is_reported_and_its_needs_stay() -> None:
    someone = installed()
    patch = {"metadata": {"finalizers": ["example.com/guard"]}}
    someone.cluster.patch("example.com/v1", "Gateway", "kyma", "kyma-system", patch)
    someone.options["timeout"] = 0.3
    result = someone.delete()
    assert result["failed"]
    assert "gateway failed: Gateway kyma-system/kyma: it was deleted" in result["msg"]
    assert "example.com/guard" in result["msg"]
    assert "istio not started: gateway may need it" in result["msg"]
    assert set(read_inventories(someone.cluster)) == {"foundation", "certs", "istio", "gateway"}
    assert ("gateway", "deleting") in {(subject, state) for subject, state, _detail in someone.reports}
    someone.cluster.patch(
        "example.com/v1", "Gateway", "kyma", "kyma-system", {"metadata": {"finalizers": None}}
    )
    assert not someone.delete().get("failed")
    assert someone.cluster.resource(API_VERSION, "KymaInventory") is None


def test_a_workload_that_waits_for_its_pods_names_them() -> None:
    someone = installed()
    workload = someone.cluster.get("apps/v1", "Deployment", "istio", "kyma-system")
    assert workload
    owner = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "istio",
        "uid": workload["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    held = {"labels": {"app": "istio"}, "ownerReferences": [owner], "finalizers": ["example.com/guard"]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**named("istio-0")["metadata"], **held}}
    someone.cluster.with_field_manager("controller").create({**pod, "spec": {"containers": []}})
    someone.options["timeout"] = 0.3
    result = someone.delete("istio")
    assert "Deployment kyma-system/istio: it was deleted, and has to wait for pod istio-0" in result["msg"]
    assert "(held by example.com/guard)" in result["msg"]


def test_after_an_interruption_anywhere_a_rerun_goes_on() -> None:
    empty = everything(healthy_cluster())
    undisturbed = installed()
    undisturbed.delete()
    writes = [request for request in memory(undisturbed).requests if request.writes]
    assert len(writes) > 20
    for call in sample(range(1, len(writes) + 1), 7):
        someone = installed()
        cluster = memory(someone)
        cluster.fail_at(call, Unreachable("the connection broke"), before=bool(call % 2), writes_only=True)
        someone.delete()
        assert not someone.delete().get("failed"), call
        # A lease whose release was never sent has to expire, and nothing is left to delete by then.
        is_held = bool(call % 2) and writes[call - 1].ref.kind == "Lease"
        assert everything(cluster) - (LEASE_OBJECTS if is_held else set()) == empty, call


def test_a_recreated_object_is_left_alone() -> None:
    someone = installed()
    someone.cluster.delete("v1", "ConfigMap", "boards", "kyma-system")
    someone.cluster.with_field_manager("somebody").create(named("boards"))
    result = someone.delete()
    assert "ConfigMap kyma-system/boards: others have recreated it" in result["warnings"][0]
    assert someone.cluster.get("v1", "ConfigMap", "boards", "kyma-system")


def test_an_object_that_others_have_added_to_an_inventory_is_left_alone() -> None:
    someone = installed()
    live = someone.cluster.with_field_manager("kubectl").create(named("theirs", namespace="kyma-system"))
    inventory = read_inventories(someone.cluster)["dashboards"]
    forged = replace(inventory, entries=(*inventory.entries, entry_of(live)))
    rewrite_inventory(someone.cluster, forged)
    warnings = someone.delete()["warnings"]
    assert any("ConfigMap kyma-system/theirs: kyma.lifecycle has written" in one for one in warnings)
    assert someone.cluster.get("v1", "ConfigMap", "theirs", "kyma-system")


def test_force_deletes_no_resource_whose_definition_others_have_added_to_an_inventory() -> None:
    someone = installed()
    others = someone.cluster.with_field_manager("kubectl")
    definition = others.apply(crd("Certificate", "others.example.com"))
    theirs = custom("Certificate", "theirs", "others.example.com")
    others.apply({**theirs, "metadata": {"name": "theirs", "namespace": "kyma-system"}})
    inventory = read_inventories(someone.cluster)["dashboards"]
    forged = replace(inventory, entries=(*inventory.entries, entry_of(definition)))
    rewrite_inventory(someone.cluster, forged)
    someone.delete("dashboards", force=True)
    assert someone.cluster.get("others.example.com/v1", "Certificate", "theirs", "kyma-system")
    assert someone.cluster.get("v1", "ConfigMap", "boards", "kyma-system") is None


def test_some_components_alone() -> None:
    someone = installed()
    result = someone.delete("monitoring", "dashboards", "unheard-of")
    assert [one["name"] for one in result["components"]] == ["dashboards", "monitoring"]
    assert deletions(someone) == ["ConfigMap kyma-system/boards", "Deployment kyma-system/monitoring"]
    assert not someone.delete("monitoring")["changed"]
    planned = someone.plan()
    actions = {one["name"]: one["action"] for one in planned["plan"]["components"]}
    assert actions["monitoring"] == actions["dashboards"] == "install"
    assert actions["istio"] == "unchanged"


def test_a_component_may_be_called_as_our_own_records_are_and_is_deleted_alone() -> None:
    someone = deployer_after(
        release("2.9", {"records": [config_map("records")], "other": [config_map("other")]})
    )
    assert not someone.delete("records").get("failed")
    assert deletions(someone) == ["ConfigMap kyma-system/records"]
    assert someone.cluster.get("v1", "Namespace", LIFECYCLE_NAMESPACE)
    assert read_lease(someone.cluster).epoch


def test_a_component_that_is_called_migrations_fails_as_any_other() -> None:
    components = {"base": (ComponentEntry("base", "kyma-system", prerequisite=True), [config_map("base")])}
    someone = deployer(release("2.9", {**components, "migrations": [deployment("istio")]}), timeout=0.3)
    someone.deploy()
    stuck(someone)
    result = someone.delete()
    assert "base not started: migrations may need it, which is not gone (failed)" in result["msg"]
    assert result["summary"][1].startswith("  delete    migrations  ")


def with_prerequisites(version: str, third: str = "3") -> Release:
    def prerequisite(name: str, value: str = "") -> Any:
        return ComponentEntry(name, "kyma-system", prerequisite=True), [config_map(name, value=value)]

    components = {
        "one": prerequisite("one"),
        "two": prerequisite("two"),
        "three": prerequisite("three", third),
    }
    return release(version, {**components, "a": [config_map("a", version=version)]})


@pytest.mark.parametrize("complete", [True, False])
def test_after_a_run_of_components_alone_they_go_in_the_order_of_the_whole_release(complete: bool) -> None:
    someone = deployer(with_prerequisites("2.9"), timeout=3)
    if not complete:
        memory(someone).fail_when(
            lambda one: one.writes and not one.dry_run and one.ref == ref_of(named("a")), Unreachable("gone")
        )
    assert bool(someone.deploy().get("failed")) is not complete
    someone.materials.given = with_prerequisites("2.9", "three")
    someone.options["components"] = ["three"]
    assert someone.deploy()["state"] == "succeeded"
    memory(someone).requests.clear()
    someone.delete()
    places = [f"ConfigMap kyma-system/{name}" for name in ("three", "two", "one")]
    assert [one for one in deletions(someone) if one in places] == places


def test_components_that_stay_as_they_are_go_as_the_newest_run_has_listed_them() -> None:
    def given(version: str, **entries: Any) -> Release:
        made = {name: ComponentEntry(name, "kyma-system", **more) for name, more in entries.items()}
        return release(version, {name: (entry, [config_map(name)]) for name, entry in made.items()})

    listed = {"b": {"prerequisite": True}, "a": {"needs": ("c",), "version": "1.1"}, "c": {}}
    someone = deployer_after(given("2.9", a={}, b={}, c={"needs": ("a",)}), timeout=3)
    someone.materials.given = given("2.9", **listed)
    with only_reads(memory(someone)):
        assert not someone.deploy()["plan"]["needed"]
    someone.materials.given = given("2.10", **listed)
    memory(someone).requests.clear()
    assert someone.deploy()["state"] == "succeeded"
    writes = [one.ref for one in memory(someone).requests if one.writes]
    assert [one.name for one in writes if one.kind in ("KymaInventory", "ConfigMap")] == ["b", "a", "c"]
    [row] = someone.component_info(names=["a"])["components"]
    assert row["component_version"] == "1.1"
    with only_reads(memory(someone)):
        someone.deploy()
    memory(someone).requests.clear()
    someone.delete()
    assert deletions(someone)[:3] == [f"ConfigMap kyma-system/{name}" for name in ("a", "c", "b")]


def test_a_plan_that_was_made_before_is_refused_afterwards() -> None:
    someone = installed()
    someone.materials.given = kyma("2.10")
    planned = someone.plan()
    someone.delete("gateway")
    assert someone.carry_out(planned)["failed"]


def test_a_cancellation_leaves_what_comes_later() -> None:
    someone = installed()
    someone.cancelled = lambda: True
    result = someone.delete()
    assert result["failed"]
    assert deletions(someone) == []
    assert "cancelled" in result["msg"]


# The record.


def stuck(someone: Deployer, kind: str = "Deployment", name: str = "istio") -> None:
    """Something holds one object, so that it does not go."""
    api_version = "apps/v1" if kind == "Deployment" else "v1"
    patch = {"metadata": {"finalizers": ["example.com/guard"]}}
    someone.cluster.with_field_manager("guard").patch(api_version, kind, name, "kyma-system", patch)


def let_go(someone: Deployer, kind: str = "Deployment", name: str = "istio") -> None:
    api_version = "apps/v1" if kind == "Deployment" else "v1"
    someone.cluster.patch(api_version, kind, name, "kyma-system", {"metadata": {"finalizers": None}})


def test_a_deletion_is_a_run_of_its_own() -> None:
    someone = installed()
    deployment_run = someone.installation().last_run
    stuck(someone)
    someone.options["timeout"] = 0.3
    result = someone.delete()
    record = someone.record()
    assert result["run"] == record["metadata"]["name"] != deployment_run
    status = record["status"]
    begin = status["begin"]
    assert (begin["action"], begin["version"], begin["previous"]) == ("delete", "2.9", "2.9")
    assert begin["components"][-1] == "foundation"
    assert (status["state"], result["state"]) == ("failed", "failed")
    assert result["msg"].startswith("not everything is deleted; correct what holds it")
    assert "finalizers hold it: example.com/guard" in status["message"]
    assert someone.states() == {
        "dashboards": "succeeded",
        "monitoring": "succeeded",
        "gateway": "succeeded",
        "istio": "failed",
        "certs": "not started",
        "foundation": "not started",
    }
    states = {name: phase["state"] for name, phase in status["phases"].items()}
    assert states == {
        "begin": "succeeded",
        "components": "succeeded",
        "prerequisites": "failed",
        "foundation": "not started",
    }
    row = someone.run_info(run=result["run"])["runs"][0]
    assert (row["action"], row["note"]) == ("delete", "")
    assert {row["name"] for row in result["durations"] if row["kind"] == "component"} == set(someone.states())
    assert any(line.split()[:2] == ["component", "istio"] for line in result["summary"])
    let_go(someone)
    again = someone.delete()
    assert (again["state"], again["run"] != result["run"]) == ("succeeded", True)


def test_the_record_of_a_deletion_has_its_end_before_it_is_deleted_last() -> None:
    someone = installed()
    seen: list[str] = []

    def look(cluster: Any, event: Any) -> None:
        obj = event.object
        if event.type == "DELETED" and obj["metadata"]["name"] == "kyma-lifecycle-view":
            seen.append(read_installation(cluster).last_run)
            seen.append(cluster.get(API_VERSION, "KymaRun", seen[0])["status"]["state"])

    memory(someone).on_write(look)
    result = someone.delete()
    assert seen == [result["run"], "succeeded"]
    assert result["state"] == "succeeded"


def test_a_deletion_that_has_succeeded_is_not_cancelled_by_its_own_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stopping, "POLL_SECONDS", 0.0)
    someone = installed(grace=0.2)
    assert someone.delete()["state"] == "succeeded"
    assert "stopping" not in [state for _subject, state, _detail in someone.reports]


def test_a_deletion_of_nothing_creates_no_run() -> None:
    someone = installed()
    someone.delete("gateway")
    before = someone.installation().last_run
    result = someone.delete("gateway")
    assert (result["changed"], result["run"]) == (False, "")
    assert someone.installation().last_run == before


def test_a_signal_gives_what_is_in_flight_its_grace_and_the_next_deletion_goes_on() -> None:
    someone = installed(grace=0.2)
    stuck(someone, "Deployment", "monitoring")
    someone.cancelled = lambda: "Deployment kyma-system/monitoring" in deletions(someone)
    result = someone.delete()
    assert (result["failed"], result["state"]) == (True, "cancelled")
    assert "cancelled by a signal to ansible-playbook, run by" in result["msg"]
    status = someone.record()["status"]
    assert status["state"] == "cancelled"
    assert status["cancelled"].startswith("a signal to ansible-playbook, run by ")
    assert someone.states()["monitoring"] == "cancelled"
    assert someone.states()["istio"] == "not started"
    assert "was cancelled by a signal" in status["components"]["istio"]["error"]
    someone.cancelled = lambda: False
    let_go(someone, "Deployment", "monitoring")
    assert someone.delete()["state"] == "succeeded"


def test_a_deadline_ends_a_deletion() -> None:
    someone = installed(grace=0.2)
    stuck(someone, "Deployment", "monitoring")
    result = someone.delete(deadline=1)
    assert result["state"] == "cancelled"
    assert someone.record()["status"]["cancelled"] == "its deadline of 1 s"


def test_a_user_at_another_terminal_cancels_a_deletion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "POLL_SECONDS", 0.0)
    someone = installed(grace=0.2)
    stuck(someone, "Deployment", "monitoring")

    def cancel(_cluster: Any, event: Any) -> None:
        meta = event.object["metadata"]
        if meta["name"] == "monitoring" and meta.get("deletionTimestamp") and not requests:
            requests.append("now")
            someone.task(run.DEFINITION, state="cancelled", reason="a fire drill")

    requests: list[str] = []
    memory(someone).on_write(cancel)
    result = someone.delete()
    assert result["state"] == "cancelled"
    assert someone.record()["status"]["cancelled"].endswith(": a fire drill")


def test_an_interrupted_deletion_is_reported_and_ended_by_the_next_run() -> None:
    someone = installed()
    memory(someone).fail_at(6, KeyboardInterrupt(), before=True, writes_only=True)
    with pytest.raises(KeyboardInterrupt):
        someone.delete()
    cut_off = someone.installation().last_run
    [note] = [one["note"] for one in someone.run_info()["runs"] if one["note"]]
    assert f"the deletion {cut_off} of Kyma 2.9" in note
    assert note.endswith("so the next run takes over, and ends its record as cancelled")
    assert note in someone.plan()["warnings"]
    assert someone.delete("gateway")["run"]
    assert someone.run_info(run=cut_off)["runs"][0]["state"] == "cancelled"


def test_a_cluster_that_is_held_is_left_as_it_is() -> None:
    someone = installed()
    someone.task(hold.DEFINITION, reason="an audit", until="2999-01-01")
    refused = someone.delete()
    assert "an audit" in refused["msg"]
    assert deletions(someone) == []
    rehearsed = someone.delete(check_mode=True)
    assert [rehearsed["changed"], *rehearsed["warnings"]] == [True, refused["msg"]]


def test_migrations_do_not_run() -> None:
    class Always(Migration):
        """It always has something to do."""

        component, phase, keep = "gateway", Phase.PRE, "for tests"

        def check(self, ctx: Context) -> Verdict:
            del ctx
            return needed("always") if armed else not_needed("not yet")

        def run(self, ctx: Context) -> None:
            del ctx
            raise AssertionError("it ran")

    armed: list[bool] = []
    someone = deployer(kyma(), Always, timeout=3)
    someone.deploy()
    armed.append(True)
    assert not someone.delete().get("failed")


def test_objects_that_a_release_has_dropped_are_deleted_too() -> None:
    someone = installed()
    someone.materials.given = release("2.10", {"gateway": [config_map("routes")]}, crds=[crd("Gateway")])
    assert someone.deploy()["state"] == "succeeded"
    assert ref_of(named("mesh")) in everything(memory(someone))
    assert not someone.delete().get("failed")
    assert ref_of(named("mesh")) not in everything(memory(someone))
