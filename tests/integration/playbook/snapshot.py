# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster has at one moment, and how two moments differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import LAST_APPLIED

from tests.support.manifests import Manifest

Object = dict[str, Any]

_OF_THE_SERVER = frozenset(
    {"managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink"}
)
_NOBODYS = frozenset(
    {
        "deployment.kubernetes.io/revision",
        "deprecated.daemonset.template.generation",
        # The manifest itself, where server-side apply could not read it.
        LAST_APPLIED,
    }
)
"""Annotations that are bookkeeping."""


class Snapshot:
    """All objects of the kinds that some manifests have."""

    def __init__(self, cluster: Cluster, manifests: Iterable[Manifest]) -> None:
        self.kinds = {(one.object["apiVersion"], one.object["kind"]) for one in manifests}
        self.objects: dict[str, Object] = {
            str(ref_of(obj)): obj
            for api_version, kind in sorted(self.kinds)
            for obj in cluster.list(api_version, kind).items
        }

    def name_of(self, manifest: Manifest) -> str:
        """The name of a manifest's object in :attr:`objects`, whether it is there or not."""
        kind, meta = manifest.object["kind"], manifest.object["metadata"]
        cluster_wide = f"{kind} {meta['name']}"
        namespace = meta.get("namespace") or manifest.namespace
        return cluster_wide if cluster_wide in self.objects else f"{kind} {namespace}/{meta['name']}"

    def uid(self, name: str) -> str:
        """The uid of an object, e.g. of ``Job kyma-system/api-gateway-init``."""
        return str(self.objects[name]["metadata"]["uid"])

    def unhealthy(self) -> list[str]:
        """Workloads that don't have what they shall have."""
        return [name for name, obj in self.objects.items() if not _is_healthy(obj)]


def _is_healthy(obj: Object) -> bool:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    match obj["kind"]:
        case "Deployment" | "StatefulSet":
            counts = {status.get(f"{what}Replicas", 0) for what in ("ready", "updated", "available")}
            return counts == {spec["replicas"]} and _is_seen(obj)
        case "DaemonSet":
            desired = status["desiredNumberScheduled"]
            return desired == status["numberReady"] == status["updatedNumberScheduled"] and _is_seen(obj)
        case "Job":
            return any(one["type"] == "Complete" and one["status"] == "True" for one in status["conditions"])
        case "PersistentVolumeClaim":
            return bool(status["phase"] == "Bound")
    return True


def _is_seen(obj: Object) -> bool:
    return bool(obj["status"].get("observedGeneration") == obj["metadata"]["generation"])


def differing_fields(before: Any, after: Any) -> set[str]:
    """Paths of the fields in which two states of an object differ, without what the cluster itself writes."""
    return set(_differing(_written_by_people(before), _written_by_people(after), ""))


def _written_by_people(obj: Object) -> Object:
    meta = {key: value for key, value in obj["metadata"].items() if key not in _OF_THE_SERVER}
    annotations = {k: v for k, v in (meta.pop("annotations", None) or {}).items() if k not in _NOBODYS}
    rest = {key: value for key, value in obj.items() if key not in ("status", "metadata")}
    return {**rest, "metadata": {**meta, "annotations": annotations}}


def _differing(before: Any, after: Any, path: str) -> Iterator[str]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in {*before, *after}:
            yield from _differing(before.get(key), after.get(key), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for position, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _differing(one, other, f"{path}[{position}]")
    elif before != after:
        yield path
