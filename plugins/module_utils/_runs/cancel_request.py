# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests to cancel a run from elsewhere: the request is in the run's record, which the run reads regularly.

If no process works on the run any more, its record can be ended at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._carrier.task import Result, Task
from .._cluster.cluster import API_VERSION, Cluster, Object
from .._cluster.errors import Conflict
from .._errors import LifecycleError
from .._timestamp import timestamp
from .lease.lease_session import release_lease
from .open_run import last_sign
from .recorder import LONGEST_MESSAGE, end_cancelled_run
from .records.installation import read_installation
from .records.record_schema import RUNNING
from .records.record_writer import current_user
from .records.run_record import run_status
from .records.runs import read_run

ATTEMPTS = 10
"""How many times the request is written again after conflicts: the run itself often writes its record."""


@dataclass(frozen=True)
class CancelRequest:
    """Which run a user wants to stop.

    Attributes:
        run: its name; empty means the newest.
        reason: why, in the user's words, or empty.
        end: whether its record is to be ended at once.
        release_lease: whether its lease is to be released, as its process no longer runs.
    """

    run: str = ""
    reason: str = ""
    end: bool = False
    release_lease: bool = False


def cancel_run(task: Task, request: CancelRequest) -> Result:
    """Ask a run to stop, by default the newest; a run that has ended or was asked before is left unchanged.

    With ``end`` its record is ended too, even if the run was asked before.

    Raises:
        LifecycleError: no run has the given name.
    """
    name = request.run or read_installation(task.cluster).last_run
    if not name:
        return {"changed": False, "run": "", "msg": "nothing to cancel: the cluster knows of no run"}
    for _attempt in range(ATTEMPTS):
        record = read_run(task.cluster, name)
        if request.release_lease and not task.check_mode:
            release_lease(task.cluster, record)
        if why_not := nothing_to_cancel(record, ending=request.end):
            return {"changed": False, "run": name, "msg": why_not}
        if request.end:
            return _end(task, record, request)
        with suppress(Conflict):
            if not task.check_mode:
                _write_request(task.cluster, record, request.reason)
            return {
                "changed": True,
                "run": name,
                "msg": f"asked the run {name} to stop: active work ends within its grace",
            }
    raise LifecycleError(f"the record of the run {name} changes all the time: try again")


def nothing_to_cancel(record: Object, *, ending: bool = False) -> str:
    """Why the run cannot be asked to stop, or its record cannot be ended; empty if it can."""
    name, status = record["metadata"]["name"], run_status(record)
    state = status["state"]
    if state != RUNNING:
        return f"nothing to cancel: the run {name} has {state} at {status.get('finishedAt')}"
    if status.get("cancelled") and not ending:
        return f"the run {name} is already being cancelled by {status['cancelled']}"
    return ""


def cancellation_text(by: str, reason: str) -> str:
    """Who asks a run to stop, and why, in a few words."""
    return (by + (f": {reason}" if reason else ""))[:LONGEST_MESSAGE]


def _end(task: Task, record: Object, request: CancelRequest) -> Result:
    name, reason = record["metadata"]["name"], request.reason
    never: Sequence[str] = ()
    if not task.check_mode:
        by = cancellation_text(current_user(), reason)
        # A process that has ended just now has given its lease back.
        ended_at = "" if request.release_lease else last_sign(task.cluster, record)
        never = end_cancelled_run(task.cluster, name, by, ended_at).never
    why = f", as {reason}" if reason else ""
    left = f"; never started: {', '.join(never)}" if never else ""
    message = f"the run {name} is ended as cancelled{why}{left}; run the playbook again to continue"
    return {"changed": True, "run": name, "msg": message}


def _write_request(cluster: Cluster, record: Object, reason: str) -> None:
    """Write the request; raises Conflict if the record has changed, as a run that has ended keeps its end."""
    metadata = record["metadata"]
    patch: dict[str, Any] = {
        "metadata": {key: metadata[key] for key in ("uid", "resourceVersion")},
        "spec": {"cancel": {"by": cancellation_text(current_user(), reason), "at": timestamp()}},
    }
    cluster.patch(API_VERSION, "KymaRun", metadata["name"], None, patch)
