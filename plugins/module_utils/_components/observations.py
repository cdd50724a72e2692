# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remembering what a plan has found of components that stay as they are.

That is what it has looked at closely, so that it is told only once, and what the component list says by now.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .._cluster.cluster import Cluster
from .._cluster.errors import Conflict
from .._objects.inventory.inventory import Inventory
from .._runs.records.inventories import entry_from_record, entry_to_record, rewrite_inventory
from .component_inventory import DeployedAs, with_list_entry
from .component_plan import ComponentPlan


def record_observations(
    cluster: Cluster, plan: Mapping[str, Any], inventories: Mapping[str, Inventory]
) -> int:
    """Keep in the inventories what a plan has seen; how many objects that concerns.

    The entries are those of what the plan has read: what was written to an object since then will be looked
    at by the next plan. An inventory that somebody has written since it was read stays as it is: a run that
    has begun knows more, and the next plan notes again what it sees.

    Args:
        cluster: the live one.
        plan: as it stands in a result.
        inventories: by component, as they were when they were those that the plan was made of.
    """
    seen: Mapping[str, Any] = plan.get("noted") or {}
    count = 0
    for component, told in seen.items():
        inventory = inventories.get(component)
        if inventory is not None:
            with suppress(Conflict):
                rewrite_inventory(cluster, with_observation(inventory, told))
                count += len(told["objects"])
    return count


def observation(component: ComponentPlan) -> dict[str, Any]:
    """What a plan has found of a component, as it stands in a result."""
    told: dict[str, Any] = {"objects": [entry_to_record(entry) for entry in component.observed_entries]}
    if listed := component.listed:
        told["listed"] = {
            "namespace": component.namespace,
            "prerequisite": listed.prerequisite,
            "needs": list(listed.needs),
            "version": listed.component_version,
        }
    return told


def with_observation(inventory: Inventory, told: Mapping[str, Any]) -> Inventory:
    """The inventory with what a plan has found, as :func:`observation` has it."""
    newer = {entry.ref: entry for entry in map(entry_from_record, told["objects"])}
    after = replace(inventory, entries=tuple(newer.get(one.ref, one) for one in inventory.entries))
    listed: Mapping[str, Any] = told.get("listed") or {}
    if not listed:
        return after
    entry = DeployedAs(
        component_version=listed["version"] or "",
        prerequisite=listed["prerequisite"],
        needs=tuple(listed["needs"]),
    )
    return with_list_entry(after, listed["namespace"], entry)
