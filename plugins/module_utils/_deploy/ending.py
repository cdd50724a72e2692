# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ending the record of a run that was cancelled, from wherever its work stops."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.outcomes import (
    CANCELLED,
    NOT_STARTED,
    ComponentOutcome,
    failures_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.recorder import (
    RUNNING,
    forget_old_runs,
    note,
    read_run,
    read_runs,
    timestamp,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.records import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.who import who

LONGEST_MESSAGE = 1000


def seconds_since_start(spec: Mapping[str, Any]) -> float:
    """How long a run has taken: by the monotonic clock, where this is the host that it began on."""
    elapsed = time.monotonic() - spec.get("clock", 0.0)
    if spec.get("startedBy") == who() and elapsed >= 0:
        return float(elapsed)
    started = datetime.strptime(spec["startedAt"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return (datetime.now(UTC) - started).total_seconds()


def end_forerunner(cluster: Cluster, forerunner: str, run: str) -> None:
    """End the record of the run before, where nobody did: it was cut off, or it is at work and shall stop.

    What ends as cancelled may have had no time, nor the rights, to forget runs that are older still; and what
    was cut off before it had a record, to end the one before it.

    Args:
        cluster: that has the records.
        forerunner: the run that was the newest, or empty.
        run: the run that begins now.
    """
    if not forerunner:
        return
    record = cluster.get(API_VERSION, "Run", forerunner)
    state = (record.get("status") or {}).get("state") if record else RUNNING
    if state in (RUNNING, CANCELLED):
        end_others(cluster, run)


def end_others(cluster: Cluster, run: str) -> None:
    """End the records of all runs that nobody did, and forget those that are old.

    Args:
        cluster: that has the records.
        run: the one that has the lease, so that nobody is at work on any other.
    """
    runs = read_runs(cluster)
    for other in runs:
        if other["metadata"]["name"] != run:
            _end_cancelled(cluster, other, f"the run {run}, which {who()} has begun since")
    forget_old_runs(cluster, runs, run)


def end_cancelled(cluster: Cluster, run: str, why: str) -> Sequence[str]:
    """End a run's record as cancelled, with what was never started; one that has ended stays as it is.

    Ansible may not come to the task that ends a run: it ends at once when it is interrupted.

    Args:
        cluster: that has the record.
        run: its name.
        why: who or what cancelled it, where the record does not say so yet.

    Returns:
        The components that the run never came to.

    Raises:
        LifecycleError: the record can't be read or written.
    """
    return _end_cancelled(cluster, read_run(cluster, run), why)


def _end_cancelled(cluster: Cluster, record: Mapping[str, Any], why: str) -> Sequence[str]:
    spec, status = record["spec"], record.get("status") or {}
    if status.get("state") != RUNNING:
        return ()
    known = status.get("components") or {}
    never = {
        name: ComponentOutcome(name, NOT_STARTED, error="the run was cancelled before").as_result()
        for name in spec.get("components") or ()
        if name not in known
    }
    now = timestamp()
    cancelled = {
        "cancelled": status.get("cancelled") or why,
        "cancelledAt": status.get("cancelledAt") or now,
    }
    told = failures_of({**status, **cancelled, "components": {**known, **never}})
    note(
        cluster,
        record["metadata"]["name"],
        {
            **cancelled,
            "state": CANCELLED,
            "message": "; ".join(told)[:LONGEST_MESSAGE],
            "finishedAt": now,
            "seconds": round(seconds_since_start(spec), 3),
            "components": never,
        },
    )
    return tuple(never)
