# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered in the cluster: the shapes of our custom resources, to and from plain values.

Three kinds in the group ``lifecycle.kyma-project.io``, all cluster-scoped, as they speak of the cluster as a
whole: the ``Installation`` (one: which release the cluster has, and where it is heading), an ``Inventory``
(one or more per component: what it consists of) and a ``Run`` (one per deployment: what was done, how long it
took and how it ended).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP, Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.hold import Hold, hold_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import (
    Inventory,
    KeptPart,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import Entry

API_VERSION = f"{GROUP}/v1alpha1"
INSTALLATION_NAME = "kyma"
COMPONENT_LABEL = f"{GROUP}/component"
"""On inventories: whose they are."""
DEPLOY, DELETE = "deploy", "delete"
"""What a run does."""
BYTES_PER_ENTRY = 350
ENTRIES_PER_OBJECT = 1500
"""Most entries take less than 350 bytes: so an Inventory stays at half of the 1 MiB that one may have."""


@dataclass(frozen=True)
class Installation:
    """Which release a cluster has.

    Attributes:
        version: the release that was last deployed completely, or empty.
        target: the release that is being deployed; equals ``version`` when nothing is open.
        profile: of the target.
        digest: of the release that ``version`` was deployed from, rendering and options included.
        components: names of the components of ``version``, the foundation included.
        last_run: the name of the newest run.
        definitions: a hash of our definitions as they were last brought, or empty.
        resource_version, uid: of the record itself, to notice that somebody was quicker.
        hold: a person's word that nothing is to be deployed; no deployment writes it.
    """

    version: str = ""
    target: str = ""
    profile: str = ""
    digest: str = ""
    components: tuple[str, ...] = ()
    last_run: str = ""
    definitions: str = ""
    resource_version: str = ""
    uid: str = ""
    hold: Hold | None = None


def installation_from(obj: Object | None) -> Installation:
    """The installation that a record tells of; an empty one where there is no record."""
    if obj is None:
        return Installation()
    status = obj.get("status") or {}
    return Installation(
        version=status.get("version", ""),
        target=status.get("target", ""),
        profile=status.get("profile", ""),
        digest=status.get("digest", ""),
        components=tuple(status.get("components") or ()),
        last_run=status.get("lastRun", ""),
        definitions=status.get("definitions", ""),
        resource_version=obj["metadata"].get("resourceVersion", ""),
        uid=obj["metadata"].get("uid", ""),
        hold=hold_from(obj),
    )


def inventories_from(objects: Iterable[Object]) -> dict[str, Inventory]:
    """The inventories by component, put together from the objects that they were split over."""
    parts: dict[str, list[Object]] = {}
    for obj in objects:
        parts.setdefault(obj["spec"]["component"], []).append(obj)
    return {component: _joined(component, objs) for component, objs in parts.items()}


def _joined(component: str, objects: list[Object]) -> Inventory:
    objects = sorted(objects, key=lambda obj: (_part(obj), _is_misnamed(obj)))
    first = objects[0]["spec"]
    # Later ones are left of an inventory that was larger, and second ones of a version with other names.
    parts = {_part(obj): obj for obj in reversed(objects) if _part(obj) < first.get("parts", 1)}
    # A part that was written while another was not yet belongs to a deployment that isn't complete.
    digests = {part["spec"].get("digest", "") for part in parts.values()}
    complete = len(digests) == 1 and "" not in digests and len(parts) == first.get("parts", 1)
    # Until it is complete nothing that any of them names may get lost.
    told = [parts[number] for number in sorted(parts)] if complete else objects
    entries: dict[Ref, Entry] = {}
    for entry in (entry_from(entry) for obj in told for entry in obj["spec"].get("objects") or ()):
        entries.setdefault(entry.ref, entry)
    return Inventory(
        component,
        first.get("namespace", ""),
        first.get("version", ""),
        digests.pop() if complete else "",
        tuple(entries.values()),
        component_version=first.get("componentVersion", ""),
        release=first.get("release", ""),
        prerequisite=first.get("prerequisite", False),
        needs=tuple(first.get("needs") or ()),
        source=first.get("source", ""),
        kept=tuple(kept_part(obj) for obj in objects),
    )


def _part(obj: Object) -> int:
    return int(obj["spec"].get("part", 0))


def _is_misnamed(obj: Object) -> bool:
    return bool(obj["metadata"]["name"] != part_name(obj["spec"]["component"], _part(obj)))


def part_name(component: str, part: int) -> str:
    """The name of a part of a component's inventory: no component's name, as these hold no dots."""
    return f"{component}.{part}" if part else component


def kept_part(obj: Object) -> KeptPart:
    """Which version of an Inventory this is."""
    meta = obj["metadata"]
    return KeptPart(meta["name"], meta.get("uid", ""), meta.get("resourceVersion", ""))


def basis_of(installation: Installation, inventories: Iterable[Inventory], identity: str = "") -> str:
    """What a cluster remembers, in short: differs as soon as anybody has deployed anything meanwhile.

    A hold is no deployment, so neither it nor the record's ``resourceVersion``, which it moves, counts.

    Args:
        installation, inventories: what is recorded.
        identity: which cluster it is, where that can't be told by the name of its newest run.
    """
    deployed = asdict(replace(installation, hold=None, resource_version="", uid=""))
    components = sorted((one.component, one.version, one.digest) for one in inventories)
    told = [deployed, components, *filter(None, [identity])]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def versions_of(installation: Installation, parts: Iterable[KeptPart]) -> str:
    """Which versions of its records a cluster has, in short; empty where it has no record of an installation.

    Where these are the same, what the cluster remembers is so too. Where they differ it may still be the
    same: what a plan has seen of objects is noted without a deployment.

    Args:
        installation: as it is recorded.
        parts: the records of all inventories.
    """
    if not installation.uid:
        return ""
    told = [installation.uid, installation.resource_version, sorted(map(list, parts))]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def inventory_objects(inventory: Inventory) -> list[Object]:
    """An inventory as the objects to write, split so that none comes near the server's limit."""
    chunks = _chunks(inventory.entries)
    return [
        {
            "apiVersion": API_VERSION,
            "kind": "Inventory",
            "metadata": {
                "name": part_name(inventory.component, part),
                "labels": {COMPONENT_LABEL: inventory.component},
            },
            "spec": {
                "component": inventory.component,
                "namespace": inventory.namespace,
                "version": inventory.version,
                "componentVersion": inventory.component_version,
                "digest": inventory.digest,
                "release": inventory.release,
                "source": inventory.source,
                "prerequisite": inventory.prerequisite,
                "needs": list(inventory.needs),
                "part": part,
                "parts": len(chunks),
                "objects": chunk,
            },
        }
        for part, chunk in enumerate(chunks)
    ]


def _chunks(entries: Iterable[Entry]) -> list[list[dict[str, Any]]]:
    """Entries as they stand in records, split over these."""
    chunks: list[list[dict[str, Any]]] = [[]]
    room = float(ENTRIES_PER_OBJECT)
    for entry in entries:
        kept = entry_to(entry)
        # Long names, and what is remembered of others, take more than most entries do.
        weight = max(1.0, len(json.dumps(kept)) / BYTES_PER_ENTRY)
        if chunks[-1] and weight > room:
            chunks.append([])
            room = float(ENTRIES_PER_OBJECT)
        chunks[-1].append(kept)
        room -= weight
    return chunks


def entry_to(entry: Entry) -> dict[str, Any]:
    """An inventory's entry as it stands in a record."""
    fields = {
        "apiVersion": entry.api_version,
        "kind": entry.ref.kind,
        "namespace": entry.ref.namespace,
        "name": entry.ref.name,
        "uid": entry.uid,
        "resourceVersion": entry.resource_version,
        "own": entry.own,
        "others": entry.others,
        "touched": entry.touched,
        "intent": entry.intent,
        "dropped": entry.dropped,
        "ceded": list(entry.ceded),
        "added": list(entry.added),
        "finished": entry.finished,
        "madeBy": entry.made_by,
    }
    return {key: value for key, value in fields.items() if value}


def entry_from(entry: Mapping[str, Any]) -> Entry:
    """The entry that a record tells of."""
    api_version = entry["apiVersion"]
    return Entry(
        api_version=api_version,
        ref=Ref(api_version.rpartition("/")[0], entry["kind"], entry.get("namespace", ""), entry["name"]),
        uid=entry.get("uid", ""),
        resource_version=entry.get("resourceVersion", ""),
        own=entry.get("own", ""),
        others=entry.get("others", ""),
        touched=entry.get("touched", ""),
        intent=entry.get("intent", ""),
        dropped=entry.get("dropped", False),
        ceded=tuple(entry.get("ceded") or ()),
        added=tuple(entry.get("added") or ()),
        finished=entry.get("finished", ""),
        made_by=entry.get("madeBy", ""),
    )
