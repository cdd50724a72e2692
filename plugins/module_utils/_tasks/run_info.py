# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run_info``: the release of a cluster, and its last runs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Object
from .._runs.cluster_state import LOST
from .._runs.lease.fence_token import fence_of
from .._runs.lease.lease_session import fence_warning
from .._runs.open_run import is_open, lost_runs, open_run_note
from .._runs.outcomes import durations_of
from .._runs.records.hold_records import read_hold
from .._runs.records.installation import read_installation
from .._runs.records.record_schema import DEPLOY
from .._runs.records.run_record import begin_of, run_status
from .._runs.records.runs import last_written, read_run, read_runs
from .._runs.run_failures import failures_of
from .._threads import call_in_threads


def run_info(task: Task) -> Result:
    """Read the installation and the runs, newest first."""
    installation, hold = call_in_threads(
        lambda: read_installation(task.cluster), lambda: read_hold(task.cluster)
    )
    name = task.params["run"]
    runs = [read_run(task.cluster, name)] if name else read_runs(task.cluster)[: task.params["limit"]]
    lost = lost_runs(task.cluster, runs)
    # One may have ended before its lease was read.
    runs = [
        read_run(task.cluster, run["metadata"]["name"]) if run["metadata"]["name"] in lost else run
        for run in runs
    ]
    return {
        "changed": False,
        "installation": {
            "version": installation.version,
            "target": installation.target,
            "profile": installation.profile,
            "release_digest": installation.release_digest,
            "release_since": installation.release_since,
            "last_run": installation.last_run,
            "hold": asdict(hold) if hold else None,
        },
        "runs": [_as_result(run, is_lost=run["metadata"]["name"] in lost) for run in runs],
    }


def _as_result(run: Object, *, is_lost: bool) -> dict[str, Any]:
    begin, status = begin_of(run), run_status(run)
    is_lost = is_lost and is_open(run)
    return {
        "name": run["metadata"]["name"],
        "action": begin.action or DEPLOY,
        "version": begin.version,
        "previous": begin.previous,
        "profile": begin.profile,
        "release_digest": begin.release_digest,
        "started_by": begin.started_by,
        "started_at": begin.started_at,
        "finished_at": status.get("finishedAt", ""),
        "state": LOST if is_lost else str(status["state"]),
        "written_at": last_written(run),
        "note": open_run_note(run, is_lost=is_lost),
        "advisory": fence_warning(fence_of(status["lease"])) if status.get("lease") else "",
        "cancelled": status.get("cancelled", ""),
        "cancelled_at": status.get("cancelledAt", ""),
        "message": status.get("message", ""),
        "seconds": status.get("seconds", 0.0),
        "components": list((status.get("components") or {}).values()),
        "migrations": list((status.get("migrations") or {}).values()),
        "undone": [
            {"id": migration, **{key: undo.get(key) for key in ("state", "at", "by", "objects")}}
            for migration, undo in (status.get("undone") or {}).items()
        ],
        "durations": durations_of(status),
        "failures": failures_of(status),
    }


DEFINITION = TaskDefinition(
    function=run_info,
    argument_spec={"run": {"type": "str"}, "limit": {"type": "int", "default": 20}},
    names_target=True,
)
