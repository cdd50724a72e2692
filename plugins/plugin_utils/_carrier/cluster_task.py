# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of a deployment, whose results have all keys of ``kyma_result`` in any case, and when they fail."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ansible.errors import AnsibleActionSkip
from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._carrier.task import Result
from ...module_utils._carrier.task_call import failed_result
from ...module_utils._result_codec import from_result, to_result
from ...module_utils._runs.cluster_result import complete_result
from ...module_utils._runs.cluster_state import OUT_STATES, Hop, attempt_of_result
from ...module_utils._runs.hop_progress import hops_after
from .carrier import Carrier, TaskVars
from .cluster_log import CLUSTER_LOG
from .role_options import is_in_own_role
from .screen.progress_view import PrintedLine
from .task_end import counted_result

LATE_VARIABLE = "__kyma_fails_late"
"""The variable by which the role kyma says that the playbook fails at its end."""


class ClusterTask(Carrier, ABC):
    """Completes the result of a task, and adds it to the table over all clusters."""

    @abstractmethod
    def is_about_deployment(self) -> bool:
        """Whether the task is a step of a deployment, so that its result has the state of the deployment."""

    @abstractmethod
    def ends_with_playbook(self) -> bool:
        """Whether nothing continues after the end of ``ansible-playbook`` what the task has begun."""

    def hop_number(self) -> int:
        """Which hop of a way over several releases the task plans; 0 for a task of a run."""
        return 0

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See Carrier."""
        if not self.is_about_deployment():
            return super().run(tmp, task_vars)
        if self._task.poll:
            # Ansible would return the result of its poll instead.
            self._task.async_val = 0
        known = task_vars or {}
        try:
            result = super().run(tmp, task_vars)
        except (KeyboardInterrupt, SystemExit, AnsibleActionSkip):
            raise
        except BaseException as error:
            # A defect, or the time limit of the task: Ansible reports it.
            self._log(self._completed(failed_result(f"{type(error).__name__}: {error}"), known), known)
            raise
        completed = self._completed(result, known)
        counted = counted_result(self._task, completed, known)
        if counted.get("failed") and not completed.get("failed"):
            completed = self._completed({**counted, "hops": result.get("hops")}, known)
        self._log(completed, known)
        # Ansible prints all of a failed result. So the next task of the role fails the host.
        fails_later = completed.get("failed") and is_in_own_role(self._task)
        return {**completed, "failed": False} if fails_later else completed

    def _log(self, completed: Result, task_vars: TaskVars) -> None:
        ends = self.ends_with_playbook() and "ansible_job_id" not in completed
        attempt = replace(attempt_of_result(completed), ends_with_playbook=ends)
        hosts = task_vars.get("ansible_play_hosts_all") or ()
        CLUSTER_LOG.write(hosts, attempt, self._task, target=self.target)

    def _completed(self, result: Result, task_vars: TaskVars) -> Result:
        host = str(task_vars.get("inventory_hostname") or "")
        run = str(self._task.args.get("run") or "")
        if run and not result.get("seconds"):
            result = {**result, "seconds": CLUSTER_LOG.seconds_of_run(host)}
        completed = complete_result(result, host, self._plan_option(), run)
        given = [from_result(Hop, one) for one in completed["hops"]]
        hops = hops_after(CLUSTER_LOG.hops_before(host, self._task), given, self.hop_number())
        return {**completed, "hops": to_result(hops)}

    def log_attempt(self, result: Result, task_vars: TaskVars) -> None:
        """See Carrier: the whole result is logged."""
        if not self.is_about_deployment():
            super().log_attempt(result, task_vars)

    def _plan_option(self) -> dict[str, Any]:
        plan = self._task.args.get("plan")
        return plan if isinstance(plan, dict) else {}


class LateFailure(Carrier, ABC):
    """Keeps a host in the play: Ansible begins no further batch after one in which all hosts have failed.

    Attributes:
        late_states: of a cluster for which the task does not fail.
    """

    late_states: ClassVar[Sequence[str]] = OUT_STATES

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See Carrier."""
        known = task_vars or {}
        result = super().run(tmp, task_vars)
        fails_late = self._templar.template(known.get(LATE_VARIABLE, False))
        if result.get("state") not in self.late_states or not boolean(fails_late, strict=False):
            return result
        attempt = attempt_of_result(result)
        self._print([PrintedLine(f"{attempt.state}: {attempt.reason}", is_failure=True)], known)
        return {**result, "failed": False, "unreachable": False}
