# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which components must not be removed, as resources that they manage live on without them: pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import ClusterError
from .._cluster.kinds import is_built_in
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.prune.managed_resources import GroupKind, LivingResources
from .._objects.prune.removal_decision import DELETE, decide_removal

IsNeeded = Callable[[str, Collection[str]], bool]
"""Whether a component (by name) stays because some others stay."""


@dataclass(frozen=True)
class BlockedRemoval:
    """Why a component must not be removed.

    Attributes:
        living: the resources that it manages and that would live on.
        errors: why nobody knows what lives.
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

    What goes with another component in the same removal blocks none, unless that component stays itself.

    Args:
        managed: the kinds that each component manages.
        living: what lives of these kinds.
        removed: what is to go, by component.
        is_needed: whether a component stays as others do that need it.
        force: whether objects go that say of themselves that they stay.
    """
    staying: frozenset[str] = frozenset()

    def gone(name: str) -> set[Ref]:
        # What a component brings itself is never what blocks it.
        leaving = (entries for one, entries in removed.items() if one == name or one not in staying)
        return refs_that_go(living, chain.from_iterable(leaving), force=force)

    while True:
        found = {name: _blocked(kinds, living, gone(name)) for name, kinds in managed.items()}
        blocked = {name: one for name, one in found.items() if one.living or one.errors}
        now = _with_needed({*staying, *blocked}, removed, is_needed)
        if now == staying:
            return blocked
        staying = now


def _blocked(kinds: Iterable[GroupKind], living: LivingResources, gone: Collection[Ref]) -> BlockedRemoval:
    objects: list[Object] = []
    errors: list[ClusterError] = []
    for kind in sorted(kinds):
        found = living[kind]
        if isinstance(found, ClusterError):
            errors.append(found)
        else:
            objects += [obj for obj in found if ref_of(obj) not in gone]
    return BlockedRemoval(tuple(objects), tuple(errors))


def _with_needed(staying: Collection[str], names: Iterable[str], is_needed: IsNeeded) -> frozenset[str]:
    """Some components that stay, and those that stay for them: in the order in which they are removed."""
    found = set(staying)
    for name in names:
        if name not in found and is_needed(name, found):
            found.add(name)
    return frozenset(found)


def refs_that_go(
    living: LivingResources, leaving: Iterable[InventoryEntry], *, force: bool = False
) -> set[Ref]:
    """Those of the living resources that go with what is removed, or that the garbage collector takes then.

    Args:
        living: what lives.
        leaving: the entries of inventories that are removed.
        force: whether objects go that say of themselves that they stay.
    """
    objects = {ref_of(obj): obj for found in living.values() if isinstance(found, list) for obj in found}
    # A workload is no such owner: it goes with the operator, when it is too late for what it owns.
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
    """Whether an object goes when its owners go, as no other owner is left to it."""
    owners = obj["metadata"].get("ownerReferences") or ()
    return bool(owners) and all(owner.get("uid") in uids for owner in owners)
