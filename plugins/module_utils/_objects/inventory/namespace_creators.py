# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The creators of a component's namespaces: recorded before our first write, as later nothing shows them.

``managedFields`` have the last write of each manager, not the first, and no apply of a bare name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref
from ..._cluster.fields.written_by import is_written_by
from ..._cluster.kinds import NAMESPACE_KIND
from .inventory import Inventory
from .inventory_entry import CREATED_BY_OTHERS, CREATED_BY_US, InventoryEntry
from .live_objects import read_metadata


def with_namespace_creators(cluster: Cluster, intent: Inventory, before: Iterable[Inventory]) -> Inventory:
    """The inventory to store before a component is applied, with the creators of its namespaces.

    Args:
        cluster: the live one; read once if the inventory has a namespace.
        intent: the inventory of the intended deployment.
        before: the recorded inventories of all components: namespaces move from one to another.

    Raises:
        ClusterError: the namespaces can't be read.
    """
    namespaces = tuple(entry for entry in intent.entries if _is_desired_namespace(entry))
    if not namespaces:
        return intent
    live = read_metadata(cluster, [replace(intent, entries=namespaces)])
    return with_makers(intent, live, before)


def with_makers(intent: Inventory, live: Mapping[Ref, Object], before: Iterable[Inventory]) -> Inventory:
    """The same, from the metadata of the existing namespaces."""
    remembered = [entry for one in before for entry in one.entries if entry.ref[:2] == NAMESPACE_KIND]

    def look(entry: InventoryEntry) -> InventoryEntry:
        if not _is_desired_namespace(entry):
            return entry
        obj = live.get(entry.ref)
        if obj is None:
            # We are about to create it, regardless of the creator of an earlier one.
            return entry._replace(uid="", made_by=CREATED_BY_US)
        return entry._replace(made_by=maker_of(obj, [one for one in remembered if one.ref == entry.ref]))

    return replace(intent, entries=tuple(map(look, intent.entries)))


def _is_desired_namespace(entry: InventoryEntry) -> bool:
    return entry.ref[:2] == NAMESPACE_KIND and not entry.dropped


def maker_of(live: Object, remembered: Iterable[InventoryEntry]) -> str:
    """The creator of an existing namespace before our first write; empty if it can't be known.

    Args:
        live: its metadata.
        remembered: its entries in the inventories of all components.
    """
    entries = {entry.uid: entry for entry in remembered}
    known = entries.get(live["metadata"].get("uid", ""), entries.get(""))
    if known is None:
        # It was recreated, or has no entry: unless we have written it, it isn't ours.
        others = bool(entries) or not is_written_by(live["metadata"]) or was_made_by_others(live)
        return CREATED_BY_OTHERS if others else CREATED_BY_US
    if not known.uid and known.made_by == CREATED_BY_US:
        # An interrupted run was about to create it, and may not have done so.
        return CREATED_BY_OTHERS if was_made_by_others(live) else CREATED_BY_US
    return known.made_by


def has_other_creator(entry: InventoryEntry, live: Object) -> bool:
    """Whether a namespace existed before we first applied it.

    Args:
        entry: its entry in the inventory.
        live: its metadata.
    """
    return entry.made_by == CREATED_BY_OTHERS if entry.made_by else was_made_by_others(live)


def was_made_by_others(live: Object) -> bool:
    """The same without a record, by ``managedFields``: correct until its creator writes it again."""
    meta: dict[str, Any] = live["metadata"]
    managers = [one for one in meta.get("managedFields") or () if not one.get("subresource")]
    creation_time = meta.get("creationTimestamp")
    first = {one.get("manager") for one in managers if one.get("time") == creation_time}
    return bool(first) and FIELD_MANAGER not in first
