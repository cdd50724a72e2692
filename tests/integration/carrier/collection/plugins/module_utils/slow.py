# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task function that takes its time."""

from __future__ import annotations

import os
import time
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Task, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError


def work(task: Task) -> dict[str, Any]:
    """Take as many steps as asked for, telling each with the time it was told at."""
    if task.params["defect"]:
        token = task.params["kubeconfig"]["users"][0]["user"]["token"]
        raise ZeroDivisionError(f"a defect with {token.encode()!r} and {token}")
    for step in range(task.params["steps"]):
        if task.cancelled():
            task.progress("slow", "cancelled", f"before step {step}")
            return {"failed": True, "msg": f"cancelled before step {step}"}
        task.progress("slow", f"step {step}", f"at={time.time():.3f} pid={os.getpid()}")
        time.sleep(task.params["pause"])
    if task.params["fail"]:
        raise LifecycleError(task.params["fail"])
    return {
        "changed": task.params["steps"] > 0,
        "steps": task.params["steps"],
        "check": task.check_mode,
        "warnings": ["mind the gap"],
        "durations": [
            {"kind": "component", "name": "slow", "state": "deployed", "seconds": 1.25},
        ],
    }


DEFINITION = TaskDefinition(
    work,
    {
        "steps": {"type": "int", "default": 0},
        "pause": {"type": "float", "default": 0.0},
        "fail": {"type": "str"},
        "defect": {"type": "bool", "default": False},
        "timeout": {"type": "int", "default": 600},
        "names": {"type": "list", "elements": "str", "default": []},
    },
)
