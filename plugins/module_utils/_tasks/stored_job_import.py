# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``stored_job_import``: creates the definitions of all jobs that exist."""

from __future__ import annotations

from .._carrier.task import Result, Task, TaskDefinition
from .._cluster.fence import FencedCluster
from .._job_models.storage.definition import CURRENT_VERSION, DEFINITION_KINDS, FIELDS_OF_VERSIONS
from .._objects.apply.diff import diff_of
from .._progress import Step
from .._store.counters import COUNTER_KIND
from .._store.job_import import import_jobs
from .._store.store_kinds import manager_rights
from .shared.job_store_access import RightsGuard, cluster_to_write, counter_rows, read_jobs, write_metrics


def stored_job_import(task: Task) -> Result:
    """Create the missing definitions, and rewrite old ones if requested."""
    params = task.params
    task.progress("import", "reading jobs", "", Step(is_announced=True))
    cluster, warnings = cluster_to_write(task)
    snapshot = read_jobs(cluster, params["namespaces"], params["label_selectors"])
    kinds = [kind for _version, kind in (COUNTER_KIND, *DEFINITION_KINDS.values())]
    rights = {one for namespace in params["namespaces"] or [""] for one in manager_rights(kinds, namespace)}
    guard = RightsGuard(task.cluster, {one for one in rights if one.verb != "delete"}, "import")
    batch = task.batch("import", "writing", "definitions")
    imports = import_jobs(
        FencedCluster(cluster, guard),
        snapshot,
        batch,
        rewrite=params["rewrite"],
        storage_version=params["storage_version"],
    )
    warnings += write_metrics(params["metrics_file"], imports.counters, check_mode=task.check_mode)
    result: Result = {
        "changed": bool(imports.imported or imports.rewritten),
        "imported": [str(one.key) for one in imports.imported],
        "rewritten": [str(one.key) for one in imports.rewritten],
        "unchanged": imports.unchanged,
        "unreadable": list(imports.unreadable),
        "lines": [
            *(f"{one.key}: imported" for one in imports.imported),
            *(f"{one.key}: rewritten" for one in imports.rewritten),
            *imports.unreadable,
        ],
        "counters": counter_rows(imports.counters),
        "warnings": [*warnings, *snapshot.warnings, *imports.warnings],
    }
    result |= batch.stopped()
    if task.diff:
        result["diff"] = [diff_of(one.before, one.after) for one in (*imports.imported, *imports.rewritten)]
    return result


DEFINITION = TaskDefinition(
    function=stored_job_import,
    argument_spec={
        "namespaces": {"type": "list", "elements": "str", "default": [], "aliases": ["namespace"]},
        "label_selectors": {"type": "list", "elements": "str", "default": []},
        "rewrite": {"type": "bool", "default": False},
        "storage_version": {
            "type": "int",
            "choices": [*FIELDS_OF_VERSIONS],
            "default": CURRENT_VERSION,
        },
        "metrics_file": {"type": "path"},
    },
)
