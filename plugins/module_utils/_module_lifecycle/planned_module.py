# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for one module: its decision, and what the run changes of its objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._cluster.cluster import Object, ref_of
from .._cluster.fields.written_by import with_writer
from .._components.component_plan import ComponentPlan
from .._components.desired_component import DesiredComponent
from .._klm.klm_entry import entry_change
from .._klm.klm_steps import KlmStep, final_entry, next_klm_step
from .._module_catalog.module_version import ModuleVersion
from .._objects.apply.change import ObjectChange
from .._objects.inventory.inventory import Inventory
from .decision import ADOPT, DELETE, ModuleDecision
from .module_facts import ModuleOutlook
from .module_request import ModuleRequest
from .running_version import main_workload


class ManagerScaling(NamedTuple):
    """A manager that was scaled to zero, and the merge patch that scales it back."""

    manager: Object
    patch: Mapping[str, Any]


@dataclass(frozen=True)
class PlannedModule:
    """The plan for one module.

    Attributes:
        outlook: the facts about it.
        decision: what happens to it.
        request: the user's request for it; None if the user's list lacks it.
        version: of the manifest that its objects are compared with; None if it is not known.
        component: the desired objects for the comparison; None if they are left unchanged.
        before: the inventory for the comparison; None if nothing is known of them.
        plan: the changes of its objects; None if they are left unchanged.
        wide: its definitions that lose a version, once no object is stored in it any more.
        configuration: the default configuration that is still to be created, complete; mostly None.
        declined_configuration: the configuration that is never created, because the user has instances;
            mostly None.
        scaling: the patch that scales its manager back from zero; mostly None.
        removals: the deletions of objects that it drops, its old manager included.
        approved: uids of objects that others have written, and that the manifest of the running version has:
            an adopted module's. Only these may be deleted although this collection has not written them.
        problem: why nothing of it may be written, in a sentence; mostly empty.
    """

    outlook: ModuleOutlook
    decision: ModuleDecision
    request: ModuleRequest | None = None
    version: ModuleVersion | None = None
    component: DesiredComponent | None = None
    before: Inventory | None = None
    plan: ComponentPlan | None = None
    wide: tuple[Object, ...] = ()
    configuration: Object | None = None
    declined_configuration: Object | None = None
    scaling: ManagerScaling | None = None
    removals: tuple[ObjectChange, ...] = ()
    approved: frozenset[str] = frozenset()
    problem: str = ""

    @property
    def name(self) -> str:
        return self.outlook.facts.name

    @property
    def step(self) -> KlmStep | None:
        """The first step with a module of Kyma's lifecycle manager (KLM); None for all others."""
        klm, goal = self.outlook.klm, self.decision.goal
        return next_klm_step(goal, klm.module) if klm is not None and goal is not None else None

    @property
    def changes(self) -> tuple[ObjectChange, ...]:
        """The changes of its objects, what it drops, and the creation of its default configuration.

        Of a module of KLM it is the change of its entry.
        """
        klm, goal = self.outlook.klm, self.decision.goal
        if klm is not None and goal is not None:
            change = entry_change(klm.module, final_entry(goal, klm.module))
            return (change,) if change else ()
        changes = (*(self.plan.changes if self.plan else ()), *self.removals)
        created = self.configuration
        return (*changes, ObjectChange(ref_of(created), None, with_writer(created))) if created else changes

    @property
    def changes_objects(self) -> bool:
        """Whether the run applies its objects."""
        if self.plan is None or self.problem:
            return False
        if self.scaling is not None or self.removals:
            return True
        if self.decision.action in (ADOPT, DELETE):
            return bool(self.plan.changes)
        return self.plan.takes_part

    @property
    def desired_manager(self) -> Object | None:
        """The operator in the manifest: that of the template, else the main workload; None without one."""
        objects = self.component.objects if self.component else ()
        named = self.version.manager if self.version else None
        if named is None:
            return main_workload(objects)
        return next((obj for obj in objects if ref_of(obj) == named.ref), None)

    @property
    def is_adopted_as_it_is(self) -> bool:
        """Whether it is adopted without a write to any object."""
        is_compared = self.plan is not None and not self.problem
        return self.decision.action == ADOPT and is_compared and not self.changes_objects
