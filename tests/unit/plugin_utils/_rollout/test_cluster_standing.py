# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one cluster means for its ring, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._timestamp import timestamp
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.cluster_standing import assess
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import (
    ClusterFacts,
    RunFacts,
    Standing,
)

from tests.support.rollout_facts import (
    DIGEST,
    NOW,
    OTHER_DIGEST,
    done,
    ended,
    held,
    pending,
    refused,
    unhealthy,
    unreachable,
    unrecorded,
)

ADOPTED = done("c1", run=RunFacts())


@pytest.mark.parametrize(
    ("facts", "standing", "reason"),
    [
        (pending("c1"), Standing.PENDING, ""),
        (unrecorded("c1"), Standing.PENDING, ""),
        (ended("c1", "lost"), Standing.PENDING, "run run-1 was lost"),
        (ended("c1", "cancelled"), Standing.PENDING, "run run-1 was cancelled"),
        (pending("c1", run=RunFacts("run-0", "lost", OTHER_DIGEST)), Standing.PENDING, ""),
        (
            ended("c1"),
            Standing.FAILED,
            "run run-1 failed. `kubectl describe kymaruns run-1` shows why",
        ),
        (ended("c1", state="refused", reason="no right"), Standing.FAILED, "run run-1 failed: no right"),
        (ended("c1", "running"), Standing.RUNNING, "run run-1 is not over"),
        (
            replace(ADOPTED, since=None),
            Standing.UNCERTAIN,
            "its record does not say since when it has the release",
        ),
        (replace(ADOPTED, now=None), Standing.UNCERTAIN, "its clock is unknown"),
        (replace(ADOPTED, unhealthy=None), Standing.UNCERTAIN, "its health is unknown"),
        (done("c1", 3000), Standing.SOAKING, "soaks until 2026-11-27T12:10:00Z"),
        (ADOPTED, Standing.DONE, ""),
        (refused("c1"), Standing.REFUSED, "another tool owns ConfigMap shop/theme"),
        (held("c1"), Standing.OUT, "the cluster is held by alice"),
    ],
)
def test_a_cluster_has_a_standing_and_a_reason(facts: ClusterFacts, standing: Standing, reason: str) -> None:
    assessed = assess(facts, DIGEST, 3600, NOW)
    assert (assessed.standing, assessed.reason) == (standing, reason)


BEGUN = [
    ADOPTED,
    done("c1", 60),
    replace(ADOPTED, since=None),
    unhealthy("c1", run=RunFacts()),
    pending("c1", installed_digest=DIGEST),
    ended("c1"),
    ended("c1", "running"),
    unreachable("c1", has_begun=True),
]


@pytest.mark.parametrize("facts", BEGUN)
def test_a_cluster_has_begun_with_the_release_or_a_run_of_it(facts: ClusterFacts) -> None:
    assert assess(facts, DIGEST, 3600, NOW).has_begun
    assert assess(facts, DIGEST, 0, NOW).has_begun


NOT_BEGUN = [pending("c1"), unrecorded("c1"), refused("c1"), pending("c1", run=RunFacts("r", "failed"))]


@pytest.mark.parametrize("facts", NOT_BEGUN)
def test_a_cluster_has_not_begun_with_another_release(facts: ClusterFacts) -> None:
    assert not assess(facts, DIGEST, 3600, NOW).has_begun


def test_a_run_without_a_digest_is_none_of_an_unknown_release() -> None:
    facts = ended("c1", state="refused", release_digest="", run=RunFacts("run-1", "failed"))
    assessed = assess(facts, "", 0, NOW)
    assert (assessed.standing, assessed.has_begun) == (Standing.REFUSED, False)


@pytest.mark.parametrize(("soak", "standing"), [(0, Standing.DONE), (1, Standing.SOAKING)])
def test_without_a_soak_a_cluster_is_done_at_once(soak: int, standing: Standing) -> None:
    assert assess(done("c1", 0), DIGEST, soak, NOW).standing is standing
    assert assess(done("c1", 0), DIGEST, soak, NOW).done_since == timestamp(NOW)
