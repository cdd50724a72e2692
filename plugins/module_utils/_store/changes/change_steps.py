# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The next step of a change of a job, from its current state: pure.

A change is a sequence of steps. The result of the steps before decides each step. A change that was
interrupted therefore continues where it stopped: another run decides its first step from what it reads.

The definition is written before the runtime objects and deleted after them. A definition of another type
names the one that it replaces until that is gone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TypeAlias

from ..._cluster.cluster import Object, ref_of
from ..._job_models.core_job import CoreJob, JobType
from ..._job_models.defaults import CURRENT_DEFAULTS
from ..._job_models.job_fields import given_fields, is_same_json
from ..._job_models.runtime.run_identity import run_identity
from ..._job_models.runtime.runtime_objects import KINDS_OF, runtime_objects
from ..._job_models.storage.definition import StoredDefinition
from ..._job_models.storage.stored_status import RUN, StoredStatus
from ..job_state import run_outcome, with_runs
from .job_view import JobView
from .runtime_differences import runtime_patch, with_carried_fields
from .statuses import rolled_out_status


@dataclass(frozen=True)
class Goal:
    """The intended state of a job.

    Attributes:
        job: as its user means it; its release of defaults counts if its runtime objects are written.
        is_run_changed: whether a one-off job runs again, if the status of its definition does not say with
            which fields it has run.
        release: the number of the release of defaults.
    """

    job: CoreJob
    is_run_changed: bool = False
    release: int = CURRENT_DEFAULTS


@dataclass(frozen=True)
class WriteDefinition:
    """Create a definition, or replace one under its resourceVersion.

    Attributes:
        job: its intended content.
        existing: the current definition; None to create it.
        replaces: the type of the definition that it replaces, if any.
        is_adoption: whether it is created from runtime objects.
    """

    job: CoreJob
    existing: StoredDefinition | None = None
    replaces: JobType | None = None
    is_adoption: bool = False


@dataclass(frozen=True)
class DeleteDefinition:
    """Delete a definition."""

    definition: StoredDefinition


@dataclass(frozen=True)
class WriteRuntime:
    """Create a runtime object, or change it in place.

    Attributes:
        type: of the job.
        desired: the intended object.
        live: the object in the cluster; None to create it.
        patch: the merge patch that changes it.
        replacement: what to create after a deletion, if it can't be changed in place; None to leave it.
    """

    type: JobType
    desired: Object
    live: Object | None = None
    patch: Object | None = None
    replacement: Object | None = None


@dataclass(frozen=True)
class DeleteRuntime:
    """Delete a runtime object, and wait until it is gone."""

    type: JobType
    live: Object


@dataclass(frozen=True)
class WriteDefinitionStatus:
    """Write the status of a definition."""

    definition: StoredDefinition
    status: StoredStatus


Step: TypeAlias = WriteDefinition | DeleteDefinition | WriteRuntime | DeleteRuntime | WriteDefinitionStatus


def refusal(view: JobView, desired_type: JobType | None = None) -> str:
    """The reason why a job may not be changed, in a sentence; empty if it may.

    Args:
        view: its current state.
        desired_type: its intended type; None to delete it.
    """
    if view.unreadable:
        return f"{view.unreadable}. Correct it, or delete it, and run this again."
    for definition in (view.definition, view.replaced):
        if definition and not definition.is_writable:
            return (
                f"Its definition has storage version {definition.storage_version}, which a newer version of"
                " this collection has written. Change it with that version."
            )
    if view.surplus and desired_type is not None:
        counting = ref_of(view.definition.obj) if view.definition else "another one"
        return (
            f"{', '.join(map(str, view.surplus))} has the same name, and only {counting} counts."
            " Delete one of them, and run this again."
        )
    defined = view.definition or view.adoptable
    if desired_type is None:
        types = {defined.type} if defined else view.excluded.keys() - view.runtime.keys()
        return next((_exclusion(one) for type_, one in view.excluded.items() if type_ in types), "")
    for type_ in (desired_type, *((defined.type,) if defined else ())):
        if type_ in view.excluded:
            return _exclusion(view.excluded[type_])
    if view.adoption_problem and not defined:
        return f"It has no definition, and none can be made from what runs: {view.adoption_problem}"
    own = {defined.type} if defined else {desired_type}
    own |= {view.definition.replaces} if view.definition and view.definition.replaces else set()
    for type_, runtime in view.runtime.items():
        if type_ not in own and not runtime.is_deleting and (type_ is desired_type or not defined):
            return f"A {type_} job without a definition has the same name. Delete or rename it."
    return ""


def _exclusion(reason: str) -> str:
    return f"It is no job of the store: {reason}"


def next_step(view: JobView, goal: Goal) -> Step | None:
    """The next step to the intended state of a job; None if it is reached."""
    job, definition = goal.job, view.definition
    if definition is None:
        if view.adoptable:
            return WriteDefinition(view.adoptable, is_adoption=True)
        return WriteDefinition(job)
    if definition.type is not job.type:
        return _step_back(view, definition) or WriteDefinition(job, replaces=definition.type)
    if not is_same_json(given_fields(definition.job), given_fields(job)):
        return _first_status(view, definition) or WriteDefinition(job, definition, definition.replaces)
    return (
        ended_run_step(view)
        or _runtime_step(view, definition, goal)
        or _end_of_type_change(view, definition)
        or _status_step(view, definition, goal)
    )


def is_preparation(view: JobView, step: Step) -> bool:
    """Whether a step comes before the change itself: an adoption, a status, or the end of another change."""
    if isinstance(step, WriteDefinition):
        return step.is_adoption or (step.existing is not None and step.job == step.existing.job)
    return isinstance(step, WriteDefinitionStatus) or bool(view.definition and view.definition.replaces)


def next_step_to_absence(view: JobView) -> Step | None:
    """The next step until nothing of a job is left; None if nothing is.

    The runtime objects are deleted first, because without their definition they could be taken for an unknown
    job.
    """
    definition = view.definition
    own = {definition.type, definition.replaces} if definition else set(JobType)
    for type_ in view.runtime:
        if type_ in own:
            return _deletion(view, type_)
    for one in (view.replaced, definition):
        if one:
            return DeleteDefinition(one)
    return None


def orphan_step(view: JobView, created: Collection[str]) -> DeleteRuntime | None:
    """The deletion of objects created by a change for a definition that others replaced or deleted meanwhile.

    Args:
        view: the current state of the job.
        created: the uids of the runtime objects that the change has created.
    """
    own = {view.definition.type, view.definition.replaces} if view.definition else set()
    orphaned_types = (type_ for type_, one in view.runtime.items() if type_ not in own and one.uid in created)
    type_ = next(orphaned_types, None)
    return _deletion(view, type_) if type_ else None


def ended_run_step(view: JobView) -> Step | None:
    """Record how a run ended whose Job was deleted, before another one begins."""
    definition = view.definition
    if definition is None or view.ended is None or view.vanished or definition.type in view.runtime:
        return None
    return WriteDefinitionStatus(definition, with_runs(definition.status, None, view.ended))


def _first_status(view: JobView, definition: StoredDefinition) -> Step | None:
    """The status of a definition that has none and equals its runtime objects, before its fields change."""
    if definition.status.objects or definition.type not in view.runtime:
        return None
    step = next_step(view, Goal(definition.job))
    return step if isinstance(step, WriteDefinitionStatus) else None


def rolled_out_release(view: JobView) -> int:
    """The number of the release of defaults by which the runtime objects of a definition were built."""
    return view.definition.release if view.definition else CURRENT_DEFAULTS


def _step_back(view: JobView, definition: StoredDefinition) -> Step | None:
    """The next step that undoes or completes another change of type that was interrupted."""
    if definition.replaces is None:
        return None
    if view.replaced is None:
        return _end_of_type_change(view, definition)
    if definition.type in view.runtime:
        return _deletion(view, definition.type)
    return DeleteDefinition(definition)


def _end_of_type_change(view: JobView, definition: StoredDefinition) -> Step | None:
    if definition.replaces is None:
        return None
    if view.replaced is None:
        # The runtime objects were deleted before it. Objects that exist now belong to others.
        return WriteDefinition(definition.job, definition, None)
    if definition.replaces in view.runtime:
        return _deletion(view, definition.replaces)
    return DeleteDefinition(view.replaced)


def _deletion(view: JobView, type_: JobType) -> DeleteRuntime:
    """The deletion of a runtime object: a Service before the object that it belongs to."""
    runtime = view.runtime[type_]
    return DeleteRuntime(type_, runtime.service or runtime.main)


def _runtime_step(view: JobView, definition: StoredDefinition, goal: Goal) -> Step | None:
    type_, live = definition.type, view.live(definition.type)
    main_kind = KINDS_OF[type_][0][1]
    runtime = view.runtime.get(type_)
    desired = desired_objects(view, definition, goal)
    if runtime and runtime.is_deleting:
        return DeleteRuntime(type_, runtime.main)
    is_run_due = type_ is not JobType.ONE_OFF or _is_run_due(view, definition, goal)
    for obj in desired:
        existing = live.get(obj["kind"])
        if existing is None:
            if obj["kind"] != main_kind or is_run_due:
                return WriteRuntime(type_, obj)
            continue
        target = obj if is_run_due or obj["kind"] != main_kind else _with_run(obj, existing)
        patch = runtime_patch(obj, existing, view.known(obj["kind"]), target)
        if patch and runtime and is_run_due and run_outcome(runtime):
            # It has ended; a patch would change what no longer runs.
            return DeleteRuntime(type_, existing)
        if patch:
            replacement = with_carried_fields(obj, existing) if is_run_due else None
            return WriteRuntime(type_, obj, existing, patch, replacement)
    kinds = {obj["kind"] for obj in desired}
    for kind, obj in live.items():
        if kind not in kinds:
            return DeleteRuntime(type_, obj)
    return None


def _is_run_due(view: JobView, definition: StoredDefinition, goal: Goal) -> bool:
    """Whether a one-off job runs, or runs again if it already has."""
    if view.vanished:
        return False
    if not definition.status.run:
        return True
    known = view.known(RUN)
    if known is None:
        return goal.is_run_changed
    return known.digest != run_identity(definition.job, definition.release)


def desired_objects(view: JobView, definition: StoredDefinition, goal: Goal) -> list[Object]:
    """The objects that run a job. A one-off job that has run retains the defaults with which it ran."""
    return runtime_objects(definition.job, _release(view, definition, goal))


def _release(view: JobView, definition: StoredDefinition, goal: Goal) -> int:
    has_run = definition.type is JobType.ONE_OFF and not _is_run_due(view, definition, goal)
    return definition.release if has_run and not view.vanished else goal.release


def _with_run(desired: Object, live: Object) -> Object:
    """An intended Job, with the fields that can't change after a Job has run."""
    fixed = {name: live["spec"][name] for name in ("template", "selector") if name in live["spec"]}
    return {**desired, "spec": {**desired["spec"], **fixed}}


def _status_step(view: JobView, definition: StoredDefinition, goal: Goal) -> Step | None:
    desired = desired_objects(view, definition, goal)
    status = rolled_out_status(view, desired, _release(view, definition, goal))
    return WriteDefinitionStatus(definition, status) if status != definition.status else None
