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
from typing import Any

from ..._cluster.cluster import Cluster, Object, Ref
from ..._cluster.errors import Conflict
from ..._custom_resources.crd_builder import (
    BOOLEAN,
    INTEGER,
    OPEN,
    STRING,
    STRINGS,
    object_schema,
    resource_definition,
)
from ..._objects.inventory.inventory import COMPONENT, Inventory, RecordVersion, inventories_of
from ..._objects.inventory.inventory_entry import InventoryEntry
from .record_schema import API_VERSION, OWNER_LABEL, known_record
from .record_writer import apply_record

_ENTRY_SCHEMA = object_schema(
    ["apiVersion", "kind", "name"],
    apiVersion=STRING,
    kind=STRING,
    namespace=STRING,
    name=STRING,
    uid=STRING,
    resourceVersion=STRING,
    own=STRING,
    others=STRING,
    touched=STRING,
    intent=STRING,
    dropped=BOOLEAN,
    finished=STRING,
    madeBy=STRING,
    ceded=STRINGS,
    added=STRINGS,
)
INVENTORY_DEFINITION = resource_definition(
    "Inventory",
    "inventories",
    "kyinv",
    {
        "spec": object_schema(
            ["owner", "ownerKind"],
            owner=STRING,
            ownerKind=STRING,
            namespace=STRING,
            digest=STRING,
            details=OPEN,
            part=INTEGER,
            parts=INTEGER,
            objects={"type": "array", "items": _ENTRY_SCHEMA},
        )
    },
    [
        ("Kind", "string", ".spec.ownerKind"),
        ("Version", "string", ".spec.details.version"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    wide_columns=[("Owner", "string", ".spec.owner"), ("Digest", "string", ".spec.digest")],
    required=["spec"],
)

BYTES_PER_ENTRY = 350
ENTRIES_PER_OBJECT = 1500
"""Most entries take less than 350 bytes: so an Inventory stays at half of its maximum of 1 MiB."""


def inventories_from(objects: Iterable[Object]) -> list[Inventory]:
    """The inventories of all owners, joined from the objects that they were split over.

    Raises:
        NewerRecord: a newer version of this collection has written one.
    """
    parts: dict[tuple[str, str], list[Object]] = {}
    for obj in map(known_record, objects):
        parts.setdefault((obj["spec"]["ownerKind"], obj["spec"]["owner"]), []).append(obj)
    return [_join_parts(*owner, objs) for owner, objs in parts.items()]


def _join_parts(owner_kind: str, owner: str, objects: list[Object]) -> Inventory:
    objects = sorted(objects, key=lambda obj: (_part(obj), _is_misnamed(obj)))
    first = objects[0]["spec"]
    # Surplus parts remain of an inventory that was larger, and duplicates of a version with other names.
    parts = {_part(obj): obj for obj in reversed(objects) if _part(obj) < first.get("parts", 1)}
    # If one part was written and another was not yet, the deployment is not complete.
    digests = {part["spec"].get("digest", "") for part in parts.values()}
    complete = len(digests) == 1 and "" not in digests and len(parts) == first.get("parts", 1)
    # Until it is complete, no object that any part names may be lost.
    sources = [parts[number] for number in sorted(parts)] if complete else objects
    entries: dict[Ref, InventoryEntry] = {}
    for entry in (entry_from_record(entry) for obj in sources for entry in obj["spec"].get("objects") or ()):
        entries.setdefault(entry.ref, entry)
    return Inventory(
        owner,
        first.get("namespace", ""),
        digests.pop() if complete else "",
        tuple(entries.values()),
        owner_kind,
        first.get("details") or {},
        record_versions=tuple(record_version(obj) for obj in objects),
    )


def _part(obj: Object) -> int:
    return int(obj["spec"].get("part", 0))


def _is_misnamed(obj: Object) -> bool:
    spec = obj["spec"]
    return bool(obj["metadata"]["name"] != part_name(spec["owner"], spec["ownerKind"], _part(obj)))


def part_name(owner: str, owner_kind: str, part: int) -> str:
    """The name of a part of an inventory: unique to its owner, as names of owners contain no dots."""
    name = owner if owner_kind == COMPONENT else f"{owner}.{owner_kind}"
    return f"{name}.{part}" if part else name


def record_version(obj: Object) -> RecordVersion:
    """Which version of an Inventory this is."""
    meta = obj["metadata"]
    return RecordVersion(meta["name"], meta.get("uid", ""), meta.get("resourceVersion", ""))


def inventory_objects(inventory: Inventory) -> list[Object]:
    """The objects of an inventory, split so that none is near the server's size limit."""
    chunks = _chunks(inventory.entries)
    return [
        {
            "apiVersion": API_VERSION,
            "kind": "Inventory",
            "metadata": {
                "name": part_name(inventory.owner, inventory.owner_kind, part),
                "labels": {OWNER_LABEL: inventory.owner},
            },
            "spec": {
                "owner": inventory.owner,
                "ownerKind": inventory.owner_kind,
                "namespace": inventory.namespace,
                "digest": inventory.digest,
                "details": dict(inventory.details),
                "part": part,
                "parts": len(chunks),
                "objects": chunk,
            },
        }
        for part, chunk in enumerate(chunks)
    ]


def _chunks(entries: Iterable[InventoryEntry]) -> list[list[dict[str, Any]]]:
    """Chunks of these entries, in the form of records."""
    chunks: list[list[dict[str, Any]]] = [[]]
    room = float(ENTRIES_PER_OBJECT)
    for entry in entries:
        record = entry_to_record(entry)
        # Long names, and findings about others, take more space than most entries do.
        weight = max(1.0, len(json.dumps(record)) / BYTES_PER_ENTRY)
        if chunks[-1] and weight > room:
            chunks.append([])
            room = float(ENTRIES_PER_OBJECT)
        chunks[-1].append(record)
        room -= weight
    return chunks


def entry_to_record(entry: InventoryEntry) -> dict[str, Any]:
    """The record of an inventory's entry."""
    fields = {
        "apiVersion": entry.api_version,
        "kind": entry.ref.kind,
        "namespace": entry.ref.namespace,
        "name": entry.ref.name,
        "uid": entry.uid,
        "resourceVersion": entry.resource_version,
        "own": entry.own,
        "others": entry.others_hash,
        "touched": entry.manual_write_time,
        "intent": entry.intent,
        "dropped": entry.dropped,
        "ceded": list(entry.ceded),
        "added": list(entry.added),
        "finished": entry.finished,
        "madeBy": entry.made_by,
    }
    return {key: value for key, value in fields.items() if value}


def entry_from_record(entry: Mapping[str, Any]) -> InventoryEntry:
    """The entry in a record."""
    api_version = entry["apiVersion"]
    return InventoryEntry(
        api_version=api_version,
        ref=Ref(api_version.rpartition("/")[0], entry["kind"], entry.get("namespace", ""), entry["name"]),
        uid=entry.get("uid", ""),
        resource_version=entry.get("resourceVersion", ""),
        own=entry.get("own", ""),
        others_hash=entry.get("others", ""),
        manual_write_time=entry.get("touched", ""),
        intent=entry.get("intent", ""),
        dropped=entry.get("dropped", False),
        ceded=tuple(entry.get("ceded") or ()),
        added=tuple(entry.get("added") or ()),
        finished=entry.get("finished", ""),
        made_by=entry.get("madeBy", ""),
    )


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
        apply_record(cluster, INVENTORY_DEFINITION, part, force=True)
        names.add(name)
    return names


def _delete_parts(cluster: Cluster, parts: Iterable[RecordVersion], needed: Collection[str] = ()) -> None:
    for part in parts:
        if part.name not in needed:
            cluster.delete(
                API_VERSION, "Inventory", part.name, uid=part.uid, resource_version=part.resource_version
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
    objects = cluster.list(API_VERSION, "Inventory", label_selector=selector).items
    return inventories_of(inventories_from(objects), owner_kind)


def read_all_inventories(cluster: Cluster) -> list[Inventory]:
    """The inventories of owners of all kinds."""
    return inventories_from(cluster.list(API_VERSION, "Inventory").items)


def read_owned(cluster: Cluster) -> tuple[dict[str, Inventory], tuple[Inventory, ...]]:
    """Inventories by component, and those of owners of other kinds, whose objects must not be changed."""
    inventories = read_all_inventories(cluster)
    return inventories_of(inventories), tuple(one for one in inventories if one.owner_kind != COMPONENT)


def read_record_versions(cluster: Cluster) -> list[RecordVersion]:
    """Which versions of the inventories' records exist, without their content."""
    return [record_version(obj) for obj in cluster.list(API_VERSION, "Inventory", metadata_only=True).items]
