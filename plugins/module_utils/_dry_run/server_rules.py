# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The refusals of an API server for built-in kinds, as far as deployments and migrations need them.

An API server fills in defaults before it compares immutable fields. So a field that a write leaves out is no
change of it here: a rehearsal asks the server.

The messages are those of Kubernetes 1.36, so that a real run shows the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from .._cluster.cluster import Object, Ref
from .._cluster.quantity import parse_quantity

Lookup: TypeAlias = Callable[[Ref], "Object | None"]


class ValidationCause(NamedTuple):
    """One cause of a refusal."""

    reason: str
    message: str
    field: str


IMMUTABLE: dict[str, tuple[str, ...]] = {
    "DaemonSet": ("spec.selector",),
    "Deployment": ("spec.selector",),
    "Job": ("spec.completions", "spec.selector", "spec.template", "spec.completionMode"),
    "ReplicaSet": ("spec.selector",),
    "Secret": ("type",),
    "StorageClass": ("provisioner", "reclaimPolicy", "volumeBindingMode"),
    "CustomResourceDefinition": ("spec.group", "spec.names.plural", "spec.scope"),
}
STATEFUL_SET_MUTABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
JOB_DEFAULTS = {"spec.completions": 1, "spec.completionMode": "NonIndexed"}
WHOLE_MAPS = ("annotations", "labels", "nodeSelector", "selector")
"""Maps without defaults: if one of their values is left out, they have changed."""
STORAGE = "spec.resources.requests.storage"
SELECTING = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
CLAIM_MESSAGE = (
    "spec is immutable after creation except resources.requests "
    "and volumeAttributesClassName for bound claims"
)
RESIZE_MESSAGE = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
    "must support resize"
)


def validation_causes(new: Object, old: Object | None) -> list[ValidationCause]:
    """The errors of the server's validation of an object, or of its change."""
    causes = list(_of_state(new))
    if old is not None:
        causes += _of_change(old, new)
    return causes


def refused_resize(new: Object, old: Object | None, lookup: Lookup) -> str:
    """The reason that the claim may not grow (admission plugin PersistentVolumeClaimResize), or empty."""
    if old is None or new["kind"] != "PersistentVolumeClaim" or _storage(new) <= _storage(old):
        return ""
    name = _at(old, "spec.storageClassName")
    storage_class = lookup(Ref("storage.k8s.io", "StorageClass", "", name)) if name else None
    return "" if storage_class and storage_class.get("allowVolumeExpansion") else RESIZE_MESSAGE


def depends_on(obj: Object) -> list[Ref]:
    """The objects that affect whether the server accepts this one, in addition to its namespace and CRD."""
    if obj["kind"] == "PersistentVolumeClaim" and (name := _name_at(obj, "spec.storageClassName")):
        return [Ref("storage.k8s.io", "StorageClass", "", name)]
    refs = []
    if obj["kind"] == "Pod" and obj["apiVersion"] == "v1":
        namespace = obj["metadata"].get("namespace") or ""
        account = _name_at(obj, "spec.serviceAccountName") or "default"
        refs.append(Ref("", "ServiceAccount", namespace, account))
        if priority := _name_at(obj, "spec.priorityClassName"):
            refs.append(Ref("scheduling.k8s.io", "PriorityClass", "", priority))
    return refs


def _name_at(obj: Object, path: str) -> str:
    """A name in an object; empty if there is none. The server refuses a value that is not a text."""
    value = _at(obj, path)
    return value if isinstance(value, str) else ""


def _of_state(obj: Object) -> Iterator[ValidationCause]:
    if obj["kind"] in SELECTING and obj["apiVersion"] == "apps/v1":
        labels = _at(obj, "spec.template.metadata.labels") or {}
        selector = _at(obj, "spec.selector.matchLabels") or {}
        if any(labels.get(key) != value for key, value in selector.items()):
            yield _invalid(
                "spec.template.metadata.labels", labels, "`selector` does not match template `labels`"
            )


def _of_change(old: Object, new: Object) -> Iterator[ValidationCause]:
    kind = new["kind"]
    for field in IMMUTABLE.get(kind, ()):
        before, after = _at(old, field), _at(new, field)
        if before is None and (kind != "Job" or after == JOB_DEFAULTS.get(field)):
            continue
        if _is_other(before, after, field.rpartition(".")[2]):
            yield _invalid(field, after, "field is immutable")
    if old.get("immutable") and kind in ("ConfigMap", "Secret"):
        for field in ("data", "binaryData"):
            if old.get(field) != new.get(field):
                yield _forbidden(field, "field is immutable when `immutable` is set")
    is_binding = kind in ("RoleBinding", "ClusterRoleBinding")
    if is_binding and _is_other(old.get("roleRef"), new.get("roleRef")):
        yield _invalid("roleRef", new.get("roleRef"), "cannot change roleRef")
    if kind == "StatefulSet" and _is_other(_with_volume_modes(_frozen_part(old)), _frozen_part(new)):
        allowed = ", ".join(f"'{name}'" for name in STATEFUL_SET_MUTABLE[:-1])
        yield _forbidden(
            "spec",
            f"updates to statefulset spec for fields other than {allowed} "
            f"and '{STATEFUL_SET_MUTABLE[-1]}' are forbidden",
        )
    if kind == "PersistentVolumeClaim":
        yield from _of_claim(old, new)
    if kind == "CustomResourceDefinition":
        yield from _of_crd(new)
    yield from _of_finalizers(old, new)


def _of_claim(old: Object, new: Object) -> Iterator[ValidationCause]:
    bound = _at(old, "status.phase") == "Bound"
    before, after = ({**(obj.get("spec") or {}), "resources": None} for obj in (old, new))
    is_resized = _at(new, STORAGE) is not None and _storage(old) != _storage(new)
    if _is_other(before, after) or (is_resized and not bound):
        yield _forbidden("spec", CLAIM_MESSAGE)
    elif is_resized and _storage(new) < min(_storage(old), _storage(old, "status.capacity.storage")):
        yield _forbidden(STORAGE, "field can not be less than status.capacity")


def _of_crd(crd: Object) -> Iterator[ValidationCause]:
    names = {version["name"] for version in _at(crd, "spec.versions") or ()}
    for position, stored in enumerate(_at(crd, "status.storedVersions") or ()):
        if stored not in names:
            yield _invalid(
                f"status.storedVersions[{position}]",
                stored,
                f"missing from spec.versions; {stored} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {stored} and "
                f"removes {stored} from status.storedVersions",
            )


def _of_finalizers(old: Object, new: Object) -> Iterator[ValidationCause]:
    if old["metadata"].get("deletionTimestamp"):
        before = old["metadata"].get("finalizers") or ()
        added = [name for name in new["metadata"].get("finalizers") or () if name not in before]
        if added:
            listed = ", ".join(json.dumps(name) for name in added)
            yield _forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, "
                f"found new finalizers []string{{{listed}}}",
            )


def _is_other(before: Any, after: Any, name: str = "") -> bool:
    """Whether a value would change; ``name`` is that of its field. What is left out does not change."""
    if after in (None, {}, []):
        return False
    if isinstance(before, Mapping) and isinstance(after, Mapping) and name not in WHOLE_MAPS:
        return any(_is_other(before.get(key), value, key) for key, value in after.items())
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return any(map(_is_other, before, after))
    return bool(before != after)


def _frozen_part(stateful_set: Object) -> Object:
    return {k: v for k, v in (stateful_set.get("spec") or {}).items() if k not in STATEFUL_SET_MUTABLE}


def _with_volume_modes(frozen: Object) -> Object:
    """The frozen part with the default of the server, which an object in memory may lack."""
    templates = [
        {**template, "spec": {"volumeMode": "Filesystem", **(template.get("spec") or {})}}
        for template in frozen.get("volumeClaimTemplates") or ()
    ]
    return {**frozen, "volumeClaimTemplates": templates}


def _storage(claim: Object, path: str = STORAGE) -> Decimal:
    return parse_quantity(_at(claim, path) or "0")


def _at(obj: Any, path: str) -> Any:
    for name in path.split("."):
        obj = obj.get(name) if isinstance(obj, Mapping) else None
    return obj


def _invalid(field: str, value: Any, message: str) -> ValidationCause:
    shown = json.dumps(value, separators=(",", ":"))
    return ValidationCause("FieldValueInvalid", f"Invalid value: {shown}: {message}", field)


def _forbidden(field: str, message: str) -> ValidationCause:
    return ValidationCause("FieldValueForbidden", f"Forbidden: {message}", field)
