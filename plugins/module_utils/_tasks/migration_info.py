# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``migration_info``: the known migrations, and whether the cluster needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._carrier.options import RELEASE_SPEC
from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.cluster import Object
from .._components.migrations.migration_runner import select_migrations
from .._deploy.desired.release_migrations import named_or_deployed_migrations
from .._migrations.results import NOT_NEEDED, CheckResult
from .._migrations.retirement import overdue_migrations
from .._migrations.shared_reads import SharedReads
from .._result_codec import to_result
from .._runs.records.run_record import begin_of
from .._runs.records.runs import read_runs
from .._runs.records.undone_migrations import has_written, newest_undoing
from ..migration import GLOBAL, Migration
from .shared.option_values import migration_options
from .shared.shared_options import MIGRATING_SPEC


def migration_info(task: Task) -> Result:
    """Get the migrations' verdicts, and from the records of runs when each last ran."""
    params = task.params
    runner = named_or_deployed_migrations(task, migration_options(params))
    selected = select_migrations(runner, params["ids"], params["component"], params["phase"])
    # Migrations without a component don't take part; their checks may rely on objects that they would find.
    participating = [one for one in selected if one.component in (GLOBAL, *runner.setting.components)]
    scope = "the release" if task.materials.has_release else "the cluster"
    verdicts = {one.id: one for one in runner.check_migrations(participating, SharedReads(task.cluster))}
    late = overdue_migrations(selected, runner.setting.release)
    runs = read_runs(task.cluster)
    return {
        "changed": False,
        "migrations": [
            {
                **to_result(verdicts.get(one.id()) or _not_applicable(one, scope)),
                "description": (one.__doc__ or "").strip().splitlines()[0],
                "remove_in": one.remove_in,
                "keep": one.keep,
                "overdue": one in late,
                "irreversible": one.irreversible,
                **_history(runs, one.id()),
            }
            for one in selected
        ],
        "searched": list(task.materials.migrations().searched),
    }


def _not_applicable(migration: type[Migration], scope: str) -> CheckResult:
    evidence = f"{scope} has no component {migration.component}"
    return CheckResult(
        migration.id(),
        migration.component,
        migration.phase.value,
        NOT_NEEDED,
        evidence,
        seconds=0.0,
        requests=0,
    )


def _history(runs: Sequence[Object], migration: str) -> dict[str, Any]:
    """A migration's history in the records of the runs, newest first: when it wrote, what was undone."""
    wrote = [run for run in runs if has_written(run, migration)]
    last: Object = wrote[0] if wrote else {"metadata": {"name": ""}}
    outcome = last["status"]["migrations"][migration] if wrote else {}
    undoing = newest_undoing(runs, migration)
    return {
        "last_run": last["metadata"]["name"],
        "last_run_at": begin_of(last).started_at,
        "last_state": outcome.get("state", ""),
        "last_seconds": outcome.get("seconds", 0.0),
        "runs": [run["metadata"]["name"] for run in wrote],
        "undone": undoing.get("state", ""),
        "undone_at": undoing.get("at", ""),
        "undone_by": undoing.get("by", ""),
    }


DEFINITION = TaskDefinition(
    function=migration_info,
    argument_spec={
        **RELEASE_SPEC,
        **MIGRATING_SPEC,
        "component": {"type": "str"},
        "phase": {"type": "str", "choices": ["pre", "post"]},
        "ids": {"type": "list", "elements": "str", "default": []},
    },
    needs_release=True,
    needs_migrations=True,
)
