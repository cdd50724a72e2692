# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides which rings may start, and which clusters may be deployed now. Pure.

A decision depends on nothing but the options of the rings, the facts of a fresh plan of each cluster, the
verdicts of the user's checks, and the time. So it may be made again at any time, on any machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ...module_utils._runs.cluster_state import PLANNED, WAITING
from ...module_utils._runs.outcomes import NOT_STARTED
from .approvals import approving_ring, missing_approval
from .cluster_standing import BROKEN, CLOSED, UNABLE, assess
from .facts import release_of
from .model import (
    DONE,
    EMPTY,
    FAILED_CHECK,
    GO,
    OPEN,
    STOPPED,
    CheckVerdict,
    ClusterFacts,
    GatedRun,
    RingOptions,
    Rollout,
    RolloutCluster,
    RolloutRing,
    Standing,
)
from .ring_gate import Obstacle, RingClusters, check_obstacles, obstacles_from, own_obstacles

OUTSIDE = "it is outside of --limit"
NOT_PLANNED = f"{OUTSIDE}, and was not planned"
NO_HOSTS = "the group has no hosts in the inventory, so the ring is skipped"


@dataclass(frozen=True)
class _Gate:
    """The gate of a ring.

    Attributes:
        ring: the ring.
        earlier: what the rings before put in its way.
        own: what its options put in its way; nothing if no run may begin on any cluster of it.
        startable: its clusters on which a run may begin once the gate is open, also outside of the limit.
        deploy: its clusters to deploy to now: what failed first, then what was begun.
        needs_approval: see :class:`~.model.RolloutRing`.
    """

    ring: RingClusters
    earlier: tuple[Obstacle, ...]
    own: tuple[Obstacle, ...]
    startable: tuple[RolloutCluster, ...]
    deploy: tuple[RolloutCluster, ...]
    needs_approval: bool = False

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """All that is in its way."""
        return self.earlier + self.own

    @property
    def opens_at(self) -> datetime | None:
        """When it opens, if only time is lacking."""
        moments = [one.opens_at for one in self.obstacles if one.opens_at]
        return max(moments) if moments and len(moments) == len(self.obstacles) else None


def decide(
    rings: Sequence[RingOptions],
    facts: Mapping[str, ClusterFacts],
    now: datetime,
    *,
    limit: Collection[str] | None = None,
    checks: Mapping[str, CheckVerdict] | None = None,
) -> Rollout:
    """Decide about all rings.

    Args:
        rings: in their order.
        facts: of each cluster that was planned, by the name of its host.
        now: by the controller's clock.
        limit: the hosts of the play; None for all. Clusters outside of it are read and not deployed.
        checks: the verdict for each ring in :func:`rings_to_check`.

    Raises:
        LifecycleError: the clusters are to get different releases.
    """
    version, digest = release_of(facts.values())
    gates = _gates(rings, facts, digest, now, limit, checks or {})
    decided = tuple(_decided(gate) for gate in gates)
    clusters = [one for gate in gates for one in gate.ring.clusters]
    return Rollout(
        version=version,
        release_digest=digest,
        rings=decided,
        deploy=tuple(one.name for gate in gates for one in gate.deploy),
        next_at=_next_at(decided, clusters),
        failed=(
            any(one.standing in UNABLE for one in clusters)
            or any(ring.state == STOPPED for ring in decided)
            or any(verdict.state == FAILED_CHECK for verdict in (checks or {}).values())
        ),
    )


def rings_to_check(
    rings: Sequence[RingOptions],
    facts: Mapping[str, ClusterFacts],
    now: datetime,
    *,
    limit: Collection[str] | None = None,
) -> tuple[str, ...]:
    """The rings whose check has to be asked, because only its verdict is missing.

    Args:
        rings, facts, now, limit: as for :func:`decide`.
    """
    verdicts = {ring.name: CheckVerdict(GO) for ring in rings}
    gates = _gates(rings, facts, release_of(facts.values())[1], now, limit, verdicts)
    return tuple(gate.ring.name for gate in gates if gate.deploy and gate.ring.options.check)


def broken_clusters(
    rings: Sequence[RingOptions], facts: Mapping[str, ClusterFacts], now: datetime
) -> frozenset[str]:
    """The clusters that count as failed for their own ring.

    Args:
        rings, facts, now: as for :func:`decide`.
    """
    gates = _gates(rings, facts, release_of(facts.values())[1], now, None, {})
    return frozenset(one.name for gate in gates for one in gate.ring.standing(BROKEN))


def _gates(
    rings: Sequence[RingOptions],
    facts: Mapping[str, ClusterFacts],
    digest: str,
    now: datetime,
    limit: Collection[str] | None,
    checks: Mapping[str, CheckVerdict],
) -> list[_Gate]:
    # What was deployed by hand, or in another ring, has not passed the gate of this ring.
    gated_runs = {one.gated_run for one in facts.values() if digest}
    assessed: dict[str, RingClusters] = {}
    gates = []
    for options in rings:
        known = [facts.get(host, ClusterFacts(host, NOT_STARTED, NOT_PLANNED)) for host in options.hosts]
        ring = RingClusters(options, tuple(assess(one, digest, options.soak, now) for one in known))
        is_begun = GatedRun(ring.name, digest) in gated_runs
        earlier = [
            replace(obstacle, reason=f"{before.name}: {obstacle.reason}")
            for before in assessed.values()
            if before.clusters
            for obstacle in obstacles_from(before, is_begun=is_begun)
        ]
        assessed[ring.name] = ring
        carriers = assessed[approving_ring(rings, ring.name).name].clusters
        missing = missing_approval(ring.name, digest, carriers) if options.is_approval_required else ""
        gates.append(_gate(ring, earlier, now, limit, checks.get(ring.name), missing))
    return gates


def _gate(
    ring: RingClusters,
    earlier: Sequence[Obstacle],
    now: datetime,
    limit: Collection[str] | None,
    verdict: CheckVerdict | None,
    missing: str,
) -> _Gate:
    # In a ring that has stopped, only what was begun goes on.
    startable = [one for one in ring.clusters if one.is_deployable and (one.has_begun or not ring.is_stopped)]
    own = list(own_obstacles(ring.options, startable, now, missing)) if startable else []
    if startable and not earlier and not own:
        # It is asked last, as it may take a minute.
        own = list(check_obstacles(ring.options, verdict))
    deploy = [one for one in startable if limit is None or one.name in limit]
    return _Gate(
        ring,
        tuple(earlier),
        tuple(own),
        tuple(startable),
        () if earlier or own else tuple(sorted(deploy, key=_turn)),
        needs_approval=bool(startable and not earlier and missing),
    )


def _turn(cluster: RolloutCluster) -> tuple[bool, bool]:
    return cluster.standing is not Standing.FAILED, not cluster.has_begun


def _decided(gate: _Gate) -> RolloutRing:
    state, reasons = _state_of(gate)
    return RolloutRing(
        gate.ring.name,
        state,
        tuple(reasons),
        gate.opens_at if gate.startable else None,
        gate.ring.options.soak,
        gate.needs_approval,
        tuple(_row(one, gate, reasons) for one in gate.ring.clusters),
    )


def _state_of(gate: _Gate) -> tuple[str, list[str]]:
    """The state of a ring, and why it is not done."""
    ring = gate.ring
    if not ring.clusters:
        return EMPTY, [NO_HOSTS]
    obstacles = [one.reason for one in gate.obstacles]
    # A ring is in the way of the next one for the same reasons for which it is not done.
    lacking = [one.reason for one in obstacles_from(ring, is_begun=False)]
    is_over = not gate.startable and all(one.standing in CLOSED for one in ring.clusters)
    if is_over and not lacking:
        return DONE, []
    if ring.is_stopped or (is_over and not gate.earlier):
        return STOPPED, lacking + obstacles
    if gate.obstacles and (gate.startable or is_over):
        return WAITING, obstacles
    return OPEN, lacking


def _row(cluster: RolloutCluster, gate: _Gate, reasons: Sequence[str]) -> RolloutCluster:
    if cluster in gate.deploy:
        return replace(cluster, state=PLANNED if cluster.state == WAITING else cluster.state)
    if cluster.standing is Standing.PENDING:
        # Either its gate is closed, or the limit leaves it out.
        closed = reasons if gate.obstacles or gate.ring.is_stopped else ()
        return replace(cluster, reason=next(iter(closed), OUTSIDE))
    return cluster


def _next_at(rings: Sequence[RolloutRing], clusters: Sequence[RolloutCluster]) -> datetime | None:
    """When the next gate opens; without one, when all soaks are over."""
    opening = [ring.opens_at for ring in rings if ring.opens_at]
    return (
        min(opening) if opening else max((one.soaked_at for one in clusters if one.soaked_at), default=None)
    )
