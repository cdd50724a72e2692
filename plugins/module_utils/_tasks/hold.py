# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``hold``: holds a cluster, so that nothing is deployed to it, or ends that hold."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Object
from .._objects.apply.diff import diff_of
from .._runs.records.cluster_hold import Hold, new_hold
from .._runs.records.definitions import install_definitions
from .._runs.records.installation import INSTALLATION_NAME, read_installation, write_hold
from .._runs.records.record_schema import API_VERSION
from .._runs.records.record_writer import current_user
from .shared.record_kinds import RECORD_KINDS

PRESENT, ABSENT = "present", "absent"


def hold(task: Task) -> Result:
    """Hold the cluster, or end the hold."""
    return _end_hold(task) if task.params["state"] == ABSENT else _hold_cluster(task)


def _hold_cluster(task: Task) -> Result:
    now = datetime.now(UTC)
    installation = read_installation(task.cluster)
    before = installation.hold
    after = new_hold(current_user(), task.params["reason"], task.params["until"], now)
    if before and before.is_in_force(now) and (before.reason, before.until) == (after.reason, after.until):
        return _result(task, before, before)
    if not task.check_mode:
        install_definitions(task.cluster, installation, RECORD_KINDS)
        write_hold(task.cluster, after)
    return _result(task, before, after)


def _end_hold(task: Task) -> Result:
    before = read_installation(task.cluster).hold
    if before and not task.check_mode:
        write_hold(task.cluster, None)
    return _result(task, before, None)


def _result(task: Task, before: Hold | None, after: Hold | None) -> Result:
    message = str(after or "the cluster is not held")
    if before and not after:
        message = f"ended the hold; before, {before}"
    result: Result = {
        "changed": before != after,
        "hold": asdict(after) if after else None,
        "msg": message,
    }
    if task.diff:
        result["diff"] = diff_of(_installation(before), _installation(after))
    return result


def _installation(held: Hold | None) -> Object:
    """The fields of the Installation that this task writes."""
    spec = {"hold": {key: value for key, value in asdict(held).items() if value}} if held else {}
    return {
        "apiVersion": API_VERSION,
        "kind": "Installation",
        "metadata": {"name": INSTALLATION_NAME},
        "spec": spec,
    }


DEFINITION = TaskDefinition(
    function=hold,
    argument_spec={
        "state": {"type": "str", "choices": [PRESENT, ABSENT], "default": PRESENT},
        "reason": {"type": "str"},
        "until": {"type": "str", "default": ""},
    },
    required_if=[("state", PRESENT, ("reason",))],
)
