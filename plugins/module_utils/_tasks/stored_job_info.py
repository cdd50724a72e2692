# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``stored_job_info``: the jobs of the store, and their state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._job_models.core_job import JobKey, JobType
from .._result_codec import to_result
from .._store.job_list import ListedJob, dump, job_report, listed_jobs
from .._store.pod_refusals import pod_refusals
from .._store.scheduled_runs import ScheduledRuns, scheduled_runs
from .._store.snapshot import StoreSnapshot
from .._store.store_kinds import VIEWER_ROLE
from .._store.unknown_jobs import hidden_jobs
from .shared.job_store_access import counter_rows, read_jobs


def stored_job_info(task: Task) -> Result:
    """Read the jobs, by namespace and name."""
    params = task.params
    snapshot = read_jobs(task.cluster, params["namespaces"], params["label_selectors"], VIEWER_ROLE)
    jobs = [
        one
        for one in listed_jobs(snapshot)
        if (not params["names"] or one.key.name in params["names"]) and (one.drift or not params["drift"])
    ]
    refusals = pod_refusals(task.cluster, snapshot)
    jobs = [
        replace(one, message=refusals[one.key].message, reason=refusals[one.key].reason)
        if one.key in refusals
        else one
        for one in jobs
    ]
    runs = scheduled_runs(task.cluster, snapshot)
    result: Result = {
        "changed": False,
        "jobs": [{**job_report(one), "runs": _runs_of(one, runs)} for one in jobs],
        "counts": {
            "jobs": len(jobs),
            "adoptable": sum(one.is_adoptable for one in jobs),
            "drifted": sum(bool(one.drift) for one in jobs),
            "outdated": sum(one.is_outdated for one in jobs),
            "read_only": sum(one.is_read_only for one in jobs),
        },
        "adoptable": [str(one.key) for one in jobs if one.is_adoptable],
        "hidden": [
            str(one.key)
            for one in hidden_jobs(snapshot)
            if not params["names"] or one.key.name in params["names"]
        ],
        "source_of_truth": str(snapshot.store.source_of_truth),
        "unknown_jobs": str(snapshot.store.unknown_jobs),
        "counters": counter_rows(snapshot.counters),
        "warnings": list(snapshot.warnings),
    }
    if params["dump"]:
        result["dump"] = _dumped(snapshot, jobs)
    return result


def _runs_of(job: ListedJob, runs: Mapping[JobKey, ScheduledRuns]) -> dict[str, str]:
    """When a scheduled job runs; empty for others, and where no CronJob is."""
    is_known = job.type is JobType.SCHEDULED and job.key in runs
    return to_result(runs[job.key]) if is_known else {}


def _dumped(snapshot: StoreSnapshot, jobs: Sequence[ListedJob]) -> list[dict[str, Any]]:
    """The entries of a file of jobs, without the jobs that are not shown."""
    shown = {(one.key.namespace, one.key.name) for one in jobs}
    only = snapshot.namespaces[0] if len(snapshot.namespaces) == 1 else ""
    return [one for one in dump(snapshot) if (one.get("namespace", only), one["name"]) in shown]


DEFINITION = TaskDefinition(
    function=stored_job_info,
    argument_spec={
        "namespaces": {"type": "list", "elements": "str", "default": [], "aliases": ["namespace"]},
        "names": {"type": "list", "elements": "str", "default": [], "aliases": ["name"]},
        "label_selectors": {"type": "list", "elements": "str", "default": []},
        "drift": {"type": "bool", "default": False},
        "dump": {"type": "bool", "default": False},
    },
)
