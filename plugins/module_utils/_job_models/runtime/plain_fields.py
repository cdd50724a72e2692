# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes copies of objects in place, which may have any shape: pure. What does not fit counts as empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._cluster.cluster import Object


def fields_at(value: Any, *path: str) -> Object:
    """The dictionary at a path; an empty one if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items_at(value: Any, *path: str) -> Iterator[Object]:
    """The dictionaries in the list at a path; none if there is no list."""
    items = fields_at(value, *path[:-1]).get(path[-1])
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def remove_fields(fields: Object, *names: str, prefix: str | None = None) -> None:
    """Remove fields by their names, and all whose name has the prefix."""
    for name in list(fields):
        if name in names or (prefix is not None and name.startswith(prefix)):
            del fields[name]
