# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``approval``: approves a release for a ring in one cluster, or withdraws that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.errors import Forbidden
from .._cluster.own_objects import APPROVER
from .._errors import LifecycleError
from .._objects.access.review import user_name
from .._objects.apply.diff import diff_of
from .._result_codec import to_result
from .._runs.records.approvals import (
    APPROVAL,
    Approval,
    approval_record,
    new_approval,
    read_approvals,
)

PRESENT, ABSENT = "present", "absent"


def approval(task: Task) -> Result:
    """Approve a release for a ring, or withdraw its approvals."""
    try:
        return _withdraw(task) if task.params["state"] == ABSENT else _approve(task)
    except Forbidden as refusal:
        raise LifecycleError(f"{refusal}. The ClusterRole {APPROVER} grants this right.") from refusal


def _approve(task: Task) -> Result:
    now = datetime.now(UTC)
    requested = new_approval(task.params, user_name(task.cluster), now)
    if task.cluster.resource(*APPROVAL.address) is None:
        raise LifecycleError(
            f"ring {requested.ring} is not approved: the cluster has no definition of approvals. The next"
            " deployment installs it. An administrator can apply roles/kyma/files/definitions of this"
            " collection."
        )
    approvals = [one for one in read_approvals(task.cluster) if one.ring == requested.ring]
    in_force = (one for one in approvals if one.is_in_force(now))
    current = next((one for one in in_force if _content(one) == _content(requested)), None)
    created = requested
    if current is None and not task.check_mode:
        # Before the others are deleted, so that a failure leaves the ring approved as it was.
        created = APPROVAL.read(task.cluster.create(approval_record(requested)))
    removed, stopped = _delete(task, [one for one in approvals if one is not current])
    return _result(task, current or created, removed, is_new=current is None) | stopped


def _withdraw(task: Task) -> Result:
    ring, digest = task.params["ring"], task.params["release_digest"]
    if task.cluster.resource(*APPROVAL.address) is None:
        return _result(task, None, [])
    approvals = [one for one in read_approvals(task.cluster) if one.ring == ring]
    removed, stopped = _delete(task, [one for one in approvals if digest in ("", one.release_digest)])
    return _result(task, None, removed) | stopped


def _content(approval: Approval) -> tuple[str, ...]:
    """What two approvals have in common if the second one need not be written, whoever gives it."""
    return approval.release_digest, approval.reason, approval.until


def _delete(task: Task, approvals: Sequence[Approval]) -> tuple[list[Approval], Result]:
    """Delete approvals; returns the deleted ones, and what a result has if this was stopped."""

    def delete(approval: Approval) -> Approval:
        if not task.check_mode:
            task.cluster.delete(*APPROVAL.address, approval.name)
        return approval

    batch = task.batch(f"ring {task.params['ring']}", "withdrawing", "approvals")
    deleted = batch.map(delete, approvals, name=lambda one: one.name, threads=1)
    return [one for one in deleted if one], batch.stopped()


def _result(
    task: Task, after: Approval | None, removed: Sequence[Approval], *, is_new: bool = False
) -> Result:
    message = str(after or f"ring {task.params['ring']} is not approved")
    if removed and not after:
        message = f"withdrawn: {removed[-1]}"
    result: Result = {
        "changed": is_new or bool(removed),
        "approval": to_result(after) if after else None,
        "removed": to_result(removed),
        "msg": message,
    }
    if task.diff:
        new = [diff_of(None, approval_record(after))] if after and is_new else []
        result["diff"] = [*new, *(diff_of(approval_record(one), None) for one in removed)]
    return result


DEFINITION = TaskDefinition(
    function=approval,
    argument_spec={
        "state": {"type": "str", "choices": [PRESENT, ABSENT], "default": PRESENT},
        "ring": {"type": "str", "required": True},
        "release_digest": {"type": "str", "default": ""},
        "reason": {"type": "str", "default": ""},
        "until": {"type": "str", "default": ""},
        "by": {"type": "str", "default": ""},
        "clusters": {"type": "list", "elements": "str", "default": []},
    },
)
