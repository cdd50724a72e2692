# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The OpenAPI schema of a model, from the types of its attributes and their declarations: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, get_args, get_origin

from .._field_notes import SPEC, STATUS, FieldNote
from .._record_codec import ModelField, annotation, is_model, model_fields

Schema = dict[str, Any]
_PLAIN = {str: "string", bool: "boolean", int: "integer", float: "number"}


def parts_schema(model: Any, notes: Mapping[str, FieldNote]) -> Schema:
    """The schema of the model of a custom resource: of its ``spec`` and ``status``.

    Args:
        model: the class.
        notes: the declarations of these parts, if no attribute is a whole part.
    """
    schema: Schema = {}
    for part in (SPEC, STATUS):
        declared = [one for one in model_fields(model) if one.note.part == part]
        if len(declared) == 1 and declared[0].note.is_inlined:
            schema[part] = _schema(declared[0].type, declared[0].note)
        elif declared:
            schema[part] = _with_note(_object(declared), notes.get(part, FieldNote()))
    return schema


def schema_of(hint: Any) -> Schema:
    """The schema of an annotated type."""
    return _schema(*annotation(hint))


def _schema(type_: Any, note: FieldNote) -> Schema:
    return _with_note(_typed(note.shape or type_), note)


def _typed(type_: Any) -> Schema:
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (tuple, frozenset):
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is Mapping and arguments[1] is not Any:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin is Mapping:
        return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if is_model(type_):
        return _object(model_fields(type_))
    if issubclass(type_, StrEnum):
        return {"type": "string", "enum": [str(word) for word in type_]}
    return {"type": _PLAIN[type_]}


def _object(declared: Iterable[ModelField]) -> Schema:
    properties: Schema = {}
    required: list[str] = []
    for declaration in declared:
        if declaration.note.derived_from or not declaration.note.is_stored:
            continue
        if declaration.note.is_inlined:
            inner = _object(model_fields(declaration.type))
            properties |= inner["properties"]
            required += inner.get("required", ())
            continue
        properties[declaration.name] = _schema(declaration.type, declaration.note)
        required += [declaration.name] * declaration.is_required
    schema: Schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _with_note(schema: Schema, note: FieldNote) -> Schema:
    described: Schema = {**schema, **note.schema}
    if note.text:
        described["description"] = note.text
    if note.rules:
        described["x-kubernetes-validations"] = validations(note.rules)
    return described


def validations(rules: Iterable[tuple[str, str]]) -> list[Schema]:
    """Rules in CEL with their messages, as a schema has them."""
    return [{"rule": rule, "message": message} for rule, message in rules]
