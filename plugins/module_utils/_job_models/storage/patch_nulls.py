# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A merge patch without nulls, and the places where it had them: pure.

A definition is written by a JSON merge patch, which can't set a null. So the nulls of a job's mappings,
which remove fields, are stored as JSON pointers (RFC 6901).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..._deep_copy import deep_copy


def split_nulls(value: Any) -> tuple[Any, list[str]]:
    """A copy of a value without its nulls, and their places, in the order to put them back."""
    return _without_nulls(value), list(_nulls_in(value, ""))


def join_nulls(value: Any, pointers: Iterable[str]) -> Any:
    """The value that :func:`split_nulls` was given.

    Raises:
        ValueError: a pointer leads nowhere.
    """
    joined = deep_copy(value)
    for pointer in pointers:
        place = joined
        *path, last = [_unescaped(step) for step in pointer.split("/")[1:]] or [""]
        try:
            for step in path:
                place = place[_index(step)] if isinstance(place, list) else place[step]
            if isinstance(place, list):
                if _index(last) > len(place):
                    raise IndexError(last)
                place.insert(_index(last), None)
            else:
                place[last] = None
        except (LookupError, TypeError, ValueError):
            raise ValueError(f"has {pointer!r}, which leads nowhere") from None
    return joined


def _index(step: str) -> int:
    """The place of an item; Python would take a negative one from the end."""
    if not step.isdecimal():
        raise ValueError(step)
    return int(step)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [_without_nulls(one) for one in value if one is not None]
    return value


def _nulls_in(value: Any, pointer: str) -> Iterator[str]:
    if value is None:
        yield pointer
    elif isinstance(value, Mapping):
        # Its order means nothing, so equal patches have equal pointers.
        for step in sorted(value, key=str):
            yield from _nulls_in(value[step], f"{pointer}/{_escaped(str(step))}")
    elif isinstance(value, (list, tuple)):
        for position, one in enumerate(value):
            yield from _nulls_in(one, f"{pointer}/{position}")


def _escaped(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
