# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of Kubernetes' own kinds that use a Secret, one for each place, as an API server takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object

LABELS = {"app": "user"}
SELECTOR = {"matchLabels": LABELS}
CLUSTER_SCOPED = ("PersistentVolume", "StorageClass")


def pod_spec(secret: str, **more: Any) -> Object:
    """The spec of a pod that mounts a Secret."""
    volume = {"name": "v", "projected": {"sources": [{"secret": {"name": secret}}]}}
    return {"containers": [{"name": "main", "image": "busybox"}], "volumes": [volume], **more}


def template(secret: str, **more: Any) -> Object:
    """The template of such pods."""
    return {"metadata": {"labels": LABELS}, "spec": pod_spec(secret, **more)}


def _workload(api_version: str, kind: str, **spec: Any) -> Callable[[str, str], Object]:
    def build(secret: str, _namespace: str) -> Object:
        fields = {"selector": SELECTOR, "template": template(secret), **spec}
        return {"apiVersion": api_version, "kind": kind, "spec": fields}

    return build


def _volume(**source: Any) -> Callable[[str, str], Object]:
    """A PersistentVolume; in its source, ``SECRET`` and ``NAMESPACE`` are replaced."""

    def build(secret: str, namespace: str) -> Object:
        words = {"SECRET": secret, "NAMESPACE": namespace}
        claim = {"kind": "PersistentVolumeClaim", "name": "data", "namespace": namespace}
        spec = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "none",
            "claimRef": claim,
            **_replaced(source, words),
        }
        return {"apiVersion": "v1", "kind": "PersistentVolume", "spec": spec}

    return build


def _replaced(value: Any, words: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _replaced(one, words) for name, one in value.items()}
    return words.get(value, value) if isinstance(value, str) else value


_REF = {"name": "SECRET", "namespace": "NAMESPACE"}
_LOCAL_REF = {"name": "SECRET"}

USERS: dict[str, Callable[[str, str], Object]] = {
    "Pod": lambda secret, _namespace: {"apiVersion": "v1", "kind": "Pod", "spec": pod_spec(secret)},
    "ReplicationController": _workload("v1", "ReplicationController", replicas=0, selector=LABELS),
    "PodTemplate": lambda secret, _namespace: {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "template": template(secret),
    },
    "Deployment": _workload("apps/v1", "Deployment", replicas=0),
    "ReplicaSet": _workload("apps/v1", "ReplicaSet", replicas=0),
    "StatefulSet": _workload("apps/v1", "StatefulSet", replicas=0, serviceName="a"),
    "DaemonSet": lambda secret, _namespace: {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "spec": {"selector": SELECTOR, "template": template(secret, nodeSelector={"no": "node"})},
    },
    "ControllerRevision": lambda secret, _namespace: {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "revision": 1,
        "data": {"spec": {"template": {**template(secret), "$patch": "replace"}}},
    },
    "Job": lambda secret, _namespace: {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "spec": {"suspend": True, "template": template(secret, restartPolicy="Never")},
    },
    "CronJob": lambda secret, _namespace: {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "spec": {
            "schedule": "0 0 1 1 *",
            "suspend": True,
            "jobTemplate": {"spec": {"template": template(secret, restartPolicy="Never")}},
        },
    },
    "Ingress": lambda secret, _namespace: {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "spec": {
            "tls": [{"hosts": ["a.example.com"], "secretName": secret}],
            "defaultBackend": {"service": {"name": "a", "port": {"number": 80}}},
        },
    },
    "Ingress, by an annotation": lambda secret, namespace: {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"annotations": {"nginx.ingress.kubernetes.io/auth-secret": f"{namespace}/{secret}"}},
        "spec": {"defaultBackend": {"service": {"name": "a", "port": {"number": 80}}}},
    },
    "ServiceAccount, to pull images": lambda secret, _namespace: {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "imagePullSecrets": [{"name": secret}],
    },
    "ServiceAccount, as its own": lambda secret, _namespace: {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "secrets": [{"name": secret}],
    },
    **{
        f"PersistentVolume, {field}": _volume(
            csi={"driver": "csi.example.com", "volumeHandle": "a", field: _REF}
        )
        for field in (
            "controllerPublishSecretRef",
            "nodeStageSecretRef",
            "nodePublishSecretRef",
            "controllerExpandSecretRef",
            "nodeExpandSecretRef",
        )
    },
    "PersistentVolume, flexVolume": _volume(flexVolume={"driver": "example.com/a", "secretRef": _REF}),
    "PersistentVolume, flexVolume of its claim": _volume(
        flexVolume={"driver": "example.com/a", "secretRef": _LOCAL_REF}
    ),
    "PersistentVolume, azureFile": _volume(
        azureFile={"shareName": "a", "secretName": "SECRET", "secretNamespace": "NAMESPACE"}
    ),
    "StorageClass": lambda secret, namespace: {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "provisioner": "csi.example.com",
        "parameters": {
            "csi.storage.k8s.io/provisioner-secret-name": secret,
            "csi.storage.k8s.io/provisioner-secret-namespace": namespace,
        },
    },
}
"""By what it is: a function of the names of the Secret and of its namespace."""


def user_of(place: str, secret: str, namespace: str) -> Object:
    """An object that uses a Secret, with a name that belongs to its namespace alone.

    Args:
        place: a key of the users above.
        secret: the name of the Secret.
        namespace: of the Secret.
    """
    obj = USERS[place](secret, namespace)
    where = {} if obj["kind"] in CLUSTER_SCOPED else {"namespace": namespace}
    metadata = {"labels": LABELS, **obj.get("metadata", {}), "name": f"user-{namespace}", **where}
    return {**obj, "metadata": metadata}
