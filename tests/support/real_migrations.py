# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tests of the collection's two migrations, for every kind of cluster."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations import certificates
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations import logging as logging_migrations
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations.certificates import AdoptGateway
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations.logging import GrowLokiVolume
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    ApiServer,
    assert_blocked,
    assert_migration,
    assert_not_needed,
)

from tests.support import loki
from tests.support.gateways import OWNERSHIP, gateway_crd
from tests.unit.module_utils.migrations.test_logging import grow


@dataclass(frozen=True)
class Places:
    """An API server, and free names on it."""

    server: ApiServer
    namespace: str
    group: str
    storage_class: str

    def gateway(self, **annotations: str) -> Object:
        return {
            "apiVersion": f"{self.group}/v1alpha3",
            "kind": "Gateway",
            "metadata": {
                "name": "kyma-gateway",
                "namespace": self.namespace,
                "annotations": {"mine": "kept", **annotations},
            },
            "spec": {"selector": {"istio": "ingressgateway"}},
        }

    def claim(self, size: str) -> Object:
        return loki.claim(size, self.namespace, class_name=self.storage_class)

    def stateful_set(self, size: str) -> Object:
        return loki.stateful_set(size, self.namespace, class_name=self.storage_class)

    def disks(self, *, expands: bool = True) -> list[Object]:
        """A StorageClass, and a volume for the claim."""
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"{self.storage_class}-volume"},
            "spec": {
                "capacity": {"storage": "10Gi"},
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "storageClassName": self.storage_class,
                "claimRef": {"namespace": self.namespace, "name": loki.CLAIM},
                "csi": {"driver": "disk.test", "volumeHandle": f"{self.storage_class}-volume"},
            },
        }
        return [loki.storage_class(self.storage_class, expands=expands), volume]

    def with_its_pod(self, cluster: Cluster) -> None:
        """Give Loki its pod in memory; elsewhere wait until it runs and has its volume."""
        if isinstance(cluster, MemoryCluster):
            owner = cluster.get("apps/v1", "StatefulSet", "logging-loki", self.namespace)
            assert owner
            cluster.seed(loki.pod(self.namespace, owner["metadata"]["uid"]))
            return
        end = time.monotonic() + 30.0
        while True:
            claim = cluster.get("v1", "PersistentVolumeClaim", loki.CLAIM, self.namespace) or {}
            pod = cluster.get("v1", "Pod", "logging-loki-0", self.namespace)
            if pod and (claim.get("status") or {}).get("phase") == "Bound":
                return
            assert time.monotonic() < end, "Loki never came to life"
            time.sleep(0.05)


class ProofsWithLoki:
    """For test classes with a fixture ``places``."""

    @pytest.fixture(autouse=True)
    def impatient(self, places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(logging_migrations, "GROWING_SECONDS", 0.0)
        monkeypatch.setattr(logging_migrations, "BINDING_SECONDS", 0.0)
        monkeypatch.setattr(certificates, "GROUP", places.group)
        gateway = Ref(places.group, "Gateway", places.namespace, "kyma-gateway")
        monkeypatch.setattr(certificates, "GATEWAY", gateway)

    @pytest.fixture
    def loki_setting(self, places: Places) -> dict[str, Any]:
        release = places.stateful_set("30Gi")
        return {
            "server": places.server,
            "components": loki.component(release, namespace=places.namespace),
            "prepare": places.with_its_pod,
        }


class ProofsOfGrowth(ProofsWithLoki):
    """All proofs of the migration that lets a volume grow: it has the most writes."""

    def test_lokis_volume_grows(self, places: Places, loki_setting: dict[str, Any]) -> None:
        assert_migration(
            GrowLokiVolume,
            [*places.disks(expands=False), places.claim("10Gi"), places.stateful_set("10Gi")],
            [*places.disks(expands=True), places.claim("30Gi")],
            stays=[loki.pod(places.namespace)],
            variables={"kyma_allow_storageclass_change": True},
            ignore=["PersistentVolume:spec.claimRef", "metadata.finalizers"],
            reactions=[grow],
            **loki_setting,
        )


class ProofsOfTheRealOnes(ProofsWithLoki):
    """The verdicts of both migrations, and all proofs of the one that adopts a Gateway."""

    def test_a_gateway_is_adopted(self, places: Places) -> None:
        assert_migration(
            AdoptGateway,
            [places.gateway()],
            [places.gateway(**OWNERSHIP)],
            stays=[places.gateway()],
            components=[Component("certificates", "istio-system")],
            crds=[gateway_crd(places.group)],
            server=places.server,
        )

    def test_there_is_no_gateway(self, places: Places) -> None:
        assert_not_needed(AdoptGateway, crds=[gateway_crd(places.group)], server=places.server)

    def test_lokis_volume_can_not_grow(self, places: Places, loki_setting: dict[str, Any]) -> None:
        assert_blocked(
            GrowLokiVolume,
            [*places.disks(expands=False), places.claim("10Gi"), places.stateful_set("10Gi")],
            names=[f"StorageClass {places.storage_class}", "kyma_allow_storageclass_change=true"],
            **loki_setting,
        )

    def test_lokis_volume_is_large_enough(self, places: Places, loki_setting: dict[str, Any]) -> None:
        assert_not_needed(
            GrowLokiVolume,
            [*places.disks(expands=False), places.claim("30Gi"), places.stateful_set("10Gi")],
            **{**loki_setting, "prepare": None},
        )

    def test_there_is_no_loki(self, places: Places) -> None:
        assert_not_needed(GrowLokiVolume, server=places.server)
