# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Both migrations of the collection, in a deployment of real components to a cluster with a past."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.audit import writes
from tests.support.eventually import eventually
from tests.support.manifests import manifests_of
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

Object = dict[str, Any]

NAMESPACE = "kyma-system"
CLAIM, LOKI, CLASS = "storage-logging-loki-0", "logging-loki", "old-disks"
OWNERSHIP = {
    "meta.helm.sh/release-name": "certificates",
    "meta.helm.sh/release-namespace": "istio-system",
}
PROFILE, COMPONENTS = "production", ("certificates", "istio-resources", "logging")
GROW, ADOPT = "logging/grow-loki-volume", "certificates/adopt-gateway"


class Seeded:
    """A cluster with Loki and a Gateway as an older Kyma has left them."""

    def __init__(self, cluster: OwnCluster, release: Path) -> None:
        self._api = cluster.api
        self._seed(release)

    def _seed(self, release: Path) -> None:
        objects = [one.object for one in manifests_of(release, PROFILE)]
        for name in (NAMESPACE, "istio-system"):
            self._api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self._api.create(_named(objects, "CustomResourceDefinition", "gateways.networking.istio.io"))
        self._api.create(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": CLASS},
                "provisioner": "disks.test",
                "allowVolumeExpansion": False,
            }
        )
        self._api.create(_volume())
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
        template = {"metadata": {"name": "storage"}, "spec": {**claim, "storageClassName": CLASS}}
        loki = _named(objects, "StatefulSet", LOKI)
        loki["spec"]["volumeClaimTemplates"] = [template]
        self._api.create(_named(objects, "ServiceAccount", LOKI))
        self._api.create(_named(objects, "Secret", LOKI))
        self._api.create(loki)
        gateway: Object = {
            "apiVersion": "networking.istio.io/v1alpha3",
            "kind": "Gateway",
            "metadata": {"name": "kyma-gateway", "namespace": NAMESPACE},
            "spec": {"selector": {"istio": "ingressgateway"}, "servers": []},
        }
        eventually(lambda: self._api.resource(gateway["apiVersion"], "Gateway"))
        self._api.create(gateway)
        eventually(lambda: (self.loki()["status"].get("readyReplicas") or 0) == 1)

    def claim(self) -> Object:
        return self._get("v1", "PersistentVolumeClaim", CLAIM)

    def loki(self) -> Object:
        return self._get("apps/v1", "StatefulSet", LOKI)

    def pod(self) -> Object:
        return self._get("v1", "Pod", f"{LOKI}-0")

    def gateway(self) -> Object:
        return self._get("networking.istio.io/v1alpha3", "Gateway", "kyma-gateway")

    def size(self) -> str:
        """What the claim requests."""
        return str(self.claim()["spec"]["resources"]["requests"]["storage"])

    def expands(self) -> bool:
        """Whether the StorageClass lets volumes grow."""
        storage_class = self._api.get("storage.k8s.io/v1", "StorageClass", CLASS)
        return bool((storage_class or {}).get("allowVolumeExpansion"))

    def _get(self, api_version: str, kind: str, name: str) -> Object:
        live = self._api.get(api_version, kind, name, NAMESPACE)
        assert live, f"{kind} {name} is not there"
        return live


def _volume() -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "old-volume"},
        "spec": {
            "capacity": {"storage": "10Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": CLASS,
            "claimRef": {"namespace": NAMESPACE, "name": CLAIM},
            "csi": {"driver": "disks.test", "volumeHandle": "old-volume"},
        },
    }


def _named(objects: list[Object], kind: str, name: str) -> Object:
    named = next(obj for obj in objects if (obj["kind"], obj["metadata"]["name"]) == (kind, name))
    if kind != "CustomResourceDefinition":
        named["metadata"]["namespace"] = NAMESPACE
    return named


@pytest.fixture(scope="module")
def release(kyma_releases: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of Kyma 2.9 the components that the migrations are about.

    It lacks the Gateway, as releases do in which no component contains it.
    """
    folder = tmp_path_factory.mktemp("releases") / "2.9"
    for crds in ("istio", "monitoring", "telemetry"):
        place = Path("crds", crds)
        shutil.copytree(kyma_releases / "2.9" / place, folder / place, copy_function=shutil.copyfile)
    listed = yaml.safe_load((kyma_releases / "2.9" / "components.yaml").read_text())
    for part in ("prerequisites", "components"):
        listed[part] = [entry for entry in listed[part] if entry["name"] in COMPONENTS]
    (folder / "components.yaml").write_text(yaml.safe_dump(listed))
    (folder / PROFILE).mkdir()
    for name in COMPONENTS:
        text = (kyma_releases / "2.9" / PROFILE / f"{name}.yaml").read_text()
        documents = [part for part in text.split("\n---\n") if "\nkind: Gateway\n" not in part]
        (folder / PROFILE / f"{name}.yaml").write_text("\n---\n".join(documents))
    return folder


@pytest.fixture(scope="module")
def seeded(own_cluster: OwnCluster, release: Path) -> Seeded:
    return Seeded(own_cluster, release)


@dataclass(frozen=True)
class Step:
    """A call of the playbook, and what the cluster had before it."""

    outcome: Outcome
    loki: Object
    pod: Object
    gateway: Object


@pytest.fixture(scope="module")
def blocked(playbook: Playbook, seeded: Seeded, release: Path) -> Step:
    """The class can't expand volumes, and the user hasn't allowed to change that."""
    before = seeded.loki(), seeded.pod(), seeded.gateway()
    return Step(playbook.deploy(release, profile=PROFILE), *before)


@pytest.fixture(scope="module")
def rehearsed(blocked: Step, playbook: Playbook, release: Path) -> Outcome:
    """The user has allowed it, and looks first."""
    assert blocked.outcome.status
    options = {"profile": PROFILE, "allow_storageclass_change": True}
    return playbook.deploy(release, "--check", "--diff", **options).succeeded()


@pytest.fixture(scope="module")
def migrated(rehearsed: Outcome, playbook: Playbook, seeded: Seeded, release: Path) -> Step:
    """And now for real."""
    assert rehearsed.status == 0
    before = seeded.loki(), seeded.pod(), seeded.gateway()
    options = {"profile": PROFILE, "allow_storageclass_change": True}
    return Step(playbook.deploy(release, **options).succeeded(), *before)


def test_a_class_that_cannot_expand_blocks_the_plan_by_name(blocked: Step) -> None:
    reasons = [line for line in blocked.outcome.refused().splitlines() if line.startswith("- ")]
    assert len(reasons) == 1, reasons
    [why] = reasons
    assert GROW in why
    assert f"StorageClass {CLASS}" in why
    assert "kyma_allow_storageclass_change" in why


def test_nothing_was_touched_then(blocked: Step, rehearsed: Outcome, migrated: Step) -> None:
    assert rehearsed.status == 0
    for before, after in (
        (blocked.loki, migrated.loki),
        (blocked.pod, migrated.pod),
        (blocked.gateway, migrated.gateway),
    ):
        assert before["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"]


def test_the_rehearsal_shows_what_the_migrations_will_write(rehearsed: Outcome) -> None:
    assert writes(rehearsed.requests) == []
    plan = {one["id"]: one for one in rehearsed.plan["migrations"]}
    assert (plan[GROW]["verdict"], plan[ADOPT]["verdict"]) == ("needed", "needed")
    assert "10Gi" in plan[GROW]["evidence"]
    written = {(one["kind"], one["name"], one["action"]) for one in plan[GROW]["writes"]}
    assert written == {
        ("StorageClass", CLASS, "change"),
        ("PersistentVolumeClaim", CLAIM, "change"),
        ("StatefulSet", LOKI, "delete"),
    }
    [adopts] = plan[ADOPT]["writes"]
    assert (adopts["kind"], adopts["name"]) == ("Gateway", "kyma-gateway")
    assert sorted(adopts["fields"]) == ["metadata.annotations"]
    diff = {entry["after_header"]: entry for entry in rehearsed.diff}
    claim = yaml.safe_load(diff[f"PersistentVolumeClaim {NAMESPACE}/{CLAIM} (can't be undone)"]["after"])
    assert claim["spec"]["resources"]["requests"]["storage"] == "30Gi"


def test_the_migrations_bring_the_cluster_there(migrated: Step, seeded: Seeded) -> None:
    outcome = migrated.outcome
    assert outcome.migrations[ADOPT]["state"] == "done"
    # Nothing here expands a volume: so it is told, and not called done.
    assert outcome.migrations[GROW]["state"] == "warned"
    assert seeded.expands()
    assert seeded.size() == "30Gi"
    assert OWNERSHIP.items() <= seeded.gateway()["metadata"]["annotations"].items()
    assert seeded.gateway()["spec"] == migrated.gateway["spec"]


def test_the_stateful_set_comes_back_with_its_pod(migrated: Step, seeded: Seeded) -> None:
    loki = seeded.loki()
    assert loki["metadata"]["uid"] != migrated.loki["metadata"]["uid"]
    [template] = loki["spec"]["volumeClaimTemplates"]
    assert template["spec"]["resources"]["requests"]["storage"] == "30Gi"
    assert seeded.pod()["metadata"]["uid"] == migrated.pod["metadata"]["uid"]
    assert loki["status"]["readyReplicas"] == 1


def test_a_rerun_writes_nothing(migrated: Step, playbook: Playbook, release: Path) -> None:
    assert migrated.outcome.status == 0
    again = playbook.deploy(release, profile=PROFILE).succeeded()
    assert {request.verb for request in again.requests} <= {"get", "list"}
    assert again.recap["changed"] == 0
    assert {one["verdict"] for one in again.plan["migrations"]} == {"not_needed"}
