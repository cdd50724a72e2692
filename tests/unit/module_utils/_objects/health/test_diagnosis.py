# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people are told about an unhealthy object, and what finding it out costs."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.diagnosis import (
    belongs,
    diagnose,
    label_selector,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.explanation import (
    LONGEST_CLAUSE,
    hanging,
    telling,
    tidy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.status import Health
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import UnhealthyObject
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

HANGS = Health("progressing", "LessAvailable", "0 of 1 replicas are available")


def workload(kind: str = "Deployment", name: str = "loki", **spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "ns", "uid": f"uid-{name}"},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    }


def pod(name: str, *containers: Any, owner: Object | None = None, **more: Any) -> Object:
    """A pending pod of ``owner`` (by default the Deployment loki) with these container statuses."""
    of = owner or workload()
    reference = {"apiVersion": "apps/v1", "kind": of["kind"], "name": "loki", "uid": of["metadata"]["uid"]}
    if of["kind"] == "Deployment":
        reference.update(kind="ReplicaSet", name="loki-7d9f", uid="uid-rs")
    status = {"phase": "Pending", "containerStatuses": list(containers)} | more.pop("status", {})
    meta = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "labels": {"app": of["metadata"]["name"]},
        "ownerReferences": [{**reference, "controller": True}],
    }
    names = {c["name"] for c in containers} or {"c"}
    spec = {"containers": [{"name": n, "image": "i"} for n in sorted(names)]} | more.pop("spec", {})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta | more.pop("metadata", {}),
        "spec": spec,
        "status": status,
    }


def waiting(reason: str, message: str = "", name: str = "c", **more: Any) -> dict[str, Any]:
    state = {"waiting": {"reason": reason} | ({"message": message} if message else {})}
    return {"name": name, "ready": False, "restartCount": 0, "state": state, **more}


def ended(code: int, message: str = "", reason: str = "Error", name: str = "c") -> dict[str, Any]:
    state = {"exitCode": code, "reason": reason} | ({"message": message} if message else {})
    return {"name": name, "ready": False, "restartCount": 0, "state": {"terminated": state}}


def running(name: str = "c", *, ready: bool = False) -> dict[str, Any]:
    return {"name": name, "ready": ready, "restartCount": 0, "state": {"running": {}}}


def unscheduled(message: str) -> dict[str, Any]:
    said = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"conditions": [said]}


def event(about: Object, reason: str, message: str, at: str = "10", **more: Any) -> Object:
    meta = about["metadata"]
    number = sum(ord(c) for c in reason + message + at)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"e{number}", "namespace": meta.get("namespace", "default")},
        "involvedObject": {"kind": about["kind"], "name": meta["name"], "uid": meta.get("uid")},
        "type": "Warning",
        "reason": reason,
        "message": message,
        "lastTimestamp": f"2026-01-01T00:00:{at}Z",
    } | more


def diagnosis_of(obj: Object, *others: Object, health: Health = HANGS, most: int = 4) -> str:
    """What is told about an object in a cluster with these others, for at most so many requests."""
    cluster = MemoryCluster()
    cluster.seed(obj, *others)
    cluster.requests.clear()
    text = diagnose(cluster, UnhealthyObject(obj["apiVersion"], ref_of(obj), health, obj))
    assert len(cluster.requests) <= most
    assert not any(request.writes for request in cluster.requests)
    assert not any(request.verb == "logs" for request in cluster.requests)
    return text


def test_an_image_that_can_not_be_pulled() -> None:
    broken = pod("loki-7d9f-x", running("fine", ready=True), waiting("ImagePullBackOff", "no such host"))
    assert diagnosis_of(workload(), broken) == (
        "Deployment ns/loki: 0 of 1 replicas are available; "
        "pod loki-7d9f-x, container c: ImagePullBackOff: no such host"
    )


PULL_ERROR = (
    'failed to pull and unpack image "a/b:1": failed to resolve reference "a/b:1": '
    'failed to do request: Head "https://a/v2/b/manifests/1": dial tcp: lookup a on 10.0.0.1:53: no such host'
)
"""What the kubelet 1.36 quotes of containerd."""


@pytest.mark.parametrize(
    ("reason", "message", "why"),
    [
        ("ErrImagePull", PULL_ERROR, "Error: ImagePullBackOff"),
        ("ErrImagePull", f"rpc error: code = Unknown desc = {PULL_ERROR}", "Error: ErrImagePull"),
        (
            "ImagePullBackOff",
            f'Back-off pulling image "a/b:1": ErrImagePull: {PULL_ERROR}',
            f'Failed to pull image "a/b:1": {PULL_ERROR}',
        ),
    ],
)
def test_an_image_reads_the_same_before_and_after_each_try_of_the_kubelet(
    reason: str, message: str, why: str
) -> None:
    broken = pod("p", waiting(reason, message, image="a/b:1"))
    assert diagnosis_of(workload(), broken, event(broken, "Failed", why)) == (
        "Deployment ns/loki: 0 of 1 replicas are available; pod p, container c: ImagePullBackOff: "
        'Back-off pulling image "a/b:1": failed to do request: Head "https://a/v2/b/manifests/1": '
        "dial tcp: lookup a on 10.0.0.1:53: no such host"
    )


def test_an_older_kubelet_names_the_cause_only_in_an_event() -> None:
    broken = pod("p", waiting("ImagePullBackOff", 'Back-off pulling image "a/b:1"', image="a/b:1"))
    events = [
        event(broken, "Failed", 'Failed to pull image "a/b:1": no such host', at="01"),
        event(broken, "Failed", "Error: ImagePullBackOff", at="02"),
    ]
    assert diagnosis_of(workload(), broken, *events).endswith(
        'container c: ImagePullBackOff: Back-off pulling image "a/b:1"; '
        'Failed: Failed to pull image "a/b:1": no such host'
    )


def test_a_container_that_crashes() -> None:
    last = {"terminated": {"exitCode": 137, "reason": "OOMKilled", "message": "heap\nis full"}}
    crashing = pod("p", waiting("CrashLoopBackOff", "back-off", restartCount=5, lastState=last))
    backing_off = event(crashing, "BackOff", "Back-off restarting failed container")
    text = diagnosis_of(workload(), crashing, backing_off)
    assert (
        "pod p, container c: CrashLoopBackOff after 5 restarts, ended with exit code 137 (OOMKilled)" in text
    )
    assert "heap is full" in text


@pytest.mark.parametrize("where", ["containers", "initContainers"])
def test_the_tail_of_a_log_is_not_shown(where: str) -> None:
    policy = {"name": "c", "image": "i", "terminationMessagePolicy": "FallbackToLogsOnError"}
    last = {"terminated": {"exitCode": 1, "reason": "Error", "message": "password=hunter2"}}
    for broken in (waiting("CrashLoopBackOff", lastState=last), ended(1, "password=hunter2")):
        text = diagnosis_of(workload(), pod("p", broken, spec={where: [policy]}))
        assert "exit code 1" in text
        assert "hunter2" not in text


def test_an_init_container_that_fails() -> None:
    status = {"initContainerStatuses": [ended(2, "no database", name="migrate")]}
    text = diagnosis_of(workload(), pod("p", waiting("PodInitializing"), status=status))
    assert "pod p, container migrate: ended with exit code 2 (Error): no database" in text


def test_a_pod_that_no_node_takes() -> None:
    text = diagnosis_of(
        workload(), pod("p", status=unscheduled("0/3 nodes are available: Insufficient cpu."))
    )
    assert text.endswith("pod p: Unschedulable: 0/3 nodes are available: Insufficient cpu")


def test_a_claim_that_is_not_bound() -> None:
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "ns", "uid": "uid-data"},
        "spec": {
            "storageClassName": "fast",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }
    bound: Object = {**claim, "metadata": {"name": "other", "namespace": "ns"}, "status": {"phase": "Bound"}}
    volumes = [
        {"name": "s", "emptyDir": {}},
        {"name": "o", "persistentVolumeClaim": {"claimName": "other"}},
        {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
    ]
    hangs = pod(
        "p",
        spec={"volumes": volumes},
        status=unscheduled("pod has unbound immediate PersistentVolumeClaims"),
    )
    why = event(claim, "ProvisioningFailed", 'storageclass "fast" not found')
    text = diagnosis_of(workload(), hangs, claim, bound, why)
    assert "claim data is not bound (StorageClass fast)" in text
    assert text.endswith('; ProvisioningFailed: storageclass "fast" not found')
    alone = diagnosis_of(claim, why, health=Health("progressing", "Unbound", "it has no volume yet"), most=1)
    assert 'ProvisioningFailed: storageclass "fast" not found' in alone
    del claim["spec"]["storageClassName"]
    assert "the cluster has no default" in diagnosis_of(claim)


def test_a_volume_that_can_not_be_mounted() -> None:
    creating = pod("p", waiting("ContainerCreating"))
    why = event(creating, "FailedMount", 'secret "s" not found')
    text = diagnosis_of(workload(), creating, why)
    assert text.endswith('pod p, container c: ContainerCreating; FailedMount: secret "s" not found')


def test_a_probe_that_fails() -> None:
    unready = pod("p", running(), status={"phase": "Running"})
    why = event(unready, "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503")
    text = diagnosis_of(workload(), unready, why)
    assert "pod p, container c: it runs but is not ready; Unhealthy: Readiness probe failed" in text


def test_a_configuration_that_is_missing() -> None:
    broken = pod("p", waiting("CreateContainerConfigError", 'configmap "x" not found'))
    why = event(broken, "Failed", 'Error: configmap "x" not found')
    text = diagnosis_of(workload(), broken, why)
    assert 'CreateContainerConfigError: configmap "x" not found' in text


def test_a_message_is_not_repeated() -> None:
    broken = pod("p", waiting("ImagePullBackOff", "no such host"))
    assert (
        diagnosis_of(workload(), broken, event(broken, "Failed", "no such host")).count("no such host") == 1
    )


def test_an_evicted_pod() -> None:
    job = workload("Job")
    evicted = pod("p", owner=job, status={"phase": "Failed", "reason": "Evicted", "message": "low on memory"})
    text = diagnosis_of(job, evicted, health=Health("failed", "BackoffLimitExceeded", "too many tries"))
    assert text == "Job ns/loki: too many tries; pod p: Evicted: low on memory"


def test_pods_that_are_refused() -> None:
    refused = Health("failed", "FailedCreate", "its pods are refused: exceeded quota: q")
    assert diagnosis_of(workload(), health=refused, most=1) == (
        "Deployment ns/loki: its pods are refused: exceeded quota: q"
    )


def test_a_replica_set_that_can_not_create_pods() -> None:
    creator: Object = {"kind": "ReplicaSet", "metadata": {"name": "loki-7d9f", "namespace": "ns", "uid": "r"}}
    other: Object = {"kind": "ReplicaSet", "metadata": {"name": "tempo-7d9f", "namespace": "ns", "uid": "s"}}
    text = diagnosis_of(
        workload(),
        event(creator, "FailedCreate", "denied by policy"),
        event(other, "FailedCreate", "no business of loki's", at="20"),
        most=2,
    )
    assert text == "Deployment ns/loki: 0 of 1 replicas are available; FailedCreate: denied by policy"


def test_a_stateful_set_that_can_not_create_pods() -> None:
    obj = workload("StatefulSet")
    text = diagnosis_of(obj, event(obj, "FailedCreate", "exceeded quota: q"))
    assert text.endswith("; FailedCreate: exceeded quota: q")


def test_events_of_a_predecessor_of_the_same_name_are_not_shown() -> None:
    obj = workload("StatefulSet")
    old = workload("StatefulSet")
    old["metadata"]["uid"] = "another"
    assert "FailedCreate" not in diagnosis_of(obj, event(old, "FailedCreate", "long ago"))


def test_the_newest_warning_counts_and_trying_again_does_not() -> None:
    about = workload()
    events = [
        event(about, "FailedMount", "first", at="01"),
        event(about, "FailedMount", "second", at="02"),
        event(about, "Scheduled", "fine", at="03", type="Normal"),
        event(about, "BackOff", "again", at="04"),
    ]
    newest = telling(events)
    assert newest is not None
    assert newest["message"] == "second"
    assert telling([]) is None
    in_series = event(about, "A", "series", lastTimestamp=None, series={"lastObservedTime": "2027"})
    created = event(about, "B", "created", lastTimestamp=None, metadata={"creationTimestamp": "2026"})
    assert telling([created, in_series]) == in_series


def test_the_warning_event_of_a_service_is_shown() -> None:
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "lb", "namespace": "ns", "uid": "u"},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    }
    why = event(service, "SyncLoadBalancerFailed", "no public addresses left")
    text = diagnosis_of(
        service, why, health=Health("progressing", "NoIngress", "its load balancer has no address yet")
    )
    assert text == (
        "Service ns/lb: its load balancer has no address yet; "
        "SyncLoadBalancerFailed: no public addresses left"
    )


def test_a_bare_pod_needs_no_search() -> None:
    bare = pod("p", waiting("ErrImagePull", "not found"))
    assert "container c: ErrImagePull: not found" in diagnosis_of(bare, most=1)


def test_an_object_that_is_gone_needs_no_reading() -> None:
    missing = UnhealthyObject(
        "apps/v1", ref_of(workload()), Health("failed", "Missing", "it is not there"), None
    )
    cluster = MemoryCluster()
    assert diagnose(cluster, missing) == "Deployment ns/loki: it is not there"
    assert not cluster.requests


def test_a_diagnosis_names_events_that_may_not_be_read() -> None:
    obj, broken = workload(), pod("p", waiting("ImagePullBackOff", "no such host"))
    cluster = MemoryCluster()
    cluster.seed(obj, broken)
    forbidden = Forbidden("list Event in ns", status=403, api_message="you may not")
    cluster.fail_when(lambda request: request.ref.kind == "Event", forbidden)
    text = diagnose(cluster, UnhealthyObject("apps/v1", ref_of(obj), HANGS, obj))
    assert "no such host" in text
    assert text.endswith("why could not be read: list Event in ns: you may not")


def test_labels_do_not_make_a_pod_ones_own() -> None:
    assert belongs(pod("p"), workload())
    assert not belongs(pod("p"), workload(name="lok"))
    assert not belongs(pod("p", metadata={"ownerReferences": []}), workload())
    job = workload("Job")
    assert belongs(pod("p", owner=job), job)
    assert not belongs(pod("p", owner=job), workload("Job", name="other"))


def test_the_most_broken_pod_is_diagnosed() -> None:
    def named(*pods: Object) -> str | None:
        pod = hanging(pods)
        return pod["metadata"]["name"] if pod else None

    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    fine = pod("fine", running(ready=True), status=ready)
    done = pod("done", status={"phase": "Succeeded"})
    failed = pod("failed", status={"phase": "Failed"})
    pending = pod("pending", waiting("ContainerCreating"))
    unready = pod("unready", running(), status={"phase": "Running"})
    broken = pod("broken", waiting("ImagePullBackOff"), metadata={"creationTimestamp": "2026-01-01"})
    newer = pod("newer", waiting("ImagePullBackOff"), metadata={"creationTimestamp": "2026-01-02"})
    going = pod("going", waiting("ImagePullBackOff"), metadata={"deletionTimestamp": "2026-01-03"})
    assert named(fine, done) is None
    assert named(fine, unready) == "unready"
    assert named(pending, unready, fine) == "pending"
    assert named(failed, pending, unready) == "failed"
    assert named(newer, broken, pending) == "newer"
    assert named(going, unready) == "unready"
    assert named(going) == "going"


def test_foreign_messages_are_tidied() -> None:
    assert tidy("a\n  b.\n") == "a b"
    assert tidy(None) == ""
    assert tidy("pull https://me:secret@registry.example.com/x") == "pull https://***@registry.example.com/x"
    assert len(tidy("x" * 1000)) == LONGEST_CLAUSE
    scheduler = "0/3 nodes are available: 3 Insufficient cpu"
    evicted = "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."
    assert tidy(f"{scheduler}. no new claims to deallocate, {evicted}") == scheduler
    assert tidy(f"{scheduler}. {evicted}") == scheduler
    assert tidy("x" * LONGEST_CLAUSE) == "x" * LONGEST_CLAUSE


def test_label_selectors() -> None:
    expressions = [
        {"key": "a", "operator": "In", "values": ["x", "y"]},
        {"key": "b", "operator": "NotIn", "values": ["z"]},
        {"key": "c", "operator": "Exists"},
        {"key": "d", "operator": "DoesNotExist"},
    ]
    assert label_selector({"matchLabels": {"k": "v"}, "matchExpressions": expressions}) == (
        "k=v,a in (x,y),b notin (z),c,!d"
    )
