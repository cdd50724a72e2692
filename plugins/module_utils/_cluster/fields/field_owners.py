# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The field managers of a single field, by ``managedFields`` (KEP-555): pure.

A path has the elements of FieldsV1, such as ``f:spec``. In place of the element of a keyed list's item it may
have the item itself. Objects may have any shape, as users and other programs write them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from ..._loose_json import fields_at, mapping_of, mappings_in

Entry: TypeAlias = Mapping[str, Any]
"""An entry of ``managedFields``."""


def entries_of(obj: Mapping[str, Any]) -> list[Entry]:
    """All entries of an object."""
    return list(mappings_in(mapping_of(obj.get("metadata")).get("managedFields")))


def owners_of(obj: Mapping[str, Any], *path: Any) -> list[Entry]:
    """The entries of an object that own a field; see :func:`owns`."""
    return [entry for entry in entries_of(obj) if owns(entry, *path)]


def owns(entry: Entry, *path: Any) -> bool:
    """Whether an entry has a field, something in it, or a value around it as a whole."""
    node = mapping_of(entry.get("fieldsV1"))
    if not node:
        return False
    for step in path:
        element = step if isinstance(step, str) else _element_of(step, node)
        if element not in node:
            return False
        node = mapping_of(node[element])
        if not node:
            return True
    return True


def owned_names(entry: Entry, *path: str) -> set[str]:
    """The names of the fields that an entry has in a map."""
    below = fields_at(entry, "fieldsV1", *path)
    return {name.removeprefix("f:") for name in below if name.startswith("f:")}


def _element_of(item: Any, node: Mapping[str, Any]) -> str:
    """The element that names an item of a keyed list; empty if there is none."""
    for element in node:
        if element.startswith("k:"):
            keys = json.loads(element[2:])
            if all(mapping_of(item).get(name) == value for name, value in keys.items()):
                return element
    return ""
