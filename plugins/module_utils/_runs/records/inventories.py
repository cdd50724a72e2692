# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of inventories: their definition, their model, reading and writing them.

An inventory that is too large for one object is split over several.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

from ..._cluster.cluster import Cluster, Object, Ref
from ..._cluster.errors import Conflict
from ..._custom_resources.resource_kind import EXAMPLE_NAME, ResourceKind
from ..._field_notes import in_metadata, in_spec
from ..._objects.inventory.inventory import Inventory, RecordVersion, inventories_of
from ..._objects.inventory.inventory_entry import InventoryEntry
from ..._objects.inventory.owner_kinds import COMPONENT, MODULE
from ..._record_codec import to_record
from .record_schema import OWNER_LABEL, STORAGE_VERSION
from .record_writer import apply_record


@dataclass(frozen=True)
class InventoryPart:
    """A part of an inventory, as one record has it."""

    name: Annotated[str, in_metadata()]
    owner: Annotated[str, in_spec("The name of the component or module.")]
    owner_kind: Annotated[str, in_spec("The kind of the owner.", enum=[COMPONENT, MODULE])]
    namespace: Annotated[str, in_spec("The default namespace of the owner.")] = ""
    digest: Annotated[
        str, in_spec("A hash of the applied content. Empty until a deployment was complete.")
    ] = ""
    details: Annotated[Mapping[str, Any], in_spec("Other data of the owner, such as its version.")] = field(
        default_factory=dict
    )
    part: Annotated[int, in_spec("The number of this part.", minimum=0)] = 0
    parts: Annotated[int, in_spec("The number of parts.", minimum=1)] = 1
    objects: Annotated[tuple[InventoryEntry, ...], in_spec("The objects.")] = ()
    uid: Annotated[str, in_metadata()] = ""
    resource_version: Annotated[str, in_metadata()] = ""

    @property
    def is_misnamed(self) -> bool:
        """Whether a version with other names has written it."""
        return self.name != part_name(self.owner, self.owner_kind, self.part)


INVENTORY = ResourceKind(
    InventoryPart,
    "KymaInventory",
    "kymainventories",
    "kyinv",
    "The objects of one component or module, as last deployed. A large inventory has several parts.",
    [
        ("Kind", "string", ".spec.ownerKind"),
        ("Version", "string", ".spec.details.version"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    wide_columns=[("Owner", "string", ".spec.owner"), ("Digest", "string", ".spec.digest")],
    storage_version=STORAGE_VERSION,
    required=["spec"],
    labels=(OWNER_LABEL,),
    example=InventoryPart("", EXAMPLE_NAME, COMPONENT),
)

BYTES_PER_ENTRY = 350
ENTRIES_PER_OBJECT = 1500
"""Most entries take less than 350 bytes: so a KymaInventory stays at half of its maximum of 1 MiB."""


def inventories_from(objects: Iterable[Object]) -> list[Inventory]:
    """The inventories of all owners, joined from the objects that they were split over.

    Raises:
        NewerRecord: a newer version of this collection has written one.
    """
    parts: dict[tuple[str, str], list[InventoryPart]] = {}
    for part in map(INVENTORY.read, objects):
        parts.setdefault((part.owner_kind, part.owner), []).append(part)
    return [_join_parts(*owner, records) for owner, records in parts.items()]


def _join_parts(owner_kind: str, owner: str, records: list[InventoryPart]) -> Inventory:
    records = sorted(records, key=lambda one: (one.part, one.is_misnamed))
    first = records[0]
    # Surplus parts remain of an inventory that was larger, and duplicates of a version with other names.
    parts = {one.part: one for one in reversed(records) if one.part < first.parts}
    # If one part was written and another was not yet, the deployment is not complete.
    digests = {one.digest for one in parts.values()}
    complete = len(digests) == 1 and "" not in digests and len(parts) == first.parts
    # Until it is complete, no object that any part names may be lost.
    sources = [parts[number] for number in sorted(parts)] if complete else records
    entries: dict[Ref, InventoryEntry] = {}
    for entry in (entry for one in sources for entry in one.objects):
        entries.setdefault(entry.ref, entry)
    return Inventory(
        owner,
        first.namespace,
        digests.pop() if complete else "",
        tuple(entries.values()),
        owner_kind,
        first.details,
        record_versions=tuple(RecordVersion(one.name, one.uid, one.resource_version) for one in records),
    )


def part_name(owner: str, owner_kind: str, part: int) -> str:
    """The name of a part of an inventory: unique to its owner, as names of owners contain no dots."""
    name = owner if owner_kind == COMPONENT else f"{owner}.{owner_kind}"
    return f"{name}.{part}" if part else name


def record_version(obj: Object) -> RecordVersion:
    """Which version of a KymaInventory this is."""
    meta = obj["metadata"]
    return RecordVersion(meta["name"], meta.get("uid", ""), meta.get("resourceVersion", ""))


def inventory_objects(inventory: Inventory) -> list[Object]:
    """The objects of an inventory, split so that none is near the server's size limit."""
    chunks = _chunks(inventory.entries)
    owner, owner_kind = inventory.owner, inventory.owner_kind
    objects = []
    for part, chunk in enumerate(chunks):
        record = InventoryPart(
            part_name(owner, owner_kind, part),
            owner,
            owner_kind,
            inventory.namespace,
            inventory.digest,
            inventory.details,
            part,
            len(chunks),
        )
        obj = INVENTORY.object_of(record)
        obj["metadata"]["labels"][OWNER_LABEL] = owner
        obj["spec"]["objects"] = chunk
        objects.append(obj)
    return objects


def _chunks(entries: Iterable[InventoryEntry]) -> list[list[dict[str, Any]]]:
    """Chunks of these entries, in the form of records."""
    chunks: list[list[dict[str, Any]]] = [[]]
    room = float(ENTRIES_PER_OBJECT)
    for entry in entries:
        record = to_record(entry, is_compact=True)
        # Long names, and findings about others, take more space than most entries do.
        weight = max(1.0, len(json.dumps(record)) / BYTES_PER_ENTRY)
        if chunks[-1] and weight > room:
            chunks.append([])
            room = float(ENTRIES_PER_OBJECT)
        chunks[-1].append(record)
        room -= weight
    return chunks


def write_inventory(cluster: Cluster, inventory: Inventory) -> None:
    """Record the objects of an owner, and delete surplus records of its earlier inventory."""
    written = _write_parts(cluster, inventory)
    # A record that another process writes to is deleted the next time; until then it is not read.
    with suppress(Conflict):
        _delete_parts(cluster, inventory.record_versions, written)


def rewrite_inventory(cluster: Cluster, inventory: Inventory) -> None:
    """Record the same, if nobody has written the inventory since it was read.

    Raises:
        Conflict: another process has written it.
    """
    _delete_parts(
        cluster, inventory.record_versions, _write_parts(cluster, inventory, seen=inventory.record_versions)
    )


def delete_inventory(cluster: Cluster, inventory: Inventory) -> None:
    """Delete the records of an inventory, if nobody has written it since it was read.

    Raises:
        Conflict: another process has written it.
    """
    _delete_parts(cluster, inventory.record_versions)


def _write_parts(cluster: Cluster, inventory: Inventory, seen: Iterable[RecordVersion] = ()) -> set[str]:
    """Write the records of an inventory, those read before only if they are unchanged; their names."""
    preconditions = {part.name: {"uid": part.uid, "resourceVersion": part.resource_version} for part in seen}
    names = set()
    for part in inventory_objects(inventory):
        name = part["metadata"]["name"]
        part["metadata"] |= preconditions.get(name, {})
        apply_record(cluster, INVENTORY, part, force=True)
        names.add(name)
    return names


def _delete_parts(cluster: Cluster, parts: Iterable[RecordVersion], needed: Collection[str] = ()) -> None:
    for part in parts:
        if part.name not in needed:
            cluster.delete(
                *INVENTORY.address, part.name, uid=part.uid, resource_version=part.resource_version
            )


def read_inventories(
    cluster: Cluster, owners: Collection[str] = (), *, owner_kind: str = COMPONENT
) -> dict[str, Inventory]:
    """Inventories by owner, of owners of one kind.

    Args:
        cluster: that has them.
        owners: names of the owners, if not all are wanted.
        owner_kind: the kind of the owners, such as components.
    """
    selector = f"{OWNER_LABEL} in ({','.join(owners)})" if owners else ""
    objects = cluster.list(*INVENTORY.address, label_selector=selector).items
    return inventories_of(inventories_from(objects), owner_kind)


def read_all_inventories(cluster: Cluster) -> list[Inventory]:
    """The inventories of owners of all kinds."""
    return inventories_from(cluster.list(*INVENTORY.address).items)


def read_owned(cluster: Cluster) -> tuple[dict[str, Inventory], tuple[Inventory, ...]]:
    """Inventories by component, and those of owners of other kinds, whose objects must not be changed."""
    inventories = read_all_inventories(cluster)
    return inventories_of(inventories), tuple(one for one in inventories if one.owner_kind != COMPONENT)


def read_record_versions(cluster: Cluster) -> list[RecordVersion]:
    """Which versions of the inventories' records exist, without their content."""
    return [record_version(obj) for obj in cluster.list(*INVENTORY.address, metadata_only=True).items]
