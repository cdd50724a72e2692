# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing what a run prunes at its end, on the overlay that the rest of it was rehearsed on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.inhabitants import Inhabitants
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.inventory import Inventory, without
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan import (
    Blocker,
    ComponentPlan,
    ObjectChange,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.policy import Policy
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.pruning import (
    is_protected,
    no_longer_wanted,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.removal import Terms, remove_objects

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
        self._dropped = no_longer_wanted(inventories.values(), refs, self._going)
        self._policy = policy
        self._changes = changes
        spare = Inhabitants(overlay, lambda ref: str(ref) in policy.prune_allow).spare
        self._terms = Terms(overlay, spare=spare)

    def of(self, plan: ComponentPlan) -> ComponentPlan:
        """The plan of one component with what would be pruned of it."""
        orphan = plan.action == ORPHANED
        if plan.name not in self._inventories or plan.name not in self._going:
            return plan
        entries = self._dropped.get(plan.name, ())
        protected = [entry for entry in entries if is_protected(entry.ref, self._policy.prune_allow)]
        try:
            removal = remove_objects(self._terms, [entry for entry in entries if entry not in protected])
        except Forbidden as refusal:
            # A right that is missing is told with all others.
            self.blockers.append(Blocker(plan.name, str(refusal)))
            return plan
        self.blockers += [Blocker(plan.name, error) for error in removal.errors]
        action = plan.action
        whole = orphan and not protected and not removal.kept
        if whole or removal.forgotten:
            self.names.append(plan.name)
            before = self.inventories.pop(plan.name)
            if not whole or removal.errors:
                left = without(before, removal.forgotten)
                self.inventories[plan.name] = replace(left, digest="") if orphan else left
        if whole or removal.deleted:
            action = {"unchanged": "prune", ORPHANED: "delete"}.get(action, action)
        stay = [
            f"{entry.ref} is no longer in the release, and stays"
            f"; {entry.ref.kind!r} in prune_allow (kyma_prune_allow) lets it go"
            for entry in protected
        ]
        return replace(
            plan,
            action=action,
            changes=(*plan.changes, *self._changes()),
            dropped=tuple(entry.ref for entry in entries),
            warnings=(*plan.warnings, *stay, *removal.told),
        )
