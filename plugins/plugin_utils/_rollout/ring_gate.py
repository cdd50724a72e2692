# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate of a ring: what keeps it closed. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...module_utils._errors import MOST_REASONS
from ...module_utils._text import counted_names
from ...module_utils._timestamp import timestamp
from .cluster_standing import BROKEN, CLOSED, UNABLE
from .model import FAILED_CHECK, GO, CheckVerdict, RingOptions, RolloutCluster, Standing
from .soak import next_second

UNFINISHED = {
    Standing.PENDING: "not deployed yet",
    Standing.RUNNING: "a run is not over",
    Standing.UNCERTAIN: "health or times are unknown",
    Standing.UNPLANNED: "not planned",
}
"""Standings without a known end that keep the gates of later rings closed, in words."""


@dataclass(frozen=True)
class Obstacle:
    """Why a gate is closed, and when it no longer is; None if that does not depend on time alone."""

    reason: str
    opens_at: datetime | None = None


@dataclass(frozen=True)
class RingClusters:
    """A ring, and what its clusters mean for it."""

    options: RingOptions
    clusters: tuple[RolloutCluster, ...]

    @property
    def name(self) -> str:
        """The name of its group."""
        return self.options.name

    @property
    def is_stopped(self) -> bool:
        """Whether more clusters failed than may fail."""
        return len(self.standing(BROKEN)) > self.options.max_failures

    def standing(self, standings: Collection[Standing]) -> list[RolloutCluster]:
        """Its clusters with one of these standings."""
        return [one for one in self.clusters if one.standing in standings]

    def failure_text(self, failed: Sequence[RolloutCluster]) -> str:
        """Which clusters failed, and how many may fail."""
        return (
            f"{_clusters(failed)} failed, refused or unhealthy, and ring_max_failures"
            f" (kyma_ring_max_failures) allows {self.options.max_failures}"
        )

    def shortage_text(self, needed: int) -> str:
        """How many clusters are done, and how many must be."""
        done, out = self.standing({Standing.DONE}), self.standing({Standing.OUT})
        missing = f"; held or unreachable: {_clusters(out)}" if out else ""
        return f"{len(done)} of {len(self.clusters)} clusters done, minimum {needed}{missing}"


def obstacles_from(earlier: RingClusters, *, is_begun: bool) -> Iterator[Obstacle]:
    """What in one ring keeps the gate of a later ring closed.

    Args:
        earlier: a ring with hosts.
        is_begun: whether the later ring has begun. Then it does not wait for clusters that are only under
            way, as they were added, or have come back, after it began.
    """
    failed = earlier.standing(BROKEN if is_begun else UNABLE)
    if len(failed) > earlier.options.max_failures:
        yield Obstacle(earlier.failure_text(failed))
    if is_begun:
        yield from _shortage_of_begun(earlier)
        return
    for standing, words in UNFINISHED.items():
        if clusters := earlier.standing({standing}):
            yield Obstacle(f"{words}: {_clusters(clusters)}")
    soaking = earlier.standing({Standing.SOAKING})
    if soaking:
        yield _soak_of(soaking)
    needed = earlier.options.minimum.of(len(earlier.clusters))
    open_ended = [one for one in earlier.clusters if one.standing not in CLOSED]
    if len(earlier.standing({Standing.DONE})) + len(open_ended) < needed:
        yield Obstacle(earlier.shortage_text(needed))


def _shortage_of_begun(earlier: RingClusters) -> Iterator[Obstacle]:
    """Too few clusters that are done, without those that are under way."""
    done, soaking = earlier.standing({Standing.DONE}), earlier.standing({Standing.SOAKING})
    minimum = earlier.options.minimum
    closed = len(earlier.standing(CLOSED))
    needed = max(1, minimum.of(closed))
    if len(done) >= needed:
        return
    if soaking and len(done) + len(soaking) >= minimum.of(closed + len(soaking)):
        yield _soak_of(soaking)
    else:
        yield Obstacle(earlier.shortage_text(needed))


def own_obstacles(
    options: RingOptions, startable: Sequence[RolloutCluster], now: datetime, missing_approval: str
) -> Iterator[Obstacle]:
    """What the ring's own options put in its way, without its check.

    Args:
        options: of the ring.
        startable: the clusters on which a run may begin. Their clocks count, as for a soak.
        now: by the controller's clock.
        missing_approval: what it lacks of an approval that it needs; empty for nothing.
    """
    if missing_approval:
        yield Obstacle(missing_approval)
    start = options.not_before
    early = [one for one in startable if start and (one.facts.now is None or one.facts.now < start)]
    if start and early:
        left = [start - one.facts.now for one in early if one.facts.now]
        reason = f"not before {timestamp(start)} by the clock of {_clusters(early)}"
        opens_at = next_second(now + max(left)) if len(left) == len(early) else None
        yield Obstacle(f"{reason}; see ring_not_before (kyma_ring_not_before)", opens_at)


def check_obstacles(options: RingOptions, verdict: CheckVerdict | None) -> Iterator[Obstacle]:
    """What the ring's check puts in its way; a check that was not asked too."""
    if options.check and (verdict is None or verdict.state != GO):
        yield Obstacle(f"{_verdict_text(verdict)}; see ring_check (kyma_ring_check)")


def _verdict_text(verdict: CheckVerdict | None) -> str:
    if verdict is None:
        return "its check was not asked"
    says = "its check failed" if verdict.state == FAILED_CHECK else "its check says wait"
    return f"{says}: {verdict.line}" if verdict.line else says


def _soak_of(soaking: Sequence[RolloutCluster]) -> Obstacle:
    end = max(one.soaked_at for one in soaking if one.soaked_at)
    return Obstacle(f"soaks until {timestamp(end)}: {_clusters(soaking)}", end)


def _clusters(clusters: Sequence[RolloutCluster]) -> str:
    return counted_names([one.name for one in clusters], "cluster", MOST_REASONS)
