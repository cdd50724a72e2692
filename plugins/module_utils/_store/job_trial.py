# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the API server by a strict dry run whether it would take the objects of a job."""

from __future__ import annotations

from .._cluster.cluster import Cluster, ref_of
from .._cluster.errors import ApiError, is_dry_run_refused
from .._job_models.core_job import MAPPINGS, CoreJob
from .._job_models.drift import find_drift
from .._job_models.runtime.runtime_objects import runtime_objects
from .._text import one_line

_WITH_FORMS_OF_KUBERNETES = {*MAPPINGS, "volumes"}
_NO_PROBLEMS = ("admission webhook", "already allocated")
"""Refusals of what is no form of an object. A Service that exists has its address."""


def try_job(cluster: Cluster, job: CoreJob) -> tuple[list[str], list[str]]:
    """The problems and the warnings about a job, each in a sentence without its full stop.

    A problem is what the API server refuses in the form of an object, such as an unknown field. A warning is
    a value that it sets itself and this collection does not know, so that it would be listed as drift.
    Without the right to create the object, there are none.

    Args:
        cluster: where to ask. It writes nothing.
        job: a valid one. If it has only short forms, which need no trial, nothing is asked.
    """
    if job.given.isdisjoint(_WITH_FORMS_OF_KUBERNETES):
        return [], []
    problems, warnings = [], []
    for obj in runtime_objects(job):
        try:
            answer = cluster.validate(obj)
        except ApiError as refusal:
            if _is_problem(refusal):
                kind = ref_of(obj).kind
                problems.append(f"the API server refuses its {kind}: {one_line(refusal.api_message)}")
        else:
            warnings += [
                f"the API server sets {drift.field} of its {ref_of(obj).kind} to {one_line(drift.actual)},"
                " which would be listed as drift; set it as well"
                for drift in find_drift(obj, answer)
            ]
    return problems, warnings


def _is_problem(refusal: ApiError) -> bool:
    is_of_form = refusal.status in (400, 422) and not is_dry_run_refused(refusal)
    return is_of_form and not any(mark in refusal.api_message for mark in _NO_PROBLEMS)
