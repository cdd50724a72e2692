# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a storage version in a ``spec``: reads, removes and writes the known ones. Pure.

All fields that a version does not know stay unchanged, also inside the mappings that it knows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ..._cluster.cluster import Object
from ..._deep_copy import deep_copy
from ..stored_shapes import Group, Shape, Unfit, described_value

Fields: TypeAlias = Mapping[str, tuple[str, Shape]]
"""The fields of a storage version: by our name, the name in the ``spec`` and the shape of the value there."""


def read_fields(known: Fields, spec: object) -> tuple[dict[str, Any], list[str]]:
    """The fields that a ``spec`` sets, and their problems. Fields with problems count as not set."""
    if not isinstance(spec, Mapping):
        return {}, [f"spec is {described_value(spec)}, not a mapping"]
    values: dict[str, Any] = {}
    problems = []
    for field, (name, shape) in known.items():
        try:
            value = None if spec.get(name) is None else shape.read(spec[name])
        except Unfit as error:
            problems.append(f"spec.{name} {error}")
        else:
            values |= {} if value is None else {field: value}
    return values, problems


def without_known(known: Fields, spec: Mapping[str, Any]) -> Object:
    """A ``spec`` without all fields that a storage version knows. It shares nothing with its argument."""
    left: Object = deep_copy(dict(spec))
    for name, shape in known.values():
        value = left.pop(name, None)
        if isinstance(shape, Group) and (unknown := shape.unknown(value)):
            left[name] = unknown
    return left


def with_fields(known: Fields, values: Mapping[str, Any], unknown: Mapping[str, Any]) -> Object:
    """A ``spec`` with the fields that a job sets, added to the result of :func:`without_known`."""
    spec: Object = dict(unknown)
    for field, (name, shape) in known.items():
        if (value := values.get(field)) is not None:
            old = spec.get(name)
            spec[name] = shape.written(value, old) if isinstance(shape, Group) else deep_copy(value)
    return spec
