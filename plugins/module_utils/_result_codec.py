# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes dataclasses as results of tasks, and reads them again by the types of their attributes. Pure.

A field has the name of its attribute, and its meaning is in the class's docstring: ``tests.make.results``
writes schemas and documentation from them. A field that is missing or of another type counts as empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from ._deep_copy import deep_copy
from ._loose_json import mapping_of
from ._timestamp import parse_time, timestamp

Model = TypeVar("Model")


def returned_as(name: str) -> dict[str, str]:
    """The metadata of an attribute whose field has another name than its own."""
    return {"name": name}


def one_of(words: Sequence[str]) -> dict[str, Sequence[str]]:
    """The metadata of an attribute that is one of some words."""
    return {"enum": words}


INTERNAL = returned_as("")
"""The metadata of an attribute that no result has."""
EMPTY_IF_NONE = {"none": ""}
"""The metadata of an attribute that is an empty text in results if it is None."""


def to_result(value: Any) -> Any:
    """A value as tasks return it: dataclasses with each of their fields, and seconds with three digits.

    A class with a method ``as_result`` decides itself.
    """
    if own := getattr(value, "as_result", None):
        return own()
    if is_dataclass(value):
        return result_fields(value)
    if isinstance(value, Mapping):
        return {key: to_result(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        # A reference to an object.
        return str(value)
    if isinstance(value, (list, tuple)):
        return [to_result(item) for item in value]
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, datetime):
        return timestamp(value)
    return str(value) if isinstance(value, StrEnum) else value


def result_fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass in a result; the parts of a reference without a name are among them."""
    result: dict[str, Any] = {}
    for attribute in fields(value):
        name, item = attribute.metadata.get("name", attribute.name), getattr(value, attribute.name)
        if "name" not in attribute.metadata and hasattr(item, "_asdict"):
            result |= item._asdict()
        elif name:
            result[name] = attribute.metadata.get("none") if item is None else to_result(item)
    return result


def from_result(model: Callable[..., Model], result: object) -> Model:
    """The dataclass that a task has returned.

    Args:
        model: its class. Its attributes are texts, numbers, flags, times, enumerations, mappings,
            dataclasses, tuples of these, or ``None`` instead of one; or a reference without a name.
        result: of the task, or a part of it.
    """
    given = mapping_of(result)
    values: dict[str, Any] = {}
    for attribute, type_ in _typed_fields(model):
        value = _read(type_, given.get(attribute.metadata.get("name", attribute.name)))
        if value is not None:
            values[attribute.name] = value
        elif hasattr(type_, "_fields"):
            values[attribute.name] = type_(*(str(given.get(part) or "") for part in type_._fields))
        elif attribute.default is MISSING and attribute.default_factory is MISSING:
            values[attribute.name] = next(iter(type_)) if issubclass(type_, StrEnum) else type_()
    return model(**values)


def _read(type_: type[Any], value: object) -> Any:
    """The value as one of a type; None if it does not fit."""
    origin, [inner, *_others] = get_origin(type_), get_args(type_) or (type_,)
    if origin is tuple:
        items = value if isinstance(value, list) else ()
        return tuple(read for item in items if (read := _read(inner, item)) is not None)
    if origin is UnionType:
        return _read(inner, value)
    if origin is Mapping:
        return deep_copy(dict(value)) if isinstance(value, Mapping) else None
    if is_dataclass(type_):
        return from_result(type_, value) if isinstance(value, Mapping) else None
    if issubclass(type_, StrEnum):
        return next((word for word in type_ if word == value), None)
    if type_ is datetime:
        return parse_time(value)
    if isinstance(value, bool) != (type_ is bool):
        # A flag is a number for Python.
        return None
    if type_ is float and isinstance(value, int):
        return float(value)
    return value if isinstance(value, type_) else None


@cache
def _typed_fields(model: Any) -> list[tuple[Field[Any], Any]]:
    types = get_type_hints(model)
    return [(one, types[one.name]) for one in fields(model)]
