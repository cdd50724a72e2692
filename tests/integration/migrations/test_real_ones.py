# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two migrations of the collection on a real API server, from a seeded cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import MigrationOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component, Migration
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations import certificates
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations import logging as logging_migrations
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations.certificates import AdoptGateway
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations.logging import GrowLokiVolume

from tests.support.eventually import eventually
from tests.support.gateways import OWNERSHIP, gateway_crd
from tests.support.loki import CLAIM, claim, component, stateful_set, storage_class
from tests.support.migrations import Observer, setting

pytestmark = pytest.mark.cluster


class Loki:
    """An old Loki in a namespace of its own, with a StorageClass of its own."""

    def __init__(self, cluster: LiveCluster, namespace: str) -> None:
        self.cluster = cluster
        self.namespace = namespace
        self.class_name = f"{namespace}-disks"
        self.volume = f"{namespace}-volume"
        self.release = component(
            stateful_set("30Gi", namespace, class_name=self.class_name), namespace=namespace
        )

    def seed(self, size: str = "10Gi", *, expands: bool = True) -> None:
        """The class, a volume with its claim, and a StatefulSet with a running pod."""
        self.cluster.create(storage_class(self.class_name, expands=expands))
        self.cluster.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolume",
                "metadata": {"name": self.volume},
                "spec": {
                    "capacity": {"storage": size},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": self.class_name,
                    "claimRef": {"namespace": self.namespace, "name": CLAIM},
                    "csi": {"driver": "disk.test", "volumeHandle": self.volume},
                },
            }
        )
        self.cluster.create(claim(size, self.namespace, class_name=self.class_name))
        eventually(lambda: (self.claim().get("status") or {}).get("phase") == "Bound")
        self.cluster.create(stateful_set("10Gi", self.namespace, class_name=self.class_name))
        eventually(lambda: self.pod() is not None)

    def clean(self) -> None:
        self.cluster.delete("storage.k8s.io/v1", "StorageClass", self.class_name)
        self.cluster.delete("v1", "PersistentVolume", self.volume)

    def claim(self) -> Object:
        live = self.cluster.get("v1", "PersistentVolumeClaim", CLAIM, self.namespace)
        assert live
        return live

    def size(self) -> str:
        size: str = self.claim()["spec"]["resources"]["requests"]["storage"]
        return size

    def pod(self) -> Object | None:
        return self.cluster.get("v1", "Pod", "logging-loki-0", self.namespace)

    def stateful_set(self) -> Object | None:
        return self.cluster.get("apps/v1", "StatefulSet", "logging-loki", self.namespace)

    def migrate(self, observer: Observer | None = None, **more: Any) -> MigrationOutcome:
        values = {"components": self.release, **more}
        [outcome] = run_migrations([GrowLokiVolume], setting(self.cluster, observer, **values))
        return outcome


@pytest.fixture
def loki(live_cluster: LiveCluster, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loki]:
    """No Loki yet; what is seeded goes afterwards."""
    # Nothing here expands a volume.
    monkeypatch.setattr(logging_migrations, "GROWING_SECONDS", 1.0)
    loki = Loki(live_cluster, namespace)
    yield loki
    loki.clean()


def test_the_claim_grows_the_pod_runs_on_and_the_component_brings_the_stateful_set_back(loki: Loki) -> None:
    loki.seed()
    before = loki.pod()
    assert before
    outcome = loki.migrate()
    assert (outcome.error, outcome.verdict) == ("", "needed")
    # Nobody expands it: told, and not called done.
    assert outcome.state == "warned"
    assert "its volume still has 10Gi" in outcome.warnings[0]
    assert loki.size() == "30Gi"
    assert loki.stateful_set() is None
    left = loki.pod()
    assert left
    assert left["metadata"]["uid"] == before["metadata"]["uid"]
    assert not left["metadata"].get("deletionTimestamp")
    loki.cluster.apply(loki.release["logging"].objects[0])
    adopted = eventually(lambda: (loki.pod() or {"metadata": {}})["metadata"].get("ownerReferences"))
    live = loki.stateful_set()
    assert live
    assert adopted[0]["uid"] == live["metadata"]["uid"]
    again = loki.migrate()
    # The claims, and whether the StatefulSet is there as it was before, which an undo would bring back.
    assert (again.state, again.requests, again.wrote) == ("not_needed", 2, False)


def test_a_class_that_does_not_expand_blocks_and_everything_lives(loki: Loki) -> None:
    loki.seed(expands=False)
    [result] = check_migrations([GrowLokiVolume], setting(loki.cluster, components=loki.release))
    assert (result.verdict, result.requests) == ("blocked", 2)
    assert f"StorageClass {loki.class_name}" in result.evidence
    assert loki.migrate().state == "blocked"
    assert loki.stateful_set()
    assert loki.size() == "10Gi"


def test_the_class_is_changed_if_the_user_allows_it(loki: Loki) -> None:
    loki.seed(expands=False)
    outcome = loki.migrate(variables={"kyma_allow_storageclass_change": "true"})
    assert outcome.error == ""
    assert loki.size() == "30Gi"


@pytest.mark.parametrize("size", ["50Gi", "30Gi"])
def test_a_claim_that_is_large_enough_is_left_alone(loki: Loki, size: str) -> None:
    loki.seed(size)
    version = loki.claim()["metadata"]["resourceVersion"]
    outcome = loki.migrate()
    assert (outcome.state, outcome.requests) == ("not_needed", 1)
    assert loki.claim()["metadata"]["resourceVersion"] == version
    assert loki.stateful_set()


def test_a_claim_of_100_mi_grows(loki: Loki) -> None:
    loki.seed("100Mi")
    assert loki.migrate().error == ""
    assert loki.size() == "30Gi"


def test_a_claim_that_never_was_bound_is_recreated(loki: Loki) -> None:
    loki.cluster.create(storage_class(loki.class_name, expands=True))
    loki.cluster.create(claim("10Gi", loki.namespace, class_name=loki.class_name))
    outcome = loki.migrate()
    assert (outcome.state, outcome.error) == ("done", "")
    # The server's own finalizer keeps it for a moment.
    eventually(lambda: loki.cluster.get("v1", "PersistentVolumeClaim", CLAIM, loki.namespace) is None)


def test_a_quota_that_refuses_the_growth_saves_the_stateful_set(loki: Loki) -> None:
    loki.seed()
    loki.cluster.create(
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "small", "namespace": loki.namespace},
            "spec": {"hard": {"requests.storage": "20Gi"}},
        }
    )
    eventually(
        lambda: (
            (loki.cluster.get("v1", "ResourceQuota", "small", loki.namespace) or {})
            .get("status", {})
            .get("used")
        )
    )
    outcome = loki.migrate()
    assert outcome.state == "failed"
    assert "exceeded quota" in outcome.error
    assert loki.stateful_set()


def test_a_rehearsal_writes_nothing(loki: Loki) -> None:
    loki.seed(expands=False)
    overlay = DryRunCluster(loki.cluster)
    variables = {"kyma_allow_storageclass_change": True}
    [outcome] = run_migrations(
        [GrowLokiVolume],
        setting(overlay, components=loki.release, variables=variables, rehearsal=True),
    )
    assert (outcome.state, outcome.error) == ("done", "")
    changed = {change.ref.kind for change in overlay.changes()}
    assert {"StorageClass", "StatefulSet", "PersistentVolumeClaim"} <= changed
    assert loki.size() == "10Gi"
    assert loki.stateful_set()


@pytest.fixture
def gateways(
    live_cluster: LiveCluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Object]]:
    """Makes the Gateway, of a kind and in a namespace of the test's own."""
    group = f"{namespace}.istio.test"
    monkeypatch.setattr(certificates, "GROUP", group)
    monkeypatch.setattr(certificates, "GATEWAY", Ref(group, "Gateway", namespace, "kyma-gateway"))
    crd = gateway_crd(group)
    live_cluster.apply(crd)
    eventually(lambda: live_cluster.resource(f"{group}/v1alpha3", "Gateway"))

    def make(**annotations: str) -> Object:
        meta = {"name": "kyma-gateway", "namespace": namespace, "annotations": annotations}
        return live_cluster.apply(
            {"apiVersion": f"{group}/v1alpha3", "kind": "Gateway", "metadata": meta, "spec": {}}
        )

    yield make
    live_cluster.delete(crd["apiVersion"], crd["kind"], crd["metadata"]["name"])


def adopted(migration: type[Migration], cluster: LiveCluster) -> MigrationOutcome:
    known = {"certificates": Component("certificates", "istio-system")}
    [outcome] = run_migrations([migration], setting(cluster, components=known))
    return outcome


def test_an_orphaned_gateway_is_adopted_once(
    live_cluster: LiveCluster, gateways: Callable[..., Object]
) -> None:
    assert adopted(AdoptGateway, live_cluster).state == "not_needed"
    made = gateways(mine="kept")
    outcome = adopted(AdoptGateway, live_cluster)
    assert (outcome.state, outcome.error) == ("done", "")
    meta = made["metadata"]
    live = live_cluster.get(made["apiVersion"], "Gateway", meta["name"], meta["namespace"])
    assert live
    assert live["metadata"]["annotations"] == {"mine": "kept", **OWNERSHIP}
    managers = [entry["manager"] for entry in live["metadata"]["managedFields"]]
    assert "kyma-lifecycle/certificates/adopt-gateway" in managers
    again = adopted(AdoptGateway, live_cluster)
    assert (again.state, again.requests) == ("not_needed", 1)
