# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is exchanged about a rollout."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    ClusterFacts,
    Minimum,
    Rollout,
    RolloutCluster,
    RolloutRing,
)

NOON = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)


def test_the_result_of_a_rollout_is_plain_json_with_all_keys() -> None:
    cluster = RolloutCluster("c1", "1.0", "1.1", "unchanged", "healthy", "2026-11-27T11:00:00Z")
    ring = RolloutRing("early", "waiting", ("canary: c1 soaks",), NOON, 3600, False, (cluster,))
    rollout = Rollout("1.1", "d1", (ring,), ("c2",), NOON, True)
    assert json.loads(json.dumps(to_result(rollout))) == {
        "version": "1.1",
        "release_digest": "d1",
        "failed": True,
        "next_at": "2026-11-27T12:00:00Z",
        "deploy": ["c2"],
        "rings": [
            {
                "name": "early",
                "state": "waiting",
                "reasons": ["canary: c1 soaks"],
                "opens_at": "2026-11-27T12:00:00Z",
                "soak": 3600,
                "needs_approval": False,
                "clusters": [
                    {
                        "name": "c1",
                        "previous": "1.0",
                        "version": "1.1",
                        "state": "unchanged",
                        "health": "healthy",
                        "done_since": "2026-11-27T11:00:00Z",
                        "reason": "",
                    }
                ],
            }
        ],
    }


def test_a_moment_that_is_unknown_is_empty() -> None:
    result = to_result(Rollout(rings=(RolloutRing("canary", "empty"),)))
    assert (result["next_at"], result["rings"][0]["opens_at"]) == ("", "")


@pytest.mark.parametrize(
    ("minimum", "size", "expected"),
    [
        (Minimum(), 5, 1),
        (Minimum(3), 5, 3),
        (Minimum(50, is_percentage=True), 5, 3),
        (Minimum(50, is_percentage=True), 4, 2),
        (Minimum(1, is_percentage=True), 4, 1),
        (Minimum(100, is_percentage=True), 4, 4),
    ],
)
def test_a_percentage_of_clusters_is_rounded_up(minimum: Minimum, size: int, expected: int) -> None:
    assert minimum.of(size) == expected


@pytest.mark.parametrize(
    ("unhealthy", "health"), [(None, "unknown"), ((), "healthy"), (("Deployment a/b: 0 of 1",), "unhealthy")]
)
def test_health_is_unknown_until_a_plan_asks(unhealthy: tuple[str, ...] | None, health: str) -> None:
    assert ClusterFacts("c1", "unchanged", unhealthy=unhealthy).health == health
