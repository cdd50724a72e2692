# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the jobs that exist only in Kubernetes or only in storage, in the namespaces of a snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping

from .._cluster.cluster import Cluster
from .._cluster.errors import ApiError, NotFound
from .._job_models.storage.definition import StoredDefinition
from .counters import JobCounter, counter_after, write_counter
from .snapshot import StoreSnapshot
from .unknown_jobs import missing_jobs, unknown_jobs


def count_jobs(
    cluster: Cluster, snapshot: StoreSnapshot, cancelled: Callable[[], bool] = lambda: False
) -> Mapping[str, JobCounter]:
    """Count the jobs of a snapshot; return the counters by namespace, also the unchanged ones.

    It writes a counter only for new jobs.

    Args:
        cluster: that the snapshot was read from.
        snapshot: from before any definition was created.
        cancelled: whether to write no more; called before each counter.

    Raises:
        ClusterError: a counter can't be written.
    """
    unknown: dict[str, list[str]] = defaultdict(list)
    missing: dict[str, list[StoredDefinition]] = defaultdict(list)
    for job in unknown_jobs(snapshot):
        unknown[job.key.namespace].append(job.uid)
    for definition in missing_jobs(snapshot):
        missing[definition.key.namespace].append(definition)
    counters: dict[str, JobCounter] = {}
    for namespace in sorted(snapshot.counters.keys() | unknown.keys() | missing.keys()):
        before = snapshot.counter(namespace)
        existing = snapshot.uids.get(namespace, frozenset())
        after = counter_after(before, unknown[namespace], missing[namespace], existing)
        counters[namespace] = before if cancelled() else _written(cluster, before, after)
    return counters


def _written(cluster: Cluster, before: JobCounter, after: JobCounter) -> JobCounter:
    """The counter of the cluster after that. The counter of a namespace in deletion is deleted with it."""
    try:
        return write_counter(cluster, before, after)
    except ApiError as error:
        is_terminating = any(cause.reason == "NamespaceTerminating" for cause in error.causes)
        if is_terminating or isinstance(error, NotFound):
            return before
        raise
