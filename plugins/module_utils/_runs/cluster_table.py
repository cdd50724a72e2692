# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table over all clusters of a playbook: the state of each of them as a line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .._objects.health.named_pods import brief_failure
from .cluster_state import ClusterState
from .outcomes import NOT_STARTED

HEAD = ("cluster", "from", "to", "state", "seconds", "first reason")
LONGEST_REASON = 120
"""Characters."""
NUMBER_COLUMN = HEAD.index("seconds")


def render_clusters(rows: Sequence[ClusterState]) -> list[str]:
    """The table as lines, with a line of sums at its end."""
    cells = [cells_of(row) for row in rows]
    widths = [max(len(row[column]) for row in [HEAD, *cells]) for column in range(len(HEAD) - 1)]
    return [*(_line(row, widths) for row in [HEAD, *cells]), sums_of(rows)]


def sums_of(rows: Sequence[ClusterState]) -> str:
    """How many clusters have each state."""
    states = [row.state for row in rows]
    sums = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    clusters = "1 cluster" if len(rows) == 1 else f"{len(rows)} clusters"
    return f"{clusters}: {', '.join(sums)}"


def cells_of(row: ClusterState) -> tuple[str, ...]:
    """The cells of a row, in the order of :data:`HEAD`."""
    seconds = f"{row.seconds:.1f}" if row.state != NOT_STARTED else "-"
    return row.cluster, row.previous or "-", row.version or "-", row.state, seconds, _short(row.reason)


def _short(reason: str) -> str:
    # The pod says why; what stands before it may fill the row.
    line = " ".join(brief_failure(reason).split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = [
        cell.rjust(width) if column == NUMBER_COLUMN else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=False))
    ]
    return "  ".join([*parts, cells[-1]]).rstrip()
