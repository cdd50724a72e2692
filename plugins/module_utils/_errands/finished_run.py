# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is left to do after a run has ended: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._cluster.owner_references import is_owned_by
from .._jobs.job_outcome import DEADLINE_EXCEEDED
from .earlier_jobs import deletions_of_earlier_jobs
from .errand_model import Run, Strategy
from .errand_steps import (
    STOP_DEADLINE,
    AdoptPod,
    Decision,
    DeleteJob,
    DisownStrategy,
    SetStrategy,
    Step,
    StopJob,
)
from .errand_view import ErrandView
from .holding_container import recorded_output
from .open_errand_run import HOLDER_FAILED, POD_REFUSED, has_ended_or_gone

DELETE_LABEL = ("delete", "pod")
"""The label of a pod's template by which a succeeded run's pod is deleted with its Job."""
STOPPED = frozenset({DEADLINE_EXCEEDED, HOLDER_FAILED, POD_REFUSED})
"""Reasons of failures with which containers may still run, or start."""
END_SECONDS = 2.0
"""How often to look whether a pod has come to its end."""


def finish_steps(view: ErrandView) -> Decision:
    """The steps after the end: reset the strategy, delete a succeeded Job, and its pod if that is wanted.

    They also delete Jobs of earlier runs.
    """
    run = view.errand.status.run
    if run is None or run.outcome is None:
        return Decision()
    cleaning = _cleaning(view, run)
    return Decision(
        (*_strategy(view, run), *cleaning.steps, *deletions_of_earlier_jobs(view)), cleaning.recheck_seconds
    )


def _strategy(view: ErrandView, run: Run) -> tuple[Step, ...]:
    """``now`` becomes ``manual``, and ``once`` becomes ``done``, after the run and only once.

    If an applier sets it again, it stays as set: a tool that declares it would otherwise set it back for
    ever.
    """
    errand = view.errand
    if errand.strategy_owner.blocks_applier:
        return (DisownStrategy(),)
    if run.ended_generation != errand.generation:
        return ()
    strategy = errand.spec.strategy
    if strategy is Strategy.ONCE and run.template_digest == errand.spec.template_digest:
        return (SetStrategy(Strategy.DONE),)
    if strategy is Strategy.NOW and run.generation == errand.generation:
        return (SetStrategy(Strategy.MANUAL),)
    return ()


def _cleaning(view: ErrandView, run: Run) -> Decision:
    job, pod = view.job, view.pod
    if job is None or job["metadata"].get("deletionTimestamp") or run.outcome is None:
        return Decision()
    if not run.outcome.is_success:
        is_stopped = has_ended_or_gone(job) or job["spec"].get("activeDeadlineSeconds") == STOP_DEADLINE
        stops = run.outcome.reason in STOPPED and not is_stopped
        return Decision((StopJob(job["metadata"]["name"], run.job_uid),) if stops else ())
    is_retained = pod is not None and _outlives(pod, job)
    if pod and is_retained and (pod.get("status") or {}).get("phase") not in {"Succeeded", "Failed"}:
        return Decision(recheck_seconds=END_SECONDS)
    return Decision((*retain_pod(view), DeleteJob(job["metadata"]["name"], run.job_uid)))


def retain_pod(view: ErrandView) -> tuple[Step, ...]:
    """The step by which the pod of the last run stays when its Job is deleted, if that is wanted.

    It precedes all that may delete the Job: this clean-up, and the start of the next run.
    """
    job, pod, run = view.job, view.pod, view.errand.status.run
    if job is None or pod is None or run is None or run.outcome is None or not run.outcome.is_success:
        return ()
    is_owned = is_owned_by(pod, view.errand.uid)
    return () if is_owned or not _outlives(pod, job) else (AdoptPod(pod),)


def _outlives(pod: Mapping[str, Any], job: Mapping[str, Any]) -> bool:
    """Whether the pod of a succeeded run stays when its Job is deleted."""
    key, value = DELETE_LABEL
    return (pod["metadata"].get("labels") or {}).get(key) != value and not _runs_only_injected(job, pod)


def _runs_only_injected(job: Mapping[str, Any], pod: Mapping[str, Any]) -> bool:
    """Whether all containers have ended except injected ones, which may never end."""
    output = recorded_output(job)
    own = {*output.containers, *output.holders.values()}
    running = {
        str(one["name"])
        for one in (pod.get("status") or {}).get("containerStatuses") or ()
        if "running" in (one.get("state") or {})
    }
    return bool(running) and not running & own
