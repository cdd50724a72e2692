# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``migration``: run migrations that are needed, or rehearse them in check mode."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._carrier.options import RELEASE_SPEC
from .._carrier.task import Result, Task, TaskDefinition
from .._components.migrations.migration_runner import select_migrations
from .._components.migrations.undo_run import UndoRequest, undo_migrations
from .._deploy.desired.release_migrations import (
    named_or_deployed_migrations,
    release_migrations,
    with_deployed_profile,
)
from .._deploy.run.part_of_run import work_for_run
from .._dry_run.dry_run_cluster import DryRunCluster
from .._errors import LifecycleError
from .._migrations.results import SKIPPED, MigrationOutcome
from .._objects.apply.diff import diff_of
from .._result_codec import to_result
from .._runs.active_run import ActiveRun
from .._runs.outcomes import FAILED, SUCCEEDED, duration_of, global_phase, phase_entry
from .._runs.records.journal_records import journal_of
from .._runs.run_failures import never_started, run_problems
from ..migration import GLOBAL, Migration, Phase
from .shared.option_values import migration_options
from .shared.record_kinds import RECORD_KINDS
from .shared.shared_options import LEASE_SPEC, MIGRATING_SPEC, STOPPING_SPEC

UNJOURNALED = (
    "what these migrations write cannot be undone: its journal belongs to the record of the newest "
    "deployment, and the cluster has none"
)


def migration(task: Task) -> Result:
    """Run migrations; as part of a run, failures are recorded too, so that ``run`` fails the host at its end.

    Or undo what they have written.
    """
    if task.params["state"] == "undone":
        return _undo(task)
    if task.check_mode:
        return _migrate(with_deployed_profile(task), {})
    return work_for_run(
        task,
        task.params["run"] or "",
        lambda working, record: _migrate(working if record else with_deployed_profile(working), record),
        kind="migration",
        has_migrations=True,
    )


def _undo(task: Task) -> Result:
    params = task.params
    if params["phase"]:
        raise LifecycleError("phase means nothing where migrations are undone: name them by ids")
    request = UndoRequest(
        ids=tuple(params["ids"] or ()),
        component=params["component"],
        run=params["run"] or "",
        force=params["force"],
    )
    options = migration_options(params)
    return undo_migrations(
        task, request, lambda working: named_or_deployed_migrations(working, options), RECORD_KINDS
    )


def _migrate(task: Task, record: Mapping[str, Any]) -> Result:
    started = time.monotonic()
    params = task.params
    run = ActiveRun(task, record)
    task = replace(task, cancelled=run.cancellation)
    overlay = DryRunCluster(task.cluster) if task.check_mode else None
    journal = None if task.check_mode else journal_of(task.cluster, record)
    runner = release_migrations(task, migration_options(params), overlay or task.cluster, record)
    runner = runner.bound_to_plan(record).with_journal(journal)
    if record:
        runner = runner.with_intent_records(task.cluster, record)
    elif task.tenure:
        runner = runner.with_lease(task.tenure)
    selected = select_migrations(runner, params["ids"] or (), params["component"], params["phase"])
    outcomes: list[Mapping[str, Any]] = []
    reason = _skip_reason(params, record, run.cancellation.reason())
    for phase in Phase:
        group = [one for one in selected if one.phase == phase]
        outcomes += _not_started(group, reason) if reason else runner.run_migrations(group, overlay)
    failed = [one for one in outcomes if one["fatal"] and one["state"] != SKIPPED]
    skipped = [one["id"] for one in outcomes if one["state"] == SKIPPED]
    result: Result = {
        "changed": any(one["wrote"] for one in outcomes),
        "migrations": [dict(one) for one in outcomes],
        "durations": [duration_of("migration", one["id"], one) for one in outcomes],
        "warnings": [f"{one['id']}: {warning}" for one in outcomes for warning in one["warnings"]],
    }
    if result["changed"] and journal is None and overlay is None:
        result["warnings"].append(UNJOURNALED)
    if overlay is not None and task.diff:
        result["diff"] = [
            diff_of(change.before, change.after, status=change.status) for change in overlay.changes()
        ]
    run.migration_count = len(runner.migrations)
    run.note_entries(
        {},
        outcomes,
        "; ".join(runner.cancel_reasons),
        phases=_phase(
            params, failed=any(one["fatal"] for one in outcomes), seconds=time.monotonic() - started
        ),
    )
    cancelled_by = "; ".join(runner.cancel_reasons) or run.cancellation.reason()
    ended = run.end_if_cancelled(cancelled_by)
    result |= {**ended, "warnings": [*result["warnings"], *ended.get("warnings", ())]}
    messages = [f"cancelled by {cancelled_by}"] if cancelled_by else []
    messages += [f"migration {one['id']}: {one['error'] or one['evidence']}" for one in failed]
    messages += never_started(skipped, reason)
    if messages:
        result["msg"] = "\n".join(messages)
        result["failed"] = not params["run"] or bool(failed)
    return result


def _skip_reason(params: Mapping[str, Any], record: Mapping[str, Any], cancelled_by: str) -> str:
    """Why the migrations of a run may not start; empty if they may."""
    if not record:
        return ""
    if cancelled_by:
        return f"the run was cancelled by {cancelled_by}"
    if (params["component"], params["phase"]) != (GLOBAL, Phase.POST.value):
        return ""
    # The migrations after the whole deployment only run if all of it succeeded.
    failures = run_problems(record, before=global_phase(Phase.POST))
    return f"not everything before succeeded: {'; '.join(failures)}" if failures else ""


def _not_started(migrations: list[type[Migration]], why: str) -> list[dict[str, Any]]:
    return [
        to_result(
            MigrationOutcome(
                one.id(), one.component, one.phase.value, SKIPPED, error=f"not started, as {why}"
            )
        )
        for one in migrations
    ]


def _phase(params: Mapping[str, Any], *, failed: bool, seconds: float) -> dict[str, dict[str, Any]]:
    """The phase of the run that has ended with this task, by name; none if these are no global migrations."""
    if params["component"] != GLOBAL or not params["phase"]:
        return {}
    return {global_phase(Phase(params["phase"])): phase_entry(FAILED if failed else SUCCEEDED, seconds)}


DEFINITION = TaskDefinition(
    function=migration,
    argument_spec={
        **RELEASE_SPEC,
        **MIGRATING_SPEC,
        **STOPPING_SPEC,
        **LEASE_SPEC,
        "ids": {"type": "list", "elements": "str", "aliases": ["id"]},
        "component": {"type": "str"},
        "phase": {"type": "str", "choices": ["pre", "post"]},
        "state": {"type": "str", "choices": ["present", "undone"], "default": "present"},
        "run": {"type": "str"},
        "force": {"type": "bool", "default": False},
    },
    needs_release=True,
    needs_migrations=True,
    mutually_exclusive=[("ids", "component")],
    required_one_of=[("ids", "component", "run")],
    required_if=[("state", "present", ("ids", "component"), True)],
)
