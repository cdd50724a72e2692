# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is exchanged about a rollout: options of rings, facts of clusters, and what is decided. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from ...module_utils._runs.outcomes import NOT_STARTED
from ...module_utils._timestamp import timestamp

DONE, OPEN, WAITING, STOPPED, EMPTY = "done", "open", "waiting", "stopped", "empty"
HEALTHY, UNHEALTHY, UNKNOWN_HEALTH = "healthy", "unhealthy", "unknown"
GO, WAIT, FAILED_CHECK = "go", "wait", "failed"


@dataclass(frozen=True)
class Minimum:
    """How many clusters of a ring must be done: a number, or a percentage of all its clusters."""

    value: int = 1
    is_percentage: bool = False

    def of(self, size: int) -> int:
        """The number of clusters for a ring of this size, rounded up."""
        return -(-self.value * size // 100) if self.is_percentage else self.value


@dataclass(frozen=True)
class RingOptions:
    """What the user has asked for a ring.

    Attributes:
        name: of the group of the inventory.
        hosts: all of the group, in the inventory's order, with those outside of ``--limit``.
        soak: seconds that each cluster must have been done before the next ring may start.
        minimum: how many clusters must be done before the next ring may start.
        max_failures: how many clusters may have failed.
        is_approval_required: whether the ring may only start with an approval.
        parallel: clusters at a time; 0 for no limit.
        not_before: when it may start at the earliest; None for at once.
        check: the executable or the URL to ask before it starts; empty for none.
    """

    name: str
    hosts: tuple[str, ...] = ()
    soak: float = 0.0
    minimum: Minimum = Minimum()
    max_failures: int = 0
    is_approval_required: bool = False
    parallel: int = 0
    not_before: datetime | None = None
    check: str = ""


@dataclass(frozen=True)
class RunFacts:
    """The last run of a cluster: its name, its state as in ``run_info``, and the digest of its release."""

    name: str = ""
    state: str = ""
    release_digest: str = ""


@dataclass(frozen=True)
class GatedRun:
    """A run that the gate of a ring let begin: the ring, and the release to which its rollout leads."""

    ring: str = ""
    release_digest: str = ""


@dataclass(frozen=True)
class ApprovalFacts:
    """An approval that was read on a cluster.

    Attributes:
        ring: that may start.
        release_digest: of the release that may be deployed.
        clusters: all of the ring before, when it was approved.
        until: when it becomes worthless, by the cluster's clock; None for never.
    """

    ring: str
    release_digest: str
    clusters: tuple[str, ...] = ()
    until: datetime | None = None


@dataclass(frozen=True)
class ClusterFacts:
    """What a fresh plan says of a cluster.

    Attributes:
        cluster: the name of its host.
        state: of the plan; one of :data:`~.cluster_state.STATES`.
        reason: of this state, or empty.
        previous, version: the release that it has, and the release to deploy; empty if unknown.
        release_digest: of the release to deploy; empty if unknown.
        installed_digest: of the release that it has completely; empty if unknown.
        since: when it was recorded, by the cluster's clock.
        now: the cluster's clock at the time of the plan.
        healthy_since: when a component last became available or ready.
        unhealthy: why it is not healthy; empty if it is, and None if nothing is known.
        run: its last run.
        gated_run: the last one on it, as its record says, also if later runs were by hand.
        has_begun: whether a run of the release to deploy is known to have begun.
        approvals: that were read on it.
        approvals_problem: why they could not be read; empty if they could.
    """

    cluster: str
    state: str
    reason: str = ""
    previous: str = ""
    version: str = ""
    release_digest: str = ""
    installed_digest: str = ""
    since: datetime | None = None
    now: datetime | None = None
    healthy_since: datetime | None = None
    unhealthy: tuple[str, ...] | None = None
    run: RunFacts = RunFacts()
    gated_run: GatedRun = GatedRun()
    has_begun: bool = False
    approvals: tuple[ApprovalFacts, ...] = ()
    approvals_problem: str = ""

    @property
    def health(self) -> str:
        """``healthy``, ``unhealthy`` or ``unknown``."""
        if self.unhealthy is None:
            return UNKNOWN_HEALTH
        return UNHEALTHY if self.unhealthy else HEALTHY


@dataclass(frozen=True)
class CheckVerdict:
    """What the user's check says of a ring: ``go``, ``wait`` or ``failed``, and its first line."""

    state: str
    line: str = ""


@dataclass(frozen=True)
class RolloutCluster:
    """One cluster of a rollout.

    Attributes:
        name: of its host.
        previous, version: the release that it has, and the release to deploy; empty if unknown.
        state: one of :data:`~.cluster_state.STATES`. ``unchanged``: it has the release.
        health: ``healthy``, ``unhealthy`` or ``unknown``.
        done_since: from when its soak counts, by its own clock (RFC 3339); empty if it is not done.
        reason: why it is not done, or what it waits for; empty for nothing.
    """

    name: str
    previous: str = ""
    version: str = ""
    state: str = NOT_STARTED
    health: str = UNKNOWN_HEALTH
    done_since: str = ""
    reason: str = ""


@dataclass(frozen=True)
class RolloutRing:
    """One ring of a rollout.

    Attributes:
        name: of the group.
        state: ``done``; ``open``: its clusters may be deployed, or are being deployed or soaking;
            ``waiting``: its gate is closed; ``stopped``: a person has to act; ``empty``: the group has no
            hosts.
        reasons: why it is not done.
        opens_at: when its gate opens, if only time is lacking.
        soak: seconds.
        needs_approval: whether only an approval is lacking, or an approval and a time or the check.
        clusters: in the order of the inventory.
    """

    name: str
    state: str
    reasons: tuple[str, ...] = ()
    opens_at: datetime | None = None
    soak: float = 0.0
    needs_approval: bool = False
    clusters: tuple[RolloutCluster, ...] = ()


@dataclass(frozen=True)
class Rollout:
    """What is decided about all rings.

    Attributes:
        version, release_digest: of the release; empty if unknown.
        rings: in their order.
        deploy: the hosts to deploy to now, in this order.
        next_at: when a decision may differ only because of the time; None if time changes nothing.
        failed: whether a person has to act: exit code 2.
    """

    version: str = ""
    release_digest: str = ""
    rings: tuple[RolloutRing, ...] = ()
    deploy: tuple[str, ...] = ()
    next_at: datetime | None = None
    failed: bool = False

    def as_result(self) -> dict[str, Any]:
        """The rollout as the module ``rollout`` returns it."""
        return {
            "version": self.version,
            "release_digest": self.release_digest,
            "failed": self.failed,
            "next_at": timestamp(self.next_at) if self.next_at else "",
            "deploy": list(self.deploy),
            "rings": [_ring_result(ring) for ring in self.rings],
        }


def _ring_result(ring: RolloutRing) -> dict[str, Any]:
    return {
        **asdict(ring),
        "reasons": list(ring.reasons),
        "opens_at": timestamp(ring.opens_at) if ring.opens_at else "",
        "clusters": [asdict(cluster) for cluster in ring.clusters],
    }
