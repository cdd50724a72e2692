# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one cluster means for its ring: done, out, failed, or unfinished. Pure."""

from __future__ import annotations

from datetime import datetime

from ...module_utils._runs.cluster_state import HELD, LOST, PLANNED, RUNNING, UNCHANGED, UNREACHABLE, WAITING
from ...module_utils._runs.outcomes import CANCELLED, FAILED, NOT_STARTED, SUCCEEDED
from .model import ClusterFacts, RolloutCluster, Standing
from .soak import after_soak

RECORD = "kubectl describe kymaruns"


BROKEN = frozenset({Standing.FAILED, Standing.UNHEALTHY})
"""The release may be the cause."""
UNABLE = BROKEN | {Standing.REFUSED}
"""Clusters that count as failed for the rings after theirs."""
CLOSED = UNABLE | {Standing.DONE, Standing.OUT}
"""Nothing is left to wait for that this rollout brings about."""
STATES = {
    Standing.RUNNING: RUNNING,
    Standing.FAILED: FAILED,
    Standing.PENDING: WAITING,
    Standing.UNPLANNED: NOT_STARTED,
    **dict.fromkeys((Standing.DONE, Standing.SOAKING, Standing.UNCERTAIN, Standing.UNHEALTHY), UNCHANGED),
}
"""States of clusters by their standing. Those that are out or refused have the state of their plan."""


def assess(facts: ClusterFacts, digest: str, soak: float, now: datetime) -> RolloutCluster:
    """What a cluster means for its ring.

    Args:
        facts: of the cluster.
        digest: of the release; empty if no plan knows it.
        soak: seconds.
        now: by the controller's clock.
    """
    is_recorded = bool(digest) and facts.installed_digest == digest
    has_run = facts.has_begun or (bool(digest) and facts.run.release_digest == digest)
    standing, reason = _standing_of(facts, digest, is_recorded=is_recorded)
    cluster = RolloutCluster(
        facts.cluster,
        facts.previous,
        facts.version,
        STATES.get(standing, facts.state),
        facts.health,
        reason=reason,
        facts=facts,
        standing=standing,
        has_begun=is_recorded or has_run,
        is_deployable=standing in (Standing.PENDING, Standing.FAILED)
        and facts.state in (PLANNED, UNCHANGED)
        and bool(facts.release_digest),
    )
    return after_soak(cluster, soak, now) if standing is Standing.DONE else cluster


def _standing_of(facts: ClusterFacts, digest: str, *, is_recorded: bool) -> tuple[Standing, str]:
    """The standing of a cluster as if its soak were over, and the reason for it."""
    is_ours = bool(digest) and facts.run.release_digest == digest
    run = f"run {facts.run.name}"
    if facts.state == NOT_STARTED:
        return Standing.UNPLANNED, facts.reason
    if facts.state == UNREACHABLE:
        # The release may be the cause if a run of it has begun and has not succeeded.
        is_at_work = facts.has_begun or (is_ours and facts.run.state != SUCCEEDED)
        return (Standing.FAILED if is_at_work else Standing.OUT), facts.reason
    if facts.run.state == RUNNING:
        return Standing.RUNNING, f"{run} is not over"
    if facts.state == HELD:
        return Standing.OUT, facts.reason
    if is_recorded and facts.state == UNCHANGED:
        if facts.unhealthy is None:
            return Standing.UNCERTAIN, "its health is unknown"
        return (Standing.UNHEALTHY, facts.unhealthy[0]) if facts.unhealthy else (Standing.DONE, "")
    if is_ours and facts.run.state == FAILED:
        why = f": {facts.reason}" if facts.reason else f". `{RECORD} {facts.run.name}` shows why"
        return Standing.FAILED, f"{run} failed{why}"
    if facts.state in (PLANNED, UNCHANGED):
        if not facts.release_digest:
            return Standing.REFUSED, "its plan does not name the digest of the release"
        is_interrupted = is_ours and facts.run.state in (LOST, CANCELLED)
        return Standing.PENDING, f"{run} was {facts.run.state}" if is_interrupted else ""
    return Standing.REFUSED, facts.reason
