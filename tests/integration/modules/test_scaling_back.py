# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A manager that was scaled to nothing is scaled back, and `replicas` is whose it was before."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.manager_health import (
    needs_scaling_back,
    scaling_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_object import (
    AppliedObject,
    apply_object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
    is_as_recorded,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.findings import DriftOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import Policy

from .conftest import Kubectl

pytestmark = pytest.mark.cluster

OURS = ("kyma-lifecycle", "Apply", "")
IDENTITY = ("apps/v1", "Deployment", "operator")


def deployment(namespace: str, spec: dict[str, Any]) -> Object:
    container = {"name": "manager", "image": "example.com/fine"}
    return {
        "apiVersion": IDENTITY[0],
        "kind": IDENTITY[1],
        "metadata": {"name": IDENTITY[2], "namespace": namespace},
        "spec": {
            **spec,
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}},
        },
    }


def read(cluster: LiveCluster, namespace: str) -> Object:
    live = cluster.get(*IDENTITY, namespace)
    assert live is not None
    return live


def owners_of_replicas(live: Object) -> list[tuple[str, str, str]]:
    return [
        (one["manager"], one["operation"], one.get("subresource", ""))
        for one in live["metadata"]["managedFields"]
        if "f:replicas" in (one["fieldsV1"].get("f:spec") or {})
    ]


def apply(cluster: LiveCluster, desired: Object) -> AppliedObject:
    return apply_object(cluster, desired, Policy(), lambda _gone: None)


def scale_back(cluster: LiveCluster, namespace: str, desired: Object) -> Object:
    """Scale it back, and apply it; the object as it then is."""
    live = read(cluster, namespace)
    assert live["spec"]["replicas"] == 0
    assert needs_scaling_back(live, desired)
    cluster.patch(*IDENTITY, namespace, scaling_patch(live, desired))
    applied = apply(cluster, desired)
    assert applied.findings == ()
    assert applied.object["spec"]["replicas"] == 1
    assert not needs_scaling_back(applied.object, desired)
    return applied.object


def test_scaled_by_kubectl_an_apply_mends_it_if_the_manifest_has_replicas(
    live_cluster: LiveCluster, namespace: str, kubectl: Kubectl
) -> None:
    desired = deployment(namespace, {"replicas": 1})
    recorded = entry_of(apply(live_cluster, desired).object)
    kubectl("scale", "deployment", "operator", "-n", namespace, "--replicas=0")
    live = read(live_cluster, namespace)
    assert needs_scaling_back(live, desired)
    # The server notes no owner of a scale to 0.
    assert owners_of_replicas(live) == []
    assert not is_as_recorded(recorded, live)

    applied = apply(live_cluster, desired)

    assert applied.object["spec"]["replicas"] == 1
    assert owners_of_replicas(applied.object) == [OURS]


def test_scaled_by_kubectl_nothing_else_notices_it_if_the_manifest_has_none(
    live_cluster: LiveCluster, namespace: str, kubectl: Kubectl
) -> None:
    desired = deployment(namespace, {})
    recorded = entry_of(apply(live_cluster, desired).object)
    kubectl("scale", "deployment", "operator", "-n", namespace, "--replicas=0")
    assert is_as_recorded(recorded, read(live_cluster, namespace))
    assert apply(live_cluster, desired).object["spec"]["replicas"] == 0

    assert owners_of_replicas(scale_back(live_cluster, namespace, desired)) == []


def test_scaled_by_a_controller_it_is_taken_back(live_cluster: LiveCluster, namespace: str) -> None:
    desired = deployment(namespace, {"replicas": 1})
    apply(live_cluster, desired)
    controller = live_cluster.with_field_manager("some-controller")
    controller.patch(*IDENTITY, namespace, {"spec": {"replicas": 0}})
    # Left to the controller, as all that controllers own.
    assert [one.outcome for one in apply(live_cluster, desired).findings] == [DriftOutcome.CEDED]

    assert owners_of_replicas(scale_back(live_cluster, namespace, desired)) == [OURS]
