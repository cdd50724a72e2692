# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has made the namespaces of a component: noted before we write to one, as later nothing tells.

``managedFields`` keep when each manager wrote last, not first, and nothing of whoever applied a bare name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from ..._cluster.cluster import FIELD_MANAGER, Cluster, Object, Ref
from ..._cluster.kinds import NAMESPACE_KIND
from .inventory import Inventory
from .inventory_entry import CREATED_BY_OTHERS, CREATED_BY_US, InventoryEntry, is_written_by_us
from .live_objects import read_metadata


def with_namespace_creators(cluster: Cluster, intent: Inventory, before: Iterable[Inventory]) -> Inventory:
    """The inventory to keep before a component is applied, with who has made the namespaces in it.

    Args:
        cluster: the live one; read once if there is any namespace in it.
        intent: what is to be applied.
        before: what the cluster remembers of all components: namespaces move from one to another.

    Raises:
        ClusterError: the namespaces can't be read.
    """
    namespaces = tuple(entry for entry in intent.entries if _is_wanted_namespace(entry))
    if not namespaces:
        return intent
    live = read_metadata(cluster, [replace(intent, entries=namespaces)])
    return with_makers(intent, live, before)


def with_makers(intent: Inventory, live: Mapping[Ref, Object], before: Iterable[Inventory]) -> Inventory:
    """The same, given the metadata of the namespaces that are there."""
    remembered = [entry for one in before for entry in one.entries if entry.ref[:2] == NAMESPACE_KIND]

    def look(entry: InventoryEntry) -> InventoryEntry:
        if not _is_wanted_namespace(entry):
            return entry
        found = live.get(entry.ref)
        if found is None:
            # We are about to make it, whoever made the one that was there.
            return entry._replace(uid="", made_by=CREATED_BY_US)
        return entry._replace(made_by=maker_of(found, [one for one in remembered if one.ref == entry.ref]))

    return replace(intent, entries=tuple(map(look, intent.entries)))


def _is_wanted_namespace(entry: InventoryEntry) -> bool:
    return entry.ref[:2] == NAMESPACE_KIND and not entry.dropped


def maker_of(live: Object, remembered: Iterable[InventoryEntry]) -> str:
    """Who has made a namespace that is there before we write to it; empty where nobody can know it.

    Args:
        live: its metadata.
        remembered: what inventories say of it, whatever component's.
    """
    entries = {entry.uid: entry for entry in remembered}
    known = entries.get(live["metadata"].get("uid", ""), entries.get(""))
    if known is None:
        # Either somebody has made it anew, or nobody remembers it: unless we have written it, it isn't ours.
        others = bool(entries) or not is_written_by_us(live["metadata"]) or was_made_by_others(live)
        return CREATED_BY_OTHERS if others else CREATED_BY_US
    if not known.uid and known.made_by == CREATED_BY_US:
        # A run that was cut off was about to make it, and may not have come to that.
        return CREATED_BY_OTHERS if was_made_by_others(live) else CREATED_BY_US
    return known.made_by


def has_other_creator(entry: InventoryEntry, live: Object) -> bool:
    """Whether a namespace was there before we first applied it.

    Args:
        entry: what its inventory says of it.
        live: its metadata.
    """
    return entry.made_by == CREATED_BY_OTHERS if entry.made_by else was_made_by_others(live)


def was_made_by_others(live: Object) -> bool:
    """The same where nobody has noted it, by ``managedFields``: right until its maker writes it again."""
    meta: dict[str, Any] = live["metadata"]
    managers = [one for one in meta.get("managedFields") or () if not one.get("subresource")]
    made = meta.get("creationTimestamp")
    first = {one.get("manager") for one in managers if one.get("time") == made}
    return bool(first) and FIELD_MANAGER not in first
