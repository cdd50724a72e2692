# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Loki's StatefulSet, its claim and its StorageClass, as old and new releases have them."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component

CLAIM = "storage-logging-loki-0"
LABELS = {"app": "loki", "release": "logging"}


def stateful_set(
    size: str | None, namespace: str = "kyma-system", *, replicas: int = 1, class_name: str | None = None
) -> Object:
    """The StatefulSet; without a size it has no claim, as in the profile ``evaluation``."""
    template: dict[str, Any] = {
        "metadata": {"name": "storage"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
    }
    if class_name:
        template["spec"]["storageClassName"] = class_name
    mounts = [{"name": "storage", "mountPath": "/data"}]
    pod_spec: dict[str, Any] = {
        "containers": [{"name": "loki", "image": "registry.invalid/loki:2.2.1", "volumeMounts": mounts}]
    }
    if size is None:
        pod_spec["volumes"] = [{"name": "storage", "emptyDir": {}}]
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "logging-loki", "namespace": namespace, "labels": dict(LABELS)},
        "spec": {
            "replicas": replicas,
            "serviceName": "logging-loki-headless",
            "selector": {"matchLabels": dict(LABELS)},
            "template": {"metadata": {"labels": dict(LABELS)}, "spec": pod_spec},
            **({"volumeClaimTemplates": [template]} if size else {}),
        },
    }


def claim(
    size: str, namespace: str = "kyma-system", *, name: str = CLAIM, class_name: str | None = "fast"
) -> Object:
    spec: dict[str, Any] = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    if class_name is not None:
        spec["storageClassName"] = class_name
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "labels": dict(LABELS)},
        "spec": spec,
    }


def storage_class(name: str = "fast", *, expands: bool | None, provisioner: str = "disk.test/csi") -> Object:
    obj: Object = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
    }
    if expands is not None:
        obj["allowVolumeExpansion"] = expands
    return obj


def pod(namespace: str = "kyma-system", owner: str = "") -> Object:
    obj: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "logging-loki-0", "namespace": namespace, "labels": dict(LABELS)},
        "spec": {"containers": [{"name": "loki", "image": "registry.invalid/loki:2.2.1"}]},
    }
    if owner:
        obj["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "apps/v1",
                "kind": "StatefulSet",
                "name": "logging-loki",
                "uid": owner,
                "controller": True,
            }
        ]
    return obj


def component(*objects: Object, namespace: str = "kyma-system") -> dict[str, Component]:
    """The component ``logging`` of a release."""
    return {"logging": Component("logging", namespace, objects)}
