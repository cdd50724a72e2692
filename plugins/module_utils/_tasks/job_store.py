# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``job_store``: installs the job store, and sets its switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._carrier.task import Result, Task, TaskDefinition
from .._custom_resources.installed_kinds import INSTALLATION
from .._objects.apply.diff import diff_of
from .._store.job_list import list_differences
from .._store.store_kinds import STORE_KINDS
from .._store.switches import (
    SourceOfTruth,
    StoreSwitches,
    UnknownJobs,
    read_switches,
    switches_object,
    write_switches,
)
from .shared.job_store_access import IMPORT_COMMAND, lost_kinds, read_jobs, store_cluster


def job_store(task: Task) -> Result:
    """Install the store if it is not current, and set the switches that the options name."""
    cluster = store_cluster(task)
    state = STORE_KINDS.state(cluster)
    lost = lost_kinds(cluster)
    if lost:
        # Without them, the lists that decide about the switches are incomplete.
        STORE_KINDS.update(cluster, state, task.batch(*INSTALLATION))
        state = STORE_KINDS.state(cluster)
    before = read_switches(cluster)
    after = _requested_switches(before, task.params)
    differences: list[str] = []
    if after != before:
        snapshot = read_jobs(cluster, ())
        differences = list_differences(snapshot, after)
        if differences and not task.params["force"]:
            return _refused(before, after, differences, lost)
    is_installed, warnings = STORE_KINDS.update(cluster, state, task.batch(*INSTALLATION))
    is_installed = is_installed or bool(lost)
    if after != before:
        write_switches(cluster, after)
    result: Result = {
        "changed": is_installed or after != before,
        "source_of_truth": str(after.source_of_truth),
        "unknown_jobs": str(after.unknown_jobs),
        "differences": differences,
        "definition_installed": is_installed,
        "warnings": [*warnings, *_loss_warnings(lost)],
    }
    if task.diff:
        result["diff"] = [diff_of(switches_object(before), switches_object(after))] if after != before else []
    return result


def _requested_switches(before: StoreSwitches, params: Mapping[str, Any]) -> StoreSwitches:
    return StoreSwitches(
        SourceOfTruth(params["source_of_truth"] or before.source_of_truth),
        UnknownJobs(params["unknown_jobs"] or before.unknown_jobs),
    )


def _loss_warnings(lost: Sequence[str]) -> list[str]:
    text = (
        f"the API server did not serve {', '.join(lost)}, and what was stored as such is lost. Create the"
        f" definitions of what runs, and check the switches:\n{IMPORT_COMMAND}"
    )
    return [text] if lost else []


def _refused(
    before: StoreSwitches, after: StoreSwitches, differences: list[str], lost: Sequence[str]
) -> Result:
    listed = "\n".join(f"- {one}" for one in differences)
    return {
        "failed": True,
        "changed": bool(lost),
        "differences": differences,
        "definition_installed": bool(lost),
        "warnings": _loss_warnings(lost),
        "msg": (
            f"cannot switch the job store from {_words(before)} to {_words(after)}: lists of jobs would"
            f" change. {'The switches stay' if lost else 'Nothing was written'}.\n{listed}\n"
            "Put a drifted job back with stored_job, import a job without a definition with"
            " stored_job_import, or set force (kyma_job_store_force=true)"
        ),
    }


def _words(switches: StoreSwitches) -> str:
    return f"{switches.source_of_truth} + {switches.unknown_jobs}"


DEFINITION = TaskDefinition(
    function=job_store,
    argument_spec={
        "source_of_truth": {"type": "str", "choices": [str(one) for one in SourceOfTruth]},
        "unknown_jobs": {"type": "str", "choices": [str(one) for one in UnknownJobs]},
        "force": {"type": "bool", "default": False},
    },
)
