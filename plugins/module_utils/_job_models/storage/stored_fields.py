# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a storage model in a ``spec``: reads, removes and writes the known ones. Pure.

All fields that a model does not know stay unchanged, also inside the mappings that it knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, field, fields
from functools import partial
from typing import Any, TypeVar

from ..._cluster.cluster import Object
from ..._deep_copy import deep_copy
from ..._loose_json import mapping_of
from ..._text import one_line
from ..job_fields import VOLUME_PARTS
from ..runtime.runtime_objects import KINDS_OF

Model = TypeVar("Model")

_LONGEST_SHOWN = 100
_optional_field = partial(field, default=None)


class Unfit(ValueError):
    """A value does not have the shape of its field. The message has the actual and the required shape."""


class Shape:
    """A value that is known as a whole. Subclasses define which values fit."""

    def read(self, value: Any) -> Any:
        """The value for the model; None if the field counts as not set.

        Raises:
            Unfit: the value has another shape.
        """
        raise NotImplementedError


class Text(Shape):
    """A text. A number counts as one, as YAML reads ``cpu: 1`` as a number."""

    def read(self, value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Unfit(f"is {_shown(value)}, not a text")
        return value if isinstance(value, str) else _shown(value)


class Number(Shape):
    """A whole number."""

    def read(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unfit(f"is {_shown(value)}, not a whole number")
        return value


class Switch(Shape):
    """True or false."""

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise Unfit(f"is {_shown(value)}, not true or false")
        return value


class Texts(Shape):
    """A mapping to texts with any names. Messages don't show the values, which may be secrets."""

    def read(self, value: Any) -> dict[str, Any]:
        texts = {}
        for name, one in _mapping(value).items():
            try:
                texts[str(name)] = self._part(one)
            except Unfit:
                raise Unfit(f"has {one_line(name, _LONGEST_SHOWN)!r}, which is not a text") from None
        return texts

    def _part(self, value: Any) -> Any:
        return Text().read(value)


class Variables(Texts):
    """A mapping to texts, or to mappings that say where the text comes from, with any names."""

    def _part(self, value: Any) -> Any:
        return AnyMapping().read(value) if isinstance(value, Mapping) else super()._part(value)


class Lines(Shape):
    """A list of texts."""

    def read(self, value: Any) -> list[str]:
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise Unfit(f"is {_shown(value)}, not a list of texts")
        return list(value)


class TextOrLines(Shape):
    """A text or a list of texts."""

    def read(self, value: Any) -> str | list[str]:
        return Lines().read(value) if isinstance(value, list) else Text().read(value)


class Mappings(Shape):
    """A list of mappings with anything in them."""

    def read(self, value: Any) -> list[Object]:
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise Unfit(f"is {_shown(value)}, not a list of mappings")
        return [deep_copy(dict(one)) for one in value]


class Volumes(Mappings):
    """A list of volumes, each with one source at most."""

    def read(self, value: Any) -> list[Object]:
        volumes = super().read(value)
        for place, one in enumerate(volumes, start=1):
            sources = [name for name in one if one[name] is not None and name not in VOLUME_PARTS]
            if len(sources) > 1:
                raise Unfit(f"has {len(sources)} sources in its entry {place}, not one")
        return volumes


class AnyMapping(Shape):
    """A mapping with anything in it."""

    def read(self, value: Any) -> Object:
        return deep_copy(dict(_mapping(value)))


class Group(Shape):
    """A mapping of which some names are known, to texts or to other shapes. It is set if one of these is."""

    def __init__(self, *names: str, **shapes: Shape) -> None:
        self.names = (*names, *shapes)
        self.shapes = shapes

    def read(self, value: Any) -> dict[str, Any] | None:
        parts, given = {}, _mapping(value)
        for name in self.names:
            if given.get(name) is not None:
                try:
                    parts[name] = self.shapes.get(name, Text()).read(given[name])
                except Unfit as error:
                    raise Unfit(f"has {name}, which {error}") from None
        return parts or None

    def unknown(self, value: Any) -> Object:
        """The rest of a value without the known names."""
        return {name: one for name, one in mapping_of(value).items() if name not in self.names}

    def written(self, value: Mapping[str, Any], unknown: object) -> Object:
        """A value as the ``spec`` has it, with the unknown fields of the existing value."""
        # Without a known name, it would not be set.
        return {**mapping_of(unknown), **(value or {self.names[0]: ""})}


class Patches(Group):
    """A mapping from the kinds of runtime objects to patches with anything in them."""

    def __init__(self) -> None:
        super().__init__(*dict.fromkeys(kind for kinds in KINDS_OF.values() for _version, kind in kinds))

    def read(self, value: Any) -> dict[str, Any] | None:
        given = _mapping(value)
        return {kind: deep_copy(given[kind]) for kind in self.names if kind in given} or None

    def written(self, value: Mapping[str, Any], unknown: object) -> Object:
        return {**mapping_of(unknown), **deep_copy(dict(value))}


def stored(name: str, shape: Shape) -> Any:
    """A field of a storage model, which is None if it is not set.

    Args:
        name: of the field in the ``spec``.
        shape: of its value there.
    """
    return _optional_field(metadata={"name": name, "shape": shape})


def read_model(model: type[Model], spec: object) -> tuple[Model, list[str]]:
    """The fields that a ``spec`` sets, and their problems. Fields with problems count as not set."""
    values: dict[str, Any] = {}
    if not isinstance(spec, Mapping):
        return model(), [f"spec is {_shown(spec)}, not a mapping"]
    problems = []
    for attribute, name, shape in _known(model):
        if spec.get(name) is None:
            continue
        try:
            values[attribute] = shape.read(spec[name])
        except Unfit as error:
            problems.append(f"spec.{name} {error}")
    return model(**values), problems


def without_known(model: type[Any], spec: Mapping[str, Any]) -> Object:
    """A ``spec`` without all fields that a storage model knows. It shares nothing with its argument."""
    left: Object = deep_copy(dict(spec))
    for _attribute, name, shape in _known(model):
        value = left.pop(name, None)
        if isinstance(shape, Group) and (unknown := shape.unknown(value)):
            left[name] = unknown
    return left


def with_model(model: Any, unknown: Mapping[str, Any]) -> Object:
    """A ``spec`` with the fields that a storage model sets, added to the result of :func:`without_known`."""
    spec: Object = dict(unknown)
    for attribute, name, shape in _known(type(model)):
        value = getattr(model, attribute)
        if value is not None:
            old = spec.get(name)
            spec[name] = shape.written(value, old) if isinstance(shape, Group) else deep_copy(value)
    return spec


def _known(model: type[Any]) -> Iterator[tuple[str, str, Shape]]:
    model_fields: tuple[Field[Any], ...] = fields(model)
    for one in model_fields:
        yield one.name, one.metadata["name"], one.metadata["shape"]


def _mapping(value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise Unfit("is not a mapping")
    return value


def _shown(value: Any) -> str:
    if isinstance(value, (Mapping, list)):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    try:
        return one_line(repr(value), _LONGEST_SHOWN)
    except ValueError:
        return "a number of too many digits"
