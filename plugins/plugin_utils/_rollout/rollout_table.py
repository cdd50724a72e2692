# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table over the rings of a rollout, for a terminal: pure.

A ring has a line that says whether it may start, why not and from when, and a row for each cluster, or for
several alike ones.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .ring_views import HEAD, RingView

NARROWEST_NOTE = 45
"""Columns in which the last cell is wrapped; with fewer, a long one is below its row."""
INDENT, GAP, ELLIPSIS = "  ", "  ", " …"


def render_rollout(rings: Sequence[RingView], width: int) -> list[str]:
    """The table as lines.

    Args:
        rings: from :func:`~.ring_views.ring_views`.
        width: columns of the terminal.
    """
    listed = [HEAD, *(row for ring in rings for row in ring.rows)]
    # A name that is longer than this has a separate line.
    longest = max(16, width // 3)
    widths = [
        max(len(row[column]) for row in listed if column or len(row[0]) <= longest)
        for column in range(len(HEAD) - 1)
    ]
    lines = _row_lines(HEAD, widths, width) if len(listed) > 1 else []
    for ring in rings:
        first = f"{ring.name}: {ring.verdict}"
        if len(ring.reasons) == 1:
            lines += _wrapped(f"{first}: {ring.reasons[0]}", width, "", INDENT)
        else:
            lines += _wrapped(first, width, "", INDENT)
            lines += [
                one for text in ring.reasons for one in _wrapped(f"- {text}", width, INDENT, INDENT * 2)
            ]
        lines += [line for row in ring.rows for line in _row_lines(row, widths, width)]
    return lines


def _row_lines(cells: Sequence[str], widths: Sequence[int], width: int) -> list[str]:
    *columns, note = cells
    start = len(INDENT) + sum(widths) + len(GAP) * len(widths)
    if start - len(GAP) > width:
        # Such as with long versions in a narrow terminal.
        text = f"{columns[0]}: {', '.join([*columns[1:], *filter(None, [note])])}"
        return _wrapped(text, width, INDENT, INDENT * 2)
    lines = []
    if len(columns[0]) > widths[0]:
        lines, columns[0] = _wrapped(columns[0], width, INDENT, INDENT), ""
    padded = (cell.ljust(size) for cell, size in zip(columns, widths, strict=True))
    row = INDENT + GAP.join(padded)
    if len(note) > width - start < NARROWEST_NOTE:
        return [*lines, row.rstrip(), *_wrapped(note, width, INDENT * 2, INDENT * 2, 2)]
    first, *others = _wrapped(note, width - start, "", "", 2) or [""]
    return [*lines, f"{row}{GAP}{first}".rstrip(), *(" " * start + one for one in others)]


def _wrapped(text: str, width: int, first: str, others: str, most: int | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=others,
        max_lines=most,
        placeholder=ELLIPSIS,
        break_on_hyphens=False,
    )
