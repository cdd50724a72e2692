# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that has not ended: pure."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from .._cluster.cluster import Object
from .._cluster.owner_references import is_owned_by, owners_in
from .._jobs.job_outcome import (
    DEADLINE_EXCEEDED,
    DISRUPTED,
    POD_LOST,
    JobOutcome,
    RunPhase,
    disruption_of,
    ended_containers,
    has_ended,
    job_outcome,
    pod_outcome,
)
from .._jobs.run_history import history_entry, with_names_of_newest, with_run
from .._text import one_line
from .._timestamp import parse_time, precise_timestamp
from .errand_model import KIND, ErrandPhase, OutputNote, Run
from .errand_steps import (
    QUOTA_ANNOTATION,
    CollectOutput,
    Decision,
    DeleteJob,
    ReleaseHolders,
    RenewHold,
    RequestPod,
    Step,
)
from .errand_validation import errand_problems
from .errand_view import ErrandView
from .holding_container import RecordedOutput, recorded_output
from .new_run import AUTOMATIC_REASONS, start_steps
from .output import LOST, NAMESPACE_DELETED
from .status_change import write_status

HOLDER_FAILED, IMAGE_PULL_FAILED = "HolderFailed", "ImagePullFailed"
NAME_TAKEN, POD_REFUSED, REFUSED = "NameTaken", "PodRefused", "Refused"
NAME_SECONDS = 2.0
"""How often to look whether the Job of an earlier errand of the same name has gone."""
GONE_SECONDS = 2.0
"""How often to look whether the pod of a deleted Job has gone."""
RELEASE_SECONDS = 2.0
"""How often to release a holding container that still runs."""
LONGEST_CAUSE = 600
"""Characters of what the kubelet says."""
LONGEST_NAMES = 300_000
"""Characters of the names of Secrets in the history. Those of one run fit, and etcd takes 1.5 MiB in all."""
START_SECONDS = 10.0
"""After how long without a pod to look for the reason."""
REASON_SECONDS = 60.0
"""How often to look for another reason than a quota, of which no watch tells."""
_FIRST_PULL_FAILURE = frozenset({"ErrImagePull"})
"""The kubelet says in turns that a pull failed, and that it is put off."""
PULL_FAILURES = _FIRST_PULL_FAILURE | {
    "ErrImageNeverPull",
    "ImageInspectError",
    "ImagePullBackOff",
    "InvalidImageName",
    "RegistryUnavailable",
    "SignatureValidationFailed",
}
"""Why a container waits whose image can't be pulled."""
HINDRANCES = PULL_FAILURES | {"CreateContainerConfigError", "CreateContainerError", "RunContainerError"}
"""Why a container waits, for people."""
FATAL_WAITS = HINDRANCES - _FIRST_PULL_FAILURE
"""Why a container waits that will not start by itself."""
HAD_STARTED = "A container had started before that"


def open_run_decision(view: ErrandView) -> Decision:
    """The decision on a run that has not ended."""
    errand, job = view.errand, view.job
    run = errand.status.open_run
    if run is None:
        return Decision()
    if job is None and not run.job_uid and not view.has_started:
        return _start_again(view, run)
    if job is not None and not is_owned_by(job, errand.uid):
        return _with_name_taken(view, run, job)
    if job is not None and not run.job_uid:
        return _with_job(view, run, job)
    return _OpenRun(view, run, errand.status.once_digest).decision()


def _with_job(view: ErrandView, run: Run, job: Mapping[str, Any]) -> Decision:
    """From here on the run has its Job, and it is of the template that the Job was created from."""
    made = recorded_output(job)
    run = replace(
        run,
        job_uid=job["metadata"]["uid"],
        generation=made.generation or run.generation,
        template_digest=made.template_digest or run.template_digest,
    )
    once_digest = view.errand.status.once_digest
    if run.reason in AUTOMATIC_REASONS:
        once_digest = run.template_digest
    return _OpenRun(view, run, once_digest).decision()


def _start_again(view: ErrandView, run: Run) -> Decision:
    """The Job of a run that is recorded and whose Job was never created."""
    if problems := errand_problems(view.errand):
        return Decision(end_steps(view, run, JobOutcome(False, REFUSED, "; ".join(problems))))
    if view.configuration and view.configuration.missing:
        message = "waiting for " + ", ".join(view.configuration.missing)
        status_write = write_status(view, phase=ErrandPhase.WAITING, message=message)
        return Decision(() if status_write is None else (status_write,))
    return Decision(start_steps(view, run.reason))


def _with_name_taken(view: ErrandView, run: Run, job: Mapping[str, Any]) -> Decision:
    meta = job["metadata"]
    if meta.get("deletionTimestamp") or any(one.get("kind") == KIND for one in owners_in(job)):
        # Of an errand that had the same name and is gone: the garbage collector deletes it.
        return Decision(recheck_seconds=NAME_SECONDS)
    message = f"Job {meta['name']} exists, and does not belong to this errand. Delete or rename it"
    return Decision(end_steps(view, run, JobOutcome(False, NAME_TAKEN, message)))


class _OpenRun:
    """A run whose Job was created."""

    def __init__(self, view: ErrandView, run: Run, once_digest: str) -> None:
        self._view = view
        self._run = run
        self._once_digest = once_digest
        self._pod: Object = view.pod or {}
        source = view.job or view.pod
        self._output = recorded_output(source) if source else RecordedOutput(view.errand.spec.output)
        own = set(self._output.containers)
        self._ignored = {name for name in _container_names(self._pod) if own and name not in own}
        self._ended = ended_containers(self._pod, self._output.containers)
        self._statuses = _statuses(self._pod, "containerStatuses")
        self._holders = _holder_states(self._pod, self._output)

    def decision(self) -> Decision:
        """The decision on the run."""
        return (
            self._lost_holder()
            or self._collection()
            or self._release()
            or self._failed_pull()
            or self._ending()
            or self._refused_pod()
            or self._waiting()
        )

    @property
    def _is_collectable(self) -> bool:
        """Whether all output exists, is wanted, and is not collected yet."""
        spec = self._output.spec
        return (
            bool(spec.files)
            and self._run.output is None
            and not self._view.is_namespace_ending
            and set(spec.containers) <= self._ended.keys()
            and (spec.writes_on_failure or not self._has_failed)
        )

    @property
    def _has_failed(self) -> bool:
        return any(end.exit_code for end in self._ended.values())

    def _lost_holder(self) -> Decision | None:
        """A holding container that can't start, or has ended before its output was read."""
        if self._run.output is not None:
            return None
        for holder, state in self._holders.items():
            waiting = state.get("waiting") or {}
            if waiting.get("reason") in FATAL_WAITS:
                message = (
                    f"container {holder}, which keeps the output readable, can't start: {waiting['reason']}:"
                    f" {waiting.get('message') or 'no reason is given'}. Set kyma_errand_holder_image to an"
                    " image that the cluster can pull"
                )
                return Decision(self._end(self._failure(HOLDER_FAILED, one_line(message))))
            ended = state.get("terminated")
            if ended and self._is_collectable:
                message = (
                    f"container {holder}, which keeps the output readable, ended with exit code"
                    f" {ended.get('exitCode')} before the output was read"
                )
                outcome = self._pod_outcome()
                lost = self._failure(LOST, message)
                return Decision(self._end(lost if outcome is None or outcome.is_success else outcome))
        return None

    def _collection(self) -> Decision | None:
        if not self._is_collectable or not self._pod:
            return None
        if len(_running(self._holders)) < len(self._holders):
            return None
        return Decision((CollectOutput(self._pod, self._output),))

    def _release(self) -> Decision | None:
        """End the holding containers whose output is read, or is not wanted."""
        running = _running(self._holders)
        has_ended_all = set(self._output.spec.containers) <= self._ended.keys()
        # The kubelet does not say that a container of a deleted pod has ended before all of them have.
        is_decided = self._run.output is not None or (
            not self._is_collectable and (has_ended_all or self._view.is_namespace_ending)
        )
        if not running or not is_decided:
            return None
        release = ReleaseHolders(self._pod["metadata"]["name"], running)
        ending = self._ending()
        if ending:
            return Decision((release, *ending.steps))
        return Decision((release, *self._status_update().steps), RELEASE_SECONDS)

    def _ending(self) -> Decision | None:
        """End the run, once its own containers or its Job have ended."""
        view, run = self._view, self._run
        outcome = self._pod_outcome()
        if outcome is None:
            pods = [self._pod] if self._pod else []
            phase, outcome = job_outcome(view.job, pods, ignored_containers=self._ignored)
            if phase is not RunPhase.ENDED or outcome is None:
                return self._overdue()
        elif self._is_collectable and not has_ended_or_gone(view.job):
            # Its own containers have ended, and a holding one has not begun yet.
            return None
        if outcome.reason == POD_LOST and run.disruption:
            outcome = replace(outcome, reason=DISRUPTED, message=run.disruption)
        is_lost = outcome.is_success or outcome.reason == POD_LOST
        if is_lost and run.output is None and self._output.spec.files:
            message = "the Job has ended, and its output was not read in time"
            outcome = JobOutcome(False, LOST, message, outcome.exit_code, outcome.started, outcome.finished)
        return Decision(self._end(_with_output(outcome, run.output)))

    def _failed_pull(self) -> Decision | None:
        """Delete the Job whose image can't be pulled; the run fails when nothing of it can start any more."""
        run, job = self._run, self._view.job
        if not run.pull_failure:
            left = self._seconds_to_pull_limit()
            if left is None or left > 0:
                return None
            limit = f"{self._view.options.image_pull_seconds:g} s, which is kyma_errand_image_pull_seconds"
            text = f"{self._unpulled()} (for {limit}). Its Job was deleted"
            run = replace(run, pull_failure=text)
        elif job is not None and self._started_containers():
            # The image was there in time.
            self._run = replace(run, pull_failure="")
            return None
        elif self._started_containers() and HAD_STARTED not in run.pull_failure:
            run = replace(run, pull_failure=f"{run.pull_failure}. {HAD_STARTED}")
        outcome = self._pod_outcome()
        if outcome is not None and outcome.is_success:
            return None
        if job is None and not self._pod:
            return Decision(self._end(self._failure(IMAGE_PULL_FAILED, run.pull_failure)))
        text = run.pull_failure
        status_write = write_status(self._view, run=run, phase=ErrandPhase.RUNNING, message=text)
        steps: list[Step] = [] if status_write is None else [status_write]
        if job is not None and not job["metadata"].get("deletionTimestamp"):
            steps.append(DeleteJob(run.job, run.job_uid))
        return Decision(tuple(steps), GONE_SECONDS)

    def _seconds_to_pull_limit(self) -> float | None:
        """Seconds until an image counts as one that can't be pulled; None if nothing waits for one alone."""
        started = self._started_containers()
        is_working = any("running" in state for state in started)
        if self._view.job is None or is_working or not self._unpulled():
            return None
        status = self._pod["status"]
        times = [status.get("startTime"), *(state["terminated"].get("finishedAt") for state in started)]
        times += [
            one.get("lastTransitionTime")
            for one in status.get("conditions") or ()
            if one.get("type") == "Initialized"
        ]
        since = max(filter(None, map(parse_time, times)), default=self._view.now)
        return self._view.options.image_pull_seconds - (self._view.now - since).total_seconds()

    def _unpulled(self) -> str:
        return self._waiting_container(PULL_FAILURES, self._ignored)

    def _started_containers(self) -> list[Mapping[str, Any]]:
        """The states of the own containers that have ever started."""
        states = [
            status.get("state") or {}
            for name, status in self._statuses.items()
            if name not in {*self._ignored, *self._output.holders.values()}
        ]
        # The kubelet also calls one terminated that was deleted before it started.
        return [one for one in states if "running" in one or (one.get("terminated") or {}).get("startedAt")]

    def _pod_outcome(self) -> JobOutcome | None:
        if not self._pod:
            return None
        return pod_outcome(self._view.job, self._pod, ignored_containers=self._ignored)

    def _overdue(self) -> Decision | None:
        """The deadline of the own containers. That of the Job is later, so that the output can be read."""
        left = self._seconds_to_deadline()
        if left is None or left > 0:
            return None
        message = f"its containers ran for longer than activeDeadlineSeconds, {self._output.deadline} s"
        return Decision(self._end(self._failure(DEADLINE_EXCEEDED, message)))

    def _refused_pod(self) -> Decision | None:
        """A pod that is refused for so long that the cause does not end by itself."""
        left = self._seconds_to_refusal()
        if left is None or left > 0:
            return None
        refusal = one_line(self._view.pod_refusal, LONGEST_CAUSE)
        limit = f"for {self._view.options.refused_pod_seconds:g} s, which is kyma_errand_refused_pod_seconds"
        return Decision(self._end(self._failure(POD_REFUSED, f"{refusal} ({limit})")))

    def _seconds_to_refusal(self) -> float | None:
        view = self._view
        if self._pod or view.refused_since is None:
            return None
        return view.options.refused_pod_seconds - (view.now - view.refused_since).total_seconds()

    def _waiting(self) -> Decision:
        """Wait, and renew the holding containers if necessary."""
        update = self._status_update()
        hold = self._renewal()
        deadline = self._seconds_to_deadline()
        seconds = (
            update.recheck_seconds,
            hold.recheck_seconds,
            None if deadline is None else max(0.1, deadline),
            self._seconds_to_refusal(),
            self._seconds_to_pull_limit(),
        )
        steps = (*update.steps, *hold.steps, *self._requested_pod())
        return Decision(steps, min((one for one in seconds if one), default=None))

    def _requested_pod(self) -> tuple[Step, ...]:
        """Have the Job controller create a pod that a quota refused: it would wait for up to a minute."""
        view, job, grown = self._view, self._view.job, self._view.quota_grown
        if self._pod or view.refused_since or job is None or grown is None or job["spec"].get("suspend"):
            return ()
        meta = job["metadata"]
        created, mark = parse_time(meta.get("creationTimestamp")), precise_timestamp(grown)
        is_known = (meta.get("annotations") or {}).get(QUOTA_ANNOTATION) == mark
        if is_known or created is None or created > grown:
            return ()
        return (RequestPod(str(meta["name"]), str(meta["uid"]), mark),)

    def _status_update(self) -> Decision:
        view, run = self._view, self._run
        pods = [self._pod] if self._pod else []
        phase, _outcome = job_outcome(view.job, pods, ignored_containers=self._ignored)
        shown = ErrandPhase.QUEUED if phase is RunPhase.QUEUED else ErrandPhase.RUNNING
        message = self._hindrance() if shown is ErrandPhase.RUNNING else f"Job {run.job} is suspended"
        status_write = write_status(
            view,
            run=run if run.disruption else replace(run, disruption=self._disruption()),
            once_digest=self._once_digest,
            phase=shown,
            message=message,
        )
        has_reason = bool(self._pod or view.refused_since or shown is ErrandPhase.QUEUED)
        no_pod_yet = REASON_SECONDS if message else START_SECONDS
        return Decision(() if status_write is None else (status_write,), None if has_reason else no_pod_yet)

    def _disruption(self) -> str:
        return disruption_of(self._pod, ignored_containers=self._ignored) if self._pod else ""

    def _hindrance(self) -> str:
        """Why the run does not progress; empty if it does."""
        if not self._pod:
            return self._view.pod_refusal
        text = self._waiting_container(HINDRANCES)
        advice = (
            "Remove the cause. If that takes another template, change it and delete Job"
            f" {self._run.job}: the changed one runs then"
        )
        return f"{text}. {advice}" if text else ""

    def _waiting_container(self, reasons: Container[str], ignored: Container[str] = ()) -> str:
        """The first container that waits for one of some reasons, and why; empty if none does."""
        for name, status in {**_statuses(self._pod, "initContainerStatuses"), **self._statuses}.items():
            waiting = (status.get("state") or {}).get("waiting") or {}
            if waiting.get("reason") in reasons and name not in ignored:
                cause = f"{waiting['reason']}: {waiting.get('message') or 'no message'}"
                return one_line(f"container {name} can't start: {cause}", LONGEST_CAUSE)
        return ""

    def _renewal(self) -> Decision:
        """A container that has written its output and still runs must not lose it."""
        running = _running(self._holders)
        if not running or set(self._output.spec.containers) <= self._ended.keys():
            return Decision()
        every = self._output.spec.hold_seconds / 2
        last = self._view.renewed or parse_time((self._pod.get("status") or {}).get("startTime"))
        left = every if last is None else every - (self._view.now - last).total_seconds()
        if left > 0:
            return Decision(recheck_seconds=left)
        return Decision((RenewHold(self._pod["metadata"]["name"], running),), every)

    def _seconds_to_deadline(self) -> float | None:
        job = self._view.job
        started = parse_time((job.get("status") or {}).get("startTime")) if job else None
        if started is None or not self._output.deadline or not self._output.holders:
            return None
        return (started + timedelta(seconds=self._output.deadline) - self._view.now).total_seconds()

    def _failure(self, reason: str, message: str) -> JobOutcome:
        started = str((self._pod.get("status") or {}).get("startTime") or "")
        finished = max((end.finished for end in self._ended.values()), default="")
        return JobOutcome(False, reason, message, started=started, finished=finished)

    def _end(self, outcome: JobOutcome) -> tuple[Step, ...]:
        if self._view.is_namespace_ending and not outcome.is_success:
            text = f"Namespace {self._view.errand.key.namespace} is being deleted, and this run with it"
            outcome = replace(outcome, reason=NAMESPACE_DELETED, message=text)
        return end_steps(self._view, self._run, outcome)


def end_steps(view: ErrandView, run: Run, outcome: JobOutcome) -> tuple[Step, ...]:
    errand = view.errand
    ended = replace(run, outcome=outcome, ended_generation=errand.generation)
    output = run.output or OutputNote()
    pruned = {"pruned": list(output.pruned)} if output.pruned else {}
    secrets = list(output.secrets)
    entry = history_entry(run.number, outcome, why=str(run.reason), secrets=secrets, **pruned)
    status_write = write_status(
        view,
        phase=ErrandPhase.SUCCEEDED if outcome.is_success else ErrandPhase.FAILED,
        message=outcome.message,
        run=ended,
        history=tuple(
            with_names_of_newest(with_run(errand.status.history, entry), ("secrets", "pruned"), LONGEST_NAMES)
        ),
    )
    return () if status_write is None else (status_write,)


def _with_output(outcome: JobOutcome, output: OutputNote | None) -> JobOutcome:
    """How a run ended, with its output."""
    if output is None or not output.message:
        return outcome
    if outcome.is_success and output.reason:
        return replace(outcome, is_success=False, reason=output.reason, message=output.message)
    return replace(outcome, message=one_line(f"{outcome.message} Its output: {output.message}"))


def _statuses(pod: Mapping[str, Any], field: str) -> dict[str, Mapping[str, Any]]:
    return {str(one["name"]): one for one in (pod.get("status") or {}).get(field) or ()}


def running_holders(pod: Mapping[str, Any]) -> tuple[str, ...]:
    """The holding containers of a pod that run."""
    return _running(_holder_states(pod, recorded_output(pod)))


def _holder_states(pod: Mapping[str, Any], output: RecordedOutput) -> dict[str, Mapping[str, Any]]:
    statuses = _statuses(pod, "containerStatuses")
    return {one: (statuses.get(one) or {}).get("state") or {} for one in output.holders.values()}


def _running(states: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(name for name, state in states.items() if "running" in state)


def _container_names(pod: Mapping[str, Any]) -> list[str]:
    return [str(one["name"]) for one in (pod.get("spec") or {}).get("containers") or ()]


def has_ended_or_gone(job: Mapping[str, Any] | None) -> bool:
    """Whether a Job has ended, or is gone."""
    return job is None or has_ended(job)
