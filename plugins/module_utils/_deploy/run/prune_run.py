# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``component`` with ``state=pruned``: delete what the release no longer has of some components."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any

from ..._carrier.task import Result, Task
from ..._cluster.cluster import Cluster
from ..._components.component_removal import ComponentRemoval, remove_components
from ..._components.removal_gate import PlannedRemovals, RemovalGate
from ..._objects.health.watcher import Watcher
from ..._objects.inventory.live_objects import scope_of
from ..._objects.prune.contained_objects import ContainedObjects
from ..._objects.prune.removal import Terms
from ..._objects.prune.removal_decision import is_protected, obsolete_entries
from ..._runs.cancellation import CancellationCheck, Grace
from ..._runs.lease.lease_session import run_under_lease
from ..._runs.lease.own_lease import run_with_own_lease
from ..._runs.outcomes import (
    FAILED,
    PRUNE,
    SUCCEEDED,
    ComponentOutcome,
    duration_of,
    phase_entry,
    removal_outcome,
)
from ..._runs.recorder import end_if_cancelled
from ..._runs.records.inventories import read_owned
from ..._runs.records.runs import new_run_name, read_run, update_run_status
from ..._runs.run_failures import run_problems
from ..component_options import ComponentOptions
from ..desired.desired_release import desired_release
from ..desired.unchanged_components import read_release
from ..plan.binding import require_planned_release
from ..plan.prune_rehearsal import PRUNE_ADVICE, dropped_definitions


def prune_components(task: Task, options: ComponentOptions) -> Result:
    """Prune some components; as part of a run only if everything before has succeeded."""
    if not options.run:
        name = f"prune-{new_run_name()}"
        return run_with_own_lease(task, name, lambda leased: _pruned(leased, options, {}))
    record = read_run(task.cluster, options.run)
    require_planned_release(task, record)
    with run_under_lease(task, record) as working_task:
        return _pruned(working_task, options, record)


def _pruned(task: Task, options: ComponentOptions, record: Mapping[str, Any]) -> Result:
    run = options.run
    stopping = CancellationCheck(task, record)
    why_not = _why_not(record) or stopping.reason()
    if why_not:
        warnings = end_if_cancelled(task, run, stopping.reason())
        return {
            "changed": False,
            "components": [],
            "migrations": [],
            "durations": [],
            "msg": f"nothing is pruned: {why_not}",
            "warnings": warnings,
        }
    started = time.monotonic()
    task = replace(task, cancelled=Grace(stopping, options.grace))
    outcomes = _Pruning(task, options).work()
    failed = [outcome for outcome in outcomes if outcome.state != SUCCEEDED]
    if run:
        _note(task.cluster, run, outcomes, time.monotonic() - started)
    not_ended = end_if_cancelled(task, run, stopping.reason())
    result: Result = {
        "changed": any(outcome.deleted for outcome in outcomes),
        "components": [outcome.as_result() for outcome in outcomes],
        "migrations": [],
        "durations": [duration_of("component", one.name, one.as_result()) for one in outcomes],
        "warnings": [
            *not_ended,
            *(f"{outcome.name}: {warning}" for outcome in outcomes for warning in outcome.warnings),
        ],
    }
    if failed:
        result["msg"] = "\n".join(f"component {one.name} {one.state}: {one.error}" for one in failed)
        result["failed"] = True
    return result


def _why_not(record: Mapping[str, Any]) -> str:
    """Why a run may not prune; empty if it may."""
    if not record:
        return ""
    failures = run_problems(record, before=PRUNE)
    return f"not everything before succeeded: {'; '.join(failures)}" if failures else ""


class _Pruning:
    """The pruning of some components, concurrently and in rounds."""

    def __init__(self, task: Task, options: ComponentOptions) -> None:
        self._task = task
        self._options = options
        self._inventories, others = read_owned(task.cluster)
        # An unchanged component is wanted as it was deployed, even if another rendering would give other
        # names.
        release, kept = read_release(task.materials, self._inventories)
        desired = desired_release(release, scope_of(task.cluster), kept).components
        wanted = {ref for component in desired.values() for ref in component.refs}
        obsolete = obsolete_entries(self._inventories.values(), wanted, options.names, others)
        orphans = {name for name in options.names if name not in desired}
        # Without the objects of orphans: if two orphans are deleted, each would leave a shared object to the
        # other.
        staying = [*others, *(one for name, one in self._inventories.items() if name not in orphans)]
        self._removals = {
            name: ComponentRemoval(
                obsolete.get(name, ()),
                is_protected=lambda ref: is_protected(ref, options.policy.prune_allow),
                whole=name in orphans,
                others=[entry for one in staying for entry in one.entries if not entry.dropped],
            )
            for name in options.names
            if name in self._inventories
        }
        planned = PlannedRemovals(
            {name: obsolete[name] for name, removal in self._removals.items() if removal.count},
            orphans,
            self._inventories,
            others,
            dropped_definitions(self._inventories, wanted, {*desired, *options.names}, others),
            advice=PRUNE_ADVICE,
        )
        self._gate = RemovalGate(task.cluster, planned)

    def work(self) -> list[ComponentOutcome]:
        """Prune every component, and report the outcome."""
        cluster, options = self._task.cluster, self._options
        self._gate.look()
        remove_components(
            self._removals,
            Terms(
                cluster,
                cancelled=self._task.cancelled,
                retain=ContainedObjects(
                    cluster, lambda ref: str(ref) in options.policy.prune_allow, self._gate.retained()
                ).retain,
                watcher=Watcher(cluster),
            ),
            inventories=self._inventories,
            timeout=options.timeout,
            workers=options.workers,
            progress=self._task.progress,
            state="pruning",
            refusal_of=self._gate.refusal,
            gate=self._gate,
        )
        return list(starmap(self._outcome, self._removals.items()))

    def _outcome(self, name: str, removal: ComponentRemoval) -> ComponentOutcome:
        outcome = (
            ComponentOutcome(name, FAILED, error=removal.refusal)
            if removal.refusal
            else removal_outcome(name, removal.removal, removal.seconds, removal.times)
        )
        told = outcome.error.partition("\n")[0] or f"{outcome.deleted} objects pruned"
        self._task.progress(name, outcome.state, told)
        return outcome


def _note(cluster: Cluster, run: str, outcomes: Sequence[ComponentOutcome], seconds: float) -> None:
    status = read_run(cluster, run).get("status") or {}
    known: Mapping[str, Any] = status.get("components") or {}
    failed = any(outcome.state != SUCCEEDED for outcome in outcomes)
    components = {
        outcome.name: _after_pruning(known.get(outcome.name) or {}, outcome) for outcome in outcomes
    }
    phase = phase_entry(FAILED if failed else SUCCEEDED, seconds)
    among = len({**known, **components}) + len(status.get("migrations") or {})
    update_run_status(cluster, run, {"components": components, "phases": {PRUNE: phase}}, among=among)


def _after_pruning(known: Mapping[str, Any], outcome: ComponentOutcome) -> dict[str, Any]:
    """The run's record of a component, with the outcome of its pruning."""
    warnings = [*known.get("warnings", ()), *outcome.warnings]
    return {
        **outcome.as_result(),
        **known,
        "state": outcome.state,
        "error": outcome.error,
        "deleted": outcome.deleted,
        "seconds": round(known.get("seconds", 0.0) + outcome.seconds, 3),
        "started_at": known.get("started_at") or outcome.started_at,
        "finished_at": outcome.finished_at or known.get("finished_at", ""),
        "warnings": warnings,
    }
