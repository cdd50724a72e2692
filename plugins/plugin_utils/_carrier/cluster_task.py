# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task of a deployment, whose result has all keys of ``kyma_result`` in any case."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from ...module_utils._carrier.task import Result
from ...module_utils._runs.cluster_result import complete_result
from ...module_utils._runs.cluster_state import attempt_of_result
from .carrier import Carrier, TaskVars
from .cluster_log import CLUSTER_LOG


class ClusterTask(Carrier, ABC):
    """Completes the result of a task, and adds it to the table over all clusters."""

    @abstractmethod
    def is_about_deployment(self) -> bool:
        """Whether the task is a step of a deployment, so that its result has the state of the deployment."""

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See Carrier."""
        if not self.is_about_deployment():
            return super().run(tmp, task_vars)
        result = super().run(tmp, task_vars)
        known = task_vars or {}
        completed = complete_result(
            result,
            str(known.get("inventory_hostname") or ""),
            self._plan_option(),
            str(self._task.args.get("run") or ""),
        )
        CLUSTER_LOG.write(known.get("ansible_play_hosts_all") or (), attempt_of_result(completed))
        return completed

    def log_attempt(self, result: Result, task_vars: TaskVars) -> None:
        """See Carrier: the whole result is logged."""
        if not self.is_about_deployment():
            super().log_attempt(result, task_vars)

    def _plan_option(self) -> dict[str, Any]:
        plan = self._task.args.get("plan")
        return plan if isinstance(plan, dict) else {}
