# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts a run: pure."""

from __future__ import annotations

from dataclasses import replace

from .._jobs.job_template import BuiltJob, build_job, job_name
from .._timestamp import timestamp
from .earlier_jobs import deletions_at_start
from .errand_model import ERRAND_LABEL, RUN_LABEL, ErrandPhase, Run, RunReason, label_value
from .errand_steps import CreateJob, Step
from .errand_view import CurrentConfiguration, ErrandView
from .holding_container import job_with_output
from .status_change import write_status

AUTOMATIC_REASONS = frozenset({RunReason.ONCE, RunReason.CONFIGURATION_CHANGED})


def start_steps(view: ErrandView, reason: RunReason, warnings: tuple[str, ...] = ()) -> tuple[Step, ...]:
    """Record a run in the status, and create its Job: the second writer loses the first, or finds the Job."""
    errand = view.errand
    run = _next_run(view, reason)
    create = CreateJob(job_with_output(job_of_next_run(view).job, errand, view.options.holder_image))
    if run is errand.status.run:
        return (create,)
    digest = run.template_digest if reason in AUTOMATIC_REASONS else errand.status.once_digest
    status_write = write_status(
        view,
        warnings=warnings,
        phase=ErrandPhase.RUNNING,
        message="",
        run=run,
        once_digest=digest,
        request=errand.request or errand.status.request,
    )
    steps: list[Step] = [create] if status_write is None else [status_write, create]
    return (*steps, *deletions_at_start(view, run))


def job_of_next_run(view: ErrandView) -> BuiltJob:
    """The Job of the run that starts next, or is recorded and has no Job yet; without its output."""
    errand = view.errand
    number = _next_number(view)
    return build_job(
        errand.spec.template,
        name=job_name(errand.key.name, number),
        namespace=errand.key.namespace,
        owner=errand.owner,
        labels={ERRAND_LABEL: label_value(errand.key.name), RUN_LABEL: str(number)},
        secret_names=_configuration(view).secret_names,
    )


def _next_run(view: ErrandView, reason: RunReason) -> Run:
    errand = view.errand
    number = _next_number(view)
    run = Run(
        number=number,
        reason=reason,
        generation=errand.generation,
        template_digest=errand.spec.template_digest,
        job=job_name(errand.key.name, number),
        recorded_at=timestamp(view.now),
        request=errand.request,
        configuration=_configuration(view).entries,
    )
    recorded = errand.status.open_run
    # It is recorded already with the same values, so it is not recorded again.
    return recorded if recorded and replace(run, recorded_at=recorded.recorded_at) == recorded else run


def _next_number(view: ErrandView) -> int:
    last = view.errand.status.run
    if last is None:
        return 1
    return last.number if last.is_open else last.number + 1


def _configuration(view: ErrandView) -> CurrentConfiguration:
    return view.configuration or CurrentConfiguration()
