# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``module_info``: the modules of the catalog, and the installed modules."""

from __future__ import annotations

from .._carrier.module_materials import CLUSTER_CATALOG
from .._carrier.task import Result, Task, TaskDefinition
from .._module_lifecycle.module_report import report_modules
from .._module_lifecycle.module_request import ModulesRequest
from .shared.module_catalog_options import CATALOG_SPEC


def module_info(task: Task) -> Result:
    """Read the catalog and the modules."""
    params = task.params
    request = ModulesRequest(
        (), reads_cluster_catalog=CLUSTER_CATALOG in params["catalog"], labels=params["cluster_labels"]
    )
    return {"changed": False, **report_modules(task, request, params["names"])}


DEFINITION = TaskDefinition(
    function=module_info,
    argument_spec={
        "names": {"type": "list", "elements": "str", "default": [], "aliases": ["name"]},
        **CATALOG_SPEC,
    },
    needs_modules=True,
)
