# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``errand``: declares an errand, runs it, and waits for the end of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Object
from .._cluster.errors import ClusterError
from .._custom_resources.installed_kinds import INSTALLATION, DefinitionState
from .._errands.authoring.errand_object import DesiredErrand, ErrandRequest, desired_errand, existing_errand
from .._errands.authoring.errand_preflight import Preflight, preflight
from .._errands.authoring.errand_report import errand_report, errand_run_report, log_command
from .._errands.authoring.errand_writing import AUTHOR_MANAGER, adjusted_to, apply_errand, read_errand
from .._errands.authoring.requested_run import RunWait, WaitOptions, request_run, run_to_follow
from .._errands.authoring.run_log import RunLog
from .._errands.errand_definition import ERRAND_KINDS
from .._errands.errand_model import AUTOMATIC, Errand, ErrandKey, Strategy, errand_from
from .._errands.versions.output_versions import surplus_of_run
from .._errors import LifecycleError
from .._jobs.run_history import FAILED
from .._objects.apply.diff import changed_fields, diff_of
from .shared.errand_durations import errand_durations
from .shared.log_options import LOG_SPEC, follows_logs
from .shared.run_options import RUN_SPEC, run_options

PRESENT, ABSENT = "present", "absent"
_RUNS = (Strategy.NOW, Strategy.ONCE)


def errand(task: Task) -> Result:
    """Declare, run or delete one errand."""
    follows_logs(task.params)
    request = _request(task.params)
    if task.params["state"] == ABSENT:
        return _absent(task, desired_errand(request))
    state = ERRAND_KINDS.state(task.cluster)
    if request.declares_nothing:
        key = ErrandKey(request.namespace, request.name)
        live = read_errand(task.cluster, key) if all(key) and state.is_served else None
        if live is None and all(key) and task.check_mode:
            return _rehearsed_absent(key, is_definition_installed=not state.is_current)
        desired = existing_errand(request, live)
    else:
        desired = desired_errand(request)
    _refuse(desired, desired.problems)
    return _Present(task, desired, state, is_declared=not request.declares_nothing).result()


def _request(params: Mapping[str, Any]) -> ErrandRequest:
    return ErrandRequest(
        name=params["name"] or "",
        namespace=params["namespace"] or "",
        definition=params["definition"],
        template=params["template"],
        output=params["output"],
        reruns_on_change=params["update_on_config_change"],
        trigger=params["trigger"] or "",
    )


def _refuse(desired: DesiredErrand, problems: tuple[str, ...]) -> None:
    if problems:
        name = f"Errand {desired.key.namespace or '(no namespace)'}/{desired.key.name or '(no name)'}"
        listed = "\n".join(f"- {problem}" for problem in problems)
        raise LifecycleError(f"{name} is refused, and nothing was written:\n{listed}")


def _rehearsed_absent(key: ErrandKey, *, is_definition_installed: bool) -> Result:
    """The result of a run for an errand that does not exist; perhaps an earlier task only rehearsed it."""
    text = f"{key} does not exist, so its run could not be rehearsed. An earlier task has to create it"
    changes = _Changes(is_changed=True, warnings=[text], is_definition_installed=is_definition_installed)
    return _result(key, changes, None, 0, {})


def _absent(task: Task, desired: DesiredErrand) -> Result:
    key = desired.key
    if not key.name or not key.namespace:
        raise LifecycleError("cannot delete an errand without name and namespace. Set both")
    live = read_errand(task.cluster, key)
    result: Result = {"changed": live is not None, "namespace": key.namespace, "name": key.name}
    if live is None:
        return result
    if not task.check_mode:
        task.cluster.delete(*key.address, uid=live["metadata"]["uid"])
    if task.diff:
        result["diff"] = [diff_of(live, None)]
    return result


@dataclass
class _Changes:
    """The changes so far, or the predicted changes."""

    is_changed: bool = False
    warnings: list[str] = field(default_factory=list)
    diff: list[dict[str, str]] = field(default_factory=list)
    is_definition_installed: bool = False
    surplus: tuple[str, ...] | None = None
    """Secrets of old versions that the requested run will delete; None if no run is rehearsed."""


def _result(
    key: ErrandKey, changes: _Changes, observed: Errand | None, number: int, ended: Mapping[str, Any]
) -> Result:
    return {
        "changed": changes.is_changed,
        "namespace": key.namespace,
        "name": key.name,
        "run": number,
        "outcome": ended.get("outcome", ""),
        "exit_code": ended.get("exit_code"),
        "seconds": ended.get("seconds"),
        "secrets": ended.get("secrets", []),
        "pruned": list(ended.get("pruned", ()) if changes.surplus is None else changes.surplus),
        "log_command": log_command(key, number) if number else "",
        "logs": [],
        "durations": [],
        "errand": errand_report(observed) if observed else None,
        "definition_installed": changes.is_definition_installed,
        "warnings": list(changes.warnings),
    }


class _Present:
    """One errand that is to exist."""

    def __init__(
        self, task: Task, desired: DesiredErrand, state: DefinitionState, *, is_declared: bool
    ) -> None:
        self._task = task
        self._params = task.params
        self._key: ErrandKey = desired.key
        self._cluster = task.cluster.with_field_manager(task.params["field_manager"])
        self._changes = _Changes(warnings=list(desired.warnings))
        live = read_errand(task.cluster, desired.key) if state.is_served else None
        self._definition = state
        self._is_declared = is_declared
        self._live = live
        self._desired = adjusted_to(desired, live)
        self._run_log: RunLog | None = None

    @property
    def _is_requested(self) -> bool:
        return bool(self._params["trigger"] == Strategy.NOW)

    @property
    def _runs(self) -> bool:
        """Whether the request may run the errand."""
        return self._is_requested or self._desired.errand.spec.strategy in (*_RUNS, *AUTOMATIC)

    def result(self) -> Result:
        """Validate all, write, run, wait."""
        checked = preflight(
            self._cluster,
            self._desired,
            is_applied=self._is_declared and self._definition.is_served and self._definition.is_current,
            force=self._params["force_conflicts"],
            runs_here=self._runs_here(),
            holder_image=self._params["holder_image"],
            check_mode=self._task.check_mode,
        )
        _refuse(self._desired, checked.problems)
        self._changes.warnings += checked.warnings
        if self._task.check_mode:
            return self._rehearsed(checked)
        self._install()
        applied = errand_from(self._apply(checked))
        if self._is_requested:
            applied = errand_from(request_run(self._cluster, self._key))
            self._changes.is_changed = True
        return self._run(applied)

    def _runs_here(self) -> bool:
        """Whether this task itself runs the errand; a quick answer if it has already run."""
        if not self._params["reconcile"] or not self._runs:
            return False
        return self._is_requested or self._desired.errand.spec.strategy is not Strategy.DONE

    def _rehearsed(self, checked: Preflight) -> Result:
        self._changes.is_definition_installed = not self._definition.is_current
        if self._is_declared:
            self._note_change(checked.applied or self._desired.obj)
        self._changes.is_changed |= self._changes.is_definition_installed or self._is_requested
        if self._live is None:
            return self._answer(None, 0)
        live = errand_from(self._live)
        if self._is_requested:
            self._note_surplus(live)
        return self._answer(live, live.status.run.number if live.status.run else 0)

    def _note_surplus(self, live: Errand) -> None:
        try:
            self._changes.surplus = surplus_of_run(self._cluster, live, self._desired.errand.spec.output)
        except ClusterError as error:
            self._changes.warnings.append(f"cannot predict which old versions the run deletes: {error}")

    def _install(self) -> None:
        is_new, warnings = ERRAND_KINDS.update(
            self._task.cluster, self._definition, self._task.batch(*INSTALLATION)
        )
        self._changes.is_definition_installed = is_new
        self._changes.is_changed |= is_new
        self._changes.warnings += warnings

    def _apply(self, checked: Preflight) -> Object:
        live = self._live
        if live and not self._is_declared:
            return live
        if live and checked.applied and not changed_fields(live, checked.applied):
            return live
        applied = apply_errand(self._cluster, self._desired.obj, force=self._params["force_conflicts"])
        self._note_change(applied)
        return applied

    def _note_change(self, after: Object) -> None:
        if self._live and not changed_fields(self._live, after):
            return
        self._changes.is_changed = True
        if self._task.diff:
            self._changes.diff.append(diff_of(self._live, after))

    def _run(self, applied: Errand) -> Result:
        number = run_to_follow(applied, is_requested=self._is_requested)
        last = applied.status.run
        is_over = last is None or not last.is_open
        if not self._runs or not number or (is_over and last and last.number == number):
            # The request starts no run: the errand has run already, or waits for a manual start.
            return self._answer(applied, number if self._runs else 0)
        wait = RunWait(
            self._task.cluster,
            self._key,
            WaitOptions(
                seconds=float(self._params["timeout"]),
                reconciles=self._params["reconcile"],
                **run_options(self._params),
            ),
            progress=self._task.progress,
            cancelled=self._task.cancelled,
            log=self._log(number),
        )
        self._changes.is_changed |= last is None or last.number < number
        if self._params["wait"]:
            try:
                observed, ended = wait.until_ended(number)
            except LifecycleError as error:
                return {**self._answer(wait.errand or applied, number), "failed": True, "msg": str(error)}
            return {**self._answer(observed, number), "durations": errand_durations(self._key, ended)}
        if self._params["reconcile"]:
            return self._answer(wait.step() or applied, number)
        return self._answer(applied, number)

    def _answer(self, observed: Errand | None, number: int) -> Result:
        ended = errand_run_report(observed, number) if observed and number else {}
        result = _result(self._key, self._changes, observed, number, ended)
        if self._task.diff:
            result["diff"] = self._changes.diff
        if ended.get("state") == FAILED and self._params["wait"] and not self._task.check_mode:
            result |= {"failed": True, "msg": self._failure(number, ended)}
            run_log = self._log(number)
            log = run_log.failure(observed) if run_log and observed else None
            if log:
                result |= {"logs": [log.report()], "msg": f"{result['msg']}\n{log.message()}"}
        return result

    def _log(self, number: int) -> RunLog | None:
        """The log of the run; None if it is not asked for."""
        if not self._params["show_logs"] or not self._params["wait"]:
            return None
        if self._run_log is None:
            progress = self._task.progress if follows_logs(self._params) else None
            self._run_log = RunLog(self._task.cluster, self._key, number, progress)
        return self._run_log

    def _failure(self, number: int, ended: Mapping[str, Any]) -> str:
        code = ended["exit_code"]
        reason = ended["outcome"] + (f" (exit code {code})" if code is not None else "")
        why = f": {ended['message']}" if ended["message"] else ""
        text = f"{self._key}: run {number} failed: {reason}{why}".rstrip(".") + "."
        if not self._is_requested:
            text += " It does not run again by itself: change its template, or run it by trigger: now."
        return f"{text} Read its log:\n{log_command(self._key, number)}"


DEFINITION = TaskDefinition(
    function=errand,
    argument_spec={
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "state": {"type": "str", "choices": [PRESENT, ABSENT], "default": PRESENT},
        "definition": {"type": "dict"},
        "template": {"type": "dict"},
        "output": {"type": "dict"},
        "update_on_config_change": {"type": "bool"},
        "trigger": {"type": "str", "choices": ["manual", "now", "once"]},
        **LOG_SPEC,
        # Other modules have options of this name.
        "show_logs": {**LOG_SPEC["show_logs"], "aliases": ["logs"]},
        "wait": {"type": "bool", "default": True},
        "timeout": {"type": "float", "default": 600},
        "reconcile": {"type": "bool", "default": True},
        **RUN_SPEC,
        "field_manager": {"type": "str", "default": AUTHOR_MANAGER},
        "force_conflicts": {"type": "bool", "default": False},
    },
    mutually_exclusive=[
        ("definition", "template"),
        ("definition", "output"),
        ("definition", "update_on_config_change"),
    ],
)
