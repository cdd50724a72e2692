# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds components that must not be removed, as resources that they manage would still exist: pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import ClusterError
from .._cluster.kinds import is_built_in
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.prune.managed_resources import GroupKind, LivingResources
from .._objects.prune.prune_decision import DELETE, decide_removal

IsNeeded = Callable[[str, Collection[str]], bool]
"""Whether a component (by name) stays because some others stay."""


@dataclass(frozen=True)
class BlockedRemoval:
    """The reason that a component must not be removed.

    Attributes:
        living: the resources that it manages and that would still exist.
        errors: why the existing resources are unknown.
    """

    living: tuple[Object, ...] = ()
    errors: tuple[ClusterError, ...] = ()


def blocked_removals(
    managed: Mapping[str, Collection[GroupKind]],
    living: LivingResources,
    removed: Mapping[str, Sequence[InventoryEntry]],
    is_needed: IsNeeded,
    *,
    force: bool = False,
) -> dict[str, BlockedRemoval]:
    """The components that must not be removed, each with the reason.

    Resources deleted with another component in the same removal block none, unless that component stays.

    Args:
        managed: the kinds that each component manages.
        living: the existing objects of these kinds.
        removed: the entries to remove, by component.
        is_needed: whether a component stays because others that need it stay.
        force: whether objects are deleted that are marked to stay.
    """
    staying: frozenset[str] = frozenset()

    def gone(name: str) -> set[Ref]:
        # A component's own objects never block it.
        leaving = (entries for one, entries in removed.items() if one == name or one not in staying)
        return refs_that_go(living, chain.from_iterable(leaving), force=force)

    while True:
        removals = {name: _blocked(kinds, living, gone(name)) for name, kinds in managed.items()}
        blocked = {name: one for name, one in removals.items() if one.living or one.errors}
        now = _with_needed({*staying, *blocked}, removed, is_needed)
        if now == staying:
            return blocked
        staying = now


def _blocked(kinds: Iterable[GroupKind], living: LivingResources, gone: Collection[Ref]) -> BlockedRemoval:
    objects: list[Object] = []
    errors: list[ClusterError] = []
    for kind in sorted(kinds):
        resources = living[kind]
        if isinstance(resources, ClusterError):
            errors.append(resources)
        else:
            objects += [obj for obj in resources if ref_of(obj) not in gone]
    return BlockedRemoval(tuple(objects), tuple(errors))


def _with_needed(staying: Collection[str], names: Iterable[str], is_needed: IsNeeded) -> frozenset[str]:
    """Components that stay, and those that stay because these need them: in the order of removal."""
    all_staying = set(staying)
    for name in names:
        if name not in all_staying and is_needed(name, all_staying):
            all_staying.add(name)
    return frozenset(all_staying)


def refs_that_go(
    living: LivingResources, leaving: Iterable[InventoryEntry], *, force: bool = False
) -> set[Ref]:
    """The existing resources that are removed, or that the garbage collector deletes as a result.

    Args:
        living: the existing resources.
        leaving: the entries of inventories that are removed.
        force: whether objects are deleted that are marked to stay.
    """
    objects = {
        ref_of(obj): obj for resources in living.values() if isinstance(resources, list) for obj in resources
    }
    # A workload does not count as an owner: it is deleted with the operator, too late for its dependents.
    entries = [entry for entry in leaving if not is_built_in(entry.ref.group)]
    gone = {
        entry.ref
        for entry in entries
        if entry.ref in objects and decide_removal(entry, objects[entry.ref], force=force).action == DELETE
    }
    uids = {entry.uid for entry in entries if entry.ref[:2] not in living and entry.uid}
    while True:
        uids |= {objects[ref]["metadata"].get("uid") for ref in gone}
        owned = {ref for ref, obj in objects.items() if ref not in gone and _is_owned(obj, uids)}
        if not owned:
            return gone
        gone |= owned


def _is_owned(obj: Object, uids: Collection[str]) -> bool:
    """Whether an object is deleted with these owners, as it has no other owner."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return bool(owners) and all(owner.get("uid") in uids for owner in owners)
