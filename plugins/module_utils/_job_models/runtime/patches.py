# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON merge patches (RFC 7386) between runtime objects: pure.

The patch of a job's ``extra`` goes one step further. A mapping in place of a list of named items, such as
containers, patches the items by name. Otherwise the image in a list of containers would hide the job's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.fields.json_patch import apply_merge_patch, merge_patch_between
from ..._deep_copy import deep_copy
from ..._loose_json import mapping_of, text_of


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> Object:
    """The smallest merge patch that turns ``old`` into ``new``; empty if they are equal.

    A null field is an absent field, as for the API server, because a merge patch can't express it otherwise.
    A list is replaced as a whole, so nulls inside it stay.
    """
    return deep_copy(merge_patch_between(old, _without_nulls(new)))


def apply_patch(obj: Mapping[str, Any], patch: Mapping[str, Any]) -> Object:
    """The object after a merge patch. The result shares nothing with either argument."""
    patched: Object = deep_copy(apply_merge_patch(obj, patch))
    return patched


def _without_nulls(fields: Mapping[str, Any]) -> Object:
    return {
        name: _without_nulls(value) if isinstance(value, Mapping) else value
        for name, value in fields.items()
        if value is not None
    }


def extra_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> Object:
    """The smallest patch for ``extra`` that turns ``old`` into ``new``; empty if they are equal."""
    return deep_copy(_patch(old, _without_nulls(new)))


def apply_extra(obj: Mapping[str, Any], patch: Mapping[str, Any]) -> Object:
    """The object after a patch of ``extra``. The result shares nothing with either argument."""
    patched: Object = deep_copy(_patched(obj, patch))
    return patched


def _patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> Object:
    patch: Object = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if name not in old or before != value or isinstance(before, bool) is not isinstance(value, bool):
            patch[name] = _patch_of_value(before, value)
    return {name: value for name, value in patch.items() if value != {} or new.get(name) == {}}


def _patch_of_value(old: Any, new: Any) -> Any:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return _patch(old, new)
    if isinstance(old, list) and isinstance(new, list):
        patch = _patch_of_items(old, new)
        if patch is not None and _patched(old, patch) == new:
            return patch
    return new


def _patch_of_items(old: Sequence[Any], new: Sequence[Any]) -> Object | None:
    """By name, the patches of items; None if names don't distinguish the items, or if none is left."""
    before, after = items_by_name(old), items_by_name(new)
    if before is None or after is None or not before or not after:
        return None
    if len(before) == 1 and not before.keys() & after.keys():
        # The first item under another name.
        [name], first = before, next(iter(after))
        after = {name: after[first], **{one: after[one] for one in after if one != first}}
    if not before.keys() & after.keys():
        return None
    return _patch(before, after)


def _patched(value: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    items = items_by_name(value) if isinstance(value, list) else None
    if items:
        return [*_patched(items, patch).values()]
    fields = dict(value) if isinstance(value, Mapping) else {}
    for name, one in patch.items():
        if one is None:
            fields.pop(name, None)
        else:
            fields[name] = _patched(fields.get(name), one)
    return fields


def items_by_name(items: Sequence[Any]) -> dict[str, Any] | None:
    """Items by their names, if each has one and no two have the same."""
    named = {text_of(mapping_of(item).get("name")): item for item in items}
    return named if len(named) == len(items) and "" not in named else None
