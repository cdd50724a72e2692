# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes what a release no longer has: in a run on the cluster, and in its plan on the overlay."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..._cluster.cluster import Cluster, Ref
from ..._cluster.errors import Forbidden
from ..._components.component_plan import Blocker, ComponentPlan
from ..._components.component_removal import ComponentRemoval, remove_components
from ..._components.removal_gate import PlannedRemovals, RemovalGate
from ..._objects.apply.change import ObjectChange
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.inventory_entry import InventoryEntry
from ..._objects.ownership.policy import Policy
from ..._objects.prune.contained_objects import ContainedObjects
from ..._objects.prune.managed_kinds import definition_names
from ..._objects.prune.prune_decision import is_protected, obsolete_entries
from ..._objects.prune.removal import Terms
from ..._progress import Progress

ORPHANED = "orphaned"
ADVICE = (
    "Delete them, then run the playbook again; or delete the component with them, while it still runs:"
    " kyma.lifecycle.component with state=absent and force=true"
)


@dataclass(frozen=True)
class Pruning:
    """The pruning of some components.

    Args:
        inventories: of what the cluster has, by component.
        others: of owners that are no components, whose objects stay.
        desired: all objects of the release, by component.
        names: of the components to prune.
        policy: what the user allows.
    """

    inventories: Mapping[str, Inventory]
    others: Sequence[Inventory]
    desired: Mapping[str, Collection[Ref]]
    names: Collection[str]
    policy: Policy

    @cached_property
    def obsolete(self) -> dict[str, tuple[InventoryEntry, ...]]:
        """The entries that each component gives up."""
        return self._obsolete(self.names)

    @cached_property
    def removals(self) -> dict[str, ComponentRemoval]:
        """The removals of the objects of each component with an inventory."""
        # Without the objects of orphans: if two orphans are deleted, each would leave a shared object to the
        # other.
        staying = [one for name, one in self.inventories.items() if name not in self._orphans]
        recorded = [entry for one in (*self.others, *staying) for entry in one.entries if not entry.dropped]
        return {
            name: ComponentRemoval(
                self.obsolete.get(name, ()),
                is_protected=lambda ref: is_protected(ref, self.policy.prune_allow),
                whole=name in self._orphans,
                others=recorded,
            )
            for name in self.inventories
            if name in self.names
        }

    def work(
        self,
        terms: Terms,
        *,
        timeout: float = float("inf"),
        workers: int = 1,
        progress: Progress | None = None,
        after_round: Callable[[str], None] | None = None,
    ) -> RemovalGate:
        """Prune every component; each result is in its removal. Returns the gate that has refused some.

        Args:
            terms: of the removals, without what to retain.
            timeout, workers, progress: see :func:`~.remove_components`.
            after_round: as there, in a rehearsal: nothing is waited for, and no record is changed.
        """
        gate = RemovalGate(terms.cluster, self._planned(), waits=after_round is None)
        gate.look()
        contained = ContainedObjects(
            terms.cluster, lambda ref: str(ref) in self.policy.prune_allow, gate.retained(), self._note
        )
        remove_components(
            self.removals,
            replace(terms, retain=contained.retain),
            inventories={} if after_round else self.inventories,
            timeout=timeout,
            workers=workers,
            progress=progress,
            state="pruning",
            refusal_of=gate.refusal,
            gate=gate,
            after_round=after_round or (lambda _name: None),
        )
        return gate

    def _note(self, ref: Ref, text: str) -> None:
        """Add a sentence about an object to the result of the components that give it up."""
        for name, removal in self.removals.items():
            if any(entry.ref == ref for entry in self.obsolete.get(name, ())):
                removal.removal.notes.append(text)

    def _planned(self) -> PlannedRemovals:
        # Definitions that components had and that no component has now.
        dropped = self._obsolete({*self.desired, *self.names}).values()
        return PlannedRemovals(
            {name: self.obsolete[name] for name, removal in self.removals.items() if removal.count},
            self._orphans,
            self.inventories,
            self.others,
            [name for entries in dropped for name in definition_names(entries)],
            advice=ADVICE,
        )

    @cached_property
    def _orphans(self) -> set[str]:
        return set(self.names).difference(self.desired)

    def _obsolete(self, names: Collection[str]) -> dict[str, tuple[InventoryEntry, ...]]:
        refs = {ref for of_component in self.desired.values() for ref in of_component}
        return obsolete_entries(self.inventories.values(), refs, names, self.others)


@dataclass
class PruneRehearsal:
    """Adds the pruning to the plans of components.

    Args:
        overlay: on which the whole run was rehearsed.
        pruning: what the run prunes.
        take_changes: returns the new changes on the overlay since the last call.
        inventories: of what the cluster has, by component; then predicted for the time after the run.

    Attributes:
        names: of the components with something to prune.
        blockers: deletions that the server would refuse.
    """

    overlay: Cluster
    pruning: Pruning
    take_changes: Callable[[], tuple[ObjectChange, ...]]
    inventories: dict[str, Inventory]
    names: list[str] = field(default_factory=list)
    blockers: list[Blocker] = field(default_factory=list)

    def of(self, plan: ComponentPlan) -> ComponentPlan:
        """The plan of one component, including what would be pruned of it."""
        name = plan.name
        removal = self.pruning.removals.get(name)
        if removal is None:
            return plan
        gate, changes = self._rehearsed
        forbidden = gate.refused_reads(name)
        forbidden += [removal.error] if isinstance(removal.error, Forbidden) else []
        if forbidden:
            # A missing right is reported with all others.
            self.blockers += [Blocker(name, str(error)) for error in forbidden]
            return plan
        if removal.error:
            raise removal.error
        obsolete = self.pruning.obsolete.get(name, ())
        plan = replace(plan, dropped=tuple(entry.ref for entry in obsolete))
        if removal.refusal:
            # The run checks this again, and fails only this component if it is still so.
            self.names.append(name)
            return replace(plan, warnings=(*plan.warnings, removal.refusal))
        done = removal.removal
        self.blockers += [Blocker(name, error) for error in done.errors]
        action = plan.action
        goes_whole = removal.whole and not removal.protected and not done.retained
        if goes_whole or removal.refs_to_drop:
            self.names.append(name)
            self._forget(name, removal, obsolete)
        if goes_whole or done.deleted:
            action = {"unchanged": "prune", ORPHANED: "delete"}.get(action, action)
        stay = [
            f"{entry.ref} belongs to no component any more, and stays;"
            f" {entry.ref.kind!r} in prune_allow (kyma_prune_allow) lets it go"
            for entry in removal.protected
        ]
        warnings = (*plan.warnings, *stay, *done.notes)
        return replace(plan, action=action, changes=(*plan.changes, *changes[name]), warnings=warnings)

    def _forget(self, name: str, removal: ComponentRemoval, obsolete: Sequence[InventoryEntry]) -> None:
        before = self.inventories.pop(name)
        # An object that an orphan has and does not give up is wanted by another component.
        known = obsolete if removal.whole else before.entries
        left = tuple(entry for entry in known if entry.ref not in removal.refs_to_drop)
        if left or not removal.whole:
            digest = "" if removal.whole else before.digest
            self.inventories[name] = replace(before, entries=left, digest=digest)

    @cached_property
    def _rehearsed(self) -> tuple[RemovalGate, Mapping[str, Sequence[ObjectChange]]]:
        """The gate, and by component the changes on the overlay when the run prunes there."""
        changes: dict[str, list[ObjectChange]] = {name: [] for name in self.pruning.removals}

        def take(name: str) -> None:
            # The objects of a round are deleted in parallel; a plan shows them in the same order each time.
            changes[name] += sorted(self.take_changes(), key=lambda one: one.ref)

        # One by one, because the order of the changes shows which component they belong to.
        return self.pruning.work(Terms(self.overlay), after_round=take), changes
