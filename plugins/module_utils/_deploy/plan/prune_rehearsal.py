# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing what a run prunes at its end, on the overlay of the rehearsal of the rest."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from ..._cluster.cluster import Cluster, Ref
from ..._cluster.errors import Forbidden
from ..._components.component_plan import Blocker, ComponentPlan
from ..._components.component_removal import ComponentRemoval, remove_components
from ..._components.removal_gate import PlannedRemovals, RemovalGate
from ..._objects.apply.change import ObjectChange
from ..._objects.inventory.inventory import Inventory
from ..._objects.ownership.policy import Policy
from ..._objects.prune.contained_objects import ContainedObjects
from ..._objects.prune.managed_kinds import definition_names
from ..._objects.prune.removal import Terms
from ..._objects.prune.removal_decision import is_protected, obsolete_entries

ORPHANED = "orphaned"
PRUNE_ADVICE = (
    "Delete them, then run the playbook again; or delete the component with them, while it still runs:"
    " kyma.lifecycle.component with state=absent and force=true"
)


def dropped_definitions(
    inventories: Mapping[str, Inventory],
    wanted: Collection[Ref],
    names: Collection[str],
    others: Iterable[Inventory],
) -> list[str]:
    """The names of definitions that components had and that no component has now. Pure."""
    found = obsolete_entries(inventories.values(), wanted, names, others)
    return [name for entries in found.values() for name in definition_names(entries)]


class PruneRehearsal:
    """Adds the pruning to the plans of components.

    Args:
        overlay: on which the whole run was rehearsed.
        inventories: of what the cluster has, by component.
        wanted: all objects of the release, by component.
        policy: what the user allows.
        changes: the new changes on the overlay since the last call.
        only: the components that are deployed alone, or none for all; the others are not pruned.
        others: of owners that are no components, whose objects stay.

    Attributes:
        names: of the components with something to prune.
        blockers: deletions that the server would refuse.
        inventories: the predicted inventories after the run.
    """

    def __init__(
        self,
        overlay: Cluster,
        inventories: Mapping[str, Inventory],
        wanted: Mapping[str, Collection[Ref]],
        policy: Policy,
        changes: Callable[[], tuple[ObjectChange, ...]],
        only: Collection[str] = (),
        others: Iterable[Inventory] = (),
    ) -> None:
        self.names: list[str] = []
        self.blockers: list[Blocker] = []
        self.inventories = dict(inventories)
        self._going = set(only) or {name for name in inventories if name in wanted or policy.prune}
        refs = {ref for of_component in wanted.values() for ref in of_component}
        others = tuple(others)
        self._obsolete = obsolete_entries(inventories.values(), refs, self._going, others)
        self._removals = {
            name: ComponentRemoval(
                self._obsolete.get(name, ()),
                is_protected=lambda ref: is_protected(ref, policy.prune_allow),
                whole=name not in wanted,
                # An object that such a component has and retains is wanted by another component.
                others=() if name in wanted else inventory.entries,
            )
            for name, inventory in inventories.items()
        }
        whole = [name for name in inventories if name not in wanted]
        self._gate = RemovalGate(
            overlay,
            PlannedRemovals(
                {name: entries for name, entries in self._obsolete.items() if self._removals[name].count},
                whole,
                inventories,
                others,
                dropped_definitions(inventories, refs, {*wanted, *self._going}, others),
                advice=PRUNE_ADVICE,
            ),
            waits=False,
        )
        self._overlay, self._allowed = overlay, policy.prune_allow
        self._take_changes = changes

    def of(self, plan: ComponentPlan) -> ComponentPlan:
        """The plan of one component, including what would be pruned of it."""
        name = plan.name
        if name not in self._removals or name not in self._going:
            return plan
        changes = self._changes[name]
        removal = self._removals[name]
        forbidden = self._gate.refused_reads(name)
        forbidden += [removal.error] if isinstance(removal.error, Forbidden) else []
        if forbidden:
            # A missing right is reported with all others.
            self.blockers += [Blocker(name, str(error)) for error in forbidden]
            return plan
        if removal.error:
            raise removal.error
        if removal.refusal:
            # The run checks this again, and fails only this component if it is still so.
            self.names.append(name)
            dropped = tuple(entry.ref for entry in self._obsolete[name])
            return replace(plan, dropped=dropped, warnings=(*plan.warnings, removal.refusal))
        done = removal.removal
        self.blockers += [Blocker(name, error) for error in done.errors]
        action = plan.action
        goes_whole = removal.whole and not removal.protected and not done.retained
        if goes_whole or done.refs_to_drop:
            self.names.append(name)
            left = removal.remaining(self.inventories.pop(name))
            if left.entries or not removal.whole:
                self.inventories[name] = left
        if goes_whole or done.deleted:
            action = {"unchanged": "prune", ORPHANED: "delete"}.get(action, action)
        stay = [
            f"{entry.ref} belongs to no component any more, and stays;"
            f" {entry.ref.kind!r} in prune_allow (kyma_prune_allow) lets it go"
            for entry in removal.protected
        ]
        return replace(
            plan,
            action=action,
            changes=(*plan.changes, *changes),
            dropped=tuple(entry.ref for entry in self._obsolete.get(name, ())),
            warnings=(*plan.warnings, *stay, *done.notes),
        )

    @cached_property
    def _changes(self) -> Mapping[str, Sequence[ObjectChange]]:
        """The changes on the overlay when all objects without a component are removed, by component."""
        found: dict[str, list[ObjectChange]] = {name: [] for name in self._removals}

        def take(name: str) -> None:
            found[name] += self._take_changes()

        self._gate.look()
        needed = self._gate.retained()
        contained = ContainedObjects(self._overlay, lambda ref: str(ref) in self._allowed, needed)
        # One by one, because the order of the changes shows which component they belong to.
        remove_components(
            self._removals,
            Terms(self._overlay, retain=contained.retain),
            inventories={},
            refusal_of=self._gate.refusal,
            gate=self._gate,
            after_round=take,
        )
        return found
