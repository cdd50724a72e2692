# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs whose pods Kubernetes refuses: by a quota, Pod Security, a webhook, or a missing ServiceAccount.

A controller creates the pods, after the API server has accepted its Job or Deployment. So a refusal can also
come after the task.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import Forbidden
from .._cluster.fields.field_owners import owners_of
from .._cluster.owner_references import is_owned_by
from .._job_models.core_job import JobKey, JobType
from .._loose_json import fields_at, mapping_of, mappings_in, number_of, text_of
from .._text import one_line
from .job_state import OUT_OF_QUOTA, PODS_REFUSED, QUOTA_MARK, awaits_pods
from .snapshot import RuntimeJob, StoreSnapshot, is_podless, read_snapshot

PODS_SECONDS = 10.0
"""How long a task waits until the controllers have created the first pods of its jobs, or failed to."""
_SECONDS_DIGITS = len("2026-11-26T14:00:00")
_REVISION = "deployment.kubernetes.io/revision"


@dataclass(frozen=True)
class PodRefusal:
    """The refusal of a job's pods.

    Attributes:
        reason: ``OutOfQuota`` or ``PodsRefused``.
        message: of the API server, on one line.
    """

    reason: str
    message: str


def pod_refusals(cluster: Cluster, snapshot: StoreSnapshot) -> Mapping[JobKey, PodRefusal]:
    """The refusals of a snapshot, by job.

    It reads events only if a Job has no pod, and ReplicaSets only if a Deployment lacks some. Without the
    right to read them, it returns what the Deployments say.

    Args:
        cluster: that the snapshot was read from.
        snapshot: of the jobs.

    Raises:
        ClusterError: the cluster does not answer.
    """
    words = _of_jobs(cluster, snapshot) | _of_deployments(cluster, snapshot)
    return {
        key: PodRefusal(OUT_OF_QUOTA if QUOTA_MARK in text else PODS_REFUSED, one_line(text))
        for key, text in words.items()
    }


def await_pods(
    cluster: Cluster, snapshot: StoreSnapshot, keys: Collection[JobKey], cancelled: Callable[[], bool]
) -> Mapping[JobKey, PodRefusal]:
    """The refusals of a snapshot, once the controllers have acted on some jobs.

    Args:
        cluster: that the snapshot was read from.
        snapshot: from after the changes.
        keys: of the jobs to wait for, at most :data:`PODS_SECONDS`.
        cancelled: ends the wait.

    Raises:
        ClusterError: the cluster does not answer.
    """
    # The more namespaces are read each time, the less often they are.
    deadline, delay = time.monotonic() + PODS_SECONDS, max(0.1, 0.02 * len({key.namespace for key in keys}))
    refusals = dict(pod_refusals(cluster, snapshot))
    while True:
        waiting = {key for key in keys if key not in refusals and _awaits_pods(snapshot, key)}
        if not waiting or time.monotonic() + delay > deadline or cancelled():
            return refusals
        time.sleep(delay)
        delay *= 2
        namespaces = sorted({key.namespace for key in waiting})
        snapshot, keys = read_snapshot(cluster, namespaces), waiting
        refusals |= pod_refusals(cluster, snapshot)


def _awaits_pods(snapshot: StoreSnapshot, key: JobKey) -> bool:
    definition = snapshot.definitions.get(key)
    runtime = snapshot.runtime_of(definition) if definition else None
    return key in snapshot.podless_runs.values() or (runtime is not None and awaits_pods(runtime))


def _of_jobs(cluster: Cluster, snapshot: StoreSnapshot) -> dict[JobKey, str]:
    """The last words of the API server about the pods of Jobs that have none."""
    waiting = {uid: (key, "") for uid, key in snapshot.podless_runs.items()}
    for runtime in snapshot.runtime.values():
        if runtime.type is JobType.ONE_OFF and is_podless(runtime.main):
            waiting[runtime.uid] = (runtime.key, _changed_at(runtime.main))
    messages: dict[JobKey, tuple[str, str]] = {}
    for event in _failed_creations(cluster, snapshot) if waiting else ():
        key, since = waiting.get(text_of(mapping_of(event.get("involvedObject")).get("uid")), (None, ""))
        at = event_time(event)
        if key and (not at or at > since) and at >= messages.get(key, ("", ""))[0]:
            messages[key] = (at, text_of(event.get("message")))
    return {key: text for key, (_at, text) in messages.items()}


def _failed_creations(cluster: Cluster, snapshot: StoreSnapshot) -> Iterator[Object]:
    for namespace in snapshot.namespaces or (None,):
        try:
            yield from cluster.list("v1", "Event", namespace, field_selector="reason=FailedCreate").items
        except Forbidden:
            return


def event_time(event: Object) -> str:
    """When an Event was last seen, without the zone, which is UTC; empty if it does not say."""
    series = mapping_of(event.get("series")).get("lastObservedTime")
    times = (series, event.get("lastTimestamp"), event.get("eventTime"), event.get("firstTimestamp"))
    return next(filter(None, map(text_of, times)), "")[:_SECONDS_DIGITS]


def _changed_at(job: Object) -> str:
    """When the spec of a Job was last written, or a pod of it has ended; no refusal before that counts."""
    status = mapping_of(job.get("status"))
    has_run = number_of(status.get("failed")) or number_of(status.get("succeeded"))
    written = [*owners_of(job, "f:spec"), *(owners_of(job, "f:status") if has_run else ())]
    return max((text_of(one.get("time"))[:_SECONDS_DIGITS] for one in written), default="")


def _of_deployments(cluster: Cluster, snapshot: StoreSnapshot) -> dict[JobKey, str]:
    """The words of the API server about the pods of the current ReplicaSet of each Deployment.

    The condition of a Deployment can still be that of its ReplicaSet before.
    """
    failing: dict[str, list[tuple[RuntimeJob, str]]] = defaultdict(list)
    for runtime in snapshot.runtime.values():
        status = mapping_of(runtime.main.get("status"))
        generation = number_of(runtime.main["metadata"].get("generation"))
        is_current = number_of(status.get("observedGeneration", generation)) >= generation
        if runtime.type is JobType.CONTINUOUS and is_current and (text := _refused_pods(runtime.main)):
            failing[runtime.key.namespace].append((runtime, text))
    messages: dict[JobKey, str] = {}
    for namespace, jobs in failing.items():
        try:
            sets = cluster.list("apps/v1", "ReplicaSet", namespace).items
        except Forbidden:
            sets = []
        for runtime, text in jobs:
            current = next((one for one in sets if _is_current_set(one, runtime.main)), None)
            if words := _refused_pods(current) if current else text:
                messages[runtime.key] = words
    return messages


def _is_current_set(replica_set: Object, deployment: Object) -> bool:
    revisions = {
        fields_at(one, "metadata", "annotations").get(_REVISION) for one in (replica_set, deployment)
    }
    return is_owned_by(replica_set, deployment["metadata"].get("uid", "")) and len(revisions) == 1


def _refused_pods(obj: Object) -> str:
    """Why the pods of a Deployment or ReplicaSet can't be created; empty if they can."""
    conditions = mappings_in(mapping_of(obj.get("status")).get("conditions"))
    marks = ("ReplicaFailure", "True", "FailedCreate")
    failures = (one for one in conditions if (one.get("type"), one.get("status"), one.get("reason")) == marks)
    return text_of(next(failures, {}).get("message"))
