# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module's objects that others have written go only if the manifest of the installed version has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    CREATED_BY_US,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.owner_kinds import MODULE
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    read_inventories,
    rewrite_inventory,
)

from tests.support.driver import config_map, crd, custom, deployment
from tests.support.memory_modules import (
    CATALOG,
    NAMESPACE,
    ModuleMaterialsOfTest,
    User,
    denials_in_force_at_once,
    manifest,
    user,
)

DEPLOYMENT = ("apps/v1", "Deployment")


@pytest.fixture(autouse=True)
def in_force() -> Iterator[None]:
    with denials_in_force_at_once():
        yield


def by_kubectl(someone: User, *objects: Object) -> None:
    cluster = someone.cluster.with_field_manager("kubectl")
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    for obj in objects:
        meta = obj["metadata"]
        place = {} if obj["kind"] == "CustomResourceDefinition" else {"namespace": NAMESPACE}
        cluster.apply({**obj, "metadata": {**place, **meta}})


def adopted(**catalog: Any) -> User:
    """Who has adopted version 1.0.0, which kubectl has installed."""
    someone = user()
    by_kubectl(someone, *manifest("1.0.0"))
    assert someone.manage()["summary"][0] == "nats 1.0.0: Ready, adopted"
    with_catalog(someone, **catalog)
    return someone


def with_catalog(someone: User, **catalog: Any) -> None:
    assert isinstance(someone.materials, ModuleMaterialsOfTest)
    someone.materials.catalog = {**CATALOG, **catalog}


def add_to_inventory(someone: User, *objects: Object) -> None:
    """Record objects with their uids and resourceVersions, as users can who may write records."""
    inventory = read_inventories(someone.cluster, ["nats"], owner_kind=MODULE)["nats"]
    existing = [
        someone.cluster.get(obj["apiVersion"], obj["kind"], obj["metadata"]["name"], NAMESPACE)
        for obj in objects
    ]
    entries = (*inventory.entries, *(entry_of(live) for live in existing if live))
    rewrite_inventory(someone.cluster, replace(inventory, entries=entries))


def test_an_adopted_module_goes_with_all_objects_of_its_manifest() -> None:
    someone = adopted()
    result = someone.manage(state="absent")
    assert not result.get("failed"), result["msg"]
    for obj in manifest("1.0.0"):
        assert someone.cluster.get(obj["apiVersion"], obj["kind"], obj["metadata"]["name"], NAMESPACE) is None


def test_an_object_that_was_added_to_the_record_stays_and_is_named() -> None:
    someone = adopted()
    others = [config_map("theirs"), deployment("web")]
    by_kubectl(someone, *others)
    add_to_inventory(someone, *others)
    result = someone.manage(state="absent")
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "theirs", NAMESPACE)
    assert someone.cluster.get(*DEPLOYMENT, "web", NAMESPACE)
    assert any("ConfigMap kyma-system/theirs" in one and "kubectl" in one for one in result["warnings"])


def test_resources_whose_definition_was_added_to_the_record_stay_and_are_named() -> None:
    someone = adopted()
    definition = crd("Certificate", "others.example.com")
    by_kubectl(someone, definition, custom("Certificate", "theirs", "others.example.com"))
    add_to_inventory(someone, definition)
    result = someone.manage(state="absent", delete_resources=True)
    assert result["failed"]
    assert "whose definition kyma.lifecycle has not written" in result["msg"]
    assert "Certificate kyma-system/theirs" in result["msg"]
    assert someone.cluster.get("others.example.com/v1", "Certificate", "theirs", NAMESPACE)
    assert someone.cluster.get(*DEPLOYMENT, "nats", NAMESPACE)


def test_resources_of_an_adopted_definition_are_deleted_on_request() -> None:
    someone = adopted()
    by_kubectl(someone, custom("Nats", "theirs"))
    result = someone.manage(state="absent", delete_resources=True)
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get(*DEPLOYMENT, "nats", NAMESPACE) is None


def test_nothing_of_an_adopted_module_goes_where_no_manifest_says_what_belongs_to_it() -> None:
    someone = adopted(documents=[])
    result = someone.manage(state="absent")
    assert result["failed"]
    assert "Deployment kyma-system/nats" in result["msg"]
    assert "the catalog has no version 1.0.0 of it" in result["msg"]
    assert someone.cluster.get(*DEPLOYMENT, "nats", NAMESPACE)
    assert someone.module_record.is_managed


def test_a_module_that_was_installed_here_needs_no_manifest_to_go() -> None:
    someone = user()
    someone.manage()
    with_catalog(someone, documents=[])
    result = someone.manage(state="absent")
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get(*DEPLOYMENT, "nats", NAMESPACE) is None


def test_an_upgrade_drops_what_the_adopted_version_had_and_no_more() -> None:
    someone = adopted()
    others = [config_map("theirs")]
    by_kubectl(someone, *others)
    add_to_inventory(someone, *others)
    result = someone.manage(channel="fast")
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "theirs", NAMESPACE)


def test_an_upgrade_that_drops_nothing_needs_no_manifest_of_the_adopted_version() -> None:
    someone = adopted(documents=CATALOG["documents"][1:])
    assert someone.manage(channel="fast")["summary"][0] == "nats 2.0.0: Ready, upgraded from 1.0.0"
    assert not someone.manage(channel="fast", state="absent").get("failed")
    assert someone.cluster.get(*DEPLOYMENT, "nats", NAMESPACE) is None


def test_an_upgrade_that_drops_objects_of_others_needs_the_manifest_of_the_adopted_version() -> None:
    someone = adopted(
        documents=CATALOG["documents"][1:],
        manifests={"https://example.com/nats-2.0.0.yaml": yaml.safe_dump_all(manifest("2.0.0")[:2])},
    )
    result = someone.manage(channel="fast")
    assert "Others have written ConfigMap kyma-system/settings, and only the manifest" in result["msg"]
    assert someone.cluster.get("v1", "ConfigMap", "settings", NAMESPACE)


def test_a_default_configuration_goes_only_if_this_collection_has_created_it() -> None:
    someone = user()
    someone.manage()
    someone.cluster.delete("example.com/v1", "Nats", "default", NAMESPACE)
    meta = {"name": "mine", "namespace": NAMESPACE}
    mine = someone.cluster.with_field_manager("kubectl").create(
        {"apiVersion": "example.com/v1", "kind": "Nats", "metadata": meta, "spec": {"a": 1}}
    )
    changed = {"spec": {"configuration": {"name": "mine", "uid": mine["metadata"]["uid"]}}}
    someone.cluster.patch("lifecycle.kyma-project.io/v1", "KymaModule", "nats", None, changed)
    result = someone.manage(state="absent")
    assert result["failed"]
    assert "Nats kyma-system/mine" in result["msg"]
    assert someone.cluster.get("example.com/v1", "Nats", "mine", NAMESPACE)


def test_a_namespace_that_the_manifest_only_refers_to_stays_despite_the_record() -> None:
    someone = adopted()
    inventory = read_inventories(someone.cluster, ["nats"], owner_kind=MODULE)["nats"]
    live = someone.cluster.get("v1", "Namespace", NAMESPACE)
    assert live
    entry = entry_of(live)._replace(made_by=CREATED_BY_US)
    rewrite_inventory(someone.cluster, replace(inventory, entries=(*inventory.entries, entry)))
    result = someone.manage(state="absent")
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get("v1", "Namespace", NAMESPACE)
