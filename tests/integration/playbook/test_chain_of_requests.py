# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a deployment waits for an answer before it asks further: what it takes where the cluster is far away."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.distance import distant_kubeconfig
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.request_chain import describe_chain, longest_chain

pytestmark = pytest.mark.control_plane

import os

ROUND_TRIP = float(os.environ.get("FAR_D", "0.5"))
"""Seconds; longer than a busy machine takes for all requests that are sent at once."""
FIRST_CHAIN = 140
NOTHING_CHAIN = 12


@pytest.fixture(scope="module")
def distant_playbook(own_cluster: OwnCluster, playbook: Playbook) -> Iterator[Playbook]:
    """The playbook on a cluster that is far away."""
    folder = playbook.folder
    with distant_kubeconfig(folder / "kubeconfig", folder / "distant-kubeconfig", ROUND_TRIP) as path:
        yield Playbook(folder, path, own_cluster.audit)


@pytest.fixture(scope="module")
def first(distant_playbook: Playbook, kyma_releases: Path) -> Outcome:
    return distant_playbook.deploy(kyma_releases / "2.9", profile="evaluation").succeeded()


def require_chain(outcome: Outcome, most: int) -> None:
    """Fail if the requests of a deployment are a longer chain; print the chain."""
    requests = [one for one in outcome.requests if "pipeline" in one.user]
    chain = longest_chain(requests, ROUND_TRIP)
    text = describe_chain(chain, requests)
    print(text)
    if os.environ.get("FAR_DUMP"):
        import pickle
        pickle.dump(requests, open(os.environ["FAR_DUMP"] + str(most), "wb"))
    assert len(chain) <= most, text


def test_a_first_deployment_waits_for_few_answers(first: Outcome) -> None:
    require_chain(first, FIRST_CHAIN)


def test_nothing_to_do_waits_for_few_answers(
    first: Outcome, distant_playbook: Playbook, kyma_releases: Path
) -> None:
    distant_playbook.deploy(kyma_releases / "2.9", profile="evaluation").succeeded()
    again = distant_playbook.deploy(kyma_releases / "2.9", profile="evaluation").succeeded()
    assert again.recap["changed"] == 0
    require_chain(again, NOTHING_CHAIN)
