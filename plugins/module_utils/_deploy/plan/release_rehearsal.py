# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearsing a whole run on an overlay that is discarded: its changes there are the run's writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from ..._cluster.cluster import Cluster, Object, Ref, Resource, group_of
from ..._cluster.errors import ClusterError, Forbidden
from ..._cluster.kinds import defined_kinds
from ..._components.component_health import observed_health
from ..._components.component_inventory import deployed_as
from ..._components.component_plan import Blocker, ComponentPlan, MigrationPlan, with_later_changes
from ..._components.desired_component import DesiredComponent
from ..._components.migrations.migration_runner import MigrationRunner
from ..._components.migrations.rehearsal import MigrationRehearsal
from ..._components.rehearsed_changes import RehearsedChanges
from ..._components.rehearsed_work import RehearsedWork, with_advice
from ..._components.work_context import WorkContext
from ..._dry_run.dry_run_cluster import DryRunCluster
from ..._errors import LifecycleError
from ..._migrations.migration_set import MigrationSet
from ..._migrations.retirement import overdue_migrations, overdue_warning
from ..._objects.access.review import known_resources
from ..._objects.health.watcher import Watcher
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.live_objects import as_permitted, read_autoscaled, scope_of
from ..._release.model import FOUNDATION, ComponentEntry, Release
from ..._runs.lease.acquisition import create_namespace
from ..._runs.lease.lease import LIFECYCLE_NAMESPACE
from ..._runs.records.runs import read_runs
from ..._threads import call_in_threads
from ...migration import GLOBAL, Phase
from ..desired.desired_release import DesiredRelease, desired_release
from ..desired.release_migrations import component_actions, with_release
from ..desired.release_profile import profile_problem
from ..desired.release_versions import is_deployment_open, is_same_release, server_problem, upgrade_problem
from ..desired.stages import needs_problems, stages_of, waves_of
from .abandonment import begun_migrations, irreversible_changes
from .component_preflight import IntendedChanges
from .lockout_check import LockoutFindings, check_lockouts
from .migration_warnings import migration_warnings
from .observed_state import ObservedState
from .own_webhooks import OwnWebhooks
from .partial_deployment import partial_deployment_problems, partial_deployment_warnings
from .plan_progress import PlanProgress
from .preflight import PreflightResult, run_preflight
from .pruning import PruneRehearsal, Pruning
from .release_plan import Plan, PlanRequest
from .wave_rehearsal import RehearsedComponent, WaveRehearsal


class ReleaseRehearsal:
    """One rehearsal.

    Args:
        cluster: the live one, which gets only reads and dry runs.
        release: what to deploy.
        request: the user's request besides the release.
        migrations: that were found.
        migrating: those that take part.
        observed: the records of the cluster.
        digest: of the release.
        kept: the records of components that need not be read; see :mod:`~.unchanged_components`.
        after: the rehearsal of the release before this one; it is assumed to be deployed.

    Attributes:
        left: the predicted records of the components, without what the plan prunes; set once it is created.
    """

    def __init__(
        self,
        cluster: Cluster,
        release: Release,
        request: PlanRequest,
        migrations: MigrationSet,
        migrating: MigrationRunner,
        observed: ObservedState,
        digest: str,
        *,
        skip: Mapping[str, Inventory] | None = None,
        after: ReleaseRehearsal | None = None,
    ) -> None:
        self._cluster = cluster
        self._overlay: DryRunCluster = after._overlay if after else DryRunCluster(cluster)
        self._release = release
        self._request = request
        self._migration_set = migrations
        self._digest = digest
        self._desired = desired_release(release, scope_of(self._overlay), skip)
        self._names = (FOUNDATION, *request.alone) if request.alone else tuple(self._desired.components)
        self._actions = component_actions(
            [self._desired.components[name] for name in self._names if name in self._desired.components],
            observed.inventories,
            digest,
            observed.installation.digest,
        )
        self._migrating = with_release(migrating, self._desired.components, release, self._actions)
        refused = list(observed.refused)
        autoscaled = self._desired.autoscaled
        with as_permitted(refused):
            autoscaled |= read_autoscaled(cluster)
        self._observed = replace(observed, refused=tuple(refused))
        self._open_runs = self._read_open_runs()
        version_problem = self._version_problem()
        self._blockers = [Blocker("", problem) for problem in self._release_problems(version_problem)]
        self._changes: RehearsedChanges = RehearsedChanges(self._overlay, after._changes if after else None)
        self._migrations = MigrationRehearsal(
            cluster, self._overlay, None if migrations.problems else self._migrating, self._changes
        )
        self._webhooks = OwnWebhooks(cluster, _refs_of(self._desired, observed.inventories))
        self._overlay.tolerate_webhooks(self._webhooks.is_own)
        if request.policy.refuse_unknown_fields:
            self._overlay.find_unknown_fields()
        self._brought = _kinds_of(self._desired)
        context = WorkContext(
            cluster=self._overlay,
            policy=request.policy,
            migrate=self._migrations.rehearse,
            inventories=observed.inventories,
            watcher=Watcher(self._overlay),
            autoscaled=autoscaled,
            live=observed.live,
            is_recorded=False,
            is_rehearsal=True,
            version=release.version,
            digest=digest,
            providers=self._desired.providers,
        )
        self._rehearsal = WaveRehearsal(
            context,
            self._migrations,
            self._changes,
            deployed_digest=self._observed.installation.digest,
            brought=_bringers(self._desired),
            is_ordered=not needs_problems(release.components),
            is_settled=bool(skip) and not request.policy.takes_from_others,
            # If the release as a whole may not follow, each of its components would report the same.
            may_go_back=request.abandon or version_problem != "",
            alone=request.alone,
        )
        self._lockout_warnings: list[str] = []
        self.remaining_inventories = observed.inventories

    @property
    def desired(self) -> DesiredRelease:
        """The desired release."""
        return self._desired

    def plan(self) -> Plan:
        """Rehearse, and combine the findings into a plan."""
        release, installation = self._release, self._observed.installation
        self._assume_lease()
        self._rehearse_global_migrations(Phase.PRE)
        rehearsed = list(self._rehearsed())
        self._blockers += [blocker for one in rehearsed for blocker in one.blockers]
        planned = {one.plan.name: one.plan for one in rehearsed}
        components = [planned[name] for name in self._desired.components if name in planned]
        wide = [] if self._request.alone else [one.work for one in rehearsed if one.work.wide]
        components = self._narrowed(components, wide)
        orphans = self._orphans()
        prune = self._prune(components, orphans)
        self._rehearse_global_migrations(Phase.POST)
        entries = [self._desired.entries[c.name] for c in components if c.takes_part]
        self._blockers += self._missing_roles(entries)
        preflight = self._preflight(components, orphans, [crd for one in wide for crd in one.wide])
        waves = [] if self._blockers else waves_of(entries)
        known = self._observed.inventories
        return Plan(
            version=release.version,
            previous=installation.version,
            profile=release.profile,
            digest=self._digest,
            components=(*components, *orphans),
            prune=prune,
            migrations=self._migrations_with_history(),
            waves=tuple(waves),
            stages=tuple(stages_of(waves, self._roles(), prune=prune, migrating=self._global_phases())),
            blockers=tuple(with_advice(self._blockers, self._request.policy)),
            basis=self._observed.basis,
            versions=self._observed.versions,
            searched=self._migration_set.searched,
            code=self._migration_set.code,
            warnings=(
                *release.warnings,
                *self._webhooks.warnings,
                *self._lockout_warnings,
                *preflight.notes,
                *migration_warnings(
                    self._migrating.migrations,
                    self._migrations.verdicts,
                    files=self._migration_set.files,
                    components=[*self._desired.components, *self._observed.inventories],
                    # If they are blockers, a warning is not necessary.
                    release="" if self._request.strict else release.version,
                ),
                *partial_deployment_warnings(self._request.alone, installation.version, release.version),
            ),
            grants=preflight.grants,
            rights=tuple(sorted(preflight.rights)),
            alone=self._request.alone,
            stays=self._what_stays(),
            actions=self._actions,
            unsettled=self._is_unsettled,
            # The run waits until the components that it changes are healthy.
            health=observed_health(
                (known[one.name] for one in components if not one.takes_part and one.name in known),
                self._observed.live,
            ),
            release_digest=release.release_digest,
            installation=installation,
            is_profile_requested=bool(self._request.profile),
        )

    def _assume_lease(self) -> None:
        """Assume the namespace of the lease, which the run creates first and no release has."""
        refs = (ref for component in self._desired.components.values() for ref in component.refs)
        if any(ref.namespace == LIFECYCLE_NAMESPACE for ref in refs):
            with suppress(ClusterError):
                if self._overlay.get("v1", "Namespace", LIFECYCLE_NAMESPACE) is None:
                    create_namespace(self._overlay)
            self._changes.take()

    def _rehearsed(self) -> Iterator[RehearsedComponent]:
        """The components, wave by wave; the number of rehearsed components is reported."""
        report, done = PlanProgress(self._request.progress), 0
        waves = self._waves()
        total = sum(map(len, waves))
        for wave in waves:
            report.rehearsing(done, total)
            yield from self._rehearsal.rehearse(wave)
            done += len(wave)
        report.rehearsing(total, total)

    def _rehearse_global_migrations(self, phase: Phase) -> None:
        for one in self._migrations.rehearse(GLOBAL, phase):
            self._blockers += one["blockers"]

    def _global_phases(self) -> set[Phase]:
        """The phases with global migrations."""
        return {Phase(one.phase) for one in self._migrations.verdicts if one.component == GLOBAL}

    @property
    def _is_unsettled(self) -> bool:
        """Whether an earlier run left open which release the cluster has, or how it was rendered."""
        installation = self._observed.installation
        if not installation.version or self._request.alone:
            return False
        return not installation.digest or installation.target != installation.version

    def _migrations_with_history(self) -> tuple[MigrationPlan, ...]:
        if self._observed.installation.last_run:
            with suppress(Forbidden):
                return self._migrations.verdicts_with_history(self._cluster)
        return tuple(self._migrations.verdicts)

    def _narrowed(
        self, components: list[ComponentPlan], wide: Sequence[RehearsedWork]
    ) -> list[ComponentPlan]:
        """Rehearse how definitions lose the versions that the release does not have.

        Args:
            components: as they were rehearsed.
            wide: the work on the components with such definitions.
        """
        if not wide:
            return components
        self._blockers += [blocker for work in wide for blocker in work.narrow()]
        return with_later_changes(components, self._changes.take(), wide[0].component.name)

    def _preflight(
        self,
        components: Sequence[ComponentPlan],
        orphans: Sequence[ComponentPlan],
        wide: Sequence[Object],
    ) -> PreflightResult:
        """Find further blockers."""
        working = [(self._desired.components[one.name], one) for one in components if one.takes_part]
        needed = self._migrations.needed
        moves = self._release.version != self._observed.installation.version and not self._request.alone
        writes = [write for verdict in needed for write in verdict.writes]
        writes += [change for orphan in orphans for change in orphan.changes]
        if not (working or needed or moves or writes or self._is_unsettled or self._observed.refused):
            return PreflightResult(())
        intended = IntendedChanges(
            working,
            self._changes.met,
            writes,
            wide,
            self._observed.inventories,
            self._observed.live,
            self._served,
            self._request.policy,
        )

        def check() -> PreflightResult | LifecycleError:
            kinds = self._request.record_kinds()
            try:
                return run_preflight(self._cluster, intended, self._observed, kinds, self._blockers)
            except LifecycleError as error:
                return error

        lockouts: LockoutFindings
        result: PreflightResult | LifecycleError
        lockouts, result = call_in_threads(lambda: self._check_lockouts(components), check)
        self._lockout_warnings = lockouts.warnings
        if lockouts.refusals:
            # Reviews of rights fail, too.
            self._blockers += [*lockouts.additions, *lockouts.refusals]
            return PreflightResult(tuple(self._blockers))
        if isinstance(result, LifecycleError):
            raise result
        self._blockers = [*result.blockers, *lockouts.additions]
        return result

    def _check_lockouts(self, components: Sequence[ComponentPlan]) -> LockoutFindings:
        """Find what would prevent runs from writing."""
        request, kinds = self._request, self._request.record_kinds()
        changes = [(one.name, change) for one in components for change in one.changes]
        changes += [(one.component, change) for one in self._migrations.needed for change in one.writes]
        return check_lockouts(
            self._cluster,
            changes,
            self._webhooks,
            kinds,
            request.policy.allow_webhooks,
            are_current=self._observed.installation.definitions == kinds.hash,
        )

    def _served(self, api_version: str, kind: str) -> Resource | None:
        brought = self._brought.get((group_of(api_version), kind))
        return brought or known_resources(self._overlay)(api_version, kind)

    @property
    def _is_other_open(self) -> bool:
        """Whether the deployment of another release has begun and has not ended."""
        installation = self._observed.installation
        target = installation.target
        return is_deployment_open(installation.version, target) and not is_same_release(
            self._release.version, target
        )

    def _version_problem(self) -> str:
        installation, runs = self._observed.installation, self._open_runs
        return upgrade_problem(
            installation.version,
            installation.target,
            self._release.version,
            self._release.upgrades_from,
            abandon=self._request.abandon,
            alone=bool(self._request.alone),
            migrated=None if runs is None else begun_migrations(installation.target, runs),
        )

    def _profile_problem(self) -> str:
        installation, request = self._observed.installation, self._request
        return profile_problem(installation, self._release.profile, is_allowed=request.change_profile)

    def _read_open_runs(self) -> list[Object] | None:
        """The newest runs, if the deployment of another release is open; None if they may not be read."""
        if not self._is_other_open:
            return []
        # A user who may not read them lacks a right, which is reported with all others.
        with suppress(Forbidden):
            return read_runs(self._overlay)
        return None

    def _release_problems(self, version: str) -> list[str]:
        supported = self._release.kubernetes
        server = server_problem(self._overlay.server_version(), supported) if supported else ""
        return [
            *filter(None, (version, server, self._profile_problem())),
            *needs_problems(self._release.components),
            *partial_deployment_problems(
                self._release.components, self._request.alone, self._observed.inventories
            ),
            *self._desired.problems,
            *self._migration_set.problems,
            *self._migrating.problems,
            *self._overdue(),
        ]

    def _overdue(self) -> list[str]:
        if not self._request.strict:
            return []
        version = self._release.version
        late = overdue_migrations(self._migrating.migrations, version)
        return [f"{overdue_warning(one, version)}; it blocks because of strict (kyma_strict)" for one in late]

    def _waves(self) -> list[list[DesiredComponent]]:
        """All components in the order of the run; one by one if their needs are invalid."""
        components = self._desired.components
        entries = list(self._desired.entries.values())
        taking_part = [entry for entry in entries if entry.name in self._names]
        waves = [(entry.name,) for entry in taking_part] if needs_problems(entries) else waves_of(taking_part)
        return [[components[name] for name in wave] for wave in waves]

    def _roles(self) -> dict[str, str]:
        """The roles that deploy components in this deployment, by component."""
        migrated = {verdict.component for verdict in self._migrations.needed}
        wrapped = {name: role for name, role in self._request.migration_roles.items() if name in migrated}
        own = {entry.name: entry.role for entry in self._release.components if entry.role}
        return {**wrapped, **self._request.roles, **own}

    def _missing_roles(self, entries: Sequence[ComponentEntry]) -> list[Blocker]:
        """The roles that these components need and that the controller does not have."""
        roles = {entry.name: role for entry in entries if (role := self._roles().get(entry.name))}
        missing = self._request.missing_roles(set(roles.values()))
        return [
            Blocker(
                name,
                f"Ansible finds no role {role} on the controller, which is to deploy this component: install"
                " it, or correct its name in the component list, component_roles (kyma_component_roles) or"
                " migration_roles (kyma_migration_roles)",
            )
            for name, role in roles.items()
            if role in missing
        ]

    def _what_stays(self) -> tuple[str, ...]:
        """The irreversible changes of the deployment that is abandoned; mostly none."""
        if not self._is_other_open:
            return ()
        inventories = self._observed.inventories
        return tuple(irreversible_changes(self._observed.installation, inventories, self._open_runs or ()))

    def _prune(self, *plans: list[ComponentPlan]) -> tuple[str, ...]:
        """Rehearse what the run prunes once everything is healthy, and name the components concerned."""
        observed, policy = self._observed, self._request.policy
        desired = {c.name: c.refs for c in self._desired.components.values()}
        going = [name for name in observed.inventories if name in desired or policy.prune]
        names = self._names if self._request.alone else going
        removals = Pruning(observed.inventories, observed.others, desired, names, policy)
        pruning = PruneRehearsal(self._overlay, removals, self._changes.take, dict(observed.inventories))
        for some in plans:
            some[:] = [pruning.of(plan) for plan in some]
        self._blockers += pruning.blockers
        self.remaining_inventories = pruning.inventories
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
                component_version=deployed_as(inventory).component_version,
            )
            for name, inventory in self._observed.inventories.items()
            if name not in self._desired.components
        ]


def _refs_of(desired: DesiredRelease, inventories: Mapping[str, Inventory]) -> set[Ref]:
    refs = {ref for component in desired.components.values() for ref in component.refs}
    return refs | {entry.ref for inventory in inventories.values() for entry in inventory.entries}


def _bringers(desired: DesiredRelease) -> dict[tuple[str, str], str]:
    """The component that defines each of the release's kinds, except for unchanged components."""
    return {
        kind: component.name
        for component in desired.components.values()
        if not component.is_unchanged
        for kind in defined_kinds(component.objects)
    }


def _kinds_of(desired: DesiredRelease) -> dict[tuple[str, str], Resource]:
    """The kinds that a release defines, by group and kind; unchanged components' are served."""
    return {
        (kind.group, kind.resource.kind): kind.resource
        for component in desired.components.values()
        if not component.is_unchanged
        for kind in defined_kinds(component.objects).values()
    }
