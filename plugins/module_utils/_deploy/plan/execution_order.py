# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a plan in the order of the run. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..._components.component_plan import ComponentPlan, MigrationPlan
from ..._objects.apply.change import ObjectChange
from ...migration import GLOBAL
from .release_plan import Plan

DELETE = "delete"
_ONLY_PRUNED = ("prune", DELETE)
"""Actions of a component that is only pruned."""


@dataclass(frozen=True)
class MigrationStep:
    """A migration at its turn."""

    migration: MigrationPlan

    @property
    def changes(self) -> tuple[ObjectChange, ...]:
        """What it would write."""
        return self.migration.writes


@dataclass(frozen=True)
class ComponentStep:
    """The work on one component at its turn.

    Attributes:
        component: the component.
        action: the component's own, or ``prune``.
        changes: the changes of its objects in this step.
        is_main: whether this is the component's one step, or the first of two.
    """

    component: ComponentPlan
    action: str
    changes: tuple[ObjectChange, ...]
    is_main: bool = True


def steps_in_order(plan: Plan) -> Iterator[MigrationStep | ComponentStep]:
    """The global migrations before, the components by their stages, the pruning, the global migrations after.

    A component is between its own migrations. Components without a stage follow the others.
    """
    names = dict.fromkeys(name for stage in plan.stages for name in stage.components)
    placed = {name: number for number, name in enumerate(names)}
    components = sorted(plan.components, key=lambda one: placed.get(one.name, len(placed)))
    # A plan that is blocked, or for components alone, may ask migrations of components that it does not have.
    elsewhere = {one.component for one in plan.migrations}.difference(
        {GLOBAL}, (one.name for one in components)
    )
    yield from _migrations(plan, GLOBAL, "pre")
    for component in components:
        yield from _migrations(plan, component.name, "pre")
        if component.action not in _ONLY_PRUNED:
            yield ComponentStep(component, component.action, _changes(plan, component, is_pruned=False))
        yield from _migrations(plan, component.name, "post")
    for name in sorted(elsewhere):
        yield from _migrations(plan, name, "pre")
        yield from _migrations(plan, name, "post")
    for component in components:
        if component.action in _ONLY_PRUNED:
            yield ComponentStep(component, component.action, component.changes)
        elif pruned := _changes(plan, component, is_pruned=True):
            yield ComponentStep(component, "prune", pruned, is_main=False)
    yield from _migrations(plan, GLOBAL, "post")


def _migrations(plan: Plan, component: str, phase: str) -> Iterator[MigrationStep]:
    for migration in plan.migrations:
        if (migration.component, migration.phase) == (component, phase):
            yield MigrationStep(migration)


def _changes(plan: Plan, component: ComponentPlan, *, is_pruned: bool) -> tuple[ObjectChange, ...]:
    """The changes by a component's deployment, or by the pruning of it once everything is healthy."""
    has_pruning = component.name in plan.prune
    return tuple(one for one in component.changes if (has_pruning and one.action == DELETE) is is_pruned)
