# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run``: begin, end or cancel a run, and hold a cluster or release it."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, Task, TaskDefinition

from .record_kinds import record_kinds
from .shared_options import LEASE_SPEC, POLICY_SPEC


def run(task: Task) -> Result:
    """Begin, end or cancel a run, hold or release the cluster, or note what a plan without a run has seen."""
    # Each is imported only where it is wanted, as Ansible does everything in a process of its own.
    state = task.params["state"]
    if state in ("held", "released"):
        from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.hold_request import (
            hold_cluster,
            release_cluster,
        )

        return hold_cluster(task, record_kinds()) if state == "held" else release_cluster(task)
    if state == "cancelled":
        from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cancel_request import cancel_run

        return cancel_run(task)
    if task.check_mode:
        return _rehearsed(state, task.params["run"] or "")
    if state == "noted":
        from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run.plan_observations import (
            record_plan_observations,
        )

        return record_plan_observations(task, record_kinds())
    if state == "started":
        from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run.run_start import start_run

        return start_run(task, record_kinds())
    from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run.run_end import end_run

    return end_run(task)


def _rehearsed(state: str, name: str) -> Result:
    """What check mode answers with: the same as else, so that the tasks after it can go on."""
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
            "choices": ["started", "finished", "noted", "cancelled", "held", "released"],
            "required": True,
        },
        "reason": {"type": "str", "default": ""},
        "until": {"type": "str", "default": ""},
        "plan": {"type": "dict"},
        "run": {"type": "str"},
        "deadline": {"type": "float", "default": 0},
        "outlives_playbook": {"type": "bool", "default": False},
        "end": {"type": "bool", "default": False},
        "nobody_at_work": {"type": "bool", "default": False},
        "interactive_managers": POLICY_SPEC["interactive_managers"],
        **LEASE_SPEC,
    },
    required_if=[
        ("state", "started", ("plan",)),
        ("state", "noted", ("plan",)),
        ("state", "finished", ("run",)),
    ],
)
