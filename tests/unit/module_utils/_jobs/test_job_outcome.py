# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How runs stand and end, by their Jobs and pods as an API server has them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_outcome import (
    COMPLETED,
    CONTAINER_FAILED,
    DEADLINE_EXCEEDED,
    DISRUPTED,
    JOB_FAILED,
    POD_LOST,
    RUN_LOST,
    ContainerEnd,
    JobOutcome,
    RunPhase,
    disruption_of,
    ended_containers,
    job_outcome,
    pod_of,
    pod_outcome,
)

Pod = dict[str, Any]
START, EARLY, END, LATE = (f"2026-11-25T00:0{minute}:00Z" for minute in range(4))
HOLDER = ("holder",)
SECRET_TEXT = "geheim-123"


def condition(kind: str, reason: str = "", message: str = "", at: str = LATE, status: str = "True") -> Pod:
    return {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": at}


def job(*conditions: Pod, suspend: bool = False, **status: Any) -> Pod:
    return {
        "metadata": {"name": "e-7", "uid": "j1"},
        "spec": {"suspend": suspend},
        "status": {"startTime": START, "conditions": list(conditions), **status},
    }


FAILED = condition("Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
COMPLETE = condition("Complete", "CompletionsReached")


def ended(name: str, code: int, at: str = END, reason: str = "") -> Pod:
    reason = reason or ("Error" if code else "Completed")
    state = {"exitCode": code, "reason": reason, "finishedAt": at, "message": SECRET_TEXT}
    return {"name": name, "state": {"terminated": state}}


def running(name: str) -> Pod:
    return {"name": name, "state": {"running": {"startedAt": START}}}


def waiting(name: str) -> Pod:
    return {"name": name, "state": {"waiting": {"reason": "ContainerCreating"}}}


def pod(*statuses: Pod, phase: str = "Running", uid: str = "j1", name: str = "e-7-a", **status: Any) -> Pod:
    owner = {"kind": "Job", "name": "e-7", "uid": uid, "controller": True}
    return {
        "metadata": {"name": name, "ownerReferences": [owner], "creationTimestamp": START},
        "spec": {"containers": [{"name": one["name"]} for one in statuses]},
        "status": {"phase": phase, "containerStatuses": list(statuses), **status},
    }


def outcome(live: Pod | None, *pods: Pod, ignored: tuple[str, ...] = HOLDER) -> JobOutcome:
    phase, result = job_outcome(live, pods, ignored_containers=ignored)
    assert phase is RunPhase.ENDED
    assert result is not None
    assert SECRET_TEXT not in str(result)
    return result


NOT_ENDED: dict[str, tuple[Pod, list[Pod], RunPhase]] = {
    "no pod": (job(), [], RunPhase.PENDING),
    "the pod of another Job": (job(), [pod(running("main"), uid="j0")], RunPhase.PENDING),
    "pending": (job(), [pod(waiting("main"), phase="Pending")], RunPhase.PENDING),
    "running": (job(), [pod(running("main"))], RunPhase.RUNNING),
    "an init container runs": (
        job(),
        [pod(waiting("main"), phase="Pending", initContainerStatuses=[running("init")])],
        RunPhase.RUNNING,
    ),
    "main has ended, the holder runs": (job(), [pod(ended("main", 0), running("holder"))], RunPhase.RUNNING),
    "suspended": (job(suspend=True), [], RunPhase.QUEUED),
    "failing, its pods are still ending": (
        job(condition("FailureTarget", "BackoffLimitExceeded")),
        [pod(ended("main", 1))],
        RunPhase.RUNNING,
    ),
    "not failed": (job(condition("Failed", status="False")), [pod(running("main"))], RunPhase.RUNNING),
}


@pytest.mark.parametrize(("live", "pods", "phase"), NOT_ENDED.values(), ids=NOT_ENDED)
def test_a_run_that_has_not_ended(live: Pod, pods: list[Pod], phase: RunPhase) -> None:
    assert job_outcome(live, pods, ignored_containers=HOLDER) == (phase, None)


def test_a_success_ends_with_the_containers_that_count() -> None:
    done = job(COMPLETE, completionTime=LATE)
    assert outcome(done, pod(ended("main", 0), ended("holder", 0, LATE), phase="Succeeded")) == JobOutcome(
        True, COMPLETED, exit_code=0, started=START, finished=END
    )
    assert outcome(done) == JobOutcome(True, COMPLETED, exit_code=0, started=START, finished=LATE)


TARGET = condition("DisruptionTarget", "EvictionByEvictionAPI", "Eviction API: evicting", at=END)
EVICTED = {"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory."}

FAILURES: dict[str, tuple[Pod, list[Pod], tuple[str, int | None, str]]] = {
    "exit code": (
        job(FAILED),
        [pod(ended("main", 2), ended("holder", 0), phase="Failed")],
        (CONTAINER_FAILED, 2, "Container main exited with code 2."),
    ),
    "out of memory": (
        job(FAILED),
        [pod(ended("main", 137, reason="OOMKilled"), phase="Failed")],
        (CONTAINER_FAILED, 137, "Container main exited with code 137 (OOMKilled)."),
    ),
    "the first that failed counts": (
        job(FAILED),
        [pod(ended("b", 3), ended("a", 4, EARLY), phase="Failed")],
        (CONTAINER_FAILED, 4, "Container a exited with code 4."),
    ),
    "an init container": (
        job(FAILED),
        [pod(waiting("main"), phase="Failed", initContainerStatuses=[ended("init", 5)])],
        (CONTAINER_FAILED, 5, "Container init exited with code 5."),
    ),
    "deadline of the Job": (
        job(condition("Failed", "DeadlineExceeded", "Job was active longer than specified deadline")),
        [],
        (DEADLINE_EXCEEDED, None, "Job was active longer than specified deadline"),
    ),
    "deadline of the pod": (
        job(FAILED),
        [pod(ended("main", 143), phase="Failed", reason="DeadlineExceeded")],
        (DEADLINE_EXCEEDED, 143, "Job has reached the specified backoff limit"),
    ),
    "evicted by the API": (
        job(FAILED),
        [pod(ended("main", 143, LATE), phase="Failed", conditions=[TARGET])],
        (DISRUPTED, 143, "EvictionByEvictionAPI: Eviction API: evicting"),
    ),
    "evicted, and it ended with 0 then": (
        job(FAILED),
        [pod(ended("main", 0, LATE), ended("holder", 143, LATE), phase="Failed", conditions=[TARGET])],
        (DISRUPTED, None, "EvictionByEvictionAPI: Eviction API: evicting"),
    ),
    "evicted in the second in which it failed": (
        job(FAILED),
        [pod(ended("main", 1, END), phase="Failed", conditions=[TARGET])],
        (DISRUPTED, 1, "EvictionByEvictionAPI: Eviction API: evicting"),
    ),
    "failed before it was evicted": (
        job(FAILED),
        [pod(ended("main", 1, EARLY), ended("holder", 143, LATE), phase="Failed", conditions=[TARGET])],
        (CONTAINER_FAILED, 1, "Container main exited with code 1."),
    ),
    "evicted by the kubelet": (
        job(FAILED),
        [{**pod(waiting("main")), "status": EVICTED}],
        (DISRUPTED, None, "Evicted: The node was low on resource: memory."),
    ),
    "no disruption any more": (
        job(FAILED),
        [pod(ended("main", 1), phase="Failed", conditions=[{**TARGET, "status": "False"}])],
        (CONTAINER_FAILED, 1, "Container main exited with code 1."),
    ),
    "the pod is gone": (job(FAILED), [], (POD_LOST, None, "so its exit code is unknown")),
    "another reason": (
        job(condition("Failed", "PodFailurePolicy", "no")),
        [pod(waiting("main"), phase="Failed")],
        (JOB_FAILED, None, "The Job failed: PodFailurePolicy: no"),
    ),
}


@pytest.mark.parametrize(("live", "pods", "expected"), FAILURES.values(), ids=FAILURES)
def test_a_failure(live: Pod, pods: list[Pod], expected: tuple[str, int | None, str]) -> None:
    failure = outcome(live, *pods)
    reason, code, message = expected
    assert (failure.is_success, failure.reason, failure.exit_code) == (False, reason, code)
    assert message in failure.message
    assert failure.started == START
    assert failure.finished


def test_a_pod_that_ended_before_its_jobs_start_was_known_began_with_its_own() -> None:
    live = {**job(), "status": {}}
    success = pod_outcome(live, pod(ended("main", 0), phase="Succeeded", startTime=START))
    assert success is not None
    assert (success.started, success.finished) == (START, END)


@pytest.mark.parametrize(
    "conditions", [[], [TARGET], [{**TARGET, "lastTransitionTime": LATE}]], ids=["alone", "now", "later"]
)
def test_a_success_that_only_an_ignored_container_has_spoilt(conditions: list[Pod]) -> None:
    spoilt = pod(ended("main", 0), ended("holder", 3, LATE), phase="Failed", conditions=conditions)
    success = outcome(job(FAILED), spoilt)
    assert success == JobOutcome(True, COMPLETED, exit_code=0, started=START, finished=END)
    assert outcome(job(FAILED), spoilt, ignored=()).is_success is False


def test_a_pod_that_is_ended_at_the_deadline_has_not_failed_by_itself() -> None:
    failing = job(
        condition("FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
    )
    failure = pod_outcome(failing, pod(ended("main", 137), phase="Failed"))
    assert failure is not None
    assert (failure.reason, failure.exit_code) == (DEADLINE_EXCEEDED, 137)
    # What had ended by itself was in time.
    held = pod(ended("main", 0), running("holder"))
    in_time = pod_outcome(failing, held, ignored_containers=HOLDER)
    assert in_time is not None
    assert in_time.is_success


def test_a_disruption_is_reported_until_the_pod_is_gone_or_its_containers_have_ended() -> None:
    running = pod(waiting("main"), conditions=[TARGET])
    assert "EvictionByEvictionAPI" in disruption_of(running)
    assert disruption_of(pod(waiting("main"))) == ""
    held = pod(ended("main", 0, EARLY), waiting("holder"), conditions=[TARGET])
    assert disruption_of(held, ignored_containers={"holder"}) == ""


def test_a_job_that_is_gone_is_lost() -> None:
    loss = outcome(None, pod(ended("main", 0)))
    assert (loss.is_success, loss.reason, loss.exit_code) == (False, RUN_LOST, None)


def test_pods_are_found_by_the_uid_of_their_job_and_the_newest_counts() -> None:
    old, new = pod(name="b"), pod(name="a")
    new["metadata"]["creationTimestamp"] = LATE
    foreign = pod(name="c", uid="j0")
    orphan = {"metadata": {"name": "d", "labels": {"job-name": "e-7"}}}
    assert pod_of(job(), [new, old, foreign, orphan]) == new
    assert pod_of(job(), [foreign, orphan]) is None
    assert pod_of({"metadata": {}}, [orphan]) is None


def test_containers_that_have_ended() -> None:
    mixed = pod(
        ended("main", 1), running("other"), ended("holder", 0), initContainerStatuses=[ended("i", 0, EARLY)]
    )
    assert ended_containers(mixed, ("main", "other", "i", "missing")) == {
        "main": ContainerEnd("main", 1, "Error", END),
        "i": ContainerEnd("i", 0, "Completed", EARLY),
    }
    assert ended_containers({}, ("main",)) == {}
