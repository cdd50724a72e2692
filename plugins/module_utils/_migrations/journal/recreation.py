# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recreate a deleted object: which of its fields can be restored, and which can't."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.cluster import Cluster, Object, Ref
from ..._cluster.pod_templates import pod_template
from ..._cluster.served_versions import served_resource
from ..._deep_copy import deep_copy
from ..._loose_json import fields_at

JOB_LABELS = (
    "batch.kubernetes.io/controller-uid",
    "batch.kubernetes.io/job-name",
    "controller-uid",
    "job-name",
)
"""Labels that the server adds to a Job's pods, by the Job's uid."""
BINDING = (
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "volume.kubernetes.io/selected-node",
)
"""Annotations that bind a claim to a volume that may be gone."""


def object_to_recreate(
    api_version: str, ref: Ref, content: Mapping[str, Any]
) -> tuple[Object, tuple[str, ...]]:
    """An object to create, and the lost parts of it, as texts.

    Args:
        api_version: the version to write it in.
        ref: its reference.
        content: its earlier content, without apiVersion, kind and name.
    """
    obj: Object = {"apiVersion": api_version, "kind": ref.kind, **deep_copy(dict(content))}
    identity = {"namespace": ref.namespace} if ref.namespace else {}
    obj["metadata"] = {**(obj.get("metadata") or {}), "name": ref.name, **identity}
    obj.pop("status", None)
    lost = ["its uid", "its status"]
    spec = obj.get("spec")
    if isinstance(spec, dict) and (drop := _DROP.get((ref.group, ref.kind))):
        lost += drop(obj, spec)
    return obj, tuple(lost)


def without_vanished_owners(cluster: Cluster, obj: Object) -> tuple[Object, tuple[str, ...]]:
    """The object without references to owners that no longer exist, and these owners as texts.

    Raises:
        ClusterError: the cluster doesn't answer.
    """
    meta = obj["metadata"]
    owners = meta.get("ownerReferences") or []
    left = [owner for owner in owners if _exists(cluster, owner, meta.get("namespace"))]
    gone = [f"its owner {one['kind']} {one['name']}" for one in owners if one not in left]
    if gone:
        meta = {**meta, "ownerReferences": left}
    return {**obj, "metadata": meta}, tuple(gone)


def _exists(cluster: Cluster, owner: Mapping[str, Any], namespace: str | None) -> bool:
    resource = served_resource(cluster, owner["apiVersion"], owner["kind"])
    if resource is None:
        return False
    scoped_namespace = namespace if resource.namespaced else None
    live = cluster.get(resource.api_version, owner["kind"], owner["name"], scoped_namespace)
    return live is not None and live["metadata"].get("uid") == owner.get("uid")


def _service(_obj: Object, spec: dict[str, Any]) -> list[str]:
    lost = []
    if spec.get("clusterIP") not in (None, "", "None"):
        spec.pop("clusterIP")
        spec.pop("clusterIPs", None)
        lost.append("its clusterIP")
    ports = [port for port in spec.get("ports") or () if port.pop("nodePort", None)]
    if ports or spec.pop("healthCheckNodePort", None):
        lost.append("its nodePorts")
    return lost


def _claim(obj: Object, spec: dict[str, Any]) -> list[str]:
    annotations = obj["metadata"].get("annotations") or {}
    for name in BINDING:
        annotations.pop(name, None)
    return ["its volume with the data in it"] if spec.pop("volumeName", None) else []


def _job(obj: Object, spec: dict[str, Any]) -> list[str]:
    if spec.get("manualSelector"):
        return []
    spec.pop("selector", None)
    labels = fields_at(pod_template(obj), "metadata", "labels")
    for name in JOB_LABELS:
        labels.pop(name, None)
    return ["the pods that it had"]


def _pod(_obj: Object, spec: dict[str, Any]) -> list[str]:
    return ["its node"] if spec.pop("nodeName", None) else []


_DROP = {
    ("", "Service"): _service,
    ("", "PersistentVolumeClaim"): _claim,
    ("batch", "Job"): _job,
    ("", "Pod"): _pod,
}
