# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Detects other tools that manage an object, by the marks that they leave: pure.

Sources: Argo CD, "Resource Tracking"; Flux, "Kustomization" and "HelmRelease", inventory labels; Helm,
pkg/action/validate.go (checkOwnership).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..._cluster.cluster import MANAGED_BY, Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError
from ..._text import one_line, short_list

ARGO_CD, FLUX, FLUX_HELM, HELM = (
    "Argo CD Application",
    "Flux Kustomization",
    "Flux HelmRelease",
    "Helm release",
)

_ARGO_ID = "argocd.argoproj.io/tracking-id"
_INSTANCE = "app.kubernetes.io/instance"
_FLUX_GROUPS = {"kustomize.toolkit.fluxcd.io": FLUX, "helm.toolkit.fluxcd.io": FLUX_HELM}
_HELM_NAME, _HELM_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
MOST_OBJECTS = 3
"""How many objects a message names: one tool mostly manages all of a component."""


class OtherManager(NamedTuple):
    """Another tool, and its name for a set of objects that it manages.

    ``namespace`` is empty if the mark does not contain it.
    """

    tool: str
    namespace: str
    name: str

    def __str__(self) -> str:
        full_name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{self.tool} {one_line(full_name)}"


def other_manager(obj: Mapping[str, Any]) -> OtherManager | None:
    """The other tool that manages an object, from its metadata; None if there is none."""
    meta = obj["metadata"]
    labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    return _argo_cd(obj, labels, annotations) or _flux(labels, annotations) or _helm(labels, annotations)


def _argo_cd(
    obj: Mapping[str, Any], labels: Mapping[str, str], annotations: Mapping[str, str]
) -> OtherManager | None:
    name, _colon, tracked = annotations.get(_ARGO_ID, "").partition(":")
    if name and _is_tracked(tracked, ref_of(obj)):
        namespace, _line, own_name = name.rpartition("_")
        return OtherManager(ARGO_CD, namespace, own_name)
    # Every chart has this label: only a write by Argo CD proves that it tracks the object by it.
    managers = obj["metadata"].get("managedFields") or ()
    if labels.get(_INSTANCE) and any(str(m.get("manager")).startswith("argocd") for m in managers):
        return OtherManager(ARGO_CD, "", labels[_INSTANCE])
    return None


def _is_tracked(tracked: str, ref: Ref) -> bool:
    """Whether a tracking id is for this object: a copy of an object has the id of its original."""
    kind, _colon, full_name = tracked.partition(":")
    namespace, _slash, name = full_name.partition("/")
    return kind == f"{ref.group}/{ref.kind}" and name == ref.name and namespace in (ref.namespace, "")


def _flux(labels: Mapping[str, str], annotations: Mapping[str, str]) -> OtherManager | None:
    for group, tool in _FLUX_GROUPS.items():
        left_alone = (
            annotations.get(f"{group}/reconcile") == "disabled" or annotations.get(f"{group}/ssa") == "Ignore"
        )
        if labels.get(f"{group}/name") and not left_alone:
            return OtherManager(tool, labels.get(f"{group}/namespace", ""), labels[f"{group}/name"])
    return None


def _helm(labels: Mapping[str, str], annotations: Mapping[str, str]) -> OtherManager | None:
    if labels.get(MANAGED_BY) != "Helm" or not annotations.get(_HELM_NAME):
        return None
    return OtherManager(HELM, annotations.get(_HELM_NAMESPACE, ""), annotations[_HELM_NAME])


def marks_of(obj: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """The names of the labels and annotations by which other tools recognize their objects."""
    meta = obj["metadata"]
    labels, annotations = meta.get("labels") or {}, meta.get("annotations") or {}
    marks: set[str] = set()
    if _argo_cd(obj, labels, annotations):
        marks |= {_ARGO_ID, *([] if _ARGO_ID in annotations else [_INSTANCE])}
    if _flux(labels, annotations):
        marks |= {f"{group}/{part}" for group in _FLUX_GROUPS for part in ("name", "namespace")}
    if _helm(labels, annotations):
        marks |= {MANAGED_BY, _HELM_NAME, _HELM_NAMESPACE}
    return {"labels": frozenset(marks & labels.keys()), "annotations": frozenset(marks & annotations.keys())}


def foreign_marks(live: Mapping[str, Any], intent: Mapping[str, Any]) -> dict[str, dict[str, None]]:
    """The metadata patch that removes other tools' marks from an object, except those in the intent.

    Args:
        live: the present object.
        intent: the wanted object.
    """
    marks: dict[str, dict[str, None]] = {}
    for part, names in marks_of(live).items():
        foreign = sorted(names - (intent["metadata"].get(part) or {}).keys())
        if foreign:
            marks[part] = dict.fromkeys(foreign)
    return marks


def by_manager(objects: Iterable[Object]) -> dict[OtherManager, list[Ref]]:
    """The objects that other tools manage, by tool."""
    refs: dict[OtherManager, list[Ref]] = {}
    for obj in objects:
        manager = other_manager(obj)
        if manager is not None:
            refs.setdefault(manager, []).append(ref_of(obj))
    return refs


def coexistence_problem(manager: OtherManager, refs: Sequence[Ref]) -> str:
    """The problem of writing objects that another tool manages, and the solution, in a sentence."""
    return (
        f"the {manager} manages {short_list(refs, MOST_OBJECTS)}, and would write over what is deployed here:"
        f" {_advice(manager)}, or let this deployment take them over with takeover=true (kyma_takeover)"
    )


def _advice(manager: OtherManager) -> str:
    namespace_option = f" -n {manager.namespace}" if manager.namespace else ""
    if manager.tool == ARGO_CD:
        return (
            f"take them out of it, or delete it and leave its objects"
            f" (`argocd app delete {manager.name} --cascade=false`)"
        )
    if manager.tool == HELM:
        return (
            "remove it from Helm and leave its objects"
            f" (`kubectl delete secret{namespace_option} -l owner=helm,name={manager.name}`)"
        )
    kind = "kustomization" if manager.tool == FLUX else "helmrelease"
    suspend = f"flux suspend {kind}{namespace_option} {manager.name}"
    return f"take them out of it, or suspend it (`{suspend}`) and delete it"


_HOMES = {
    ARGO_CD: ("argoproj.io", "Application"),
    FLUX: ("kustomize.toolkit.fluxcd.io", "Kustomization"),
    FLUX_HELM: ("helm.toolkit.fluxcd.io", "HelmRelease"),
}
"""The group and kind of the object with which each tool defines a set of objects."""


def is_active(cluster: Cluster, manager: OtherManager) -> bool:
    """Whether the object that a mark names still exists; if unknown, it counts as existing.

    Argo CD and Flux may work from another cluster, which then has their kinds.
    """
    try:
        if manager.tool == HELM:
            return _is_released(cluster, manager)
        served = cluster.served(*_HOMES[manager.tool])
        if not served:
            return True
        home, namespace = served[0], manager.namespace or None
        items = cluster.list(home.api_version, home.kind, namespace, metadata_only=True).items
        return any(item["metadata"]["name"] == manager.name for item in items)
    except ClusterError:
        return True


def _is_released(cluster: Cluster, release: OtherManager) -> bool:
    records = [
        item["metadata"].get("labels") or {}
        for kind in ("Secret", "ConfigMap")
        for item in cluster.list(
            "v1",
            kind,
            release.namespace or None,
            label_selector=f"owner=helm,name={release.name}",
            metadata_only=True,
        ).items
    ]
    return any(labels.get("status") not in ("uninstalled", "uninstalling") for labels in records)
