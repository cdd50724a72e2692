# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The context for the work on modules, for all actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .._cluster.cluster import Cluster
from .._components.migrations.migration_runner import MigrationRunner
from .._objects.health.watcher import Watcher
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.ownership.autoscaling import Target
from .._progress import Progress
from .module_facts import ModuleOutlook
from .module_request import ModulesRequest
from .running_version import RunningVersion


@dataclass(frozen=True)
class WorkTerms:
    """The context for the work on modules.

    Attributes:
        cluster: the live one.
        request: the user's request.
        migrations: those of the run.
        progress: where to report.
        watcher: shared by all waits for modules.
        cancelled: whether to stop.
        out_of_grace: whether the grace period of work in flight has ended.
        inventories: of modules, from the beginning of the run.
        others: the objects of owners of other kinds.
        autoscaled: the targets of autoscalers.
        running_version: reads which version of a module runs now; None in a rehearsal.
        is_rehearsal: whether the cluster is an overlay.
    """

    cluster: Cluster
    request: ModulesRequest
    migrations: MigrationRunner
    progress: Progress
    watcher: Watcher
    cancelled: Callable[[], bool]
    out_of_grace: Callable[[], bool]
    inventories: Mapping[str, Inventory]
    others: Sequence[InventoryEntry] = ()
    autoscaled: frozenset[Target] = frozenset()
    running_version: Callable[[ModuleOutlook], RunningVersion] | None = None
    is_rehearsal: bool = False

    def entries_of_others(self, module: str) -> list[InventoryEntry]:
        """The objects of all owners but one module."""
        others = (one for name, one in self.inventories.items() if name != module)
        return [*self.others, *(entry for one in others for entry in one.entries)]
