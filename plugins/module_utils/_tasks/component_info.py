# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``component_info``: the objects of a cluster's components, and their state."""

from __future__ import annotations

from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._components.component_inventory import deployed_as
from .._objects.health.status import assess_health
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry, is_as_recorded
from .._objects.inventory.live_objects import readable_kinds
from .._runs.records.installation import read_installation
from .._runs.records.inventories import read_inventories
from .._threads import map_in_threads


def component_info(task: Task) -> Result:
    """Read the inventories and their objects: one request per kind."""
    installation = read_installation(task.cluster)
    names = task.params["names"]
    inventories = [
        inventory
        for name, inventory in sorted(read_inventories(task.cluster).items())
        if not names or name in names
    ]
    live = _read(task.cluster, inventories)
    return {
        "changed": False,
        "components": [
            {
                "name": inventory.owner,
                "namespace": inventory.namespace,
                "version": deployed_as(inventory).version,
                "component_version": deployed_as(inventory).component_version,
                "complete": bool(inventory.digest),
                "orphaned": inventory.owner not in installation.components,
                "objects": [_as_result(entry, live.get(entry.ref)) for entry in inventory.entries],
            }
            for inventory in inventories
        ],
    }


def _read(cluster: Cluster, inventories: list[Inventory]) -> dict[Ref, Object]:
    def read(kind: tuple[str, str]) -> list[Object]:
        return cluster.list(kind[0], kind[1]).items

    return {
        ref_of(obj): obj
        for items in map_in_threads(read, readable_kinds(cluster, inventories))
        for obj in items
    }


def _as_result(entry: InventoryEntry, live: Object | None) -> dict[str, Any]:
    state = assess_health(live) if live else None
    return {
        "api_version": entry.api_version,
        "kind": entry.ref.kind,
        "namespace": entry.ref.namespace,
        "name": entry.ref.name,
        "dropped": entry.dropped,
        "health": state.state if state else "missing",
        "message": (state.warning or state.message) if state else "the object no longer exists",
        "untouched": is_as_recorded(entry, live),
        "ceded": list(entry.ceded),
        "added": list(entry.added),
    }


DEFINITION = TaskDefinition(
    function=component_info,
    argument_spec={"names": {"type": "list", "elements": "str", "default": []}},
)
