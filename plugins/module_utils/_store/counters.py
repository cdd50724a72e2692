# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters of jobs that exist only in Kubernetes or only in storage, one object per namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Annotated

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import Conflict, NotFound
from .._custom_resources.resource_kind import ResourceKind
from .._field_notes import SPEC, in_metadata, in_spec
from .._job_models.storage.definition import StoredDefinition
from .._loose_json import mapping_of, text_of
from .._textfile import metric_family

COUNTER_NAME = "jobs"
"""The name of the only object with counters in a namespace."""
MOST_ATTEMPTS = 10
"""How often a counter is written while others change it at the same time."""


@dataclass(frozen=True)
class JobCounter:
    """The counters of a namespace. Their resource version is empty if the cluster has no object for them."""

    namespace: Annotated[str, in_metadata()]
    only_in_kubernetes: Annotated[int, in_spec("Jobs that were found without a definition.", minimum=0)] = 0
    only_in_storage: Annotated[int, in_spec("Definitions that were found without their job.", minimum=0)] = 0
    uids: Annotated[frozenset[str], in_spec("Jobs that were counted and still exist.")] = frozenset()
    definition_uids: Annotated[frozenset[str], in_spec("Definitions that were counted and still exist.")] = (
        frozenset()
    )
    resource_version: Annotated[str, in_metadata()] = ""

    @property
    def counts(self) -> tuple[int, int]:
        """Both numbers."""
        return self.only_in_kubernetes, self.only_in_storage


JOB_COUNTER = ResourceKind(
    JobCounter,
    "JobCounter",
    "jobcounters",
    "kyjc",
    "How often jobs and definitions of a namespace did not match.",
    [
        ("Only in Kubernetes", "integer", ".spec.onlyInKubernetes"),
        ("Only in storage", "integer", ".spec.onlyInStorage"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    only_name=COUNTER_NAME,
    is_namespaced=True,
)
COUNTER_KIND = JOB_COUNTER.address
"""The namespaced kind (apiVersion, kind) of the objects with the counters."""


def counter_after(
    counter: JobCounter,
    unknown: Iterable[str],
    missing: Iterable[StoredDefinition],
    existing_uids: Set[str],
) -> JobCounter:
    """The counter after jobs were found, each of which counts once: pure.

    Args:
        counter: before the jobs were found.
        unknown: uids of jobs that exist only in Kubernetes.
        missing: definitions that exist without their job.
        existing_uids: of all objects of the namespace. Others are forgotten.
    """
    jobs = _uids(unknown) - counter.uids
    definitions = _uids(_uid(one.obj) for one in missing) - counter.definition_uids
    return replace(
        counter,
        only_in_kubernetes=counter.only_in_kubernetes + len(jobs),
        only_in_storage=counter.only_in_storage + len(definitions),
        uids=(counter.uids & existing_uids) | jobs,
        definition_uids=(counter.definition_uids & existing_uids) | definitions,
    )


def write_counter(cluster: Cluster, before: JobCounter, after: JobCounter) -> JobCounter:
    """Write a counter if a number has changed; return the counter of the cluster after that.

    If others have written it meanwhile, the new part of ``after`` is added to theirs.

    Args:
        cluster: where to write it.
        before: as it was read.
        after: the result of :func:`counter_after`.

    Raises:
        ClusterError: it can't be written.
    """
    for _attempt in range(MOST_ATTEMPTS - 1):
        if after.counts == before.counts:
            return before
        try:
            return _write(cluster, after)
        except (Conflict, NotFound) as error:
            if isinstance(error, NotFound) and not after.resource_version:
                # There is no namespace.
                raise
        obj = cluster.get(*COUNTER_KIND, COUNTER_NAME, before.namespace)
        current = JOB_COUNTER.read(obj) if obj else JobCounter(before.namespace)
        before, after = current, _added(current, before, after)
    return before if after.counts == before.counts else _write(cluster, after)


def store_metrics(counters: Mapping[str, JobCounter]) -> str:
    """The counters in the text format of Prometheus.

    Args:
        counters: by namespace.
    """
    ordered = [one for _namespace, one in sorted(counters.items())]
    families = (
        ("jobs_only_in_kubernetes_total", "Jobs that were found without a definition.", 0),
        ("jobs_only_in_storage_total", "Definitions that were found without their job.", 1),
    )
    return "".join(
        metric_family(
            name, "counter", text, [({"namespace": one.namespace}, one.counts[index]) for one in ordered]
        )
        for name, text, index in families
    )


def _write(cluster: Cluster, counter: JobCounter) -> JobCounter:
    if not counter.resource_version:
        return JOB_COUNTER.read(cluster.create(JOB_COUNTER.object_of(counter)))
    # Each field: a merge patch does not remove what it lacks.
    spec = JOB_COUNTER.object_of(counter, is_compact=False)[SPEC]
    patch = {"metadata": {"resourceVersion": counter.resource_version}, SPEC: spec}
    return JOB_COUNTER.read(cluster.patch(*COUNTER_KIND, COUNTER_NAME, counter.namespace, patch))


def _added(current: JobCounter, before: JobCounter, after: JobCounter) -> JobCounter:
    """The part that ``after`` adds to ``before``, added to a counter that others have written meanwhile."""
    jobs = after.uids - before.uids - current.uids
    definitions = after.definition_uids - before.definition_uids - current.definition_uids
    return replace(
        current,
        only_in_kubernetes=current.only_in_kubernetes + len(jobs),
        only_in_storage=current.only_in_storage + len(definitions),
        uids=current.uids | jobs,
        definition_uids=current.definition_uids | definitions,
    )


def _uid(obj: Object) -> str:
    return text_of(mapping_of(obj.get("metadata")).get("uid"))


def _uids(uids: Iterable[str]) -> frozenset[str]:
    return frozenset(uid for uid in uids if uid)
