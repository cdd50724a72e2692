# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table over rings: it fits the terminal, counts alike clusters, and names the others."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.cluster_groups import (
    FEWEST_GROUPED,
    MOST_ROWS,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    Rollout,
    RolloutCluster,
    RolloutRing,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.ring_views import (
    MOST_REASONS,
    ring_views,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.rollout_table import render_rollout

from tests.support.rollout_samples import (
    COMPLETE,
    LONG_NAME,
    OPEN_ROLLOUT,
    STOPPED_ROLLOUT,
    WAITING_ROLLOUT,
    ZONE,
    clusters,
)


def rows_of(*members: RolloutCluster, is_whole: bool = False) -> list[str]:
    """The rows of a ring with these clusters, in a wide terminal."""
    ring = RolloutRing("early", "open", clusters=members)
    lines = render_rollout(ring_views(Rollout(rings=(ring,)), ZONE, is_whole=is_whole), 300)[2:]
    return [" ".join(line.split()) for line in lines]


def test_rings_that_wait_read_like_this() -> None:
    assert render_rollout(ring_views(WAITING_ROLLOUT, ZONE), 80) == [
        "  cluster       from → to    state        health   done since, or why not",
        "lab: skipped: the group has no hosts in the inventory, so the ring is skipped",
        "canary: open, nothing to deploy (2 clusters): soaks until 2026-11-27 09:40 CET:",
        "  2 clusters (canary-1, canary-2)",
        "  canary-1      2.11         unchanged    healthy  2026-11-27 06:40 CET",
        "  canary-2      2.11         unchanged    healthy  2026-11-27 07:40 CET",
        "early: waits until 2026-11-27 09:40 CET (10 clusters): canary: soaks until",
        "  2026-11-27 09:40 CET: 2 clusters (canary-1, canary-2)",
        "  8 clusters    2.10 → 2.11  waiting      healthy  eu-1, eu-2, eu-3 and 5 more",
        "  eu-9          2.10 → 2.11  held         unknown",
        "    the cluster is held by alice@bastion since 2026-11-21 09:00 CET: audit",
        f"  {LONG_NAME}",
        "                -            unreachable  unknown",
        "    no answer from https://eu.example.com",
        "rest: waits (180 clusters)",
        "  - early: not deployed yet: 8 clusters (eu-1, eu-2)",
        "  - canary: soaks until 2026-11-27 09:40 CET: 2 clusters (canary-1, canary-2)",
        "  180 clusters  2.10 → 2.11  waiting      healthy  us-1, us-2, us-3 and 177 more",
    ]


def test_a_ring_that_may_start_and_one_without_approval_read_like_this() -> None:
    assert render_rollout(ring_views(OPEN_ROLLOUT, ZONE), 80) == [
        "  cluster     from → to    state      health   done since, or why not",
        "canary: done (2 clusters)",
        "  canary-1    2.11         unchanged  healthy  2026-11-27 06:40 CET",
        "  canary-2    2.11         unchanged  healthy  2026-11-27 07:40 CET",
        "early: may start, 3 to deploy now (3 clusters)",
        "  eu-1        2.10 → 2.11  planned    healthy",
        "  eu-2        2.10 → 2.11  planned    healthy",
        "  eu-3        2.10 → 2.11  planned    healthy",
        "rest: waits for an approval (5 clusters): no approval for this release",
        "  (kyma_ring_approve)",
        "  5 clusters  2.10 → 2.11  waiting    healthy",
        "    early: not deployed yet (us-1, us-2, us-3 and 2 more)",
    ]
    assert "early: may start, 3 to deploy at the next call (3 clusters)" in render_rollout(
        ring_views(OPEN_ROLLOUT, ZONE, is_over=True), 80
    )


def test_a_ring_that_has_stopped_and_complete_rings_read_like_this() -> None:
    assert render_rollout(ring_views(STOPPED_ROLLOUT, ZONE), 80) == [
        "  cluster  from → to    state   health     done since, or why not",
        "early: stopped (3 clusters): 3 clusters (eu-1, eu-2, eu-3) failed, and",
        "  kyma_ring_max_failures allows 0",
        "  eu-1     2.10 → 2.11  failed  unhealthy",
        "    run r1: pod shop/checkout-5d758d7759-tcv2x: ImagePullBackOff",
        "  eu-2     2.10 → 2.11  failed  unhealthy",
        "    run r2: pod shop/checkout-5d758d7759-4pffp: ImagePullBackOff",
        "  eu-3     2.10 → 2.11  failed  unhealthy  run r3: out of memory",
    ]
    assert render_rollout(ring_views(COMPLETE, ZONE), 80)[1:3] == [
        "lab: skipped: the group has no hosts",
        "canary: done (2 clusters)",
    ]
    assert render_rollout(ring_views(Rollout(), ZONE), 80) == []


@pytest.mark.parametrize("width", [20, 60, 80, 120])
@pytest.mark.parametrize("is_whole", [False, True])
def test_no_line_is_wider_than_the_terminal_and_no_name_is_cut(width: int, is_whole: bool) -> None:
    odd = (
        *clusters("eu", 2, "planned", previous="2.10.0-rc1+build.20261127", version="2.11.0-alpha.7+dirty"),
        RolloutCluster(LONG_NAME.upper(), state="unreachable", reason="word " * 100),
        RolloutCluster("x", "2.10", "2.11", "held", reason="a/very/long/path" * 20),
    )
    last = RolloutRing("a-ring-" * 20, "waiting", ("because " * 40,), clusters=odd)
    for rollout in (WAITING_ROLLOUT, OPEN_ROLLOUT, STOPPED_ROLLOUT, Rollout(rings=(last,))):
        lines = render_rollout(ring_views(rollout, ZONE, is_whole=is_whole), width)
        assert max(map(len, lines)) <= width
        names = {one.name for ring in rollout.rings for one in ring.clusters if is_whole or one.name == "x"}
        shown = "".join("".join(lines).split())
        assert {name for name in names if name not in shown} == set()


def test_alike_clusters_share_a_row_and_the_others_are_named() -> None:
    alike = clusters("eu", FEWEST_GROUPED, "failed", reason="run 20261127-084000-29541c failed: no memory")
    alike = (*alike[1:], replace(alike[0], reason="run 20261127-091500-0a1b2c failed: no memory"))
    other = RolloutCluster("us", "2.9", "2.11", "planned", "healthy")
    assert rows_of(other, *alike) == [
        "4 clusters 2.10 → 2.11 failed healthy run 20261127-084000-29541c failed: no memory (eu-2, eu-3, eu-4"
        " and 1 more)",
        "us 2.9 → 2.11 planned healthy",
    ]
    assert len(rows_of(other, *alike[1:])) == FEWEST_GROUPED
    assert len(rows_of(other, *alike, is_whole=True)) == FEWEST_GROUPED + 1
    assert len(rows_of(other, *alike[:-1], replace(alike[-1], health="unhealthy"))) == FEWEST_GROUPED + 1


def test_clusters_that_are_done_share_a_row_with_the_last_time() -> None:
    soaking = [
        RolloutCluster(f"eu-{n}", "2.11", "2.11", "unchanged", "healthy", f"2026-11-27T0{n}:40:00Z", reason)
        for n in (6, 5, 4, 3)
        if (reason := f"soaks until 2026-11-27T1{n}:40:05Z")
    ]
    assert rows_of(*soaking) == [
        "4 clusters 2.11 unchanged healthy the last one 2026-11-27 07:40 CET; soaks until"
        " 2026-11-27 17:40:05 CET (eu-6, eu-5, eu-4 and 1 more)",
    ]


def test_many_clusters_with_reasons_of_their_own_share_a_row() -> None:
    silent = [RolloutCluster(f"eu-{n}", state="unreachable", reason=f"no answer from {n}") for n in range(40)]
    assert len(rows_of(*silent[:MOST_ROWS])) == MOST_ROWS
    assert rows_of(*silent) == [
        "40 clusters - unreachable unknown such as: no answer from 0 (eu-0, eu-1, eu-2 and 37 more)"
    ]


def test_pods_with_random_names_do_not_part_clusters() -> None:
    reasons = [
        f"Deployment shop/checkout: 0 of 1; pod checkout-{name}: ImagePullBackOff"
        for name in ("5d7-tcv2x", "5d7-4pffp")
    ] * 2
    alike = clusters("eu", 4, "unchanged", health="unhealthy")
    assert len(rows_of(*(replace(one, reason=why) for one, why in zip(alike, reasons, strict=True)))) == 1


def test_a_ring_has_its_first_reasons_and_a_count_of_the_others() -> None:
    ring = RolloutRing("early", "waiting", tuple(f"reason {n}" for n in range(MOST_REASONS + 2)))
    lines = render_rollout(ring_views(Rollout(rings=(ring,)), ZONE), 80)
    assert lines[-2:] == [f"  - reason {MOST_REASONS - 1}", "  - and 2 more"]


def test_the_largest_group_is_first_and_clusters_alone_are_last() -> None:
    few, many = clusters("a", FEWEST_GROUPED, "held"), clusters("b", FEWEST_GROUPED + 1, "planned")
    first, second, third = rows_of(RolloutCluster("alone", "2.10", "2.11", "held"), *few, *many)
    assert (first[:10], second[:10], third[:5]) == ("5 clusters", "4 clusters", "alone")
