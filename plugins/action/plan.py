# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs kyma.lifecycle.plan in Ansible's own process if possible. Plans are stored on the controller."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._carrier.task import ControllerNotes, Result
from ..module_utils._carrier.task_call import failed_result
from ..module_utils._runs.cluster_state import OUT_STATES, REFUSED, WAITING
from ..module_utils._runs.outcomes import NOT_STARTED
from ..module_utils._tasks.plan import DEFINITION
from ..plugin_utils._carrier.arguments import Arguments
from ..plugin_utils._carrier.carrier import TaskVars
from ..plugin_utils._carrier.cluster_log import CLUSTER_LOG
from ..plugin_utils._carrier.cluster_task import ClusterTask, LateFailure
from ..plugin_utils._carrier.direct_carrier import DirectCarrier
from ..plugin_utils._carrier.materials import NoRelease
from ..plugin_utils._carrier.play_batches import host_turn
from ..plugin_utils._carrier.role_options import delegate_variables, is_in_own_role

HOP_OPTIONS = ("release", "release_checksum", "release_version")
"""The options that the tasks of one hop need to find its release; the plan adds the profile."""
ROLLOUT = "kyma_rollout"
"""The variable with what was decided about rings in this playbook."""
RINGS, RING_NAMES = "kyma_rings", ("kyma_ring", "kyma_soak", "kyma_approve")
"""The variable with the rings, and how names begin that are variables of rings, or are taken for such."""
GATE_VARIABLES = ("kyma_gate", "kyma_gate_max_age")
"""The variables of the role with a gate that another job has decided."""


class ActionModule(LateFailure, ClusterTask, DirectCarrier):
    """The action plugin of the module of the same name."""

    definition = DEFINITION
    checks_variables = True
    late_states = (*OUT_STATES, WAITING)
    _templar: Any

    def run(self, tmp: str | None = None, task_vars: TaskVars | None = None) -> Result:
        """See Carrier. The plan of a cluster outside of ``--limit`` has all variables of that host."""
        known = task_vars or {}
        if self._task.delegate_to and self._is_set("__kyma_rollout", known):
            known = delegate_variables(known, self._task.delegate_to)
            self._templar = self._templar.copy_with_new_env(available_variables=known)
        return super().run(tmp, known)

    def is_about_deployment(self) -> bool:
        """See ClusterTask."""
        return True

    def hop_number(self) -> int:
        """See ClusterTask."""
        number = str(self._task.args.get("plan_hop") or 1)
        return int(number) if number.isdecimal() else 1

    def ends_with_playbook(self) -> bool:
        """See ClusterTask: the role applies the plan, unless it is stored or only to be seen."""
        is_alone = self._task.check_mode or self._task.args.get("plan_out")
        return is_in_own_role(self._task) and not is_alone

    def carry(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """See Carrier."""
        if refusal := self._turn_refusal(arguments, task_vars):
            return {**failed_result(refusal), "state": WAITING}
        if refusal := self._refusal_without_rings(task_vars):
            return {**failed_result(refusal), "state": REFUSED}
        limit = arguments.params["max_fail_percentage"]
        play = self._task.get_play()
        turn = host_turn(play, task_vars, limit, self._templar.template, CLUSTER_LOG.hosts_out)
        if refusal := turn.refusal():
            return {**failed_result(refusal), "state": NOT_STARTED}
        result = self._planned_by_gate(arguments, task_vars)
        if self._is_in_turn(arguments, task_vars) and (problem := other_release(task_vars, result)):
            return {**failed_result(problem), "state": REFUSED}
        if arguments.params["diff_file"] and not (self._task.async_val or self._task.delegate_to):
            self._write_diff(
                Path(arguments.params["diff_file"]), result, str(task_vars["inventory_hostname"])
            )
        if result.get("changed") and not self._is_set("__kyma_rollout", task_vars):
            result["warnings"] = [*result.get("warnings", ()), *turn.warnings()]
        return result

    def _turn_refusal(self, arguments: Arguments, task_vars: TaskVars) -> str:
        """Why the cluster has to wait for its ring; empty if it may begin."""
        if not self._is_in_turn(arguments, task_vars):
            return ""
        # Imported here, because only rollouts in rings need it.
        from ..plugin_utils._rollout.ring_turn import turn_refusal

        host = str(task_vars["inventory_hostname"])
        states, out = CLUSTER_LOG.states(is_over=False), CLUSTER_LOG.hosts_out()
        return turn_refusal(task_vars[ROLLOUT], host, states, out)

    def _refusal_without_rings(self, task_vars: TaskVars) -> str:
        """Why nothing may begin without rings, although they or their options are set; empty if it may."""
        role = self._task._role if is_in_own_role(self._task) else None
        defaults: Mapping[str, Any] = role.get_default_vars() if role else {}
        start = RING_NAMES if role else RINGS
        options = {
            name: value
            for name, value in task_vars.items()
            if name.startswith(start) and value != defaults.get(name)
        }
        if not options or self._is_set("__kyma_rollout", task_vars):
            return ""
        # Imported here, because only rollouts in rings need it.
        from ..plugin_utils._rollout.fleet_variables import refusal_without_rings

        return refusal_without_rings(options, self._templar.template(options.get(RINGS)))

    def _is_in_turn(self, arguments: Arguments, task_vars: TaskVars) -> bool:
        """Whether a ring is being deployed, and nothing has begun here."""
        is_first = arguments.params["plan_hop"] == 1
        return is_first and ROLLOUT in task_vars and self._is_set("__kyma_adopt", task_vars)

    def _is_set(self, variable: str, task_vars: TaskVars) -> bool:
        return bool(boolean(self._templar.template(task_vars.get(variable, False)), strict=False))

    def _planned_by_gate(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        """Plan, but refuse it if a gate is required that does not let the cluster begin."""
        if not self._is_set("__kyma_is_gated", task_vars):
            return self._planned_or_stored(arguments, task_vars)
        # Imported here, because only jobs of a rollout need it.
        from ..plugin_utils._rollout.passed_gate import PassedGate, plan_by_gate

        verdict, max_age = (self._templar.template(task_vars.get(name)) for name in GATE_VARIABLES)
        gate = PassedGate(verdict, max_age, has_serial="kyma_serial" in task_vars)
        host = str(task_vars["inventory_hostname"])
        return plan_by_gate(lambda: self._planned_or_stored(arguments, task_vars), gate, host)

    def _planned_or_stored(self, arguments: Arguments, task_vars: TaskVars) -> Result:
        if arguments.params["plan_digest"] and not arguments.params["plan"]:
            return failed_result(
                "plan_digest says which plan was approved, and no plan is given: set plan too"
            )
        stored = [name for name in ("plan", "plan_out", "diff_file") if arguments.params[name]]
        if stored and self._task.async_val:
            return failed_result(f"{stored[0]} needs the answer of the task, so it can't be an async one")
        if stored in ([], ["diff_file"]):
            return self._planned(arguments, task_vars)
        # Imported here, because most plans need no file.
        from ..plugin_utils._plan_file.plan_task import PlanFileTask

        keeping = PlanFileTask(
            self._task.args,
            self._task.action,
            self._places(task_vars),
            decrypted=self._loader.get_real_file,
            code=lambda params: self.materials(params, task_vars).migrations_archive(),
        )
        return keeping.carry(arguments, lambda completed: self._planned(completed, task_vars))

    def _write_diff(self, path: Path, result: Result, host: str) -> None:
        # Imported here, because few tasks need it.
        from ..plugin_utils._report.diff_file import write_diffs

        diffs = result.get("diff", ()) if self._task.diff else result.pop("diff", ())
        version = f"Kyma {result['plan']['version']}" if "plan" in result else "no plan"
        write_diffs(path, f"{host}: {version}", diffs)
        CLUSTER_LOG.write_report({"diff": path.absolute()})

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


def other_release(task_vars: TaskVars, result: Result) -> str:
    """Why a plan must not be applied: its release was not decided upon. Empty if it may be."""
    planned = (result.get("rollout") or {}).get("release_digest")
    if not planned or planned == task_vars[ROLLOUT].get("release_digest"):
        return ""
    return (
        "nothing has begun here: the files of the release have changed since the rollout was decided. Run the"
        " playbook again"
    )
