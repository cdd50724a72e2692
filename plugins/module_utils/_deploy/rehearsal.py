# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing a whole run on an overlay that keeps nothing: what it leaves there is what the run writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    Ref,
    Resource,
    group_of,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.dry_run import DryRunCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    KindNotServed,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import CRD, kinds_of_crd
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.abandoning import (
    going_back,
    what_stays,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.alone import (
    alone_problems,
    alone_warnings,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.apply import Known
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.apply_all import (
    AppliedAll,
    Refusal,
    Waits,
    apply_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired import (
    Desired,
    DesiredComponent,
    desired_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.diff import changed_fields
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.drift import news, unexplained
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.immutable import is_immutable
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.inventory import (
    FOUNDATION,
    Entry,
    Held,
    Inventory,
    noted,
    suspects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.migrating import Migrating, planned
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.observe import (
    Observed,
    as_permitted,
    read_autoscaled,
    scope_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan import (
    Blocker,
    ComponentPlan,
    MigrationPlan,
    ObjectChange,
    Plan,
    PlanRequest,
    with_later_changes,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.preflight import Intended, preflight
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.prune_rehearsal import PruneRehearsal
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.records import basis_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.threads import side_by_side
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.versions import (
    is_older,
    is_open,
    server_problem,
    upgrade_problem,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.waves import (
    needs_problems,
    stages_of,
    waves_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import CheckResult
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import MigrationSet
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import GLOBAL, Phase


@dataclass(frozen=True)
class _Begun:
    """A component whose migrations before were rehearsed.

    Attributes:
        component: what it is to consist of.
        inventory: what it consists of, where it was deployed before.
        migrated: a migration before it is needed.
        stuck: a migration before it can't run.
        action: what its objects are looked at for.
        objects: those that are looked at.
    """

    component: DesiredComponent
    inventory: Inventory | None
    migrated: bool
    stuck: bool
    action: str
    objects: Sequence[Object]


NEW_CONTENT = ("install", "upgrade", "downgrade", "resume")
"""What is done to components whose manifests need not be those that were deployed."""


class Rehearsal:
    """One rehearsal.

    Args:
        cluster: the live one, of which only reads and dry runs are asked.
        release: what to deploy.
        request: what the user asks for beside it.
        found: the migrations that were found.
        migrating: those that take part.
        observed: what the cluster remembers.
        digest: of the release.
        after: the rehearsal of what is deployed before this release; it is taken as done.
    """

    def __init__(
        self,
        cluster: Cluster,
        release: Release,
        request: PlanRequest,
        found: MigrationSet,
        migrating: Migrating,
        observed: Observed,
        digest: str,
        *,
        after: Rehearsal | None = None,
    ) -> None:
        self._cluster = cluster
        self._overlay: DryRunCluster = after._overlay if after else DryRunCluster(cluster)
        self._release = release
        self._request = request
        self._found = found
        self._observed = observed
        self._digest = digest
        self._desired = desired_of(release, scope_of(self._overlay))
        self._migrating = migrating.over(self._desired.components, release)
        self._names = (FOUNDATION, *request.alone) if request.alone else tuple(self._desired.components)
        self._blockers = [Blocker("", problem) for problem in self._release_problems(self._desired)]
        self._verdicts: list[MigrationPlan] = []
        self._known: dict[Ref, Object | None] = dict(after._known) if after else {}
        self._met: dict[Ref, Object] = {}
        self._brought = _kinds_of(self._desired)
        self._wide: list[tuple[str, Object]] = []
        self._autoscaled = self._desired.autoscaled
        refused = list(observed.refused)
        with as_permitted(refused):
            self._autoscaled |= read_autoscaled(cluster)
        self._observed = replace(observed, refused=tuple(refused))

    @property
    def desired(self) -> Desired:
        """The release as it is to be."""
        return self._desired

    def plan(self) -> Plan:
        """Rehearse, and put together what was learnt."""
        release, installation = self._release, self._observed.installation
        self._migrate(GLOBAL, Phase.PRE)
        planned = {one.name: one for wave in self._waves() for one in self._wave(wave)}
        components = [planned[name] for name in self._desired.components if name in planned]
        components = self._narrowed(components)
        orphans = self._orphans()
        prune = self._prune(components, orphans)
        self._migrate(GLOBAL, Phase.POST)
        notes, grants = self._preflight(components, orphans)
        entries = [self._desired.components[c.name].entry for c in components if c.takes_part]
        waves = [] if self._blockers else waves_of(entries)
        return Plan(
            version=release.version,
            previous=installation.version,
            profile=release.profile,
            digest=self._digest,
            components=(*components, *orphans),
            prune=prune,
            migrations=tuple(self._verdicts),
            waves=tuple(waves),
            stages=tuple(stages_of(waves, self._roles())),
            blockers=tuple(self._blockers),
            basis=basis_of(installation, self._observed.inventories.values()),
            searched=self._found.searched,
            warnings=(
                *release.warnings,
                *notes,
                *self._migrating.strays(
                    self._found.files, [*self._desired.components, *self._observed.inventories]
                ),
                *alone_warnings(self._request.alone, installation.version, release.version),
            ),
            grants=grants,
            alone=self._request.alone,
            stays=self._what_stays(),
        )

    def _narrowed(self, components: list[ComponentPlan]) -> list[ComponentPlan]:
        """Rehearse how definitions end that were given more versions than the release has."""
        if not self._wide:
            return components
        from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.narrowing import narrow

        for name, crd in self._wide:
            try:
                narrow(self._overlay, crd, self._request.policy, Waits(), learn=0)
            except ClusterError as error:
                self._blockers.append(Blocker(name, str(error)))
        # That an object is told in another version is no change of it.
        later = [change for change in self._changes({}, set()) if change.fields != ["apiVersion"]]
        return with_later_changes(components, later, self._wide[0][0])

    def _preflight(
        self, components: Sequence[ComponentPlan], orphans: Sequence[ComponentPlan]
    ) -> tuple[Sequence[str], str]:
        """Look for what else stands in the way; what a person should know, and what would grant rights."""
        working = [(self._desired.components[one.name], one) for one in components if one.takes_part]
        needed = [verdict for verdict in self._verdicts if verdict.verdict == "needed"]
        moves = self._release.version != self._observed.installation.version and not self._request.alone
        writes = [write for verdict in needed for write in verdict.writes]
        writes += [change for orphan in orphans for change in orphan.changes]
        if not (working or needed or moves or writes or self._observed.refused):
            return (), ""
        found = preflight(
            self._cluster,
            Intended(
                working,
                self._met,
                writes,
                [crd for _name, crd in self._wide],
                self._observed,
                self._served,
                self._request.policy.takeover,
            ),
            self._blockers,
        )
        self._blockers = list(found.blockers)
        return found.notes, found.grants

    def _served(self, api_version: str, kind: str) -> Resource | None:
        brought = self._brought.get((group_of(api_version), kind))
        return brought or self._overlay.resource(api_version, kind)

    def _release_problems(self, desired: Desired) -> list[str]:
        installation, request = self._observed.installation, self._request
        version = upgrade_problem(
            installation.version,
            installation.target,
            self._release.version,
            self._release.upgrades_from,
            abandon=request.abandon,
        )
        # Where the release as a whole may not follow, each of its components would say the same.
        self._may_go_back = request.abandon or version != ""
        supported = self._release.kubernetes
        server = server_problem(self._overlay.server_version(), supported) if supported else ""
        return [
            *filter(None, (version, server)),
            *needs_problems(self._release.components),
            *alone_problems(self._release.components, request.alone, self._observed.inventories),
            *desired.problems,
            *self._found.problems,
            *self._migrating.problems,
        ]

    def _waves(self) -> list[list[DesiredComponent]]:
        """All components as the run would take them; one by one where their needs make no sense."""
        components = self._desired.components
        entries = [component.entry for component in components.values()]
        wanted = [entry for entry in entries if entry.name in self._names]
        waves = [(entry.name,) for entry in wanted] if needs_problems(entries) else waves_of(wanted)
        return [[components[name] for name in wave] for wave in waves]

    def _wave(self, wave: Sequence[DesiredComponent]) -> list[ComponentPlan]:
        """Rehearse components that don't need each other; the server is asked about them side by side."""
        begun = [self._begin(component) for component in wave]
        applied = side_by_side(self._apply, begun)
        changes = self._changes_by_component(begun, applied)
        return [
            self._end(one, result, changes.get(one.component.name, ()))
            for one, result in zip(begun, applied, strict=True)
        ]

    def _begin(self, component: DesiredComponent) -> _Begun:
        inventory = self._observed.inventories.get(component.name)
        blockers = len(self._blockers)
        migrated = self._migrate(component.name, Phase.PRE)
        action, objects = self._what_to_look_at(component, inventory, migrated)
        if action == "downgrade" and inventory and not self._may_go_back:
            self._blockers.append(Blocker(component.name, going_back(inventory, self._release.version)))
        return _Begun(component, inventory, migrated, len(self._blockers) > blockers, action, objects)

    def _apply(self, begun: _Begun) -> AppliedAll:
        known = Known(_entries(begun.inventory), self._autoscaled)
        policy = self._request.policy
        return apply_objects(self._overlay, begun.objects, policy, Waits(), known=known, keep_going=True)

    def _changes_by_component(
        self, begun: Sequence[_Begun], applied: Sequence[AppliedAll]
    ) -> dict[str, tuple[ObjectChange, ...]]:
        intents = {ref_of(obj): obj for one in begun for obj in one.objects}
        owners = {ref_of(obj): one.component.name for one in begun for obj in one.objects}
        replaced = {one.ref for result in applied for one in result.applied if one.replaced}
        found: dict[str, list[ObjectChange]] = {}
        for change in self._changes(intents, replaced):
            # What went with something else belongs to none of them, and is told with the last.
            found.setdefault(owners.get(change.ref, begun[-1].component.name), []).append(change)
        return {name: tuple(changes) for name, changes in found.items()}

    def _end(self, begun: _Begun, applied: AppliedAll, changes: tuple[ObjectChange, ...]) -> ComponentPlan:
        component, inventory, action = begun.component, begun.inventory, begun.action
        # What a migration would have made way for is refused only as that one can't run: to advise a deletion
        # would be wrong.
        # And what a refused definition would have brought is not missing from the cluster.
        refused = [
            one
            for one in applied.refused
            if not (begun.stuck and is_immutable(one.error))
            and not (isinstance(one.error, KindNotServed) and one.ref[:2] in self._brought)
        ]
        self._blockers += [_blocker(component.name, refusal) for refusal in refused]
        if not self._request.alone:
            self._wide += [(component.name, obj) for obj in begun.objects if ref_of(obj) in applied.wide]
        migrated = self._migrate(component.name, Phase.POST) or begun.migrated
        if action == "drifted" and not changes:
            action = "unchanged"
        if action == "unchanged" and migrated:
            action = "migrate"
        entries = _entries(inventory)
        findings = news(applied.findings, entries)
        if action == "drifted":
            for change in changes:
                findings += unexplained(change.ref, change.fields or ("",), findings)
        return ComponentPlan(
            name=component.name,
            namespace=component.entry.namespace,
            action=action,
            changes=changes,
            hooks=component.hooks,
            warnings=(*component.warnings, *applied.warnings),
            objects=len(component.objects),
            digest=component.digest if action in NEW_CONTENT else "",
            component_version=component.entry.version or "",
            findings=tuple(findings),
            noted=self._noted(entries, applied.held) if action == "unchanged" else (),
        )

    def _noted(self, entries: Mapping[Ref, Entry], held: Mapping[Ref, Held]) -> tuple[Entry, ...]:
        """What was looked at closely and is as it is to be, so that it need not be looked at again."""
        live = self._observed.live
        now = [noted(entries[ref], live[ref], held[ref]) for ref in held if ref in entries and ref in live]
        return tuple(entry for entry in now if entry != entries[entry.ref])

    def _what_to_look_at(
        self, component: DesiredComponent, inventory: Inventory | None, migrated: bool
    ) -> tuple[str, Sequence[Object]]:
        if inventory is None:
            return "install", component.objects
        if inventory.digest != component.digest and is_older(self._release.version, inventory.version):
            return "downgrade", component.objects
        if not inventory.digest:
            return "resume", component.objects
        # The same release may be rendered to other random passwords: those that were deployed stay. While a
        # run is open, or has failed, only the inventory tells which release that is.
        same_release = self._digest in (inventory.release, self._observed.installation.digest)
        if inventory.digest != component.digest and not same_release:
            return "upgrade", component.objects
        if migrated:
            return "migrate", component.objects
        policy = self._request.policy
        moved = suspects(
            inventory, self._observed.live, force=policy.force_conflicts, strict=policy.strict_drift
        )
        looked_at = [obj for obj in component.objects if ref_of(obj) in moved]
        return ("drifted" if looked_at else "unchanged"), looked_at

    def _changes(self, intents: Mapping[Ref, Object], replaced: set[Ref]) -> tuple[ObjectChange, ...]:
        """What the overlay has come to hold since it was last asked."""
        changes: list[ObjectChange] = []
        # They were written side by side; they are told in an order that is the same the next time.
        order = {ref: position for position, ref in enumerate(intents)}
        for change in sorted(self._overlay.changes(), key=lambda one: order.get(one.ref, -1)):
            ref = change.ref
            if ref in intents and change.before is not None:
                self._met[ref] = change.before
            before = self._known.get(ref, change.before)
            after = self._known[ref] = change.after
            if before is after or before == after or (before and after and not changed_fields(before, after)):
                continue
            shown = intents.get(ref, after) if before is None and after else after
            changes.append(ObjectChange(ref, before, shown, ref in replaced, change.unverified))
        return tuple(changes)

    def _migrate(self, component: str, phase: Phase) -> bool:
        """Rehearse the migrations of one component and phase; whether any is needed."""
        if self._found.problems:
            return False
        verdicts = [
            self._rehearse_migration(result)
            for turn in self._migrating.in_turn(component, phase)
            for result in self._migrating.check_these(turn, self._overlay)
        ]
        self._verdicts += verdicts
        return any(verdict.verdict == "needed" for verdict in verdicts)

    def _rehearse_migration(self, result: CheckResult) -> MigrationPlan:
        verdict = planned(result)
        problems = [f"migration {verdict.id}: {verdict.evidence}"] if result.fatal else []
        # Taken at once, as nothing is rehearsed any more once the deployment is cancelled.
        reasons = self._migrating.take_cancel_reasons()
        if verdict.verdict == "needed" and not problems and not reasons:
            error = self._migrating.rehearse(self._overlay, verdict.id)
            problems += [f"migration {verdict.id}, rehearsed: {error}"] if error else []
            reasons += self._migrating.take_cancel_reasons()
            verdict = verdict.with_writes(self._changes({}, set()))
        problems += [f"the deployment would be cancelled by {reason}" for reason in reasons]
        self._blockers += [Blocker(result.component, problem) for problem in problems]
        return verdict

    def _roles(self) -> dict[str, str]:
        """The roles that deploy components in this deployment, by component."""
        migrated = {verdict.component for verdict in self._verdicts if verdict.verdict == "needed"}
        wrapped = {name: role for name, role in self._request.migration_roles.items() if name in migrated}
        own = {entry.name: entry.role for entry in self._release.components if entry.role}
        return {**wrapped, **self._request.roles, **own}

    def _what_stays(self) -> tuple[str, ...]:
        """What can't go back of the deployment that is abandoned; mostly none is."""
        installation = self._observed.installation
        version, target = installation.version, installation.target
        if not is_open(version, target) or self._release.version == target:
            return ()
        from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.recorder import read_runs

        return tuple(what_stays(installation, self._observed.inventories, read_runs(self._overlay)))

    def _prune(self, *plans: list[ComponentPlan]) -> tuple[str, ...]:
        """Rehearse what the run prunes once everything is healthy, and name the components concerned."""
        pruning = PruneRehearsal(
            self._overlay,
            self._observed.inventories,
            {c.name: {ref_of(obj) for obj in c.objects} for c in self._desired.components.values()},
            self._request.policy,
            lambda: self._changes({}, set()),
            only=self._request.alone and self._names,
        )
        for some in plans:
            some[:] = [pruning.of(plan) for plan in some]
        self._blockers += pruning.blockers
        return tuple(pruning.names)

    def _orphans(self) -> list[ComponentPlan]:
        if self._request.alone:
            return []
        return [
            ComponentPlan(
                name,
                inventory.namespace,
                "orphaned",
                objects=len(inventory.refs),
                component_version=inventory.component_version,
            )
            for name, inventory in self._observed.inventories.items()
            if name not in self._desired.components
        ]


def _kinds_of(desired: Desired) -> dict[tuple[str, str], Resource]:
    """The kinds that a release defines itself, by group and kind."""
    return {
        (kind.group, kind.resource.kind): kind.resource
        for component in desired.components.values()
        for obj in component.objects
        if obj["kind"] == CRD[1]
        for kind in kinds_of_crd(obj).values()
    }


def _blocker(component: str, refusal: Refusal) -> Blocker:
    message = str(refusal.error)
    if str(refusal.ref) not in message:
        message = f"{refusal.ref}: {message}"
    if is_immutable(refusal.error):
        message += f" (add {refusal.ref.kind} to kyma_replace_immutable to have it deleted and made anew)"
    return Blocker(component, message)


def _entries(inventory: Inventory | None) -> dict[Ref, Entry]:
    return {entry.ref: entry for entry in inventory.entries} if inventory else {}
