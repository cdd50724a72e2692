# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.plan in Ansible's own process if possible. Plans are stored on the controller."""

from __future__ import annotations

from ..module_utils._carrier.task import ControllerNotes, Result
from ..module_utils._carrier.task_call import failed_result
from ..module_utils._runs.outcomes import NOT_STARTED
from ..module_utils._tasks.plan import DEFINITION
from ..plugin_utils._carrier.arguments import Arguments
from ..plugin_utils._carrier.carrier import TaskVars
from ..plugin_utils._carrier.cluster_task import ClusterTask
from ..plugin_utils._carrier.direct_carrier import DirectCarrier
from ..plugin_utils._carrier.materials import NoRelease
from ..plugin_utils._carrier.play_batches import host_turn
from ..plugin_utils._plan_file.plan_task import PlanFileTask

HOP_OPTIONS = ("release", "release_checksum", "release_version", "profile")
"""The options that the tasks of one hop need to find its release."""


class ActionModule(ClusterTask, DirectCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
    checks_variables = True

    def is_about_deployment(self) -> bool:
        """See ClusterTask."""
        return True

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier."""
        limit = arguments.params["max_fail_percentage"]
        turn = host_turn(self._task.get_play(), task_vars, limit, self._templar.template)
        if refusal := turn.refusal():
            return {**failed_result(refusal), "state": NOT_STARTED}
        result = self._planned_or_stored(arguments, task_vars)
        if result.get("changed"):
            result["warnings"] = [*result.get("warnings", ()), *turn.warnings()]
        return result

    def _planned_or_stored(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        if arguments.params["plan_digest"] and not arguments.params["plan"]:
            return failed_result(
                "plan_digest says which plan was approved, and no plan is given: set plan too"
            )
        if not (arguments.params["plan"] or arguments.params["plan_out"]):
            return self._planned(arguments, task_vars)
        if self._task.async_val:
            return failed_result("plan and plan_out need the answer of the task, so it can't be an async one")
        keeping = PlanFileTask(
            self._task.args,
            self._task.action,
            self._places(task_vars),
            decrypted=self._loader.get_real_file,
            code=lambda params: self.materials(params, task_vars).migrations_archive(),
        )
        return keeping.carry(arguments, lambda completed: self._planned(completed, task_vars))

    def _planned(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        if not arguments.params["release"]:
            raise NoRelease
        return super().carry(arguments, task_vars)

    def notes(self, arguments: Arguments) -> ControllerNotes:
        """See Carrier: the module does not get the options of a release that is rendered already."""
        requested = {name: arguments.params[name] or "" for name in HOP_OPTIONS}
        requested["release"] = self.url_logins.hide(requested["release"], requested["release_checksum"])
        return ControllerNotes(requested, tuple(arguments.bad_numbers.values()))

    def refusal(self, arguments: Arguments) -> str:
        """See Carrier: the plan reports bad numbers together with all other obstacles."""
        return arguments.problem
