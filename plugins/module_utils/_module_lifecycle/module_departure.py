# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes one module: its operator stays while any resource that it manages exists."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import ClusterError, Conflict, NotFound
from .._cluster.fields.written_by import is_written_by
from .._cluster.kinds import CRD_KIND
from .._components.component_removal import ComponentRemoval
from .._components.removal_gate import Deny, PlannedRemovals, RemovalGate
from .._errors import MOST_REASONS, LifecycleError
from .._objects.inventory.inventory import Inventory
from .._objects.inventory.inventory_entry import entries_without
from .._objects.inventory.live_objects import read_metadata
from .._objects.prune.managed_kinds import ManagedKinds
from .._objects.prune.managed_resources import describe_living
from .._objects.prune.removal import Removal
from .._progress import Step
from .._runs.outcomes import FAILED, SUCCEEDED, ComponentOutcome
from .._runs.records.modules import IGNORE, ModuleRecord
from .default_configuration import CONFIGURATION_MANAGER
from .denial import Denial, impose, lift
from .module_context import ModuleContext
from .planned_module import PlannedModule

DENIAL_SECONDS = 60.0
"""How long the API server may take to deny new resources of a module; mostly a second."""


@dataclass(frozen=True)
class Departure:
    """The outcome of the deletion of a module.

    Attributes:
        is_over: whether nothing is left of it.
        deleted: how many objects were deleted.
        blockers: the blockers of the deletion, line by line.
        needs_operator: whether the operator has to let go of what blocks.
        error: why it is not over, in a sentence.
        warnings: for a person.
    """

    is_over: bool
    deleted: int = 0
    blockers: tuple[str, ...] = ()
    needs_operator: bool = True
    error: str = ""
    warnings: tuple[str, ...] = ()


def undeleted(errors: Sequence[ClusterError], deleted: int = 0) -> LifecycleError:
    """The error of a deletion that does not know what exists.

    Args:
        errors: of the reads.
        deleted: how many objects it has deleted before.
    """
    what = "nothing more of it is deleted" if deleted else "nothing of it was deleted"
    reasons = "; ".join(map(str, errors[:MOST_REASONS]))
    return LifecycleError(f"{what}, because it is unknown whether resources of its kinds exist: {reasons}")


class ModuleDeparture:
    """The deletion of one module, step by step.

    Args:
        context: of the work.
        planned: the plan for the module.
        record: of the module.
        excused: resources that block nothing, because another manager deletes them.

    Each step reads the cluster itself, so that the next run can continue a deletion that was cut off
    anywhere.
    """

    def __init__(
        self,
        context: ModuleContext,
        planned: PlannedModule,
        record: ModuleRecord,
        excused: frozenset[Ref] = frozenset(),
    ) -> None:
        self._context, self._planned, self._record = context, planned, record
        self._name, self._timeout = planned.name, context.timeout
        self._inventory = context.inventories.get(planned.name)
        entries = self._inventory.entries if self._inventory else ()
        target = planned.outlook.target
        associated = {*record.managed_kinds, *(target.associated if target else ())}
        self._gate = RemovalGate(
            context.cluster,
            PlannedRemovals(
                {self._name: entries},
                (self._name,),
                inventories={},
                associated={self._name: associated},
                approved=planned.approved,
            ),
        )
        self._excused = excused
        self._refs = {entry.ref for entry in entries}
        self._deadline = time.monotonic() + self._timeout
        self._deleted = 0
        self._left: list[Object] = []

    def blockers(self, deny: Deny = lambda _managed: None) -> list[Object]:
        """The metadata of existing objects of the module's kinds, its own resources included.

        Raises:
            LifecycleError: they can't be read, so nothing may be deleted.
        """
        self._gate.look(deny)
        if errors := self._gate.errors(self._name):
            raise undeleted(errors, self._deleted)
        return [one for one in self._gate.resources(self._name) if ref_of(one) not in self._excused]

    def depart(self) -> Departure:
        """Delete the module as far as possible now; never raises for errors of the cluster."""
        try:
            return self._depart()
        except LifecycleError as error:
            return Departure(False, self._deleted, error=str(error))

    def _depart(self) -> Departure:
        if self._inventory is None:
            # Everything is deleted, including leftovers of a run that was cut off.
            return self._remove_rest()
        return self.clear() or self._remove_rest()

    def foreseen_block(self) -> Departure | None:
        """What blocks the deletion and is not this run's to delete, before anything is written; else None.

        Raises:
            LifecycleError: the resources can't be read.
        """
        left = [one for one in self.blockers() if not self._is_own(one)]
        return self._blocked(left) if left else None

    def clear(self) -> Departure | None:
        """Deny new resources, and delete those that are the run's to delete; what blocks then, or None.

        Raises:
            LifecycleError: the resources can't be read.
        """
        context = self._context
        living = self.blockers(self._deny)
        own = list(filter(self._is_own, living))
        self._delete_own(own)
        is_blocked = len(own) < len(living)
        if own and not is_blocked and context.request.wait and not context.is_rehearsal:
            context.wait_until_gone(self._name, "deleting", own, self._deadline)
        left = self.blockers()
        if left and (is_blocked or not context.is_rehearsal):
            return self._blocked(left)
        return None

    def _deny(self, managed: Mapping[str, ManagedKinds]) -> None:
        """Deny creating resources of the module's kinds; impossible on an overlay."""
        context, kinds = self._context, managed.get(self._name, {})
        plurals = frozenset((group, plural) for (group, _kind), plural in kinds.items() if plural)
        if not plurals or context.is_rehearsal:
            return
        self._report("denying new resources of its kinds")
        own = frozenset(ref for ref in self._refs if ref[:2] in kinds)
        denial = Denial(self._name, self._record.deletion_since, plurals, own)
        limit = time.monotonic() + DENIAL_SECONDS
        limit = min(self._deadline, limit) if context.request.wait else limit
        impose(context.cluster, denial, deadline=limit, cancelled=context.out_of_grace)

    def _blocked(self, left: Sequence[Object]) -> Departure:
        blockers = describe_living(left, datetime.now(UTC))
        error = (
            "resources of its kinds live, so its operator stays. Delete them, or set delete_resources for"
            " this module, and run the playbook again"
        )
        if self._deletes_resources and any(map(self._gate.is_defined_by_others, left)):
            error = (
                "resources live whose definition kyma.lifecycle has not written, so these and its operator"
                " stay. Delete them, and run the playbook again"
            )
        if all(one["metadata"].get("deletionTimestamp") for one in left):
            error = (
                "resources of its kinds are still being deleted, so its operator stays."
                " The next run continues"
            )
        return Departure(False, self._deleted, tuple(blockers), error=error)

    def _held(self, removal: Removal) -> list[Object]:
        """The objects of which only the deletion has not ended, if no other error stopped the removal."""
        failed = Inventory(self._name, entries=tuple(removal.failed))
        live = read_metadata(self._context.cluster, [failed]).values()
        held = [one for one in live if one["metadata"].get("deletionTimestamp")]
        return held if len(held) == len(removal.errors) else []

    def _is_own(self, obj: Object) -> bool:
        """Whether the run deletes an existing resource: with ``delete_resources`` also those of users."""
        is_requested = self._deletes_resources and not self._gate.is_defined_by_others(obj)
        return is_requested or self._is_default(obj) or self._is_instance(obj)

    @property
    def _deletes_resources(self) -> bool:
        request = self._planned.request
        return bool(request and request.delete_resources)

    def _is_default(self, obj: Object) -> bool:
        """Whether it is the default configuration: others may write the record that names its uid."""
        # With the policy ignore, as in Kyma's own lifecycle manager, no configuration is deleted.
        is_ignored = self._planned.outlook.facts.policy == IGNORE
        recorded = None if is_ignored else self._record.configuration
        meta = obj["metadata"]
        is_known = recorded is not None and bool(recorded.uid) and meta.get("uid") == recorded.uid
        return is_known and is_written_by(meta, CONFIGURATION_MANAGER)

    def _is_instance(self, obj: Object) -> bool:
        """Whether it is an instance of the manifest."""
        meta = obj["metadata"]
        is_ours = is_written_by(meta) or meta.get("uid") in self._planned.approved
        return is_ours and ref_of(obj) in self._refs

    def _delete_own(self, own: Sequence[Object]) -> None:
        """Request deletion of the default configuration, then manifest instances, then users' resources."""
        for obj in sorted(own, key=lambda one: (not self._is_default(one), not self._is_instance(one))):
            if not (obj["metadata"].get("deletionTimestamp") or self._context.out_of_grace()):
                self._delete(obj)

    def _delete(self, obj: Object) -> None:
        ref, meta = ref_of(obj), obj["metadata"]
        self._report(f"deleting {ref}")
        try:
            self._context.cluster.delete(
                obj["apiVersion"], ref.kind, ref.name, ref.namespace or None, uid=meta["uid"]
            )
        except (Conflict, NotFound):
            # Another object of this name is not ours; the check that follows sees it.
            return
        self._deleted += 1

    def _remove_rest(self) -> Departure:
        """Remove the rest of the module, its definitions last."""
        context, inventory = self._context, self._inventory
        outcome = ComponentOutcome(self._name, SUCCEEDED)
        if inventory is not None:
            others = context.entries_of_others(self._name)
            entries = entries_without(inventory.entries, others)
            component = ComponentRemoval(entries, whole=True, others=others)
            look = partial(self._look_again, component)
            context.remove(self._name, component, "deleting", self._planned.approved, inventory, look)
            if self._left:
                return self._blocked(self._left)
            removal, outcome = component.removal, component.outcome(self._name, FAILED)
            self._deleted += outcome.deleted
            if not context.request.wait and not removal.cancelled and (held := self._held(removal)):
                error = "its objects are still being deleted. The next run continues"
                blockers = tuple(describe_living(held, datetime.now(UTC)))
                return Departure(False, self._deleted, blockers, False, error, outcome.warnings)
            definitions = [entry for entry in removal.retained if entry.ref[:2] == CRD_KIND]
            if outcome.error or definitions:
                error = outcome.error or "; ".join(removal.notes)
                return Departure(False, self._deleted, error=error, warnings=outcome.warnings)
        if not context.is_rehearsal:
            lift(context.cluster, self._name)
        return Departure(True, self._deleted, warnings=outcome.warnings)

    def _look_again(self, removal: ComponentRemoval, _name: str) -> None:
        """Stop the removal before definitions and namespaces are deleted, if any resource exists."""
        if not removal.is_before_last_round:
            return
        try:
            self._left = self.blockers()
        except LifecycleError as error:
            removal.stop(str(error), cancelled=False)
        if self._left:
            removal.stop("resources of its kinds live", cancelled=False)

    def _report(self, detail: str) -> None:
        step = Step(limit=self._timeout, spent=self._timeout - self._deadline + time.monotonic())
        self._context.progress(self._name, "deleting", detail, step)
