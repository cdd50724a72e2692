# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``component`` with ``state=pruned``: delete what the release no longer has of some components."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..._carrier.task import Result, Task
from ..._objects.health.watcher import Watcher
from ..._objects.inventory.live_objects import scope_of
from ..._objects.prune.removal import Terms
from ..._result_codec import to_result
from ..._runs.active_run import ActiveRun
from ..._runs.cancellation import Grace
from ..._runs.outcomes import FAILED, PRUNE, SUCCEEDED, ComponentOutcome, duration_of, phase_entry
from ..._runs.records.inventories import read_owned
from ..._runs.run_failures import run_problems
from ..component_options import ComponentOptions
from ..desired.desired_release import desired_release
from ..desired.unchanged_components import read_release
from ..plan.pruning import Pruning
from .part_of_run import work_for_run


def prune_components(task: Task, options: ComponentOptions) -> Result:
    """Prune some components; as part of a run only if everything before has succeeded."""
    return work_for_run(
        task,
        options.run,
        lambda working, record: _pruned(working, options, record),
        kind="prune",
        has_migrations=False,
    )


def _pruned(task: Task, options: ComponentOptions, record: Mapping[str, Any]) -> Result:
    run = ActiveRun(task, record)
    failures = run_problems(record, before=PRUNE) if record else []
    why_not = (
        f"not everything before succeeded: {'; '.join(failures)}" if failures else run.cancellation.reason()
    )
    started = time.monotonic()
    grace = Grace(run.cancellation, options.grace)
    outcomes = [] if why_not else _prune(replace(task, cancelled=grace), options)
    failed = [f"component {one.name} {one.state}: {one.error}" for one in outcomes if one.state != SUCCEEDED]
    if not why_not:
        phase = phase_entry(FAILED if failed else SUCCEEDED, time.monotonic() - started)
        entries = {one.name: _after_pruning(run.components.get(one.name, {}), one) for one in outcomes}
        run.note_entries(entries, phases={PRUNE: phase})
    ended = run.end_if_cancelled(run.cancellation.reason())
    warnings = [f"{one.name}: {warning}" for one in outcomes for warning in one.warnings]
    result: Result = {
        **ended,
        "changed": any(outcome.deleted for outcome in outcomes),
        "components": to_result(outcomes),
        "migrations": [],
        "durations": [duration_of("component", one.name, to_result(one)) for one in outcomes],
        "warnings": [*ended.get("warnings", ()), *warnings],
    }
    if why_not:
        result["msg"] = f"nothing is pruned: {why_not}"
    if failed:
        result |= {"msg": "\n".join(failed), "failed": True}
    return result


def _prune(task: Task, options: ComponentOptions) -> list[ComponentOutcome]:
    """Prune every component, and report the outcome."""
    cluster = task.cluster
    inventories, others = read_owned(cluster)
    # An unchanged component is wanted as it was deployed, even if another rendering would give other names.
    release, unchanged = read_release(task.materials, inventories)
    desired = desired_release(release, scope_of(cluster), unchanged).components
    desired_refs = {name: component.refs for name, component in desired.items()}
    pruning = Pruning(inventories, others, desired_refs, options.names, options.policy)
    pruning.work(
        Terms(cluster, cancelled=task.cancelled, watcher=Watcher(cluster)),
        timeout=options.timeout,
        workers=options.workers,
        progress=task.progress,
    )
    outcomes = [removal.outcome(name, FAILED) for name, removal in pruning.removals.items()]
    for one in outcomes:
        detail = one.error.partition("\n")[0] or f"{one.deleted} objects pruned"
        task.progress(one.name, one.state, detail)
    return outcomes


def _after_pruning(recorded: Mapping[str, Any], outcome: ComponentOutcome) -> dict[str, Any]:
    """The run's record of a component, with the outcome of its pruning."""
    warnings = [*recorded.get("warnings", ()), *outcome.warnings]
    return {
        **to_result(outcome),
        **recorded,
        "state": outcome.state,
        "error": outcome.error,
        "deleted": outcome.deleted,
        "seconds": round(recorded.get("seconds", 0.0) + outcome.seconds, 3),
        "started_at": recorded.get("started_at") or outcome.started_at,
        "finished_at": outcome.finished_at or recorded.get("finished_at", ""),
        "warnings": warnings,
    }
