# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearses one component: the changes of its objects, and the server's refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from .._cluster.cluster import Object, Ref, ref_of
from .._cluster.errors import silent_webhook
from .._dry_run.dry_run_cluster import DryRunCluster
from .._objects.apply.apply_object import KnownObjects
from .._objects.apply.apply_set import ApplyResult, Refusal, WaitCallbacks, apply_objects
from .._objects.apply.change import ObjectChange
from .._objects.apply.refusals import is_immutable, recreation_advice
from .._objects.inventory.inventory import Inventory, entries_of, remembered_by
from .._objects.inventory.inventory_entry import ForeignFields, InventoryEntry, current_entry
from .._objects.inventory.new_findings import new_findings
from .._objects.ownership.autoscaling import Target
from .._objects.ownership.findings import unexplained
from .._objects.ownership.policy import Policy
from ..migration import Phase
from .component_inventory import with_list_entry
from .component_plan import Blocker, ComponentPlan
from .desired_component import DesiredComponent
from .migrations.rehearsal import MigrationRehearsal
from .selection import ALL, NEW_CONTENT, Origin, choose_action, choose_selection, selected_objects


@dataclass(frozen=True)
class RehearsalContext:
    """The base of the rehearsal of components.

    Attributes:
        overlay: the overlay of the rehearsal.
        policy: what the user allows.
        inventories: of earlier deployments, by component.
        live: the metadata of the objects in these.
        autoscaled: the targets of autoscalers of the cluster and of what is deployed.
    """

    overlay: DryRunCluster
    policy: Policy
    inventories: Mapping[str, Inventory]
    live: Mapping[Ref, Object]
    autoscaled: frozenset[Target]


@dataclass(frozen=True)
class RehearsalStart:
    """A component whose ``pre`` migrations were rehearsed.

    Attributes:
        component: the wanted component.
        inventory: that of its earlier deployment, if there is one.
        blockers: those of its ``pre`` migrations.
        action: its action, as far as known before its objects are compared.
        selection: which of its objects the run reads and applies.
        objects: those that are rehearsed.
    """

    component: DesiredComponent
    inventory: Inventory | None
    blockers: tuple[Blocker, ...]
    action: str
    selection: str
    objects: Sequence[Object]

    @property
    def name(self) -> str:
        return self.component.name


@dataclass(frozen=True)
class RehearsedComponent:
    """The result of the rehearsal of one component.

    Attributes:
        plan: the planned changes of the deployment to it.
        blockers: its blockers, without the server's refusals of its objects.
        wide: its definitions that temporarily have more versions than wanted.
    """

    plan: ComponentPlan
    blockers: tuple[Blocker, ...]
    wide: tuple[Object, ...]


class ComponentRehearsal:
    """Rehearses components, each in three steps, so that requests for several can run in parallel.

    Args:
        context: the base of their rehearsal.
        migrations: those of the whole run.
    """

    def __init__(self, context: RehearsalContext, migrations: MigrationRehearsal) -> None:
        self._context = context
        self._migrations = migrations

    def start(self, component: DesiredComponent, origin: Origin) -> RehearsalStart:
        """Rehearse the ``pre`` migrations of a component, and select its objects to rehearse."""
        context = self._context
        inventory = context.inventories.get(component.name)
        migrated = self._migrations.rehearse(component.name, Phase.PRE)
        action = choose_action(inventory, component.digest, origin)
        if action == "unchanged" and migrated.is_needed:
            action = "migrate"
        limited = origin.is_limited_to_changes and not migrated.is_needed
        selection = choose_selection(action, origin._replace(is_limited_to_changes=limited))
        # After a write of a migration all objects are compared, like in the run.
        rehearsed = ALL if migrated.is_needed else selection
        objects = selected_objects(
            context.overlay, rehearsed, component.objects, inventory, context.live, context.policy
        )
        if action == "unchanged" and objects:
            action = "drifted"
        return RehearsalStart(component, inventory, migrated.blockers, action, selection, objects)

    def apply(self, start: RehearsalStart, objects: Sequence[Object]) -> ApplyResult:
        """Rehearse some objects of a component."""
        known = KnownObjects(self._remembered(start.component), self._context.autoscaled)
        return apply_objects(
            self._context.overlay,
            objects,
            self._context.policy,
            WaitCallbacks(),
            known=known,
            keep_going=True,
        )

    def end(
        self, start: RehearsalStart, applied: ApplyResult, changes: tuple[ObjectChange, ...]
    ) -> RehearsedComponent:
        """Rehearse the ``post`` migrations of a component, and combine the results.

        Args:
            start: the result of :meth:`start`.
            applied: the result of its objects.
            changes: the changes of its objects.
        """
        component, inventory, action = start.component, start.inventory, start.action
        migrated = self._migrations.rehearse(component.name, Phase.POST)
        if action == "drifted" and not changes:
            action = "unchanged"
        if action == "unchanged" and migrated.is_needed:
            action = "migrate"
        findings = new_findings(applied.findings, self._remembered(component))
        if action == "drifted":
            for change in changes:
                findings += unexplained(change.ref, change.fields or ("",), findings)
        plan = ComponentPlan(
            name=component.name,
            namespace=component.namespace,
            action=action,
            selection=start.selection,
            changes=changes,
            hooks=component.hooks,
            warnings=(*component.warnings, *applied.warnings),
            objects=len(component.refs),
            digest=component.digest if action in NEW_CONTENT else "",
            component_version=component.listed.component_version,
            findings=tuple(findings),
            observed_entries=self._observed_entries(inventory, applied) if action == "unchanged" else (),
            listed=component.listed if action == "unchanged" and _is_outdated(inventory, component) else None,
        )
        wide = tuple(obj for obj in start.objects if ref_of(obj) in applied.wide)
        return RehearsedComponent(plan, migrated.blockers, wide)

    def _remembered(self, component: DesiredComponent) -> dict[Ref, InventoryEntry]:
        return remembered_by(component.name, self._context.inventories)

    def _observed_entries(
        self, inventory: Inventory | None, applied: ApplyResult
    ) -> tuple[InventoryEntry, ...]:
        """The entries of checked objects that do not change: the next plan need not read them again."""
        entries, live = entries_of(inventory), self._context.live
        fields: Mapping[Ref, ForeignFields] = applied.foreign_fields
        now = [
            current_entry(entries[ref], live[ref], fields[ref])
            for ref in fields
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


def with_recreation_advice(blockers: Iterable[Blocker], policy: Policy) -> list[Blocker]:
    """Blockers of which the last one that an immutable field causes says how to allow all of these."""
    found = list(blockers)
    places = [place for place, one in enumerate(found) if one.recreates]
    if places:
        refs = [one.recreates for one in found if one.recreates]
        last = found[places[-1]]
        advice = recreation_advice(refs, policy.replace_immutable)
        found[places[-1]] = replace(last, message=f"{last.message}. {advice}")
    return found


def _is_outdated(inventory: Inventory | None, component: DesiredComponent) -> bool:
    """Whether the component list has other data of a component than at its deployment."""
    if inventory is None:
        return False
    return with_list_entry(inventory, component.namespace, component.listed) != inventory
