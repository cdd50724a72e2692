# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory of a component, before and after it is applied, and what a deployment records beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .._cluster.cluster import Object, Ref, ref_of
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import ForeignFields, InventoryEntry, current_entry, intent_of
from .._release.model import ComponentEntry


@dataclass(frozen=True)
class DeployedAs:
    """What a deployment of a release records of a component beside its objects.

    Attributes:
        version: the release that it was deployed from.
        component_version: the component's own version, or empty.
        release: the fingerprint of the release that it was deployed from.
        source: sha256 over all that what was applied is rendered from, or empty.
        prerequisite: whether it goes before all that isn't, and so is deleted after that.
        needs: the components that it needs, which are deleted after it.
    """

    version: str = ""
    component_version: str = ""
    release: str = ""
    source: str = ""
    prerequisite: bool = False
    needs: tuple[str, ...] = ()


def deployed_as(inventory: Inventory) -> DeployedAs:
    """What is recorded of a component beside its objects."""
    details = inventory.details
    return DeployedAs(
        version=details.get("version", ""),
        component_version=details.get("componentVersion", ""),
        release=details.get("release", ""),
        source=details.get("source", ""),
        prerequisite=details.get("prerequisite", False),
        needs=tuple(details.get("needs", ())),
    )


def with_deployed_as(inventory: Inventory, deployed: DeployedAs) -> Inventory:
    """The inventory with what a deployment records beside it."""
    details = {
        "version": deployed.version,
        "componentVersion": deployed.component_version,
        "release": deployed.release,
        "source": deployed.source,
        "prerequisite": deployed.prerequisite,
        "needs": list(deployed.needs),
    }
    return replace(inventory, details={key: value for key, value in details.items() if value})


def listed_as(entry: ComponentEntry) -> DeployedAs:
    """What the component list says of a component, as far as that is recorded."""
    return DeployedAs(
        component_version=entry.version or "", prerequisite=entry.prerequisite, needs=entry.needs
    )


def intended_inventory(
    before: Inventory, namespace: str, listed: DeployedAs, objects: Iterable[Object], *, whole: bool = True
) -> Inventory:
    """The inventory to keep before a component is applied: nothing that is or will be there gets lost.

    The digest is empty, as the deployment isn't complete; what the release no longer contains is marked. What
    was there before keeps its place: of a large inventory no part takes what is still written in another.

    Args:
        before: what is remembered; without objects where that is nothing.
        namespace: the component's default one.
        listed: what the component list says of it.
        objects: what is to be applied.
        whole: whether these are all of its objects; else what it has beside them stays as it is noted.
    """
    known = {entry.ref: entry for entry in before.entries}
    wanted = {ref_of(obj): obj for obj in objects}
    new = {ref: InventoryEntry("", ref) for ref in wanted if ref not in known}

    def to_be(entry: InventoryEntry) -> InventoryEntry:
        obj = wanted.get(entry.ref)
        if obj is None:
            return entry._replace(dropped=True) if whole else entry
        return entry._replace(api_version=obj["apiVersion"], intent=intent_of(obj), dropped=False)

    entries = tuple(map(to_be, (known | new).values()))
    intent = replace(before, namespace=namespace, digest="", entries=entries)
    deployed = replace(deployed_as(before), prerequisite=listed.prerequisite, needs=listed.needs)
    return with_deployed_as(intent, deployed)


def completed_inventory(
    intent: Inventory,
    live: Mapping[Ref, Object],
    *,
    digest: str,
    deployed: DeployedAs,
    held: Mapping[Ref, ForeignFields] | None = None,
) -> Inventory:
    """The inventory after a component is healthy, with its objects as they are now.

    What the release dropped stays as it was noted: only what is still that very object may be pruned.

    Args:
        intent: what was to be deployed.
        live: the objects.
        digest: of what was applied.
        deployed: what is recorded beside its objects.
        held: what others hold of them: what was ceded, and what was added.
    """
    held = held or {}
    entries = tuple(
        current_entry(entry, live[entry.ref], held.get(entry.ref, (entry.ceded, entry.added)))
        if entry.ref in live and not entry.dropped
        else entry
        for entry in intent.entries
    )
    return with_deployed_as(replace(intent, digest=digest, entries=entries), deployed)


def with_list_entry(inventory: Inventory, namespace: str, listed: DeployedAs) -> Inventory:
    """The inventory of a component that stays as it is, with what the component list says of it by now."""
    before = deployed_as(inventory)
    deployed = replace(listed, version=before.version, release=before.release, source=before.source)
    return with_deployed_as(replace(inventory, namespace=namespace), deployed)
