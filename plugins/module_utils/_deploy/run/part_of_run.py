# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task as a part of a run that another task has begun, or outside of every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..._carrier.task import Result, Task
from ..._runs.lease.lease_session import run_under_lease
from ..._runs.lease.own_lease import run_with_own_lease
from ..._runs.records.runs import new_run_name, read_run
from ..._threads import call_in_threads
from ..plan.binding import require_planned_code, with_planned_release


def work_for_run(
    task: Task,
    run: str,
    work: Callable[[Task, Mapping[str, Any]], Result],
    *,
    kind: str,
    has_migrations: bool,
) -> Result:
    """Work under the lease of a run with what its plan has seen; outside of a run under a separate lease.

    Args:
        task: that works.
        run: its name, or empty.
        work: gets the task with the lease, and the record of the run, which is empty outside of one.
        kind: of the work, for the holder of a separate lease.
        has_migrations: whether the work runs migrations, whose code must be the planned one.

    Raises:
        LifecycleError: the release or the migrations have changed since the plan, or the lease is lost.
    """
    if not run:
        return run_with_own_lease(task, f"{kind}-{new_run_name()}", lambda leased: work(leased, {}))
    # The fingerprint, which is needed from here on, is read in the meantime.
    record, _fingerprint = call_in_threads(
        lambda: read_run(task.cluster, run),
        lambda: task.materials.fingerprint() if task.materials.has_release else None,
    )
    task = with_planned_release(task, record)
    if has_migrations:
        require_planned_code(task, record)
    with run_under_lease(task, record) as working_task:
        return work(working_task, record)
