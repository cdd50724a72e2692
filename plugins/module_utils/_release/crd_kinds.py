# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that a CustomResourceDefinition has all fields that determine its kinds: pure.

A plan reads the definitions of a release before any server does, to know which kinds will be served.
"""

from __future__ import annotations

from typing import Any

from .._cluster.cluster import Object
from .._cluster.kinds import CRD_KIND, is_crd


def crd_problem(obj: Object) -> str:
    """The missing or malformed field of a CustomResourceDefinition; empty if none, or for other kinds.

    Args:
        obj: with apiVersion, kind and a name.
    """
    if not is_crd(obj):
        return ""
    problem = _odd_field(obj.get("spec"), has_versions=obj["apiVersion"] != f"{CRD_KIND[0]}/v1beta1")
    return f"the {obj['kind']} {obj['metadata']['name']} can't define a kind: {problem}" if problem else ""


def _odd_field(spec: Any, *, has_versions: bool) -> str:
    if not isinstance(spec, dict):
        return "its spec is no mapping" if spec else "it has no spec"
    if not _is_name(spec.get("group")):
        return "it has no spec.group"
    names = spec.get("names")
    for key in ("kind", "plural"):
        if not isinstance(names, dict) or not _is_name(names.get(key)):
            return f"it has no spec.names.{key}"
    if not isinstance(spec.get("conversion") or {}, dict):
        return "its spec.conversion is no mapping"
    versions = spec.get("versions")
    if versions is None and not has_versions:
        return ""
    if not isinstance(versions, list) or not versions:
        return "its spec.versions is no list" if versions else "it has no spec.versions"
    return next(filter(None, map(_odd_version, range(len(versions)), versions)), "")


def _odd_version(position: int, version: Any) -> str:
    place = f"spec.versions[{position}]"
    if not isinstance(version, dict):
        return f"its {place} is no mapping"
    if not _is_name(version.get("name")):
        return f"it has no {place}.name"
    for key in ("schema", "subresources"):
        if not isinstance(version.get(key) or {}, dict):
            return f"its {place}.{key} is no mapping"
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return "" if isinstance(schema, dict) else f"its {place}.schema.openAPIV3Schema is no mapping"


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""
