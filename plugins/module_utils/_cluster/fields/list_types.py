# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the values of an object merge: which lists have keys, and which values are atomic.

For built-in kinds the source is the ``+listType``, ``+listMapKey`` and ``+structType`` markers of the
Kubernetes API types; for custom kinds, the ``x-kubernetes-*`` extensions of their schema (KEP-555, KEP-2155).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any, TypeAlias

from ..kinds import Kind


class Whole(Enum):
    """Values that don't merge by field."""

    ATOMIC = "atomic"
    SET = "set"


Names = tuple[str, ...]
"""The field names down to a value; items of lists have none."""

Shape: TypeAlias = "Whole | tuple[str, ...] | None"
"""A list's keys, the reason that a value is whole, or None: a map merges by field, a list is replaced."""

Shapes = Callable[[Names], Shape]

LISTS: dict[str, Shape] = {
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "finalizers": Whole.SET,
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "resourceClaims": ("name",),
    "secrets": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
    "webhooks": ("name",),
}
ATOMIC_MAPS = frozenset(
    {
        "claimRef",
        "configMapKeyRef",
        "fieldRef",
        "labelSelector",
        "namespaceSelector",
        "nodeSelector",
        "objectSelector",
        "podSelector",
        "resourceFieldRef",
        "roleRef",
        "scaleTargetRef",
        "secretKeyRef",
    }
)
KEY_DEFAULTS = {"protocol": "TCP"}
"""The default of an item's key, if the item omits it."""
METADATA: Mapping[Names, Shape] = {
    ("metadata", "finalizers"): Whole.SET,
    ("metadata", "ownerReferences"): ("uid",),
}


def shapes_of(kind: Kind) -> Shapes:
    """How the values of this kind's objects merge."""
    if not kind.is_custom:
        return lambda names: _built_in(kind.resource.kind, names)
    schema = kind.schema or {}
    return cache(lambda names: METADATA.get(names) if names[:1] == ("metadata",) else _custom(schema, names))


def _built_in(kind: str, names: Names) -> Shape:
    if not names:
        return None
    name = names[-1]
    if name == "ports":
        if "containers" in names[-2:] or "initContainers" in names[-2:]:
            return ("containerPort", "protocol")
        return ("port", "protocol") if kind == "Service" and names == ("spec", "ports") else None
    if name == "selector":
        # A Service's selector is an atomic map; other selectors are an atomic LabelSelector.
        return Whole.ATOMIC
    if name in ATOMIC_MAPS and names[0] != "metadata":
        return Whole.ATOMIC
    if kind == "ServiceAccount" and name == "imagePullSecrets":
        return None
    return LISTS.get(name) if names[0] in ("spec", "status", "metadata") or len(names) == 1 else None


def _custom(schema: Mapping[str, Any], names: Names) -> Shape:
    node: Mapping[str, Any] = schema
    for name in names:
        while "items" in node:
            node = node["items"]
        properties = node.get("properties") or {}
        more = node.get("additionalProperties")
        node = properties.get(name) or (more if isinstance(more, Mapping) else {})
    if node.get("x-kubernetes-list-type") == "map":
        return tuple(node.get("x-kubernetes-list-map-keys") or ())
    if node.get("x-kubernetes-list-type") == "set":
        return Whole.SET
    return Whole.ATOMIC if node.get("x-kubernetes-map-type") == "atomic" else None
