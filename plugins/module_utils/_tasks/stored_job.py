# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``stored_job``: creates, updates, restarts, suspends and deletes jobs of the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Cluster
from .._cluster.errors import Unreachable
from .._cluster.fence import FencedCluster
from .._errors import LifecycleError
from .._job_models.core_job import JobKey, JobType
from .._job_models.runtime.runtime_objects import KINDS_OF
from .._job_models.storage.definition import DEFINITION_KINDS
from .._objects.access.review import MissingRights
from .._objects.access.rights import Right
from .._objects.apply.diff import diff_of
from .._store.changes.change_report import Action, ChangeReport, OnFailure
from .._store.counters import COUNTER_KIND, JobCounter
from .._store.counting import count_jobs
from .._store.job_change import JobChanger
from .._store.job_logs import JobLogs
from .._store.job_state import PODS_REFUSED
from .._store.job_trial import try_job
from .._store.pod_refusals import PodRefusal, await_pods
from .._store.restrictions import restriction_warnings
from .._store.snapshot import RuntimeJob, StoreSnapshot
from .._store.store_kinds import manager_rights
from .._store.unknown_jobs import unknown_jobs
from .._text import one_line
from .shared.job_store_access import RightsGuard, cluster_to_write, counter_rows, read_jobs, write_metrics
from .shared.log_options import LOG_SPEC, follows_logs
from .shared.requested_jobs import (
    ABSENT,
    FIELDS_SPEC,
    PRESENT,
    RESTARTED,
    SUSPENDED,
    RequestedJob,
    refuse_jobs,
    requested_jobs,
)

_Call: TypeAlias = tuple[JobKey, Callable[[], ChangeReport]]
"""A job, and the function that changes it."""


def stored_job(task: Task) -> Result:
    """Manage one job or several, one after the other."""
    params = task.params
    follows_logs(params)
    requests = requested_jobs(params)
    cluster, warnings = cluster_to_write(task)
    namespaces = dict.fromkeys(one.key.namespace for one in requests)
    if not namespaces:
        return _result([], {}, warnings)
    snapshot = read_jobs(cluster, tuple(namespaces))
    rights = _rights(snapshot, requests, params)
    cluster = FencedCluster(cluster, RightsGuard(task.cluster, rights, "change of jobs"))
    warnings += _try_jobs(cluster, snapshot, requests)
    counters = count_jobs(cluster, snapshot, task.cancelled)
    changer = JobChanger(
        cluster,
        snapshot,
        on_failure=OnFailure(params["on_failure"]),
        timeout=float(params["wait_timeout"]),
        progress=task.progress,
        cancelled=task.cancelled,
    )
    calls = _calls(changer, requests, params["state"])
    if params["prune"]:
        surplus, untouched = _surplus(snapshot, [one.key for one in requests])
        calls += [(key, partial(changer.absent, key)) for key in surplus]
        warnings += untouched
    batch = task.batch("jobs", "changing", "jobs")
    # One after the other, as they are listed.
    answers = batch.map(_report, calls, name=lambda call: call[0], threads=1)
    reports = [one for one in answers if one]
    if any(one.changed for one in reports):
        snapshot = read_jobs(cluster, tuple(namespaces))
        changed = {one.key for one in reports if one.changed}
        stored = (one.job for one in snapshot.definitions.values() if one.key in changed)
        warnings += restriction_warnings(task.cluster, stored)
    awaited = [] if task.check_mode else [one.key for one in reports if one.is_started]
    refusals = await_pods(cluster, snapshot, awaited, task.cancelled)
    reports = [
        one if task.cancelled() else _judged(changer, snapshot, one, refusals.get(one.key)) for one in reports
    ]
    warnings += [*snapshot.warnings, *(text for one in reports for text in one.warnings)]
    warnings += write_metrics(params["metrics_file"], counters, check_mode=task.check_mode)
    result = _result(reports, counters, warnings)
    result |= batch.stopped(*([result["msg"]] if result.get("failed") else ()))
    if task.diff:
        result["diff"] = [diff for one in reports for diff in _diffs(one)]
    if params["show_logs"] and not task.check_mode:
        _add_logs(task, snapshot, reports, result)
    return result


def _try_jobs(cluster: Cluster, snapshot: StoreSnapshot, requests: Sequence[RequestedJob]) -> list[str]:
    """Ask the API server about the jobs that are to change; returns warnings.

    Raises:
        LifecycleError: it refuses some of them.
    """
    problems, warnings = [], []
    for request in requests:
        stored = snapshot.definitions.get(request.key)
        if request.job is None or (stored and stored.job == request.job):
            continue
        of_job, about_job = try_job(cluster, request.job)
        problems += [f"{request.key}: {text}" for text in of_job]
        warnings += [f"job {request.key}: {text}" for text in about_job]
    refuse_jobs(problems)
    return warnings


def _add_logs(task: Task, snapshot: StoreSnapshot, reports: Sequence[ChangeReport], result: Result) -> None:
    """Follow the runs that were started, and add the logs of containers that failed."""
    done = {one.key for one in reports if one.action is not Action.REFUSED}
    jobs = {one.key: one for one in snapshot.runtime.values() if one.key in done}
    logs = JobLogs(task.cluster, jobs.values(), task.progress)
    problems, started = [], []
    if follows_logs(task.params):
        started = [one.key for one in reports if one.key in jobs and _has_started_run(one, jobs[one.key])]
        seconds = float(task.params["wait_timeout"])
        for key, outcome in logs.follow(started, seconds, task.cancelled).items():
            if outcome is None:
                text = f"{key}: its run did not end within {seconds:g} s. It continues in the cluster"
                result["warnings"].append(text)
            elif not outcome.is_success:
                problems.append(f"{key}: its run failed: {outcome.reason}: {outcome.message}")
    failures = logs.failures()
    result["logs"] = [{**key._asdict(), **log.report()} for key, log in failures.items()]
    for key, log in failures.items():
        for line in log.message().splitlines() if key not in started else ():
            task.progress(str(key), line)
    if problems:
        texts = [result["msg"]] if result.get("failed") else []
        texts += [*problems, *(f"{key}: {log.message()}" for key, log in failures.items())]
        result |= {"failed": True, "msg": "\n".join(texts)}


def _has_started_run(report: ChangeReport, runtime: RuntimeJob) -> bool:
    """Whether a change has started a run, and not only what begins runs later or has no end."""
    is_suspended = runtime.main["spec"].get("suspend") is True
    is_new = runtime.type is JobType.ONE_OFF and report.is_started and not is_suspended
    return is_new or (report.action is Action.RESTARTED and runtime.type is not JobType.CONTINUOUS)


def _rights(
    snapshot: StoreSnapshot, requests: Sequence[RequestedJob], params: Mapping[str, Any]
) -> set[Right]:
    """The rights that changes of these jobs may need, by the types that they have and will have."""
    keys = {one.key for one in requests}
    stored = (*snapshot.definitions.values(), *snapshot.replaced.values())
    places = {*snapshot.runtime, *((one.key, one.type) for one in stored)}
    places |= {(one.key, one.job.type) for one in requests if one.job}
    rights: set[Right] = set()
    for key, type_ in places:
        if key in keys or params["prune"]:
            kinds = [COUNTER_KIND, DEFINITION_KINDS[type_], *KINDS_OF[type_]]
            # A run of a scheduled job outside its schedule is a Job.
            kinds += KINDS_OF[JobType.ONE_OFF] if params["state"] == RESTARTED else ()
            rights |= manager_rights((kind for _version, kind in kinds), key.namespace)
    return rights


def _calls(changer: JobChanger, requests: Sequence[RequestedJob], state: str) -> list[_Call]:
    by_name = {
        ABSENT: changer.absent,
        RESTARTED: changer.restarted,
        SUSPENDED: changer.suspended,
    }
    return [
        (one.key, partial(changer.present, one.job) if one.job else partial(by_name[state], one.key))
        for one in requests
    ]


def _surplus(snapshot: StoreSnapshot, requested: Sequence[JobKey]) -> tuple[list[JobKey], list[str]]:
    """The stored jobs that no option requests, and warnings about those that still stay."""
    surplus = sorted(snapshot.definitions.keys() - set(requested))
    read_only = [key for key in surplus if not snapshot.definitions[key].is_writable]
    unknown = sorted({one.key for one in unknown_jobs(snapshot)} - set(requested))
    warnings = [f"{key} is not pruned, as its definition is of a newer version" for key in read_only]
    warnings += [f"{key} is not pruned, as it has no definition" for key in unknown]
    return [key for key in surplus if key not in read_only], warnings


def _report(call: _Call) -> ChangeReport:
    """Change a job. A failed job stops no other job, unless the cluster does not answer."""
    key, change = call
    try:
        return change()
    except (MissingRights, Unreachable):
        raise
    except LifecycleError as error:
        return ChangeReport(key, Action.REFUSED, message=str(error))


def _judged(
    changer: JobChanger, snapshot: StoreSnapshot, report: ChangeReport, refusal: PodRefusal | None
) -> ChangeReport:
    """The report, after a refusal of the pods of its job.

    It only says so if the job was not changed, and if it is a quota: Kubernetes creates the pods later then.
    """
    if refusal is None or report.action is Action.REFUSED:
        return report
    definition = snapshot.definitions.get(report.key)
    is_marked = definition is not None and definition.status.reason == refusal.reason
    if refusal.reason == PODS_REFUSED and (report.is_started or is_marked):
        return changer.refuse_pods(report, refusal)
    return replace(report, reason=refusal.reason, message=f"{refusal.reason}: {refusal.message}")


def _result(
    reports: Sequence[ChangeReport], counters: Mapping[str, JobCounter], warnings: Sequence[str]
) -> Result:
    lines = [_line(one) for one in reports]
    result: Result = {
        "changed": any(one.changed for one in reports),
        "jobs": [
            {
                "namespace": one.key.namespace,
                "name": one.key.name,
                "action": str(one.action),
                "changed": one.changed,
                "message": one_line(one.message),
                "reason": one.reason,
            }
            for one in reports
        ],
        "lines": lines,
        "counters": counter_rows(counters),
        "logs": [],
        "warnings": list(warnings),
    }
    problems = [line for line, one in zip(lines, reports, strict=True) if one.action is Action.REFUSED]
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        result["failed"] = True
        result["msg"] = f"{len(problems)} of {len(reports)} jobs failed; all others are done:\n{listed}"
    return result


def _line(report: ChangeReport) -> str:
    action = "up to date" if report.action is Action.UNCHANGED else report.action
    return one_line(f"{report.key}: {action}" + (f": {report.message}" if report.message else ""))


def _diffs(report: ChangeReport) -> list[dict[str, str]]:
    """The changes of the definition: its creation from what runs, if any, and what was changed after that."""
    states = [
        {
            **dict(zip(("apiVersion", "kind"), DEFINITION_KINDS[JobType(job["type"])], strict=True)),
            "metadata": report.key._asdict(),
            "spec": job,
        }
        if job
        else None
        for job in ((None,) if report.is_adoption else ()) + (report.before, report.after)
    ]
    return [diff_of(before, after) for before, after in pairwise(states) if before != after]


DEFINITION = TaskDefinition(
    function=stored_job,
    argument_spec={
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "jobs": {"type": "list", "elements": "dict"},
        "prune": {"type": "bool", "default": False},
        "type": {"type": "str", "choices": [str(one) for one in JobType]},
        "state": {
            "type": "str",
            "choices": [PRESENT, ABSENT, RESTARTED, SUSPENDED],
            "default": PRESENT,
        },
        **FIELDS_SPEC,
        **LOG_SPEC,
        "on_failure": {
            "type": "str",
            "choices": [str(one) for one in OnFailure],
            "default": str(OnFailure.ROLLBACK),
        },
        "wait_timeout": {"type": "float", "default": 120},
        "metrics_file": {"type": "path"},
    },
    mutually_exclusive=[("name", "jobs")],
    required_one_of=[("name", "jobs")],
)
