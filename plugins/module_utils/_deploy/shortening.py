# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run's record keeps of what came of its work: a part of it, so that the record stays small. Pure.

An API server takes no object of more than about 1 MiB, and neither what others have done to a component's
objects nor what a migration says has a bound. What is left out stands in the results of the tasks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

ROOM = 240_000
"""Bytes that all components and migrations of a run may take in its record, and once more what was undone."""
LARGEST_SHARE = 6_000
"""Bytes for one of them, where they are few."""
LONGEST_TEXT = 2_000
"""Bytes of what is said of the run itself."""
ALWAYS_WHOLE = 250
"""Bytes of a text that is never cut, such as a name or a state, which later tasks go by."""
_SHARED = ("components", "migrations", "undone")
_NEEDED_WHOLE = ("wide",)
"""What later tasks of the run go by: names of definitions, of which a release has few."""


def shortened(status: Mapping[str, Any], among: int = 1) -> dict[str, Any]:
    """A part of a run's status, as its record keeps it.

    Args:
        status: of ``components``, ``migrations`` and ``undone`` it has an entry per name.
        among: how many components and migrations the record may have to tell of.
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
    kept = {key: _text(value, room // 2) for key, value in entry.items() if key not in lists}
    left = room - _size(kept)
    told = [kept["left_out"]] if kept.get("left_out") else []
    for number, key in enumerate(lists):
        share = left // (len(lists) - number)
        kept[key] = _first(entry[key], share)
        left -= _size(kept[key])
        if len(kept[key]) < len(entry[key]):
            told.append(
                f"{key}: {len(kept[key])} of {len(entry[key])} are kept here, and all in the task's result"
            )
    if lists:
        # Null takes away what may have been said before.
        kept["left_out"] = "; ".join(told) or None
    return kept


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
    """A text of about so many bytes at most, with a word where it is cut; what is no text stays as it is."""
    longest = max(longest, ALWAYS_WHOLE)
    if not isinstance(value, str) or len(encoded := value.encode(errors="replace")) <= longest:
        return value
    start = encoded[:longest].decode(errors="ignore")
    return f"{start}... ({len(value) - len(start)} characters more, which the task's result has)"


def _size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
