# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What else stands in the way of a deployment, asked of the cluster before anything is written.

Only where there is something to do. All of it is read, or asked as a dry run that nobody keeps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_plan import (
    Blocker,
    ComponentPlan,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.desired_component import (
    DesiredComponent,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.review import (
    missing_rights,
    told_with_grants,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.access.rights import (
    RBAC,
    Resources,
    Right,
    is_escalation,
    list_right,
    refused_right,
    write_rights,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_rights import (
    apply_rights,
    delete_rights,
    granting_rights,
    narrowing_rights,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.autoscaling import AUTOSCALERS
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.other_tools import (
    by_manager,
    coexistence_problem,
    is_active,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_rights import lease_rights
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.open_run import open_run_note
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold import hold_problem
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_rights import (
    journal_rights,
    records_rights,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.record_schema import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from .observed_state import ObservedState


@dataclass(frozen=True)
class IntendedChanges:
    """What a deployment would do, as far as a preflight looks at it.

    Attributes:
        components: those that take part, with what would become of their objects.
        met: live objects that would be written.
        writes: what migrations would write.
        wide: definitions that would have to be narrowed at the end.
        observed: what the cluster remembers.
        served: what is served of a kind, the release's own CRDs included.
        takeover: whether objects of other tools may be taken over.
    """

    components: Sequence[tuple[DesiredComponent, ComponentPlan]]
    met: Mapping[Ref, Object]
    writes: Sequence[ObjectChange]
    wide: Sequence[Object]
    observed: ObservedState
    served: Resources
    takeover: bool


@dataclass(frozen=True)
class PreflightResult:
    """What a preflight has found.

    Attributes:
        blockers: everything that stands in the way, what was known before included.
        notes: what a person should know.
        grants: the roles that would grant what is missing, as YAML; empty where nothing is.
        rights: what the writes of the run have to be allowed.
    """

    blockers: tuple[Blocker, ...]
    notes: tuple[str, ...] = ()
    grants: str = ""
    rights: frozenset[Right] = frozenset()


def run_preflight(cluster: Cluster, intended: IntendedChanges, known: Sequence[Blocker]) -> PreflightResult:
    """Look for what else stands in the way.

    Args:
        cluster: the live one.
        intended: what the deployment would do.
        known: what stands in the way as far as was found; what only comes of missing rights is told with
            those.
    """
    now = datetime.now(UTC)
    observed = intended.observed
    held = hold_problem(observed.installation.hold, now)
    found = [Blocker("", held)] if held else []
    found += [] if intended.takeover else _coexistence(cluster, intended)
    # A refusal that only says which right is missing is told once, with the roles that grant it.
    told = [(blocker, refused_right(blocker.message)) for blocker in known]
    refused = {right for _blocker, right in told if right is not None}
    refused |= {right for text in observed.refused if (right := refused_right(text)) is not None}
    kept = [blocker for blocker, right in told if right is None]
    kept += [Blocker("", text) for text in observed.refused if refused_right(text) is None]
    needed = _needed(intended)
    missing, grants = _rights(cluster, intended, needed | lease_rights(), refused, kept)
    kept = [blocker for blocker in kept if not (grants and is_escalation(blocker.message))]
    notes = (*_open_run(cluster, intended, now), *(() if grants else _unsure(cluster, intended)))
    rights = frozenset(write_rights(needed | _granting(intended, everything=True)))
    return PreflightResult((*kept, *found, *missing), notes, grants, rights)


def _rights(
    cluster: Cluster,
    intended: IntendedChanges,
    needed: Collection[Right],
    refused: Collection[Right],
    known: Sequence[Blocker],
) -> tuple[list[Blocker], str]:
    missing = set(refused) | missing_rights(cluster, needed)
    escalating = any(is_escalation(blocker.message) for blocker in known)
    if not missing and not escalating:
        return [], ""
    wanted = _granting(intended, everything=bool(missing))
    missing |= missing_rights(cluster, wanted)
    problem, grants = told_with_grants(cluster, missing, "deployment")
    return [Blocker("", problem)], grants


def _needed(intended: IntendedChanges) -> set[Right]:
    served = intended.served
    needed = records_rights()
    told: set[tuple[str, str, str, str]] = set()

    def applying(obj: Object, action: str) -> set[Right]:
        # Of the thousands of objects that a release may have, most take what others of their kind take.
        one = (obj["apiVersion"], obj["kind"], ref_of(obj).namespace, action)
        if one in told:
            return set()
        told.add(one)
        return apply_rights(obj, action, served)

    for component, plan in intended.components:
        actions = {change.ref: change.action for change in plan.changes}
        for obj in component.objects:
            ref = ref_of(obj)
            # What could not be rehearsed is new as far as anybody knows.
            unknown = "" if ref in intended.observed.live else "create"
            needed |= applying(obj, actions.get(ref, unknown))
    inventories = intended.observed.inventories.values()
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


def _granting(intended: IntendedChanges, *, everything: bool) -> set[Right]:
    """What roles and bindings take that could not be written for want of rights, so far as that is known.

    A dry run that was let through needs nothing more; where other rights are missing, none came so far.
    """
    found: set[Right] = set()
    for component, plan in intended.components:
        verified = {change.ref for change in plan.changes if not change.unverified}
        for obj in component.objects:
            if ref_of(obj).group == RBAC and (everything or ref_of(obj) not in verified):
                found |= granting_rights(obj)
    return found


def _unsure(cluster: Cluster, intended: IntendedChanges) -> tuple[str, ...]:
    """Roles and bindings that the server may refuse once their namespace is there, and can't judge before."""
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


def _coexistence(cluster: Cluster, intended: IntendedChanges) -> list[Blocker]:
    met = intended.met
    found = {
        component.name: by_manager(met[ref] for obj in component.objects if (ref := ref_of(obj)) in met)
        for component, _plan in intended.components
    }
    managers = sorted({manager for managed in found.values() for manager in managed})
    alive = dict(zip(managers, map_in_threads(lambda one: is_active(cluster, one), managers), strict=True))
    return [
        Blocker(component, coexistence_problem(manager, refs))
        for component, managed in found.items()
        for manager, refs in managed.items()
        if alive[manager]
    ]


def _open_run(cluster: Cluster, intended: IntendedChanges, now: datetime) -> tuple[str, ...]:
    name = intended.observed.installation.last_run
    if not name:
        return ()
    try:
        run = cluster.get(API_VERSION, "Run", name)
    except ClusterError:
        # Told as a missing right.
        return ()
    note = open_run_note(run, now)
    return (note,) if note else ()
