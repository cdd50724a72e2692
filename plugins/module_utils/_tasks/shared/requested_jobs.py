# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The jobs that a task requests, from its options. Pure. All errors in them are found at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._carrier.options import ArgumentSpec
from ..._cluster.own_objects import LIFECYCLE_NAMESPACE
from ..._errors import LifecycleError
from ..._job_models.core_job import CoreJob, JobKey, JobType
from ..._job_models.field_table import FIELDS
from ..._job_models.job_fields import core_job
from ..._job_models.job_validation import job_problems
from ..._text import one_line

FIELDS_SPEC: ArgumentSpec = {name: dict(one.form.option) for name, one in FIELDS.items()}
"""The fields of a job, as options."""
PRESENT, ABSENT, RESTARTED, SUSPENDED = "present", "absent", "restarted", "suspended"


@dataclass(frozen=True)
class RequestedJob:
    """A job that a task requests.

    Attributes:
        key: identifies it.
        job: the desired job; None if only its name counts.
    """

    key: JobKey
    job: CoreJob | None


def requested_jobs(params: Mapping[str, Any]) -> list[RequestedJob]:
    """The jobs that the options name.

    Args:
        params: plain options of the task ``stored_job``.

    Raises:
        LifecycleError: they have errors.
    """
    _refuse_options(params)
    entries = params["jobs"]
    if entries is None:
        entries = [{name: params[name] for name in ("name", "type", *FIELDS_SPEC)}]
    is_present = params["state"] == PRESENT
    requests: list[RequestedJob] = []
    problems: list[str] = []
    for position, entry in enumerate(entries, start=1):
        fields = {name: value for name, value in entry.items() if value is not None}
        name, type_ = fields.pop("name", ""), fields.pop("type", "")
        namespace = fields.pop("namespace", "") or params["namespace"] or ""
        entry_problems = job_problems(name, type_, fields) if is_present else _problems_of_name(name)
        if not isinstance(namespace, str):
            entry_problems.append(f"namespace is {namespace!r}, and must be a string")
        elif not namespace:
            entry_problems.append("namespace is not set; set it for the task or for the job")
        elif is_present and namespace == LIFECYCLE_NAMESPACE:
            entry_problems.append(
                f"namespace is {namespace}, which has the accounts and tokens of runs; use another one"
            )
        if entry_problems:
            title = one_line(
                f"{namespace or '(no namespace)'}/{name}" if name else f"job {position} of the list"
            )
            problems += [f"{title}: {one}" for one in entry_problems]
            continue
        key = JobKey(namespace, name)
        requests.append(RequestedJob(key, core_job(key, JobType(type_), fields) if is_present else None))
    counts = Counter(one.key for one in requests)
    problems += [f"{key}: the list has this name {count} times" for key, count in counts.items() if count > 1]
    refuse_jobs(problems)
    return requests


def refuse_jobs(problems: Sequence[str]) -> None:
    """End with the problems of jobs, if there are any.

    Raises:
        LifecycleError: with all of them.
    """
    if problems:
        listed = "\n".join(f"- {one}" for one in problems)
        raise LifecycleError(f"the jobs are refused, and nothing was written:\n{listed}")


def _refuse_options(params: Mapping[str, Any]) -> None:
    if not params["prune"]:
        return
    if params["jobs"] is None or params["state"] != PRESENT:
        raise LifecycleError("prune is set, and needs jobs and state=present. Set them, or remove prune")
    if not params["jobs"]:
        raise LifecycleError(
            "jobs is an empty list, and prune would delete all stored jobs. Nothing was written. Delete them"
            " with state=absent, or remove prune"
        )


def _problems_of_name(name: Any) -> list[str]:
    return [] if isinstance(name, str) and name else ["name is not set; set the name of the job"]
