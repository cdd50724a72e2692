# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is exchanged about a rollout: options of rings, facts of clusters, and what is decided. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from ...module_utils._result_codec import EMPTY_IF_NONE, INTERNAL, one_of, returned_as
from ...module_utils._runs.outcomes import NOT_STARTED

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
    gated_run: GatedRun = field(default=GatedRun(), metadata=returned_as("begun"))
    has_begun: bool = False
    approvals: tuple[ApprovalFacts, ...] = ()
    approvals_problem: str = ""

    @property
    def health(self) -> str:
        """``healthy``, ``unhealthy`` or ``unknown``."""
        if self.unhealthy is None:
            return UNKNOWN_HEALTH
        return UNHEALTHY if self.unhealthy else HEALTHY


NO_FACTS = ClusterFacts("", NOT_STARTED)


class Standing(Enum):
    """What a cluster means for its ring."""

    DONE = "done"
    SOAKING = "soaking"
    UNCERTAIN = "uncertain"
    """It has the release, but its health or its times are unknown."""
    UNHEALTHY = "unhealthy"
    """It has the release, and is not healthy."""
    RUNNING = "running"
    FAILED = "failed"
    """A run of the release has failed on it."""
    REFUSED = "refused"
    """There is no plan for it."""
    OUT = "out"
    PENDING = "pending"
    UNPLANNED = "unplanned"
    """It is outside of ``--limit``, and nothing is known of it."""


@dataclass(frozen=True)
class CheckVerdict:
    """What the user's check says of a ring: ``go``, ``wait`` or ``failed``, and its first line."""

    state: str
    line: str = ""


@dataclass(frozen=True)
class RolloutCluster:
    """One cluster of a rollout: what it means for its ring, and what is shown of that.

    Attributes:
        name: The host.
        previous: The release that the cluster has. Empty if unknown.
        version: The release to deploy. Empty if unknown.
        state: The state of the cluster, as in the result of the role. ``unchanged`` has the release.
        health: Whether the objects of the release are healthy.
        done_since: From when its soak counts, by its own clock. Empty if it does not have the release.
        reason: Why it is not done, or what it waits for. Otherwise empty.
        facts: from which this follows.
        standing: what it means for its ring.
        has_begun: whether it has the release, or a run of it is recorded, in its ring or by hand.
        is_deployable: whether a run may begin, as far as this cluster is concerned.
        soaked_at: when its soak is over, by the controller's clock; None if it is over, or does not count.
    """

    name: str
    previous: str = ""
    version: str = ""
    state: str = NOT_STARTED
    health: str = field(default=UNKNOWN_HEALTH, metadata=one_of((HEALTHY, UNHEALTHY, UNKNOWN_HEALTH)))
    done_since: str = ""
    reason: str = ""
    facts: ClusterFacts = field(default=NO_FACTS, compare=False, metadata=INTERNAL)
    standing: Standing = field(default=Standing.UNPLANNED, compare=False, metadata=INTERNAL)
    has_begun: bool = field(default=False, compare=False, metadata=INTERNAL)
    is_deployable: bool = field(default=False, compare=False, metadata=INTERNAL)
    soaked_at: datetime | None = field(default=None, compare=False, metadata=INTERNAL)


@dataclass(frozen=True)
class RolloutRing:
    """One ring of a rollout.

    Attributes:
        name: The group of the inventory.
        state: An open ring may be deployed, or is being deployed or soaking. The gate of one that waits is
            closed. In one that has stopped, a person has to act. An empty one has no hosts.
        reasons: Why it is not done.
        opens_at: When it may start, if only time is lacking. Otherwise empty.
        soak: Seconds.
        needs_approval: Whether only an approval is lacking, or an approval and a time or the check.
        clusters: Its clusters, in the order of the inventory.
    """

    name: str
    state: str = field(metadata=one_of((DONE, OPEN, WAITING, STOPPED, EMPTY)))
    reasons: tuple[str, ...] = ()
    opens_at: datetime | None = field(default=None, metadata=EMPTY_IF_NONE)
    soak: float = 0.0
    needs_approval: bool = False
    clusters: tuple[RolloutCluster, ...] = ()


@dataclass(frozen=True)
class Rollout:
    """What is decided about all rings.

    Attributes:
        version: The release to deploy.
        release_digest: The digest of the release. Empty if no plan knows it.
        rings: The rings, in their order.
        deploy: The hosts to deploy to now, in this order.
        next_at: When the next call may do more, if only time is lacking. Otherwise empty.
        failed: Whether a person has to act, so that the playbook ends with exit code 2.
    """

    version: str = ""
    release_digest: str = ""
    rings: tuple[RolloutRing, ...] = ()
    deploy: tuple[str, ...] = ()
    next_at: datetime | None = field(default=None, metadata=EMPTY_IF_NONE)
    failed: bool = False
