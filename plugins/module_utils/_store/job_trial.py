# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the API server by a strict dry run whether it would take the objects of a job."""

from __future__ import annotations

import json
from collections.abc import Iterator

from .._cluster.cluster import Cluster, Object, ref_of
from .._cluster.errors import AlreadyExists, ApiError, is_dry_run_refused
from .._job_models.core_job import MAPPINGS, CoreJob
from .._job_models.drift import find_drift
from .._job_models.job_fields import given_fields
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
    problems, warnings = [], []
    for obj, answer in _answers(cluster, job):
        if isinstance(answer, ApiError):
            problems += _problems(obj, answer)
        else:
            warnings += [
                f"the API server sets {drift.field} of its {ref_of(obj).kind} to {one_line(drift.actual)},"
                " which would be listed as drift; set it as well"
                for drift in find_drift(obj, answer)
            ]
    return problems, warnings


class JobTrials:
    """The trials of many jobs that run already. Of jobs that differ only in short forms, it tries one.

    Args:
        cluster: where to ask.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._passed: set[str] = set()

    def problems(self, job: CoreJob) -> list[str]:
        """The problems of a job, as of :func:`try_job`."""
        forms = _forms(job)
        if forms in self._passed:
            return []
        answers = _answers(self._cluster, job)
        refusals = [(obj, answer) for obj, answer in answers if isinstance(answer, ApiError)]
        # That an object exists is found out last.
        if all(isinstance(refusal, AlreadyExists) for _obj, refusal in refusals):
            self._passed.add(forms)
        return [problem for obj, refusal in refusals for problem in _problems(obj, refusal)]


def _forms(job: CoreJob) -> str:
    """What of a job has the forms of Kubernetes, in which its own name may stand for that of any job."""
    forms = {name: value for name, value in given_fields(job).items() if name in _WITH_FORMS_OF_KUBERNETES}
    return json.dumps([job.type, forms], sort_keys=True).replace(json.dumps(job.key.name), '""')


def _answers(cluster: Cluster, job: CoreJob) -> Iterator[tuple[Object, Object | ApiError]]:
    """The objects of a job, each with the answer to its dry run."""
    if job.given.isdisjoint(_WITH_FORMS_OF_KUBERNETES):
        return
    for obj in runtime_objects(job):
        try:
            yield obj, cluster.validate(obj)
        except ApiError as refusal:
            yield obj, refusal


def _problems(obj: Object, refusal: ApiError) -> list[str]:
    if not _is_problem(refusal):
        return []
    return [f"the API server refuses its {ref_of(obj).kind}: {one_line(refusal.api_message)}"]


def _is_problem(refusal: ApiError) -> bool:
    is_of_form = refusal.status in (400, 422) and not is_dry_run_refused(refusal)
    return is_of_form and not any(mark in refusal.api_message for mark in _NO_PROBLEMS)
