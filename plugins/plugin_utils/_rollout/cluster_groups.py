# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Alike clusters of a ring as one row, so that a table of 200 clusters fits on a screen: pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from ...module_utils._objects.health.named_pods import without_random_names
from .local_time import TIMESTAMP
from .model import RolloutCluster

FEWEST_GROUPED = 4
"""Alike clusters share a row from this number on."""
MOST_ROWS = 12
"""Rows of a ring, from which on clusters with different reasons share a row too."""
_RUN = re.compile(r"\brun \d{8}-\d{6}-\w+")


@dataclass(frozen=True)
class ClusterGroup:
    """A row of the table.

    Attributes:
        shown: the cluster whose cells are shown: the one that was done last.
        names: of all clusters, in the order of the inventory.
        has_other_reasons: whether they have different reasons.
    """

    shown: RolloutCluster
    names: tuple[str, ...]
    has_other_reasons: bool = False

    @property
    def label(self) -> str:
        """The name of the cluster, or how many they are."""
        return self.names[0] if len(self.names) == 1 else f"{len(self.names)} clusters"


def grouped_clusters(clusters: Sequence[RolloutCluster], *, is_whole: bool = False) -> list[ClusterGroup]:
    """The rows of a ring, the largest group first.

    Args:
        clusters: of the ring.
        is_whole: whether each cluster has a row.
    """
    if is_whole:
        return _grouped(clusters, _name, len(clusters) + 1)
    rows = _grouped(clusters, _key, FEWEST_GROUPED)
    return rows if len(rows) <= MOST_ROWS else _grouped(clusters, _key_without_reason, FEWEST_GROUPED)


def _grouped(
    clusters: Sequence[RolloutCluster], key: Callable[[RolloutCluster], Hashable], fewest: int
) -> list[ClusterGroup]:
    groups: dict[Hashable, list[RolloutCluster]] = {}
    for cluster in clusters:
        groups.setdefault(key(cluster), []).append(cluster)
    shared = [group for group in groups.values() if len(group) >= fewest]
    shared_names = {one.name for group in shared for one in group}
    alone = [[one] for one in clusters if one.name not in shared_names]
    return [_group(members) for members in [*sorted(shared, key=len, reverse=True), *alone]]


def _group(members: Sequence[RolloutCluster]) -> ClusterGroup:
    shown = max(members, key=lambda one: one.done_since)
    reasons = {_reason_key(one) for one in members}
    return ClusterGroup(shown, tuple(one.name for one in members), len(reasons) > 1)


def _name(cluster: RolloutCluster) -> Hashable:
    return cluster.name


def _key_without_reason(cluster: RolloutCluster) -> Hashable:
    return cluster.previous, cluster.version, cluster.state, cluster.health, bool(cluster.done_since)


def _key(cluster: RolloutCluster) -> Hashable:
    return _key_without_reason(cluster), _reason_key(cluster)


def _reason_key(cluster: RolloutCluster) -> str:
    return TIMESTAMP.sub("", _RUN.sub("run", without_random_names(cluster.reason)))
