# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of an owner as they were when they were deployed, and whether they have changed since: pure.

For each object the inventory stores enough metadata to detect a relevant change from a metadata-only list.
resourceVersion alone changes with every status. generation alone misses labels and annotations, and many
kinds have none. So hashes of ``managedFields`` decide if the resourceVersion has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ..._cluster.cluster import Object, Ref, ref_of
from ..._cluster.fields.written_by import is_ours
from ..ownership.conflict_resolution import is_held_by_people
from ..ownership.policy import INTERACTIVE_MANAGERS, Policy
from .inventory_entry import InventoryEntry, current_entry, entry_of, intent_of, is_as_recorded, may_be_taken
from .owner_kinds import COMPONENT


class RecordVersion(NamedTuple):
    """A record that an inventory, or a part of it, was read from."""

    name: str
    uid: str
    resource_version: str


@dataclass(frozen=True)
class Inventory:
    """The objects of an owner as they were when they were last deployed.

    Attributes:
        owner: the owner's name, unique among those of its kind.
        namespace: the owner's default namespace.
        digest: of the applied content; empty until a deployment of it was complete.
        entries: its objects.
        owner_kind: the kind of the owner. Objects of owners of other kinds are ignored.
        details: other recorded data of the owner. Only the code that deploys this kind knows its keys.
        record_versions: the records that it was read from, including surplus ones; empty if it was not read.
    """

    owner: str
    namespace: str = ""
    digest: str = ""
    entries: tuple[InventoryEntry, ...] = field(default=())
    owner_kind: str = COMPONENT
    details: Mapping[str, Any] = field(default_factory=dict)
    record_versions: tuple[RecordVersion, ...] = field(default=(), compare=False)

    @property
    def refs(self) -> frozenset[Ref]:
        """The wanted objects of the owner."""
        return frozenset(entry.ref for entry in self.entries if not entry.dropped)


def refs_to_check(inventory: Inventory, live: Mapping[Ref, Object], policy: Policy) -> frozenset[Ref]:
    """The objects that need a full check.

    Args:
        inventory: the recorded state.
        live: the objects' metadata.
        policy: what the user allows, which may be more than when the fields of others were recorded.
    """
    return frozenset(
        entry.ref
        for entry in inventory.entries
        if not entry.dropped
        and (may_be_taken(entry, policy) or not is_as_recorded(entry, live.get(entry.ref)))
    )


def changed_objects(inventory: Inventory, objects: Iterable[Object], moved: Collection[Ref]) -> list[Object]:
    """The objects of a component that differ from their applied form.

    Args:
        inventory: of an owner whose deployment was complete.
        objects: the wanted ones.
        moved: the objects that others have written since; see :func:`refs_to_check`.
    """
    intents = {entry.ref: entry.intent for entry in inventory.entries if not entry.dropped and entry.intent}
    return [obj for obj in objects if (ref := ref_of(obj)) in moved or intents.get(ref) != intent_of(obj)]


def with_recreated(intent: Inventory, live: Mapping[Ref, Object]) -> Inventory:
    """The inventory of a component that is not complete, with the objects that have replaced recorded ones.

    Until it is complete only those count: with the old uid they would seem foreign, and never be deleted.

    Args:
        intent: the inventory of the intended deployment.
        live: the applied objects.
    """

    def look(entry: InventoryEntry) -> InventoryEntry:
        obj = live.get(entry.ref)
        if obj is None or entry.uid in ("", obj["metadata"].get("uid")):
            return entry
        return current_entry(entry, obj, (entry.ceded, entry.added))

    return replace(intent, entries=tuple(map(look, intent.entries)))


def inventories_of(inventories: Iterable[Inventory], owner_kind: str = COMPONENT) -> dict[str, Inventory]:
    """The inventories whose owners are of one kind, by owner."""
    return {one.owner: one for one in inventories if one.owner_kind == owner_kind}


def entries_by_ref(inventory: Inventory | None) -> dict[Ref, InventoryEntry]:
    """The entries of an inventory by reference; empty if there is no inventory."""
    return {entry.ref: entry for entry in inventory.entries} if inventory else {}


def remembered_by(component: str, inventories: Mapping[str, Inventory]) -> dict[Ref, InventoryEntry]:
    """The recorded entries of objects before a component is applied, by reference.

    An object may come from another component, whose inventory has its entry; the component's own entry takes
    precedence. An entry that was only intended does not count.
    """
    others = [inventory for name, inventory in inventories.items() if name != component]
    own = inventories.get(component)
    entries = (entry for inventory in (*others, own) if inventory for entry in inventory.entries)
    return {entry.ref: entry for entry in entries if entry.uid or entry.finished}


def refreshed_inventory(
    inventory: Inventory,
    live: Mapping[Ref, Object],
    interactive: Sequence[str] = INTERACTIVE_MANAGERS,
) -> Inventory:
    """The inventory with the objects as controllers have changed them since they were recorded.

    The entry of an object does not change if a person has written it meanwhile, if it was recreated, or if
    any manager but a migration has taken a field of ours: otherwise that would never be checked.

    Args:
        inventory: the recorded state.
        live: the objects' metadata.
        interactive: patterns of the names of field managers that people use.
    """

    def look(entry: InventoryEntry) -> InventoryEntry:
        obj = live.get(entry.ref)
        if obj is None or (now := entry_of(obj)).uid != entry.uid:
            return entry
        managers = obj["metadata"].get("managedFields") or ()
        written = (now.own, now.others_hash) != (entry.own, entry.others_hash)
        if written and is_held_by_people(managers, interactive):
            return entry
        if now.own != entry.own and not all(is_ours(one) or one.get("subresource") for one in managers):
            return entry
        return current_entry(entry, obj, (entry.ceded, entry.added))

    return replace(inventory, entries=tuple(look(entry) for entry in inventory.entries))


def kinds_of(inventories: Iterable[Inventory]) -> list[tuple[str, str]]:
    """The kinds (apiVersion, kind) that have to be listed to see all objects of some inventories."""
    return sorted({(entry.api_version, entry.ref.kind) for inv in inventories for entry in inv.entries})
