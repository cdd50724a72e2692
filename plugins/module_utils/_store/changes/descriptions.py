# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The description of a change of a job: its steps in words, and the fields before and after. Pure."""

from __future__ import annotations

from ..._cluster.cluster import Object, ref_of
from ..._job_models.core_job import CoreJob
from ..._job_models.job_fields import given_fields, is_same_json
from ..._job_models.runtime.runtime_objects import hidden_fields
from .change_steps import DeleteDefinition, DeleteRuntime, Step, WriteDefinition, WriteRuntime
from .job_view import JobView


def step_note(step: Step, *, is_replaced: bool = False) -> str:
    """The effect of a step, in a clause.

    Args:
        step: that was written.
        is_replaced: whether its object was deleted and created again.
    """
    if isinstance(step, WriteDefinition):
        if step.existing:
            return "definition updated"
        return "definition created from what runs" if step.is_adoption else "definition created"
    if isinstance(step, DeleteDefinition):
        return f"{ref_of(step.definition.obj)} deleted"
    if isinstance(step, DeleteRuntime):
        return f"{ref_of(step.live)} deleted"
    if not isinstance(step, WriteRuntime):
        raise AssertionError
    return f"{ref_of(step.desired)} {'replaced' if is_replaced else 'updated' if step.live else 'created'}"


def fields_after(view: JobView) -> Object | None:
    """The type and the fields of a job by its definition; None without one."""
    return _described(view.definition.job) if view.definition else None


def fields_before(view: JobView) -> Object | None:
    """The type and the fields of a job from its definition, or from its runtime objects to be adopted."""
    return _described(view.adoptable) if view.adoptable and not view.definition else fields_after(view)


def hidden_field_warnings(before: JobView, after: JobView) -> tuple[str, ...]:
    """Warnings about changed fields without an effect, because its mappings hide them."""
    job, old = after.definition.job if after.definition else None, fields_before(before) or {}
    if job is None:
        return ()
    changed = {name for name, value in given_fields(job).items() if not is_same_json(value, old.get(name))}
    return tuple(
        f"job {job.key}: the new {name} has no effect, as its fields in the form of Kubernetes set the same."
        for name in (hidden_fields(job) if changed else ())
        if name in changed
    )


def _described(job: CoreJob) -> Object:
    return {"type": str(job.type), **given_fields(job)}
