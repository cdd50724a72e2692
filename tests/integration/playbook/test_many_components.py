# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many components, and what a person sees while they are at work."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.support.accounts import HOME
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

MANY = [f"part-{number:02}" for number in range(35)]
LATEST = 2.0
"""Seconds after which a change must have reached the terminal."""


@pytest.fixture(scope="module")
def many(playbook: Playbook, small: SmallRelease) -> Outcome:
    """The outcome of many quick components, and a chain of two slow ones."""
    for name in MANY:
        small.component(name, config_map(name))
    small.component("slow", config_map("slow"), deployment("slow", ready_after="4s"))
    small.component("slower", config_map("slower"), deployment("slower", ready_after="4s"), needs=["slow"])
    return playbook.deploy(small.folder).succeeded()


def test_more_components_than_workers_are_all_deployed(many: Outcome, own_cluster: OwnCluster) -> None:
    there = {obj["metadata"]["name"] for obj in own_cluster.api.list("v1", "ConfigMap", NAMESPACE).items}
    assert {*MANY, "slow", "slower"} <= there
    assert {one["state"] for one in many.components.values()} == {"succeeded"}
    assert len(many.components) == 1 + 35 + 2


def test_every_request_is_sent_by_an_account_with_the_shipped_role(many: Outcome) -> None:
    assert {request.user for request in many.requests} == {f"system:serviceaccount:{HOME}:pipeline"}


def _shown(outcome: Outcome, text: str) -> float:
    """When a line with this text came to the terminal for the first time."""
    return next(time for time, line in outcome.lines if text in line)


@pytest.mark.parametrize("name", ["slow", "slower"])
def test_the_terminal_shows_within_two_seconds_that_a_component_is_applied(many: Outcome, name: str) -> None:
    target = f"configmaps {NAMESPACE}/{name}"
    applied = next(r.time for r in many.requests if r.target == target and r.persists)
    assert abs(_shown(many, f"{name}: applying") - applied) < LATEST


@pytest.mark.parametrize("name", ["slow", "slower"])
def test_the_terminal_shows_within_two_seconds_that_a_component_is_healthy(
    many: Outcome, own_cluster: OwnCluster, name: str
) -> None:
    assert f"{name}: waiting (Deployment {NAMESPACE}/{name}: 0 of 1 replicas" in many.text
    live = own_cluster.api.get("apps/v1", "Deployment", name, NAMESPACE)
    assert live
    [available] = [one for one in live["status"]["conditions"] if one["type"] == "Available"]
    # The cluster leaves out fractions of a second.
    healthy = datetime.fromisoformat(available["lastTransitionTime"]).timestamp()
    assert 0 <= _shown(many, f"{name}: succeeded") - healthy < LATEST + 1


def test_each_component_is_reported_at_its_own_end(many: Outcome) -> None:
    assert _shown(many, "slower: succeeded") - _shown(many, "slow: succeeded") > 3
