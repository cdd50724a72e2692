# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory of a component, before and after it is applied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    ForeignFields,
    InventoryEntry,
    current_entry,
    intent_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry


def intended_inventory(
    before: Inventory | None, component: ComponentEntry, objects: Iterable[Object], *, whole: bool = True
) -> Inventory:
    """The inventory to keep before a component is applied: nothing that is or will be there gets lost.

    The digest is empty, as the deployment isn't complete; what the release no longer contains is marked. What
    was there before keeps its place: of a large inventory no part takes what is still written in another.

    Args:
        before: what is remembered.
        component: what the component list says of it.
        objects: what is to be applied.
        whole: whether these are all of its objects; else what it has beside them stays as it is noted.
    """
    known = {entry.ref: entry for entry in before.entries} if before else {}
    wanted = {ref_of(obj): obj for obj in objects}
    new = {ref: InventoryEntry("", ref) for ref in wanted if ref not in known}

    def to_be(entry: InventoryEntry) -> InventoryEntry:
        obj = wanted.get(entry.ref)
        if obj is None:
            return entry._replace(dropped=True) if whole else entry
        return entry._replace(api_version=obj["apiVersion"], intent=intent_of(obj), dropped=False)

    return replace(
        before or Inventory(component.name),
        namespace=component.namespace,
        digest="",
        entries=tuple(map(to_be, (known | new).values())),
        prerequisite=component.prerequisite,
        needs=component.needs,
    )


def completed_inventory(
    intent: Inventory,
    live: Mapping[Ref, Object],
    *,
    version: str,
    digest: str,
    component_version: str,
    release: str,
    source: str = "",
    held: Mapping[Ref, ForeignFields] | None = None,
) -> Inventory:
    """The inventory after a component is healthy, with its objects as they are now.

    What the release dropped stays as it was noted: only what is still that very object may be pruned.

    Args:
        intent: what was to be deployed.
        live: the objects.
        version: of the release.
        digest: of what was applied.
        component_version: of the component itself.
        release: the fingerprint of the release.
        source: of the component, or empty.
        held: what others hold of them: what was ceded, and what was added.
    """
    held = held or {}
    entries = tuple(
        current_entry(entry, live[entry.ref], held.get(entry.ref, (entry.ceded, entry.added)))
        if entry.ref in live and not entry.dropped
        else entry
        for entry in intent.entries
    )
    return replace(
        intent,
        version=version,
        digest=digest,
        entries=entries,
        component_version=component_version,
        release=release,
        source=source,
    )


def with_list_entry(inventory: Inventory, component: ComponentEntry) -> Inventory:
    """The inventory of a component that stays as it is, with what the component list says of it by now."""
    return replace(
        inventory,
        namespace=component.namespace,
        component_version=component.version or "",
        prerequisite=component.prerequisite,
        needs=component.needs,
    )
