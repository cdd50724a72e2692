# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creates definitions of all existing jobs, and rewrites those of older storage versions.

It writes no runtime object. A job that can't be imported does not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TypeAlias

from .._batch import Batch
from .._cluster.cluster import Cluster, Object, address_of, ref_of
from .._cluster.errors import AlreadyExists, ApiError, Conflict, Forbidden
from .._cluster.exact_patch import patch_exactly
from .._job_models.core_job import CoreJob, JobKey, JobType
from .._job_models.job_fields import core_job
from .._job_models.recognition import UnreadableJob
from .._job_models.runtime.patches import merge_patch_ignoring_nulls
from .._job_models.runtime.runtime_objects import STORE, runtime_objects
from .._job_models.storage.definition import (
    CURRENT_VERSION,
    DEFINITION_KINDS,
    StoredDefinition,
    definition_object,
    read_definition,
)
from .._job_models.storage.stored_status import StoredStatus
from .._job_models.toolforge import lost_fields, toolforge_resource
from .._record_codec import to_record
from .._text import one_line
from .changes.job_view import JobView
from .changes.statuses import failed_status, rolled_out_status
from .counters import JobCounter
from .counting import count_jobs
from .job_state import job_drift
from .job_trial import JobTrials
from .snapshot import RuntimeJob, StoreSnapshot, without_gone_jobs
from .stored_definitions import UNREADABLE, problem_of
from .unknown_jobs import adoptable_job, unknown_jobs

TOOLFORGE_VERSION = "jobs-api.toolforge.org/v1"
"""The apiVersion of Toolforge's custom resources."""


@dataclass(frozen=True)
class ImportedJob:
    """A definition that was created or rewritten.

    Attributes:
        key: of the job.
        before: the definition before; None if there was none.
        after: the definition now, or in check mode the one that would be written.
    """

    key: JobKey
    before: Object | None
    after: Object


@dataclass(frozen=True)
class ImportReport:
    """The result of an import.

    Attributes:
        imported: jobs that got a definition.
        rewritten: jobs whose definition has the current storage version now.
        unchanged: how many definitions did not change.
        unreadable: the jobs that could not be imported or rewritten, one line each.
        warnings: the parts of jobs that could not be imported, one line each.
        counters: by namespace.
    """

    imported: tuple[ImportedJob, ...] = ()
    rewritten: tuple[ImportedJob, ...] = ()
    unchanged: int = 0
    unreadable: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    counters: Mapping[str, JobCounter] = field(default_factory=dict)


@dataclass(frozen=True)
class _Outcome:
    """The result for one job: the job, or the line that gives the reason."""

    job: ImportedJob | None = None
    problem: str = ""


_Call: TypeAlias = "tuple[JobKey, Callable[[], _Outcome]]"
"""A job, and the function that writes its definition."""

NOT_ROLLED_OUT = "NotRolledOut"
"""The reason of a definition that was imported from a custom resource of which nothing runs."""


def import_jobs(
    cluster: Cluster,
    snapshot: StoreSnapshot,
    batch: Batch | None = None,
    *,
    rewrite: bool,
    storage_version: int = CURRENT_VERSION,
) -> ImportReport:
    """Create a definition of each job that has none, with its status, and count such jobs.

    Args:
        cluster: that the snapshot was read from.
        snapshot: of the jobs to import.
        batch: the work on the definitions, which may be stopped.
        rewrite: whether to write definitions of other storage versions again.
        storage_version: in which they are written again; an older one rolls them back.

    Raises:
        ClusterError: the cluster does not answer, or a counter can't be written.
    """
    batch = batch or Batch()
    cluster = cluster.with_field_manager(STORE)
    if unknown_jobs(snapshot):
        snapshot = without_gone_jobs(cluster, snapshot)
    counters = count_jobs(cluster, snapshot, batch.cancelled)
    resources, unreadable, warnings = _jobs_of_toolforge(cluster, snapshot)
    old = [
        one
        for one in snapshot.definitions.values()
        if rewrite and one.is_writable and one.storage_version != storage_version
    ]
    cut_short = [
        one
        for one in snapshot.definitions.values()
        if one.storage_version == CURRENT_VERSION and _lacks_status(snapshot, one)
    ]
    writer = _Writer(cluster, snapshot)
    calls: list[_Call] = [
        *((one.key, partial(writer.adopt, one)) for one in unknown_jobs(snapshot)),
        *((job.key, partial(writer.create, job, None)) for job in resources),
        *((one.key, partial(writer.complete, one)) for one in cut_short),
        *((one.key, partial(writer.rewrite, one, storage_version)) for one in old),
    ]
    outcomes = batch.map(lambda call: call[1](), calls, name=lambda call: call[0])
    created, rewritten = outcomes[: len(calls) - len(old)], outcomes[len(calls) - len(old) :]
    problems = [one.problem for one in outcomes if one and one.problem]
    return ImportReport(
        imported=_sorted_jobs(created),
        rewritten=_sorted_jobs(rewritten),
        unchanged=len(snapshot.definitions.keys() - {one.key for one in (*cut_short, *old)}),
        unreadable=(*sorted(unreadable), *problems),
        warnings=tuple(sorted(warnings)),
        counters=counters,
    )


def _jobs_of_toolforge(
    cluster: Cluster, snapshot: StoreSnapshot
) -> tuple[list[CoreJob], list[str], list[str]]:
    """The jobs that only Toolforge's custom resources describe; lines for what can't be read or stored."""
    warnings: list[str] = []
    unreadable = [f"{one.ref}: {one.problem}" for one in snapshot.unreadable]
    jobs: dict[JobKey, CoreJob] = {}
    taken = snapshot.definitions.keys() | {one.key for one in snapshot.unreadable}
    taken |= {key for key, _type in snapshot.runtime}
    for obj in _toolforge_resources(cluster, snapshot, unreadable):
        try:
            key, type_, fields = toolforge_resource(obj)
            if key in taken:
                continue
            if key in jobs:
                raise UnreadableJob(f"Its name is taken by a {jobs[key].type} job. Delete one of them.")
            jobs[key] = core_job(key, type_, fields)
            warnings += [
                f"{ref_of(obj)}: {name} is not imported, as a job of the store has no such field"
                for name in lost_fields(obj)
            ]
        except UNREADABLE as error:
            unreadable.append(f"{ref_of(obj)}: {problem_of(error)}")
    return list(jobs.values()), unreadable, warnings


def _toolforge_resources(
    cluster: Cluster, snapshot: StoreSnapshot, unreadable: list[str]
) -> Iterator[Object]:
    """Toolforge's custom resources; adds a line for each kind that the user may not read."""
    selector = snapshot.label_selector
    kinds = [
        kind for _api_version, kind in DEFINITION_KINDS.values() if cluster.resource(TOOLFORGE_VERSION, kind)
    ]
    for kind, namespace in product(kinds, snapshot.namespaces or (None,)):
        try:
            yield from cluster.list(TOOLFORGE_VERSION, kind, namespace, label_selector=selector).items
        except Forbidden as refusal:
            unreadable.append(f"{kind} {TOOLFORGE_VERSION}: {one_line(refusal.api_message)}")


def _lacks_status(snapshot: StoreSnapshot, definition: StoredDefinition) -> bool:
    """Whether a definition lacks a status although it describes what runs: an import was interrupted."""
    runtime = snapshot.runtime_of(definition)
    return bool(not definition.status.objects and runtime and not job_drift(definition, runtime))


def _sorted_jobs(outcomes: Iterable[_Outcome | None]) -> tuple[ImportedJob, ...]:
    return tuple(sorted((one.job for one in outcomes if one and one.job), key=lambda job: job.key))


class _Writer:
    """Writes definitions, each independently."""

    def __init__(self, cluster: Cluster, snapshot: StoreSnapshot) -> None:
        self._cluster = cluster
        self._snapshot = snapshot
        self._trials = JobTrials(cluster)

    def adopt(self, runtime: RuntimeJob) -> _Outcome:
        """Create the definition of a job that exists only in Kubernetes."""
        try:
            job = adoptable_job(self._snapshot, runtime)
            problems = self._trials.problems(job)
        except UNREADABLE as error:
            return _Outcome(problem=f"{ref_of(runtime.main)}: {problem_of(error)}")
        if problems:
            return _Outcome(problem=f"{ref_of(runtime.main)}: {'; '.join(problems)}")
        return self.create(job, runtime)

    def create(self, job: CoreJob, runtime: RuntimeJob | None) -> _Outcome:
        """Create the definition of a job, and its status."""
        desired = definition_object(job)
        return self._outcome(desired, None, lambda: self._with_status(self._cluster.create(desired), runtime))

    def complete(self, definition: StoredDefinition) -> _Outcome:
        """Write the status that a definition lacks."""
        obj, runtime = definition.obj, self._snapshot.runtime_of(definition)
        return self._outcome(obj, obj, lambda: self._with_status(obj, runtime))

    def rewrite(self, definition: StoredDefinition, storage_version: int) -> _Outcome:
        """Write a definition in a storage version, unless others have changed it meanwhile."""
        obj = definition.obj
        desired = definition_object(definition.job, obj, definition.replaces, storage_version)
        lacks_status = _lacks_status(self._snapshot, definition)

        def write() -> Object:
            after = patch_exactly(self._cluster, obj, merge_patch_ignoring_nulls(obj, desired))
            runtime = self._snapshot.runtime_of(definition)
            if lacks_status:
                return self._with_status(after, runtime)
            return self._with_generation(after)

        return self._outcome(desired, obj, write)

    def _outcome(self, desired: Object, before: Object | None, write: Callable[[], Object]) -> _Outcome:
        ref = ref_of(desired)
        try:
            after = write()
        except AlreadyExists:
            # Another import was faster.
            return _Outcome()
        except Conflict:
            return _Outcome(problem=f"{ref}: others have changed it meanwhile. Run the import again")
        except ApiError as refusal:
            return _Outcome(problem=f"{ref}: {one_line(refusal.api_message)}")
        return _Outcome(ImportedJob(JobKey(ref.namespace, ref.name), before, after))

    def _with_generation(self, obj: Object) -> Object:
        """A definition with the same meaning, with a status for the new generation."""
        meta, status = obj["metadata"], read_definition(obj).status
        if not status.conditions or status.observed_generation == meta.get("generation"):
            return obj
        conditions = [{**one, "observedGeneration": meta["generation"]} for one in status.conditions]
        patch = {"status": {"observedGeneration": meta["generation"], "conditions": conditions}}
        return patch_exactly(self._cluster, obj, patch, subresource="status")

    def _with_status(self, obj: Object, runtime: RuntimeJob | None) -> Object:
        status = {"status": to_record(_imported_status(read_definition(obj), runtime))}
        return self._cluster.patch(*address_of(obj), status, subresource="status")


def _imported_status(definition: StoredDefinition, runtime: RuntimeJob | None) -> StoredStatus:
    """The status of a definition whose runtime objects, if any, are as it describes them."""
    if runtime is None and definition.type is not JobType.ONE_OFF:
        return failed_status(definition, NOT_ROLLED_OUT, "Nothing of it runs yet.")
    runtimes = {runtime.type: runtime} if runtime else {}
    view = JobView(definition.key, definition, runtime=runtimes)
    status = rolled_out_status(view, runtime_objects(definition.job))
    # A one-off job with no runtime object left has run.
    return status if runtime else replace(status, run=1)
