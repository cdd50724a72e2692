# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes dataclasses and named tuples as JSON, and reads them again by the types of their attributes. Pure.

A field has the name of its attribute in camelCase, and :mod:`._field_notes` declares the rest. A field that
is missing or of another type counts as empty, and an unknown word of an enumeration as the default: what a
newer version has written must not block others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from ._deep_copy import deep_copy
from ._field_notes import METADATA, SPEC, STATUS, FieldNote
from ._loose_json import mapping_of

Model = TypeVar("Model")
Reader = Callable[[Any], Any]


class ModelField(NamedTuple):
    """An attribute of a model.

    Attributes:
        attribute: its name.
        name: that of its field in a record.
        type: its type, without metadata.
        note: its declaration.
        default: its default value, or :data:`~dataclasses.MISSING`.
    """

    attribute: str
    name: str
    type: Any
    note: FieldNote
    default: Any

    @property
    def is_required(self) -> bool:
        """Whether each record has the field."""
        return self.default is MISSING


def to_record(value: Any, *, is_compact: bool = False) -> Any:
    """A model as JSON, with each of its fields; other values as they are, copied.

    Args:
        value: to write.
        is_compact: leave out what is empty, also by default.
    """
    if type(value) in (str, int, bool):
        return value
    model: Any = type(value)
    if is_model(model):
        return _written(value, model_fields(model), is_compact)
    if isinstance(value, tuple):
        return [to_record(item, is_compact=is_compact) for item in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {key: to_record(item, is_compact=is_compact) for key, item in value.items()}
    return str(value) if isinstance(value, StrEnum) else deep_copy(value)


def to_parts(value: Any, *, is_compact: bool = True) -> dict[str, dict[str, Any]]:
    """The model of a custom resource as its ``metadata``, ``spec`` and ``status``."""
    model: Any = type(value)
    declared = model_fields(model)
    return {
        part: _written(
            value, [one for one in declared if one.note.part == part], is_compact and part != METADATA
        )
        for part in dict.fromkeys(one.note.part for one in declared if one.note.part)
    }


def _written(value: Any, declared: Iterable[ModelField], is_compact: bool) -> dict[str, Any]:
    written: dict[str, Any] = {}
    for attribute, name, _type, note, default in declared:
        content = getattr(value, attribute)
        if note.derived_from or not note.is_stored:
            continue
        record = to_record(content, is_compact=is_compact)
        if is_compact and not record and content == default:
            continue
        written |= record if note.is_inlined else {name: record}
    return written


def from_record(model: Callable[..., Model], record: object) -> Model:
    """The model that was written as a record.

    Args:
        model: its class. Its attributes are texts, numbers, flags, enumerations, mappings, models, tuples and
            sets of these, or ``None`` instead of one.
        record: JSON of any shape.
    """
    return _read_model(model, _readers(model), {"": mapping_of(record)})


def from_parts(model: Callable[..., Model], obj: object) -> Model:
    """The model that was written as the parts of a custom resource."""
    whole = mapping_of(obj)
    parts = {part: mapping_of(whole.get(part)) for part in (METADATA, SPEC, STATUS)}
    return _read_model(model, _readers(model), parts)


def _read_model(
    model: Callable[..., Model], readers: Sequence[FieldReader], parts: Mapping[str, Mapping[str, Any]]
) -> Model:
    values: dict[str, Any] = {}
    for attribute, name, part, read, empty in readers:
        given = parts.get(part, {})
        value = given if name is None else given.get(name)
        if value is not None and (value := read(value)) is not None:
            values[attribute] = value
        elif empty is not None:
            values[attribute] = empty()
    return model(**values)


def is_model(type_: Any) -> bool:
    """Whether a type is a dataclass or a named tuple."""
    return is_dataclass(type_) or (isinstance(type_, type) and hasattr(type_, "_field_defaults"))


@cache
def model_fields(model: Any) -> Sequence[ModelField]:
    """The fields of a model. Of a custom resource, those that are in one of its parts."""
    hints = get_type_hints(model, include_extras=True)
    declared = [
        _model_field(attribute, hints[attribute], default) for attribute, default in _attributes(model)
    ]
    return [one for one in declared if one.note.part] or declared


def _attributes(model: Any) -> Iterator[tuple[str, Any]]:
    """The names of the attributes of a model, with their defaults."""
    if not is_dataclass(model):
        yield from ((name, model._field_defaults.get(name, MISSING)) for name in model._fields)
        return
    for one in fields(model):
        yield one.name, one.default if one.default_factory is MISSING else one.default_factory()


def _model_field(attribute: str, hint: Any, default: Any) -> ModelField:
    type_, note = annotation(hint)
    name = note.name or re.sub("_(.)", lambda match: match[1].upper(), attribute)
    return ModelField(attribute, name, type_, note, type_() if note.is_optional else default)


def annotation(hint: Any) -> tuple[Any, FieldNote]:
    """The type of an annotation, and its declaration."""
    if get_origin(hint) in (Union, UnionType):
        hint, *_none = get_args(hint)
    if get_origin(hint) is not Annotated:
        return hint, FieldNote()
    type_, *notes = get_args(hint)
    inner, note = annotation(type_)
    for one in (FieldNote(note) if isinstance(note, str) else note for note in notes):
        schema, rules = {**note.schema, **one.schema}, (*note.rules, *one.rules)
        is_stored = note.is_stored and one.is_stored
        changes = {key: value for key, value in one._asdict().items() if value}
        note = note._replace(**{**changes, "schema": schema, "rules": rules, "is_stored": is_stored})
    return inner, note


class FieldReader(NamedTuple):
    """What reads an attribute.

    Attributes:
        attribute: its name.
        name: of its field; None if it is the whole part.
        part: of the custom resource.
        read: reads its value.
        empty: makes an empty value, if it has no default.
    """

    attribute: str
    name: str | None
    part: str
    read: Reader
    empty: Callable[[], Any] | None


@cache
def _readers(model: Any) -> Sequence[FieldReader]:
    return [
        FieldReader(
            one.attribute,
            None if one.note.is_inlined else one.note.derived_from or one.name * one.note.is_stored,
            one.note.part,
            _reader(one.type, one.note),
            _empty(one.type) if one.is_required or one.note.is_optional else None,
        )
        for one in model_fields(model)
    ]


def _empty(type_: Any) -> Callable[[], Any]:
    if is_model(type_):
        return lambda: from_record(type_, {})
    if isinstance(type_, type) and issubclass(type_, StrEnum):
        return lambda: next(iter(type_))
    return dict if get_origin(type_) is Mapping else type_


def _reader(type_: Any, note: FieldNote) -> Reader:
    """What reads a value as one of a type, or as None if it does not fit."""
    read = _type_reader(type_)
    convert, minimum = note.read, note.schema.get("minimum")
    if convert is not None:
        return lambda value: None if (known := read(value)) is None else convert(known)
    if minimum is not None:
        return lambda value: None if (known := read(value)) is None or known < minimum else known
    return read


def _type_reader(type_: Any) -> Reader:
    origin = get_origin(type_)
    if origin in (tuple, frozenset):
        read_item = _reader(*annotation(get_args(type_)[0]))
        return lambda value: _items(origin, read_item, value)
    if origin is Mapping and get_args(type_)[1] is not Any:
        read_value = _reader(*annotation(get_args(type_)[1]))
        return lambda value: _entries(read_value, value)
    if origin is Mapping or type_ is Any:
        return lambda value: deep_copy(value) if type_ is Any or isinstance(value, dict) else None
    if is_model(type_):
        return lambda value: from_record(type_, value) if isinstance(value, Mapping) else None
    if issubclass(type_, StrEnum):
        words = {str(word): word for word in type_}
        return lambda value: words.get(value) if isinstance(value, str) else None
    if type_ is float:
        # A server may write 3.0 as 3.
        return lambda value: float(value) if type(value) in (int, float) else None
    # A flag is a number for Python.
    return lambda value: value if isinstance(value, type_) and type_ in (bool, type(value)) else None


def _entries(read: Reader, value: object) -> Any:
    if not isinstance(value, Mapping):
        return None
    return {key: known for key, item in value.items() if (known := read(item)) is not None}


def _items(collection: Callable[[Any], Any], read: Reader, value: object) -> Any:
    items = value if isinstance(value, list) else []
    return collection(known for item in items if (known := read(item)) is not None)
