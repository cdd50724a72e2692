# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a deletion finds on a cluster, and in which order it deletes that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from ..._cluster.cluster import API_VERSION, Cluster, Object
from ..._cluster.errors import Forbidden
from ..._components.component_inventory import deployed_as
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.inventory_entry import InventoryEntry
from ..._objects.inventory.owner_kinds import COMPONENT
from ..._runs.records.cluster_hold import hold_problem
from ..._runs.records.hold_records import read_hold
from ..._runs.records.installation import Installation, read_installation
from ..._runs.records.inventories import read_owned
from ..._runs.records.record_schema import MODULES
from ..._runs.records.run_record import begin_of
from ..._runs.records.runs import read_runs
from .deletion_order import deletion_waves, objects_by_component

EVERYTHING = "*"
"""The name that means all components, and after them our own records."""


@dataclass(frozen=True)
class PlannedDeletion:
    """What a deletion finds on a cluster, and its order.

    Attributes:
        installation, inventories: the records of the release and its components.
        others: the inventories of owners that are no components.
        held: why nothing may be deleted now; mostly empty.
        order: in which the release has its components.
        waves: the components to delete, in the order of their deletion.
        objects: what is deleted with each.
    """

    installation: Installation
    inventories: Mapping[str, Inventory]
    others: Sequence[Inventory]
    held: str
    order: tuple[str, ...]
    waves: Sequence[tuple[str, ...]]
    objects: Mapping[str, Sequence[InventoryEntry]]

    @property
    def names(self) -> list[str]:
        """The components to delete, in the order of their deletion."""
        return [name for wave in self.waves for name in wave]

    def entries_of_others(self, name: str) -> list[InventoryEntry]:
        """The objects of all owners but one component."""
        owners = (*self.inventories.values(), *self.others)
        others = [one for one in owners if (one.owner, one.owner_kind) != (name, COMPONENT)]
        return [entry for inventory in others for entry in inventory.entries]

    def needs(self, other: str, name: str) -> bool:
        """Whether a component has to stay, because one that is deleted before it still exists."""
        known, inventory = self.inventories.get(other), self.inventories.get(name)
        needs = deployed_as(known).needs if known else (name,)
        return name in needs or (inventory is not None and deployed_as(inventory).prerequisite)

    def is_needed(self, name: str, staying: Iterable[str]) -> bool:
        """Whether one of some components that stay needs a component that is deleted later."""
        names = self.names
        return any(names.index(one) < names.index(name) and self.needs(one, name) for one in staying)


def plan_deletion(cluster: Cluster, names: Collection[str]) -> PlannedDeletion:
    """Read what a deletion of some components, or of everything, has to know.

    Raises:
        ClusterError: the server does not answer.
    """
    inventories, others = read_owned(cluster)
    installation, held = read_installation(cluster), ""
    # The missing right is refused with all others, before the first write.
    with suppress(Forbidden):
        held = hold_problem(read_hold(cluster), datetime.now(UTC))
    order = _order(cluster, installation)
    waves = deletion_waves(
        [one for name, one in inventories.items() if {name, EVERYTHING}.intersection(names)], order
    )
    objects = objects_by_component(waves, inventories, others)
    return PlannedDeletion(installation, inventories, others, held, order, waves, objects)


def _order(cluster: Cluster, installation: Installation) -> tuple[str, ...]:
    """The order of components in the newest run: also of a release that was never complete.

    A run of components alone knows only these, so the newest run of a whole release has precedence.
    """
    last = installation.last_run
    run = cluster.get(API_VERSION, "KymaRun", last) if last else None
    alone: Sequence[str] = ()
    if run and not _is_of_whole_release(run):
        alone = begin_of(run).all_components
        run = next(filter(_is_of_whole_release, read_runs(cluster)), None)
    whole = begin_of(run or {}).all_components
    return tuple(dict.fromkeys((*whole, *installation.components, *alone)))


def _is_of_whole_release(run: Object) -> bool:
    """Whether a run has the order of all components: modules have a separate order."""
    return begin_of(run).action != MODULES and not begin_of(run).alone
