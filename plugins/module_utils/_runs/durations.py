# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of durations: how long each phase, component and migration took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

KINDS = ("phase", "component", "migration")
HEAD = ("what", "name", "ended", "seconds")


def render_durations(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The closing table as lines: phases in their order, then components and migrations, the longest first.

    Args:
        rows: each with ``kind`` (phase, component or migration), ``name``, ``state``, ``seconds``, and
            ``slow`` where a migration had nothing to do and yet took long to say so.
    """
    cells = [_cells(row) for row in _sorted(rows)]
    if not cells:
        return []
    widths = [max(len(row[column]) for row in [HEAD, *cells]) for column in range(len(HEAD))]
    return [_line(HEAD, widths), *(_line(row, widths) for row in cells)]


def _sorted(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    def place(row: Mapping[str, Any]) -> tuple[int, float]:
        kind = row["kind"]
        rank = KINDS.index(kind) if kind in KINDS else len(KINDS)
        return rank, 0.0 if kind == "phase" else -float(row["seconds"])

    return sorted(rows, key=place)


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    state = str(row.get("state") or "").replace("_", " ")
    if row.get("slow"):
        state += ", but slow to say so"
    return str(row["kind"]), str(row["name"]), state, f"{float(row['seconds']):.2f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    *texts, seconds = cells
    *text_widths, seconds_width = widths
    left = "  ".join(text.ljust(width) for text, width in zip(texts, text_widths, strict=True))
    return f"{left}  {seconds.rjust(seconds_width)}"
