# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table over all clusters of a playbook: the state of each of them as a line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ...module_utils._objects.health.named_pods import brief_failure
from ...module_utils._runs.cluster_state import ClusterState
from ...module_utils._runs.hop_lines import reach
from ...module_utils._runs.outcomes import NOT_STARTED
from ...module_utils._text import aligned

HEAD = ("cluster", "from", "to", "state", "seconds", "first reason")
LONGEST_REASON = 120
"""Characters."""


def render_clusters(rows: Sequence[ClusterState]) -> list[str]:
    """The table as lines, with a line of sums at its end."""
    return [*aligned([HEAD, *map(cells_of, rows)], HEAD.index("seconds")), sums_of(rows)]


def sums_of(rows: Sequence[ClusterState]) -> str:
    """How many clusters have each state."""
    states = [row.state for row in rows]
    sums = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    clusters = "1 cluster" if len(rows) == 1 else f"{len(rows)} clusters"
    return f"{clusters}: {', '.join(sums)}"


def cells_of(row: ClusterState) -> tuple[str, ...]:
    """The cells of a row, in the order of :data:`HEAD`."""
    seconds = f"{row.seconds:.1f}" if row.state != NOT_STARTED else "-"
    reason = ": ".join(filter(None, [reach(row.hops), _short(row.reason)]))
    return row.cluster, row.previous or "-", row.version or "-", row.state, seconds, reason


def _short(reason: str) -> str:
    # The pod says why; what stands before it may fill the row.
    line = " ".join(brief_failure(reason).split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"
