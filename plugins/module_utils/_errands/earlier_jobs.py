# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Jobs of an errand are old, and when they are deleted: at the start of the next run. Pure.

The Job of a run that has succeeded is deleted before, when the run ends; see ``finished_run``. So the Job of
a run that has failed stays until the next one starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._cluster.cluster import Object
from .._cluster.owner_references import is_owned_by
from .errand_model import RUN_LABEL, Errand, Run
from .errand_steps import DeleteJob
from .errand_view import ErrandView


def is_job_of_run(job: Mapping[str, Any], run: Run) -> bool:
    """Whether a Job is that of a run, or has its name while no Job is known to exist."""
    if job["metadata"]["name"] != run.job:
        return False
    return bool(job["metadata"]["uid"] == run.job_uid) if run.job_uid else run.is_open


def find_earlier_jobs(jobs: Iterable[Object], errand: Errand) -> tuple[Object, ...]:
    """The Jobs of runs before the last one, and Jobs created for a run that already had one or had ended.

    Args:
        jobs: those with the errand's label.
        errand: as it is in the cluster.
    """
    run = errand.status.run
    if run is None:
        return ()
    return tuple(
        job
        for job in jobs
        if _is_of_run_until(job, run.number)
        and not is_job_of_run(job, run)
        and not job["metadata"].get("deletionTimestamp")
        and is_owned_by(job, errand.uid)
    )


def _is_of_run_until(job: Mapping[str, Any], last: int) -> bool:
    """A Job of a later run shows that the errand in the index is behind."""
    number = str((job["metadata"].get("labels") or {}).get(RUN_LABEL) or "")
    return number.isdecimal() and int(number) <= last


def deletions_of_earlier_jobs(view: ErrandView) -> tuple[DeleteJob, ...]:
    """The deletions that follow the end of a run. There are some if its start was interrupted."""
    return tuple(map(_deletion, view.earlier_jobs))


def deletions_at_start(view: ErrandView, run: Run) -> tuple[DeleteJob, ...]:
    """The deletions of all Jobs before that of a run that starts now."""
    last = view.job
    is_of_other = last is not None and last["metadata"]["name"] != run.job
    return (*deletions_of_earlier_jobs(view), *([_deletion(last)] if last and is_of_other else []))


def _deletion(job: Object) -> DeleteJob:
    return DeleteJob(str(job["metadata"]["name"]), job["metadata"]["uid"])
