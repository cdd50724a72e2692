# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what inventories name, also in versions that were served once."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiUnavailable
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.live_objects import (
    read_autoscaled,
    read_live,
    read_metadata,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import crd, custom, deployment
from tests.support.served_kinds import silent_api, with_versions

GATEWAY = Ref("example.com", "Gateway", "default", "edge")


def cluster_with_gateway() -> MemoryCluster:
    """A Gateway that was deployed in v1, and of which by now only v2 and v3 are served."""
    cluster = MemoryCluster(crd("Gateway"))
    edge = custom("Gateway", "edge")
    cluster.apply({**edge, "metadata": {"name": "edge", "namespace": "default"}})
    cluster.apply(with_versions(crd("Gateway"), v1=False, v2=True, v3=True))
    return cluster


def recorded(*api_versions: str) -> list[Inventory]:
    return [Inventory(one, entries=(InventoryEntry(one, GATEWAY),)) for one in api_versions]


@pytest.mark.parametrize("versions", [["v1"], ["v0", "v1"], ["v1", "v2"], ["v2"]])
def test_an_object_recorded_in_a_removed_version_is_read_in_a_served_one(versions: list[str]) -> None:
    cluster = cluster_with_gateway()
    cluster.requests.clear()
    inventories = recorded(*(f"example.com/{version}" for version in versions))
    assert set(read_metadata(cluster, inventories)) == {GATEWAY}
    assert [request.verb for request in cluster.requests] == ["list"]
    live = read_live(cluster, inventories, lambda _api_version, _kind: True)
    assert [page.items[0]["spec"] for page in live.pages.values()] == [{}]


def test_a_kind_that_no_version_serves_any_longer_has_no_objects() -> None:
    assert read_metadata(MemoryCluster(), recorded("example.com/v1")) == {}


def test_of_an_aggregated_api_that_is_down_nothing_counts_as_gone() -> None:
    cluster = MemoryCluster(silent_api("example.com"))
    with pytest.raises(ApiUnavailable, match=r"APIService v1\.example\.com"):
        read_metadata(cluster, recorded("example.com/v1"))


def test_autoscalers_count_in_any_served_version() -> None:
    cluster = MemoryCluster(with_versions(crd("ScaledObject", "keda.sh"), v2=True))
    assert read_autoscaled(cluster) == frozenset()
    scaler = custom("ScaledObject", "web", "keda.sh", scaleTargetRef={"name": "web"})
    scaler["metadata"]["namespace"] = "shop"
    cluster.seed({**scaler, "apiVersion": "keda.sh/v2"})
    assert read_autoscaled(cluster) == {("Deployment", "shop", "web")}


@pytest.mark.parametrize(
    ("namespaces", "once", "lists"),
    [
        (["a", "b"], False, ["a", "b"]),
        (["a", "b"], True, [""]),
        (["a"], True, ["a"]),
        (["a"], False, ["a"]),
    ],
)
def test_whole_objects_are_read_by_namespace_or_with_one_list(
    namespaces: list[str], lists: list[str], *, once: bool
) -> None:
    refs = [Ref("apps", "Deployment", namespace, "web") for namespace in (*namespaces, "c")]
    cluster = MemoryCluster()
    for ref in refs:
        obj = deployment("web")
        cluster.seed({**obj, "metadata": {"name": "web", "namespace": ref.namespace}})
    cluster.requests.clear()
    entries = tuple(InventoryEntry("apps/v1", ref) for ref in refs[:-1])
    live = read_live(cluster, [Inventory("a", entries=entries)], lambda *_kind: True, once=once)
    assert [request.ref.namespace for request in cluster.requests] == lists
    assert set(live.objects) == set(refs[:-1])
    assert all("spec" in obj for obj in live.objects.values())
