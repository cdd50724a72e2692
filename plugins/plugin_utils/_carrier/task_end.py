# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Ansible counts the end of a task, by the keywords of the task and of its blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible.playbook.block import Block
from ansible.playbook.task import Task

from ...module_utils._carrier.task import Result

CONDITION = "the task counts as failed by its failed_when or until"


def counted_result(task: Task, result: Result, variables: Mapping[str, Any]) -> Result:
    """The result of a task, failed or not as Ansible counts it.

    Args:
        task: whose ``failed_when`` and ``until`` Ansible evaluates after this.
        result: as the action plugin returns it.
        variables: of the task.
    """
    if not (task.failed_when or task.until):
        return result
    names = [task.register] if isinstance(task.register, str) else list(task.register or ())
    registered = {"failed": False, "changed": False, **result}
    known = {**variables, **dict.fromkeys(names, registered)}
    failed = bool(registered["failed"])
    try:
        if task.failed_when:
            registered["failed"] = failed = task._resolve_conditional(task.failed_when, known)
        failed = failed or not task._resolve_conditional(task.until, known)
    except AnsibleError:
        failed = True
    return {"msg": CONDITION, **result, "failed": True} if failed else {**result, "failed": False}


def ends_play(task: Task, result: Result) -> bool:
    """Whether a task ends the play for its host.

    Args:
        task: that has ended.
        result: as Ansible counts it.
    """
    if result.get("unreachable"):
        return not task.ignore_unreachable
    return bool(result.get("failed")) and not (task.ignore_errors or _is_rescued(task))


def _is_rescued(task: Task) -> bool:
    """Whether a block around a task has a rescue for it."""
    part, parent = task, task._parent
    while parent:
        if isinstance(parent, Block) and parent.rescue and part._uuid in {one._uuid for one in parent.block}:
            return True
        part, parent = parent, parent._parent
    return False
