# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies the objects of one module: removes what must not exist before, and what it drops after.

A run does it on the cluster, and a plan on an overlay.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from .._cluster.cluster import Object, address_of, ref_of
from .._cluster.errors import Conflict, NotFound
from .._cluster.kinds import CRD_KIND
from .._components.component_crds import narrow_component
from .._components.component_removal import ComponentRemoval
from .._components.component_run import ComponentRun
from .._components.desired_component import DesiredComponent
from .._components.migrations.migration_runner import MigrationRunner
from .._components.work_context import PhaseMigrations
from .._errors import LifecycleError
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry, entries_without
from .._objects.inventory.owner_kinds import MODULE
from .._progress import Step
from .._runs.outcomes import FAILED, SUCCEEDED, ComponentOutcome, removal_outcome
from .._runs.records.inventories import read_inventories
from ..migration import Component, Phase
from .decision import INSTALL, UPGRADE
from .manager_health import version_problem
from .module_context import ModuleContext
from .module_removals import KEPT_KINDS, old_managers
from .planned_module import PlannedModule


@dataclass(frozen=True)
class ModuleDeployment:
    """The deployment of one module, on the cluster or rehearsed on an overlay.

    Args:
        context: of the work.
        planned: the plan for the module.
        component: the desired objects of the module.
        migrations: runs or rehearses its migrations.

    Attributes:
        problems: what a rehearsal could not remove.
    """

    context: ModuleContext
    planned: PlannedModule
    component: DesiredComponent
    migrations: PhaseMigrations
    problems: list[str] = field(default_factory=list)

    def deploy(self) -> ComponentOutcome:
        """Deploy the module with its migrations, and remove what it drops once it is healthy."""
        planned, component = self.planned, self.component
        name = component.name
        before = {} if planned.before is None else {name: planned.before}
        context = replace(
            self.context,
            migrate=self.migrate,
            inventories={**self.context.inventories, **before},
            version=planned.decision.version,
            digest=component.source,
            selection={name: planned.plan.selection} if planned.plan and not planned.scaling else {},
        )
        outcome = ComponentRun(context, component).run()
        if outcome.state == SUCCEEDED and outcome.wide:
            ended = narrow_component(context, component, outcome.wide)
            outcome = replace(outcome, state=ended.state, error=ended.error)
        if outcome.state == SUCCEEDED and (problem := self.version_problem()):
            outcome = replace(outcome, state=FAILED, error=problem)
        return self._prune(outcome) if outcome.state == SUCCEEDED else outcome

    def version_problem(self) -> str:
        """Why the operator does not run the applied version, in a sentence; empty if it does."""
        desired = self.planned.desired_manager
        live = self.context.cluster.get(*address_of(desired)) if desired else None
        return version_problem(desired, live) if desired and live else ""

    def _scale_back(self) -> None:
        """Scale a manager back that was scaled to zero; the apply that follows takes the field over."""
        scaling = self.planned.scaling
        if scaling is None:
            return
        ref = ref_of(scaling.manager)
        self.context.progress(self.planned.name, "scaling", f"{ref} was scaled to 0 replicas")
        api_version = scaling.manager["apiVersion"]
        with suppress(NotFound, Conflict):
            # Another manager of that name is applied from its manifest.
            self.context.cluster.patch(api_version, ref.kind, ref.name, ref.namespace or None, scaling.patch)

    def migrate(self, component: str, phase: Phase) -> Sequence[Mapping[str, Any]]:
        """Run the migrations of a phase; after those before, remove the objects in the way."""
        outcomes = self.migrations(component, phase)
        if phase == Phase.PRE and not any(one["fatal"] for one in outcomes) and not self.context.cancelled():
            self._wait_for_leaving_definitions()
            self._remove_old_managers()
            self._scale_back()
        return outcomes

    def _wait_for_leaving_definitions(self) -> None:
        """Wait for definitions that are being deleted: applied now, they would vanish with all of theirs."""
        if self.context.is_rehearsal:
            return
        cluster = self.context.cluster
        names = [ref.name for ref in self.component.refs if ref[:2] == CRD_KIND]
        definitions = (cluster.get("apiextensions.k8s.io/v1", CRD_KIND[1], name) for name in sorted(names))
        leaving = [crd for crd in definitions if crd and crd["metadata"].get("deletionTimestamp")]
        self._wait_until_gone(leaving, "it is still being deleted, and is applied only once it is gone")

    def _remove_old_managers(self) -> None:
        """Remove managers that the version no longer has, before the new one starts.

        Operators may elect no leader.
        """
        planned = self.planned
        old = old_managers(planned.outlook, planned.before, self.component.refs)
        if not old:
            return
        removal = ComponentRemoval(old)
        outcome = self._remove(removal, "removing the old manager")
        if outcome.state != SUCCEEDED or removal.removal.not_owned:
            problem = outcome.error or "; ".join(removal.removal.notes)
            if not self.context.is_rehearsal:
                raise LifecycleError(problem)
            self.problems.append(problem)

    def _prune(self, outcome: ComponentOutcome) -> ComponentOutcome:
        """Remove what the module has dropped, once all of its objects are healthy."""
        name, cluster = self.planned.name, self.context.cluster
        inventory = read_inventories(cluster, [name], owner_kind=MODULE).get(name)
        dropped = [entry for entry in (inventory.entries if inventory else ()) if entry.dropped]
        pruned = self.remove_dropped(dropped, inventory)
        return replace(
            outcome,
            state=pruned.state,
            error=pruned.error,
            deleted=pruned.deleted,
            warnings=(*outcome.warnings, *pruned.warnings),
        )

    def remove_dropped(
        self, dropped: Sequence[InventoryEntry], inventory: Inventory | None = None
    ) -> ComponentOutcome:
        """Remove what the module has no more, without what others have.

        Args:
            dropped: the entries.
            inventory: to delete the entries from; None for no record.
        """
        entries = entries_without(dropped, self.context.entries_of_others(self.planned.name))
        if not entries:
            return ComponentOutcome(self.planned.name, SUCCEEDED)
        removal = ComponentRemoval(entries, is_protected=lambda ref: ref[:2] in KEPT_KINDS)
        return self._remove(removal, "removing what it has no more", inventory)

    def _remove(
        self, removal: ComponentRemoval, detail: str, inventory: Inventory | None = None
    ) -> ComponentOutcome:
        context, name = self.context, self.planned.name
        context.progress(name, "pruning", detail, Step(limit=context.timeout, reason=detail))
        context.remove(name, removal, "pruning", self.planned.approved, inventory)
        return removal_outcome(name, removal.removal)

    def _wait_until_gone(self, objects: Sequence[Object], why: str) -> None:
        if not objects:
            return
        timeout = self.context.timeout
        deadline = time.monotonic() + timeout
        if not self.context.wait_until_gone(self.planned.name, "waiting", objects, deadline).is_healthy:
            refs = ", ".join(str(ref_of(obj)) for obj in objects)
            raise LifecycleError(
                f"{refs}: {why}, which it is not after {timeout:.0f} s. Find out which"
                " finalizers hold it, and whether the controller behind them runs"
            )


def module_migrations(runner: MigrationRunner, planned: PlannedModule) -> MigrationRunner:
    """The migrations, for a desired module."""
    action = {INSTALL: "new", UPGRADE: "upgraded"}.get(planned.decision.action, "unchanged")
    namespace = planned.before.namespace if planned.before else ""
    objects: Sequence[Object] = planned.component.objects if planned.component else ()
    component = Component(planned.name, namespace, objects, None, action)
    return runner.with_components({planned.name: component}, planned.decision.version, "")
