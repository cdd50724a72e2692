# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""After its deployment a cluster is known by the result of its last task."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import timestamp
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.cluster_standing import assess
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.facts import (
    facts_after,
    facts_later,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    ClusterFacts,
    GatedRun,
    Standing,
)

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
DIGEST = "ab" * 32
GATE = GatedRun("canary", DIGEST)


@pytest.mark.parametrize(
    ("state", "run", "standing"),
    [
        ("succeeded", "run-1", Standing.SOAKING),
        # It was adopted.
        ("unchanged", "", Standing.SOAKING),
        ("failed", "run-1", Standing.FAILED),
        ("unreachable", "run-1", Standing.FAILED),
        # Ansible ended its tasks in the middle.
        ("planned", "run-1", Standing.FAILED),
        # It has not begun: its ring had stopped, or somebody has held it meanwhile.
        ("waiting", "", Standing.PENDING),
        ("held", "", Standing.OUT),
        ("unreachable", "", Standing.OUT),
        ("refused", "", Standing.REFUSED),
    ],
)
def test_the_last_result_decides_what_a_cluster_means_for_its_ring(
    state: str, run: str, standing: Standing
) -> None:
    facts = facts_after(ClusterFacts("c1", state, "why"), run, GATE, NOW)
    assert facts.gated_run == (GATE if run else GatedRun())
    assessment = assess(facts, DIGEST, soak=60, now=NOW)
    assert assessment.standing is standing
    if standing is Standing.SOAKING:
        assert assessment.soaked_at == NOW + timedelta(seconds=60)
        assert assessment.done_since == timestamp(NOW)


def test_unchanged_components_stay_unhealthy() -> None:
    facts = facts_after(ClusterFacts("c1", "succeeded", unhealthy=("no pod",)), "run-1", GATE, NOW)
    assert assess(facts, DIGEST, soak=0, now=NOW).standing is Standing.UNHEALTHY


def test_a_soak_ends_at_the_same_time_however_long_a_deployment_takes() -> None:
    known = ClusterFacts("c1", "unchanged", release_digest=DIGEST, installed_digest=DIGEST, unhealthy=())
    # Its clock is ten minutes slow.
    slow = NOW - timedelta(minutes=10)
    facts = replace(known, since=slow - timedelta(hours=1), now=slow)
    ends = [
        assess(facts_later(facts, timedelta(minutes=minutes)), DIGEST, 7200, NOW + timedelta(minutes=minutes))
        for minutes in (0, 40, 60)
    ]
    assert [one.soaked_at for one in ends] == [NOW + timedelta(hours=1)] * 2 + [None]
    assert facts_later(replace(facts, now=None), timedelta(minutes=40)).now is None
