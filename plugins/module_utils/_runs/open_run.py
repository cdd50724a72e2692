# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run without an end in its record: it is active if it holds the lease, and otherwise lost."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ApiError
from .lease.held_lease import read_lease
from .lease.lease import holder_of
from .lease.lease_availability import is_run_lost
from .records.record_schema import DELETE, RUNNING
from .records.run_record import begin_of, run_status
from .records.runs import last_written


def is_open(run: Object) -> bool:
    """Whether a run has no end in its record."""
    return bool(run_status(run)["state"] == RUNNING)


def lost_runs(cluster: Cluster, runs: Iterable[Object]) -> frozenset[str]:
    """The names of the open runs that no longer hold the lease; none if the user may not read it.

    Args:
        cluster: that has the lease. It is only read if a run is open.
        runs: their records.
    """
    names = [run["metadata"]["name"] for run in runs if is_open(run)]
    if not names:
        return frozenset()
    try:
        lease = read_lease(cluster)
    except ApiError:
        return frozenset()
    now = datetime.now(UTC)
    return frozenset(name for name in names if is_run_lost(name, lease, now))


def last_sign(cluster: Cluster, run: Object) -> str:
    """When a run last wrote to its record or renewed its lease (RFC 3339)."""
    signs = [last_written(run)]
    # Who may end a run need not be allowed to read its lease.
    with suppress(ApiError):
        lease = read_lease(cluster)
        if holder_of(lease.holder).run == run["metadata"]["name"]:
            signs.append(lease.renewed)
    return max(signs)


def open_run_note(run: Object, *, is_lost: bool) -> str:
    """What a person should know of a run before beginning another; empty if it has ended: pure."""
    if not is_open(run):
        return ""
    begin = begin_of(run)
    what = "deletion" if begin.action == DELETE else "run"
    description = (
        f"the {what} {run['metadata']['name']} of Kyma {begin.version}, begun by"
        f" {begin.started_by or 'an unknown user'} at {begin.started_at or 'an unknown time'}, has"
        f" not ended, and its record was last written at {last_written(run)}"
    )
    if is_lost:
        return (
            f"{description}: it no longer holds the lease of the cluster, so the next run takes over, and"
            " ends its record as cancelled"
        )
    return f"{description}: while it is active no other run begins, and the next one after it ends its record"
