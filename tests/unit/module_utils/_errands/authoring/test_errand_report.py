# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of errands and their runs, and which run is followed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.errand_report import (
    errand_report,
    errand_run_report,
    log_command,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.authoring.requested_run import (
    run_to_follow,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    ErrandKey,
    ErrandPhase,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.modules import errand_info

OUTCOME = {
    "succeeded": False,
    "reason": "ContainerFailed",
    "message": "container main failed",
    "exitCode": 3,
    "started": "2026-11-25T00:00:00Z",
    "finished": "2026-11-25T00:00:07Z",
}


def errand(strategy: str = "manual", **status: Any) -> Object:
    return {
        "metadata": {"namespace": "shop", "name": "backup", "generation": 1},
        "spec": {"trigger": {"strategy": strategy}, "template": {}},
        "status": status,
    }


def run(number: int, outcome: Mapping[str, Any] | None = None, **more: Any) -> Object:
    return {"number": number, "reason": "Requested", "job": f"backup-{number}", "outcome": outcome, **more}


def test_a_report_has_what_the_documentation_says() -> None:
    contains = yaml.safe_load(errand_info.RETURN)["errands"]["contains"]
    conditions = [{"type": "Accepted", "status": "True", "reason": "Valid", "message": "", "other": 1}]
    entry = {"run": 6, **OUTCOME, "why": "Once", "secrets": ["a"]}
    report = errand_report(
        errand_from(errand(run=run(7), phase="Running", history=[entry], conditions=conditions))
    )
    assert report.keys() == contains.keys()
    assert report["run"].keys() == contains["run"]["contains"].keys()
    assert report["history"][0].keys() == contains["history"]["contains"].keys()
    assert report["conditions"][0].keys() == contains["conditions"]["contains"].keys()
    assert {f"V({phase})" for phase in ErrandPhase} <= set(
        contains["phase"]["description"][0].replace(" or", ",").replace(".", "").split(", ")
    )


def test_a_run_is_found_whether_it_goes_on_or_is_history() -> None:
    history = [{"run": 5, **OUTCOME, "why": "Once", "secrets": ["a"]}]
    current = errand_from(errand(run=run(7), history=history))
    assert (errand_run_report(current, 7)["state"], errand_run_report(current, 7)["seconds"]) == (
        "running",
        None,
    )
    ended = errand_run_report(current, 5)
    assert (ended["state"], ended["outcome"], ended["exit_code"]) == ("failed", "ContainerFailed", 3)
    assert (ended["seconds"], ended["trigger"], ended["secrets"]) == (7.0, "Once", ["a"])
    assert errand_run_report(current, 8)["state"] == "running"
    assert errand_run_report(current, 4)["state"] == "unknown"


@pytest.mark.parametrize(
    ("obj", "is_requested", "number"),
    [
        (errand(), False, 0),
        (errand(), True, 1),
        (errand(run=run(3, OUTCOME)), False, 3),
        (errand(run=run(3, OUTCOME)), True, 4),
        # The one that goes on was noted before the request.
        (errand(run=run(3)), True, 4),
        (errand("once"), False, 1),
        (errand("once", run=run(2, OUTCOME), onceDigest="other"), False, 3),
        (errand("done", run=run(2, OUTCOME)), False, 2),
    ],
)
def test_the_run_that_answers(obj: Object, is_requested: bool, number: int) -> None:
    assert run_to_follow(errand_from(obj), is_requested=is_requested) == number


def test_the_way_to_the_log_names_the_pods_of_one_run() -> None:
    command = log_command(ErrandKey("shop", "backup"), 7)
    assert "--namespace shop" in command
    assert "lifecycle.kyma-project.io/errand=backup,lifecycle.kyma-project.io/run=7" in command
    longest = log_command(ErrandKey("shop", "b" * 200), 7)
    assert "b" * 64 not in longest
