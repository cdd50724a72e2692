# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records a plan's findings about components that do not change.

These are the objects that it has checked, so that they are reported only once, and the component list's data.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .._cluster.cluster import Cluster
from .._cluster.errors import Conflict
from .._components.component_inventory import DeployedAs, with_list_entry
from .._components.component_plan import ComponentPlan
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._record_codec import from_record, to_record
from .._runs.records.inventories import rewrite_inventory


def record_observations(
    cluster: Cluster, plan: Mapping[str, Any], inventories: Mapping[str, Inventory]
) -> int:
    """Record in the inventories what a plan has observed; returns the number of objects.

    The entries are those of the plan's own reads: the next plan will check objects that were written
    since. An inventory that was written since its read does not change: a run that has begun
    knows more, and the next plan records its observations again.

    Args:
        cluster: the live one.
        plan: in the form of a result.
        inventories: those from which the plan was created, by component.
    """
    seen: Mapping[str, Any] = plan.get("noted") or {}
    count = 0
    for component, findings in seen.items():
        inventory = inventories.get(component)
        if inventory is not None:
            with suppress(Conflict):
                rewrite_inventory(cluster, with_observation(inventory, findings))
                count += len(findings["objects"])
    return count


def observation(component: ComponentPlan) -> dict[str, Any]:
    """A plan's findings about a component, in the form of a result."""
    entries = [to_record(entry, is_compact=True) for entry in component.observed_entries]
    findings: dict[str, Any] = {"objects": entries}
    if listed := component.listed:
        findings["listed"] = {
            "namespace": component.namespace,
            "prerequisite": listed.prerequisite,
            "needs": list(listed.needs),
            "version": listed.component_version,
        }
    return findings


def with_observation(inventory: Inventory, findings: Mapping[str, Any]) -> Inventory:
    """The inventory with a plan's findings, in the form of :func:`observation`."""
    observed = [from_record(InventoryEntry, entry) for entry in findings["objects"]]
    newer = {entry.ref: entry for entry in observed}
    after = replace(inventory, entries=tuple(newer.get(one.ref, one) for one in inventory.entries))
    listed: Mapping[str, Any] = findings.get("listed") or {}
    if not listed:
        return after
    entry = DeployedAs(
        component_version=listed["version"] or "",
        prerequisite=listed["prerequisite"],
        needs=tuple(listed["needs"]),
    )
    return with_list_entry(after, listed["namespace"], entry)
