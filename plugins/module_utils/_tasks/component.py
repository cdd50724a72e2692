# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``component``: deploy, prune or delete components, with their migrations before and after."""

from __future__ import annotations

from .._carrier.task import Result, Task, TaskDefinition
from .._components.migrations.migration_options import MigrationOptions
from .._deploy.component_options import ComponentOptions
from .._deploy.delete.deletion import delete_components
from .._deploy.delete.planned_deletion import EVERYTHING
from .._deploy.run.deployment import deploy_components
from .._deploy.run.prune_run import prune_components
from .._runs.records.modules import read_module_records
from .shared.option_values import work_options
from .shared.record_kinds import RECORD_KINDS
from .shared.shared_options import CHANGE_PROFILE, DEPLOY_SPEC, PRUNE_ALLOW, WORK_SPEC


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


def delete(task: Task, options: ComponentOptions) -> Result:
    """Delete components; to delete them all, delete the modules first, each with its checks."""
    if EVERYTHING not in options.names:
        return delete_components(task, options, RECORD_KINDS)
    modules = _delete_modules(task, options)
    if modules.get("failed"):
        return modules
    result = delete_components(task, options, RECORD_KINDS)
    if not modules:
        return result
    return {
        **result,
        "changed": result["changed"] or modules["changed"],
        "modules": modules["modules"],
        "warnings": [*modules["warnings"], *result["warnings"]],
        "summary": [*modules["summary"], *result["summary"]],
        **({"diff": [*modules["diff"], *result["diff"]]} if "diff" in result else {}),
    }


def _delete_modules(task: Task, options: ComponentOptions) -> Result:
    """Delete all managed modules; an empty result if there are none."""
    if not any(record.is_managed for record in read_module_records(task.cluster).values()):
        return {}
    # Imported here, because most clusters have no modules.
    from .._module_lifecycle.module_request import ModulesRequest
    from .._module_lifecycle.module_run import manage_modules

    request = ModulesRequest(
        (),
        is_whole_list=True,
        removes_all=True,
        migrations=MigrationOptions(grace=options.grace),
        timeout=options.timeout if options.modules_timeout is None else float(options.modules_timeout),
        workers=options.workers,
        grace=options.grace,
        deadline=options.deadline,
    )
    return manage_modules(task, request, RECORD_KINDS)


DEFINITION = TaskDefinition(
    function=component,
    argument_spec={
        **DEPLOY_SPEC,
        **WORK_SPEC,
        **PRUNE_ALLOW,
        **CHANGE_PROFILE,
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
