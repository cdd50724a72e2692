# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``migration_info``: which migrations there are, and whether the cluster needs them."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.shared_reads import SharedReads
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.recorder import read_runs
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tasks.migration import (
    chosen,
    migrating_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.tasks.options import MIGRATING_SPEC
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.options import RELEASE_SPEC
from ansible_collections.kyma.lifecycle.plugins.module_utils._task.task import Result, Task, TaskDefinition


def migration_info(task: Task) -> Result:
    """Ask migrations for their verdicts, and the runs when each last ran."""
    migrating = migrating_of(task, task.cluster)
    wanted = chosen(migrating, task.params, tuple(task.params["ids"]))
    runs = read_runs(task.cluster)
    verdicts = migrating.check_these(wanted, SharedReads(task.cluster))
    return {
        "changed": False,
        "migrations": [
            {
                **verdict.as_result(),
                "description": (migration.__doc__ or "").strip().splitlines()[0],
                "remove_in": migration.remove_in,
                "keep": migration.keep,
                **_last_run(runs, verdict.id),
            }
            for migration, verdict in zip(wanted, verdicts, strict=True)
        ],
        "searched": list(task.materials.migrations().searched),
    }


def _last_run(runs: list[Object], migration: str) -> dict[str, Any]:
    """When and in which run a migration last had something to do, of the runs that are kept."""
    for run in runs:
        outcome = ((run.get("status") or {}).get("migrations") or {}).get(migration) or {}
        if outcome.get("wrote"):
            return {
                "last_run": run["metadata"]["name"],
                "last_run_at": run["spec"].get("startedAt", ""),
                "last_state": outcome.get("state", ""),
                "last_seconds": outcome.get("seconds", 0.0),
            }
    return {"last_run": "", "last_run_at": "", "last_state": "", "last_seconds": 0.0}


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
