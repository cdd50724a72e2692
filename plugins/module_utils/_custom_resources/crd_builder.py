# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the definitions of our custom resources: pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._cluster.cluster import GROUP, VERSION, Object

Column = tuple[str, str, str]
"""Name, type and JSON path."""
STRING = {"type": "string"}
INTEGER = {"type": "integer"}
NUMBER = {"type": "number"}
STRINGS = {"type": "array", "items": STRING}
BOOLEAN = {"type": "boolean"}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def resource_definition(
    kind: str,
    plural: str,
    short: str,
    schema: dict[str, Any],
    columns: list[Column],
    *,
    wide_columns: Sequence[Column] = (),
    is_namespaced: bool = False,
    has_status: bool = False,
    description: str = "",
    required: Sequence[str] = (),
    validations: Sequence[dict[str, Any]] = (),
) -> Object:
    """The CustomResourceDefinition of a kind of ours.

    Args:
        kind, plural, short: its names.
        schema: of ``spec`` and ``status``.
        columns: those of ``kubectl get``. With usual names they fit into 100 characters.
        wide_columns: the additional ones of ``-o wide``.
        is_namespaced: whether its objects are in namespaces.
        has_status: whether the status is a subresource, so that a write of it does not count as a change.
        description: of the kind, for ``kubectl explain``.
        required: those of ``spec`` and ``status`` that an object must have.
        validations: rules for the whole object.
    """
    whole = object_schema(required, **schema)
    if description:
        whole["description"] = description
    if validations:
        whole["x-kubernetes-validations"] = [*validations]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced" if is_namespaced else "Cluster",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short],
                "categories": ["kyma-lifecycle"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    **({"subresources": {"status": {}}} if has_status else {}),
                    "schema": {"openAPIV3Schema": whole},
                    "additionalPrinterColumns": _printer_columns(columns, wide_columns),
                }
            ],
        },
    }


def _printer_columns(columns: Iterable[Column], wide_columns: Iterable[Column] = ()) -> list[dict[str, Any]]:
    """The columns that ``kubectl get`` prints."""
    narrow, wide = (
        [{"name": name, "type": type_, "jsonPath": path} for name, type_, path in column_list]
        for column_list in (columns, wide_columns)
    )
    return [*narrow, *({**column, "priority": 1} for column in wide)]


def object_schema(required: Sequence[str] = (), /, **properties: Any) -> dict[str, Any]:
    """The schema of an object.

    Args:
        required: the names of the properties that it must have.
        properties: their schemas, by name.
    """
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, "required": [*required]} if required else schema


CONDITIONS_SCHEMA: dict[str, Any] = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": object_schema(
        ["type", "status"],
        type=STRING,
        status=STRING,
        reason=STRING,
        message=STRING,
        lastTransitionTime={"type": "string", "format": "date-time"},
        observedGeneration=INTEGER,
    ),
}
"""The schema of a status's ``conditions``."""
