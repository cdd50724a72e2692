# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The preconditions of components' changes: rights, and no objects that another tool manages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object, Ref, ref_of
from ..._components.adoption_losses import loss_blockers, lossy_adoptions
from ..._components.component_plan import Blocker, ComponentPlan
from ..._components.desired_component import DesiredComponent
from ..._objects.access.review import missing_rights
from ..._objects.access.rights import RBAC, Resources, Right, list_right
from ..._objects.apply.apply_rights import apply_rights, delete_rights, granting_rights, narrowing_rights
from ..._objects.apply.change import ObjectChange
from ..._objects.inventory.inventory import Inventory, remembered_by
from ..._objects.ownership.autoscaling import AUTOSCALERS
from ..._objects.ownership.other_tools import OtherManager, by_manager, coexistence_problem, is_active
from ..._objects.ownership.policy import Policy
from ..._runs.records.record_rights import journal_rights
from ..._threads import map_in_threads


@dataclass(frozen=True)
class IntendedChanges:
    """The changes of a run that may need rights or affect other tools.

    Attributes:
        components: those that take part, with the changes of their objects.
        met: live objects that would be written.
        writes: the predicted writes of migrations.
        wide: definitions to narrow at the end.
        inventories: of earlier deployments, by component.
        live: the metadata of the objects in these.
        served: returns the served resource of a kind, including the run's own CRDs.
        policy: what the user allows.
    """

    components: Sequence[tuple[DesiredComponent, ComponentPlan]]
    met: Mapping[Ref, Object]
    writes: Sequence[ObjectChange]
    wide: Sequence[Object]
    inventories: Mapping[str, Inventory]
    live: Mapping[Ref, Object]
    served: Resources
    policy: Policy


def needed_rights(intended: IntendedChanges) -> set[Right]:
    """The rights that the run needs, without those of :func:`granting_rights_of`."""
    served = intended.served
    needed: set[Right] = set()
    known: set[tuple[str, str, str, str]] = set()

    def applying(obj: Object, action: str) -> set[Right]:
        # Most of the thousands of objects that a run may apply need the same rights as others of their kind.
        key = (obj["apiVersion"], obj["kind"], ref_of(obj).namespace, action)
        if key in known:
            return set()
        known.add(key)
        return apply_rights(obj, action, served)

    for component, plan in intended.components:
        actions = {change.ref: change.action for change in plan.changes}
        for obj in component.objects:
            ref = ref_of(obj)
            # An object that could not be rehearsed counts as new.
            unknown = "" if ref in intended.live else "create"
            needed |= applying(obj, actions.get(ref, unknown))
    inventories = intended.inventories.values()
    kinds = {(entry.api_version, entry.ref.kind) for one in inventories for entry in one.entries}
    for api_version, kind in kinds.union(AUTOSCALERS):
        needed |= list_right(api_version, kind, served)
    changes = [change for _component, plan in intended.components for change in plan.changes]
    for change in (*changes, *intended.writes):
        if change.after is None and change.before is not None:
            needed |= delete_rights(change.before["apiVersion"], change.ref, served)
        elif change.after is not None:
            needed |= applying(change.after, change.action)
    needed |= {right for change in intended.writes for right in journal_rights(change.ref)}
    for crd in intended.wide:
        needed |= narrowing_rights(crd)
    return needed


def granting_rights_of(intended: IntendedChanges, *, everything: bool) -> set[Right]:
    """The rights for roles and bindings that the dry run has not verified, as far as they are known.

    A role that passed the dry run needs no more; with ``everything`` (other rights are missing) none has
    passed.
    """
    rights: set[Right] = set()
    for component, plan in intended.components:
        verified = {change.ref for change in plan.changes if not change.unverified}
        for obj in component.objects:
            if ref_of(obj).group == RBAC and (everything or ref_of(obj) not in verified):
                rights |= granting_rights(obj)
    return rights


def unverified_role_notes(cluster: Cluster, intended: IntendedChanges) -> tuple[str, ...]:
    """Messages about roles and bindings that the server can validate only once their namespace exists."""
    changes = (change for _component, plan in intended.components for change in plan.changes)
    unverified = {change.ref for change in changes if change.unverified}
    objects = {
        ref_of(obj): granting_rights(obj)
        for component, _plan in intended.components
        for obj in component.objects
        if ref_of(obj) in unverified and ref_of(obj).group == RBAC
    }
    missing = missing_rights(cluster, (right for rights in objects.values() for right in rights))
    named = ", ".join(str(ref) for ref, rights in objects.items() if rights & missing)
    if not named:
        return ()
    return (
        f"{named}: if they grant rights that the user itself lacks, the server will refuse them; whether they"
        " do can be asked only once their namespace exists",
    )


def ownership_blockers(cluster: Cluster, intended: IntendedChanges) -> list[Blocker]:
    """Blockers for what belongs to others: objects of active other tools, and values of creators."""
    policy, blockers = intended.policy, list[Blocker]()
    alive: set[OtherManager] = set()
    if not policy.takeover:
        alive, blockers = _coexistence_blockers(cluster, intended)
    for component, plan in intended.components:
        recorded = remembered_by(component.name, intended.inventories) if plan.losses else {}
        blockers += loss_blockers(component.name, lossy_adoptions(plan, recorded, policy), policy, alive)
    return blockers


def _coexistence_blockers(
    cluster: Cluster, intended: IntendedChanges
) -> tuple[set[OtherManager], list[Blocker]]:
    """The active other tools that manage objects which the run would write, and blockers for them."""
    met = intended.met
    managed_by_component = {
        component.name: by_manager(met[ref] for obj in component.objects if (ref := ref_of(obj)) in met)
        for component, _plan in intended.components
    }
    managers = sorted({manager for managed in managed_by_component.values() for manager in managed})
    activity = map_in_threads(lambda one: is_active(cluster, one), managers)
    alive = {manager for manager, active in zip(managers, activity, strict=True) if active}
    return alive, [
        Blocker(component, coexistence_problem(manager, refs))
        for component, managed in managed_by_component.items()
        for manager, refs in managed.items()
        if manager in alive
    ]
