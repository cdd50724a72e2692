# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes dataclasses as JSON with names in camelCase, and reads them again by the types of their attributes.

Pure. A field that is missing or of another type counts as empty, and an unknown word of an enumeration as
the default: what a newer version has written must not block others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ._deep_copy import deep_copy
from ._loose_json import mapping_of

Model = TypeVar("Model")


def stored_as(name: str) -> dict[str, str]:
    """The metadata of an attribute whose field has another name than its own in camelCase."""
    return {"name": name}


def to_record(value: Any) -> Any:
    """A dataclass as JSON, with each of its fields; other values as they are, copied."""
    if is_dataclass(value):
        return {_name(one): to_record(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple):
        return [to_record(item) for item in value]
    return str(value) if isinstance(value, StrEnum) else deep_copy(value)


def from_record(model: Callable[..., Model], record: object) -> Model:
    """The dataclass that was written as a record.

    Args:
        model: its class. Its attributes are texts, numbers, flags, enumerations, mappings, dataclasses,
            tuples of these, or ``None`` instead of one.
        record: JSON of any shape.
    """
    given = mapping_of(record)
    values: dict[str, Any] = {}
    for one, type_ in _typed_fields(model):
        value = _read(type_, given.get(_name(one)))
        if value is not None:
            values[one.name] = value
        elif one.default is MISSING and one.default_factory is MISSING:
            values[one.name] = next(iter(type_)) if issubclass(type_, StrEnum) else type_()
    return model(**values)


def _read(type_: type[Any], value: object) -> Any:
    """The value as one of a type; None if it does not fit."""
    origin, [inner, *_others] = get_origin(type_), get_args(type_) or (type_,)
    if origin is tuple:
        items = value if isinstance(value, list) else []
        return tuple(read for item in items if (read := _read(inner, item)) is not None)
    if origin is UnionType:
        return _read(inner, value)
    if origin is Mapping:
        return deep_copy(dict(value)) if isinstance(value, Mapping) else None
    if is_dataclass(type_):
        return from_record(type_, value) if isinstance(value, Mapping) else None
    if issubclass(type_, StrEnum):
        return next((word for word in type_ if word == value), None)
    if isinstance(value, bool) != (type_ is bool):
        # A flag is a number for Python.
        return None
    if type_ is float and isinstance(value, int):
        # A server may write 3.0 as 3.
        return float(value)
    return value if isinstance(value, type_) else None


@cache
def _typed_fields(model: Any) -> list[tuple[Field[Any], Any]]:
    types = get_type_hints(model)
    return [(one, types[one.name]) for one in fields(model)]


def _name(attribute: Field[Any]) -> str:
    given: str = attribute.metadata.get("name", "")
    return given or re.sub("_(.)", lambda match: match[1].upper(), attribute.name)
