# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot of all jobs of a cluster: definitions, runtime objects, switches and counters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .._cluster.cluster import FIELD_MANAGER, MANAGED_BY, Cluster, Object, Ref, ref_of
from .._cluster.errors import Forbidden
from .._cluster.object_selectors import label_matcher
from .._cluster.owner_references import controller_of, owners_in
from .._job_models.core_job import JobKey, JobType
from .._job_models.object_shapes import ERRAND_LABEL
from .._job_models.runtime.runtime_objects import CRON_JOB, JOB, KINDS_OF, is_service_of, runtime_objects
from .._job_models.storage.definition import DEFINITION_KINDS, StoredDefinition
from .._jobs.job_outcome import has_ended
from .._loose_json import mapping_of, number_of, text_of
from .._runs.lease.lease import LIFECYCLE_NAMESPACE
from .._text import one_line
from .._threads import map_in_threads
from .counters import COUNTER_KIND, JOB_COUNTER, JobCounter
from .stored_definitions import Unreadable, read_definitions
from .switches import StoreSwitches, read_switches

__all__ = ["RuntimeJob", "StoreSnapshot", "Unreadable", "is_podless", "read_snapshot"]

SERVICE_KIND = KINDS_OF[JobType.CONTINUOUS][1]
_MAIN_KINDS = {kinds[0]: type_ for type_, kinds in KINDS_OF.items()}


@dataclass(frozen=True)
class RuntimeJob:
    """The Kubernetes objects of a job.

    Attributes:
        type: of the job, by the kind of its main object.
        main: its Job, CronJob or Deployment.
        service: of a Deployment, if it has one.
    """

    type: JobType
    main: Object
    service: Object | None = None

    @property
    def key(self) -> JobKey:
        """The key of the job."""
        return JobKey(self.main["metadata"]["namespace"], self.main["metadata"]["name"])

    @property
    def uid(self) -> str:
        """The uid of the main object."""
        return str(self.main["metadata"].get("uid") or "")

    @property
    def is_deleting(self) -> bool:
        """Whether the main object is being deleted."""
        return bool(self.main["metadata"].get("deletionTimestamp"))


@dataclass(frozen=True)
class StoreSnapshot:
    """All jobs of some namespaces, or of all.

    Attributes:
        definitions: the one that counts for each name.
        replaced: definitions that those of the same name replace, while a job changes its type.
        surplus: definitions of the same names that do not count.
        left_out: the types of the definitions that the label selector leaves out.
        left_out_runtime: the names and types of the runtime objects that it leaves out.
        unreadable: definitions that can't be read.
        runtime: the runtime objects, by name and type. Objects that are no job are left out.
        excluded: why an object of a job's kind is no job, by name and type.
        podless_runs: the scheduled jobs whose current run has no pod yet, by the uid of the run's Job.
        store: the switches.
        counters: by namespace.
        uids: by namespace, of all definitions and all objects of a job's kind, without the label selector.
        warnings: one sentence each, also for each unreadable one.
        namespaces: that were read; empty for all.
        label_selector: of the jobs that were read; empty for all.
    """

    definitions: Mapping[JobKey, StoredDefinition] = field(default_factory=dict)
    replaced: Mapping[JobKey, StoredDefinition] = field(default_factory=dict)
    surplus: Mapping[JobKey, tuple[Ref, ...]] = field(default_factory=dict)
    left_out: Mapping[JobKey, JobType] = field(default_factory=dict)
    left_out_runtime: frozenset[tuple[JobKey, JobType]] = frozenset()
    unreadable: tuple[Unreadable, ...] = ()
    runtime: Mapping[tuple[JobKey, JobType], RuntimeJob] = field(default_factory=dict)
    excluded: Mapping[tuple[JobKey, JobType], str] = field(default_factory=dict)
    podless_runs: Mapping[str, JobKey] = field(default_factory=dict)
    store: StoreSwitches = field(default_factory=StoreSwitches)
    counters: Mapping[str, JobCounter] = field(default_factory=dict)
    uids: Mapping[str, frozenset[str]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    label_selector: str = ""

    def runtime_of(self, definition: StoredDefinition) -> RuntimeJob | None:
        """The runtime objects of a definition; None if there are none."""
        return self.runtime.get((definition.key, definition.type))

    def counter(self, namespace: str) -> JobCounter:
        """The counter of a namespace; an empty one if there is none."""
        return self.counters.get(namespace) or JobCounter(namespace)


def read_snapshot(
    cluster: Cluster,
    namespaces: Sequence[str] = (),
    label_selector: str = "",
    *,
    is_to_change: bool = False,
) -> StoreSnapshot:
    """Read all jobs: one list for each kind, and one more read for the switches.

    Args:
        cluster: where to read.
        namespaces: one list for each kind and namespace; empty for all namespaces.
        label_selector: of jobs, by the labels of their main object, or of the one that should exist.
        is_to_change: whether jobs are changed by it. Each change of runtime objects ends with a write of the
            definition. So a definition that is still as it was read first proves that the runtime objects are
            those that were read after it.

    Raises:
        ClusterError: a list fails, or the selector can't be read.
    """
    matches = label_matcher(label_selector)
    chosen = tuple(dict.fromkeys(namespaces))
    # A definition is written before its runtime objects. In this order, a job that others are creating has
    # its own.
    parts = [(*_MAIN_KINDS, SERVICE_KIND), (*DEFINITION_KINDS.values(), COUNTER_KIND)]
    lists: dict[tuple[str, str], list[Object]] = {}
    for kinds in reversed(parts) if is_to_change else parts:
        lists |= _lists(cluster, kinds, chosen)
    switches, problem = _switches(cluster)

    stored = read_definitions([obj for kind in DEFINITION_KINDS.values() for obj in lists[kind]])
    services = {_key(obj): obj for obj in lists[SERVICE_KIND]}
    runtime: dict[tuple[JobKey, JobType], RuntimeJob] = {}
    excluded: dict[tuple[JobKey, JobType], str] = {}
    podless_runs: dict[str, JobKey] = {}
    left_out: set[tuple[JobKey, JobType]] = set()
    uids: dict[str, set[str]] = defaultdict(set)
    for obj in (obj for kind in (*DEFINITION_KINDS.values(), *_MAIN_KINDS) for obj in lists[kind]):
        uids[obj["metadata"]["namespace"]].add(str(obj["metadata"].get("uid") or ""))
    for kind, type_ in _MAIN_KINDS.items():
        for obj in lists[kind]:
            key = _key(obj)
            reason = _exclusion_reason(obj)
            if reason:
                excluded[key, type_] = reason
                podless_runs |= _podless_run(obj)
            elif not matches(obj):
                left_out.add((key, type_))
            elif key.namespace in chosen or not _is_reserved(key.namespace) or key in stored.definitions:
                runtime[key, type_] = RuntimeJob(type_, obj, _own_service(obj, services.get(key)))

    def is_selected(definition: StoredDefinition) -> bool:
        job_key = (definition.key, definition.type)
        return job_key in runtime or (
            job_key not in left_out and (not label_selector or matches(runtime_objects(definition.job)[0]))
        )

    definitions = {key: one for key, one in stored.definitions.items() if is_selected(one)}
    counters = map(JOB_COUNTER.read, lists[COUNTER_KIND])
    return StoreSnapshot(
        definitions=definitions,
        replaced=stored.replaced,
        surplus=stored.surplus,
        left_out={key: one.type for key, one in stored.definitions.items() if key not in definitions},
        left_out_runtime=frozenset(left_out),
        unreadable=stored.unreadable,
        runtime=runtime,
        excluded=excluded,
        podless_runs=podless_runs,
        store=switches,
        counters={one.namespace: one for one in counters if one.namespace},
        uids={namespace: frozenset(namespace_uids) for namespace, namespace_uids in uids.items()},
        warnings=(*([problem] if problem else ()), *stored.warnings),
        namespaces=chosen,
        label_selector=label_selector,
    )


def without_gone_jobs(cluster: Cluster, snapshot: StoreSnapshot) -> StoreSnapshot:
    """A snapshot without the jobs that others have deleted during the read, or since.

    Such a job could have lost its definition before the definitions were read. The check takes a list of
    metadata for each kind that runs jobs.
    """
    lists = _lists(cluster, (*_MAIN_KINDS,), snapshot.namespaces, metadata_only=True)
    uids = {obj["metadata"].get("uid") for items in lists.values() for obj in items}
    left = {key: one for key, one in snapshot.runtime.items() if one.main["metadata"].get("uid") in uids}
    return replace(snapshot, runtime=left)


def _lists(
    cluster: Cluster,
    kinds: Sequence[tuple[str, str]],
    namespaces: Sequence[str],
    *,
    metadata_only: bool = False,
) -> dict[tuple[str, str], list[Object]]:
    """All objects of some kinds in some namespaces, or in all, by their kind."""
    requests = [(kind, namespace) for kind in kinds for namespace in namespaces or (None,)]
    pages = map_in_threads(
        lambda one: cluster.list(*one[0], one[1], metadata_only=metadata_only).items, requests
    )
    objects: dict[tuple[str, str], list[Object]] = {kind: [] for kind in kinds}
    for (kind, _place), items in zip(requests, pages, strict=True):
        objects[kind] += items
    return objects


def _switches(cluster: Cluster) -> tuple[StoreSwitches, str]:
    """The switches, and a warning if they could not be read."""
    try:
        return read_switches(cluster), ""
    except Forbidden as error:
        return StoreSwitches(), f"The switches of the job store are unknown, so their defaults count: {error}"


def _key(obj: Object) -> JobKey:
    return JobKey(obj["metadata"]["namespace"], obj["metadata"]["name"])


def _is_reserved(namespace: str) -> bool:
    return namespace.startswith("kube-") or namespace == LIFECYCLE_NAMESPACE


def _exclusion_reason(obj: Object) -> str:
    """The reason why an object of a job's kind is no job, in a sentence; empty if it is one."""
    labels = mapping_of(obj["metadata"].get("labels"))
    if owner := controller_of(obj):
        return one_line(f"{owner.get('kind')} {owner.get('name')} controls {ref_of(obj)}.")
    if ERRAND_LABEL in labels:
        return f"{ref_of(obj)} belongs to an errand."
    if labels.get(MANAGED_BY) == FIELD_MANAGER:
        return f"{ref_of(obj)} belongs to a component."
    return ""


def _podless_run(obj: Object) -> dict[str, JobKey]:
    """The scheduled job of a run that has neither a pod nor an end, by the uid of the run; else empty."""
    names = [text_of(one.get("name")) for one in owners_in(obj) if one.get("kind") == CRON_JOB]
    if obj["kind"] != JOB or not names or not is_podless(obj):
        return {}
    return {str(obj["metadata"].get("uid") or ""): JobKey(obj["metadata"]["namespace"], names[0])}


def is_podless(job: Object) -> bool:
    """Whether a Job has not ended, and has no pod although it is not suspended."""
    spec, status = mapping_of(job.get("spec")), mapping_of(job.get("status"))
    return not (spec.get("suspend") is True or has_ended(job) or number_of(status.get("active")))


def _own_service(main: Object, service: Object | None) -> Object | None:
    """A Service with the name of a main object, if it is a Deployment and the Service is its own."""
    if service is None or main["kind"] != KINDS_OF[JobType.CONTINUOUS][0][1]:
        return None
    return service if is_service_of(main, service) else None
