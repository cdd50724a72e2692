# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a deployment waits for an answer before it asks more, which is slow on a distant cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.distance import distant_kubeconfig
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.request_chain import describe_chain, longest_chain

pytestmark = pytest.mark.control_plane

ROUND_TRIP = 0.3
"""Seconds; longer than a busy machine takes for all requests that are sent at once."""
FIRST_CHAIN = 140
"""Some 960 requests, 16 at once, are 60 of these; 131 to 134 were measured on a busy machine."""
NOTHING_CHAIN = 7


@pytest.fixture(scope="module")
def distant_playbook(own_cluster: OwnCluster, playbook: Playbook) -> Iterator[Playbook]:
    """The playbook on a cluster that is far away."""
    folder = playbook.folder
    with distant_kubeconfig(folder / "kubeconfig", folder / "distant-kubeconfig", ROUND_TRIP) as path:
        yield Playbook(folder, path, own_cluster.audit)


@pytest.fixture(scope="module")
def again(first: Outcome, distant_playbook: Playbook, kyma_releases: Path) -> list[Outcome]:
    """Deployments that have nothing to do: one before them records what controllers have changed."""
    assert first
    deployed = [
        distant_playbook.deploy(kyma_releases / "2.9", profile="evaluation").succeeded() for _time in range(4)
    ]
    return deployed[1:]


@pytest.fixture(scope="module")
def first(distant_playbook: Playbook, kyma_releases: Path) -> Outcome:
    return distant_playbook.deploy(kyma_releases / "2.9", profile="evaluation").succeeded()


def require_chain(outcomes: Sequence[Outcome], most: int) -> None:
    """Fail if the requests of each deployment are a longer chain; print the shortest one.

    A busy machine may send a request late that waits for no other.
    """
    sent = [[one for one in outcome.requests if "pipeline" in one.user] for outcome in outcomes]
    chain, requests = min(
        ((longest_chain(one, ROUND_TRIP), one) for one in sent), key=lambda pair: len(pair[0])
    )
    text = describe_chain(chain, requests)
    print(text)
    assert len(chain) <= most, text


def test_a_first_deployment_waits_for_few_answers(first: Outcome) -> None:
    require_chain([first], FIRST_CHAIN)


def test_nothing_to_do_waits_for_few_answers(again: list[Outcome]) -> None:
    assert [one.recap["changed"] for one in again] == [0, 0, 0]
    require_chain(again, NOTHING_CHAIN)
