# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads JSON of users, which may have any shape: pure. A value that does not fit counts as empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def mapping_of(value: object) -> Mapping[str, Any]:
    """The value if it is a mapping, else an empty one."""
    # A check of an abstract class is slow, and nearly all mappings are dictionaries.
    return value if isinstance(value, (dict, Mapping)) else {}


def mappings_in(value: object) -> Iterator[Mapping[str, Any]]:
    """The mappings in a list; none if the value is no list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, (dict, Mapping)))


def text_of(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def number_of(value: object) -> int:
    """The value if it is a whole number, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def fields_at(value: object, *path: str) -> dict[str, Any]:
    """The dictionary at a path itself, so that it can be changed in place; else an empty one."""
    for name in path:
        value = mapping_of(value).get(name)
    return value if isinstance(value, dict) else {}


def items_at(value: object, *path: str) -> Iterator[dict[str, Any]]:
    """The dictionaries in the list at a path themselves; none if there is no list."""
    for item in mappings_in(fields_at(value, *path[:-1]).get(path[-1])):
        if isinstance(item, dict):
            yield item
