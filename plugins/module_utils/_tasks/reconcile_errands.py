# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``reconcile_errands``: makes all possible progress with all errands, once or continuously."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._carrier.task import LEASE_SECONDS, Result, Task, TaskDefinition
from .._cluster.cluster import Cluster, Object
from .._cluster.errors import Forbidden
from .._custom_resources.installed_kinds import INSTALLATION
from .._errands.authoring.errand_report import errand_run_report
from .._errands.errand_definition import ENGINE_ROLE, ERRAND_KINDS
from .._errands.errand_index import ErrandIndex
from .._errands.errand_model import ErrandKey, ErrandPhase
from .._errands.errand_steps import changes_anything, step_text
from .._errands.errand_view import WORKERS, RunOptions
from .._errands.reconciler import Failure, Reconciled, Reconciler, read_index, reconcile_all, rehearse_all
from .._errors import LifecycleError
from .._text import one_line
from .shared.errand_durations import errand_durations
from .shared.run_options import RUN_SPEC, run_options

RECONCILIATION, RUN = "reconciliation", "run"
"""The states that fail the task."""


def reconcile_errands(task: Task) -> Result:
    """Make all progress that is possible now with the errands: once, or after every change."""
    if task.params["watch"] and task.params["fail_on"] == RUN:
        raise LifecycleError(
            "fail_on: run does not go with watch: true, as the engine goes on after a run that failed."
            " Leave it out: the engine reports each outcome, and errand_info shows the last ones"
        )
    if task.params["watch"] and not task.check_mode:
        # Imported here, as all of the engine.
        from .errand_watch import watch_errands

        return watch_errands(task)
    result = _reconciled_once(task)
    if task.params["watch"]:
        warning = "in check mode it shows the next steps of now, and does not watch"
        result["warnings"] = [*result["warnings"], warning]
    return result


def _reconciled_once(task: Task) -> Result:
    state = ERRAND_KINDS.state(task.cluster)
    is_installed, warnings = not state.is_current, tuple[str, ...]()
    if not task.check_mode:
        is_installed, warnings = ERRAND_KINDS.update(task.cluster, state, task.batch(*INSTALLATION))
    cluster = task.cluster
    if task.check_mode:
        from .._dry_run.dry_run_cluster import DryRunCluster

        cluster = DryRunCluster(cluster)
    index = _read_index(cluster, task.params["namespaces"])
    options = RunOptions(**run_options(task.params))
    reconciler = Reconciler(cluster, index, options=options)
    work = rehearse_all if task.check_mode else reconcile_all
    ended_runs = _ended_runs(index)
    batch = task.batch("errands", "reconciling", "errands")
    reconciled, failures = work(reconciler, index.keys(), batch)
    result = _result(index, reconciled, failures)
    result["durations"] = _durations(index, ended_runs)
    result["changed"] = result["changed"] or is_installed
    result |= {"definition_installed": is_installed, "warnings": list(warnings)}
    problems = [f"{one.key}: {one.message.removeprefix(f'{one.key}: ')}" for one in failures]
    if task.params["fail_on"] == RUN:
        problems += _failed_runs(index, reconciled)
    if problems:
        listed = "\n".join(f"- {problem}" for problem in problems)
        result |= {
            "failed": True,
            "msg": f"{len(problems)} of {len(index.keys())} errands failed; all others are done:\n{listed}",
        }
    return result | batch.stopped(*problems)


def _read_index(cluster: Cluster, namespaces: Sequence[str]) -> ErrandIndex:
    try:
        return read_index(cluster, namespaces)
    except Forbidden as refusal:
        role = ENGINE_ROLE["metadata"]["name"]
        place = f"in namespace {', '.join(namespaces)}" if namespaces else "in the whole cluster"
        narrower = "" if namespaces else ", or set namespaces to those where you have it"
        raise LifecycleError(
            f"cannot reconcile errands {place}: {one_line(refusal.api_message)}. No errand was changed. Have"
            f" the ClusterRole {role} granted to you there{narrower}"
        ) from refusal


def _result(index: ErrandIndex, reconciled: Sequence[Reconciled], failures: Sequence[Failure]) -> Result:
    return {
        "changed": any(changes_anything(one.steps) for one in reconciled),
        "errands": [_row(index, one) for one in reconciled],
        "failures": [
            {"namespace": one.key.namespace, "name": one.key.name, "message": one.message} for one in failures
        ],
    }


def _ended_runs(index: ErrandIndex) -> dict[ErrandKey, int]:
    """The number of the last run that has ended, by errand; 0 if none has."""
    runs = {one.key: one.status.run for one in filter(None, map(index.errand, index.keys()))}
    return {key: run.number - int(run.is_open) if run else 0 for key, run in runs.items()}


def _durations(index: ErrandIndex, ended_runs: Mapping[ErrandKey, int]) -> list[dict[str, Any]]:
    """Rows of durations for the runs that have ended after these; a run may start and end in one call."""
    candidates = ((index.errand(key), number) for key, number in ended_runs.items())
    return [
        row
        for errand, ended in candidates
        if errand and errand.status.run
        for number in range(ended + 1, errand.status.run.number + 1)
        for row in errand_durations(errand.key, errand_run_report(errand, number))
    ]


def _row(index: ErrandIndex, reconciled: Reconciled) -> Object:
    errand = index.errand(reconciled.key)
    return {
        "namespace": reconciled.key.namespace,
        "name": reconciled.key.name,
        "changed": changes_anything(reconciled.steps),
        "steps": [step_text(step) for step in reconciled.steps],
        "phase": str(errand.status.phase) if errand else "",
        "message": errand.status.message if errand else "",
        "run": errand.status.run.number if errand and errand.status.run else 0,
        "recheck_seconds": reconciled.recheck_seconds,
    }


def _failed_runs(index: ErrandIndex, reconciled: Sequence[Reconciled]) -> list[str]:
    errands = [index.errand(one.key) for one in reconciled]
    return [
        f"{errand.key}: its last run failed: {errand.status.message}"
        for errand in errands
        if errand and errand.status.phase is ErrandPhase.FAILED
    ]


DEFINITION = TaskDefinition(
    function=reconcile_errands,
    argument_spec={
        "namespaces": {"type": "list", "elements": "str", "default": [], "aliases": ["namespace"]},
        **RUN_SPEC,
        "fail_on": {"type": "str", "choices": [RECONCILIATION, RUN], "default": RECONCILIATION},
        "watch": {"type": "bool", "default": False},
        "watch_seconds": {"type": "int"},
        "workers": {"type": "int", "default": WORKERS},
        "metrics_file": {"type": "path"},
        "http_address": {"type": "str"},
        "log_file": {"type": "path"},
        "lease_seconds": {"type": "int", "default": LEASE_SECONDS},
    },
)
