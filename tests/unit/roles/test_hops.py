# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tasks the role ``kyma`` comes to, by what its modules answer: Ansible's own work, and no cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.played_role import OUTDATED, Plays, begun, planned


@pytest.fixture
def plays(tmp_path: Path) -> Plays:
    return Plays(tmp_path)


def test_a_repeated_plan_is_applied_to_its_last_hop(plays: Plays) -> None:
    # Somebody has brought an empty cluster to 2.9 meanwhile, from where there are two hops.
    answers = {
        "plan": [planned("2.11"), planned("2.10", "2.11"), planned("2.11")],
        "run started": [OUTDATED, begun("first"), begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.11", "-e", "kyma_hops=auto").succeeded()
    # Where it was outdated, nothing was begun, and so nothing is ended.
    assert played.done == [
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
    assert [(one["hops"], one["plan_hop"]) for one in played.of("plan")] == [
        ("auto", 1),
        ("auto", 1),
        ("refuse", 2),
    ]


def test_health_is_required_only_after_the_last_hop(plays: Plays) -> None:
    versions = ("2.9", "2.10", "2.11")
    answers = {
        "plan": [planned(*versions), *map(planned, versions[1:])],
        "run started": [begun(version) for version in versions],
    }
    played = plays.play(answers, "-e", "kyma_release=2.11", "-e", "kyma_require_healthy=true").succeeded()
    ended = [one for one in played.of("run") if one["state"] == "finished"]
    assert [one["require_healthy"] for one in ended] == [False, False, True]


def test_hops_are_applied_once_if_the_first_is_planned_again(plays: Plays) -> None:
    answers = {
        "plan": [planned("2.10", "2.11"), planned("2.10", "2.11"), planned("2.11")],
        "run started": [OUTDATED, begun("first"), begun("second")],
    }
    played = plays.play(answers, "-e", "kyma_release=2.11", "-e", "kyma_hops=auto").succeeded()
    assert [args["release"] for args in played.of("component")] == ["2.10", "2.11"]
    assert len(played.of("plan")) == 3


def test_planning_a_later_hop_again_plans_only_that_hop(plays: Plays) -> None:
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


def test_a_repeated_plan_without_changes_records_its_observations(plays: Plays) -> None:
    seen = planned("2.11", needed=False)
    seen["plan"]["noted"] = {"logging": ["something"]}
    played = plays.play({"plan": [planned("2.11"), seen], "run started": [OUTDATED]}).succeeded()
    assert [one.get("state") for one in played.of("run")] == ["started", "noted"]


@pytest.mark.parametrize(
    ("installed", "options", "states"),
    [
        ("", ["-e", '{"__kyma_adopt": true, "__kyma_rollout": true}'], ["noted"]),
        ("9f86", ["-e", '{"__kyma_adopt": true, "__kyma_rollout": true}'], []),
        ("", ["-e", '{"__kyma_adopt": true, "__kyma_rollout": true}', "--check"], []),
        ("", [], []),
    ],
    ids=["unknown", "known", "checked", "without a rollout"],
)
def test_only_a_rollout_adopts_a_release_that_the_cluster_has_already(
    installed: str, options: list[str], states: list[str], plays: Plays
) -> None:
    unchanged = planned("2.11", needed=False, release_digest="9f86")
    unchanged["rollout"] = {"release_digest": "9f86", "installed_digest": installed}
    played = plays.play({"plan": [unchanged]}, *options).succeeded()
    assert [one["state"] for one in played.of("run")] == states
    assert all(one["adopt"] for one in played.of("run"))
    assert [one["rollout"] for one in played.of("plan")] == [bool(options)]


def test_a_blocker_of_a_repeated_run_is_the_only_failure(plays: Plays) -> None:
    held = {"failed": True, "msg": "the cluster is held"}
    played = plays.play({"plan": [planned("2.11"), planned("2.11")], "run started": [OUTDATED, held]})
    assert played.status
    assert "the cluster is held" in played.text
    assert played.text.count("fatal: ") == 1, played.text


UNNEEDED = {"plan": {**planned("2.11")["plan"], "needed": False, "noted": {"a": 1}}}
FAILING = {"failures": ["component shop: no room"], "msg": "Kyma is not deployed:\n- shop"}


@pytest.mark.parametrize(
    ("answers", "done"),
    [
        ({"plan": [planned("2.11") | FAILING]}, ["plan"]),
        ({"plan": [planned("2.11")], "run started": [begun("r") | FAILING | {"run": ""}]}, ["plan", "run"]),
        (
            {"plan": [planned("2.11")], "run started": [begun("r")], "run finished": [FAILING]},
            ["plan", "run", "component", "run"],
        ),
        (
            {
                "plan": [planned("2.10", "2.11"), planned("2.11") | FAILING],
                "run started": [begun("r")],
            },
            ["plan", "run", "component", "run", "plan"],
        ),
        ({"plan": [UNNEEDED], "run noted": [FAILING]}, ["plan", "run"]),
    ],
)
def test_a_step_that_failed_with_a_plan_fails_the_host_by_a_task_without_it(
    plays: Plays, answers: dict[str, Any], done: list[str]
) -> None:
    # The real tasks return such results, because Ansible prints all of a result that has failed.
    played = plays.play(answers)
    assert played.status
    assert [module for module, *_more in played.calls] == done
    [fatal] = [line for line in played.text.splitlines() if line.startswith("fatal: ")]
    assert "Kyma is not deployed" in fatal
    assert "plan" not in fatal


def test_a_run_that_does_not_begin_leaves_its_own_result(plays: Plays) -> None:
    answers = {"plan": [planned("2.11")], "run started": [begun("") | FAILING]}
    role = {"ansible.builtin.import_role": {"name": "kyma.lifecycle.kyma", "rolespec_validate": False}}
    shown = {"ansible.builtin.debug": {"var": "kyma_result.failures"}}
    played = plays.play_tasks({"localhost": answers}, [{"block": [role], "always": [shown]}])
    assert played.status
    assert re.search(r'"kyma_result.failures": \[\s+"component shop: no room"', played.text), played.text


def test_a_run_that_fails_after_a_takeover_fails_the_host_once(plays: Plays) -> None:
    played = plays.play(
        {
            "plan": [planned("2.11"), planned("2.11")],
            "run started": [OUTDATED, begun("r")],
            "run finished": [FAILING],
        }
    )
    assert played.status
    assert played.text.count("fatal: ") == 1, played.text


@pytest.mark.parametrize(("options", "keywords"), [(["--check"], {}), ([], {"check_mode": True})])
def test_check_mode_ends_after_the_plan_however_it_was_asked_for(
    plays: Plays, options: list[str], keywords: dict[str, Any]
) -> None:
    played = plays.play({"plan": [planned("2.10", "2.11")]}, *options, **keywords).succeeded()
    assert [module for module, *_more in played.calls] == ["plan"]


def test_a_task_with_check_mode_false_is_applied_during_a_check(plays: Plays) -> None:
    answers = {"plan": [planned("2.11")], "run started": [begun("first")]}
    played = plays.play(answers, "--check", check_mode=False).succeeded()
    assert [module for module, *_more in played.calls] == ["plan", "run", "component", "run"]
