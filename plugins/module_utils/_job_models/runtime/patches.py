# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON merge patches (RFC 7386) between runtime objects: pure.

The patches of a job's mappings go one step further. In place of a list of named items, such as containers, a
list or a mapping of such items merges by name. Otherwise another container would replace the job's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.fields.json_patch import merge_patch_between
from ..._deep_copy import deep_copy
from ..._loose_json import mapping_of, text_of


def merge_patch_ignoring_nulls(old: Mapping[str, Any], new: Mapping[str, Any]) -> Object:
    """The smallest merge patch that turns ``old`` into ``new``; empty if they are equal.

    A null field is an absent field, as for the API server, because a merge patch can't express it otherwise.
    A list is replaced as a whole, so nulls inside it stay.
    """
    return deep_copy(merge_patch_between(old, _without_nulls(new)))


def _without_nulls(fields: Mapping[str, Any]) -> Object:
    return {
        name: _without_nulls(value) if isinstance(value, Mapping) else value
        for name, value in fields.items()
        if value is not None
    }


def patched(value: Any, patch: Any) -> Any:
    """A value after the patch of a job's mapping. The result may share parts with both."""
    if isinstance(value, list) and (items := items_by_name(value)):
        patches = (
            patch if isinstance(patch, Mapping) else items_by_name(patch) if isinstance(patch, list) else None
        )
        if patches is not None:
            named = {name: one and {"name": name, **mapping_of(one)} for name, one in patches.items()}
            return [*patched(items, named).values()]
    if not isinstance(patch, Mapping):
        return patch
    fields = dict(value) if isinstance(value, Mapping) else {}
    for name, one in patch.items():
        if one is None:
            fields.pop(name, None)
        else:
            fields[name] = patched(fields.get(name), one)
    return fields


def items_by_name(items: Sequence[Any]) -> dict[str, Any] | None:
    """Items by their names, if each has one and no two have the same."""
    named = {text_of(mapping_of(item).get("name")): item for item in items}
    return named if len(named) == len(items) and "" not in named else None
