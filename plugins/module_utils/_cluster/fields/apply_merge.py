# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Merges an applied intent into an object, and removes fields that its manager dropped (KEP-555)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._deep_copy import deep_copy
from ..cluster import Object
from .field_sets import Field, Fields, as_json, item_key, with_parents
from .list_types import Names, Shapes, Whole


def merge_intent(live: Object, intent: Object, shapes: Shapes) -> Object:
    """The live object with every field of the intent."""
    result: Object = _merge(live, intent, (), shapes)
    return result


def without_fields(obj: Object, dropped: Fields, retained: Fields, shapes: Shapes) -> Object:
    """The object without the dropped fields, except those to retain or with such a field below them.

    An item of a list is removed with all its fields, also those that others have written.
    """
    drop = with_parents(dropped) - with_parents(retained)
    result: Object = _prune(obj, (), (), drop, shapes)
    return result


def _merge(live: Any, intent: Any, names: Names, shapes: Shapes) -> Any:
    shape = shapes(names)
    if isinstance(live, Mapping) and isinstance(intent, Mapping) and shape is not Whole.ATOMIC:
        result = dict(live)
        for name, value in intent.items():
            result[name] = _merge(live.get(name), value, (*names, name), shapes)
        return result
    if isinstance(live, list) and isinstance(intent, list):
        if isinstance(shape, tuple):
            return _merge_items(live, intent, names, shape, shapes)
        if shape is Whole.SET:
            return live + [item for item in intent if item not in live]
    return deep_copy(intent)


def _merge_items(
    live: list[Any], intent: list[Any], names: Names, keys: tuple[str, ...], shapes: Shapes
) -> list[Any]:
    """The items of both lists, each in its own order; if the orders differ, the intent's order wins."""
    ours = {item_key(item, keys): item for item in intent}
    theirs = {item_key(item, keys): item for item in live}
    result: list[Any] = []
    waiting = list(theirs.items())
    for key, item in ours.items():
        while waiting and waiting[0][0] not in ours:
            result.append(waiting.pop(0)[1])
        if key not in theirs:
            result.append(deep_copy(item))
            continue
        base = theirs[key]
        fields = dict(base)
        for name, value in item.items():
            fields[name] = _merge(base.get(name), value, (*names, name), shapes)
        result.append(fields)
        waiting = [(other, value) for other, value in waiting if other != key]
    return result + [value for _key, value in waiting]


def _prune(value: Any, field: Field, names: Names, drop: set[Field], shapes: Shapes) -> Any:
    shape = shapes(names)
    if isinstance(value, Mapping) and shape is not Whole.ATOMIC:
        return _prune_map(value, field, names, drop, shapes, ())
    if isinstance(value, list) and isinstance(shape, tuple):
        items = []
        for item in value:
            path = (*field, item_key(item, shape) or "")
            if path not in drop:
                items.append(
                    _prune_map(item, path, names, drop, shapes, shape) if isinstance(item, Mapping) else item
                )
        return items
    if isinstance(value, list) and shape is Whole.SET:
        return [item for item in value if (*field, "v:" + as_json(item)) not in drop]
    return value


def _prune_map(
    value: Mapping[str, Any],
    field: Field,
    names: Names,
    drop: set[Field],
    shapes: Shapes,
    keys: tuple[str, ...],
) -> dict[str, Any]:
    result = {}
    for name, child in value.items():
        path = (*field, f"f:{name}")
        # An item that stays keeps its key fields, regardless of their owner.
        if path not in drop or name in keys:
            result[name] = _prune(child, path, (*names, name), drop, shapes)
    return result
