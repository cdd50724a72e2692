# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of durations: how long the plan, each phase, component and migration took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._text import aligned, counted
from .outcomes import MIGRATION, PHASE, PLAN

HEAD = ("what", "name", "ended", "seconds")
NOT_NEEDED = "not_needed"
SUCCEEDED = frozenset({"succeeded", "done", "unchanged", NOT_NEEDED})
"""States that the short table leaves out, because people do not look for them."""
MOST_ROWS = 5
"""Rows of each kind in the short table, besides those that did not succeed."""


def with_items(result: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The results of the items of a loop, and then the result of the task itself."""
    for item in result.get("results") or ():
        if isinstance(item, Mapping):
            yield from with_items(item)
    yield result


def render_durations(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The closing table as lines.

    The plan and the phases are first, in their order, then their total. Components and migrations follow, the
    longest first. All migrations have a sum, which includes the migrations without a line, because they were
    not needed.

    Args:
        rows: see :class:`~.outcomes.Duration`.
    """
    all_rows = list(rows)
    steps = _in_order(row for row in all_rows if row["kind"] in (PLAN, PHASE))
    migrations = _longest_first(row for row in all_rows if row["kind"] == MIGRATION)
    others = [row for row in all_rows if row["kind"] not in (PLAN, PHASE, MIGRATION)]
    cells = [_cells(row) for row in steps]
    if steps:
        cells.append(("total", "plan and phases", "", _seconds(steps)))
    for kind in dict.fromkeys(str(row["kind"]) for row in others):
        cells += [_cells(row) for row in _longest_first(row for row in others if row["kind"] == kind)]
    cells += [_cells(row) for row in migrations if not _is_idle(row)]
    if migrations:
        cells.append(("sum", counted(len(migrations), "migration"), "", _seconds(migrations)))
    return _table(cells)


def render_brief_durations(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The same table for a terminal: phases in one line, then the longest of each kind, and all that failed.

    One row with the sum replaces the rows of a kind that are left out, so that no time is lost.

    Args:
        rows: see :func:`render_durations`.
    """
    all_rows = list(rows)
    steps = _in_order(row for row in all_rows if row["kind"] in (PLAN, PHASE))
    parts = [f"{row['name']} {float(row['seconds']):.1f}" for row in steps]
    lines = [f"seconds: {', '.join(parts)}"] if parts else []
    cells: list[tuple[str, ...]] = []
    others = [row for row in all_rows if row["kind"] not in (PLAN, PHASE) and not _is_idle(row)]
    for kind in sorted(dict.fromkeys(str(row["kind"]) for row in others), key=MIGRATION.__eq__):
        longest = _longest_first(row for row in others if row["kind"] == kind)
        # One more row takes no more space than the row that replaces it.
        most = MOST_ROWS if len(longest) > MOST_ROWS + 1 else MOST_ROWS + 1
        shown = [
            row
            for position, row in enumerate(longest)
            if position < most or row.get("state") not in SUCCEEDED
        ]
        left_out = [row for row in longest if row not in shown]
        cells += map(_cells, shown)
        if left_out:
            cells.append((kind, f"{len(left_out)} others", "succeeded", _seconds(left_out)))
    return [*lines, *_table(cells)]


def _is_idle(row: Mapping[str, Any]) -> bool:
    """Whether a row is about a migration that had nothing to do and ended quickly."""
    return row["kind"] == MIGRATION and row.get("state") == NOT_NEEDED and not row.get("slow")


def _in_order(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The plan, then phases by their start; a phase without a start keeps its place at the end."""
    return sorted(rows, key=lambda row: (row["kind"] != PLAN, row.get("started_at") or "~"))


def _longest_first(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(rows, key=lambda row: -float(row["seconds"]))


def _seconds(rows: Sequence[Mapping[str, Any]]) -> str:
    return f"{sum(float(row['seconds']) for row in rows):.2f}"


def _table(cells: Sequence[tuple[str, ...]]) -> list[str]:
    return aligned([HEAD, *cells], HEAD.index("seconds")) if cells else []


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    state = str(row.get("state") or "").replace("_", " ")
    if row.get("slow"):
        state += ", but slow to say so"
    return str(row["kind"]), str(row["name"]), state, f"{float(row['seconds']):.2f}"
