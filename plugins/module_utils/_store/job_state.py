# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a job, from its definition and its runtime objects: pure."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from .._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from .._job_models.core_job import CoreJob, JobType
from .._job_models.defaults import CURRENT_DEFAULTS
from .._job_models.drift import DriftedField, find_drift
from .._job_models.recognition import job_from_runtime
from .._job_models.runtime.probe_commands import is_digest_of
from .._job_models.runtime.runtime_objects import runtime_objects
from .._job_models.storage.definition import StoredDefinition
from .._job_models.storage.stored_status import RUN, StoredStatus
from .._job_models.toolforge import toolforge_job
from .._jobs.job_outcome import COMPLETED, JobOutcome, true_conditions
from .._jobs.run_history import history_entry, with_run
from .._loose_json import mapping_of, number_of, text_of
from .._objects.health.status import CURRENT, FAILED, assess_health
from .snapshot import RuntimeJob, is_podless

ACCOUNT_MARK = "error looking up service account"
"""What the API server says if it refuses a pod because its ServiceAccount does not exist."""
QUOTA_MARK = "exceeded quota"
"""What the API server says if a quota refuses an object."""
OUT_OF_QUOTA = "OutOfQuota"
"""The reason of a job that a quota keeps from running."""
PODS_REFUSED = "PodsRefused"
"""The reason of a job whose pods Kubernetes refuses for anything else."""
ABSENT, PRESENT = "absent", "present"
"""What a drift says of a whole object, which it names with an empty field."""


class JobState(StrEnum):
    """The state of a job."""

    STARTING = "starting"
    """Its pods are not ready yet."""
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    SUSPENDED = "suspended"
    SCHEDULED = "scheduled"
    """It waits for the time of its schedule."""
    DELETING = "deleting"
    MISSING = "missing"
    """It has a definition, and nothing runs."""
    UNKNOWN = "unknown"
    """Something runs that can't be read."""


def running_job(runtime: RuntimeJob) -> CoreJob:
    """The job that runs, from its runtime objects alone.

    Raises:
        UnreadableJob: they are no valid job.
    """
    return toolforge_job(runtime.main, runtime.service) or job_from_runtime(runtime.main, runtime.service)


def is_missing(definition: StoredDefinition, runtime: RuntimeJob | None) -> bool:
    """Whether a definition has no runtime objects although it should. A one-off job runs once."""
    return runtime is None and not (definition.type is JobType.ONE_OFF and definition.status.run)


def is_outdated(definition: StoredDefinition) -> bool:
    """Whether a definition describes other objects now than at its rollout.

    The cause is a new default, or a change of the definition that was not rolled out yet.
    """
    if not (definition.is_writable and definition.status.objects):
        return False
    expected = definition.runtime_objects
    is_current = definition.release == CURRENT_DEFAULTS
    return not (
        (is_current or runtime_objects(definition.job, CURRENT_DEFAULTS) == expected)
        and all(_is_as_rolled_out(definition, obj) for obj in expected)
    )


def job_drift(definition: StoredDefinition, runtime: RuntimeJob) -> tuple[DriftedField, ...]:
    """The changes of others in the runtime objects of a definition."""
    by_kind = {obj["kind"]: obj for obj in (runtime.main, runtime.service) if obj}
    drift: list[DriftedField] = []
    for desired in definition.runtime_objects:
        live = by_kind.get(desired["kind"])
        is_as_rolled_out = _is_as_rolled_out(definition, desired)
        if live is None:
            # A change of type in progress has not created all objects yet.
            is_new = definition.replaces is not None and not definition.status.objects
            drift += [_absent(ref_of(desired))] if is_as_rolled_out and not is_new else []
        elif not is_as_rolled_out:
            # A difference because the definition has changed since is no drift.
            drift += [one for one in others_drift(desired, live) if one.manager]
        elif not _is_unmoved(definition, live):
            drift += others_drift(desired, live) if definition.status.objects else find_drift(desired, live)
    return tuple(drift)


def others_drift(desired: Object, live: Object) -> list[DriftedField]:
    """The changes of others in an object that we have written as intended.

    If fields of our own field manager differ, a webhook of the cluster changed our request.
    """
    return [one for one in find_drift(desired, live) if not one.manager.startswith(FIELD_MANAGER)]


def runtime_state(runtime: RuntimeJob) -> JobState:
    """The state of a job that runs."""
    spec, status = mapping_of(runtime.main.get("spec")), mapping_of(runtime.main.get("status"))
    if runtime.is_deleting:
        return JobState.DELETING
    if runtime.type is JobType.SCHEDULED:
        if status.get("active"):
            return JobState.RUNNING
        return JobState.SUSPENDED if spec.get("suspend") is True else JobState.SCHEDULED
    health = assess_health(runtime.main)
    if runtime.type is JobType.CONTINUOUS:
        if spec.get("replicas") == 0:
            return JobState.SUSPENDED
        return {CURRENT: JobState.RUNNING, FAILED: JobState.FAILED}.get(health.state, JobState.STARTING)
    outcome = run_outcome(runtime)
    if outcome:
        return JobState.FINISHED if outcome.is_success else JobState.FAILED
    if spec.get("suspend") is True:
        return JobState.SUSPENDED
    return JobState.RUNNING if number_of(status.get("ready")) else JobState.STARTING


def awaits_pods(runtime: RuntimeJob) -> bool:
    """Whether pods of a job are still to be created, which it needs to run."""
    main = runtime.main
    spec, status = mapping_of(main.get("spec")), mapping_of(main.get("status"))
    if runtime.type is JobType.ONE_OFF:
        return is_podless(main) and not number_of(status.get("failed")) and "managedBy" not in spec
    replicas, updated = number_of(spec.get("replicas", 1)), number_of(status.get("updatedReplicas"))
    if runtime.type is JobType.SCHEDULED or not replicas or spec.get("paused") is True:
        return False
    if number_of(status.get("observedGeneration")) < number_of(main["metadata"].get("generation")):
        return True
    has_old = number_of(status.get("replicas")) > updated
    if has_old and mapping_of(spec.get("strategy")).get("type") == "Recreate":
        # The new pods come after the end of the old ones.
        return False
    return updated < (1 if has_old else replicas)


def refuses_pods_still(status: StoredStatus, runtime: RuntimeJob | None) -> bool:
    """Whether a status says that the pods of a job were refused, and they are still to be created."""
    return status.reason == PODS_REFUSED and runtime is not None and awaits_pods(runtime)


def run_outcome(runtime: RuntimeJob) -> JobOutcome | None:
    """How a one-off job ended; None if it has not ended, or is no one-off job."""
    if runtime.type is not JobType.ONE_OFF:
        return None
    status = mapping_of(runtime.main.get("status"))
    ends = true_conditions(runtime.main)
    started = text_of(status.get("startTime"))
    if "Complete" in ends:
        finished = text_of(status.get("completionTime"))
        return JobOutcome(True, COMPLETED, exit_code=0, started=started, finished=finished)
    failure = ends.get("Failed")
    if failure is None:
        return None
    health, finished = assess_health(runtime.main), text_of(failure.get("lastTransitionTime"))
    return JobOutcome(False, health.reason, health.message, started=started, finished=finished)


def with_runs(
    status: StoredStatus,
    runtime: RuntimeJob | None,
    ended: JobOutcome | None = None,
    *,
    has_vanished: bool = False,
) -> StoredStatus:
    """The status with the run in the cluster, if it is another one, and with the ends of runs.

    Args:
        status: so far.
        runtime: the runtime objects of the job, if any.
        ended: how the last run ended whose Job was deleted since.
        has_vanished: whether another run has begun whose Job is gone. Its outcome is unknown.
    """
    run, history = status.run, status.history
    if ended:
        run = max(run, 1)
        history = (*with_run(history, history_entry(run, ended)),)
    if has_vanished:
        run += 1
    if runtime and _has_started(runtime):
        last_run = status.known(RUN)
        if not run or (last_run and last_run.uid != runtime.uid):
            run += 1
        outcome = run_outcome(runtime)
        history = (*with_run(history, history_entry(run, outcome)),) if outcome else history
    return replace(status, run=run, history=history)


def _has_started(runtime: RuntimeJob) -> bool:
    """Whether a one-off job runs or has run. Kubernetes starts no pod of a suspended Job."""
    spec, status = mapping_of(runtime.main.get("spec")), mapping_of(runtime.main.get("status"))
    is_started = spec.get("suspend") is not True or bool(status.get("startTime"))
    return runtime.type is JobType.ONE_OFF and is_started


def definition_state(definition: StoredDefinition) -> JobState:
    """The state of a job without runtime objects."""
    if is_missing(definition, None):
        return JobState.MISSING
    return JobState.FAILED if definition.status.has_failed else JobState.FINISHED


def _is_as_rolled_out(definition: StoredDefinition, desired: Object) -> bool:
    """Whether the intended object is the same as when it was last written; yes if that is not recorded."""
    objects = definition.status.objects
    digests = {one.digest for one in objects if one.kind == desired["kind"]}
    return not objects or "" in digests or any(is_digest_of(one, desired) for one in digests)


def _is_unmoved(definition: StoredDefinition, live: Object) -> bool:
    """Whether an object is exactly the one that we wrote last."""
    meta = live["metadata"]
    mark = (live["kind"], meta.get("uid"), meta.get("resourceVersion"))
    return any((one.kind, one.uid, one.resource_version) == mark for one in definition.status.objects)


def _absent(ref: Ref) -> DriftedField:
    return DriftedField(ref=ref, field="", expected=PRESENT, actual=ABSENT, manager="", time="")
