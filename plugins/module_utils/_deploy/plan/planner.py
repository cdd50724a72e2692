# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Creating a plan: reads if nothing has changed, a rehearsal if something has."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial

from ..._carrier.task import Materials
from ..._cluster.cluster import Cluster
from ..._components.component_health import observed_health
from ..._components.component_inventory import deployed_as
from ..._components.component_plan import Blocker, ComponentPlan, MigrationPlan
from ..._components.migrations.migration_runner import MigrationRunner, migration_plan
from ..._migrations.migration_set import MigrationSet
from ..._migrations.retirement import overdue_migrations
from ..._migrations.shared_reads import SharedReads
from ..._objects.inventory.inventory import refs_to_check
from ..._objects.ownership.policy import Policy
from ..._release.model import rendering_digest
from ..._runs.records.cluster_hold import Hold, hold_problem
from ..._runs.records.installation import Installation
from ..._threads import call_in_threads
from ...migration import GLOBAL
from ..desired.release_migrations import with_installation
from ..desired.release_profile import chosen_profile
from .migration_warnings import migration_warnings
from .observed_state import ObservedState, observe_cluster
from .plan_progress import PlanProgress
from .release_plan import Plan, PlanRequest


def create_plan(
    cluster: Cluster,
    materials: Materials,
    request: PlanRequest,
    migration_set: MigrationSet,
    migrating: MigrationRunner,
) -> Plan:
    """Plan a deployment; it only reads, and sends dry runs if something has changed.

    The release is that for the deployed profile, unless the request names another. If its digest is the
    deployed one and no object in the cluster has changed, the release is neither parsed nor rendered. Nor is
    it if the cluster is held and the request stops at a hold.

    Raises:
        LifecycleError: the release can't be read, or the cluster doesn't answer.
    """
    report = PlanProgress(request.progress)
    report.reading()
    fingerprint, observed = call_in_threads(
        materials.fingerprint,
        lambda: observe_cluster(cluster, partial(_stopping_hold, materials, request)),
    )
    report.has_read()
    profile = chosen_profile(request.profile, observed.installation)
    materials, digest = materials.for_profile(profile), rendering_digest(fingerprint, profile)
    if observed.held:
        blocker = Blocker("", observed.held, is_hold=True)
        return Plan(
            materials.version(),
            observed.installation.version,
            "",
            digest,
            components=(),
            blockers=(blocker,),
            installation=observed.installation,
        )
    known = set(request.alone) <= set(observed.installation.components)
    outlived = request.strict and overdue_migrations(migrating.migrations, observed.installation.version)
    sound = known and not migration_set.problems and not migrating.problems and not outlived
    as_deployed = _is_as_deployed(observed, digest, request.policy)
    if sound and as_deployed and not _may_prune(observed, request.policy):
        installation = observed.installation
        deployed = with_installation(
            migrating, installation, observed.inventories.values(), materials.content
        )
        migrations = [
            one for one in deployed.migrations if one.component in (GLOBAL, *installation.components)
        ]
        shared = SharedReads(cluster, copied=False)
        results = deployed.check_migrations(migrations, shared)
        if not shared.are_intact():
            # A migration check has changed the objects that all checks share, so the others saw false state.
            results = deployed.check_migrations(migrations, SharedReads(cluster))
        verdicts = [migration_plan(result) for result in results]
        cancelled = migrating.take_cancel_reasons()
        if not cancelled and all(verdict.verdict == "not_needed" for verdict in verdicts):
            warnings = migration_warnings(
                migrating.migrations,
                verdicts,
                files=migration_set.files,
                components=observed.inventories,
                release=observed.installation.version,
            )
            return _nothing_to_do(observed, verdicts, migration_set, warnings, request)
    # Imported here, because a run with nothing to do does not need these: they are half of all modules.
    from ..desired.unchanged_components import read_release
    from .hops import plan_hops
    from .release_rehearsal import ReleaseRehearsal

    if request.hops and not request.alone:
        return plan_hops(cluster, materials, request, migration_set, migrating, observed)
    release, unchanged = read_release(materials, {} if observed.refused else observed.inventories)
    digest = rendering_digest(fingerprint, release.profile)
    return ReleaseRehearsal(
        cluster, release, request, migration_set, migrating, observed, digest, skip=unchanged
    ).plan()


def _stopping_hold(
    materials: Materials, request: PlanRequest, installation: Installation, hold: Hold | None
) -> str:
    """The hold in force, if a plan need not find out whether it matters; otherwise empty."""
    held = hold_problem(hold, datetime.now(UTC)) if request.stops_at_hold else ""
    if not held:
        return ""
    materials = materials.for_profile(chosen_profile(request.profile, installation))
    return held if installation.version != materials.version() else ""


def _is_as_deployed(observed: ObservedState, digest: str, policy: Policy) -> bool:
    installation = observed.installation
    deployed = [observed.inventories.get(name) for name in installation.components]
    return (
        not observed.refused
        and installation.version != ""
        and installation.version == installation.target
        and installation.digest == digest
        and all(one is not None and one.digest for one in deployed)
        and not any(refs_to_check(one, observed.live, policy) for one in deployed if one is not None)
    )


def _may_prune(observed: ObservedState, policy: Policy) -> bool:
    """Whether an earlier run has left something to prune, or the user now allows more."""
    components, inventories = observed.installation.components, observed.inventories
    dropped = any(entry.dropped for inventory in inventories.values() for entry in inventory.entries)
    if not dropped and not (policy.prune and any(name not in components for name in inventories)):
        return False
    # Imported here, because mostly nothing is to be pruned.
    from ..._objects.prune.prune_decision import may_prune

    return may_prune(
        inventories, components, observed.live, policy.prune_allow, policy.prune, observed.others
    )


def _nothing_to_do(
    observed: ObservedState,
    verdicts: Sequence[MigrationPlan],
    migration_set: MigrationSet,
    warnings: Sequence[str],
    request: PlanRequest,
) -> Plan:
    installation = observed.installation
    health = observed_health(
        (
            one
            for one in observed.inventories.values()
            if one.owner in (request.alone or installation.components)
        ),
        observed.live,
    )
    components = [
        ComponentPlan(
            name=inventory.owner,
            namespace=inventory.namespace,
            action="unchanged" if inventory.owner in installation.components else "orphaned",
            objects=len(inventory.refs),
            component_version=deployed_as(inventory).component_version,
        )
        for inventory in observed.inventories.values()
    ]
    return Plan(
        version=installation.version,
        previous=installation.version,
        profile=installation.profile,
        digest=installation.digest,
        components=tuple(components),
        migrations=tuple(verdicts),
        basis=observed.basis,
        versions=observed.versions,
        searched=migration_set.searched,
        code=migration_set.code,
        warnings=tuple(warnings),
        alone=request.alone,
        health=health,
        installation=installation,
        is_profile_requested=bool(request.profile),
    )
