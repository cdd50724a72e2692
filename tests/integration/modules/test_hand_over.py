# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real kubectl goes on with what we have given up, without a conflict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_set import (
    ApplyTerms,
    apply_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.hand_over import hand_over
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import Policy

from .conftest import Kubectl

pytestmark = [pytest.mark.cluster, pytest.mark.night]


@pytest.fixture
def manifests(kyma_modules: Path, kubectl: Kubectl) -> Iterator[Path]:
    """The manifests of docker-registry; what is made of them is deleted afterwards."""
    folder = kyma_modules / "docker-registry" / "manifests"
    yield folder
    kubectl.uninstall(folder / "0.14.0.yaml")


def deploy(cluster: LiveCluster, manifest: Path) -> list[InventoryEntry]:
    objects = list(yaml.load_all(manifest.read_text(), yaml.CSafeLoader))
    result = apply_objects(ApplyTerms(cluster, Policy()), objects)
    assert result.refused == ()
    return [entry_of(one.object) for one in result.applied]


def read(cluster: LiveCluster, entries: Sequence[InventoryEntry]) -> list[Object]:
    objects = [cluster.get(one.api_version, one.ref.kind, one.ref.name, one.ref.namespace) for one in entries]
    return [obj for obj in objects if obj is not None]


def test_kubectl_applies_the_same_and_the_next_version(
    live_cluster: LiveCluster, manifests: Path, kubectl: Kubectl
) -> None:
    entries = deploy(live_cluster, manifests / "0.13.0.yaml")
    generations = [obj["metadata"].get("generation") for obj in read(live_cluster, entries)]

    assert hand_over(live_cluster, entries) == []

    after = read(live_cluster, entries)
    assert [obj["metadata"].get("generation") for obj in after] == generations
    managers = {one["manager"] for obj in after for one in obj["metadata"]["managedFields"]}
    assert "kubectl" in managers
    assert "kyma-lifecycle" not in managers
    kubectl("apply", "--server-side", "-f", manifests / "0.13.0.yaml")
    assert [obj["metadata"].get("generation") for obj in read(live_cluster, entries)] == generations
    kubectl("apply", "--server-side", "-f", manifests / "0.14.0.yaml")
    assert hand_over(live_cluster, entries) == []


def test_objects_that_kubectl_had_applied_before_are_its_own_again(
    live_cluster: LiveCluster, manifests: Path, kubectl: Kubectl
) -> None:
    kubectl.install(manifests / "0.13.0.yaml")
    entries = deploy(live_cluster, manifests / "0.13.0.yaml")
    assert hand_over(live_cluster, entries) == []

    kubectl("apply", "--server-side", "-f", manifests / "0.14.0.yaml")


def test_an_object_that_was_written_without_server_side_apply_is_handed_over_too(
    live_cluster: LiveCluster, namespace: str, kubectl: Kubectl, tmp_path: Path
) -> None:
    container = {"name": "main", "image": "x", "env": [{"name": "A", "value": "1"}] * 2}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}},
        },
    }
    result = apply_objects(ApplyTerms(live_cluster, Policy()), [deployment])
    entries = [entry_of(one.object) for one in result.applied]
    assert len(result.warnings) == 1

    assert hand_over(live_cluster, entries) == []

    [live] = read(live_cluster, entries)
    # The Deployment's controller adds its revision.
    assert not [key for key in live["metadata"].get("annotations") or {} if "lifecycle" in key]
    assert "kyma-lifecycle" not in {one["manager"] for one in live["metadata"]["managedFields"]}
    mended = {**container, "image": "other", "env": [{"name": "A", "value": "2"}]}
    deployment["spec"]["template"]["spec"]["containers"] = [mended]
    manifest = tmp_path / "a.yaml"
    manifest.write_text(yaml.safe_dump(deployment))
    kubectl("apply", "--server-side", "-f", manifest)
