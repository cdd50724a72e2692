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

from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, Task
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.component_removal import (
    ComponentRemoval,
    remove_components,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.watcher import Watcher
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.live_objects import scope_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.contained_objects import (
    ContainedObjects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.removal import Terms
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.removal_decision import (
    is_protected,
    obsolete_entries,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cancellation import (
    CancellationCheck,
    Grace,
    end_if_cancelled,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease_session import run_under_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.own_lease import run_with_own_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.outcomes import (
    FAILED,
    PRUNE,
    SUCCEEDED,
    ComponentOutcome,
    duration_of,
    removal_outcome,
    run_problems,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import (
    new_run_name,
    read_run,
    update_run_status,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.reminder import Reminder

from ..desired.desired_release import desired_release
from ..desired.unchanged_components import read_release
from ..plan.binding import require_planned_release


def prune_components(task: Task) -> Result:
    """Prune some components; as part of a run only where all before has succeeded."""
    if not task.params["run"]:
        name = f"prune-{new_run_name()}"
        return run_with_own_lease(task, name, lambda leased: _pruned(leased, {}))
    record = read_run(task.cluster, task.params["run"])
    require_planned_release(task, record)
    with run_under_lease(task, record) as working_task:
        return _pruned(working_task, record)


def _pruned(task: Task, record: Mapping[str, Any]) -> Result:
    run: str = task.params["run"] or ""
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
    task = replace(task, cancelled=Grace(stopping, task.params["grace"]))
    with Reminder(task.progress) as progress:
        outcomes = _Pruning(replace(task, progress=progress)).work()
    failed = [outcome for outcome in outcomes if outcome.state != SUCCEEDED]
    if run:
        _note(task, outcomes, time.monotonic() - started)
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
        result["failed"] = not task.params["run"]
    return result


def _why_not(record: Mapping[str, Any]) -> str:
    """Why a run may not prune; empty where it may."""
    if not record:
        return ""
    failures = run_problems(record, before=PRUNE)
    return f"not everything before succeeded: {'; '.join(failures)}" if failures else ""


class _Pruning:
    """The pruning of some components, side by side and in rounds."""

    def __init__(self, task: Task) -> None:
        params = task.params
        self._task = task
        self._inventories = read_inventories(task.cluster)
        # What stands as it was deployed is wanted as it is, also where it would be rendered to other names.
        release, kept = read_release(task.materials, self._inventories)
        desired = desired_release(release, scope_of(task.cluster), kept).components
        wanted = {ref for component in desired.values() for ref in component.refs}
        obsolete = obsolete_entries(self._inventories.values(), wanted, params["names"])
        orphans = {name for name in params["names"] if name not in desired}
        # Not what orphans have: of two that go, each would leave it to the other one to remember.
        staying = [one for name, one in self._inventories.items() if name not in orphans]
        self._removals = {
            name: ComponentRemoval(
                obsolete.get(name, ()),
                is_protected=lambda ref: is_protected(ref, params["prune_allow"]),
                whole=name in orphans,
                others=[entry for one in staying for entry in one.entries if not entry.dropped],
            )
            for name in params["names"]
            if name in self._inventories
        }

    def work(self) -> list[ComponentOutcome]:
        """Prune every component, and tell what came of it."""
        cluster, params = self._task.cluster, self._task.params
        remove_components(
            self._removals,
            Terms(
                cluster,
                cancelled=self._task.cancelled,
                retain=ContainedObjects(cluster, lambda ref: str(ref) in params["prune_allow"]).retain,
                watcher=Watcher(cluster),
            ),
            inventories=self._inventories,
            timeout=float(params["timeout"]),
            workers=int(params["workers"]),
            progress=self._task.progress,
            state="pruning",
        )
        return list(starmap(self._outcome, self._removals.items()))

    def _outcome(self, name: str, removal: ComponentRemoval) -> ComponentOutcome:
        outcome = removal_outcome(name, removal.removal, removal.seconds)
        told = outcome.error or f"{outcome.deleted} objects pruned"
        self._task.progress(name, outcome.state, told)
        return outcome


def _note(task: Task, outcomes: Sequence[ComponentOutcome], seconds: float) -> None:
    run, record = task.params["run"], read_run(task.cluster, task.params["run"])
    status = record.get("status") or {}
    known: Mapping[str, Any] = status.get("components") or {}
    failed = any(outcome.state != SUCCEEDED for outcome in outcomes)
    components = {
        outcome.name: _after_pruning(known.get(outcome.name) or {}, outcome) for outcome in outcomes
    }
    phase = {"state": FAILED if failed else SUCCEEDED, "seconds": round(seconds, 3)}
    among = len({**known, **components}) + len(status.get("migrations") or {})
    update_run_status(task.cluster, run, {"components": components, "phases": {PRUNE: phase}}, among=among)


def _after_pruning(known: Mapping[str, Any], outcome: ComponentOutcome) -> dict[str, Any]:
    """What the run's record says of a component, with what came of its pruning."""
    warnings = [*known.get("warnings", ()), *outcome.warnings]
    return {
        **outcome.as_result(),
        **known,
        "state": outcome.state,
        "error": outcome.error,
        "deleted": outcome.deleted,
        "seconds": round(known.get("seconds", 0.0) + outcome.seconds, 3),
        "warnings": warnings,
    }
