# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletions of a module while a user creates its resources, or replaces its default configuration."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable, api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import module_context
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.owner_kinds import MODULE
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.contained_objects import (
    ContainedObjects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.prune_decision import (
    RemovalDecision,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    read_inventories,
    write_inventory,
)

from tests.support.denials import modules_denied
from tests.support.driver import config_map, custom, memory
from tests.support.memory_modules import (
    CATALOG,
    NAMESPACE,
    ModuleMaterialsOfTest,
    denials_in_force_at_once,
    manifest,
    user,
)

CRD = ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "natss.example.com")
OPERATOR = ("apps/v1", "Deployment", "nats", NAMESPACE)
NATS = ("example.com/v1", "Nats")


@pytest.fixture(autouse=True)
def in_force() -> Iterator[None]:
    with denials_in_force_at_once():
        yield


def create_nats(cluster: Cluster, name: str) -> Object:
    """Create a resource of the module as a user does."""
    obj = custom("Nats", name)
    metadata = {"name": name, "namespace": NAMESPACE}
    return cluster.with_field_manager("kubectl").create({**obj, "metadata": metadata})


def is_deletion_of_operator(event: Event) -> bool:
    """Whether a module's operator was just deleted."""
    return (event.type, event.object["kind"]) == ("DELETED", "Deployment")


def test_a_resource_that_appears_when_the_operator_goes_keeps_its_definition() -> None:
    someone = user()
    someone.manage()

    def create_late(cluster: Cluster, event: Event) -> None:
        if is_deletion_of_operator(event):
            create_nats(cluster, "late")

    memory(someone).on_write(create_late)
    result = someone.manage(state="absent")
    assert "resources of its kinds live" in result["msg"]
    assert f"Nats {NAMESPACE}/late" in result["msg"]
    assert someone.cluster.get(*OPERATOR) is None
    assert someone.cluster.get(*NATS, "late", NAMESPACE)
    assert someone.cluster.get(*CRD)
    assert modules_denied(someone.cluster) == {"nats"}


def test_definitions_stay_if_resources_of_their_kinds_cannot_be_listed() -> None:
    someone = user()
    someone.manage()

    def fail_from_now_on(cluster: Cluster, event: Event) -> None:
        del cluster
        if is_deletion_of_operator(event):
            memory(someone).fail_when(
                lambda request: (request.verb, request.ref.kind) == ("list", "Nats"),
                Unreachable("connection reset"),
            )

    memory(someone).on_write(fail_from_now_on)
    result = someone.manage(state="absent")
    assert "it is unknown whether resources of its kinds exist" in result["msg"]
    assert "nothing more of it is deleted" in result["msg"]
    assert someone.cluster.get(*OPERATOR) is None
    assert someone.cluster.get(*CRD)


def test_a_module_whose_definition_stays_for_a_resource_is_not_over(monkeypatch: pytest.MonkeyPatch) -> None:
    someone = user()
    someone.manage()

    class AfterTheLastLook(ContainedObjects):
        """A user creates a resource just before its definition would go."""

        def retain(self, entry: InventoryEntry, live: Object) -> RemovalDecision | None:
            """See ContainedObjects."""
            if entry.ref.kind == CRD[1]:
                create_nats(someone.cluster, "late")
            return super().retain(entry, live)

    monkeypatch.setattr(module_context, "ContainedObjects", AfterTheLastLook)
    result = someone.manage(state="absent")
    assert f"it stays, as these exist: Nats {NAMESPACE}/late" in result["msg"]
    assert someone.cluster.get(*CRD)
    assert modules_denied(someone.cluster) == {"nats"}
    assert someone.module_record.status.state == "Error"


def test_a_users_own_in_place_of_the_default_configuration_is_not_ours() -> None:
    someone = user()
    someone.manage()
    someone.cluster.delete(*NATS, "default", NAMESPACE)
    create_nats(someone.cluster, "default")
    blocked = someone.manage(state="absent", wait=False)
    assert any(f"Nats {NAMESPACE}/default" in line for line in blocked["summary"])
    assert not someone.module_record.deletes_configuration
    someone.cluster.delete(*NATS, "default", NAMESPACE)
    # The user has deleted both, and it is created only once.
    assert not someone.manage().get("failed")
    assert someone.cluster.get(*NATS, "default", NAMESPACE) is None


def test_a_users_own_after_the_default_configuration_has_gone_is_recorded_as_such() -> None:
    someone = user()
    someone.manage()
    create_nats(someone.cluster, "mine")
    someone.manage(state="absent", wait=False)
    assert someone.module_record.deletes_configuration
    assert someone.cluster.get(*NATS, "default", NAMESPACE) is None
    create_nats(someone.cluster, "default")
    assert not someone.manage().get("failed")
    record = someone.module_record
    assert (record.configuration_creation, record.configuration.uid) == ("declined", "")
    assert not record.deletes_configuration


def test_a_default_configuration_that_is_not_gone_when_a_deletion_is_cancelled_stays_the_only_one() -> None:
    someone = user()
    someone.manage()
    uid = someone.module_record.configuration.uid
    create_nats(someone.cluster, "mine")
    memory(someone).fail_when(
        lambda request: (request.verb, request.ref.name) == ("delete", "default"),
        Unreachable("connection reset"),
    )
    assert someone.manage(state="absent", wait=False)["failed"]
    assert someone.module_record.deletes_configuration
    catalog = deepcopy(CATALOG)
    catalog["documents"][0][1]["spec"]["data"]["metadata"]["name"] = "renamed"
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    someone.materials.catalog = catalog
    assert not someone.manage().get("failed")
    record = someone.module_record
    assert (record.configuration_creation, record.configuration.uid) == ("created", uid)
    assert not record.deletes_configuration
    assert someone.cluster.get(*NATS, "renamed", NAMESPACE) is None


def test_a_resource_that_took_the_place_of_a_users_is_not_deleted_for_it() -> None:
    someone = user()
    someone.manage()
    old = create_nats(someone.cluster, "mine")

    def replace_mine(cluster: Cluster, event: Event) -> None:
        if (event.type, event.object["metadata"]["name"]) == ("DELETED", "default"):
            cluster.delete(*NATS, "mine", NAMESPACE)
            create_nats(cluster, "mine")

    memory(someone).on_write(replace_mine)
    result = someone.manage(state="absent", delete_resources=True)
    assert f"Nats {NAMESPACE}/mine" in result["msg"]
    live = someone.cluster.get(*NATS, "mine", NAMESPACE)
    assert live
    assert live["metadata"]["uid"] != old["metadata"]["uid"]
    # The next run sees it from its beginning.
    assert not someone.manage(state="absent", delete_resources=True).get("failed")
    assert someone.cluster.get(*NATS, "mine", NAMESPACE) is None


def test_a_users_own_in_place_of_an_instance_of_the_manifest_blocks() -> None:
    own = {**custom("Nats", "own"), "metadata": {"name": "own", "namespace": NAMESPACE}}
    someone = user()
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    link = "https://example.com/nats-1.0.0.yaml"
    given = yaml.safe_dump_all([*manifest("1.0.0"), own])
    someone.materials.catalog = {**CATALOG, "manifests": {**CATALOG["manifests"], link: given}}
    someone.manage()
    assert someone.cluster.get(*NATS, "own", NAMESPACE)
    someone.cluster.delete(*NATS, "own", NAMESPACE)
    create_nats(someone.cluster, "own")
    result = someone.manage(state="absent", wait=False)
    assert any(f"Nats {NAMESPACE}/own" in line for line in result["summary"])
    assert someone.cluster.get(*NATS, "own", NAMESPACE)
    assert someone.cluster.get(*OPERATOR)


def test_the_operator_stays_until_it_has_let_go_of_the_default_configuration() -> None:
    someone = user()
    someone.manage()
    finalizers = {"metadata": {"finalizers": ["example.com/hold"]}}
    someone.cluster.patch(*NATS, "default", NAMESPACE, finalizers)
    someone.manage(state="absent", wait=False)
    assert someone.cluster.get(*OPERATOR)
    assert someone.module_record.status.blockers
    someone.cluster.patch(*NATS, "default", NAMESPACE, {"metadata": {"finalizers": None}})
    assert not someone.manage(state="absent").get("failed")
    assert someone.cluster.get(*OPERATOR) is None


@pytest.mark.parametrize(("is_refused", "state"), [(False, "Deleting"), (True, "Error")])
def test_a_held_object_beside_one_whose_deletion_is_refused_is_an_error(is_refused: bool, state: str) -> None:
    link = "https://example.com/nats-1.0.0.yaml"
    given = yaml.safe_dump_all([*manifest("1.0.0"), config_map("other")])
    someone = user(catalog={**CATALOG, "manifests": {**CATALOG["manifests"], link: given}})
    someone.manage()
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    holder = someone.cluster.with_field_manager("holder")
    holder.patch("v1", "ConfigMap", "settings", NAMESPACE, hold)
    if is_refused:
        refusal = api_error("delete", 403, {"reason": "Forbidden", "message": "not on Fridays"})
        memory(someone).fail_when(lambda one: (one.verb, one.ref.name) == ("delete", "other"), refusal)
    someone.manage(state="absent", wait=False)
    assert someone.module_record.status.state == state


@pytest.mark.parametrize("place", ["its name", "another group"])
def test_an_object_that_another_module_has_too_stays_with_it(place: str) -> None:
    someone = user()
    someone.manage()
    inventory = read_inventories(someone.cluster, ["nats"], owner_kind=MODULE)["nats"]
    [shared] = [one for one in inventory.entries if one.ref.name == "settings"]
    entry = shared._replace(uid="")
    if place == "another group":
        # A server may serve the same object in two groups.
        api_version, ref = "old.example.com/v1", shared.ref._replace(group="old.example.com")
        entry = shared._replace(api_version=api_version, ref=ref)
    other = Inventory("other", NAMESPACE, entries=(entry,), owner_kind=MODULE)
    write_inventory(someone.cluster, other)
    assert not someone.manage(state="absent").get("failed")
    assert someone.cluster.get(*OPERATOR) is None
    assert someone.cluster.get("v1", "ConfigMap", "settings", NAMESPACE)


def test_a_rehearsal_shows_what_blocks_a_deletion() -> None:
    someone = user()
    someone.manage()
    create_nats(someone.cluster, "mine")
    planned = someone.manage(state="absent", wait=False, check_mode=True)
    assert any(f"Nats {NAMESPACE}/mine" in line for line in planned["summary"])


def test_the_default_configuration_is_deleted_before_resources_of_users() -> None:
    someone = user()
    someone.manage()
    create_nats(someone.cluster, "a-users")
    assert not someone.manage(state="absent", delete_resources=True).get("failed")
    requests = memory(someone).requests
    deleted = [one.ref.name for one in requests if (one.verb, one.ref.kind) == ("delete", "Nats")]
    assert deleted == ["default", "a-users"]
