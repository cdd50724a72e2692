# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task's result about modules: a row for each, and a summary in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._carrier.task import Result, Task
from .._objects.apply.change import ObjectChange
from .._objects.apply.diff import diff_of
from .._objects.ownership.findings import describe_findings
from .._result_codec import to_result
from .._runs.active_run import ActiveRun
from .._runs.durations import render_durations
from .._runs.outcomes import SUCCEEDED
from .._runs.records.modules import NOT_INSTALLED, READY, ModuleRecord
from .decision import ADOPT, DELETE, INSTALL, KEEP, UNMANAGE, UPGRADE
from .module_work import ModuleOutcome
from .planned_module import PlannedModule

_DONE = {
    INSTALL: "installed",
    UPGRADE: "upgraded",
    ADOPT: "adopted",
    KEEP: "repaired",
    UNMANAGE: "no longer managed",
    DELETE: "deleted",
}
_PLANNED = {
    INSTALL: "would be installed",
    UPGRADE: "would be upgraded",
    ADOPT: "would be adopted",
    KEEP: "would be repaired",
    UNMANAGE: "would no longer be managed",
    DELETE: "would be deleted",
}


def run_result(
    task: Task,
    ended: Sequence[tuple[PlannedModule, ModuleOutcome]],
    run: ActiveRun | None,
    warnings: Sequence[str],
    changes: Sequence[ObjectChange],
) -> Result:
    """The result of the task.

    Args:
        task: of the result.
        ended: every module, with its outcome.
        run: the run, if there was one.
        warnings: about the run as a whole.
        changes: what has changed, or would change, for the diff.
    """
    rows = [module_row(one, done.record, is_changed=done.is_changed) for one, done in ended]
    outcomes = [done.outcome for _planned, done in ended]
    failed = [one for one in outcomes if one.state != SUCCEEDED]
    result: Result = {
        "changed": any(done.is_changed for _planned, done in ended),
        "modules": rows,
        "components": to_result(outcomes),
        "migrations": [dict(migration) for one in outcomes for migration in one.migrations],
        "durations": [],
        "run": "",
        "warnings": [*warnings, *_module_warnings(ended)],
        "summary": module_summary(rows, rehearsed=task.check_mode),
    }
    if run is not None:
        result |= run.as_result(outcomes)
        result["summary"] += render_durations(result["durations"])
    if task.diff:
        result["diff"] = [diff_of(change.before, change.after) for change in changes]
    if failed:
        result["failed"] = True
        # Errors of the catalog contain the names of their modules.
        errors = ((one.name, one.error.removeprefix(f"module {one.name}: ")) for one in failed)
        result["msg"] = "\n".join(f"module {name}: {error}" for name, error in errors)
    return result


def _module_warnings(ended: Sequence[tuple[PlannedModule, ModuleOutcome]]) -> list[str]:
    """Warnings about single modules, each once."""
    warnings = [f"{done.outcome.name}: {text}" for _planned, done in ended for text in done.outcome.warnings]
    for planned, _done in ended:
        if planned.plan is not None:
            # A difference between an object and its manifest is no drift before we own it.
            findings = () if planned.decision.action == ADOPT else planned.plan.findings
            texts = (*planned.plan.warnings, *describe_findings(findings))
            warnings += [f"{planned.name}: {text}" for text in texts]
    return list(dict.fromkeys(warnings))


def module_row(planned: PlannedModule, record: ModuleRecord | None, *, is_changed: bool) -> dict[str, Any]:
    """The row of a module in a result.

    Args:
        planned: the plan for it.
        record: of it; None if there is none.
        is_changed: whether anything was changed, or would be.
    """
    return {
        "name": planned.name,
        "action": planned.decision.action,
        "changed": is_changed,
        "state": (record.status.state if record else "") or NOT_INSTALLED,
        "message": record.status.message if record else "",
        "blockers": list(record.status.blockers) if record else [],
        "version": record.installed_version if record else "",
        "running": planned.outlook.facts.running,
        "wanted": planned.decision.version,
        "changes": to_result(planned.changes),
    }


def module_summary(rows: Sequence[Mapping[str, Any]], *, rehearsed: bool) -> list[str]:
    """A line for each module with an action or a problem; its blockers follow."""
    lines: list[str] = []
    for row in rows:
        line = _line(row, rehearsed=rehearsed)
        lines += [line, *(f"  {blocker}" for blocker in row["blockers"])] if line else []
    return lines or [f"{len(rows)} module{'' if len(rows) == 1 else 's'}: nothing to do"]


def _line(row: Mapping[str, Any], *, rehearsed: bool) -> str:
    words = _PLANNED if rehearsed else _DONE
    is_blocked = row["action"] == DELETE and row["state"] != NOT_INSTALLED
    # An unchanged adopted module has no changes.
    happens = row["changed"] or (row["action"] == ADOPT and row["state"] == READY)
    happened = words.get(row["action"], "") if happens and not is_blocked else ""
    if not happened and not row["message"]:
        return ""
    version = row["wanted"] or row["version"] or row["running"]
    before = row["running"]
    came = f" from {before}" if happened and row["action"] == UPGRADE and before else ""
    return ", ".join(
        filter(None, [f"{row['name']} {version}".rstrip() + f": {row['state']}", happened + came])
    ) + (f" ({row['message']})" if row["message"] else "")
