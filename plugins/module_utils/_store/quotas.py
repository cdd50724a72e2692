# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs of a snapshot whose pods a quota refuses: one list of events for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .._cluster.cluster import Cluster
from .._cluster.errors import Forbidden
from .._job_models.core_job import JobKey, JobType
from .._jobs.loose_json import mapping_of, mappings_in, number_of, text_of
from .._text import one_line
from .changes.runs import JOB, OUT_OF_QUOTA, QUOTA_MARK
from .job_state import run_outcome
from .snapshot import RuntimeJob, StoreSnapshot

__all__ = ["OUT_OF_QUOTA", "quota_problems"]


class _Waiting(NamedTuple):
    """A Job that may wait for its first pod: whose it is, and its name if it is a run of a schedule."""

    key: JobKey
    run: str = ""


def quota_problems(cluster: Cluster, snapshot: StoreSnapshot) -> Mapping[JobKey, str]:
    """Why a quota refuses the pods of a job, on one line for each such job.

    It reads events only if a Job has no pod, and only those that the user may read.

    Args:
        cluster: that the snapshot was read from.
        snapshot: of the jobs.

    Raises:
        ClusterError: the cluster does not answer.
    """
    problems: dict[JobKey, str] = {}
    waiting: dict[str, _Waiting] = {}
    for runtime in snapshot.runtime.values():
        if runtime.type is JobType.CONTINUOUS:
            conditions = mappings_in(mapping_of(runtime.main.get("status")).get("conditions"))
            problems.update((runtime.key, _message(one)) for one in conditions if _is_failure(one))
        else:
            waiting |= _waiting(runtime)
    for event in _failed_creations(cluster, snapshot) if waiting else ():
        found = waiting.get(text_of(mapping_of(event.get("involvedObject")).get("uid")))
        if found and _is_quota(event) and not _has_pod(cluster, found):
            problems[found.key] = _message(event)
    return problems


def _waiting(runtime: RuntimeJob) -> dict[str, _Waiting]:
    """The Jobs of a job that may wait for their first pod, by uid."""
    status = mapping_of(runtime.main.get("status"))
    if runtime.type is JobType.SCHEDULED:
        runs = mappings_in(status.get("active"))
        return {text_of(one.get("uid")): _Waiting(runtime.key, text_of(one.get("name"))) for one in runs}
    is_suspended = mapping_of(runtime.main.get("spec")).get("suspend") is True
    if is_suspended or run_outcome(runtime) or number_of(status.get("active")):
        return {}
    return {runtime.uid: _Waiting(runtime.key)}


def _failed_creations(cluster: Cluster, snapshot: StoreSnapshot) -> Iterator[Mapping[str, Any]]:
    for namespace in snapshot.namespaces or (None,):
        try:
            yield from cluster.list("v1", "Event", namespace, field_selector="reason=FailedCreate").items
        except Forbidden:
            return


def _has_pod(cluster: Cluster, waiting: _Waiting) -> bool:
    """Whether a run of a scheduled job has a pod by now, or has ended. A snapshot does not show its Job."""
    if not waiting.run:
        return False
    job = cluster.get(*JOB, waiting.run, waiting.key.namespace)
    return job is None or not _waiting(RuntimeJob(JobType.ONE_OFF, job))


def _is_failure(condition: Mapping[str, Any]) -> bool:
    is_true = (condition.get("type"), condition.get("status")) == ("ReplicaFailure", "True")
    return is_true and _is_quota(condition)


def _is_quota(told: Mapping[str, Any]) -> bool:
    return QUOTA_MARK in text_of(told.get("message"))


def _message(told: Mapping[str, Any]) -> str:
    return one_line(text_of(told.get("message")))
