# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan in words, for people. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..._components.component_plan import UNVERIFIED, ComponentPlan, MigrationPlan
from ..._objects.apply.change import ObjectChange
from ..._objects.ownership.findings import describe_findings
from ..._runs.hop_lines import planned_changes
from ..._text import counted, first_of
from .execution_order import ComponentStep, MigrationStep, steps_in_order
from .release_plan import Plan

MOST_LOSSES = 10
"""How many values that objects of a component lose have a line. The others are counted."""
_ACTIONS = ("create", "change", "replace", "delete")


def summary_of(plan: Plan, *, with_evidence: bool = False, number: int = 0) -> list[str]:
    """A plan for people, in the order of execution, with the sums at its end.

    Args:
        plan: to show. Unchanged parts have no line.
        with_evidence: whether each migration that is not needed has a line too, with the reason.
        number: of the hop, if it is a later one of several.
    """
    if not plan.is_needed:
        return _nothing_to_do(plan, with_evidence=with_evidence)
    lines = [f"{_title(plan)}:", *(f"  abandons  {what}" for what in plan.stays)]
    width = _width(plan)
    for step in steps_in_order(plan):
        lines += (
            _component_lines(step, plan.version, width)
            if isinstance(step, ComponentStep)
            else _migration_lines(step.migration, with_evidence=with_evidence)
        )
    if plan.unsettled and not any(component.takes_part for component in plan.components):
        lines.append("  settles   what an earlier run has left open")
    unchanged = sum(1 for one in plan.components if one.action == "unchanged" and not one.findings)
    if unchanged:
        lines.append(f"  unchanged {counted(unchanged, 'component')}{_health(plan)}")
    idle = sum(1 for migration in plan.migrations if migration.verdict == "not_needed")
    if idle and not with_evidence:
        verb = "is" if idle == 1 else "are"
        lines.append(f"  skip      {counted(idle, 'migration')} that {verb} not needed; --diff shows why")
    lines.append(_sums(plan, number or (1 if plan.later else 0)))
    for number, later in enumerate(plan.later, 2):
        title, *rest = summary_of(later, with_evidence=with_evidence, number=number)
        note = f"hop {number} of {len(plan.later) + 1}, provisional: planned again when it is its turn"
        lines += [f"{title.removesuffix(':')}, {note}:", *rest]
        lines += [f"  blocked?  {blocker}" for blocker in later.blockers]
    return lines


def _title(plan: Plan) -> str:
    moves = plan.previous not in ("", plan.version) and not plan.alone
    way = f"{plan.previous} → {plan.version}" if moves else plan.version
    only = f", {', '.join(plan.alone)} alone" if plan.alone else ""
    hop = f", hop 1 of {len(plan.later) + 1}, exact" if plan.later else ""
    return f"Kyma {way}{_profile(plan)}{only}{hop}"


def _profile(plan: Plan) -> str:
    """The profile of a plan, in parentheses: the user sees what changes, and what was not requested."""
    if plan.profile_change:
        return f" (profile {plan.profile_change})"
    is_deployed = plan.profile == plan.installation.profile and not plan.is_profile_requested
    return f" ({'deployed profile ' if is_deployed else ''}{plan.profile})" if plan.profile else ""


def _nothing_to_do(plan: Plan, *, with_evidence: bool) -> list[str]:
    objects = counted(sum(component.objects for component in plan.components), "object")
    lines = [f"Kyma {plan.version}{_profile(plan)}: nothing to do, {objects} as deployed{_health(plan)}"]
    for component in plan.components:
        lines += _headed(component, _width(plan))
    for migration in plan.migrations:
        lines += _migration_lines(migration, with_evidence=with_evidence)
    return lines


def _health(plan: Plan) -> str:
    problems = plan.health.problems
    return f", {counted(len(problems), 'object')} not healthy" if problems else ""


def _width(plan: Plan) -> int:
    return max((len(component.label) for component in plan.components), default=0)


def _migration_lines(migration: MigrationPlan, *, with_evidence: bool) -> list[str]:
    named = f"{migration.id} ({migration.phase})"
    notes = [f"              note: {note}" for note in migration.notes]
    if migration.verdict == "needed":
        return [f"  migrate   {named}: {migration.evidence}; {_count_words(migration.writes)}", *notes]
    if migration.verdict == UNVERIFIED:
        return [f"  check     {named}: {migration.evidence}", *notes]
    # Side by side with a first deployment, many a verdict is provisional that nothing will change.
    is_only_provisional = bool(migration.depends_on) and len(notes) == 1
    if migration.verdict == "not_needed" and (with_evidence or (notes and not is_only_provisional)):
        return [f"  skip      {named}: not needed, {migration.evidence}", *notes]
    return []


def _component_lines(step: ComponentStep, version: str, width: int) -> list[str]:
    component = step.component
    if step.action == "unchanged":
        return _headed(component, width)
    if step.action == "orphaned":
        what = f"not in {version}; it stays, with {counted(component.objects, 'object')}"
    else:
        what = _count_words(step.changes)
    lines = [f"  {step.action:9} {component.label:{width}}  {what}"]
    if not step.is_main:
        return lines
    lines += [f"              left out: Helm hook {hook}" for hook in component.hooks]
    lines += [f"              note: {warning}" for warning in component.warnings]
    losses = first_of([f"loss: {loss}" for loss in component.losses], MOST_LOSSES, "losses")
    return [*lines, *_drift_lines(component), *(f"              {loss}" for loss in losses)]


def _sums(plan: Plan, number: int) -> str:
    """How many objects a plan creates, changes and deletes, and how many migrations it runs.

    An object counts once for each action, no matter whether a component, a migration, or both do it.

    Args:
        plan: that is shown.
        number: of the hop, if there are several; otherwise 0.
    """
    title = f"Plan of hop {number}" if number else "Plan"
    return f"{title}: {planned_changes(count_changes(plan))}"


def count_changes(plan: Plan) -> dict[str, int]:
    """How many objects a plan would ``create``, ``change``, ``replace`` and ``delete``.

    And how many ``migrations`` it would run.
    """
    steps = list(steps_in_order(plan))
    refs = {(change.action, change.ref) for step in steps for change in step.changes}
    counts = {action: sum(1 for one, _ref in refs if one == action) for action in _ACTIONS}
    needed = sum(isinstance(s, MigrationStep) and s.migration.verdict == "needed" for s in steps)
    return {**counts, "migrations": needed}


def blocked_message(plan: Plan) -> str:
    """Why a plan can't be applied, for the message of a failed task."""
    reasons = counted(len(plan.blockers), "reason")
    listed = "\n".join(f"- {blocker}" for blocker in plan.blockers)
    return f"Kyma {plan.version} can't be deployed now, for {reasons}:\n{listed}"


def _count_words(changes: Sequence[ObjectChange]) -> str:
    """``14 to create, 2 to change``, or ``no object changes``."""
    actions = [change.action for change in changes]
    counts = [(action, actions.count(action)) for action in _ACTIONS]
    return ", ".join(f"{count} to {action}" for action, count in counts if count) or "no object changes"


def _headed(component: ComponentPlan, width: int) -> list[str]:
    """The findings of a component with nothing to do, under its heading; no lines if there are none."""
    if not component.findings:
        return []
    return [f"  {component.action:9} {component.label:{width}}".rstrip(), *_drift_lines(component)]


def _drift_lines(component: ComponentPlan) -> list[str]:
    if not component.findings:
        return []

    return [f"              drift: {sentence}" for sentence in describe_findings(component.findings)]
