# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When workloads are healthy: Deployment, ReplicaSet, StatefulSet, DaemonSet, Pod, Job.

Each rule names its source: a function of kstatus (kubernetes-sigs/cli-utils, pkg/kstatus/status/core.go),
and why it is stricter, if it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .result import (
    PROGRESSING,
    Health,
    cause_of,
    condition_message,
    conditions,
    current,
    failed,
    is_true,
    number,
    progressing,
    spec,
    status,
    unseen,
)

REFUSED_PODS_FAIL_AFTER = 20.0
"""Seconds that a quota or an admission may refuse pods: a rolling update frees quota within that time."""

UNSCHEDULABLE_FAILS_AFTER = 15.0
"""Seconds that a bare pod may find no node (kstatus core.go, ScheduleWindow)."""


def deployment(obj: Mapping[str, Any]) -> Health:
    """kstatus deploymentConditions; stricter: pods that are refused for good fail it (see refused_pods).

    A paused one does not continue by itself, so its reason is ``DeploymentPaused``.
    """
    health = _rollout(obj)
    if health.state != PROGRESSING or not spec(obj).get("paused") or unseen(obj):
        return health
    message = f"its rollout is paused (spec.paused), and continues once it is resumed: {health.message}"
    return progressing("DeploymentPaused", message, fails_after=health.fails_after)


def _rollout(obj: Mapping[str, Any]) -> Health:
    waiting = unseen(obj)
    if waiting:
        return waiting
    by_type = conditions(obj)
    rollout = by_type.get("Progressing", {})
    if rollout.get("reason") == "ProgressDeadlineExceeded" and not _predates_last_write(obj, rollout):
        return failed(
            "ProgressDeadlineExceeded",
            condition_message(rollout, "its rollout is past its progress deadline"),
        )
    refusal = refused_pods(obj)
    if refusal:
        return refusal
    desired, counts = number(spec(obj), "replicas", 1), status(obj)
    existing, updated = number(counts, "replicas"), number(counts, "updatedReplicas")
    available = number(counts, "availableReplicas")
    if existing < desired:
        return progressing("LessReplicas", f"{existing} of {desired} replicas exist")
    if updated < desired:
        return progressing("LessUpdated", f"{updated} of {desired} replicas are updated")
    if existing > desired:
        return progressing("ExtraPods", f"{existing - desired} old replicas are still to end")
    if available < updated:
        return progressing("LessAvailable", f"{available} of {updated} replicas are available")
    if number(counts, "readyReplicas") < desired:
        return _less_ready(counts, desired)
    if rollout and rollout.get("reason") not in ("NewReplicaSetAvailable", "DeploymentPaused"):
        return progressing(
            "ReplicaSetNotAvailable", condition_message(rollout, "its rollout is not complete")
        )
    if not is_true(by_type.get("Available")):
        return progressing(
            "DeploymentNotAvailable", condition_message(by_type.get("Available", {}), "it is not available")
        )
    return current(f"{desired} of {desired} replicas are ready")


def _predates_last_write(obj: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    # After a rollback to an earlier template, the Deployment's controller reports the new generation as
    # observed while it still shows the old rollout's verdict. A deadline is a second at least, so a verdict
    # belongs to the last change (except of a subresource) only if it is younger.
    entries = obj["metadata"].get("managedFields") or ()
    written = max((str(e.get("time") or "") for e in entries if not e.get("subresource")), default="")
    judged = str(condition.get("lastUpdateTime") or "")
    return bool(written and judged) and judged <= written


def refused_pods(obj: Mapping[str, Any]) -> Health | None:
    """ReplicaFailure: the API server refuses pods, due to a quota, a limit range, Pod Security or a webhook.

    kstatus (replicasetConditions) leaves it in progress without end. Here it fails, after a time in which a
    temporary refusal can end. A webhook that does not answer may still start, so that case keeps waiting.
    """
    condition = conditions(obj).get("ReplicaFailure", {})
    if not is_true(condition):
        return None
    message = condition_message(condition, "its pods can't be created")
    silent_webhook = "failed calling webhook" in message
    return progressing(
        str(condition.get("reason") or "ReplicaFailure"),
        f"its pods are refused: {message}",
        fails_after=None if silent_webhook else REFUSED_PODS_FAIL_AFTER,
    )


def replica_set(obj: Mapping[str, Any]) -> Health:
    """kstatus replicasetConditions; stricter: see refused_pods. ReplicationControllers read the same."""
    waiting = unseen(obj) or refused_pods(obj)
    if waiting:
        return waiting
    desired, counts = number(spec(obj), "replicas", 1), status(obj)
    for field, reason, word in (
        ("fullyLabeledReplicas", "LessLabelled", "have all labels"),
        ("availableReplicas", "LessAvailable", "are available"),
        ("readyReplicas", "LessReady", "are ready"),
    ):
        if number(counts, field) < desired:
            return progressing(reason, f"{number(counts, field)} of {desired} replicas {word}")
    if number(counts, "replicas") > desired:
        return progressing("ExtraPods", f"{number(counts, 'replicas') - desired} replicas are still to end")
    return current(f"{desired} of {desired} replicas are ready")


def stateful_set(obj: Mapping[str, Any]) -> Health:
    """kstatus stsConditions; stricter: with OnDelete the replicas must still be ready, in any revision."""
    waiting = unseen(obj)
    if waiting:
        return waiting
    desired, counts = number(spec(obj), "replicas", 1), status(obj)
    existing = number(counts, "replicas")
    if existing < desired:
        return progressing("LessReplicas", f"{existing} of {desired} replicas exist")
    if number(counts, "readyReplicas") < desired:
        return _less_ready(counts, desired)
    if existing > desired:
        return progressing("ExtraPods", f"{existing - desired} replicas are still to end")
    if number(spec(obj), "minReadySeconds") and number(counts, "availableReplicas") < desired:
        return progressing(
            "LessAvailable", f"{number(counts, 'availableReplicas')} of {desired} replicas are available"
        )
    strategy = spec(obj).get("updateStrategy") or {}
    if strategy.get("type") == "OnDelete":
        return current(f"{desired} of {desired} replicas are ready; they are updated when they are deleted")
    partition = number(strategy.get("rollingUpdate") or {}, "partition")
    to_update, updated = max(desired - partition, 0), number(counts, "updatedReplicas")
    if updated < to_update:
        return progressing("LessUpdated", f"{updated} of {to_update} replicas are updated")
    if partition == 0 and counts.get("currentRevision") != counts.get("updateRevision"):
        return progressing("RevisionMismatch", "its rollout is about to complete")
    return current(f"{desired} of {desired} replicas are ready")


def daemon_set(obj: Mapping[str, Any]) -> Health:
    """kstatus daemonsetConditions; more lenient: with OnDelete pods of an older revision are accepted."""
    waiting = unseen(obj)
    if waiting:
        return waiting
    counts = status(obj)
    desired = number(counts, "desiredNumberScheduled", -1)
    if desired < 0:
        return progressing("NoDesiredNumber", "its controller has not yet counted the nodes")
    checks = [("currentNumberScheduled", "LessCurrent", "run it")]
    if (spec(obj).get("updateStrategy") or {}).get("type") != "OnDelete":
        checks.append(("updatedNumberScheduled", "LessUpdated", "run its newest version"))
    checks += [
        ("numberAvailable", "LessAvailable", "have it available"),
        ("numberReady", "LessReady", "have it ready"),
    ]
    for field, reason, word in checks:
        if number(counts, field) < desired:
            return progressing(reason, f"{number(counts, field)} of {desired} nodes {word}")
    return current(f"{desired} of {desired} nodes have it ready")


def pod(obj: Mapping[str, Any]) -> Health:
    """kstatus podConditions; stricter: a pod that has failed is a failure."""
    counts, by_type = status(obj), conditions(obj)
    phase = counts.get("phase")
    if phase == "Succeeded":
        return current("it has completed")
    if phase == "Failed":
        return failed(str(counts.get("reason") or "PodFailed"), str(counts.get("message") or "it has failed"))
    if phase == "Running":
        if is_true(by_type.get("Ready")):
            return current("it is ready")
        crashing = [
            str(c.get("name"))
            for c in counts.get("containerStatuses") or ()
            if ((c.get("state") or {}).get("waiting") or {}).get("reason") == "CrashLoopBackOff"
        ]
        if crashing:
            return failed("CrashLoopBackOff", f"its containers crash again and again: {', '.join(crashing)}")
        return progressing(
            "PodNotReady", condition_message(by_type.get("Ready", {}), "it runs but is not ready")
        )
    scheduled = by_type.get("PodScheduled", {})
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        return progressing(
            "Unschedulable",
            condition_message(scheduled, "no node can take it"),
            fails_after=UNSCHEDULABLE_FAILS_AFTER,
        )
    return progressing("PodPending", "it has not started yet")


def job(obj: Mapping[str, Any]) -> Health:
    """kstatus jobConditions; stricter: a running Job is not healthy yet, it must be complete.

    FailureTarget (KEP-3329) reports that a Job has failed while its last pods are still terminating.
    """
    by_type = conditions(obj)
    for condition in (by_type.get("Failed", {}), by_type.get("FailureTarget", {})):
        if is_true(condition):
            return failed(*cause_of(condition, "JobFailed", "it has failed"))
    if is_true(by_type.get("Complete")):
        return current("it is complete")
    if spec(obj).get("suspend") and is_true(by_type.get("Suspended")):
        return current("it is suspended, as its manifest says")
    counts = status(obj)
    completions = number(spec(obj), "completions", number(spec(obj), "parallelism", 1))
    done, broken = number(counts, "succeeded"), number(counts, "failed")
    tries = f", {broken} pods have failed" if broken else ""
    return progressing("JobNotComplete", f"{done} of {completions} pods have completed{tries}")


def _less_ready(counts: Mapping[str, Any], desired: int) -> Health:
    return progressing("LessReady", f"{number(counts, 'readyReplicas')} of {desired} replicas are ready")
