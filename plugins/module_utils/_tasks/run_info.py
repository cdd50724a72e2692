# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run_info``: the release of a cluster, and its last runs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Object
from .._runs.open_run import last_written, open_run_note
from .._runs.outcomes import durations_of
from .._runs.records.installation import read_installation
from .._runs.records.record_schema import DEPLOY
from .._runs.records.runs import read_run, read_runs
from .._runs.run_failures import failures_of


def run_info(task: Task) -> Result:
    """Read the installation and the runs, newest first."""
    installation = read_installation(task.cluster)
    name = task.params["run"]
    runs = [read_run(task.cluster, name)] if name else read_runs(task.cluster)[: task.params["limit"]]
    return {
        "changed": False,
        "installation": {
            "version": installation.version,
            "target": installation.target,
            "profile": installation.profile,
            "last_run": installation.last_run,
            "hold": asdict(installation.hold) if installation.hold else None,
        },
        "runs": [_as_result(run) for run in runs],
    }


def _as_result(run: Object) -> dict[str, Any]:
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
        "state": status.get("state", ""),
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


DEFINITION = TaskDefinition(
    function=run_info,
    argument_spec={"run": {"type": "str"}, "limit": {"type": "int", "default": 20}},
)
