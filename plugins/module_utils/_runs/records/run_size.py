# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a run its record has: long texts and many entries are shortened. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

ROOM = 240_000
"""Bytes of all components and migrations of a run in its record, and as many for what was undone."""


LARGEST_SHARE = 6_000
"""Bytes for one of them, if they are few."""


LONGEST_TEXT = 2_000
"""Bytes of the texts about the run itself."""


ALWAYS_WHOLE = 250
"""Bytes of a text that is never cut, such as a name or a state, because later tasks use it."""


_SHARED = ("components", "migrations", "undone")


_NEEDED_WHOLE = ("wide",)
"""What later tasks of the run use: names of definitions, of which a release has few."""


def shorten_status(status: Mapping[str, Any], among: int = 1) -> dict[str, Any]:
    """A part of a run's status, shortened for its record.

    Args:
        status: its ``components``, ``migrations`` and ``undone`` have an entry per name.
        among: how many components and migrations the record may have to name.
    """
    room = min(LARGEST_SHARE, ROOM // max(among, 1))
    return {
        key: {name: _entry(entry, room) for name, entry in value.items()}
        if key in _SHARED
        else _text(value, LONGEST_TEXT)
        for key, value in status.items()
    }


def _entry(entry: Mapping[str, Any], room: int) -> dict[str, Any]:
    lists = [key for key, value in entry.items() if isinstance(value, list) and key not in _NEEDED_WHOLE]
    shortened = {key: _text(value, room // 2) for key, value in entry.items() if key not in lists}
    left = room - _size(shortened)
    left_out = [shortened["left_out"]] if shortened.get("left_out") else []
    for number, key in enumerate(lists):
        share = left // (len(lists) - number)
        shortened[key] = _first(entry[key], share)
        left -= _size(shortened[key])
        if len(shortened[key]) < len(entry[key]):
            left_out.append(
                f"{key}: {len(shortened[key])} of {len(entry[key])} are kept here,"
                " and all in the task's result"
            )
    if lists:
        # Null deletes the earlier value.
        shortened["left_out"] = "; ".join(left_out) or None
    return shortened


def _first(items: list[Any], room: int) -> list[Any]:
    first: list[Any] = []
    for item in items:
        short = _short(item, room)
        room -= _size(short)
        if room < 0:
            break
        first.append(short)
    return first


def _short(item: Any, room: int) -> Any:
    if isinstance(item, Mapping):
        return {key: _text(value, room // 2) for key, value in item.items()}
    return _text(item, room // 2)


def _text(value: Any, longest: int) -> Any:
    """A text of about so many bytes at most, with a mark if it is cut; other values stay unchanged."""
    longest = max(longest, ALWAYS_WHOLE)
    if not isinstance(value, str) or len(encoded := value.encode(errors="replace")) <= longest:
        return value
    start = encoded[:longest].decode(errors="ignore")
    return f"{start}... ({len(value) - len(start)} characters more, which the task's result has)"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
