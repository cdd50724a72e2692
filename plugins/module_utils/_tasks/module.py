# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``module``: install, upgrade, adopt, give up and delete modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._carrier.module_materials import CLUSTER_CATALOG
from .._carrier.options import ArgumentSpec
from .._carrier.task import Result, Task, TaskDefinition
from .._errors import LifecycleError
from .._module_lifecycle.module_request import ModuleRequest, ModulesRequest
from .._module_lifecycle.module_run import manage_modules
from .._runs.records.modules import ABSENT, CREATE_AND_DELETE, IGNORE, MANAGED, UNMANAGED
from .shared.module_catalog_options import CATALOG_SPEC
from .shared.option_values import work_options
from .shared.record_kinds import RECORD_KINDS
from .shared.shared_options import WORK_SPEC


def module(task: Task) -> Result:
    """Manage one module or several, concurrently."""
    return manage_modules(task, _request(task.params), RECORD_KINDS)


def _request(params: Mapping[str, Any]) -> ModulesRequest:
    """The options of the task as a request."""
    listed = params["modules"]
    is_everything = params["name"] == EVERYTHING
    if is_everything and params["state"] != ABSENT:
        raise LifecycleError(f"the name {EVERYTHING} means all managed modules, and needs state: absent")
    if is_everything:
        listed = []
    elif listed is None:
        listed = [{name: params[name] for name in (*ONE_MODULE, "channel")}]
    if params["exclusive"] and not (listed or is_everything) and not params["allow_empty"]:
        raise LifecycleError(
            "modules (kyma_modules) is an empty list, which removes every managed module. If that is meant,"
            " set allow_empty (kyma_modules_empty=true)"
        )
    return ModulesRequest(
        modules=tuple(_module(one, params["channel"] or "") for one in listed),
        is_whole_list=params["exclusive"] or is_everything,
        removes_all=is_everything,
        reads_cluster_catalog=CLUSTER_CATALOG in params["catalog"],
        labels=params["cluster_labels"],
        maintenance_policy=params["maintenance_policy"],
        image_prefixes=params["image_prefixes"],
        pull_secret=params["pull_secret"] or "",
        publish_namespace=params["publish_namespace"] or "",
        patience=float(params["patience"]),
        wait=params["wait"],
        ignore_removes_operator=params["ignore_removes_operator"],
        is_klm_gone=params["klm_gone"],
        hands_over=params["hand_over"],
        **work_options(params),
    )


def _module(options: Mapping[str, Any], channel: str) -> ModuleRequest:
    version = options.get("version") or ""
    named = options.get("channel") or ("" if version else channel)
    return ModuleRequest(
        name=options["name"],
        state=options.get("state") or MANAGED,
        channel=named or ("" if version else REGULAR),
        version=version,
        policy=options.get("policy") or "",
        configuration=options.get("configuration"),
        manifest=options.get("manifest") or "",
        needs=tuple(options.get("needs") or ()),
        is_default=bool(options.get("default")),
        delete_resources=bool(options.get("delete_resources")),
        running_version=options.get("running_version") or "",
        is_default_channel=not (named or version),
    )


MODULE_SPEC: ArgumentSpec = {
    "version": {"type": "str"},
    "state": {"type": "str", "choices": [MANAGED, UNMANAGED, ABSENT], "default": MANAGED},
    "policy": {"type": "str", "choices": [CREATE_AND_DELETE, IGNORE]},
    "configuration": {"type": "dict"},
    "manifest": {"type": "str"},
    "needs": {"type": "list", "elements": "str", "default": []},
    "default": {"type": "bool", "default": False},
    "delete_resources": {"type": "bool", "default": False},
    "running_version": {"type": "str"},
}
EVERYTHING = "*"
"""The name that means all managed modules, mandatory ones included."""
REGULAR = "regular"
"""The channel of modules for which the user names none."""
ONE_MODULE = ("name", *MODULE_SPEC)
"""The options for one module, without a list."""

DEFINITION = TaskDefinition(
    function=module,
    argument_spec={
        "name": {"type": "str"},
        **MODULE_SPEC,
        "modules": {
            "type": "list",
            "elements": "dict",
            "options": {"name": {"type": "str", "required": True}, "channel": {"type": "str"}, **MODULE_SPEC},
        },
        "channel": {"type": "str"},
        "exclusive": {"type": "bool", "default": False},
        "allow_empty": {"type": "bool", "default": False},
        **CATALOG_SPEC,
        "maintenance_policy": {"type": "dict"},
        "image_prefixes": {"type": "dict", "default": {}},
        "pull_secret": {"type": "str", "no_log": False},
        "publish_namespace": {"type": "str"},
        "patience": {"type": "float", "default": 3600},
        "wait": {"type": "bool", "default": True},
        "ignore_removes_operator": {"type": "bool", "default": False},
        "klm_gone": {"type": "bool", "default": False},
        "hand_over": {"type": "bool", "default": False},
        **WORK_SPEC,
    },
    mutually_exclusive=[("name", "modules")],
    required_one_of=[("name", "modules")],
    needs_migrations=True,
    needs_modules=True,
)
