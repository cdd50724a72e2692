# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan in words, for people: pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..._components.component_plan import ComponentPlan
from ..._objects.apply.change import ObjectChange
from ..._objects.ownership.findings import describe_findings
from .release_plan import Plan


def summary_of(plan: Plan) -> list[str]:
    """A plan for people: a line for what matters, none for what doesn't."""
    moves = plan.previous not in ("", plan.version) and not plan.alone
    way = f"{plan.previous} → {plan.version}" if moves else plan.version
    profile = f" ({plan.profile})" if plan.profile else ""
    width = max((len(component.label) for component in plan.components), default=0)
    if not plan.needed:
        counted = sum(component.objects for component in plan.components)
        nothing = f"Kyma {plan.version}{profile}: nothing to do, {counted} objects as deployed"
        return [nothing, *(line for component in plan.components for line in _headed(component, width))]
    only = f", {', '.join(plan.alone)} alone" if plan.alone else ""
    hop = f", hop 1 of {len(plan.later) + 1}, exact" if plan.later else ""
    lines = [f"Kyma {way}{profile}{only}{hop}:"]
    lines += [f"  abandons  {what}" for what in plan.stays]
    for migration in plan.migrations:
        if migration.verdict == "needed":
            what = _count_words(migration.writes)
            lines.append(f"  migrate   {migration.id} ({migration.phase}): {migration.evidence}; {what}")
            lines += [f"              note: {note}" for note in migration.notes]
    for component in plan.components:
        if component.action == "unchanged":
            lines += _headed(component, width)
            continue
        if component.action == "orphaned":
            what = f"not in {plan.version}; stays as it is, with {component.objects} objects"
        else:
            what = _count_words(component.changes)
        lines.append(f"  {component.action:9} {component.label:{width}}  {what}")
        lines += [f"              left out: Helm hook {hook}" for hook in component.hooks]
        lines += [f"              note: {warning}" for warning in component.warnings]
        lines += _found(component)
    if plan.unsettled and not any(component.takes_part for component in plan.components):
        lines.append("  settles   what an earlier run has left open")
    unchanged = sum(1 for one in plan.components if one.action == "unchanged" and not one.findings)
    if unchanged:
        lines.append(f"  unchanged {unchanged} components")
    idle = sum(1 for migration in plan.migrations if migration.verdict == "not_needed")
    if idle:
        lines.append(f"  not needed  {idle} migrations, with their evidence in the result")
    for number, later in enumerate(plan.later, 2):
        title, *rest = summary_of(later)
        note = f"hop {number} of {len(plan.later) + 1}, provisional: planned again when it is its turn"
        lines += [f"{title.removesuffix(':')}, {note}:", *rest]
        lines += [f"  blocked?  {blocker}" for blocker in later.blockers]
    return lines


def blocked_message(plan: Plan) -> str:
    """Why a plan can't be carried out, for the message of a failed task."""
    count = len(plan.blockers)
    what = "1 reason" if count == 1 else f"{count} reasons"
    listed = "\n".join(f"- {blocker}" for blocker in plan.blockers)
    return f"Kyma {plan.version} can't be deployed now, for {what}; nothing was written:\n{listed}"


def _count_words(changes: Sequence[ObjectChange]) -> str:
    """``14 to create, 2 to change``, or ``no object changes``."""
    counts: dict[str, int] = {}
    for change in changes:
        counts[change.action] = counts.get(change.action, 0) + 1
    return ", ".join(f"{count} to {action}" for action, count in counts.items()) or "no object changes"


def _headed(component: ComponentPlan, width: int) -> list[str]:
    """What was found on a component with nothing to do, under its heading; no line where nothing was."""
    if not component.findings:
        return []
    return [f"  {component.action:9} {component.label:{width}}".rstrip(), *_found(component)]


def _found(component: ComponentPlan) -> list[str]:
    if not component.findings:
        return []

    return [f"              drift: {sentence}" for sentence in describe_findings(component.findings)]
