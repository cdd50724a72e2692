# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The turn of a cluster in a ring: in batches, and until too many clusters have failed. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._runs.cluster_state import OUT_STATES, UNCHANGED, UNENDED_STATES, WAITING, ClusterState
from ...module_utils._runs.outcomes import NOT_STARTED, SUCCEEDED
from ...module_utils._text import MOST_NAMES, short_list
from .model import STOPPED, UNHEALTHY, RingOptions, Rollout, RolloutCluster, RolloutRing

NO_FAILURE = frozenset({*UNENDED_STATES, UNCHANGED, SUCCEEDED, WAITING, NOT_STARTED})
"""States of clusters that have not failed, as those that are out."""


def ring_batches(rings: Sequence[RingOptions], deploy: Collection[str]) -> list[int]:
    """The sizes of the batches in which clusters are deployed: each has clusters of one ring.

    Args:
        rings: in their order.
        deploy: the clusters, ring by ring.
    """
    if not any(ring.parallel for ring in rings):
        return [len(deploy)]
    sizes = []
    for ring in rings:
        left = len([host for host in ring.hosts if host in deploy])
        while left > 0:
            sizes.append(min(left, ring.parallel or left))
            left -= sizes[-1]
    return sizes


def failures_left(rings: Sequence[RingOptions], rollout: Rollout, failed: Collection[str]) -> dict[str, int]:
    """How many clusters of each ring may still fail while this is deployed.

    Args:
        rings: in their order.
        rollout: as decided.
        failed: clusters that have failed before; those that are deployed again count only if they fail again.
    """
    before = {*failed}.difference(rollout.deploy)
    # In a ring that has stopped, what was begun goes on.
    return {ring.name: max(0, ring.max_failures - len(before.intersection(ring.hosts))) for ring in rings}


def turn_refusal(
    rollout: Mapping[str, Any], host: str, states: Iterable[ClusterState], out: Collection[str]
) -> str:
    """Why a cluster must not begin although it was decided; empty if it may.

    Args:
        rollout: the result of the module ``rollout``.
        host: of the cluster.
        states: of all clusters so far.
        out: the clusters that are held, or have not answered from the start.
    """
    if host not in rollout["deploy"]:
        return "nothing has begun here: the rollout has not decided to deploy to this cluster"
    ring = next(one for one in rollout["rings"] if host in {cluster["name"] for cluster in one["clusters"]})
    members = {cluster["name"] for cluster in ring["clusters"]} & set(rollout["deploy"])
    failed = [
        one.cluster
        for one in states
        if one.cluster in members and one.state not in NO_FAILURE and one.cluster not in out
    ]
    left = rollout["failures_left"][ring["name"]]
    if len(failed) <= left:
        return ""
    return (
        f"nothing has begun here: the ring {ring['name']} has stopped, as"
        f" {short_list(failed, MOST_NAMES)} failed. Repair that and run the playbook again,"
        " or allow more failures with ring_max_failures"
        " (kyma_ring_max_failures)"
    )


def failures_of(rollout: Rollout, hosts: Sequence[str]) -> dict[str, str]:
    """The hosts that fail at the end, each with the reason; none if a person need not act.

    Args:
        rollout: after the deployment.
        hosts: of the play.
    """
    if not rollout.failed:
        return {}
    failed = {one.name: f"{one.state}: {one.reason}" for ring in rollout.rings for one in _to_blame(ring)}
    own = {host: failed[host] for host in hosts if host in failed}
    # All may be outside of --limit, and a check concerns no cluster.
    others = [f"{name}: {reason}" for name, reason in failed.items()]
    return own or {hosts[0]: "; ".join(others) or "the check of a ring has failed"}


def _to_blame(ring: RolloutRing) -> list[RolloutCluster]:
    """The clusters because of which a person has to act."""
    expected = NO_FAILURE.union(OUT_STATES)
    failed = [one for one in ring.clusters if one.state not in expected or one.health == UNHEALTHY]
    # Without any, too few clusters are left.
    return failed or [one for one in ring.clusters if one.reason and ring.state == STOPPED]
