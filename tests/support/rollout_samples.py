# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decided rollouts, for tests of what shows them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    DONE,
    EMPTY,
    OPEN,
    STOPPED,
    WAITING,
    Rollout,
    RolloutCluster,
    RolloutRing,
)

ZONE = ZoneInfo("Europe/Berlin")
DIGEST = "4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce"
OPENING = datetime(2026, 11, 27, 8, 40, tzinfo=UTC)
SOAKS = "soaks until 2026-11-27T08:40:00Z: 2 clusters (canary-1, canary-2)"
SOAKING = f"canary: {SOAKS}"
HOLD = "the cluster is held by alice@bastion since 2026-11-21T08:00:00Z: audit"
LONG_NAME = "a-cluster-with-a-name-of-many-characters-as-clouds-give-them"
HOOK = "pod shop/checkout-5d758d7759-{}: ImagePullBackOff"


def clusters(prefix: str, count: int, state: str, **more: Any) -> tuple[RolloutCluster, ...]:
    """Alike clusters, with numbers from 1."""
    known: dict[str, Any] = {"previous": "2.10", "version": "2.11", "health": "healthy", **more}
    return tuple(RolloutCluster(f"{prefix}-{number}", state=state, **known) for number in range(1, count + 1))


def done(name: str, since: str, **more: Any) -> RolloutCluster:
    """A cluster that has the release."""
    return RolloutCluster(name, "2.11", "2.11", "unchanged", "healthy", since, **more)


CANARIES = (done("canary-1", "2026-11-27T05:40:00Z"), done("canary-2", "2026-11-27T06:40:00Z"))
HELD = RolloutCluster("eu-9", "2.10", "2.11", "held", "unknown", "", HOLD)
UNREACHABLE = RolloutCluster(LONG_NAME, "", "", "unreachable", reason="no answer from https://eu.example.com")

WAITING_ROLLOUT = Rollout(
    "2.11",
    DIGEST,
    (
        RolloutRing("lab", EMPTY, ("the group has no hosts in the inventory, so the ring is skipped",)),
        RolloutRing("canary", OPEN, (SOAKS,), soak=7200.0, clusters=CANARIES),
        RolloutRing(
            "early",
            WAITING,
            (SOAKING,),
            OPENING,
            7200.0,
            clusters=(*clusters("eu", 8, "waiting", reason=SOAKING), HELD, UNREACHABLE),
        ),
        RolloutRing(
            "rest",
            WAITING,
            ("early: not deployed yet: 8 clusters (eu-1, eu-2)", SOAKING),
            clusters=clusters(
                "us", 180, "waiting", reason="early: not deployed yet: 8 clusters (eu-1, eu-2)"
            ),
        ),
    ),
    next_at=OPENING,
)
OPEN_ROLLOUT = Rollout(
    "2.11",
    DIGEST,
    (
        RolloutRing("canary", DONE, soak=7200.0, clusters=CANARIES),
        RolloutRing(
            "early",
            OPEN,
            ("not deployed yet: 3 clusters (eu-1, eu-2, eu-3)",),
            clusters=clusters("eu", 3, "planned"),
        ),
        RolloutRing(
            "rest",
            WAITING,
            ("no approval for this release (kyma_ring_approve)",),
            needs_approval=True,
            clusters=clusters("us", 5, "waiting", reason="early: not deployed yet"),
        ),
    ),
    ("eu-1", "eu-2", "eu-3"),
)
COMPLETE = Rollout(
    "2.11", DIGEST, (RolloutRing("lab", EMPTY), RolloutRing("canary", DONE, clusters=CANARIES))
)
BROKEN = tuple(
    RolloutCluster(f"eu-{number}", "2.10", "2.11", "failed", "unhealthy", "", f"run r{number}: {why}")
    for number, why in enumerate((HOOK.format("tcv2x"), HOOK.format("4pffp"), "out of memory"), start=1)
)
STOPPED_ROLLOUT = Rollout(
    "2.11",
    DIGEST,
    (
        RolloutRing(
            "early",
            STOPPED,
            ("3 clusters (eu-1, eu-2, eu-3) failed, and kyma_ring_max_failures allows 0",),
            clusters=BROKEN,
        ),
    ),
    failed=True,
)
