# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that values have in the ``spec`` of a definition: pure.

Each reads what fits, and refuses the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._cluster.cluster import Object
from .._deep_copy import deep_copy
from .._loose_json import mapping_of
from .._text import one_line
from .core_job import VOLUME_PARTS

_LONGEST_SHOWN = 100


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
            raise Unfit(f"is {described_value(value)}, not a text")
        return value if isinstance(value, str) else described_value(value)


class Number(Shape):
    """A whole number."""

    def read(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise Unfit(f"is {described_value(value)}, not a whole number")
        return value


class Switch(Shape):
    """True or false."""

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise Unfit(f"is {described_value(value)}, not true or false")
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
            raise Unfit(f"is {described_value(value)}, not a list of texts")
        return list(value)


class TextOrLines(Shape):
    """A text or a list of texts."""

    def read(self, value: Any) -> str | list[str]:
        return Lines().read(value) if isinstance(value, list) else Text().read(value)


class VariablesOrList(Variables):
    """Variables, or the list that Kubernetes has for them."""

    def read(self, value: Any) -> Any:
        return Mappings().read(value) if isinstance(value, list) else super().read(value)


class Mappings(Shape):
    """A list of mappings with anything in them."""

    def read(self, value: Any) -> list[Object]:
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise Unfit(f"is {described_value(value)}, not a list of mappings")
        return [deep_copy(dict(one)) for one in value]


class Volumes(Mappings):
    """A list of volumes, each with one source at most."""

    def read(self, value: Any) -> list[Object]:
        volumes = super().read(value)
        for position, one in enumerate(volumes, start=1):
            sources = [name for name in one if one[name] is not None and name not in VOLUME_PARTS]
            if len(sources) > 1:
                raise Unfit(f"has {len(sources)} sources in its entry {position}, not one")
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


def _mapping(value: Any) -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        raise Unfit("is not a mapping")
    return value


def described_value(value: Any) -> str:
    """A value for a message."""
    if isinstance(value, (Mapping, list)):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    try:
        return one_line(repr(value), _LONGEST_SHOWN)
    except ValueError:
        return "a number of too many digits"
