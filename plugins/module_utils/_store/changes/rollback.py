# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rolls a change back that the API server refuses: to the state of the job before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..._cluster.cluster import Object, Ref, ref_of
from ..._errors import LifecycleError
from ..._job_models.core_job import JobType
from ..._job_models.runtime.normal_form import normal_form
from ..._job_models.runtime.patches import merge_patch_ignoring_nulls
from ..job_state import run_outcome
from .change_steps import (
    DeleteDefinition,
    DeleteRuntime,
    Goal,
    Step,
    WriteDefinition,
    WriteDefinitionStatus,
    WriteRuntime,
    next_step,
    rolled_out_release,
)
from .job_view import JobView
from .statuses import restored_status
from .step_writer import StepWriter

MOST_STEPS = 20
"""More steps than a way back has: each object of two types, and two definitions, deleted and created."""


def roll_back(
    writer: StepWriter, base: JobView, ours: JobView, view: JobView, created: Collection[str]
) -> Iterator[JobView]:
    """Write the steps back; the state of the job after each of them.

    Args:
        writer: writes the steps.
        base: the state of the job before the change.
        ours: its state when the change ended.
        view: its current state.
        created: the uids of the runtime objects that the change has created.

    Raises:
        StaleView: others have changed an object meanwhile.
        LifecycleError: others have changed the job since, a step fails, or one changes nothing.
    """
    for now in _return_to_type(writer, base, view):
        yield (view := now)
    for _step in range(MOST_STEPS):
        step = next_step_back(base, view, created)
        if step is None:
            break
        if others := changed_by_others(base, ours, view):
            listed = ", ".join(map(str, others))
            raise LifecycleError(f"others have changed {listed} meanwhile. Look at it, and run this again")
        yield (view := writer.write(view, step))
    else:
        raise LifecycleError(f"it is not as before after {MOST_STEPS} steps. Look at it, and run this again")
    if base.definition and not view.definition:
        raise LifecycleError(
            f"others have deleted {ref_of(base.definition.obj)} meanwhile. Look at it, and run this again"
        )
    yield _with_status(writer, base, view)


def _return_to_type(writer: StepWriter, base: JobView, view: JobView) -> Iterator[JobView]:
    """Undo a change of type that has ended: by another one, which goes on if it is interrupted."""
    old, now = base.definition, view.definition
    if old is None or now is None or now.type is old.type or view.replaced or now.replaces:
        return
    yield (view := writer.write(view, WriteDefinition(old.job, None, now.type)))
    runtime = base.runtime.get(old.type)
    if runtime is None or run_outcome(runtime):
        # It does not run again.
        yield (view := _with_status(writer, base, view))
    goal = Goal(old.job, release=rolled_out_release(base))
    while step := next_step(view, goal):
        yield (view := writer.write(view, step))


def _with_status(writer: StepWriter, base: JobView, view: JobView) -> JobView:
    """The state of the job after the status of its definition is as before."""
    old, now = base.definition, view.definition
    if old is None or now is None:
        return view
    status = restored_status(old.status, now.status)
    return view if status == now.status else writer.write(view, WriteDefinitionStatus(now, status))


def next_step_back(before: JobView, view: JobView, created: Collection[str]) -> Step | None:
    """The next step back; None if all is as before. The definition is restored after the runtime objects."""
    return _runtime_step(before, view, created) or _definition_step(before, view)


def changed_by_others(before: JobView, ours: JobView, view: JobView) -> list[Ref]:
    """Objects that a rollback must not touch: they are neither as before nor as our change left them.

    Args:
        before: the state of the job before the change.
        ours: its state when the change ended.
        view: its current state.
    """
    changed = [
        ref_of(obj)
        for type_ in view.runtime
        for kind, obj in view.live(type_).items()
        if normal_form(obj) not in _forms(kind, type_, before, ours)
    ]
    definition = view.definition
    if definition and _meaning(view) not in (_meaning(before), _meaning(ours)):
        changed.append(ref_of(definition.obj))
    return changed


def _forms(kind: str, type_: JobType, *views: JobView) -> list[Object]:
    return [normal_form(one.live(type_)[kind]) for one in views if kind in one.live(type_)]


def _meaning(view: JobView) -> object:
    definition = view.definition
    return (definition.type, definition.job, definition.replaces) if definition else None


def _runtime_step(before: JobView, view: JobView, created: Collection[str]) -> Step | None:
    for type_ in view.runtime.keys() | before.runtime.keys():
        old, now = before.live(type_), view.live(type_)
        for kind, obj in now.items():
            if kind not in old:
                return DeleteRuntime(type_, obj)
        for kind, obj in old.items():
            live = now.get(kind)
            desired = normal_form(obj)
            if live is None and not run_outcome(before.runtime[type_]):
                # The Job of a run that has ended would run again.
                return WriteRuntime(type_, desired)
            if live is not None and live["metadata"].get("uid") == obj["metadata"].get("uid"):
                patch = merge_patch_ignoring_nulls(normal_form(live), desired)
                if patch:
                    return WriteRuntime(type_, desired, live, patch)
            elif live is not None and live["metadata"].get("uid") in created:
                # It took the place of the one before.
                return DeleteRuntime(type_, live)
    return None


def _definition_step(before: JobView, view: JobView) -> Step | None:
    old, now = before.definition, view.definition
    if now is None or (old and old.type is now.type and (old.job, old.replaces) == (now.job, now.replaces)):
        return None
    if old is None or old.type is not now.type:
        return DeleteDefinition(now)
    return WriteDefinition(old.job, now, old.replaces)
