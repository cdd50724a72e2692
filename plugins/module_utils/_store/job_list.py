# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of all jobs by the switches of the store, and the effect of a change of the switches: pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._job_models.core_job import JobKey, JobType
from .._job_models.drift import DriftedField
from .._job_models.job_fields import core_job, given_fields
from .._job_models.job_validation import job_problems
from .._job_models.storage.definition import StoredDefinition
from .._job_models.storage.stored_status import StoredStatus
from .._jobs.run_history import entry_report
from .._text import one_line
from .job_state import (
    PODS_REFUSED,
    JobState,
    definition_state,
    is_outdated,
    job_drift,
    refuses_pods_still,
    running_job,
    runtime_state,
    with_runs,
)
from .snapshot import RuntimeJob, StoreSnapshot
from .stored_definitions import UNREADABLE, problem_of
from .switches import SourceOfTruth, StoreSwitches, UnknownJobs
from .unknown_jobs import adoptable_job, deleted_jobs, unknown_jobs

LONGEST_VALUE = 120
"""Characters of a value in a line about drift."""


@dataclass(frozen=True)
class ListedJob:
    """A job in the list.

    Attributes:
        key, type: its key and its type.
        fields: those that are set; empty if they can't be read.
        state: of the job.
        source: where the fields are read.
        is_adoptable: whether it has no definition, and a write would create one.
        is_outdated: whether its definition now has another meaning than at its rollout.
        is_read_only: whether a newer version of ours has written its definition.
        is_readable: whether its fields could be read.
        drift: the changes of others in its runtime objects.
        history: the runs of a one-off job that have ended, the newest first.
        storage_version: of its definition; 0 if it has none.
        message, reason: further information, in a sentence and in a word.
    """

    key: JobKey
    type: JobType
    fields: Mapping[str, Any]
    state: JobState
    source: SourceOfTruth
    is_adoptable: bool = False
    is_outdated: bool = False
    is_read_only: bool = False
    is_readable: bool = True
    drift: tuple[DriftedField, ...] = ()
    history: tuple[Mapping[str, Any], ...] = ()
    storage_version: int = 0
    message: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.type} job {self.key}"


def listed_jobs(snapshot: StoreSnapshot) -> list[ListedJob]:
    """All jobs, by the switches of the store, sorted by namespace and name."""
    jobs = [_listed_definition(snapshot, one) for one in snapshot.definitions.values()]
    if snapshot.store.unknown_jobs is UnknownJobs.ADOPT:
        jobs += [_unknown_job(snapshot, one) for one in unknown_jobs(snapshot)]
        jobs += [_runtime_only(one, "It is being deleted.") for one in deleted_jobs(snapshot)]
    if snapshot.store.source_of_truth is SourceOfTruth.KUBERNETES:
        listed = {(one.key, one.type) for one in jobs}
        problems = {one.key: f"{one.ref} can't be read: {one.problem}" for one in snapshot.unreadable}
        jobs += [
            _runtime_only(one, problems[key])
            for (key, type_), one in snapshot.runtime.items()
            if key in problems and (key, type_) not in listed
        ]
    return sorted(jobs, key=lambda job: (job.key, job.type))


def job_report(job: ListedJob) -> dict[str, Any]:
    """The report on a job for people and playbooks."""
    return {
        "namespace": job.key.namespace,
        "name": job.key.name,
        "type": str(job.type),
        "fields": dict(job.fields),
        "state": str(job.state),
        "source": str(job.source),
        "adoptable": job.is_adoptable,
        "outdated": job.is_outdated,
        "read_only": job.is_read_only,
        "drift": [
            {
                "object": str(one.ref),
                "field": one_line(one.field),
                "expected": one.expected,
                "actual": one.actual,
                "manager": one_line(one.manager),
                "time": one_line(one.time),
            }
            for one in job.drift
        ],
        "history": [entry_report(one) for one in job.history],
        "storage_version": job.storage_version,
        "message": job.message,
        "reason": job.reason,
    }


def drift_line(drift: DriftedField) -> str:
    """A drifted field in a clause: its path, its value, its intended value, and its manager."""
    if not drift.field:
        return f"{drift.ref} is {drift.actual}, not {drift.expected}"
    author = f" ({' at '.join(filter(None, (drift.manager, drift.time)))})" if drift.manager else ""
    return one_line(
        f"{drift.ref}: {drift.field} is {_value(drift.actual)}, not {_value(drift.expected)}{author}"
    )


def list_differences(snapshot: StoreSnapshot, after: StoreSwitches | None = None) -> list[str]:
    """The obstacles to a change of the switches, one line each: lists differ, or a job can't be read.

    Args:
        snapshot: of all jobs.
        after: the intended switches; by default, storage becomes the source of truth.
    """
    target = after or replace(snapshot.store, source_of_truth=SourceOfTruth.STORAGE)
    old, new = (
        {(one.key, one.type): one for one in listed_jobs(replace(snapshot, store=switches))}
        for switches in (snapshot.store, target)
    )
    unreadable = {one.key for one in snapshot.unreadable}
    lines = [f"{one.ref} can't be read: {one.problem}" for one in snapshot.unreadable]
    for job_key in sorted(old.keys() | new.keys()):
        before, now = old.get(job_key), new.get(job_key)
        job = now or before
        is_going = job is not None and job.state is JobState.DELETING and not job.storage_version
        if job is None or is_going or job_key[0] in unreadable:
            continue
        if not job.is_readable:
            lines.append(f"{job}: {job.message}")
        elif now is None:
            lines.append(f"{job} would be hidden, as it has no definition.")
        elif before is None:
            lines.append(f"{job} would be listed, although it has no definition.")
        elif job_report(before) != job_report(now):
            lines += [f"{job} has drifted: {drift_line(one)}" for one in job.drift]
    return lines


def dump(snapshot: StoreSnapshot) -> list[dict[str, Any]]:
    """All jobs that can be read and written, in the format of a file of jobs.

    Each has its name, its type and its fields, and its namespace unless the snapshot is of a single one.
    """
    return [
        {
            "name": job.key.name,
            **({"namespace": job.key.namespace} if len(snapshot.namespaces) != 1 else {}),
            "type": str(job.type),
            **job.fields,
        }
        for job in listed_jobs(snapshot)
        if job.is_readable and not job.is_read_only
    ]


def _listed_definition(snapshot: StoreSnapshot, definition: StoredDefinition) -> ListedJob:
    try:
        job = _defined_job(snapshot, definition)
        problems = job_problems(definition.key.name, definition.type, given_fields(definition.job))
        if problems:
            message = f"Its definition is not valid: {'; '.join(problems)}. Correct it by stored_job."
            return replace(job, is_readable=False, message=one_line(message))
        return job
    except UNREADABLE as error:
        return ListedJob(
            definition.key,
            definition.type,
            {},
            JobState.UNKNOWN,
            SourceOfTruth.STORAGE,
            is_read_only=not definition.is_writable,
            is_readable=False,
            storage_version=definition.storage_version,
            message=problem_of(error),
        )


def _defined_job(snapshot: StoreSnapshot, definition: StoredDefinition) -> ListedJob:
    runtime, status = snapshot.runtime_of(definition), definition.status
    job = ListedJob(
        definition.key,
        definition.type,
        given_fields(definition.job),
        definition_state(definition),
        SourceOfTruth.STORAGE,
        is_outdated=is_outdated(definition),
        is_read_only=not definition.is_writable,
        history=with_runs(status, runtime).history,
        storage_version=definition.storage_version,
        message=one_line(status.message),
        reason=one_line(status.reason),
    )
    if definition.replaces and (definition.key, definition.replaces) in snapshot.runtime:
        other = f"The {definition.replaces} job that it replaces is still there."
        job = replace(job, message=" ".join(filter(None, (job.message, other))))
    if runtime is None:
        excluded = snapshot.excluded.get((definition.key, definition.type), "")
        return replace(job, message=job.message or excluded)
    drift = job_drift(definition, runtime)
    job = replace(job, state=runtime_state(runtime), drift=drift)
    if status.reason == PODS_REFUSED and not refuses_pods_still(status, runtime):
        # Kubernetes has created them since.
        job = replace(job, reason="", message=job.message.removeprefix(one_line(status.message)).strip())
    if not drift or snapshot.store.source_of_truth is SourceOfTruth.STORAGE:
        return job
    return _with_running_fields(job, definition, runtime)


def _with_running_fields(job: ListedJob, definition: StoredDefinition, runtime: RuntimeJob) -> ListedJob:
    """A drifted job with the fields that run. All other jobs keep their intended fields."""
    try:
        main, *services = definition.runtime_objects
        desired = running_job(RuntimeJob(definition.type, main, services[0] if services else None))
        running = given_fields(running_job(runtime))
    except UNREADABLE as error:
        return replace(job, is_readable=False, message=problem_of(error))
    given = given_fields(desired)
    changed = {name for name in running.keys() | given.keys() if running.get(name) != given.get(name)}
    fields = {name: value for name, value in job.fields.items() if name not in changed}
    fields |= {name: value for name, value in running.items() if name in changed}
    ordered = given_fields(core_job(job.key, job.type, fields))
    return replace(job, fields=ordered, source=SourceOfTruth.KUBERNETES)


def _unknown_job(snapshot: StoreSnapshot, runtime: RuntimeJob) -> ListedJob:
    try:
        fields = given_fields(adoptable_job(snapshot, runtime))
    except UNREADABLE as error:
        return _runtime_only(runtime, problem_of(error))
    return replace(_runtime_only(runtime, ""), fields=fields, is_adoptable=True, is_readable=True)


def _runtime_only(runtime: RuntimeJob, message: str) -> ListedJob:
    return ListedJob(
        runtime.key,
        runtime.type,
        {},
        runtime_state(runtime),
        SourceOfTruth.KUBERNETES,
        is_readable=False,
        history=with_runs(StoredStatus(), runtime).history,
        message=message,
    )


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return one_line(text, LONGEST_VALUE)
