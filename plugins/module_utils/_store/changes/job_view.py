# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of one job: its definition and its runtime objects, as steps change them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..._cluster.cluster import MANAGED_BY, Object, Ref
from ..._job_models.core_job import CoreJob, JobKey, JobType
from ..._job_models.runtime.runtime_objects import SERVICE, STORE, runtime_objects
from ..._job_models.storage.definition import StoredDefinition
from ..._job_models.storage.stored_status import WrittenObject
from ..._jobs.job_outcome import JobOutcome
from ..._loose_json import mapping_of
from ..snapshot import RuntimeJob, StoreSnapshot
from ..stored_definitions import UNREADABLE, problem_of
from ..switches import UnknownJobs
from ..unknown_jobs import adoptable_job


@dataclass(frozen=True)
class JobView:
    """The state of one job.

    Attributes:
        key: of the job.
        definition: the one that counts, if any.
        replaced: the definition that it replaces, if any.
        surplus: definitions of this name that do not count.
        unreadable: why a definition of this name can't be read; empty if all can.
        runtime: the runtime objects of this name, by type.
        excluded: why an object of this name is no job, by type.
        adoptable: the job that runs without a definition and becomes one, if any.
        adoption_problem: why the job that runs without a definition can't become one; empty if it can.
        written: the runtime objects written since the view was read, by kind.
        ended: how the last run ended whose Job was deleted since, until the status has it.
        vanished: the Job of a run that the change has started and that is gone, until the status has it.
    """

    key: JobKey
    definition: StoredDefinition | None = None
    replaced: StoredDefinition | None = None
    surplus: tuple[Ref, ...] = ()
    unreadable: str = ""
    runtime: Mapping[JobType, RuntimeJob] = field(default_factory=dict)
    excluded: Mapping[JobType, str] = field(default_factory=dict)
    adoptable: CoreJob | None = None
    adoption_problem: str = ""
    written: Mapping[str, WrittenObject] = field(default_factory=dict)
    ended: JobOutcome | None = None
    vanished: WrittenObject | None = None

    def known(self, kind: str) -> WrittenObject | None:
        """The known state of the object of a kind that was written last."""
        if self.vanished and self.vanished.kind == kind:
            return self.vanished
        if kind in self.written:
            return self.written[kind]
        return self.definition.status.known(kind) if self.definition else None

    def live(self, type_: JobType) -> dict[str, Object]:
        """The runtime objects of a type by their kind."""
        runtime = self.runtime.get(type_)
        return {obj["kind"]: obj for obj in (runtime.main, runtime.service) if obj} if runtime else {}

    def with_runtime(self, type_: JobType, obj: Object, known: WrittenObject) -> JobView:
        """The view after a runtime object was written."""
        runtime, written = self.runtime.get(type_), {**self.written, obj["kind"]: known}
        is_service = runtime is not None and obj["kind"] != runtime.main["kind"]
        new = replace(runtime, service=obj) if runtime and is_service else None
        new = new or RuntimeJob(type_, obj, runtime.service if runtime else None)
        return replace(self, runtime={**self.runtime, type_: new}, written=written)

    def without_runtime(self, type_: JobType, kind: str) -> JobView:
        """The view after a runtime object was deleted."""
        runtime = self.runtime[type_]
        left = {one: other for one, other in self.runtime.items() if one is not type_}
        if kind != runtime.main["kind"]:
            left[type_] = replace(runtime, service=None)
        return replace(self, runtime=left)


def view_of(snapshot: StoreSnapshot, key: JobKey) -> JobView:
    """The part of a snapshot about a job.

    Unknown jobs are adoptable only if the switches allow it, and then only the one that may have the name.
    """
    runtime = {type_: snapshot.runtime[key, type_] for type_ in JobType if (key, type_) in snapshot.runtime}
    definition = snapshot.definitions.get(key)
    if definition and definition.type in runtime:
        runtime[definition.type] = without_foreign_service(definition, runtime[definition.type])
    view = JobView(
        key,
        definition,
        snapshot.replaced.get(key),
        snapshot.surplus.get(key, ()),
        "; ".join(f"{one.ref} can't be read: {one.problem}" for one in snapshot.unreadable if one.key == key),
        runtime,
        {type_: snapshot.excluded[key, type_] for type_ in JobType if (key, type_) in snapshot.excluded},
    )
    if definition is not None or snapshot.store.unknown_jobs is not UnknownJobs.ADOPT:
        return view
    problem = ""
    for one in runtime.values():
        try:
            return replace(view, adoptable=None if one.is_deleting else adoptable_job(snapshot, one))
        except UNREADABLE as error:
            problem = problem_of(error)
    return replace(view, adoption_problem=problem)


def without_foreign_service(definition: StoredDefinition, runtime: RuntimeJob) -> RuntimeJob:
    """The runtime objects, without a Service that is neither in the definition nor created by the store."""
    service = runtime.service
    if service is None or any(one["kind"] == SERVICE for one in runtime_objects(definition.job)):
        return runtime
    meta, known = service["metadata"], definition.status.known(SERVICE)
    is_known = known is not None and known.uid == str(meta.get("uid") or "")
    is_own = mapping_of(meta.get("labels")).get(MANAGED_BY) == STORE
    return runtime if is_known or is_own else replace(runtime, service=None)
