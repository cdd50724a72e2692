# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects to delete when no component has them any more, and which may be deleted at all: pure.

Only inventories name the objects, never labels, as those are inherited: EndpointSlices have their Service's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from ..._cluster.cluster import Object, Ref
from ..._cluster.fields.written_by import is_written_by, written_by
from ..._cluster.kinds import CRD_KIND, NAMESPACE_KIND
from ..._cluster.own_objects import own_object_problem
from ..inventory.inventory import Inventory
from ..inventory.inventory_entry import InventoryEntry
from ..ownership.policy import is_allowed

PROTECTED = (CRD_KIND, ("", "PersistentVolumeClaim"), NAMESPACE_KIND)
"""Kinds (group, kind) whose deletion also deletes foreign objects: people's resources, data, namespaces."""

RESOURCE_POLICY = "helm.sh/resource-policy"
"""Helm never deletes an object with the value ``keep``; the author of the chart relies on that."""

GONE, DELETE, NOT_OWNED, RETAINED = "gone", "delete", "left", "kept"


@dataclass(frozen=True)
class RemovalDecision:
    """The decision about one object of an inventory.

    Attributes:
        action: ``gone`` (there is nothing to do), ``delete``, ``left`` (it isn't ours any more, and not our
            concern) or ``kept`` (it is ours, and stays).
        reason: a sentence about an object that is left or kept.
        uid, resource_version: preconditions of a deletion.
    """

    action: str
    reason: str = ""
    uid: str = ""
    resource_version: str = ""


def decide_removal(
    entry: InventoryEntry,
    live: Object | None,
    *,
    force: bool = False,
    approved: Collection[str] = (),
    own: bool = False,
) -> RemovalDecision:
    """The decision about an object to delete, by its present metadata.

    An object with another uid is someone else's. One that this collection has not written is too, whatever
    its entry says, as others may write records.

    Args:
        entry: its entry in the inventory.
        live: its metadata, or None if it does not exist.
        force: whether to delete it even if it is marked to stay.
        approved: see :class:`~.removal.Terms`.
        own: whether the collection deletes its own objects; no inventory makes it delete these.
    """
    if live is None:
        return RemovalDecision(GONE)
    if not own and (problem := own_object_problem(entry.ref)):
        return RemovalDecision(NOT_OWNED, f"{problem}, so it stays")
    meta = live["metadata"]
    uid = meta.get("uid", "")
    if entry.uid and uid != entry.uid:
        return RemovalDecision(
            NOT_OWNED, f"{entry.ref}: others have recreated it since it was deployed, so it stays"
        )
    if not may_delete(meta, approved):
        return RemovalDecision(
            NOT_OWNED, f"{entry.ref}: kyma.lifecycle has written nothing of it{written_by(meta)}, so it stays"
        )
    # On a definition the mark protects people's resources; these are checked when a definition is deleted.
    asks_to_stay = (meta.get("annotations") or {}).get(RESOURCE_POLICY) == "keep" and entry.ref[
        :2
    ] != CRD_KIND
    if asks_to_stay and not force:
        return RemovalDecision(
            RETAINED, f"{entry.ref}: it stays, as its annotation {RESOURCE_POLICY} says so"
        )
    return RemovalDecision(DELETE, uid=uid, resource_version=meta.get("resourceVersion", ""))


def may_delete(meta: Object, approved: Collection[str]) -> bool:
    """Whether this collection has written an object, by its metadata, or it was approved by its uid."""
    return is_written_by(meta) or meta.get("uid") in approved


def is_protected(ref: Ref, allowed: Collection[str]) -> bool:
    """Whether an object is never pruned: by its kind, unless the kind or the object itself is allowed.

    Args:
        ref: of the object.
        allowed: kinds (``Namespace``), or single objects (``PersistentVolumeClaim ns/a``).
    """
    return ref[:2] in PROTECTED and not is_allowed(ref, allowed)


def obsolete_entries(
    inventories: Iterable[Inventory],
    desired: Collection[Ref],
    owners: Collection[str],
    others: Iterable[Inventory] = (),
) -> dict[str, tuple[InventoryEntry, ...]]:
    """The entries of some owners that no owner wants any more.

    Args:
        inventories: of all owners of one kind, such as components.
        desired: all objects that these are to have: an object that moved from one owner to another stays.
        owners: whose objects may be deleted: owners that stay, and those that are deleted as a whole. Objects
            of all other owners are wanted too.
        others: of owners of other kinds, whose objects all stay.

    Returns:
        By owner, without owners that have none.
    """
    inventories, others = list(inventories), list(others)
    known = [*inventories, *others]
    limits = [*others, *(one for one in inventories if one.owner not in owners)]
    staying = {*desired, *(ref for one in limits for ref in one.refs)}
    # Two groups may serve the same object under two references, as Ingresses were.
    uids = {entry.uid for one in known for entry in one.entries if entry.uid and entry.ref in staying}
    obsolete = {
        one.owner: tuple(e for e in one.entries if e.ref not in staying and e.uid not in uids)
        for one in inventories
        if one.owner in owners
    }
    return {owner: entries for owner, entries in obsolete.items() if entries}


def may_prune(
    inventories: Mapping[str, Inventory],
    components: Collection[str],
    live: Mapping[Ref, Object],
    allowed: Collection[str],
    orphans: bool,
    others: Iterable[Inventory] = (),
) -> bool:
    """Whether a deployed release has anything left to prune.

    Args:
        inventories: the recorded ones, by component.
        components: of the release.
        live: the metadata of all objects of inventories.
        allowed: see :func:`is_protected`.
        orphans: whether to delete components that the release lacks.
        others: of owners that are no components.
    """
    desired = {ref for name in components if name in inventories for ref in inventories[name].refs}
    pruned_owners = set(inventories) if orphans else set(components)
    return any(
        not is_protected(entry.ref, allowed) and decide_removal(entry, live.get(entry.ref)).action == DELETE
        for entries in obsolete_entries(inventories.values(), desired, pruned_owners, others).values()
        for entry in entries
    )
