# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a custom resource fits its CRD: fields, types, required and enumerated values only; defaults.

Only the server checks formats, patterns, bounds and CEL rules: it may still refuse what passes here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple

from .._deep_copy import deep_copy

Schema = Mapping[str, Any]

TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
}
NAMES = {bool: "boolean", str: "string", int: "integer", float: "number", list: "array", dict: "object"}
TYPED_AS = {"object": "map", "array": "list", "integer": "numeric (int or float)", "number": "numeric"}
ALWAYS = frozenset({"apiVersion", "kind", "metadata"})
_SERVERS_RULES = frozenset(
    {
        "allOf",
        "anyOf",
        "format",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "uniqueItems",
        "x-kubernetes-validations",
    }
)


class ViolationType(Enum):
    """The kind of mismatch; the value is the reason in the server's answer."""

    UNKNOWN = "FieldValueForbidden"
    TYPE = "FieldValueTypeInvalid"
    REQUIRED = "FieldValueRequired"
    ENUM = "FieldValueNotSupported"


class Misfit(NamedTuple):
    """One value that does not fit: field, mismatch, and the server's words (of a create, of an apply)."""

    field: str
    fault: ViolationType
    message: str
    typed_message: str = ""


def misfits(value: Any, schema: Schema, field: str = "") -> Iterator[Misfit]:
    """All mismatches of a value with its schema (a structural ``openAPIV3Schema``)."""
    if value is None:
        return
    if schema.get("x-kubernetes-int-or-string"):
        if not isinstance(value, (int, str)) or isinstance(value, bool):
            yield _of_type(value, "integer or string", field)
        return
    schema_type = schema.get("type")
    if schema_type in TYPES and not _is_of(value, schema_type):
        yield _of_type(value, schema_type, field)
        return
    if "enum" in schema and value not in schema["enum"]:
        supported = ", ".join(json.dumps(item) for item in schema["enum"])
        message = f"Unsupported value: {json.dumps(value)}: supported values: {supported}"
        yield Misfit(field, ViolationType.ENUM, message)
    if isinstance(value, Mapping):
        yield from _fields(value, schema, field)
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from misfits(item, schema.get("items") or {}, f"{field}[{position}]")


def without_unknown(value: Any, schema: Schema, *, root: bool = True) -> Any:
    """The value without the fields that its schema lacks, as the server stores it."""
    if isinstance(value, list):
        return [without_unknown(item, schema.get("items") or {}, root=False) for item in value]
    if not isinstance(value, dict):
        return value
    known = {}
    for name, child in value.items():
        node = _child(schema, name)
        if root and name in ALWAYS:
            known[name] = child
        elif node is not None:
            known[name] = without_unknown(child, node, root=False)
    return known


def with_defaults(value: Any, schema: Schema) -> Any:
    """The value with the defaults of its schema for missing fields, like on the server."""
    if isinstance(value, list):
        return [with_defaults(item, schema.get("items") or {}) for item in value]
    if not isinstance(value, dict):
        return value
    fields = schema.get("properties") or {}
    missing = {
        name: deep_copy(node["default"])
        for name, node in fields.items()
        if "default" in node and value.get(name) is None
    }
    return {
        name: with_defaults(child, _child(schema, name) or {}) if isinstance(child, (dict, list)) else child
        for name, child in {**value, **missing}.items()
    }


def leaves_to_server(value: Any, schema: Schema) -> bool:
    """Whether the schema has rules for this value that only the server checks."""
    if not _SERVERS_RULES.isdisjoint(schema):
        return True
    if isinstance(value, list):
        return any(leaves_to_server(item, schema.get("items") or {}) for item in value)
    if not isinstance(value, Mapping):
        return False
    fields = ((child, _child(schema, name)) for name, child in value.items())
    return any(node is not None and leaves_to_server(child, node) for child, node in fields)


def _fields(value: Mapping[str, Any], schema: Schema, field: str) -> Iterator[Misfit]:
    for name in schema.get("required") or ():
        if value.get(name) is None:
            yield Misfit(f"{field}.{name}".lstrip("."), ViolationType.REQUIRED, "Required value")
    for name, child in value.items():
        path = f"{field}.{name}".lstrip(".")
        node = _child(schema, name)
        if not field and name in ALWAYS:
            continue
        if node is None:
            yield Misfit(path, ViolationType.UNKNOWN, "unknown field", "field not declared in schema")
        else:
            yield from misfits(child, node, path)


def _child(schema: Schema, name: str) -> Schema | None:
    """The schema of a field; None if there is no such field."""
    declared: Schema | None = (schema.get("properties") or {}).get(name)
    if declared is not None:
        return declared
    more = schema.get("additionalProperties")
    if isinstance(more, Mapping):
        return more
    free = more is True or schema.get("x-kubernetes-preserve-unknown-fields") or not schema.get("type")
    return {} if free or (schema.get("x-kubernetes-embedded-resource") and name in ALWAYS) else None


def _is_of(value: Any, schema_type: str) -> bool:
    if isinstance(value, bool):
        return schema_type == "boolean"
    return isinstance(value, TYPES[schema_type])


def _of_type(value: Any, proper: str, field: str) -> Misfit:
    got = NAMES.get(type(value), "object")
    message = f'Invalid value: "{got}": {field} in body must be of type {proper}: "{got}"'
    return Misfit(field, ViolationType.TYPE, message, f"expected {TYPED_AS.get(proper, proper)}, got {got}")
