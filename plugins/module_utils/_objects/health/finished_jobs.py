# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that delete themselves after they have finished (``ttlSecondsAfterFinished``, KEP-592).

A missing one has mostly done its work: it is no failure, and to recreate it would repeat that work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ClusterError
from .result import current, failed
from .status import CURRENT, FAILED, Health
from .workload_rules import job

COMPLETED = "Completed"
FAILURES = frozenset(
    {
        "BackoffLimitExceeded",
        "DeadlineExceeded",
        "FailedIndexes",
        "MaxFailedIndexesExceeded",
        "PodFailurePolicy",
    }
)
"""Reasons of the events in which the Job controller reports the end of a Job."""


def removes_itself(obj: Mapping[str, Any]) -> bool:
    """Whether an object is a Job that is deleted after it has finished."""
    spec = obj.get("spec") or {}
    return obj["kind"] == "Job" and spec.get("ttlSecondsAfterFinished") is not None


def end_of(cluster: Cluster, last: Object | None) -> Health | None:
    """The result of a Job that no longer exists; None if it has not deleted itself, or the result is unknown.

    Args:
        cluster: its events are read if no watch has seen the end of the Job.
        last: its last known state.
    """
    if last is None or not removes_itself(last):
        return None
    health = job(last)
    if health.state == FAILED:
        return health
    if health.state == CURRENT:
        return _completed()
    meta = last["metadata"]
    try:
        events = cluster.list(
            "v1", "Event", meta["namespace"], field_selector=f"involvedObject.uid={meta.get('uid', '')}"
        ).items
    except ClusterError:
        # All that is known then is that it no longer exists.
        return None
    for event in events:
        reason, message = str(event.get("reason")), str(event.get("message") or "it has failed")
        if reason == COMPLETED:
            return _completed()
        if reason in FAILURES:
            return failed(reason, message)
    return None


def _completed() -> Health:
    return current("it has completed, and was removed by its ttlSecondsAfterFinished")
