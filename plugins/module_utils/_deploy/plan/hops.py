# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Planning a path over several releases: the first hop exactly, later hops on its predicted result."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..._carrier.task import AvailableRelease, Materials
from ..._cluster.cluster import Cluster
from ..._components.component_health import ObservedHealth
from ..._components.component_inventory import deployed_as, intended_inventory, with_deployed_as
from ..._components.component_plan import Blocker
from ..._components.migrations.migration_runner import MigrationRunner
from ..._migrations.migration_set import MigrationSet
from ..._objects.inventory.inventory import Inventory
from ..._release.model import Release, rendering_digest
from ..desired.desired_release import DesiredRelease
from ..desired.release_versions import is_deployment_open, is_older, is_same_release, upgrade_problem
from ..desired.unchanged_components import read_release
from .observed_state import ObservedState
from .release_plan import Plan, PlanRequest
from .release_rehearsal import ReleaseRehearsal


def plan_hops(
    cluster: Cluster,
    materials: Materials,
    request: PlanRequest,
    migration_set: MigrationSet,
    migrating: MigrationRunner,
    observed: ObservedState,
) -> Plan:
    """Plan a deployment that may lead over other available releases.

    The result is the plan of the first hop, and has those of the others as ``later``.

    Raises:
        LifecycleError: a release on the path can't be read, or the cluster doesn't answer.
    """
    installation = observed.installation
    standing = {} if observed.refused else observed.inventories
    release, unchanged = read_release(materials, standing)
    desired = AvailableRelease(release.version, release.upgrades_from, {}, materials)
    at_hand = materials.available_releases()
    target = installation.version if request.abandon else installation.target
    way = find_hops(desired, at_hand, installation.version, target)
    plans: list[Plan] = []
    before: ReleaseRehearsal | None = None
    for stop in way or [desired]:
        release, unchanged = read_release(stop.materials, standing)
        digest = rendering_digest(stop.materials.fingerprint(), release.profile)
        rehearsal = ReleaseRehearsal(
            cluster,
            release,
            request,
            migration_set,
            migrating,
            observed,
            digest,
            skip=unchanged,
            after=before,
        )
        plans.append(rehearsal.plan())
        if plans[0].blockers:
            break
        left = replace(observed, inventories=rehearsal.remaining_inventories)
        observed, before = state_after_deployment(left, rehearsal.desired, release, digest), rehearsal
        # The cluster does not yet have the result of this hop, so the later hops read everything.
        standing = {}
    first = plans[0]
    if way is None and first.blockers and is_older(installation.version, release.version):
        there = ", ".join(one.version for one in at_hand) or "none"
        missing = (
            f"hops=auto (kyma_hops) finds no path: the available releases are {there}, as release_catalog"
            " (kyma_release_catalog) says"
        )
        return replace(first, blockers=(*first.blockers, Blocker("", missing)))
    # The cluster after the first hop is predicted, and has no health.
    later = tuple(replace(plan, health=ObservedHealth()) for plan in plans[1:])
    options = tuple(stop.options for stop in way or [desired])
    versions = tuple(stop.version for stop in way or [desired])
    return replace(first, hops=options, later=later, way=versions)


def state_after_deployment(
    observed: ObservedState, desired: DesiredRelease, release: Release, digest: str
) -> ObservedState:
    """The predicted records of a cluster after the complete deployment of a release.

    Args:
        observed: its records now, without what is pruned.
        desired, release, digest: of the release.
    """
    installation = replace(
        observed.installation,
        version=release.version,
        target=release.version,
        profile=release.profile,
        digest=digest,
        components=tuple(desired.components),
    )
    inventories: dict[str, Inventory] = dict(observed.inventories)
    for name, component in desired.components.items():
        recorded = inventories.get(name) or Inventory(name)
        objects = () if component.is_unchanged else component.objects
        intent = intended_inventory(
            recorded, component.namespace, component.listed, objects, whole=not component.is_unchanged
        )
        source = deployed_as(intent).source
        deployed = replace(component.listed, version=release.version, release=digest, source=source)
        inventories[name] = with_deployed_as(replace(intent, digest=component.digest), deployed)
    return replace(observed, installation=installation, inventories=inventories)


def find_hops(
    desired: AvailableRelease, at_hand: Sequence[AvailableRelease], version: str, target: str
) -> list[AvailableRelease] | None:
    """The shortest path to a release, its last stop; of several shortest paths the one over newer releases.

    It leads over a pre-release only if there is no other path. An open deployment is ended first. None if
    there is no path over the available releases.

    Args:
        desired: the target release.
        at_hand: releases that the path may lead over, in any order.
        version: the release that was last deployed completely, or empty.
        target: the release that is being deployed; differs from ``version`` while a deployment is open.
    """
    older = _newest_first(one for one in at_hand if is_older(one.version, desired.version))
    if is_deployment_open(version, target):
        begun = [one for one in (desired, *older) if is_same_release(one.version, target)]
        if not begun or begun[0] is desired:
            return begun[:1] or None
        first = next((one for one in begun if one.version == target), begun[0])
        rest = find_hops(desired, at_hand, target, target)
        return [first, *rest] if rest else None
    finals = [one for one in older if not _is_preview(one.version)]
    previews = [one for one in older if _is_preview(one.version)]
    return _shortest([desired, *finals], version) or _shortest([desired, *finals, *previews], version)


def _shortest(stops: Sequence[AvailableRelease], version: str) -> list[AvailableRelease] | None:
    """The shortest path to the first of some stops, preferably over earlier ones of the others."""
    ways: deque[tuple[str, list[AvailableRelease]]] = deque([(version, [])])
    seen: set[str] = set()
    while ways:
        here, way = ways.popleft()
        for stop in stops:
            if stop.version not in seen and not upgrade_problem(here, here, stop.version, stop.upgrades_from):
                if stop is stops[0]:
                    return [*way, stop]
                seen.add(stop.version)
                ways.append((stop.version, [*way, stop]))
    return None


def _newest_first(stops: Iterable[AvailableRelease]) -> list[AvailableRelease]:
    from packaging.version import Version

    return sorted(stops, key=lambda one: Version(one.version), reverse=True)


def _is_preview(version: str) -> bool:
    from packaging.version import Version

    return Version(version).is_prerelease
