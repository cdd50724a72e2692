# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table over all clusters of a playbook: the result of the deployment on each of them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .cluster_result import FAILURE_STATES, PLANNED, UNCHANGED
from .outcomes import CANCELLED, FAILED, NOT_STARTED

RUNNING = "running"
UNENDED = (PLANNED, RUNNING)
NEVER_ENDED = "ansible-playbook ended before the run did"
HEAD = ("cluster", "from", "to", "state", "seconds", "first reason")
LONGEST_REASON = 120
"""Characters."""
NUMBER_COLUMN = HEAD.index("seconds")


@dataclass(frozen=True)
class ClusterRow:
    """What is known of one cluster.

    Attributes:
        cluster: the name of its host.
        previous, version: the release before, and the release to deploy; empty if unknown.
        state: as in ``kyma_result``.
        seconds: how long the deployment took, over all hops.
        reason: the first reason why it did not succeed; empty if it did.
    """

    cluster: str
    previous: str = ""
    version: str = ""
    state: str = NOT_STARTED
    seconds: float = 0.0
    reason: str = ""


def row_of(result: Mapping[str, Any]) -> ClusterRow:
    """The row of a ``kyma_result``."""
    failures = [str(one) for one in result.get("failures") or ()]
    return ClusterRow(
        str(result["cluster"]),
        str(result.get("previous") or ""),
        str(result.get("version") or ""),
        str(result["state"]),
        float(result.get("seconds") or 0.0),
        failures[0] if failures else "",
    )


def merge_rows(hosts: Iterable[str], rows: Iterable[ClusterRow]) -> list[ClusterRow]:
    """One row for each cluster, in the order of the hosts.

    Args:
        hosts: of all plays. A host without a row was never started.
        rows: in the order in which they arrived. Rows of other clusters are left out.
    """
    attempts: dict[str, list[ClusterRow]] = {host: [] for host in hosts}
    for row in rows:
        if row.cluster in attempts:
            _add(attempts[row.cluster], row)
    return [_merge(host_rows) if host_rows else ClusterRow(host) for host, host_rows in attempts.items()]


def _add(attempts: list[ClusterRow], row: ClusterRow) -> None:
    """Add the row of a task: of the release that is being deployed, or of the next release after that."""
    if not attempts or attempts[-1].state not in UNENDED:
        attempts.append(row)
        return
    before = attempts[-1]
    attempts[-1] = replace(
        row,
        previous=row.previous or before.previous,
        version=row.version or before.version,
        seconds=row.seconds or before.seconds,
    )


def _merge(attempts: Sequence[ClusterRow]) -> ClusterRow:
    """The row of a cluster with several deployed releases, or whose later tasks failed."""
    # After a run, a plan with nothing to do adds nothing.
    telling = [one for one in attempts if one.state != UNCHANGED] or attempts[-1:]
    last = telling[-1]
    merged = replace(
        last,
        previous=telling[0].previous,
        version=next((one.version for one in reversed(telling) if one.version), ""),
        seconds=sum(one.seconds for one in telling),
    )
    return replace(merged, state=CANCELLED, reason=NEVER_ENDED) if last.state == RUNNING else merged


def render_clusters(rows: Sequence[ClusterRow]) -> list[str]:
    """The table as lines, with a line of sums at its end."""
    cells = [_cells(row) for row in rows]
    widths = [max(len(row[column]) for row in [HEAD, *cells]) for column in range(len(HEAD) - 1)]
    states = [row.state for row in rows]
    sums = [f"{states.count(state)} {state}" for state in dict.fromkeys(states)]
    clusters = "1 cluster" if len(rows) == 1 else f"{len(rows)} clusters"
    return [*(_line(row, widths) for row in [HEAD, *cells]), f"{clusters}: {', '.join(sums)}"]


def _cells(row: ClusterRow) -> tuple[str, ...]:
    seconds = f"{row.seconds:.1f}" if row.state != NOT_STARTED else "-"
    is_bad = row.state in (*FAILURE_STATES, CANCELLED, FAILED)
    reason = _short(row.reason) if is_bad else ""
    return row.cluster, row.previous or "-", row.version or "-", row.state, seconds, reason


def _short(reason: str) -> str:
    line = " ".join(reason.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 1]}…"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = [
        cell.rjust(width) if column == NUMBER_COLUMN else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=False))
    ]
    return "  ".join([*parts, cells[-1]]).rstrip()
