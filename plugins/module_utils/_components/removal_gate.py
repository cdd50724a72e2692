# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retains components whose managed resources would still exist: an operator is removed after its resources.

Without its operator nothing removes a resource's finalizers, and what the resource represents is orphaned.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

from .._cluster.cluster import Cluster, Object, Ref, ref_of
from .._cluster.errors import ClusterError, Forbidden
from .._cluster.kinds import CRD_KIND
from .._objects.access.rights import CRDS, RBAC, Right, right_for
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import InventoryEntry
from .._objects.prune.managed_kinds import (
    ManagedKinds,
    ManagingObjects,
    definition_names,
    managing_objects,
    read_managed_kinds,
)
from .._objects.prune.managed_resources import (
    GroupKind,
    LivingResources,
    describe_living,
    living_resources,
    read_living,
)
from .blocked_removals import BlockedRemoval, IsNeeded, blocked_removals

POLL_SECONDS = 1.0
"""Seconds between checks whether the resources that an operator must outlive are gone."""
Deny = Callable[[Mapping[str, ManagedKinds]], None]
"""Denies the creation of more resources of the kinds that each component manages."""
_RUNS_OPERATORS = frozenset({"apps", "batch", RBAC})
"""The API groups of an operator's objects, in addition to Pods and ServiceAccounts."""


@dataclass(frozen=True)
class PlannedRemovals:
    """The planned removals of components.

    Attributes:
        removed: the entries that each component gives up, in the order in which components are removed.
        whole: the names of components that are removed as a whole.
        inventories: of all components.
        others: of owners that are no components.
        dropped: the names of definitions that the release no longer has, whether they are deleted or not.
        is_needed: whether a component stays because others that need it stay.
        advice: what the user can do about resources that block a component.
        force: whether resources are deleted first, so that they block none.
        associated: other kinds that a component manages, besides those that its objects define or operate.
        approved: uids of definitions that count as ours although others have written them.
    """

    removed: Mapping[str, Sequence[InventoryEntry]]
    whole: Collection[str]
    inventories: Mapping[str, Inventory]
    others: Sequence[Inventory] = ()
    dropped: Collection[str] = ()
    is_needed: IsNeeded = lambda _name, _staying: False
    advice: str = ""
    force: bool = False
    associated: Mapping[str, Collection[GroupKind]] = field(default_factory=dict)
    approved: Collection[str] = ()


@dataclass
class RemovalGate:
    """Decides what has to stay of components that are to be removed, as a whole or in part.

    Args:
        cluster: live or an overlay.
        planned: the planned removals.
        waits: whether the cluster can change during a wait; not in a rehearsal.
    """

    cluster: Cluster
    planned: PlannedRemovals
    waits: bool = True
    _managed: dict[str, ManagedKinds] | None = None
    _foreign_kinds: frozenset[GroupKind] = frozenset()
    _living: LivingResources = field(default_factory=dict)
    _blocked: dict[str, BlockedRemoval] = field(default_factory=dict)

    def look(self, deny: Deny = lambda _managed: None) -> None:
        """Read the existing resources, which all other methods need: one request per kind, and a few more.

        Args:
            deny: called before the resources are read.
        """
        try:
            managed = self._read_managed()
        except ClusterError as error:
            unknown = BlockedRemoval(errors=(error,))
            self._blocked = dict.fromkeys(self._managing, unknown)
            return
        deny(managed)
        planned = self.planned
        self._living = living_resources(self.cluster, chain.from_iterable(managed.values()))
        removals = blocked_removals(
            managed, self._living, planned.removed, planned.is_needed, force=planned.force
        )
        self._blocked = {name: one for name, one in removals.items() if one.errors or not planned.force}

    def rights(self) -> set[Right]:
        """The rights that :meth:`look` needs, as far as known; with force also those to delete resources."""
        roles = [entry.ref for one in self._managing.values() if one.operable for entry in one.roles]
        rights = {Right("list", RBAC, f"{ref.kind.lower()}s", ref.namespace) for ref in roles}
        if self._managing:
            rights.add(Right("list", CRDS, "customresourcedefinitions"))
        try:
            kinds = sorted(set(chain.from_iterable(self._read_managed().values())))
            served = [one for kind in kinds for one in self.cluster.served(*kind)[:1]]
        except ClusterError:
            # The look reports the reason.
            return rights
        verbs = ("list", "get", "delete") if self.planned.force else ("list",)
        return rights | {right_for(verb, one, "") for one in served for verb in verbs}

    def refusal(self, name: str) -> str:
        """Why nothing of a component may be removed, for the user; empty if it may."""
        blocked = self._blocked.get(name)
        if blocked is None:
            return ""
        if blocked.errors:
            reasons = "; ".join(map(str, blocked.errors))
            return (
                f"nothing of it is deleted, because it is unknown whether resources that it manages "
                f"exist: {reasons}"
            )
        if name not in self.planned.whole:
            return ""
        reasons = _describe(blocked.living)
        head = "nothing of it is deleted, because resources that it manages exist and need it"
        return f"{head}: {reasons}\n    {self.planned.advice}"

    def refused_reads(self, name: str) -> list[Forbidden]:
        """The reads without permission for which a component is refused."""
        return [error for error in self.errors(name) if isinstance(error, Forbidden)]

    def errors(self, name: str) -> Sequence[ClusterError]:
        """Why the resources of a component are unknown; mostly empty."""
        return self._blocked.get(name, BlockedRemoval()).errors

    def retained(self) -> dict[Ref, str]:
        """The objects of partly removed components that must not be deleted, each with the reason."""
        reasons: dict[Ref, str] = {}
        for name, blocked in self._blocked.items():
            if name in self.planned.whole or blocked.errors:
                continue
            counts = describe_living(blocked.living, datetime.now(UTC))[0]
            for entry in self.planned.removed[name]:
                # For a definition the reason is reported when it would be deleted.
                if entry.ref[:2] != CRD_KIND:
                    reasons[entry.ref] = (
                        f"{entry.ref}: it stays, because resources that may need it exist: {counts}"
                    )
        return reasons

    def foreign_resources(self) -> list[Object]:
        """The resources of components that may be removed, which no component gives up.

        Those of a kind that others have defined are not among them, as others may write inventories.
        """
        own = {entry.ref for entries in self.planned.removed.values() for entry in entries}
        managed = (self._managed or {}).items()
        kinds = {kind for name, some in managed if not self.refusal(name) for kind in some}
        return [obj for obj in self._living_of(kinds - self._foreign_kinds) if ref_of(obj) not in own]

    def is_defined_by_others(self, obj: Object) -> bool:
        """Whether others have written the definition of an object's kind."""
        return ref_of(obj)[:2] in self._foreign_kinds

    def resources(self, name: str) -> list[Object]:
        """All resources that a component manages, as far as they could be read."""
        return self._living_of(self._managed_by(name))

    def resources_of_later(self, name: str, later: Iterable[str]) -> list[InventoryEntry]:
        """The resources of later removed components that a component's operator must outlive."""
        kinds = self._managed_by(name)
        return [
            entry
            for other in later
            if not self.refusal(other)
            for entry in self.planned.removed[other]
            if entry.ref[:2] in kinds
        ]

    def wait_until_gone(self, name: str, deadline: float, cancelled: Callable[[], bool]) -> str:
        """Wait until the resources are gone that are to be deleted before their operator.

        It reads lists, and follows no objects as :mod:`~.health.wait` does. Resources that are created in the
        meantime count, too. Each round decides again whether all of them are going. And a watch takes a right
        to kinds that are known only once the definitions are read, so that no preflight could ask for it.

        Args:
            name: of the component with the operator.
            deadline: when to give up, on the clock of ``time.monotonic()``.
            cancelled: whether to give up.

        Returns:
            Why the rest of the component must not be removed; empty if it may.
        """
        while kinds := self._awaited(name):
            try:
                left = read_living(self.cluster, kinds)
            except ClusterError as error:
                return f"its operator stays, because it is unknown whether its resources exist: {error}"
            if self.planned.force:
                # Resources that are created meanwhile are deleted with their definition.
                left = [obj for obj in left if obj["metadata"].get("deletionTimestamp")]
            if not left:
                break
            now = time.monotonic()
            if not self.waits or cancelled() or now >= deadline or not all(map(_is_going, left)):
                return f"its operator stays, because its resources exist: {_describe(left)}"
            time.sleep(min(POLL_SECONDS, deadline - now))
        return ""

    def _awaited(self, name: str) -> list[GroupKind]:
        """The kinds whose resources are deleted before a component's operator, if it has one."""
        if name in self._blocked or not any(map(_runs_operator, self.planned.removed.get(name, ()))):
            return []
        return [kind for kind in sorted(self._managed_by(name)) if self._living.get(kind)]

    def _living_of(self, kinds: Iterable[GroupKind]) -> list[Object]:
        resources = (self._living.get(kind, []) for kind in sorted(kinds))
        return list(chain.from_iterable(one for one in resources if isinstance(one, list)))

    def _managed_by(self, name: str) -> ManagedKinds:
        return (self._managed or {}).get(name, {})

    def _read_managed(self) -> dict[str, ManagedKinds]:
        if self._managed is None:
            managing = self._managing
            kinds = read_managed_kinds(self.cluster, managing, self.planned.approved) if managing else None
            self._managed, self._foreign_kinds = kinds or ({}, frozenset())
        return self._managed

    @property
    def _managing(self) -> dict[str, ManagingObjects]:
        """By component, the objects that determine its managed kinds; without components that manage none."""
        planned = self.planned
        known = [*planned.inventories.values(), *planned.others]
        defined = [name for one in known for name in definition_names(one.entries)]
        managing: dict[str, ManagingObjects] = {}
        for name, removed in planned.removed.items():
            if name in planned.whole:
                managing[name] = managing_objects(removed, removed, defined, planned.associated.get(name, ()))
            elif any(map(_runs_operator, removed)):
                # If a kind's definition stays wanted, another workload is now its operator.
                managing[name] = managing_objects(removed, planned.inventories[name].entries, planned.dropped)
        return {name: one for name, one in managing.items() if one.may_manage}


def _runs_operator(entry: InventoryEntry) -> bool:
    """Whether an object may be a part of an operator."""
    return entry.ref.group in _RUNS_OPERATORS or entry.ref[:2] in (("", "Pod"), ("", "ServiceAccount"))


def _describe(objects: Sequence[Object]) -> str:
    """A description of existing objects, in several lines."""
    return "\n    ".join(describe_living(objects, datetime.now(UTC)))


def _is_going(obj: Object) -> bool:
    """Whether an object is being deleted, or may soon be deleted by the garbage collector."""
    meta = obj["metadata"]
    return bool(meta.get("deletionTimestamp") or meta.get("ownerReferences"))
