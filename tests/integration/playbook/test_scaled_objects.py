# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""KEDA's ScaledObjects, and whose ``replicas`` it is. What KEDA does itself is played here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

Object = dict[str, Any]


def definition() -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": "ScaledObject", "plural": "scaledobjects", "singular": "scaledobject"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "scaledobjects.keda.sh"},
        "spec": {"group": "keda.sh", "scope": "Namespaced", "names": names, "versions": [version]},
    }


def scaled_object(name: str, **metadata: Any) -> Object:
    # KEDA takes a Deployment where the kind is left out.
    spec = {"scaleTargetRef": {"name": name}, "triggers": [{"type": "cron"}]}
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def write(release: SmallRelease, tag: str) -> Path:
    image = f"example.com/fine:{tag}"
    release.write("shop", deployment("shop", image, replicas=2), scaled_object("shop"))
    release.write("mail", deployment("mail", image, replicas=1), config_map("mail", tag=tag))
    return release.folder


def scale(cluster: OwnCluster, name: str, replicas: int) -> None:
    autoscaler = cluster.api.with_field_manager("kube-controller-manager")
    patch = {"spec": {"replicas": replicas}}
    autoscaler.patch("apps/v1", "Deployment", name, NAMESPACE, patch, subresource="scale")


def replicas(cluster: OwnCluster) -> dict[str, int]:
    deployments = cluster.api.list("apps/v1", "Deployment", NAMESPACE).items
    return {obj["metadata"]["name"]: obj["spec"]["replicas"] for obj in deployments}


def test_a_target_of_a_scaled_object_keeps_its_replicas(
    small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    place = small.folder / "crds" / "keda" / "scaledobjects.yaml"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(definition()))
    small.component("shop").component("mail")
    playbook.deploy(write(small, "one")).succeeded()
    # The release's own leaves the number to KEDA from the beginning on; another one comes later.
    assert replicas(own_cluster) == {"shop": 1, "mail": 1}
    own_cluster.api.with_field_manager("keda-user").create(scaled_object("mail", namespace=NAMESPACE))
    scale(own_cluster, "shop", 3)
    scale(own_cluster, "mail", 4)
    playbook.deploy(small.folder).succeeded()
    upgraded = playbook.deploy(write(small, "two")).succeeded()
    assert set(upgraded.components) >= {"shop", "mail"}
    assert replicas(own_cluster) == {"shop": 3, "mail": 4}
    scale(own_cluster, "shop", 5)
    outcome = playbook.deploy(small.folder).succeeded()
    assert "spec.replicas" not in "".join(line for line in outcome.text.splitlines() if "restored" in line)
    again = playbook.deploy(small.folder).succeeded()
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
    assert replicas(own_cluster) == {"shop": 5, "mail": 4}
