# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of an object's fields, in the form of ``managedFields`` (FieldsV1, KEP-555).

A field is a path of FieldsV1 elements: ``f:<name>``, ``k:<keys as JSON>`` for an item of a keyed list, or
``v:<value as JSON>`` for one of a set. A set of fields is a set of such paths.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from .list_types import KEY_DEFAULTS, Names, Shapes, Whole

Field = tuple[str, ...]
Fields = frozenset[Field]

ITEM = object()
"""The key of a keyed list's item itself, next to the keys of its fields."""
ABSENT = object()
"""What a place without a value has: null is a value."""


def as_json(value: object) -> str:
    """The canonical form of FieldsV1 keys."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def item_key(item: Any, keys: tuple[str, ...]) -> str | None:
    """The element that names an item of a keyed list, or None if the item lacks the key."""
    if not isinstance(item, Mapping):
        return None
    key_fields = {key: item.get(key, KEY_DEFAULTS.get(key)) for key in keys}
    key_fields = {key: value for key, value in key_fields.items() if value is not None}
    return "k:" + as_json(key_fields) if key_fields else None


def member_of(value: Any, element: str) -> Any:
    """What an element names in a map or a list; ``ABSENT`` if it names nothing there."""
    mark, rest = element[0], element[2:]
    if mark == "f":
        return value.get(rest, ABSENT) if isinstance(value, Mapping) else ABSENT
    if not isinstance(value, list):
        return ABSENT
    if mark == "k":
        keys = tuple(json.loads(rest))
        return next((item for item in value if item_key(item, keys) == element), ABSENT)
    return next((item for item in value if as_json(item) == rest), ABSENT)


def field_value(value: Any, field: Field) -> Any:
    """The value of a field; ``ABSENT`` if there is none."""
    for element in field:
        value = member_of(value, element)
    return value


def values_of(value: Any, shapes: Shapes) -> dict[Field, Any]:
    """Every field of a value, with its content; maps and keyed lists count as their fields, unless empty.

    Items with the same key in a keyed list, which plain writes may create, count as one whole.
    """
    contents: dict[Field, Any] = {}
    _collect(value, (), (), shapes, contents, [])
    return contents


def duplicates_in(value: Any, shapes: Shapes) -> list[str]:
    """The places where keyed lists have two items with one key, in the server's words."""
    duplicates: list[str] = []
    _collect(value, (), (), shapes, {}, duplicates)
    return duplicates


def _collect(
    value: Any, field: Field, names: Names, shapes: Shapes, contents: dict[Field, Any], duplicates: list[str]
) -> None:
    shape = shapes(names) if value and isinstance(value, (dict, list)) else Whole.ATOMIC
    if isinstance(value, dict) and shape is not Whole.ATOMIC:
        for name, child in value.items():
            _collect(child, (*field, f"f:{name}"), (*names, name), shapes, contents, duplicates)
    elif isinstance(value, list) and isinstance(shape, tuple):
        items: dict[str, list[Mapping[str, Any]]] = {}
        for item in value:
            if element := item_key(item, shape):
                items.setdefault(element, []).append(item)
        for element, same in items.items():
            path = (*field, element)
            if len(same) > 1:
                duplicates.append(f"{as_text(field)}: duplicate entries for key {as_text((element,))}")
                contents[path] = same
                continue
            contents[path] = ITEM
            for name, child in same[0].items():
                _collect(child, (*path, f"f:{name}"), (*names, name), shapes, contents, duplicates)
    elif isinstance(value, list) and shape is Whole.SET:
        contents.update({(*field, "v:" + as_json(item)): item for item in value})
    elif field:
        contents[field] = value


def with_parents(fields: Iterable[Field]) -> set[Field]:
    """The fields and their named parents; items of lists are included only if they are fields themselves."""
    return {
        field[:length]
        for field in fields
        for length in range(1, len(field) + 1)
        if length == len(field) or field[length - 1].startswith("f:")
    }


def by_depth(field: Field) -> tuple[tuple[bool, str], ...]:
    """The sort key of the server's order: at each level its own fields before deeper ones."""
    return tuple((depth < len(field), element) for depth, element in enumerate(field, 1))


def to_fields_v1(fields: Iterable[Field]) -> dict[str, Any]:
    """The fields as ``fieldsV1``."""
    members = set(fields)
    root: dict[str, Any] = {}
    for field in sorted(members):
        node = root
        for depth, element in enumerate(field, 1):
            child = node.setdefault(element, {})
            if depth < len(field) and field[:depth] in members:
                child["."] = {}
            node = child
    return root


def from_fields_v1(node: Mapping[str, Any], above: Field = ()) -> Fields:
    """The fields in a ``fieldsV1``."""
    fields: set[Field] = set()
    for element, child in node.items():
        if element == ".":
            fields.add(above)
        elif not child:
            fields.add((*above, element))
        else:
            fields |= from_fields_v1(child, (*above, element))
    return frozenset(fields)


def as_text(field: Field) -> str:
    """The field as the server's messages write it, e.g. ``.spec.containers[name="a"].image``."""
    text = ""
    for element in field:
        mark, _colon, rest = element.partition(":")
        if mark == "f":
            text += f".{rest}"
        elif mark == "k":
            text += "[" + ",".join(f"{key}={as_json(value)}" for key, value in json.loads(rest).items()) + "]"
        else:
            text += f"[={rest}]"
    return text
