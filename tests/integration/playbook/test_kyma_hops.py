# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real releases of Kyma in one go: from 2.9 to 2.11 by 2.10, and not back."""

from __future__ import annotations

from pathlib import Path

import pytest

from .audit import writes
from .own_cluster import OwnCluster
from .running import Outcome, Playbook

pytestmark = pytest.mark.control_plane

PROFILE = "evaluation"


@pytest.fixture(scope="module")
def on_2_9(playbook: Playbook, kyma_releases: Path) -> Outcome:
    return playbook.deploy(kyma_releases / "2.9", profile=PROFILE).succeeded()


@pytest.fixture(scope="module")
def refused(on_2_9: Outcome, playbook: Playbook, kyma_releases: Path) -> Outcome:
    assert on_2_9.status == 0
    return playbook.deploy(kyma_releases / "2.11", profile=PROFILE).failed()


@pytest.fixture(scope="module")
def rehearsed(refused: Outcome, playbook: Playbook, kyma_releases: Path) -> Outcome:
    assert refused.status
    return playbook.deploy(kyma_releases / "2.11", "--check", profile=PROFILE, hops="auto").succeeded()


@pytest.fixture(scope="module")
def on_2_11(rehearsed: Outcome, playbook: Playbook, kyma_releases: Path) -> Outcome:
    assert rehearsed.status == 0
    return playbook.deploy(kyma_releases / "2.11", profile=PROFILE, hops="auto").succeeded()


def test_a_version_is_not_skipped(refused: Outcome) -> None:
    told = refused.refused()
    assert "deploy 2.10 first" in told
    assert "hops=auto (kyma_hops)" in told


def test_both_hops_are_shown_and_nothing_is_written(rehearsed: Outcome) -> None:
    assert writes(rehearsed.requests) == []
    assert "Kyma 2.9 → 2.10 (evaluation), hop 1 of 2, exact:" in rehearsed.text
    assert "Kyma 2.10 → 2.11 (evaluation), hop 2 of 2, provisional" in rehearsed.text
    [later] = rehearsed.plan["later"]
    assert later["blockers"] == []
    assert [one["name"] for one in later["components"] if one["action"] == "orphaned"] == ["kiali"]


def test_each_hop_is_a_run_of_its_own(on_2_11: Outcome, own_cluster: OwnCluster) -> None:
    assert on_2_11.text.index("Kyma 2.10: succeeded") < on_2_11.text.index("Kyma 2.11: succeeded")
    found = own_cluster.api.get("lifecycle.kyma-project.io/v1alpha1", "Installation", "kyma")
    assert found
    assert (found["status"]["version"], found["status"]["target"]) == ("2.11", "2.11")


@pytest.mark.parametrize("flags", [{}, {"abandon": True, "hops": "auto", "force_conflicts": True}])
def test_there_is_no_way_back(
    on_2_11: Outcome, playbook: Playbook, kyma_releases: Path, flags: dict[str, object]
) -> None:
    assert on_2_11.status == 0
    told = playbook.deploy(kyma_releases / "2.10", profile=PROFILE, **flags).refused()
    assert "2.10 is older than 2.11, which the cluster has: downgrades are never safe" in told
