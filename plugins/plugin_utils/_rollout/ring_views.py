# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The texts about each ring of a rollout, for all that shows them: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo

from ...module_utils._objects.health.named_pods import brief_failure
from ...module_utils._text import MOST_NAMES, counted, first_of, short_list
from .cluster_groups import ClusterGroup, grouped_clusters
from .local_time import local_time, with_local_times
from .model import DONE, EMPTY, OPEN, WAITING, Rollout, RolloutRing

HEAD = ("cluster", "from → to", "state", "health", "done since, or why not")
MOST_REASONS = 4
"""Reasons of a ring."""

Cells = tuple[str, str, str, str, str]
"""In the order of :data:`HEAD`."""


@dataclass(frozen=True)
class RingView:
    """What is shown of a ring.

    Attributes:
        name, state: of the ring.
        verdict: whether it may start, and from when.
        reasons: why not.
        rows: a row for each cluster, or for several alike ones.
    """

    name: str
    state: str
    verdict: str
    reasons: tuple[str, ...]
    rows: tuple[Cells, ...]


def ring_views(
    rollout: Rollout, zone: tzinfo | None = None, *, is_whole: bool = False, is_over: bool = False
) -> list[RingView]:
    """What is shown of each ring.

    Args:
        rollout: what is decided.
        zone: of the times; None for the one of this machine.
        is_whole: whether each cluster has a row.
        is_over: whether this call deploys nothing more.
    """
    when = "at the next call" if is_over else "now"
    return [
        RingView(
            ring.name,
            ring.state,
            _verdict(ring, rollout.deploy, zone, when),
            tuple(_reasons(ring, rollout.deploy, zone)),
            tuple(_rows(ring, zone, is_whole=is_whole)),
        )
        for ring in rollout.rings
    ]


def _verdict(ring: RolloutRing, deploy: Sequence[str], zone: tzinfo | None, when: str) -> str:
    if ring.state == EMPTY:
        return "skipped"
    chosen = _chosen(ring, deploy)
    text = ring.state
    if ring.state == OPEN:
        text = f"may start, {chosen} to deploy {when}" if chosen else "open, nothing to deploy"
    elif ring.state == WAITING and ring.needs_approval:
        text = "waits for an approval"
    elif ring.state == WAITING:
        text = f"waits until {local_time(ring.opens_at, zone)}" if ring.opens_at else "waits"
    return f"{text} ({counted(len(ring.clusters), 'cluster')})"


def _reasons(ring: RolloutRing, deploy: Sequence[str], zone: tzinfo | None) -> list[str]:
    if ring.state == DONE or (ring.state == OPEN and _chosen(ring, deploy)):
        # That something is not deployed yet is said already.
        return []
    reasons = ring.reasons or (("the group has no hosts",) if ring.state == EMPTY else ())
    return first_of([with_local_times(one, zone) for one in reasons], MOST_REASONS)


def _chosen(ring: RolloutRing, deploy: Sequence[str]) -> int:
    return len({one.name for one in ring.clusters} & {*deploy})


def _rows(ring: RolloutRing, zone: tzinfo | None, *, is_whole: bool) -> list[Cells]:
    # A reason of the ring is not repeated for its clusters.
    clusters = [replace(one, reason="") if one.reason in ring.reasons else one for one in ring.clusters]
    return [_cells(one, zone) for one in grouped_clusters(clusters, is_whole=is_whole)]


def _cells(group: ClusterGroup, zone: tzinfo | None) -> Cells:
    cluster = group.shown
    versions = (
        [cluster.previous, cluster.version] if cluster.previous != cluster.version else [cluster.version]
    )
    way = " → ".join(filter(None, versions)) or "-"
    return group.label, way, cluster.state, cluster.health, _note(group, zone)


def _note(group: ClusterGroup, zone: tzinfo | None) -> str:
    cluster, is_shared = group.shown, len(group.names) > 1
    notes = []
    if cluster.done_since:
        notes.append(f"{'the last one ' if is_shared else ''}{with_local_times(cluster.done_since, zone)}")
    if cluster.reason:
        reason = with_local_times(" ".join(brief_failure(cluster.reason).split()), zone)
        notes.append(f"such as: {reason}" if group.has_other_reasons else reason)
    text, names = "; ".join(notes), short_list(group.names, MOST_NAMES)
    return f"{text} ({names})" if is_shared and text else names if is_shared else text
