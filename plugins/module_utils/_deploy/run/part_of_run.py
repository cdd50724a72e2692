# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task as a part of a run that another task has begun, or outside of every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..._carrier.task import Result, Task
from ..._errors import LifecycleError
from ..._release.model import NO_PROFILE, rendering_digest
from ..._runs.lease.lease_session import run_under_lease
from ..._runs.lease.own_lease import run_with_own_lease
from ..._runs.records.run_record import begin_of
from ..._runs.records.runs import new_run_name, read_run
from ..._threads import call_in_threads


def work_for_run(
    task: Task,
    run: str,
    work: Callable[[Task, Mapping[str, Any]], Result],
    *,
    kind: str,
    has_migrations: bool,
    beside: Callable[[], object] = lambda: None,
) -> Result:
    """Work under the lease of a run with what its plan has seen; outside of a run under a separate lease.

    Args:
        task: that works.
        run: its name, or empty.
        work: gets the task with the lease, and the record of the run, which is empty outside of one.
        kind: of the work, for the holder of a separate lease.
        has_migrations: whether the work runs migrations, whose code must be the planned one.
        beside: reads more of the cluster beside the record of the run, if there is one.

    Raises:
        LifecycleError: the release or the migrations have changed since the plan, or the lease is lost.
    """
    if not run:
        return run_with_own_lease(task, f"{kind}-{new_run_name()}", lambda leased: work(leased, {}))
    # The fingerprint, which is needed from here on, is read in the meantime.
    record, *_others = call_in_threads(
        lambda: read_run(task.cluster, run),
        beside,
        lambda: task.materials.fingerprint() if task.materials.has_release else None,
    )
    task = _with_planned_release(task, record)
    if has_migrations:
        _require_planned_code(task, record)
    with run_under_lease(task, record) as working_task:
        return work(working_task, record)


def _with_planned_release(task: Task, record: Mapping[str, Any]) -> Task:
    """The task with the planned release, in the planned profile.

    Another one is refused: no user has seen what it would do.

    Args:
        task: a task of the run, which reads the release.
        record: of its run; the run of a deletion has no planned release.

    Raises:
        LifecycleError: the release is another one.
    """
    begin = begin_of(record)
    planned, profile = begin.digest, begin.profile
    if not (planned and task.materials.has_release):
        return task
    requested = task.params["profile"]
    is_other = requested and requested != (profile or NO_PROFILE)
    if is_other or rendering_digest(task.materials.fingerprint(), profile) != planned:
        raise LifecycleError(
            "the release has changed since the plan was made: its files, its profile, its values, or the"
            " program that renders it. This task has written nothing; run the playbook again to plan again"
        )
    return replace(task, materials=task.materials.for_profile(profile))


def _require_planned_code(task: Task, record: Mapping[str, Any]) -> None:
    """Refuse migration code other than the planned code, for the same reason.

    :meth:`MigrationRunner.bound_to_plan` checks folders that the plan has not searched: a role may pass its
    own folder to its task.

    Args:
        task: a task that runs migrations.
        record: of its run; the run of a deletion has no planned code.

    Raises:
        LifecycleError: the code is different.
    """
    planned = begin_of(record).code
    if not planned:
        return
    current = task.materials.migrations().code
    changed = [folder for folder, code in current.items() if planned.get(folder, code) != code]
    if changed:
        raise LifecycleError(
            f"the migrations in {', '.join(changed)} have changed since the plan was made. This task has "
            f"written nothing; run the playbook again to plan again"
        )
