# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that remove themselves once they have finished (``ttlSecondsAfterFinished``, KEP-592).

One that is away has mostly done its work: it is no failure, and making it anew would do that work twice.
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
"""Reasons of the events by which the Job controller tells how a Job has ended."""


def removes_itself(obj: Mapping[str, Any]) -> bool:
    """Whether an object is a Job that is removed once it has finished."""
    spec = obj.get("spec") or {}
    return obj["kind"] == "Job" and spec.get("ttlSecondsAfterFinished") is not None


def end_of(cluster: Cluster, last: Object | None) -> Health | None:
    """How a Job has ended that is gone; None where it has not removed itself, or nobody can tell.

    Args:
        cluster: asked for events, where the Job was not seen to end.
        last: as it was last seen.
    """
    if last is None or not removes_itself(last):
        return None
    seen = job(last)
    if seen.state == FAILED:
        return seen
    if seen.state == CURRENT:
        return _completed()
    meta = last["metadata"]
    try:
        events = cluster.list(
            "v1", "Event", meta["namespace"], field_selector=f"involvedObject.uid={meta.get('uid', '')}"
        ).items
    except ClusterError:
        # What else there is to say of it is that it is gone.
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
