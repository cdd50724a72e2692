# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator that tests of modules use does what a real one does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.eventually import eventually
from tests.support.module_operator import (
    DOCKER_REGISTRY,
    GROUP,
    TEMPLATE_OPERATOR,
    ModuleOperator,
    module_operator,
)

from .conftest import Kubectl

pytestmark = [pytest.mark.cluster, pytest.mark.night]

V1 = f"{GROUP}/v1alpha1"
PLACE = "template-operator-system"
MANAGER = ("apps/v1", "Deployment", "template-operator-controller-manager", PLACE)
ROLE = ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "template-operator-manager-rolebinding")


@pytest.fixture
def template_operator(kubectl: Kubectl, kyma_modules: Path) -> Iterator[Path]:
    """The manifest, installed by hand."""
    manifest = kyma_modules / "manifests" / "template-operator-1.0.6.yaml"
    kubectl.install(manifest)
    yield manifest
    kubectl.uninstall(manifest)


@pytest.fixture
def operator(template_operator: Path, kubeconfig: str) -> Iterator[ModuleOperator]:
    assert template_operator
    with module_operator(Path(kubeconfig), TEMPLATE_OPERATOR) as running:
        yield running
        running.lets_go = True


def sample(name: str = "mine") -> Object:
    return {"apiVersion": V1, "kind": "Sample", "metadata": {"name": name, "namespace": PLACE}}


def state_of(cluster: LiveCluster, kind: str, name: str, namespace: str = PLACE) -> Any:
    return ((cluster.get(V1, kind, name, namespace) or {}).get("status") or {}).get("state")


def test_the_operator_runs_with_its_deployment(
    live_cluster: LiveCluster, operator: ModuleOperator, kubectl: Kubectl, template_operator: Path
) -> None:
    eventually(lambda: operator.is_running)
    live_cluster.create(sample())
    eventually(lambda: state_of(live_cluster, "Sample", "mine") == "Ready")
    operator.state = "Error"
    eventually(lambda: state_of(live_cluster, "Sample", "mine") == "Error")

    live_cluster.delete(*MANAGER)
    eventually(lambda: not operator.is_running)
    live_cluster.delete(V1, "Sample", "mine", PLACE)
    hanging = live_cluster.get(V1, "Sample", "mine", PLACE)
    assert hanging is not None
    assert hanging["metadata"]["finalizers"] == ["sample.kyma-project.io/finalizer"]
    assert hanging["metadata"]["deletionTimestamp"]

    kubectl.install(template_operator)
    eventually(lambda: live_cluster.get(V1, "Sample", "mine", PLACE) is None)
    assert (operator.most_at_once, operator.refusals) == (1, [])


def test_at_zero_replicas_it_stops(live_cluster: LiveCluster, operator: ModuleOperator) -> None:
    eventually(lambda: operator.is_running)
    live_cluster.patch(*MANAGER, {"spec": {"replicas": 0}}, subresource="scale")
    eventually(lambda: not operator.is_running)
    live_cluster.patch(*MANAGER, {"spec": {"replicas": 1}}, subresource="scale")
    eventually(lambda: operator.is_running)


def test_the_operator_holds_deleted_resources_until_the_test_releases_them(
    live_cluster: LiveCluster, operator: ModuleOperator
) -> None:
    operator.lets_go = False
    operator.deletion_state = "Warning"
    live_cluster.create(sample())
    own = ("Managed", "template-operator-managed-resource")

    def is_held(kind: str, name: str) -> bool:
        return bool((live_cluster.get(V1, kind, name, PLACE) or {})["metadata"].get("finalizers"))

    eventually(lambda: is_held("Sample", "mine") and is_held(*own))
    live_cluster.delete(V1, "Sample", "mine", PLACE)
    live_cluster.delete(V1, *own, PLACE)
    eventually(lambda: state_of(live_cluster, "Sample", "mine") == "Warning")
    assert is_held(*own)

    operator.lets_go = True
    eventually(lambda: live_cluster.get(V1, "Sample", "mine", PLACE) is None)
    eventually(lambda: live_cluster.get(V1, *own, PLACE) is None)


def test_without_the_manifests_rbac_it_can_let_nothing_go(
    live_cluster: LiveCluster, operator: ModuleOperator
) -> None:
    live_cluster.create(sample())
    eventually(lambda: state_of(live_cluster, "Sample", "mine") == "Ready")
    binding = live_cluster.get(*ROLE)
    assert binding is not None

    live_cluster.delete(*ROLE)
    live_cluster.delete(V1, "Sample", "mine", PLACE)
    eventually(lambda: any("cannot" in refusal for refusal in operator.refusals))
    assert live_cluster.get(V1, "Sample", "mine", PLACE) is not None

    meta = {key: value for key, value in binding["metadata"].items() if key in ("name", "labels")}
    live_cluster.create({**binding, "metadata": meta})
    eventually(lambda: live_cluster.get(V1, "Sample", "mine", PLACE) is None)


def test_docker_registry_serves_one_configuration(
    live_cluster: LiveCluster, kubectl: Kubectl, kyma_modules: Path, kubeconfig: str, namespace: str
) -> None:
    manifest = kyma_modules / "docker-registry" / "manifests" / "0.14.0.yaml"
    place = "docker-registry"

    def registry(where: str) -> Object:
        meta = {"name": "default", "namespace": where}
        return {"apiVersion": V1, "kind": "DockerRegistry", "metadata": meta, "spec": {}}

    def state(where: str) -> Any:
        return state_of(live_cluster, "DockerRegistry", "default", where)

    kubectl.install(manifest)
    try:
        with module_operator(Path(kubeconfig), DOCKER_REGISTRY) as running:
            live_cluster.create(registry(place))
            eventually(lambda: state(place) == "Ready")
            live_cluster.create(registry(namespace))
            eventually(lambda: state(namespace) == "Warning")
            assert live_cluster.delete(V1, "DockerRegistry", "default", place)
            eventually(lambda: state(namespace) == "Ready")
            live_cluster.delete(V1, "DockerRegistry", "default", namespace)
            eventually(lambda: not live_cluster.list(V1, "DockerRegistry").items)
            assert running.refusals == []
    finally:
        kubectl.uninstall(manifest)
