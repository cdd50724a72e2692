# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The work on one component, rehearsed on an overlay: the plan of the component shows what it did there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from .._cluster.cluster import Object, ref_of
from .._cluster.errors import ClusterError, silent_webhook
from .._objects.apply.apply_object import KnownObjects
from .._objects.apply.apply_set import Refusal, WaitCallbacks
from .._objects.apply.change import ObjectChange
from .._objects.apply.crd_narrowing import narrow_definition
from .._objects.apply.refusals import is_immutable, loss_advice, recreation_advice
from .._objects.inventory.inventory import Inventory, entries_by_ref
from .._objects.inventory.inventory_entry import InventoryEntry, current_entry
from .._objects.ownership.findings import unexplained
from .._objects.ownership.losses import LostValue, lost_values
from .._objects.ownership.policy import Policy
from ..migration import Phase
from .component_action import NEW_CONTENT, Origin, choose_action
from .component_inventory import with_list_entry
from .component_plan import Blocker, ComponentPlan
from .component_work import ComponentWork
from .desired_component import DesiredComponent
from .provided_kinds import ApiKind, kind_of
from .selection import ALL, choose_selection
from .takings import taking_keys
from .work_context import WorkContext


class RehearsedWork(ComponentWork):
    """The rehearsed work on one component.

    Args:
        context: what the work on components shares, on the overlay.
        component: the desired component.
        origin_of: returns the origin of the component, compared with this inventory of it.

    Attributes:
        action: its action, as far as known before its objects are compared.
        selection: which of its objects the run reads and applies.
        postponed: the kinds of its objects that are not applied with the others.
    """

    action = ""
    selection = ALL
    postponed: Collection[ApiKind] = ()

    def __init__(
        self,
        context: WorkContext,
        component: DesiredComponent,
        origin_of: Callable[[Inventory | None], Origin],
    ) -> None:
        super().__init__(context, component)
        self._origin_of = origin_of
        self._steps_left = self.steps()

    def take_steps(self, last: str) -> None:
        """Take the next steps, up to the one of this name."""
        for name, step in self._steps_left:
            step()
            if name == last:
                return

    def apply_chosen(self) -> None:
        self.apply([obj for obj in self.objects if kind_of(obj) not in self.postponed])

    def choose_objects(self) -> None:
        """Choose its action and its objects."""
        origin = self._origin_of(self.before)
        self.action = choose_action(self.before, self.component.digest, origin)
        if self.action == "unchanged" and self.has_migrated:
            self.action = "migrate"
        limited = origin.is_limited_to_changes and not self.has_migrated
        self.selection = choose_selection(self.action, origin._replace(is_limited_to_changes=limited))
        self.select(self.selection)
        if self.action == "unchanged" and self.objects:
            self.action = "drifted"

    @property
    def wide(self) -> list[Object]:
        """Its definitions that temporarily have more versions than wanted."""
        return [obj for obj in self.objects if ref_of(obj) in self.applied.wide]

    def narrow(self) -> list[Blocker]:
        """Narrow these definitions; a blocker for each that can't be narrowed."""
        context, blockers = self._context, []
        known = KnownObjects(entries_by_ref(self.before))
        for crd in self.wide:
            try:
                narrow_definition(context.cluster, crd, context.policy, WaitCallbacks(), learn=0, known=known)
            except ClusterError as error:
                blockers.append(Blocker(self.component.name, str(error)))
        return blockers

    def migration_blockers(self, phase: Phase) -> list[Blocker]:
        """The blockers of its migrations of one phase."""
        return [blocker for one in self.migrations if one["phase"] == phase for blocker in one["blockers"]]

    def plan(self, changes: tuple[ObjectChange, ...]) -> ComponentPlan:
        """The plan of the component, after its ``post`` migrations.

        Args:
            changes: of its objects on the overlay.
        """
        component, action, findings = self.component, self.action, self.findings
        if action == "drifted":
            for change in changes:
                findings += unexplained(change.ref, change.fields or ("",), findings)
            action = action if changes else "unchanged"
        if action == "unchanged" and any(one["may_write"] for one in self.migrations):
            action = "migrate"
        # The component list may have other data of the component than at its deployment.
        relisted = self.before and with_list_entry(self.before, component.namespace, component.listed)
        return ComponentPlan(
            name=component.name,
            namespace=component.namespace,
            action=action,
            selection=self.selection,
            changes=changes,
            hooks=component.hooks,
            warnings=tuple(self.warnings),
            objects=len(component.refs),
            digest=component.digest if action in NEW_CONTENT else "",
            component_version=component.listed.component_version,
            findings=tuple(findings),
            observed_entries=self._observed_entries() if action == "unchanged" else (),
            listed=component.listed if action == "unchanged" and relisted != self.before else None,
            losses=tuple(self._losses(changes)),
            takings=taking_keys(self.applied.applied),
        )

    def _losses(self, changes: Iterable[ObjectChange]) -> Iterator[LostValue]:
        """The values of others that its objects lose, without those that are deleted and recreated."""
        intents = {ref_of(obj): obj for obj in self.objects}
        for change in changes:
            if change.before and change.after and change.ref in intents and not change.replaced:
                yield from lost_values(change.before, change.after, intents[change.ref])

    def _observed_entries(self) -> tuple[InventoryEntry, ...]:
        """The entries of checked objects that do not change: the next plan need not read them again."""
        entries, live = entries_by_ref(self.before), self._context.live
        now = [
            current_entry(entries[ref], live[ref], fields)
            for ref, fields in self.applied.foreign_fields.items()
            if ref in entries and ref in live
        ]
        return tuple(entry for entry in now if entry != entries[entry.ref])


def refusal_blocker(component: str, refusal: Refusal) -> Blocker:
    """The blocker for a server's refusal of a component's object, with what to do about it."""
    message = str(refusal.error)
    if str(refusal.ref) not in message:
        message = f"{refusal.ref}: {message}"
    webhook = silent_webhook(refusal.error)
    if webhook:
        message += (
            f"; the webhook {webhook} is not part of this deployment: repair its service, or delete its "
            f"configuration, and run the playbook again"
        )
    return Blocker(component, message, recreates=refusal.ref if is_immutable(refusal.error) else None)


def with_advice(blockers: Iterable[Blocker], policy: Policy) -> list[Blocker]:
    """Blockers of which the last one of each reason says how to allow all that have this reason.

    The reasons are immutable fields, and values of others that objects would lose.
    """
    advised = list(blockers)
    recreated = {number: one.recreates for number, one in enumerate(advised) if one.recreates}
    losing = {number: one.loses for number, one in enumerate(advised) if one.loses}
    for objects, advise, allowed in (
        (recreated, recreation_advice, policy.replace_immutable),
        (losing, loss_advice, policy.adopt_losses),
    ):
        if objects:
            last = advised[max(objects)]
            message = f"{last.message}. {advise(objects.values(), allowed)}"
            advised[max(objects)] = replace(last, message=message)
    return advised
