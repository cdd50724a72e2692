# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run`` with ``state=noted``: remember what a plan without a run has seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, Task
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.observations import (
    record_observations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.definitions import (
    RecordKinds,
    install_definitions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    basis_in,
    read_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories


def record_plan_observations(task: Task, kinds: RecordKinds) -> Result:
    """Write the inventories anew. No object changes, and nothing is left to do: so this is no change."""
    plan: Mapping[str, Any] = task.params["plan"]
    installation = read_installation(task.cluster)
    inventories = read_inventories(task.cluster)
    if basis_in(task.cluster, installation, inventories.values()) != plan["basis"]:
        return {
            "changed": False,
            "msg": "another deployment has begun since the plan was made",
        }
    install_definitions(task.cluster, installation, kinds)
    count = record_observations(task.cluster, plan, inventories)
    return {"changed": False, "msg": f"{count} objects are as they are to be; what others hold is remembered"}
