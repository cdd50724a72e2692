# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``approve_ring`` approves, on which clusters, and what it refuses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.extent import IS_FULL, cases
from tests.support.played_rings import DIGEST, OLD_DIGEST, Answers, PlayedRings, done, to_deploy
from tests.support.played_role import Played

HELD = {"failed": True, "state": "held", "msg": "it is held: the auditors are here"}
UNREACHABLE = {"failed": True, "state": "unreachable", "msg": "no answer"}
APPROVED = {"approval": [{"msg": "ring rest is approved"}]}
CANARIES: Mapping[str, Answers] = {
    "c1": {"plan": [done()], **APPROVED},
    "c2": {"plan": [done()], **APPROVED},
}
RINGS: Mapping[str, Mapping[str, Answers]] = {"canary": CANARIES, "rest": {"r1": {"plan": [to_deploy()]}}}
OPTIONS = {"kyma_ring_approve": ["rest"], "kyma_ring": "rest", "kyma_reason": "see CHG-1"}


@pytest.fixture
def fleet(tmp_path: Path) -> PlayedRings:
    fleet = PlayedRings(tmp_path)
    fleet.playbook = "kyma.lifecycle.approve_ring"
    return fleet


def approved_on(played: Played) -> list[str]:
    return sorted(host for module, _args, host in played.calls if module == "approval")


def test_the_approval_is_written_to_each_cluster_of_the_ring_before_that_answers(fleet: PlayedRings) -> None:
    canaries = {**CANARIES, "held": {"plan": [HELD], **APPROVED}, "gone": {"plan": [UNREACHABLE]}}
    connections = {
        "kyma_kubeconfig": "deployer",
        "kyma_context": "eu",
        "kyma_approver_kubeconfig": "approver",
    }
    stated = {"kyma_approve_until": "2999-01-01", "kyma_approved_by": "alice", "kyma_release_digest": DIGEST}
    played = fleet.roll_out({**RINGS, "canary": canaries}, **OPTIONS, **connections, **stated).succeeded()
    assert approved_on(played) == ["c1", "c2", "held"]
    assert "not approved on gone: no answer" in played.text
    assert len(re.findall("(?<!once )ring rest is approved", played.text)) == 3
    assert played.of("approval")[0] == {
        "kubeconfig": "approver",
        "context": "eu",
        "ring": "rest",
        "release_digest": DIGEST,
        "reason": "see CHG-1",
        "until": "2999-01-01",
        "by": "alice",
        "clusters": ["c1", "c2", "held", "gone"],
    }
    assert "kyma_rings" not in played.text
    # It deploys nothing.
    assert played.of("run") == []


def test_the_rings_are_those_beside_the_inventory(fleet: PlayedRings) -> None:
    rings: dict[str, Any] = {
        "canary": {"c1": {"plan": [done()], **APPROVED}},
        "rest": {"r1": {"plan": [to_deploy()]}},
    }
    files = {"rings.yml": "kyma_rings: [canary, rest]\nkyma_ring_approve: [rest]\n"}
    options = {**OPTIONS, "kyma_ring_approve": None, "kyma_rings": None}
    assert approved_on(fleet.roll_out(rings, files=files, **options).succeeded()) == ["c1"]


def test_the_first_ring_has_its_own_approval(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": {"plan": [to_deploy()], **APPROVED}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    options = {**OPTIONS, "kyma_ring_approve": ["canary"], "kyma_ring": "canary"}
    assert approved_on(fleet.roll_out(rings, "--check", **options).succeeded()) == ["c1"]


if IS_FULL:

    def test_a_ring_that_is_open_needs_no_approval(fleet: PlayedRings) -> None:
        given = [{"ring": "rest", "release_digest": DIGEST, "clusters": ["c1"]}]
        rings = {**RINGS, "canary": {"c1": {"plan": [done(approvals=given)]}}}
        played = fleet.roll_out(rings, **OPTIONS).succeeded()
        assert approved_on(played) == []
        assert "nothing is approved: the ring rest needs no further approval" in played.text


NOT_DONE = {**RINGS, "canary": {**CANARIES, "c2": {"plan": [to_deploy()]}}}
MISTAKES: list[tuple[list[str], dict[str, Any], str]] = [
    ([], {"kyma_ring": "west"}, "kyma_ring is west. Set it to a ring of kyma_rings: canary, rest"),
    ([], {"kyma_ring": None}, "kyma_ring is ''. Set it to a ring"),
    ([], {"kyma_reason": None}, "kyma_reason is empty"),
    (["--limit=c1,rest"], {}, "Run the playbook without --limit"),
    ([], {"kyma_ring_soak": "30d"}, "the ring rest may not start yet: canary: soaks until"),
]
OF_NO_APPROVAL = ([], {"kyma_ring_approve": "canary, "}, "kyma_ring_approve does not name the ring rest")
OTHER_RELEASE = ([], {"kyma_release_digest": OLD_DIGEST}, "Approve the release that you mean")


def test_a_ring_before_whose_gate_a_cluster_is_not_done_is_not_approved(fleet: PlayedRings) -> None:
    played = fleet.roll_out(NOT_DONE, **OPTIONS)
    assert played.status == 2
    assert "nothing is approved: the ring rest may not start yet: canary: " in played.text
    assert approved_on(played) == []


@pytest.mark.parametrize(("words", "options", "reason"), cases([OF_NO_APPROVAL, OTHER_RELEASE], MISTAKES))
def test_nothing_is_approved_by_mistake(
    fleet: PlayedRings, words: list[str], options: dict[str, Any], reason: str
) -> None:
    played = fleet.roll_out(RINGS, *words, **{**OPTIONS, **options})
    assert played.status == 2
    assert "nothing is approved: " in played.text
    assert reason in played.text
    assert approved_on(played) == []
