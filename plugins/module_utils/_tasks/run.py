# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run``: begin, end or cancel a run."""

from __future__ import annotations

from .._carrier.task import Result, Task, TaskDefinition
from .._deploy.run.plan_observations import record_plan_observations
from .._deploy.run.run_end import end_run
from .._deploy.run.run_start import start_run
from .._runs.cancel_request import CancelRequest, cancel_run
from .shared.record_kinds import RECORD_KINDS
from .shared.shared_options import HEALTH_SPEC, LEASE_SPEC, PACE_SPEC, POLICY_SPEC


def run(task: Task) -> Result:
    """Begin, end or cancel a run, or record the observations of a plan without a run."""
    params = task.params
    state = params["state"]
    if state == "cancelled":
        request = CancelRequest(
            run=params["run"] or "",
            reason=params["reason"],
            end=params["end"],
            release_lease=params["nobody_at_work"],
        )
        return cancel_run(task, request)
    if task.check_mode:
        return _rehearsed(state, params["run"] or "")
    if state == "noted":
        return record_plan_observations(task, RECORD_KINDS, params["plan"])
    if state == "started":
        return start_run(task, RECORD_KINDS, params["plan"])
    return end_run(task)


def _rehearsed(state: str, name: str) -> Result:
    """The result in check mode: the same keys as usual, so that later tasks can continue."""
    own: dict[str, Result] = {
        "started": {"outdated": False, "advisory": ""},
        "finished": {"state": "", "seconds": 0.0, "durations": [], "failures": [], "summary": []},
    }
    message = "nothing is recorded in check mode"
    return {"changed": state != "noted", "run": name, **own.get(state, {}), "msg": message}


DEFINITION = TaskDefinition(
    function=run,
    argument_spec={
        "state": {
            "type": "str",
            "choices": ["started", "finished", "noted", "cancelled"],
            "required": True,
        },
        "reason": {"type": "str", "default": ""},
        "plan": {"type": "dict"},
        "run": {"type": "str"},
        "deadline": PACE_SPEC["deadline"],
        "outlives_playbook": {"type": "bool", "default": False},
        "adopt": {"type": "bool", "default": False},
        "rollout": {
            "type": "dict",
            "options": {
                "ring": {"type": "str", "required": True},
                "release_digest": {"type": "str", "required": True},
            },
        },
        "end": {"type": "bool", "default": False},
        "nobody_at_work": {"type": "bool", "default": False},
        "interactive_managers": POLICY_SPEC["interactive_managers"],
        **HEALTH_SPEC,
        **LEASE_SPEC,
    },
    required_if=[
        ("state", "started", ("plan",)),
        ("state", "noted", ("plan",)),
        ("state", "finished", ("run",)),
    ],
)
