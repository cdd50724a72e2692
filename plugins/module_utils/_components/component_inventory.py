# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory of a component, before and after it is applied, with the other data of a deployment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from .._cluster.cluster import Object, Ref, ref_of
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import ForeignFields, InventoryEntry, current_entry, intent_of
from .._record_codec import from_record, to_record
from .._release.model import ComponentEntry


@dataclass(frozen=True)
class DeployedAs:
    """The data that a deployment of a release records for a component in addition to its objects.

    Attributes:
        version: the deployed release.
        component_version: the component's own version, or empty.
        release: the fingerprint of the deployed release.
        source: sha256 over all inputs of the rendering, or empty.
        prerequisite: whether it is deployed before all components that aren't, and so deleted after them.
        needs: the components that it needs, which are deleted after it.
        run: the run that last applied it, or empty; recorded before the first object is.
    """

    version: str = ""
    component_version: str = ""
    release: str = ""
    source: str = ""
    prerequisite: bool = False
    needs: tuple[str, ...] = ()
    run: str = ""


def deployed_as(inventory: Inventory) -> DeployedAs:
    """The data recorded for a component in addition to its objects."""
    return from_record(DeployedAs, inventory.details)


def with_deployed_as(inventory: Inventory, deployed: DeployedAs) -> Inventory:
    """The inventory with the additional data of a deployment."""
    return replace(inventory, details={key: value for key, value in to_record(deployed).items() if value})


def listed_as(entry: ComponentEntry) -> DeployedAs:
    """The data of a component in the component list, as far as it is recorded."""
    return DeployedAs(
        component_version=entry.version or "", prerequisite=entry.prerequisite, needs=entry.needs
    )


def intended_inventory(
    before: Inventory, namespace: str, listed: DeployedAs, objects: Iterable[Object], *, whole: bool = True
) -> Inventory:
    """The inventory to store before a component is applied: it names all existing and all new objects.

    The digest is empty, as the deployment isn't complete; objects that the release dropped are marked. Old
    entries do not change their positions: no part of a large inventory gets entries of a later part.

    Args:
        before: the recorded inventory; without objects if there is none.
        namespace: the component's default namespace.
        listed: its data in the component list.
        objects: the objects to apply.
        whole: whether these are all of its objects; else the entries of the others do not change.
    """
    recorded = {entry.ref: entry for entry in before.entries}
    desired = {ref_of(obj): obj for obj in objects}
    new = {ref: InventoryEntry("", ref) for ref in desired if ref not in recorded}

    def to_be(entry: InventoryEntry) -> InventoryEntry:
        obj = desired.get(entry.ref)
        if obj is None:
            return entry._replace(dropped=True) if whole else entry
        return entry._replace(api_version=obj["apiVersion"], intent=intent_of(obj), dropped=False)

    entries = tuple(map(to_be, (recorded | new).values()))
    intent = replace(before, namespace=namespace, digest="", entries=entries)
    deployed = replace(
        deployed_as(before), prerequisite=listed.prerequisite, needs=listed.needs, run=listed.run
    )
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

    The entries of dropped objects do not change: only an unreplaced object may be pruned.

    Args:
        intent: the inventory of the intended deployment.
        live: the objects.
        digest: of the applied content.
        deployed: the additional data to record.
        held: the fields of the objects that others own: ceded ones, and added ones.
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
    """The inventory of an unchanged component, with its present data in the component list."""
    before = deployed_as(inventory)
    deployed = replace(
        listed, version=before.version, release=before.release, source=before.source, run=before.run
    )
    return with_deployed_as(replace(inventory, namespace=namespace), deployed)
