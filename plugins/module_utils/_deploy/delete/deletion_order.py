# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which components are deleted, and the objects that are deleted with each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..._cluster.cluster import Ref
from ..._components.component_inventory import deployed_as
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.inventory_entry import InventoryEntry
from ..._release.model import FOUNDATION, ComponentEntry
from ..desired.stages import needs_problems, waves_of


def deletion_waves(inventories: Iterable[Inventory], order: Sequence[str]) -> list[tuple[str, ...]]:
    """The waves of a deployment in reverse: components, then prerequisites one by one, the foundation last.

    Args:
        inventories: of the components to delete.
        order: in which the release lists its components; a component that is not listed counts as last.
    """
    positions = {name: position for position, name in enumerate(order)}
    ordered = sorted(
        inventories,
        key=lambda one: (one.owner != FOUNDATION, positions.get(one.owner, len(positions)), one.owner),
    )
    names = {one.owner for one in ordered}
    entries = [
        ComponentEntry(
            one.owner,
            one.namespace,
            prerequisite=deployed.prerequisite,
            needs=tuple(need for need in deployed.needs if need in names),
        )
        for one, deployed in ((one, deployed_as(one)) for one in ordered)
    ]
    if needs_problems(entries):
        # Different releases recorded them, so they can contradict each other.
        entries = [replace(entry, needs=()) for entry in entries]
    return list(reversed(waves_of(entries)))


def objects_by_component(
    waves: Iterable[Iterable[str]], inventories: Mapping[str, Inventory], others: Iterable[Inventory] = ()
) -> dict[str, tuple[InventoryEntry, ...]]:
    """The objects that are deleted with each component.

    An object in several inventories is deleted with the last component that still has it. An object of a
    component that is not deleted stays, and so does an object of an owner that is no component.
    """
    order = [name for wave in waves for name in wave]
    owners: dict[Ref, str] = {}
    for name in order:
        for entry in inventories[name].entries:
            if not entry.dropped or entry.ref not in owners:
                owners[entry.ref] = name
    left = [*others, *(one for name, one in inventories.items() if name not in order)]
    staying = {ref for one in left for ref in one.refs}
    return {
        name: tuple(
            entry
            for entry in inventories[name].entries
            if owners[entry.ref] == name and entry.ref not in staying
        )
        for name in order
    }


def phase_of(inventory: Inventory) -> str:
    """The phase in which a component is deleted."""
    if inventory.owner == FOUNDATION:
        return FOUNDATION
    return "prerequisites" if deployed_as(inventory).prerequisite else "components"
