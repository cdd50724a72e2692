# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No release has the lease and the records of this collection, and no inventory has them deleted."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    API_VERSION,
    FIELD_MANAGER,
    GROUP,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import CRD_KIND
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_definition import (
    ERRAND_RESOURCE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_NAME,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    read_inventories,
    write_inventory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import RUN

from tests.cluster.paths import ROOT
from tests.support.driver import (
    Deployer,
    config_map,
    deployer,
    deployer_after,
    healthy_cluster,
    memory,
    only_reads,
    release,
)

LEASE: Object = {
    "apiVersion": LEASE_API_VERSION,
    "kind": LEASE_OBJECT_KIND,
    "metadata": {"name": LEASE_NAME, "namespace": LIFECYCLE_NAMESPACE},
    "spec": {"holderIdentity": "a backup's"},
}
DUMP = [
    LEASE,
    {**LEASE, "metadata": {"name": "errands"}},
    {**RUN.definition, "spec": {**RUN.definition["spec"], "scope": "Namespaced"}},
    {"apiVersion": API_VERSION, "kind": "KymaInventory", "metadata": {"name": "shop"}, "spec": {}},
    {"apiVersion": f"{GROUP}/v9", "kind": "KymaRun", "metadata": {"name": "r"}},
    {"apiVersion": API_VERSION, "kind": "OneOffJob", "metadata": {"name": "j"}, "spec": {}},
    {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "deployer"}},
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "run-1-ab", "namespace": "default"},
        "type": f"{API_VERSION.partition('/')[0]}/journal",
    },
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LIFECYCLE_NAMESPACE}},
]


def test_a_dump_of_a_cluster_is_refused_with_all_that_is_ours_before_the_first_write() -> None:
    entry = ComponentEntry("backup", LIFECYCLE_NAMESPACE)
    someone = deployer(release("2.9", {"backup": (entry, [*DUMP, config_map("c")]), "a": [config_map("a")]}))
    with only_reads(memory(someone)):
        result = someone.deploy()
    assert result["failed"]
    refused = [one for one in result["blockers"] if "belongs to the collection kyma.lifecycle" in one]
    # The component's namespace is the foundation's, which has it from the component's manifest.
    assert len(refused) == len(DUMP)
    assert any("Lease kyma-lifecycle/errands belongs" in one for one in refused)
    assert any("only the task kyma.lifecycle.stored_job writes stored jobs" in one for one in refused)
    assert not any("ConfigMap" in one for one in refused)


def test_errands_and_their_engine_are_part_of_a_release_on_a_new_cluster() -> None:
    engine = yaml.safe_load((ROOT / "examples" / "errands" / "engine.yaml").read_text())["items"]
    errand = {
        "apiVersion": API_VERSION,
        "kind": "Errand",
        "metadata": {"name": "e"},
        "spec": {"trigger": {"strategy": "manual"}, "template": {"spec": {}}},
    }
    someone = deployer(
        release("2.9", {"engine": engine, "e": [errand]}, crds=[dict(ERRAND_RESOURCE.definition)])
    )
    planned = someone.plan(check_mode=True)
    assert "belongs to the collection kyma.lifecycle" in planned["msg"]
    # The definition of errands is ours: a task installs it.
    cluster = healthy_cluster(dict(ERRAND_RESOURCE.definition))
    someone = deployer(release("2.9", {"engine": engine, "e": [errand]}), cluster=cluster)
    planned = someone.plan(check_mode=True)
    assert "failed" not in planned, planned["msg"]
    changed = {change["kind"] for one in planned["plan"]["components"] for change in one["changes"]}
    assert {"Errand", "Role", "Deployment"} <= changed
    assert not any(one["name"] == LIFECYCLE_NAMESPACE for one in all_changes(planned))
    result = someone.deploy()
    assert not result.get("failed"), result["msg"]
    assert someone.cluster.get(API_VERSION, "Errand", "e", "kyma-system")


def all_changes(planned: Object) -> list[Object]:
    return [change for one in planned["plan"]["components"] for change in one["changes"]]


@pytest.fixture
def older() -> Deployer:
    """A user whose cluster has inventories in which an older version has recorded what is ours."""
    someone = deployer_after(release("2.9", {"a": [config_map("a")], "b": [config_map("b")]}))
    inventory = read_inventories(someone.cluster)["a"]
    crd = f"{CRD_KIND[0]}/v1", CRD_KIND[1], RUN.definition["metadata"]["name"], None
    lease = LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE
    namespace = "v1", "Namespace", LIFECYCLE_NAMESPACE, None
    existing = [someone.cluster.get(*one) for one in (crd, lease, namespace)]
    entries = [entry_of(one) for one in existing if one is not None]
    assert len(entries) == len(existing)
    write_inventory(
        someone.cluster.with_field_manager(FIELD_MANAGER),
        replace(inventory, entries=(*inventory.entries, *entries)),
    )
    return someone


def lives(someone: Deployer) -> list[bool]:
    cluster = someone.cluster
    return [
        cluster.get(f"{CRD_KIND[0]}/v1", CRD_KIND[1], RUN.definition["metadata"]["name"]) is not None,
        cluster.get(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE) is not None,
        cluster.get("v1", "Namespace", LIFECYCLE_NAMESPACE) is not None,
    ]


def test_own_objects_in_an_older_inventory_are_never_pruned(older: Deployer) -> None:
    older.options["prune_allow"] = ["Namespace", "CustomResourceDefinition"]
    older.materials.given = release("2.10", {"a": [config_map("a2")], "b": [config_map("b")]})
    result = older.deploy()
    assert not result.get("failed"), result["msg"]
    assert lives(older) == [True] * 3
    assert older.cluster.get("v1", "ConfigMap", "a", "kyma-system") is None
    assert {entry.ref.kind for entry in read_inventories(older.cluster)["a"].entries} == {"ConfigMap"}
    # And a rerun has nothing to do.
    assert not older.deploy()["plan"]["needed"]


@pytest.mark.parametrize("force", [False, True])
def test_own_objects_in_an_older_inventory_stay_when_their_component_is_deleted(
    older: Deployer, force: bool
) -> None:
    result = older.delete("a", force=force)
    assert not result.get("failed"), result["msg"]
    assert lives(older) == [True] * 3
    assert older.cluster.get("v1", "ConfigMap", "a", "kyma-system") is None
    assert older.installation().last_run


def test_with_everything_it_goes_last_and_by_ourselves(older: Deployer) -> None:
    result = older.delete()
    assert not result.get("failed"), result["msg"]
    assert lives(older) == [False] * 3


def test_own_objects_in_an_older_inventory_of_an_unchanged_component_stop_no_run(older: Deployer) -> None:
    older.materials.given = release("2.10", {"a": [config_map("a")], "b": [config_map("b2")]})
    result = older.deploy()
    assert not result.get("failed"), result["msg"]
    assert lives(older) == [True] * 3
    assert older.cluster.get("v1", "ConfigMap", "b2", "kyma-system")
