# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs that exist only in Kubernetes or only in storage: pure."""

from __future__ import annotations

from .._job_models.core_job import CoreJob, JobKey, JobType
from .._job_models.recognition import UnreadableJob
from .._job_models.storage.definition import StoredDefinition
from .job_state import is_missing, running_job
from .snapshot import RuntimeJob, StoreSnapshot
from .switches import UnknownJobs


def unknown_jobs(snapshot: StoreSnapshot) -> list[RuntimeJob]:
    """The jobs that exist only in Kubernetes, whether or not they can be adopted, sorted.

    Objects that are being deleted, or replaced by a job of another type, do not count.
    """
    unreadable = {one.key for one in snapshot.unreadable}
    return [one for one in _undefined(snapshot) if not one.is_deleting and one.key not in unreadable]


def hidden_jobs(snapshot: StoreSnapshot) -> list[RuntimeJob]:
    """The jobs that exist only in Kubernetes and that no list shows, by the switches, sorted."""
    return unknown_jobs(snapshot) if snapshot.store.unknown_jobs is UnknownJobs.IGNORE else []


def deleted_jobs(snapshot: StoreSnapshot) -> list[RuntimeJob]:
    """The jobs without a definition that are being deleted, sorted."""
    return [one for one in _undefined(snapshot) if one.is_deleting]


def missing_jobs(snapshot: StoreSnapshot) -> list[StoredDefinition]:
    """The definitions that exist without their job, sorted.

    Two kinds do not count: those whose status reports a failed rollout, and those whose type is being
    changed.
    """
    return [
        one
        for _key, one in sorted(snapshot.definitions.items())
        if not one.replaces
        and (one.status.objects or not one.status.reason)
        and is_missing(one, snapshot.runtime_of(one))
    ]


def adoptable_job(snapshot: StoreSnapshot, runtime: RuntimeJob) -> CoreJob:
    """The job for a definition, read from one that exists only in Kubernetes.

    Raises:
        UnreadableJob: no definition can describe it.
    """
    defined = snapshot.definitions.get(runtime.key)
    taken = defined.type if defined else snapshot.left_out.get(runtime.key)
    if taken:
        raise UnreadableJob(f"Its name is taken by a {taken} job. Delete one of them.")
    left_out = [type_ for type_ in JobType if (runtime.key, type_) in snapshot.left_out_runtime]
    if left_out:
        raise UnreadableJob(
            f"A {left_out[0]} job that the label selector leaves out has the same name. Delete one of them."
        )
    same_name = [snapshot.runtime.get((runtime.key, type_)) for type_ in JobType]
    oldest = min((one for one in same_name if one), key=_age, default=runtime)
    if oldest.type is not runtime.type:
        raise UnreadableJob(f"Its name is taken by an older {oldest.type} job. Delete one of them.")
    return running_job(runtime)


def _undefined(snapshot: StoreSnapshot) -> list[RuntimeJob]:
    return [
        runtime
        for (key, type_), runtime in sorted(snapshot.runtime.items())
        if type_ not in _types_of_definitions(snapshot, key)
    ]


def _types_of_definitions(snapshot: StoreSnapshot, key: JobKey) -> set[JobType]:
    """The types of the runtime objects that belong to the definitions of a name, replaced ones included."""
    definitions = [one for one in (snapshot.definitions.get(key), snapshot.replaced.get(key)) if one]
    return {one.type for one in definitions} | {one.replaces for one in definitions if one.replaces}


def _age(runtime: RuntimeJob) -> tuple[str, JobType]:
    return str(runtime.main["metadata"].get("creationTimestamp") or ""), runtime.type
