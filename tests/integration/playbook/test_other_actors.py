# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploying where a person, an autoscaler, an injector and controllers work on the same objects."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.paths import BIN, IS_OLDEST
from tests.support.audit import writes
from tests.support.kubectl import kubectl as call_kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]
Kubectl = Callable[..., str]

GATEWAYS: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gateways.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Gateway", "plural": "gateways", "singular": "gateway", "listKind": "GatewayList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}
HELD_OPEN = "example.com/held-open"
GATEWAY: Object = {
    "apiVersion": "example.com/v1",
    "kind": "Gateway",
    "metadata": {"name": "gateway", "annotations": {HELD_OPEN: "yes"}},
    "spec": {"hosts": ["a"]},
}
AUTOSCALER: Object = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "scaled", "namespace": NAMESPACE},
    "spec": {
        "minReplicas": 3,
        "maxReplicas": 5,
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "scaled"},
        "metrics": [
            {
                "type": "Resource",
                "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
            }
        ],
    },
}
SIDECAR = {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "example.com/fine:9"}]}}}}


@dataclass
class Busy:
    """A controller that writes statuses and an annotation all the time."""

    cluster: OwnCluster
    stop: threading.Event
    writes: int = 0

    def work(self) -> None:
        """Go on until it is told to stop."""
        api = self.cluster.api.with_field_manager("busy-controller")
        while not self.stop.wait(0.05):
            self.writes += 1
            status = {"status": {"seen": self.writes}}
            api.patch("example.com/v1", "Gateway", "gateway", NAMESPACE, status, subresource="status")
            annotation = {"metadata": {"annotations": {"example.com/heartbeat": str(self.writes)}}}
            api.patch("apps/v1", "Deployment", "web", NAMESPACE, annotation)


@pytest.fixture(scope="module")
def kubectl(own_cluster: OwnCluster) -> Kubectl:
    """What a person has at hand."""

    cache = str(own_cluster.kubeconfig.parent / "kubectl")
    return partial(call_kubectl, own_cluster.kubeconfig, "--cache-dir", cache, namespace=NAMESPACE)


@pytest.fixture(scope="module")
def deployed(playbook: Playbook, small: SmallRelease) -> Outcome:
    """The release, deployed."""
    web = deployment("web", replicas=1)
    web["metadata"]["labels"] = {"tier": "front"}
    crds = small.folder / "crds" / "gateways"
    crds.mkdir(parents=True)
    (crds / "gateways.yaml").write_text(json.dumps(GATEWAYS))
    small.component("web", web, config_map("settings", level="info"))
    small.component("gateway", GATEWAY)
    small.component("scaled", deployment("scaled", replicas=1))
    return playbook.deploy(small.folder).succeeded()


@pytest.fixture(scope="module")
def busy(deployed: Outcome, own_cluster: OwnCluster, kubectl: Kubectl) -> Iterator[Busy]:
    """A cluster where an autoscaler has scaled, an injector has injected and a controller never rests."""
    assert deployed.status == 0
    kubectl("create", "-f", "-", text=json.dumps(AUTOSCALER))
    _wait(lambda: _read(own_cluster, "scaled")["spec"]["replicas"] == 3)
    injector = own_cluster.api.with_field_manager("injector")
    containers = _read(own_cluster, "web")["spec"]["template"]["spec"]["containers"]
    added = SIDECAR["spec"]["template"]["spec"]["containers"]
    injected = {"spec": {"template": {"spec": {"containers": [*containers, *added]}}}}
    injector.patch("apps/v1", "Deployment", "web", NAMESPACE, injected)
    controller = Busy(own_cluster, threading.Event())
    thread = threading.Thread(target=controller.work)
    thread.start()
    try:
        _wait(lambda: controller.writes > 3)
        yield controller
    finally:
        controller.stop.set()
        thread.join()


@pytest.fixture(scope="module")
def redeployed(busy: Busy, playbook: Playbook, small: SmallRelease) -> Outcome:
    """The first deployment of the same release after that."""
    assert busy.writes
    return playbook.deploy(small.folder).succeeded()


@pytest.fixture(scope="module")
def restored(redeployed: Outcome, playbook: Playbook, small: SmallRelease, kubectl: Kubectl) -> Outcome:
    """The deployment after a person has edited an image, a label and an annotation."""
    assert redeployed.status == 0
    kubectl("set", "image", "deployment/web", "main=example.com/fine:edited")
    kubectl("label", "deployment/web", "tier=back", "--overwrite")
    kubectl("annotate", "gateway/gateway", f"{HELD_OPEN}=no", "--overwrite")
    kubectl("label", "configmap/settings", "team=a")
    return playbook.deploy(small.folder).succeeded()


def _wait(reached: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.2)


def _read(cluster: OwnCluster, name: str, kind: str = "Deployment", api_version: str = "apps/v1") -> Object:
    live = cluster.api.get(api_version, kind, name, NAMESPACE)
    assert live
    return dict(live)


def _drift(outcome: Outcome) -> dict[tuple[str, str], tuple[str, str]]:
    """What the plan tells of others: by object and field who it was, and what becomes of it."""
    return {
        (f"{one['kind']} {one['name']}", one["field"]): (one["manager"], one["outcome"])
        for component in outcome.plan["components"]
        for one in component["drift"]
    }


def _assert_nothing_to_do(outcome: Outcome) -> None:
    assert outcome.succeeded().recap["changed"] == 0
    assert outcome.recap["ok"] == 1
    assert writes(outcome.requests) == []
    assert _drift(outcome) == {}


REPLICAS = ("Deployment scaled", "spec.replicas")
PROXY = ("Deployment web", 'spec.template.spec.containers[name="proxy"]')
HEARTBEAT = ("Deployment web", "metadata.annotations.example.com/heartbeat")


def test_fields_of_other_managers_are_reported_once_and_are_no_change(
    redeployed: Outcome, own_cluster: OwnCluster
) -> None:
    assert redeployed.recap["changed"] == 0
    assert not redeployed.plan["needed"]
    assert _drift(redeployed) == {
        REPLICAS: ("kube-controller-manager (scale)", "ceded"),
        PROXY: ("injector", "kept"),
        HEARTBEAT: ("busy-controller", "kept"),
    }
    assert "was added by injector" in redeployed.text
    ours = [
        one for one in writes(redeployed.requests) if "busy-controller" not in one and "/status" not in one
    ]
    assert [one for one in ours if "kyma-project.io" not in one and "kyma-lifecycle-view" not in one] == []
    assert _read(own_cluster, "scaled")["spec"]["replicas"] == 3


def test_hands_are_named_with_object_field_and_manager(restored: Outcome) -> None:
    assert _drift(restored) == {
        ("Deployment web", 'spec.template.spec.containers[name="main"].image'): ("kubectl-set", "restored"),
        ("Deployment web", "metadata.labels.tier"): ("kubectl-label", "restored"),
        ("Gateway gateway", f"metadata.annotations.{HELD_OPEN}"): ("kubectl-annotate", "restored"),
        ("ConfigMap settings", "metadata.labels.team"): ("kubectl-label", "kept"),
    }
    actions = {one["name"]: one["action"] for one in restored.plan["components"]}
    assert actions == {
        "foundation": "unchanged",
        "web": "drifted",
        "gateway": "drifted",
        "scaled": "unchanged",
    }
    times = [one["time"] for component in restored.plan["components"] for one in component["drift"]]
    assert all(times)


def test_our_fields_are_restored_and_other_managers_keep_theirs(
    restored: Outcome, own_cluster: OwnCluster
) -> None:
    assert restored.run["state"] == "succeeded"
    web = _read(own_cluster, "web")
    images = {one["name"]: one["image"] for one in web["spec"]["template"]["spec"]["containers"]}
    assert images == {"main": "example.com/fine", "proxy": "example.com/fine:9"}
    assert web["metadata"]["labels"]["tier"] == "front"
    gateway = _read(own_cluster, "gateway", "Gateway", "example.com/v1")
    assert gateway["metadata"]["annotations"][HELD_OPEN] == "yes"
    assert _read(own_cluster, "scaled")["spec"]["replicas"] == 3
    settings = _read(own_cluster, "settings", "ConfigMap", "v1")
    assert settings["metadata"]["labels"]["team"] == "a"


def test_the_same_release_again_raises_no_alarm(
    restored: Outcome,
    busy: Busy,
    playbook: Playbook,
    small: SmallRelease,
    kubectl: Kubectl,
    own_cluster: OwnCluster,
) -> None:
    assert restored.status == 0
    kubectl("patch", "hpa/scaled", "--type=merge", "-p", json.dumps({"spec": {"minReplicas": 5}}))
    _wait(lambda: _read(own_cluster, "scaled")["spec"]["replicas"] == 5)
    before = busy.writes
    outcome = playbook.deploy(small.folder).succeeded()
    assert busy.writes > before
    assert outcome.recap["changed"] == 0
    assert outcome.plan["noted"] == {}
    assert outcome.recap["ok"] == 1
    assert _drift(outcome) == {}


def test_a_real_alarm_is_not_missed_among_them(
    restored: Outcome, playbook: Playbook, small: SmallRelease, kubectl: Kubectl
) -> None:
    assert restored.status == 0
    kubectl("set", "env", "deployment/web", "-c", "proxy", "A=1")
    kubectl("set", "image", "deployment/web", "main=example.com/fine:again")
    kubectl("delete", "configmap/settings")
    outcome = playbook.deploy(small.folder, "--check").succeeded()
    assert _drift(outcome) == {
        ("Deployment web", 'spec.template.spec.containers[name="main"].image'): ("kubectl-set", "restored"),
        (
            "Deployment web",
            'spec.template.spec.containers[name="proxy"].env[name="A"]',
        ): ("kubectl-set", "kept"),
        ("ConfigMap settings", ""): ("", "restored"),
    }
    real = playbook.deploy(small.folder).succeeded()
    assert _drift(real) == _drift(outcome)


def test_a_strict_user_has_additions_removed(
    restored: Outcome, playbook: Playbook, small: SmallRelease, own_cluster: OwnCluster, busy: Busy
) -> None:
    assert restored.status == 0
    busy.stop.set()
    outcome = playbook.deploy(small.folder, strict_drift=True).succeeded()
    assert _drift(outcome)[PROXY] == ("injector", "removed")
    web = _read(own_cluster, "web")
    assert [one["name"] for one in web["spec"]["template"]["spec"]["containers"]] == ["main"]
    assert "example.com/heartbeat" not in web["metadata"]["annotations"]
    assert _read(own_cluster, "scaled")["spec"]["replicas"] == 5
    _assert_nothing_to_do(playbook.deploy(small.folder, strict_drift=True))


# What others have made first.


def _old(name: str) -> list[Object]:
    """What an older release consisted of: more than the new one has."""
    web = deployment(name, image="example.com/fine:old", replicas=2)
    web["metadata"]["labels"] = {"gone": "yes"}
    pod = web["spec"]["template"]["spec"]
    pod["containers"][0]["env"] = [{"name": "GONE", "value": "1"}]
    pod["containers"].append({"name": "gone", "image": "example.com/fine:old"})
    objects = [web, config_map(f"{name}-settings", level="info", gone="1")]
    return [{**obj, "metadata": {**obj["metadata"], "namespace": NAMESPACE}} for obj in objects]


def _helm_install(cluster: OwnCluster, folder: Path) -> None:
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: old\nversion: 0.1.0\n")
    for position, obj in enumerate(_old("by-helm")):
        labels = {**obj["metadata"].get("labels", {}), "app.kubernetes.io/managed-by": "Helm"}
        obj["metadata"]["labels"] = labels
        (folder / "templates" / f"{position}.yaml").write_text(json.dumps(obj))
    homes = {f"HELM_{what}_HOME": str(folder.parent / "home") for what in ("CACHE", "CONFIG", "DATA")}
    command = [str(BIN / "helm"), "install", "old", str(folder), "-n", NAMESPACE]
    if not IS_OLDEST:
        # Helm 3 knows no server-side apply.
        command.append("--server-side=false")
    done = subprocess.run(
        [*command, "--kubeconfig", str(cluster.kubeconfig)],
        env={**os.environ, **homes},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def adopted(
    restored: Outcome,
    playbook: Playbook,
    small: SmallRelease,
    own_cluster: OwnCluster,
    kubectl: Kubectl,
    tmp_path_factory: pytest.TempPathFactory,
) -> Outcome:
    """The deployment of components that kubectl and Helm have brought there before."""
    assert restored.status == 0
    for obj in _old("by-hand"):
        kubectl("apply", "-f", "-", text=json.dumps(obj))
    _helm_install(own_cluster, tmp_path_factory.mktemp("helm") / "old")
    kubectl("label", "configmap/by-hand-settings", "team=a")
    for name in ("by-hand", "by-helm"):
        small.component(name, deployment(name), config_map(f"{name}-settings", level="info"))
    return playbook.deploy(small.folder, takeover=True, adopt_losses=["by-hand"]).succeeded()


@pytest.mark.parametrize(("name", "maker"), [("by-hand", "kubectl-client-side-apply"), ("by-helm", "helm")])
def test_adopted_objects_lose_all_fields_of_their_former_managers(
    adopted: Outcome, own_cluster: OwnCluster, name: str, maker: str
) -> None:
    drift = _drift(adopted)
    assert drift[f"Deployment {name}", ""] == (maker, "adopted")
    assert drift[f"ConfigMap {name}-settings", ""] == (maker, "adopted")
    web = _read(own_cluster, name)
    [container] = web["spec"]["template"]["spec"]["containers"]
    assert (container["name"], container["image"]) == ("main", "example.com/fine")
    assert "env" not in container
    assert "gone" not in web["metadata"].get("labels", {})
    assert web["metadata"]["generation"] == 2, "it was rolled out once"
    settings = _read(own_cluster, f"{name}-settings", "ConfigMap", "v1")
    assert settings["data"] == {"level": "info"}
    annotations = {**web["metadata"]["annotations"], **settings["metadata"].get("annotations", {})}
    assert set(annotations) == {"deployment.kubernetes.io/revision"}
    for obj in (web, settings):
        managers = {one["manager"] for one in obj["metadata"]["managedFields"]}
        assert managers <= {"kyma-lifecycle", "kube-controller-manager", "kubectl-label"}


def test_a_field_that_a_person_added_stays_and_is_reported(adopted: Outcome, own_cluster: OwnCluster) -> None:
    assert _drift(adopted)["ConfigMap by-hand-settings", "metadata.labels.team"] == ("kubectl-label", "kept")
    settings = _read(own_cluster, "by-hand-settings", "ConfigMap", "v1")
    assert settings["metadata"]["labels"]["team"] == "a"


def test_after_that_there_is_nothing_to_do(adopted: Outcome, playbook: Playbook, small: SmallRelease) -> None:
    assert adopted.status == 0
    _assert_nothing_to_do(playbook.deploy(small.folder))
