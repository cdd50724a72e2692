# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gate that one job decides for others: Ansible's own work, and scripted clusters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.extent import IS_FULL
from tests.support.played_rings import DIGEST, NOW, OLD_DIGEST, PlayedRings, deployable, done, to_deploy
from tests.support.played_role import Played

GATE = {"hosts": {"r1": "rest"}, "version": "2.12", "release_digest": DIGEST, "at": NOW}


@pytest.fixture
def fleet(tmp_path: Path) -> PlayedRings:
    (tmp_path / "ansible.cfg").write_text("[defaults]\nshow_custom_stats = true\n")
    return PlayedRings(tmp_path)


def decide(fleet: PlayedRings, rings: Mapping[str, Any], *options: str, **variables: Any) -> Played:
    fleet.playbook = "kyma.lifecycle.rollout_gate"
    return fleet.roll_out(rings, *options, **variables)


def passed_on(played: Played) -> dict[str, Any]:
    stats = json.loads(played.text.partition("CUSTOM STATS: ")[2].partition("RUN: ")[2].splitlines()[0])
    assert stats.keys() == {"kyma_gate"}
    return dict(stats["kyma_gate"])


@pytest.mark.parametrize("file", ["rings.yml", "group_vars/all.yml"])
def test_a_gate_has_the_rings_of_the_inventory(fleet: PlayedRings, file: str) -> None:
    rings = {"canary": {"c1": {"plan": [done()]}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = decide(fleet, rings, files={file: "kyma_rings: [canary, rest]\n"}, kyma_rings=None).succeeded()
    assert passed_on(played) == GATE


def test_a_gate_names_the_clusters_that_may_be_deployed_and_writes_nothing(fleet: PlayedRings) -> None:
    late = to_deploy(now="2026-11-27T12:00:05Z")
    rings = {
        "canary": {"c1": {"plan": [done()]}},
        "rest": {"r1": {"plan": [late]}, "r2": {"plan": [to_deploy()]}},
    }
    played = decide(fleet, rings).succeeded()
    assert passed_on(played) == {**GATE, "hosts": {"r1": "rest", "r2": "rest"}}
    assert {module for module, _args, _host in played.calls} == {"plan"}


def test_a_gate_fails_while_no_cluster_may_be_deployed_and_says_until_when(fleet: PlayedRings) -> None:
    rings = {"canary": {"c1": {"plan": [done(since=NOW)]}}, "rest": {"r1": {"plan": [to_deploy()]}}}
    played = decide(fleet, rings, kyma_ring_soak="100000d")
    assert played.status == 2
    assert passed_on(played)["hosts"] == {}
    assert "no cluster may be deployed now: canary is open" in played.text
    assert "Run this again from 2300-09-1" in played.text


if IS_FULL:

    def test_a_gate_is_open_for_a_rollout_that_is_complete(fleet: PlayedRings) -> None:
        played = decide(fleet, {"canary": {"c1": {"plan": [done()]}}}).succeeded()
        assert passed_on(played) == {**GATE, "hosts": {}}


def test_with_a_limit_it_decides_about_that_ring(fleet: PlayedRings) -> None:
    rings = {
        "canary": {"c1": {"plan": [done()]}},
        "rest": {"r1": {"plan": [to_deploy()]}},
        "last": {"l1": {"plan": [to_deploy()]}},
    }
    played = decide(fleet, rings, "--limit=rest").succeeded()
    assert passed_on(played) == GATE
    assert sorted(host for _module, _args, host in played.calls) == ["c1", "r1"]


def test_a_sliced_job_deploys_to_what_the_gate_names_and_records_what_is_done(
    fleet: PlayedRings,
) -> None:
    old = {"plan": [done(installed_digest=OLD_DIGEST)]}
    rings = {"rest": {"r1": deployable("run-r1"), "r2": {"plan": [to_deploy()]}, "r3": old}}
    options = {
        "kyma_rings": None,
        "kyma_gate_required": True,
        "kyma_gate": GATE,
        "kyma_gate_max_age": "100000d",
    }
    played = fleet.roll_out(rings, **options)
    assert played.status == 2
    ended = {host: args["state"] for module, args, host in played.calls if module == "run"}
    assert ended == {"r1": "finished", "r3": "noted"}
    (begins,) = [args["rollout"] for args in played.of("run") if args["state"] == "started"]
    assert begins == {"ring": "rest", "release_digest": DIGEST}
    assert "the gate (kyma_gate) does not let r2 begin: it only names r1" in played.text


def test_a_sliced_job_without_a_gate_plans_nothing(fleet: PlayedRings) -> None:
    rings = {"rest": {"r1": deployable("run-r1")}}
    played = fleet.roll_out(rings, kyma_gate_required=True)
    assert played.status == 2
    assert played.calls == []
    assert "there is no gate (kyma_gate)" in played.text
