# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tasks the role ``kyma`` comes to, by what its modules answer: Ansible's own work, and no cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.played_role import OUTDATED, Plays, begun, planned


@pytest.fixture
def plays(tmp_path: Path) -> Plays:
    return Plays(tmp_path)


def test_a_plan_that_is_made_anew_is_carried_out_to_its_last_hop(plays: Plays) -> None:
    # Somebody has brought an empty cluster to 2.9 meanwhile, from where there are two hops.
    answers = {
        "plan": [planned("2.11"), planned("2.10", "2.11"), planned("2.11")],
        "run started": [OUTDATED, begun("first"), begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.11", "-e", "kyma_hops=auto").succeeded()
    assert played.done[:-1] == [
        "plan 2.11",
        "run",
        "plan 2.11",
        "run",
        "component first 2.10",
        "run finished first",
        "plan 2.11",
        "run",
        "component second 2.11",
        "run finished second",
    ]
    # Of which objects change a run is told nothing, and of all else that it was planned with everything.
    begins = [one["plan"] for one in played.of("run") if one["state"] == "started"]
    expected = {**planned("2.11")["plan"], "components": [{"name": "shop", "action": "install"}]}
    assert begins[-1] == expected
    # Where it was outdated nothing was begun; what has ended says again how.
    assert played.done[-1] == "run finished second"
    assert [(one["hops"], one["plan_hop"]) for one in played.of("plan")] == [
        ("auto", 1),
        ("auto", 1),
        ("refuse", 2),
    ]


def test_a_way_whose_first_hop_is_planned_anew_is_gone_once(plays: Plays) -> None:
    answers = {
        "plan": [planned("2.10", "2.11"), planned("2.10", "2.11"), planned("2.11")],
        "run started": [OUTDATED, begun("first"), begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.11", "-e", "kyma_hops=auto").succeeded()
    assert [args["release"] for args in played.of("component")] == ["2.10", "2.11"]
    assert len(played.of("plan")) == 3


def test_a_later_hop_that_is_planned_anew_is_that_hop_alone(plays: Plays) -> None:
    answers = {
        "plan": [planned("2.10", "2.11"), planned("2.11"), planned("2.11")],
        "run started": [begun("first"), OUTDATED, begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.12", "-e", "kyma_hops=auto").succeeded()
    assert [(one["release"], one["hops"], one["plan_hop"]) for one in played.of("plan")] == [
        ("2.12", "auto", 1),
        ("2.11", "refuse", 2),
        ("2.11", "refuse", 2),
    ]
    assert [args["release"] for args in played.of("component")] == ["2.10", "2.11"]


def test_a_plan_made_anew_that_finds_nothing_left_to_do_notes_what_it_has_seen(plays: Plays) -> None:
    seen = planned("2.11", needed=False, noted={"logging": ["something"]})
    played = plays.play({"plan": [planned("2.11"), seen], "run started": [OUTDATED]}).succeeded()
    assert [one.get("state") for one in played.of("run")] == ["started", "noted"]


def test_what_keeps_a_plan_made_anew_from_beginning_is_all_that_fails(plays: Plays) -> None:
    held = {"failed": True, "msg": "the cluster is held"}
    played = plays.play({"plan": [planned("2.11"), planned("2.11")], "run started": [OUTDATED, held]})
    assert played.status
    assert "the cluster is held" in played.text
    assert played.text.count("fatal: ") == 1, played.text


@pytest.mark.parametrize(("options", "keywords"), [(["--check"], {}), ([], {"check_mode": True})])
def test_check_mode_ends_after_the_plan_however_it_was_asked_for(
    plays: Plays, options: list[str], keywords: dict[str, Any]
) -> None:
    played = plays.play({"plan": [planned("2.10", "2.11")]}, *options, **keywords).succeeded()
    assert [module for module, *_more in played.calls] == ["plan"]


def test_what_is_taken_out_of_check_mode_is_carried_out(plays: Plays) -> None:
    answers = {"plan": [planned("2.11")], "run started": [begun("first")]}
    played = plays.play(answers, "--check", check_mode=False).succeeded()
    assert [module for module, *_more in played.calls] == ["plan", "run", "component", "run"]
