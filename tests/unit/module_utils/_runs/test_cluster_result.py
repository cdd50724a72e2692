# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_result import complete_result

from tests.support.result_schema import check_result, schema_problems

TOOK = {
    "seconds": 0.5,
    "started_at": "2026-11-21T13:18:54.000Z",
    "finished_at": "2026-11-21T13:18:54.500Z",
}
PLAN = {"version": "2.10", "previous": "2.9", "needed": True, "duration": TOOK}


@pytest.mark.parametrize(
    ("result", "plan", "state"),
    [
        ({"changed": True, "plan": PLAN}, {}, "planned"),
        ({"changed": False, "plan": {**PLAN, "needed": False}}, {}, "unchanged"),
        ({"changed": True, "state": "running", "run": "r"}, PLAN, "running"),
        ({"changed": False, "run": "", "outdated": True}, PLAN, "planned"),
        ({"changed": False, "failed": True, "msg": "no such option"}, {}, "failed"),
        ({"changed": False, "failed": True, "msg": "held", "state": "held"}, PLAN, "held"),
        ({"changed": False, "failed": True, "msg": "a blocker", "state": "refused"}, {}, "refused"),
        ({"changed": False, "unreachable": True, "msg": "ssh"}, {}, "unreachable"),
        ({"changed": False, "failed": True}, {}, "failed"),
    ],
)
def test_every_result_has_the_schema(result: dict[str, Any], plan: dict[str, Any], state: str) -> None:
    completed = complete_result(result, "staging", plan)
    assert schema_problems(completed) == []
    assert (completed["cluster"], completed["state"]) == ("staging", state)


def test_the_result_of_a_task_that_applies_a_plan_has_its_release_and_its_duration() -> None:
    completed = complete_result(
        {"changed": False, "failed": True, "msg": "no answer"}, "staging", PLAN, "r-1"
    )
    assert (completed["previous"], completed["version"], completed["run"]) == ("2.9", "2.10", "r-1")
    assert [(row["kind"], row["seconds"]) for row in completed["durations"]] == [("plan", 0.5)]
    assert completed["failures"] == ["no answer"]


def test_a_task_that_did_not_end_has_the_seconds_so_far() -> None:
    failed = {"changed": False, "failed": True, "msg": "no answer", "seconds": 4.0}
    completed = complete_result(failed, "staging", PLAN, "r-1")
    assert completed["seconds"] == 4.0
    check_result(completed)


def test_values_that_a_task_returns_itself_stay_unchanged() -> None:
    own = {"changed": True, "plan": PLAN, "seconds": 7.0, "state": "succeeded", "summary": ["a line"]}
    completed = complete_result(own, "staging", {})
    assert (completed["seconds"], completed["state"], completed["summary"]) == (7.0, "succeeded", ["a line"])
