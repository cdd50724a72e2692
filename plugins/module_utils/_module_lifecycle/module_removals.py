# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects that a module drops: its old managers, and the rehearsal of their removal."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .._cluster.cluster import Cluster, Ref, ref_of
from .._components.component_removal import ComponentRemoval, remove_components
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.prune.contained_objects import ContainedObjects
from .._objects.prune.removal import Terms
from .module_facts import ModuleOutlook
from .running_version import WORKLOADS

KEPT_KINDS = frozenset({("", "PersistentVolumeClaim")})
"""Kinds with data, which an upgrade never deletes."""


def old_managers(
    outlook: ModuleOutlook, before: Inventory | None, refs: Collection[Ref]
) -> list[InventoryEntry]:
    """The workloads that a module has and no longer wants: recorded ones, and the manager that runs.

    Args:
        outlook: of the module.
        before: its inventory.
        refs: the wanted objects.
    """
    recorded = before.entries if before else ()
    entries = {entry.ref: entry for entry in recorded if entry.ref[:2] in WORKLOADS}
    running = outlook.running.manager
    for manager in outlook.managers:
        if ref_of(manager.object) == running:
            meta = manager.object["metadata"]
            entries.setdefault(running, InventoryEntry(manager.object["apiVersion"], running, meta["uid"]))
    return [entry for ref, entry in entries.items() if ref not in refs]


def rehearse_removal(
    overlay: Cluster, name: str, entries: Sequence[InventoryEntry], approved: frozenset[str]
) -> list[str]:
    """Delete objects of a module on an overlay; a sentence about each that stays, or can't be deleted.

    Args:
        overlay: of the rehearsal.
        name: of the module.
        entries: the objects.
        approved: uids of those that may be deleted although this collection has not written them.
    """
    removal = ComponentRemoval(entries, is_protected=lambda ref: ref[:2] in KEPT_KINDS)
    terms = Terms(overlay, retain=ContainedObjects(overlay).retain, approved=approved)
    remove_components({name: removal}, terms, inventories={})
    return [*removal.removal.notes, *removal.removal.errors]
