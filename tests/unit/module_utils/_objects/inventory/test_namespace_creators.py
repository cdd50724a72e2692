# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Namespaces that were there before Kyma stay whatever becomes of them, and those that it made go."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    Cluster,
    Event,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid, Unreachable
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run import simulated_server
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    CREATED_BY_OTHERS,
    CREATED_BY_US,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    FOUNDATION,
    ComponentEntry,
    Release,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    inventory_objects,
    read_inventories,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import timestamp

from tests.support.driver import Deployer, config_map, crd, deployer, memory, release

SPARED = "Namespace shop: kyma.lifecycle did not create it, so it stays"


class Clock:
    """What time it is in the cluster."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> str:
        return timestamp(self._now)

    def goes_on(self) -> None:
        self._now += timedelta(minutes=1)


@pytest.fixture(name="clock")
def _clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(simulated_server, "timestamp", clock)
    return clock


def namespace(name: str = "shop", **labels: str) -> Object:
    meta: dict[str, Any] = {"name": name, **({"labels": labels} if labels else {})}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": meta}


def kyma(version: str = "2.9", **labels: str) -> Release:
    """A component in the namespace ``shop``, which it gives these labels, and one in another namespace."""
    shop = [config_map("carts"), *([namespace(**labels)] if labels else [])]
    components = {
        "shop": (ComponentEntry("shop", "shop"), shop),
        "mesh": (ComponentEntry("mesh", "mesh"), [config_map("routes")]),
    }
    return release(version, components, crds=[crd("Gateway")])


def new_deployer() -> Deployer:
    return deployer(kyma(), timeout=3)


def terraform(someone: Deployer) -> Cluster:
    return someone.cluster.with_field_manager("terraform")


def make_with_content(someone: Deployer, **labels: str) -> None:
    precious = {**config_map("precious"), "metadata": {"name": "precious", "namespace": "shop"}}
    for obj in (namespace(**labels), precious):
        terraform(someone).create(obj)


def write_again(someone: Deployer) -> None:
    terraform(someone).patch("v1", "Namespace", "shop", None, {"metadata": {"labels": {"team": "b"}}})


def upgrade(someone: Deployer, **labels: str) -> None:
    someone.materials.given = kyma("2.10", **labels)
    assert someone.deploy()["state"] == "succeeded"


def left(someone: Deployer) -> set[str]:
    names = {obj["metadata"]["name"] for obj in someone.cluster.list("v1", "Namespace").items}
    return names & {"shop", "mesh"}


def recorded_creators(someone: Deployer) -> dict[str, str]:
    entries = [entry for one in read_inventories(someone.cluster).values() for entry in one.entries]
    return {entry.ref.name: entry.made_by for entry in entries if entry.ref.kind == "Namespace"}


def assert_spared(someone: Deployer) -> None:
    result = someone.delete(force=True)
    assert not result.get("failed"), result
    assert SPARED in result["warnings"]
    assert left(someone) == {"shop"}
    assert someone.cluster.get("v1", "ConfigMap", "precious", "shop")


@pytest.mark.parametrize("when", ["before", "between", "after"])
def test_a_namespace_stays_although_its_maker_has_written_it_again(clock: Clock, when: str) -> None:
    someone = new_deployer()
    make_with_content(someone, team="a")
    clock.goes_on()
    if when == "before":
        write_again(someone)
    assert someone.deploy()["state"] == "succeeded"
    clock.goes_on()
    if when == "between":
        write_again(someone)
    upgrade(someone, kyma="true")
    clock.goes_on()
    if when == "after":
        write_again(someone)
    assert recorded_creators(someone) == {"shop": CREATED_BY_OTHERS, "mesh": CREATED_BY_US}
    assert_spared(someone)


def test_a_namespace_stays_of_whose_maker_there_is_no_trace() -> None:
    someone = new_deployer()
    make_with_content(someone)
    live = someone.cluster.get("v1", "Namespace", "shop")
    assert live
    assert "managedFields" not in live["metadata"]
    upgrade(someone, kyma="true")
    assert_spared(someone)


@pytest.mark.parametrize("again", [False, True])
def test_a_namespace_stays_also_after_a_run_that_failed(clock: Clock, again: bool) -> None:
    someone = new_deployer()
    someone.materials.given = kyma(kyma="true")
    make_with_content(someone, team="a")
    clock.goes_on()
    write_again(someone)
    memory(someone).fail_when(
        lambda request: (
            request.verb == "apply" and request.ref.name.startswith("gateways") and request.writes
        ),
        Invalid("apply", status=422, api_message="no"),
        times=1,
    )
    clock.goes_on()
    assert someone.deploy()["failed"]
    if again:
        assert someone.deploy()["state"] == "succeeded"
    result = someone.delete(force=True)
    assert SPARED in result["warnings"]
    assert someone.cluster.get("v1", "ConfigMap", "precious", "shop")


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("kind", ["KymaInventory", "Namespace", "ConfigMap"])
@pytest.mark.parametrize("labels", [{"kyma": "true"}, {}])
def test_after_an_interruption_each_namespace_has_still_the_same_maker(
    clock: Clock, kind: str, before: bool, labels: dict[str, str]
) -> None:
    someone = new_deployer()
    someone.materials.given = kyma(**labels)
    make_with_content(someone, team="a")
    clock.goes_on()
    write_again(someone)
    clock.goes_on()
    memory(someone).fail_when(
        lambda request: request.writes and request.verb == "apply" and request.ref.kind == kind,
        Unreachable("the connection broke"),
        before=before,
        times=1,
    )
    assert someone.deploy()["failed"]
    clock.goes_on()
    assert not someone.deploy().get("failed")
    assert recorded_creators(someone) == {"shop": CREATED_BY_OTHERS, "mesh": CREATED_BY_US}
    assert_spared(someone)


def test_our_namespace_is_ours_although_a_controller_writes_it_at_once(clock: Clock) -> None:
    someone = new_deployer()
    someone.materials.given = kyma(kyma="true")

    def controller(cluster: Cluster, event: Event) -> None:
        labels = event.object["metadata"].get("labels") or {}
        if event.object["kind"] == "Namespace" and event.type != "DELETED" and "seen" not in labels:
            seen = {"metadata": {"labels": {"seen": "true"}}}
            name = event.object["metadata"]["name"]
            cluster.with_field_manager("controller").patch("v1", "Namespace", name, None, seen)

    memory(someone).on_write(controller)
    assert someone.deploy()["state"] == "succeeded"
    clock.goes_on()
    upgrade(someone, kyma="changed")
    assert someone.delete()["warnings"] == []
    assert left(someone) == set()


def test_a_namespace_that_we_recreate_after_its_owner_deleted_it_is_ours(clock: Clock) -> None:
    someone = new_deployer()
    terraform(someone).create(namespace(team="a"))
    assert someone.deploy()["state"] == "succeeded"
    someone.cluster.delete("v1", "Namespace", "shop")
    clock.goes_on()
    upgrade(someone, kyma="true")
    assert recorded_creators(someone)["shop"] == CREATED_BY_US
    assert someone.delete()["warnings"] == []
    assert left(someone) == set()


@pytest.mark.parametrize("labels", [{"team": "a"}, {}])
@pytest.mark.parametrize("changed", [True, False], ids=["upgrade", "nothing to do"])
def test_a_namespace_that_others_recreate_after_us_is_theirs(
    clock: Clock, labels: dict[str, str], changed: bool
) -> None:
    someone = new_deployer()
    assert someone.deploy()["state"] == "succeeded"
    someone.cluster.delete("v1", "Namespace", "shop")
    clock.goes_on()
    make_with_content(someone, **labels)
    clock.goes_on()
    if labels:
        write_again(someone)
    if changed:
        upgrade(someone, kyma="true")
    else:
        someone.deploy()
    assert "shop" in left(someone)
    someone.delete(force=True)
    assert someone.cluster.get("v1", "ConfigMap", "precious", "shop")


@pytest.mark.parametrize("theirs", [True, False])
def test_a_namespace_keeps_its_maker_when_it_moves_into_a_component(clock: Clock, theirs: bool) -> None:
    someone = new_deployer()
    if theirs:
        terraform(someone).create(namespace(team="a"))
        clock.goes_on()
        write_again(someone)
    assert someone.deploy()["state"] == "succeeded"
    clock.goes_on()
    moved = [config_map("routes"), namespace(kyma="true")]
    someone.materials.given = release("2.10", {"mesh": (ComponentEntry("mesh", "mesh"), moved)})
    assert someone.deploy()["state"] == "succeeded"
    assert recorded_creators(someone) == {
        "shop": CREATED_BY_OTHERS if theirs else CREATED_BY_US,
        "mesh": CREATED_BY_US,
    }
    someone.delete()
    assert left(someone) == ({"shop"} if theirs else set())


@pytest.mark.parametrize("theirs", [True, False])
def test_managed_fields_show_the_creator_that_was_not_recorded(clock: Clock, theirs: bool) -> None:
    someone = new_deployer()
    someone.materials.given = kyma(kyma="true")
    if theirs:
        terraform(someone).create(namespace(team="a"))
    clock.goes_on()
    assert someone.deploy()["state"] == "succeeded"
    [record] = inventory_objects(read_inventories(someone.cluster)[FOUNDATION])
    for entry in record["spec"]["objects"]:
        entry.pop("madeBy", None)
    spec = {"spec": {"objects": record["spec"]["objects"]}}
    someone.cluster.patch(API_VERSION, "KymaInventory", FOUNDATION, None, spec)
    clock.goes_on()
    upgrade(someone, kyma="changed")
    assert recorded_creators(someone)["shop"] == ""
    someone.delete()
    assert left(someone) == ({"shop"} if theirs else set())


def test_creators_of_namespaces_take_one_request_of_a_run() -> None:
    someone = new_deployer()

    def reads() -> int:
        seen = [one for one in memory(someone).requests if one.ref.kind == "Namespace"]
        memory(someone).requests.clear()
        return sum(one.verb == "list" for one in seen)

    someone.deploy()
    first = reads()
    # A run looks at the end once more at all that it has applied.
    assert first == 2
    someone.deploy()
    # A plan looks at all that is known.
    assert reads() == 1


def test_only_namespaces_have_a_creator_in_their_entry() -> None:
    someone = new_deployer()
    someone.deploy()
    for inventory in read_inventories(someone.cluster).values():
        for record in inventory_objects(inventory):
            for entry in record["spec"]["objects"]:
                assert ("madeBy" in entry) == (entry["kind"] == "Namespace")
