# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``run`` with ``state=noted``: record the observations of a plan without a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..._carrier.task import Result, Task
from ..._cluster.cluster import Cluster
from ..._errors import LifecycleError
from ..._runs.lease.lease_session import acquire_lease, fence_warning, hold_lease, read_lease_state
from ..._runs.records.definitions import RecordKinds, are_installed, install_definitions
from ..._runs.records.installation import basis_in, read_installation, write_installation
from ..._runs.records.inventories import read_inventories
from ..._runs.records.record_rights import records_rights
from ..._runs.records.runs import new_run_name
from ..._text import counted
from ..observations import record_observations


def record_plan_observations(task: Task, kinds: RecordKinds, plan: Mapping[str, Any]) -> Result:
    """Record what a plan without work has observed: no object changes, so this is no change.

    Args:
        task: that records it. Its option ``adopt`` says whether the cluster counts as deployed with the
            release of the plan from now on; that is recorded under the lease.
        kinds: of the records that the cluster is to have.
        plan: the result of the task ``plan``.

    Raises:
        LifecycleError: the release can't be adopted, or another process holds the lease.
    """
    if not task.params["adopt"]:
        return _recorded(task.cluster, kinds, plan)
    if plan["needed"] or plan["alone"] or not plan["release_digest"]:
        raise LifecycleError(
            f"Kyma {plan['version']} can't be adopted: only a plan of the whole release, made for a rollout"
            " and without anything to do, says that the cluster has it. Run the playbook again"
        )
    installed = are_installed(task.cluster, read_installation(task.cluster), kinds)
    needed = records_rights(kinds, are_installed=installed)
    acquired = acquire_lease(task, new_run_name(), needed, read_lease_state(task))
    with hold_lease(task, acquired, warning=fence_warning(acquired.fence)) as working_task:
        return _recorded(working_task.cluster, kinds, plan, adopted=plan["release_digest"])


def _recorded(cluster: Cluster, kinds: RecordKinds, plan: Mapping[str, Any], adopted: str = "") -> Result:
    """Write the inventories again, and in the installation which release was adopted, if one was."""
    installation = read_installation(cluster)
    inventories = read_inventories(cluster)
    if basis_in(cluster, installation, inventories.values()) != plan["basis"]:
        return {
            "changed": False,
            "msg": "another deployment has begun since the plan was made",
        }
    install_definitions(cluster, installation, kinds)
    objects = counted(record_observations(cluster, plan, inventories), "object")
    message = f"{objects} as deployed; the fields of others are recorded"
    if adopted and adopted != installation.release_digest:
        since = cluster.server_time()
        known = replace(installation, definitions=kinds.hash, release_digest=adopted, release_since=since)
        write_installation(cluster, known, seen=installation)
        message = f"Kyma {plan['version']} adopted: the cluster has its release since {since}"
    return {"changed": False, "msg": message}
