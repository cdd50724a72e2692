# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs in an inventory that have finished, and need not run again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..._cluster.cluster import Cluster, Object, address_of, ref_of
from ..health.finished_jobs import removes_itself
from .inventory import Inventory
from .inventory_entry import InventoryEntry, intent_of


def with_finished(inventory: Inventory, objects: Iterable[Object]) -> Inventory:
    """The inventory of a component, with the Jobs that have finished and delete themselves.

    Args:
        inventory: with all its objects.
        objects: the healthy ones, in their wanted form; the entries of others do not change.
    """
    finished = {ref_of(obj): intent_of(obj) if removes_itself(obj) else "" for obj in objects}
    entries = (
        entry._replace(finished=finished.get(entry.ref, entry.finished)) for entry in inventory.entries
    )
    return replace(inventory, entries=tuple(entries))


def is_done(cluster: Cluster, obj: Object, recorded: InventoryEntry | None) -> bool:
    """Whether an object is a Job that has finished in its wanted form, and has deleted itself since."""
    if recorded is None or not recorded.finished or recorded.finished != intent_of(obj):
        return False
    return cluster.get(*address_of(obj)) is None
