# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A rollout with how runs have ended since it was decided: pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...module_utils._runs.cluster_state import PLANNED, REASONED_STATES, UNCHANGED, WAITING, ClusterState
from .model import UNKNOWN_HEALTH, Rollout, RolloutCluster


def with_ends(rollout: Rollout, ends: Iterable[ClusterState]) -> Rollout:
    """The rollout with the ends of runs that a plan can't know: of all states but those of a plan.

    Args:
        rollout: what is decided.
        ends: the states of the clusters to which something was to be deployed.
    """
    ended = {one.cluster: one for one in ends if one.state not in (PLANNED, UNCHANGED, WAITING)}
    rings = (
        replace(ring, clusters=tuple(_with_end(one, ended.get(one.name)) for one in ring.clusters))
        for ring in rollout.rings
    )
    return replace(rollout, rings=tuple(rings))


def _with_end(cluster: RolloutCluster, end: ClusterState | None) -> RolloutCluster:
    if not end:
        return cluster
    previous = end.previous or cluster.previous
    if end.state not in REASONED_STATES:
        return replace(cluster, previous=previous, state=end.state)
    # What the plan has seen may no longer hold.
    return replace(cluster, previous=previous, state=end.state, health=UNKNOWN_HEALTH, reason=end.reason)
