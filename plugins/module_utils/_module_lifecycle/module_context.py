# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the work on modules shares, in a run and in the rehearsal of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .._cluster.cluster import Object
from .._components.component_removal import ComponentRemoval, remove_components
from .._components.migrations.migration_runner import MigrationRunner
from .._components.work_context import WorkContext
from .._objects.health.wait import WaitResult, wait_until_gone
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.prune.contained_objects import ContainedObjects
from .._objects.prune.removal import Terms
from .._runs.wait_progress import with_reports
from .module_facts import ModuleOutlook
from .module_request import ModulesRequest
from .running_version import RunningVersion


@dataclass(frozen=True, kw_only=True)
class ModuleContext(WorkContext):
    """What the work on modules shares, whatever happens to them.

    Attributes:
        request: the user's request.
        migrations: those of the run.
        others: the objects of owners of other kinds.
        running_version: reads which version of a module runs now; None in a rehearsal.
    """

    request: ModulesRequest
    migrations: MigrationRunner
    others: Sequence[InventoryEntry] = ()
    running_version: Callable[[ModuleOutlook], RunningVersion] | None = None

    def entries_of_others(self, module: str) -> list[InventoryEntry]:
        """The objects of all owners but one module."""
        others = (one for name, one in self.inventories.items() if name != module)
        return [*self.others, *(entry for one in others for entry in one.entries)]

    def remove(
        self,
        module: str,
        removal: ComponentRemoval,
        state: str,
        approved: frozenset[str],
        inventory: Inventory | None,
        after_round: Callable[[str], None] = lambda _name: None,
    ) -> None:
        """Remove objects of a module; the result is in the removal.

        Args:
            module: its name.
            removal: of the objects.
            state: the state in the progress.
            approved: uids of objects that may be deleted although this collection has not written them.
            inventory: to delete their entries from; None for no record, as in a rehearsal.
            after_round: see :func:`~.remove_components`.
        """
        remove_components(
            {module: removal},
            Terms(
                self.cluster,
                cancelled=self.out_of_grace,
                retain=ContainedObjects(self.cluster).retain,
                watcher=self.watcher,
                approved=approved,
            ),
            inventories={module: inventory} if inventory and not self.is_rehearsal else {},
            timeout=self.timeout,
            progress=self.progress,
            state=state,
            after_round=after_round,
        )

    def wait_until_gone(
        self, module: str, state: str, objects: Sequence[Object], deadline: float
    ) -> WaitResult:
        """Wait until some objects are gone, see :func:`~.wait.wait_until_gone`.

        Args:
            module: the name of the module that waits.
            state: the state in the progress.
            objects: the metadata of the objects.
            deadline: when to give up, on the clock of ``time.monotonic()``.
        """
        terms = Terms(self.cluster, deadline, self.out_of_grace, watcher=self.watcher)
        terms = with_reports(terms, self.progress, module, state, self.timeout)
        return wait_until_gone(terms, objects)
