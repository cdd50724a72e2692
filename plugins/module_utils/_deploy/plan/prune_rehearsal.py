# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing what a run prunes at its end, on the overlay that the rest of it was rehearsed on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_plan import (
    Blocker,
    ComponentPlan,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import (
    Inventory,
    without_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import Policy
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.contained_objects import (
    ContainedObjects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.removal import (
    ROUNDS,
    RemovalInRounds,
    Terms,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.removal_decision import (
    is_protected,
    obsolete_entries,
)

ORPHANED = "orphaned"


class PruneRehearsal:
    """Adds to the plans of components what of them would be pruned.

    Args:
        overlay: what a whole run has been rehearsed on.
        inventories: of what the cluster has, by component.
        wanted: all objects of the release, by component.
        policy: what the user allows.
        changes: what the overlay has come to hold since it was last asked.
        only: the components that are deployed alone, or none for all; of others nothing goes.

    Attributes:
        names: of the components of which something goes.
        blockers: what the server would not delete.
        inventories: what the cluster remembers when it is done.
    """

    def __init__(
        self,
        overlay: Cluster,
        inventories: Mapping[str, Inventory],
        wanted: Mapping[str, Collection[Ref]],
        policy: Policy,
        changes: Callable[[], tuple[ObjectChange, ...]],
        only: Collection[str] = (),
    ) -> None:
        self.names: list[str] = []
        self.blockers: list[Blocker] = []
        self.inventories = dict(inventories)
        self._inventories = inventories
        self._going = set(only) or {name for name in inventories if name in wanted or policy.prune}
        refs = {ref for of_component in wanted.values() for ref in of_component}
        self._dropped = obsolete_entries(inventories.values(), refs, self._going)
        self._policy = policy
        self._changes = changes
        spare = ContainedObjects(overlay, lambda ref: str(ref) in policy.prune_allow).retain
        self._terms = Terms(overlay, retain=spare)

    def of(self, plan: ComponentPlan) -> ComponentPlan:
        """The plan of one component with what would be pruned of it."""
        orphan = plan.action == ORPHANED
        if plan.name not in self._inventories or plan.name not in self._going:
            return plan
        going = self._removed[plan.name]
        if going.refusal:
            # A right that is missing is told with all others.
            self.blockers.append(Blocker(plan.name, going.refusal))
            return plan
        removal = going.removal
        self.blockers += [Blocker(plan.name, error) for error in removal.errors]
        action = plan.action
        whole = orphan and not going.protected and not removal.retained
        if whole or removal.refs_to_drop:
            self.names.append(plan.name)
            before = self.inventories.pop(plan.name)
            if not whole or removal.errors:
                left = without_objects(before, removal.refs_to_drop)
                self.inventories[plan.name] = replace(left, digest="") if orphan else left
        if whole or removal.deleted:
            action = {"unchanged": "prune", ORPHANED: "delete"}.get(action, action)
        stay = [
            f"{entry.ref} is no longer in the release, and stays"
            f"; {entry.ref.kind!r} in prune_allow (kyma_prune_allow) lets it go"
            for entry in going.protected
        ]
        return replace(
            plan,
            action=action,
            changes=(*plan.changes, *going.changes),
            dropped=tuple(entry.ref for entry in self._dropped.get(plan.name, ())),
            warnings=(*plan.warnings, *stay, *removal.notes),
        )

    @cached_property
    def _removed(self) -> Mapping[str, _Going]:
        """What came of removing what no component has any more, in the rounds in which a run does it."""
        found = {name: _Going(self._dropped.get(name, ()), self._policy) for name in self._inventories}
        for turn in range(ROUNDS):
            for going in found.values():
                going.go(self._terms, turn)
                going.changes += self._changes()
        return found


class _Going(RemovalInRounds):
    """What is to go of one component, as it is rehearsed.

    Attributes:
        protected: what stays, as nobody has allowed it to go.
        changes: what the removal has changed on the overlay.
        refusal: which right it lacks, in a sentence; mostly empty.
    """

    def __init__(self, entries: Sequence[InventoryEntry], policy: Policy) -> None:
        self.protected = [entry for entry in entries if is_protected(entry.ref, policy.prune_allow)]
        super().__init__(entry for entry in entries if entry not in self.protected)
        self.changes: tuple[ObjectChange, ...] = ()
        self.refusal = ""

    def go(self, terms: Terms, turn: int) -> None:
        """Rehearse one of the rounds, unless a right was missing for one before."""
        if self.refusal:
            return
        try:
            self.remove(terms, turn)
        except Forbidden as refusal:
            self.refusal = str(refusal)
