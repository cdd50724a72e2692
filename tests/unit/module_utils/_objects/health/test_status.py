# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Health of one object: what kstatus says, and where we are stricter."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.platform_rules import (
    SELECTED_NODE,
    waits_for_consumer,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.status import (
    CURRENT,
    FAILED,
    PROGRESSING,
    assess_health,
    is_always_current,
)

API_VERSIONS = {
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "PodDisruptionBudget": "policy/v1",
    "Ingress": "networking.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "HorizontalPodAutoscaler": "autoscaling/v2",
    "CustomResourceDefinition": "apiextensions.k8s.io/v1",
    "APIService": "apiregistration.k8s.io/v1",
    "Widget": "example.com/v1",
    "Gateway": "gateway.networking.k8s.io/v1",
    "Serverless": "operator.kyma-project.io/v1alpha1",
}


def an(kind: str, status: Any = None, spec: Any = None, **meta: Any) -> dict[str, Any]:
    """An object in its second generation; its status has seen that unless it says otherwise."""
    obj: dict[str, Any] = {
        "apiVersion": API_VERSIONS.get(kind, "v1"),
        "kind": kind,
        "metadata": {"name": "x", "namespace": "ns", "generation": 2, **meta},
    }
    if spec is not None:
        obj["spec"] = spec
    if status is not None:
        obj["status"] = status
    return obj


def condition(kind: str, status: str = "True", reason: str = "", message: str = "", **more: Any) -> Any:
    return {"type": kind, "status": status, "reason": reason, "message": message, **more}


def counted(*conditions: Any, **counts: Any) -> dict[str, Any]:
    return {"observedGeneration": 2, "conditions": list(conditions), **counts}


AVAILABLE = condition("Available", "True", "MinimumReplicasAvailable")
ROLLED_OUT = condition("Progressing", "True", "NewReplicaSetAvailable")
ROLLING = condition("Progressing", "True", "ReplicaSetUpdated", "it is progressing")
TWO = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2}
PAST_DEADLINE = condition(
    "Progressing",
    "False",
    "ProgressDeadlineExceeded",
    "has timed out progressing",
    lastUpdateTime="2026-01-01T00:00:00Z",
)
QUOTA = condition("ReplicaFailure", "True", "FailedCreate", "exceeded quota: q")
REFUSED = condition("ReplicaFailure", "True", "FailedCreate", "admission webhook denied the request")
NO_WEBHOOK = condition("ReplicaFailure", "True", "FailedCreate", "failed calling webhook: connection refused")


def deployment(*conditions: Any, spec: Any = None, meta: Any = None, **counts: Any) -> dict[str, Any]:
    return an("Deployment", counted(*conditions, **counts), {"replicas": 2, **(spec or {})}, **(meta or {}))


def written(time: str, subresource: str = "") -> dict[str, Any]:
    entry = {"manager": "m", "time": time} | ({"subresource": subresource} if subresource else {})
    return {"managedFields": [entry]}


DEPLOYMENTS = {
    "complete": (deployment(AVAILABLE, ROLLED_OUT, **TWO), CURRENT, ""),
    "not seen by its controller": (an("Deployment", spec={"replicas": 2}), PROGRESSING, "NotObserved"),
    "an older generation's status": (
        an("Deployment", {**counted(AVAILABLE, ROLLED_OUT, **TWO), "observedGeneration": 1}, {"replicas": 2}),
        PROGRESSING,
        "LatestGenerationNotObserved",
    ),
    "scaled to nothing": (deployment(AVAILABLE, ROLLED_OUT, spec={"replicas": 0}), CURRENT, ""),
    "one replica by default": (
        an("Deployment", counted(AVAILABLE, ROLLED_OUT), {}),
        PROGRESSING,
        "LessReplicas",
    ),
    "too few": (deployment(AVAILABLE, ROLLING, **TWO | {"replicas": 1}), PROGRESSING, "LessReplicas"),
    "too few updated": (
        deployment(AVAILABLE, ROLLING, **TWO | {"updatedReplicas": 1}),
        PROGRESSING,
        "LessUpdated",
    ),
    "old ones left": (deployment(AVAILABLE, ROLLING, **TWO | {"replicas": 3}), PROGRESSING, "ExtraPods"),
    "too few available": (
        deployment(AVAILABLE, ROLLING, **TWO | {"availableReplicas": 1}),
        PROGRESSING,
        "LessAvailable",
    ),
    "too few ready": (deployment(AVAILABLE, ROLLING, **TWO | {"readyReplicas": 1}), PROGRESSING, "LessReady"),
    "all there, the rollout not over": (
        deployment(AVAILABLE, ROLLING, **TWO),
        PROGRESSING,
        "ReplicaSetNotAvailable",
    ),
    "not available": (deployment(ROLLED_OUT, **TWO), PROGRESSING, "DeploymentNotAvailable"),
    "without a progress deadline": (deployment(AVAILABLE, **TWO), CURRENT, ""),
    "paused, complete": (
        deployment(
            AVAILABLE, condition("Progressing", "Unknown", "DeploymentPaused"), spec={"paused": True}, **TWO
        ),
        CURRENT,
        "",
    ),
    "paused halfway": (
        deployment(AVAILABLE, spec={"paused": True}, **TWO | {"updatedReplicas": 1}),
        PROGRESSING,
        "DeploymentPaused",
    ),
    "past its deadline": (
        deployment(AVAILABLE, PAST_DEADLINE, **TWO | {"availableReplicas": 1}),
        FAILED,
        "ProgressDeadlineExceeded",
    ),
    "past its deadline, which nothing has changed since": (
        deployment(PAST_DEADLINE, meta=written("2025-12-31T23:00:00Z")),
        FAILED,
        "ProgressDeadlineExceeded",
    ),
    "past the deadline of what was there before the last write": (
        deployment(PAST_DEADLINE, meta=written("2026-01-01T00:00:01Z")),
        PROGRESSING,
        "LessReplicas",
    ),
    "past that deadline in the same second": (
        deployment(PAST_DEADLINE, meta=written("2026-01-01T00:00:00Z")),
        PROGRESSING,
        "LessReplicas",
    ),
    "past its deadline, scaled and with a newer status": (
        deployment(PAST_DEADLINE, meta=written("2026-01-02T00:00:00Z", "status")),
        FAILED,
        "ProgressDeadlineExceeded",
    ),
    "refused by a quota": (deployment(QUOTA, ROLLING), PROGRESSING, "FailedCreate"),
}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"replicas": 0, "updatedReplicas": 0}, "0 of 2 replicas exist"),
        ({"updatedReplicas": 1}, "1 of 2 replicas are updated"),
        ({"replicas": 3}, "1 old replicas are still to end"),
        ({"availableReplicas": 1}, "1 of 2 replicas are available"),
    ],
)
def test_a_rollout_that_is_paused_is_named_as_such(more: dict[str, int], message: str) -> None:
    paused = condition("Progressing", "Unknown", "DeploymentPaused")
    health = assess_health(deployment(AVAILABLE, paused, spec={"paused": True}, **TWO | more))
    assert (health.state, health.reason) == (PROGRESSING, "DeploymentPaused")
    assert health.message == (
        f"its rollout is paused (spec.paused), and continues once it is resumed: {message}"
    )


@pytest.mark.parametrize("kind", ["Pod", "CustomResourceDefinition", "APIService", "Job"])
def test_a_condition_of_an_older_generation_does_not_count(kind: str) -> None:
    said = [
        condition(one, observedGeneration=1)
        for one in ("Ready", "Complete", "Available", "Established", "NamesAccepted")
    ]
    assert assess_health(an(kind, {"phase": "Running", "conditions": said})).state == PROGRESSING
    now = [{**one, "observedGeneration": 2} for one in said]
    assert assess_health(an(kind, {"phase": "Running", "conditions": now})).state == CURRENT


def test_a_failure_of_an_older_generation_does_not_count() -> None:
    said = [condition("NamesAccepted", "False", observedGeneration=1)]
    assert assess_health(an("CustomResourceDefinition", {"conditions": said})).state == PROGRESSING


@pytest.mark.parametrize(("obj", "state", "reason"), DEPLOYMENTS.values(), ids=DEPLOYMENTS.keys())
def test_deployment(obj: Any, state: str, reason: str) -> None:
    health = assess_health(obj)
    assert (health.state, health.reason) == (state, reason)


def test_messages_count_and_quote() -> None:
    assert assess_health(deployment(AVAILABLE, ROLLING, **TWO | {"readyReplicas": 1})).message == (
        "1 of 2 replicas are ready"
    )
    assert assess_health(deployment(PAST_DEADLINE)).message == "has timed out progressing"
    assert assess_health(deployment(QUOTA)).message == "its pods are refused: exceeded quota: q"


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet"])
def test_refused_pods_fail_after_a_while(kind: str) -> None:
    for said in (QUOTA, REFUSED):
        assert assess_health(an(kind, counted(said), {"replicas": 2})).fails_after == 20.0


def test_a_webhook_that_does_not_answer_may_yet_come_up() -> None:
    assert assess_health(deployment(NO_WEBHOOK)).fails_after is None


REPLICA_SETS = {
    "complete": (TWO | {"fullyLabeledReplicas": 2}, CURRENT, ""),
    "labelled": (TWO | {"fullyLabeledReplicas": 1}, PROGRESSING, "LessLabelled"),
    "available": (TWO | {"fullyLabeledReplicas": 2, "availableReplicas": 0}, PROGRESSING, "LessAvailable"),
    "ready": (TWO | {"fullyLabeledReplicas": 2, "readyReplicas": 1}, PROGRESSING, "LessReady"),
    "extra": (TWO | {"fullyLabeledReplicas": 2, "replicas": 3}, PROGRESSING, "ExtraPods"),
}


@pytest.mark.parametrize(("counts", "state", "reason"), REPLICA_SETS.values(), ids=REPLICA_SETS.keys())
def test_replica_set(counts: Any, state: str, reason: str) -> None:
    health = assess_health(an("ReplicaSet", counted(**counts), {"replicas": 2}))
    assert (health.state, health.reason) == (state, reason)


SET = {"replicas": 2, "readyReplicas": 2, "currentReplicas": 2, "updatedReplicas": 2}
SAME = {"currentRevision": "a", "updateRevision": "a"}
OTHER = {"currentRevision": "a", "updateRevision": "b"}
ON_DELETE = {"updateStrategy": {"type": "OnDelete"}}


def parted(partition: int) -> dict[str, Any]:
    return {"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}}


STATEFUL_SETS = {
    "complete": ({}, SET | SAME, CURRENT, ""),
    "too few": ({}, SET | SAME | {"replicas": 1}, PROGRESSING, "LessReplicas"),
    "not ready": ({}, SET | SAME | {"readyReplicas": 1}, PROGRESSING, "LessReady"),
    "too many": ({}, SET | SAME | {"replicas": 3}, PROGRESSING, "ExtraPods"),
    "old ones left": ({}, SET | OTHER | {"updatedReplicas": 1}, PROGRESSING, "LessUpdated"),
    "about to complete": ({}, SET | OTHER, PROGRESSING, "RevisionMismatch"),
    "partition 0 is none": (parted(0), SET | OTHER | {"updatedReplicas": 1}, PROGRESSING, "LessUpdated"),
    "its part updated": (parted(1), SET | OTHER | {"updatedReplicas": 1}, CURRENT, ""),
    "its part not updated": (parted(1), SET | OTHER | {"updatedReplicas": 0}, PROGRESSING, "LessUpdated"),
    "a partition beyond all": (parted(7), SET | OTHER | {"updatedReplicas": 0}, CURRENT, ""),
    "on delete, of an old revision": (ON_DELETE, SET | OTHER | {"updatedReplicas": 0}, CURRENT, ""),
    "on delete, not ready": (ON_DELETE, SET | SAME | {"readyReplicas": 0}, PROGRESSING, "LessReady"),
    "not ready for long enough": (
        {"minReadySeconds": 9},
        SET | SAME | {"availableReplicas": 1},
        PROGRESSING,
        "LessAvailable",
    ),
}


@pytest.mark.parametrize(
    ("spec", "counts", "state", "reason"), STATEFUL_SETS.values(), ids=STATEFUL_SETS.keys()
)
def test_stateful_set(spec: Any, counts: Any, state: str, reason: str) -> None:
    health = assess_health(an("StatefulSet", counted(**counts), {"replicas": 2, **spec}))
    assert (health.state, health.reason) == (state, reason)


NODES = {
    "desiredNumberScheduled": 2,
    "currentNumberScheduled": 2,
    "updatedNumberScheduled": 2,
    "numberAvailable": 2,
    "numberReady": 2,
}
DAEMON_SETS = {
    "complete": ({}, NODES, CURRENT, ""),
    "no node wanted": ({}, {"desiredNumberScheduled": 0}, CURRENT, ""),
    "nodes not counted": ({}, {}, PROGRESSING, "NoDesiredNumber"),
    "too few": ({}, NODES | {"currentNumberScheduled": 1}, PROGRESSING, "LessCurrent"),
    "too few updated": ({}, NODES | {"updatedNumberScheduled": 1}, PROGRESSING, "LessUpdated"),
    "too few updated, on delete": (ON_DELETE, NODES | {"updatedNumberScheduled": 1}, CURRENT, ""),
    "too few available": ({}, NODES | {"numberAvailable": 1}, PROGRESSING, "LessAvailable"),
    "too few ready": ({}, NODES | {"numberReady": 1}, PROGRESSING, "LessReady"),
}


@pytest.mark.parametrize(("spec", "counts", "state", "reason"), DAEMON_SETS.values(), ids=DAEMON_SETS.keys())
def test_daemon_set(spec: Any, counts: Any, state: str, reason: str) -> None:
    health = assess_health(an("DaemonSet", counted(**counts), spec))
    assert (health.state, health.reason) == (state, reason)


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet", "DaemonSet"])
def test_a_controller_must_have_seen_it(kind: str) -> None:
    assert assess_health(an(kind, {}, {"replicas": 0})).reason == "NotObserved"
    assert assess_health(an(kind, {"observedGeneration": 1}, {"replicas": 0})).reason == (
        "LatestGenerationNotObserved"
    )


CRASHING = {"name": "c", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
NO_NODE = condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")
PODS = {
    "not seen": ({}, PROGRESSING, "PodPending"),
    "pending": ({"phase": "Pending"}, PROGRESSING, "PodPending"),
    "without a node": ({"phase": "Pending", "conditions": [NO_NODE]}, PROGRESSING, "Unschedulable"),
    "ready": ({"phase": "Running", "conditions": [condition("Ready")]}, CURRENT, ""),
    "not ready": (
        {"phase": "Running", "conditions": [condition("Ready", "False")]},
        PROGRESSING,
        "PodNotReady",
    ),
    "crashing": ({"phase": "Running", "containerStatuses": [CRASHING]}, FAILED, "CrashLoopBackOff"),
    "done": ({"phase": "Succeeded"}, CURRENT, ""),
    "failed, which kstatus lets pass": ({"phase": "Failed"}, FAILED, "PodFailed"),
    "evicted": ({"phase": "Failed", "reason": "Evicted"}, FAILED, "Evicted"),
}


@pytest.mark.parametrize(("status", "state", "reason"), PODS.values(), ids=PODS.keys())
def test_pod(status: Any, state: str, reason: str) -> None:
    health = assess_health(an("Pod", status))
    assert (health.state, health.reason) == (state, reason)


def test_a_pod_without_a_node_fails_after_a_while() -> None:
    assert assess_health(an("Pod", {"phase": "Pending", "conditions": [NO_NODE]})).fails_after == 15.0


JOBS = {
    "not started": ({}, {}, PROGRESSING, "JobNotComplete"),
    "running, which is enough for kstatus": (
        {},
        {"startTime": "t", "active": 1},
        PROGRESSING,
        "JobNotComplete",
    ),
    "complete": ({}, {"conditions": [condition("Complete")]}, CURRENT, ""),
    "failed": (
        {},
        {"conditions": [condition("Failed", "True", "BackoffLimitExceeded")]},
        FAILED,
        "BackoffLimitExceeded",
    ),
    "about to have failed": (
        {},
        {"conditions": [condition("FailureTarget", "True", "DeadlineExceeded")]},
        FAILED,
        "DeadlineExceeded",
    ),
    "not failed": ({}, {"conditions": [condition("Failed", "False")]}, PROGRESSING, "JobNotComplete"),
    "suspended": ({"suspend": True}, {"conditions": [condition("Suspended")]}, CURRENT, ""),
    "no longer suspended": ({}, {"conditions": [condition("Suspended")]}, PROGRESSING, "JobNotComplete"),
}


@pytest.mark.parametrize(("spec", "status", "state", "reason"), JOBS.values(), ids=JOBS.keys())
def test_job(spec: Any, status: Any, state: str, reason: str) -> None:
    health = assess_health(an("Job", status, spec))
    assert (health.state, health.reason) == (state, reason)


def test_a_running_job_shows_its_progress() -> None:
    health = assess_health(an("Job", {"succeeded": 1, "failed": 2}, {"completions": 3}))
    assert health.message == "1 of 3 pods have completed, 2 pods have failed"


CONSUMED = {"annotations": {SELECTED_NODE: "node-1"}}
LAZY = {"volumeBindingMode": "WaitForFirstConsumer"}
EAGER = {"volumeBindingMode": "Immediate"}


def test_claim() -> None:
    assert assess_health(an("PersistentVolumeClaim", {"phase": "Bound"})).state == CURRENT
    assert assess_health(an("PersistentVolumeClaim", {"phase": "Pending"})).reason == "Unbound"
    assert assess_health(an("PersistentVolumeClaim", {"phase": "Pending"}, **CONSUMED)).reason == "NotBound"
    lost = assess_health(an("PersistentVolumeClaim", {"phase": "Lost"}, {"volumeName": "pv-1"}))
    assert (lost.state, lost.fails_after) == (PROGRESSING, 10.0)
    assert "pv-1" in lost.message


def test_a_claim_may_wait_for_its_first_consumer() -> None:
    pending = an("PersistentVolumeClaim", {"phase": "Pending"})
    assert waits_for_consumer(pending, LAZY)
    assert not waits_for_consumer(pending, EAGER)
    assert not waits_for_consumer(pending, None)
    assert not waits_for_consumer(an("PersistentVolumeClaim", {"phase": "Pending"}, **CONSUMED), LAZY)
    assert not waits_for_consumer(an("PersistentVolumeClaim", {"phase": "Lost"}), LAZY)


def test_service() -> None:
    balanced = {"type": "LoadBalancer", "clusterIP": "10.0.0.1"}
    assert assess_health(an("Service", {"loadBalancer": {}}, {"type": "ClusterIP"})).state == CURRENT
    assert assess_health(an("Service", {"loadBalancer": {}}, balanced)).reason == "NoIngress"
    served = {"loadBalancer": {"ingress": [{"ip": "1.2.3.4"}]}}
    assert assess_health(an("Service", served, balanced)).state == CURRENT


NAMES, TAKEN = condition("NamesAccepted"), condition("NamesAccepted", "False", "PluralConflict", "is taken")
CRDS = {
    "fresh": ([], PROGRESSING, "Installing"),
    "established": ([NAMES, condition("Established")], CURRENT, ""),
    "in the other order": ([condition("Established"), NAMES], CURRENT, ""),
    "established, its names not yet accepted": ([condition("Established")], PROGRESSING, "Installing"),
    "installing": ([NAMES, condition("Established", "False", "Installing")], PROGRESSING, "Installing"),
    "names taken": (
        [condition("Established", "False", "NotAccepted"), TAKEN],
        FAILED,
        "PluralConflict",
    ),
    "refused": ([NAMES, condition("Established", "False", "Refused")], FAILED, "Refused"),
}


@pytest.mark.parametrize(("said", "state", "reason"), CRDS.values(), ids=CRDS.keys())
def test_custom_resource_definition(said: Any, state: str, reason: str) -> None:
    health = assess_health(an("CustomResourceDefinition", {"conditions": said}))
    assert (health.state, health.reason) == (state, reason)


def test_api_service() -> None:
    assert assess_health(an("APIService", {"conditions": [condition("Available")]})).state == CURRENT
    assert assess_health(an("APIService")).state == PROGRESSING
    broken = condition("Available", "False", "MissingEndpoints", "no endpoints")
    health = assess_health(an("APIService", {"conditions": [broken]}))
    assert (health.state, health.reason, health.message) == (PROGRESSING, "MissingEndpoints", "no endpoints")


def test_namespace() -> None:
    assert assess_health(an("Namespace", {"phase": "Active"})).state == CURRENT
    assert assess_health(an("Namespace", {"phase": "Terminating"})).state == PROGRESSING


def test_disruption_budget() -> None:
    assert assess_health(an("PodDisruptionBudget", {"observedGeneration": 2})).state == CURRENT
    assert assess_health(an("PodDisruptionBudget", {"observedGeneration": 1})).state == PROGRESSING


@pytest.mark.parametrize(
    "kind",
    ["ConfigMap", "Secret", "ServiceAccount", "ClusterRole", "CronJob", "Ingress", "HorizontalPodAutoscaler"],
)
def test_kinds_that_are_current_by_their_existence(kind: str) -> None:
    # An autoscaler's controller may lag for ever where there are no metrics.
    obj = an(kind, {"observedGeneration": 1, "conditions": [condition("Ready", "False")]})
    assert assess_health(obj).state == CURRENT
    assert is_always_current(obj["apiVersion"], kind)


@pytest.mark.parametrize("kind", ["Deployment", "Pod", "Service", "Widget", "Gateway"])
def test_kinds_that_are_not_always_current(kind: str) -> None:
    assert not is_always_current(API_VERSIONS.get(kind, "v1"), kind)


def test_an_object_that_is_being_deleted_is_not_current() -> None:
    obj = an("ConfigMap", deletionTimestamp="2026-01-01T00:00:00Z", finalizers=["example.com/keep"])
    health = assess_health(obj)
    assert (health.state, health.reason) == (PROGRESSING, "Terminating")
    assert "example.com/keep" in health.message


STALLED = condition("Stalled", "True", "BadSpec", "can't do that")
CUSTOM = {
    "no status": (None, CURRENT, "", None),
    "a status that is a word": ("Ready", CURRENT, "", None),
    "conditions that are none": ({"conditions": "fine"}, CURRENT, "", None),
    "conditions without a type": ({"conditions": ["fine", {}, {"type": 1}]}, CURRENT, "", None),
    "conditions of its own": ({"conditions": [condition("Tired")]}, CURRENT, "", None),
    "not yet seen": ({"observedGeneration": 1}, PROGRESSING, "LatestGenerationNotObserved", None),
    "ready": ({"conditions": [condition("Ready")]}, CURRENT, "", None),
    "not ready": ({"conditions": [condition("Ready", "False", "Waiting")]}, PROGRESSING, "Waiting", None),
    "nobody knows": ({"conditions": [condition("Ready", "Unknown")]}, PROGRESSING, "NotReady", None),
    "not available": ({"conditions": [condition("Available", "False")]}, PROGRESSING, "NotAvailable", None),
    "ready but not available": (
        {"conditions": [condition("Ready"), condition("Available", "False")]},
        PROGRESSING,
        "NotAvailable",
        None,
    ),
    "reconciled": (
        {"conditions": [condition("Ready"), condition("Reconciling", "True", "Busy")]},
        PROGRESSING,
        "Busy",
        None,
    ),
    "stalled": ({"observedGeneration": 2, "conditions": [STALLED]}, FAILED, "BadSpec", None),
    "stalled, as the condition itself says": (
        {"conditions": [{**STALLED, "observedGeneration": 2}]},
        FAILED,
        "BadSpec",
        None,
    ),
    "stalled in whatever generation": ({"conditions": [STALLED]}, PROGRESSING, "BadSpec", 5.0),
    "stalled in the one before": (
        {"conditions": [{**STALLED, "observedGeneration": 1}]},
        PROGRESSING,
        "LatestGenerationNotObserved",
        None,
    ),
    "ready in the one before": (
        {"conditions": [condition("Ready", observedGeneration=1)]},
        PROGRESSING,
        "LatestGenerationNotObserved",
        None,
    ),
    "not ready in the one before": (
        {"conditions": [condition("Ready", "False", "Bad", observedGeneration=1)]},
        PROGRESSING,
        "LatestGenerationNotObserved",
        None,
    ),
    "ready, and available in the one before, whatever the status says": (
        {
            "observedGeneration": 2,
            "conditions": [
                condition("Ready", observedGeneration=2),
                condition("Available", observedGeneration=1),
            ],
        },
        PROGRESSING,
        "LatestGenerationNotObserved",
        None,
    ),
    "ready, and stalled and reconciled in the one before": (
        {
            "conditions": [
                condition("Ready", observedGeneration=2),
                condition("Reconciling", observedGeneration=1),
                {**STALLED, "observedGeneration": 1},
            ]
        },
        CURRENT,
        "",
        None,
    ),
    "ready, and something of its own in the one before": (
        {"conditions": [condition("Ready"), condition("Tired", observedGeneration=1)]},
        CURRENT,
        "",
        None,
    ),
}


@pytest.mark.parametrize(("status", "state", "reason", "fails_after"), CUSTOM.values(), ids=CUSTOM.keys())
@pytest.mark.parametrize("kind", ["Widget", "Gateway"])
def test_custom_resource(kind: str, status: Any, state: str, reason: str, fails_after: Any) -> None:
    health = assess_health(an(kind, status))
    assert (health.state, health.reason, health.fails_after) == (state, reason, fails_after)


UNREADY = condition("Ready", "False", "Failed", "no registry")
STATES = {
    "ready": ({"state": "Ready"}, CURRENT, "", ""),
    "no state": ({"conditions": [condition("Ready")]}, CURRENT, "", ""),
    "a state that is none": ({"state": {"a": "b"}}, CURRENT, "", ""),
    "at work": ({"state": "Processing"}, PROGRESSING, "Processing", ""),
    "an error": ({"state": "Error"}, PROGRESSING, "Error", ""),
    "an error, whatever it is ready for": (
        {"state": "Error", "conditions": [condition("Ready")]},
        PROGRESSING,
        "Error",
        "",
    ),
    "a warning": (
        {"state": "Warning", "conditions": [UNREADY]},
        CURRENT,
        "",
        "its status.state is Warning: no registry",
    ),
    "a warning of an older generation": (
        {"state": "Warning", "conditions": [condition("Ready", observedGeneration=1)]},
        PROGRESSING,
        "LatestGenerationNotObserved",
        "",
    ),
    "a warning while it is reconciled": (
        {"state": "Warning", "conditions": [condition("Reconciling", "True", "Busy")]},
        PROGRESSING,
        "Busy",
        "",
    ),
    "degraded": (
        {"conditions": [condition("Ready"), condition("Degraded", "True", "Slow", "one of two is down")]},
        CURRENT,
        "",
        "it is degraded: one of two is down",
    ),
    "not degraded": ({"conditions": [condition("Ready"), condition("Degraded", "False")]}, CURRENT, "", ""),
    "degraded and not ready": (
        {"conditions": [UNREADY, condition("Degraded")]},
        PROGRESSING,
        "Failed",
        "",
    ),
}


@pytest.mark.parametrize(("status", "state", "reason", "warning"), STATES.values(), ids=STATES.keys())
def test_states_of_kyma_s_operators(status: Any, state: str, reason: str, warning: str) -> None:
    health = assess_health(an("Serverless", status))
    assert (health.state, health.reason, health.warning, health.fails_after) == (state, reason, warning, None)


def test_the_reason_of_an_error_is_quoted() -> None:
    for status in (
        {"state": "Error", "description": "no registry"},
        {"state": "Error", "conditions": [condition("Installed"), UNREADY]},
    ):
        assert assess_health(an("Serverless", status)).message == "its status.state is Error: no registry"


@pytest.mark.parametrize("kind", ["Widget", "Gateway"])
def test_the_state_of_other_operators_says_nothing(kind: str) -> None:
    degraded = [condition("Ready"), condition("Degraded")]
    for status in ({"state": "Error"}, {"state": "Warning"}, {"conditions": degraded}):
        health = assess_health(an(kind, status))
        assert (health.state, health.warning) == (CURRENT, "")
    unready = {"state": "Warning", "conditions": [UNREADY]}
    assert assess_health(an(kind, unready)).state == PROGRESSING
    # Nor that of a module's configuration.
    assert assess_health(an("Serverless", {"state": "Error"}), by_state=False).state == CURRENT
    assert assess_health(an("Serverless", unready), by_state=False).state == PROGRESSING
