# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``component``: deploy, prune or delete components, with their migrations before and after."""

from __future__ import annotations

from .._carrier.task import Result, Task, TaskDefinition
from .._deploy.component_options import ComponentOptions
from .._deploy.run.deployment import deploy_components
from .._deploy.run.prune_run import prune_components
from .complete_deletion import delete
from .shared.option_values import work_options
from .shared.shared_options import DEPLOY_SPEC, PRUNE_ALLOW, WORK_SPEC


def component(task: Task) -> Result:
    """Work on components; as part of a run, failures are recorded, so that ``run`` fails the host later."""
    params = task.params
    options = ComponentOptions(
        names=tuple(params["names"]),
        run=params["run"] or "",
        modules_timeout=params["modules_timeout"],
        force=params["force"],
        undo_migrations=params["undo_migrations"],
        **work_options(params),
    )
    # Imported only if needed: a deployment mostly needs neither.
    if params["state"] == "absent":
        return delete(task, options)
    if task.check_mode:
        what = "deploy" if params["state"] == "present" else "prune"
        names = ", ".join(options.names)
        return {
            "changed": True,
            "components": [],
            "migrations": [],
            "durations": [],
            "msg": f"would {what} {names}; kyma.lifecycle.plan shows what changes",
        }
    if params["state"] == "pruned":
        return prune_components(task, options)
    return deploy_components(task, options)


DEFINITION = TaskDefinition(
    function=component,
    argument_spec={
        **DEPLOY_SPEC,
        **WORK_SPEC,
        **PRUNE_ALLOW,
        "state": {"type": "str", "choices": ["present", "pruned", "absent"], "default": "present"},
        "force": {"type": "bool", "default": False},
        "undo_migrations": {"type": "bool", "default": False},
        "modules_timeout": {"type": "float"},
        "names": {"type": "list", "elements": "str", "required": True, "aliases": ["name"]},
        "run": {"type": "str"},
    },
    needs_release=True,
    needs_migrations=True,
)
