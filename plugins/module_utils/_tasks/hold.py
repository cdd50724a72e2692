# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``hold``: holds a cluster, so that nothing is deployed to it, or ends that hold."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import API_VERSION, Object
from .._cluster.errors import Forbidden
from .._cluster.own_objects import HOLDER
from .._errors import LifecycleError
from .._objects.apply.diff import diff_of
from .._runs.records.cluster_hold import Hold, new_hold
from .._runs.records.definitions import install_definitions
from .._runs.records.hold_records import HOLD, HOLD_KIND, HOLD_NAME, read_hold, write_hold
from .._runs.records.installation import Installation
from .._runs.records.record_writer import current_user
from .shared.record_kinds import RECORD_KINDS

PRESENT, ABSENT = "present", "absent"


def hold(task: Task) -> Result:
    """Hold the cluster, or end the hold."""
    try:
        return _end_hold(task) if task.params["state"] == ABSENT else _hold_cluster(task)
    except Forbidden as refusal:
        raise LifecycleError(f"{refusal}. The ClusterRole {HOLDER} grants the rights on holds.") from refusal


def _hold_cluster(task: Task) -> Result:
    now = datetime.now(UTC)
    before = read_hold(task.cluster)
    after = new_hold(current_user(), task.params["reason"], task.params["until"], now)
    if before and before.is_in_force(now) and (before.reason, before.until) == (after.reason, after.until):
        return _result(task, before, before)
    if not task.check_mode:
        # Those who may hold a cluster need not be allowed to install anything.
        if task.cluster.resource(API_VERSION, HOLD_KIND) is None:
            install_definitions(task.cluster, Installation(), RECORD_KINDS)
        write_hold(task.cluster, after)
    return _result(task, before, after)


def _end_hold(task: Task) -> Result:
    before = read_hold(task.cluster)
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
        result["diff"] = diff_of(_record(before), _record(after))
    return result


def _record(held: Hold | None) -> Object:
    """The record of a hold without empty fields; one without a spec if the cluster is not held."""
    if held is None:
        return {"apiVersion": API_VERSION, "kind": HOLD_KIND, "metadata": {"name": HOLD_NAME}}
    record = HOLD.object_of(held, is_compact=False)
    return {**record, "spec": {key: value for key, value in record["spec"].items() if value}}


DEFINITION = TaskDefinition(
    function=hold,
    argument_spec={
        "state": {"type": "str", "choices": [PRESENT, ABSENT], "default": PRESENT},
        "reason": {"type": "str"},
        "until": {"type": "str", "default": ""},
    },
    required_if=[("state", PRESENT, ("reason",))],
)
