# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs of a snapshot whose pods a quota refuses: one list of events for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._cluster.cluster import Cluster
from .._cluster.errors import Forbidden
from .._job_models.core_job import JobKey, JobType
from .._loose_json import mapping_of, mappings_in, text_of
from .._text import one_line
from .changes.runs import OUT_OF_QUOTA, QUOTA_MARK
from .snapshot import StoreSnapshot, is_podless

__all__ = ["OUT_OF_QUOTA", "quota_problems"]


def quota_problems(cluster: Cluster, snapshot: StoreSnapshot) -> Mapping[JobKey, str]:
    """The reason why a quota refuses the pods of a job, on one line for each such job.

    It reads events only if a Job has no pod, and only those that the user may read.

    Args:
        cluster: that the snapshot was read from.
        snapshot: of the jobs.

    Raises:
        ClusterError: the cluster does not answer.
    """
    problems: dict[JobKey, str] = {}
    waiting = dict(snapshot.podless_runs)
    for runtime in snapshot.runtime.values():
        if runtime.type is JobType.CONTINUOUS:
            conditions = mappings_in(mapping_of(runtime.main.get("status")).get("conditions"))
            problems.update((runtime.key, _message(one)) for one in conditions if _is_failure(one))
        elif runtime.type is JobType.ONE_OFF and is_podless(runtime.main):
            waiting[runtime.uid] = runtime.key
    for event in _failed_creations(cluster, snapshot) if waiting else ():
        key = waiting.get(text_of(mapping_of(event.get("involvedObject")).get("uid")))
        if key and _is_quota(event):
            problems[key] = _message(event)
    return problems


def _failed_creations(cluster: Cluster, snapshot: StoreSnapshot) -> Iterator[Mapping[str, Any]]:
    for namespace in snapshot.namespaces or (None,):
        try:
            yield from cluster.list("v1", "Event", namespace, field_selector="reason=FailedCreate").items
        except Forbidden:
            return


def _is_failure(condition: Mapping[str, Any]) -> bool:
    is_true = (condition.get("type"), condition.get("status")) == ("ReplicaFailure", "True")
    return is_true and _is_quota(condition)


def _is_quota(told: Mapping[str, Any]) -> bool:
    return QUOTA_MARK in text_of(told.get("message"))


def _message(told: Mapping[str, Any]) -> str:
    return one_line(text_of(told.get("message")))
