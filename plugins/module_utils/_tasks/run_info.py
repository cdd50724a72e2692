# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run_info``: the release of a cluster, and its last runs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._carrier.task_call import failed_result
from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ApiError
from .._errors import LifecycleError
from .._runs.cluster_state import LOST, state_of_error
from .._runs.lease.held_lease import read_lease
from .._runs.lease.lease import is_run_lost
from .._runs.open_run import last_written, open_run_note
from .._runs.outcomes import durations_of
from .._runs.records.installation import read_installation
from .._runs.records.record_schema import DEPLOY
from .._runs.records.runs import RUNNING, read_run, read_runs
from .._runs.run_failures import failures_of


def run_info(task: Task) -> Result:
    """Read the installation and the runs, newest first; a failure says whether the cluster answers."""
    try:
        return _run_info(task)
    except LifecycleError as error:
        return {**failed_result(str(error)), "state": state_of_error(error)}


def _run_info(task: Task) -> Result:
    installation = read_installation(task.cluster)
    name = task.params["run"]
    runs = [read_run(task.cluster, name)] if name else read_runs(task.cluster)[: task.params["limit"]]
    lost = _lost_runs(task.cluster, [run for run in runs if _state_of(run) == RUNNING])
    return {
        "changed": False,
        "installation": {
            "version": installation.version,
            "target": installation.target,
            "profile": installation.profile,
            "last_run": installation.last_run,
            "hold": asdict(installation.hold) if installation.hold else None,
        },
        "runs": [_as_result(run, is_lost=run["metadata"]["name"] in lost) for run in runs],
    }


def _as_result(run: Object, *, is_lost: bool) -> dict[str, Any]:
    spec, status = run["spec"], run.get("status") or {}
    return {
        "name": run["metadata"]["name"],
        "action": spec.get("action", DEPLOY),
        "version": spec.get("version", ""),
        "previous": spec.get("previous", ""),
        "profile": spec.get("profile", ""),
        "started_by": spec.get("startedBy", ""),
        "started_at": spec.get("startedAt", ""),
        "finished_at": status.get("finishedAt", ""),
        "state": LOST if is_lost else _state_of(run),
        "written_at": last_written(run),
        "note": open_run_note(run, datetime.now(UTC)),
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


def _lost_runs(cluster: Cluster, open_runs: list[Object]) -> frozenset[str]:
    """The names of those runs that no longer have the lease; none if the user may not read it."""
    if not open_runs:
        return frozenset()
    try:
        lease = read_lease(cluster)
    except ApiError:
        return frozenset()
    now = datetime.now(UTC)
    names = [run["metadata"]["name"] for run in open_runs]
    return frozenset(name for name in names if is_run_lost(name, lease, now))


def _state_of(run: Object) -> str:
    return str((run.get("status") or {}).get("state", ""))


DEFINITION = TaskDefinition(
    function=run_info,
    argument_spec={"run": {"type": "str"}, "limit": {"type": "int", "default": 20}},
)
