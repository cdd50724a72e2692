# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps back to the state of a job before a change that the API server refuses: pure."""

from __future__ import annotations

from ..._cluster.cluster import Object, Ref, ref_of
from ..._job_models.core_job import JobType
from ..._job_models.runtime.normal_form import normal_form
from ..._job_models.runtime.patches import merge_patch
from ..job_state import run_outcome
from .job_view import JobView
from .steps import DeleteDefinition, DeleteRuntime, Step, WriteDefinition, WriteRuntime


def next_step_back(before: JobView, view: JobView) -> Step | None:
    """The next step back; None if all is as before. The definition is restored after the runtime objects."""
    return _runtime_step(before, view) or _definition_step(before, view)


def changed_by_others(before: JobView, ours: JobView, view: JobView) -> list[Ref]:
    """Objects that a rollback must not touch: they are neither as before nor as our change left them.

    Args:
        before: the state of the job before the change.
        ours: its state when the change ended.
        view: its current state.
    """
    found = [
        ref_of(obj)
        for type_ in view.runtime
        for kind, obj in view.live(type_).items()
        if normal_form(obj) not in _forms(kind, type_, before, ours)
    ]
    definition = view.definition
    if definition and _meaning(view) not in (_meaning(before), _meaning(ours)):
        found.append(ref_of(definition.obj))
    return found


def _forms(kind: str, type_: JobType, *views: JobView) -> list[Object]:
    return [normal_form(one.live(type_)[kind]) for one in views if kind in one.live(type_)]


def _meaning(view: JobView) -> object:
    one = view.definition
    return (one.type, one.job, one.replaces) if one else None


def _runtime_step(before: JobView, view: JobView) -> Step | None:
    for type_ in view.runtime.keys() | before.runtime.keys():
        old, now = before.live(type_), view.live(type_)
        for kind, obj in now.items():
            if kind not in old:
                return DeleteRuntime(type_, obj)
        for kind, obj in old.items():
            live = now.get(kind)
            meant = normal_form(obj)
            if live is None and not run_outcome(before.runtime[type_]):
                # The Job of a run that has ended would run again.
                return WriteRuntime(type_, meant)
            if live is not None and live["metadata"].get("uid") == obj["metadata"].get("uid"):
                patch = merge_patch(normal_form(live), meant)
                if patch:
                    return WriteRuntime(type_, meant, live, patch)
    return None


def _definition_step(before: JobView, view: JobView) -> Step | None:
    old, now = before.definition, view.definition
    if now is None or (old and old.type is now.type and (old.job, old.replaces) == (now.job, now.replaces)):
        return None
    if old is None or old.type is not now.type:
        return DeleteDefinition(now)
    return WriteDefinition(old.job, now, old.replaces)
