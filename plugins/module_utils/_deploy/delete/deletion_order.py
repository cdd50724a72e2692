# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order components are deleted, and which objects with which of them: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import FOUNDATION, ComponentEntry

from ..desired.waves import needs_problems, waves_of


def deletion_waves(inventories: Iterable[Inventory], order: Sequence[str]) -> list[tuple[str, ...]]:
    """The waves of a deployment backwards: components, then prerequisites one by one, the foundation last.

    Args:
        inventories: of the components to delete.
        order: in which the release lists its components; what it doesn't list counts as listed last.
    """
    place = {name: position for position, name in enumerate(order)}
    known = sorted(
        inventories,
        key=lambda one: (one.component != FOUNDATION, place.get(one.component, len(place)), one.component),
    )
    names = {one.component for one in known}
    entries = [
        ComponentEntry(
            one.component,
            one.namespace,
            prerequisite=one.prerequisite,
            needs=tuple(need for need in one.needs if need in names),
        )
        for one in known
    ]
    if needs_problems(entries):
        # They were noted by different releases, so they can contradict each other.
        entries = [replace(entry, needs=()) for entry in entries]
    return list(reversed(waves_of(entries)))


def objects_by_component(
    waves: Iterable[Iterable[str]], inventories: Mapping[str, Inventory]
) -> dict[str, tuple[InventoryEntry, ...]]:
    """Which objects go with which component.

    What several inventories name goes with the last of those that still have it. What a component has that
    isn't deleted goes with none.
    """
    order = [name for wave in waves for name in wave]
    owners: dict[Ref, str] = {}
    for name in order:
        for entry in inventories[name].entries:
            if not entry.dropped or entry.ref not in owners:
                owners[entry.ref] = name
    staying = {ref for name, one in inventories.items() if name not in order for ref in one.refs}
    return {
        name: tuple(
            entry
            for entry in inventories[name].entries
            if owners[entry.ref] == name and entry.ref not in staying
        )
        for name in order
    }
