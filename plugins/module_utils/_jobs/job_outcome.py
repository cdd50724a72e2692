# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of the run of a Job, and how it ended: pure.

A message never has the termination message of a container, because that can be a secret.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from .._cluster.cluster import Object
from .._cluster.owner_references import controller_of
from .._field_notes import described
from .._loose_json import mapping_of, mappings_in, number_of, text_of
from .._text import one_line

COMPLETED = "Completed"
"""All containers that count ended with 0."""
CONTAINER_FAILED = "ContainerFailed"
"""A container that counts ended with another exit code."""
DEADLINE_EXCEEDED = "DeadlineExceeded"
"""``activeDeadlineSeconds`` of the Job or of its pod has passed."""
DISRUPTED = "Disrupted"
"""The pod was evicted or preempted, or its node was lost, before the containers had ended."""
POD_LOST = "PodLost"
"""The pod was deleted before anyone has seen how it ended."""
JOB_FAILED = "JobFailed"
"""The Job controller failed the Job for another reason."""
RUN_LOST = "RunLost"
"""The Job was deleted before anyone has seen how it ended."""

_DISRUPTIONS = frozenset(
    {"Evicted", "NodeAffinity", "NodeLost", "NodeShutdown", "Preempting", "Shutdown", "Terminated"}
)
"""Reasons of failed pods that the kubelet or the node's controller has ended."""


class RunPhase(StrEnum):
    """The state of the run of a Job."""

    PENDING = "Pending"
    """No container has started."""
    QUEUED = "Queued"
    """The Job is suspended."""
    RUNNING = "Running"
    ENDED = "Ended"


@dataclass(frozen=True)
class ContainerEnd:
    """How a container ended.

    Attributes:
        name: of the container.
        exit_code: 0 for a success.
        reason: of the kubelet, such as ``Completed``, ``Error`` or ``OOMKilled``.
        finished: when, as Kubernetes writes it; empty if unknown.
    """

    name: str
    exit_code: int
    reason: str
    finished: str


@dataclass(frozen=True)
class JobOutcome:
    """How the run of a Job ended. The reason is a constant of this module, or one of the caller's own."""

    is_success: Annotated[bool, described("Whether the Job was complete.", name="succeeded")]
    reason: Annotated[str, "Why it ended so, in one word."]
    message: Annotated[str, "The reason in a sentence. Empty for a success."] = ""
    exit_code: Annotated[int | None, "The exit code of the container that failed. 0 for a success."] = None
    started: Annotated[str, described("When the Job started.", format="date-time")] = ""
    finished: Annotated[str, described("When the Job ended.", format="date-time")] = ""

    @property
    def seconds(self) -> float | None:
        """The duration; None if unknown."""
        if not self.started or not self.finished:
            return None
        begun, ended = (datetime.fromisoformat(one) for one in (self.started, self.finished))
        return max(0.0, (ended - begun).total_seconds())


def ended_containers(pod: Mapping[str, Any], names: Collection[str]) -> dict[str, ContainerEnd]:
    """How those of some containers ended that have ended.

    Args:
        pod: with its status.
        names: of containers or init containers.
    """
    return {end.name: end for end in _ends(pod) if end.name in names}


def pod_of(job: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> Object | None:
    """The newest pod that a Job controls; None if there is none.

    Args:
        job: with its uid. Pods of an older Job of the same name have another one.
        pods: of any owners.
    """
    uid = text_of(mapping_of(job.get("metadata")).get("uid"))
    own = [pod for pod in pods if uid and controller_of(pod).get("uid") == uid]
    if not own:
        return None
    newest = max(own, key=lambda pod: (_meta(pod, "creationTimestamp"), _meta(pod, "name")))
    return dict(newest)


def job_outcome(
    job: Mapping[str, Any] | None,
    pods: Sequence[Mapping[str, Any]],
    *,
    ignored_containers: Container[str] = (),
) -> tuple[RunPhase, JobOutcome | None]:
    """The state of a run, and how it ended if it has.

    Args:
        job: as the server has it; None if it is gone.
        pods: of any owners.
        ignored_containers: names of containers whose exit codes do not count. If all others ended with 0,
            the run is a success although the Job failed.
    """
    if job is None:
        message = "The Job was deleted before its end was seen, so its outcome is unknown."
        return RunPhase.ENDED, JobOutcome(is_success=False, reason=RUN_LOST, message=message)
    pod = pod_of(job, pods)
    conditions = true_conditions(job)
    if "Complete" in conditions:
        return RunPhase.ENDED, _success(job, pod, ignored_containers)
    if "Failed" in conditions:
        return RunPhase.ENDED, _end_of_failed_job(job, conditions["Failed"], pod, ignored_containers)
    if mapping_of(job.get("spec")).get("suspend") is True:
        return RunPhase.QUEUED, None
    return RunPhase.RUNNING if pod is not None and _has_started(pod) else RunPhase.PENDING, None


def pod_outcome(
    job: Mapping[str, Any] | None, pod: Mapping[str, Any], *, ignored_containers: Container[str] = ()
) -> JobOutcome | None:
    """The outcome of a run from its pod, which has it before the Job; None while a container runs.

    Args:
        job: for the time of its start, and for why it is failing; None if it is gone.
        pod: of the run.
        ignored_containers: names of containers that do not count, also where they still run.
    """
    ends = {end.name: end for end in _ends(pod) if end.name not in ignored_containers}
    has_failed_early = any(end.exit_code for end in ends.values()) and _status(pod).get("phase") == "Failed"
    if not has_failed_early and not set(_counted_names(pod, ignored_containers)) <= ends.keys():
        return None
    # The Job controller ends a pod beyond the deadline. Until the pod has ended, only FailureTarget shows it.
    conditions = true_conditions(job or {}) if any(end.exit_code for end in ends.values()) else {}
    condition = conditions.get("Failed") or conditions.get("FailureTarget") or {}
    return _end_of_failed_job(job or {}, condition, pod, ignored_containers)


def disruption_of(pod: Mapping[str, Any], *, ignored_containers: Container[str] = ()) -> str:
    """The disruption that hits or hit a pod before its containers had ended; empty if there is none.

    A Job that fails because of it does not record it, and the pod may be gone then.

    Args:
        pod: of the run.
        ignored_containers: names of containers that do not count.
    """
    counted = [end for end in _ends(pod) if end.name not in ignored_containers]
    return _disruption(pod, counted, ignored_containers)


def _success(
    job: Mapping[str, Any], pod: Mapping[str, Any] | None, ignored_containers: Container[str]
) -> JobOutcome:
    started, finished = _times(job, pod, ignored_containers)
    return JobOutcome(True, COMPLETED, exit_code=0, started=started, finished=finished)


def _end_of_failed_job(
    job: Mapping[str, Any],
    condition: Mapping[str, Any],
    pod: Mapping[str, Any] | None,
    ignored_containers: Container[str],
) -> JobOutcome:
    counted = [end for end in _ends(pod or {}) if end.name not in ignored_containers]
    failed = min((end for end in counted if end.exit_code), key=lambda end: end.finished, default=None)
    reason, message = text_of(condition.get("reason")), one_line(condition.get("message") or "")
    code = failed.exit_code if failed else None
    disruption = _disruption(pod or {}, counted, ignored_containers)
    if reason == "DeadlineExceeded" or _status(pod or {}).get("reason") == "DeadlineExceeded":
        ending = DEADLINE_EXCEEDED, message or "The run took longer than activeDeadlineSeconds.", code
    elif disruption:
        ending = DISRUPTED, disruption, code
    elif failed:
        ending = CONTAINER_FAILED, _failure_message(failed), code
    elif pod is None:
        ending = POD_LOST, "The pod was deleted before its end was seen, so its exit code is unknown.", None
    elif counted and len(counted) == len(_counted_names(pod, ignored_containers)):
        return _success(job, pod, ignored_containers)
    else:
        ending = JOB_FAILED, one_line(f"The Job failed: {reason}: {message}"), None
    started, finished = _times(job, pod, ignored_containers)
    return JobOutcome(False, *ending, started=started, finished=finished)


def _failure_message(end: ContainerEnd) -> str:
    reason_text = f" ({end.reason})" if end.reason not in ("", "Error") else ""
    return one_line(f"Container {end.name} exited with code {end.exit_code}{reason_text}.")


def _disruption(
    pod: Mapping[str, Any], counted: Sequence[ContainerEnd], ignored_containers: Container[str]
) -> str:
    """What ended the pod before its containers had ended by themselves; empty if nothing did."""
    target = true_conditions(pod).get("DisruptionTarget")
    reason = text_of(_status(pod).get("reason"))
    if target is None and reason not in _DISRUPTIONS:
        return ""
    since = text_of((target or {}).get("lastTransitionTime"))
    own_ends = [end for end in counted if _is_own_end(end, since)]
    if own_ends and len(own_ends) == len(_counted_names(pod, ignored_containers)):
        return ""
    if target is not None:
        reason, message = text_of(target.get("reason")), text_of(target.get("message"))
    else:
        message = text_of(_status(pod).get("message"))
    name = _meta(pod, "name")
    return one_line(f"Pod {name} was disrupted before its containers had ended: {reason}: {message}")


def _is_own_end(end: ContainerEnd, disrupted: str) -> bool:
    """Whether a container ended by itself, and not because of a disruption that began at a time.

    Times have whole seconds. In the same second, and if the time is unknown, only a success counts.
    """
    if not disrupted or not end.finished or end.finished == disrupted:
        return end.exit_code == 0
    return end.finished < disrupted


def _times(
    job: Mapping[str, Any], pod: Mapping[str, Any] | None, ignored_containers: Container[str]
) -> tuple[str, str]:
    """When a run began, and when its containers had ended that count, or else the Job."""
    ends = [end for end in _ends(pod or {}) if end.name not in ignored_containers]
    has_all = pod is not None and len(ends) == len(_counted_names(pod, ignored_containers))
    finished = max((end.finished for end in ends), default="") if has_all else ""
    failed = true_conditions(job).get("Failed") or {}
    of_job = text_of(_status(job).get("completionTime")) or text_of(failed.get("lastTransitionTime"))
    # A quick pod may have ended before the Job's own time is known.
    started = text_of(_status(job).get("startTime")) or text_of(_status(pod or {}).get("startTime"))
    return started, finished or of_job


def _ends(pod: Mapping[str, Any]) -> list[ContainerEnd]:
    sidecars = {
        text_of(one.get("name"))
        for one in mappings_in(mapping_of(pod.get("spec")).get("initContainers"))
        if one.get("restartPolicy") == "Always"
    }
    statuses = [
        one
        for field in ("initContainerStatuses", "containerStatuses")
        for one in mappings_in(_status(pod).get(field))
        if text_of(one.get("name")) not in sidecars
    ]
    return [
        ContainerEnd(
            text_of(one.get("name")),
            number_of(ended.get("exitCode")),
            text_of(ended.get("reason")),
            text_of(ended.get("finishedAt")),
        )
        for one in statuses
        if (ended := mapping_of(mapping_of(one.get("state")).get("terminated")))
    ]


def _counted_names(pod: Mapping[str, Any], ignored_containers: Container[str]) -> list[str]:
    spec = mapping_of(pod.get("spec"))
    names = [
        text_of(one.get("name"))
        for field in ("initContainers", "containers")
        for one in mappings_in(spec.get(field))
        # A sidecar (KEP-753) is ended with the pod's other containers, however it exits then.
        if not (field == "initContainers" and one.get("restartPolicy") == "Always")
    ]
    return [name for name in names if name not in ignored_containers]


def _has_started(pod: Mapping[str, Any]) -> bool:
    return _status(pod).get("phase") not in (None, "", "Pending") or any(
        mapping_of(one.get("state")).get("running") or mapping_of(one.get("state")).get("terminated")
        for field in ("initContainerStatuses", "containerStatuses")
        for one in mappings_in(_status(pod).get(field))
    )


def has_ended(job: Mapping[str, Any]) -> bool:
    """Whether a Job is complete or has failed."""
    return not true_conditions(job).keys().isdisjoint(("Complete", "Failed"))


def true_conditions(obj: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The conditions of an object that are true, by type."""
    conditions = mappings_in(_status(obj).get("conditions"))
    return {text_of(one.get("type")): one for one in conditions if one.get("status") == "True"}


def _meta(obj: Mapping[str, Any], field: str) -> str:
    return text_of(mapping_of(obj.get("metadata")).get(field))


def _status(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping_of(obj.get("status"))
