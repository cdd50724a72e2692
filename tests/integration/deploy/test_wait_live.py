# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting and diagnosing on a real API server, whose nodes and containers kwok plays."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.diagnosis import diagnose
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.status import Health
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import (
    WaitResult,
    WaitTerms,
    wait_until_established,
    wait_until_gone,
    wait_until_healthy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.watcher import Watcher

pytestmark = pytest.mark.cluster

LONG = 60.0


def workload(kind: str, name: str, namespace: str, image: str = "example.com/fine", **spec: Any) -> Object:
    labels = {"app": name}
    pod = {"containers": [{"name": "main", "image": image}]} | spec.pop("pod", {})
    body: dict[str, Any] = {"template": {"metadata": {"labels": labels}, "spec": pod}} | spec
    if kind != "Job":
        body["selector"] = {"matchLabels": labels}
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": body,
    }


def job(name: str, namespace: str, image: str = "example.com/fine") -> Object:
    containers = [{"name": "main", "image": image}]
    return workload(
        "Job", name, namespace, backoffLimit=0, pod={"restartPolicy": "Never", "containers": containers}
    )


def claim(name: str, namespace: str, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}} | spec,
    }


def config_map(name: str, namespace: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}


def waited(cluster: LiveCluster, answers: list[Object], seconds: float = LONG, **more: Any) -> WaitResult:
    refs = [(o["apiVersion"], ref_of(o)) for o in answers]
    objects = more.pop("objects", answers)
    terms = WaitTerms(cluster, time.monotonic() + seconds, **more)
    return wait_until_healthy(terms, refs, objects=objects)


def diagnosis_of(cluster: LiveCluster, answer: Object, seconds: float = LONG) -> str:
    """What is told about an object that does not become healthy."""
    result = waited(cluster, [answer], seconds)
    assert not result.is_healthy
    before = cluster.requests.total()
    text = diagnose(cluster, result.unhealthy[0])
    assert cluster.requests.total() - before <= 4
    return text


def test_everything_becomes_healthy_for_two_requests_per_kind(
    live_cluster: LiveCluster, namespace: str
) -> None:
    objects = [
        claim("data", namespace),
        workload("Deployment", "web", namespace, replicas=2),
        workload("Deployment", "api", namespace),
        workload("StatefulSet", "db", namespace, serviceName="db"),
        workload("DaemonSet", "agent", namespace),
        job("once", namespace),
        config_map("settings", namespace),
    ]
    answers = [live_cluster.apply(o) for o in objects]
    changes: list[tuple[Ref, Health]] = []
    before = live_cluster.requests.total()
    result = waited(live_cluster, answers, on_change=lambda *change: changes.append(change))
    assert result == WaitResult("healthy")
    # Claim, Deployment, StatefulSet, DaemonSet and Job; one more for the claim's StorageClass.
    assert live_cluster.requests.total() - before <= 2 * 5 + 1
    assert {ref.kind for ref, health in changes if health.state == "current"} >= {"Deployment", "Job"}
    assert "ConfigMap" not in {ref.kind for ref, _health in changes}

    # Once they are healthy, nobody needs to read them again.
    answers = [live_cluster.apply(o) for o in objects]
    before = live_cluster.requests.total()
    assert waited(live_cluster, answers).is_healthy
    assert live_cluster.requests.total() == before


def test_a_changed_deployment_is_not_taken_for_the_old_one(live_cluster: LiveCluster, namespace: str) -> None:
    assert waited(live_cluster, [live_cluster.apply(workload("Deployment", "web", namespace))]).is_healthy
    changed = live_cluster.apply(workload("Deployment", "web", namespace, image="broken.invalid/x"))
    result = waited(live_cluster, [changed], seconds=2)
    assert result.ended == "deadline"


def test_many_waits_share_their_watches(live_cluster: LiveCluster, namespace: str) -> None:
    answers = [live_cluster.apply(workload("Deployment", f"d{n}", namespace)) for n in range(15)]
    watcher, before = Watcher(live_cluster), live_cluster.requests.total()
    with ThreadPoolExecutor(15) as pool:
        results = list(pool.map(lambda one: waited(live_cluster, [one], watcher=watcher), answers))
    assert all(result.is_healthy for result in results)
    assert live_cluster.requests.total() - before <= 2


def test_a_cancellation_is_noticed(live_cluster: LiveCluster, namespace: str) -> None:
    answer = live_cluster.apply(workload("Deployment", "web", namespace, image="broken.invalid/x"))
    cancelled = threading.Event()
    timer = threading.Timer(1, cancelled.set)
    timer.start()
    started = time.monotonic()
    assert waited(live_cluster, [answer], cancelled=cancelled.is_set).ended == "cancelled"
    assert time.monotonic() - started < 20


def test_a_rollout_past_its_deadline_fails_at_once_and_is_explained(
    live_cluster: LiveCluster, namespace: str
) -> None:
    obj = workload("Deployment", "web", namespace, image="broken.invalid/x", progressDeadlineSeconds=2)
    answer = live_cluster.apply(obj)
    started = time.monotonic()
    text = diagnosis_of(live_cluster, answer)
    assert time.monotonic() - started < LONG / 2
    assert f"Deployment {namespace}/web: " in text
    assert "pod web-" in text
    assert "container main: ImagePullBackOff: Back-off pulling image" in text

    # The next try with what works must not fail for what the last one has left behind.
    repaired = live_cluster.apply(workload("Deployment", "web", namespace, progressDeadlineSeconds=20))
    assert waited(live_cluster, [repaired]).is_healthy


def test_going_back_to_what_worked_is_not_failed_by_the_old_verdict(
    live_cluster: LiveCluster, namespace: str
) -> None:
    recreated = {"type": "Recreate"}
    works = workload("Deployment", "web", namespace, strategy=recreated, progressDeadlineSeconds=60)
    assert waited(live_cluster, [live_cluster.apply(works)]).is_healthy

    def ended(image: str) -> str:
        broken = workload(
            "Deployment", "web", namespace, image, strategy=recreated, progressDeadlineSeconds=2
        )
        return waited(live_cluster, [live_cluster.apply(broken)], seconds=20).ended

    # Now and then the controller can't note that a rollout is new, and takes it for the complete one before.
    assert any(ended(f"broken.invalid/{name}") == "failed" for name in ("a", "b", "c"))
    assert waited(live_cluster, [live_cluster.apply(works)]).is_healthy


def test_a_job_that_fails(live_cluster: LiveCluster, namespace: str) -> None:
    text = diagnosis_of(live_cluster, live_cluster.apply(job("once", namespace, "failing.invalid/x")))
    assert "container main: ended with exit code 1 (Error): this image always fails" in text


def test_a_container_that_crashes(live_cluster: LiveCluster, namespace: str) -> None:
    obj = workload("StatefulSet", "db", namespace, image="crashing.invalid/x", serviceName="db")
    text = diagnosis_of(live_cluster, live_cluster.apply(obj), seconds=3)
    assert "pod db-0, container main: CrashLoopBackOff after 5 restarts, ended with exit code 1" in text


def test_a_pod_that_no_node_takes(live_cluster: LiveCluster, namespace: str) -> None:
    containers = [{"name": "main", "image": "example.com/fine"}]
    obj = workload(
        "Deployment", "web", namespace, pod={"nodeSelector": {"no": "where"}, "containers": containers}
    )
    assert ": Unschedulable: 0/" in diagnosis_of(live_cluster, live_cluster.apply(obj), seconds=3)


def test_a_claim_without_a_provisioner(live_cluster: LiveCluster, namespace: str) -> None:
    live_cluster.apply(claim("data", namespace, storageClassName="no-such-class"))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    containers = [{"name": "main", "image": "example.com/fine"}]
    obj = workload("Deployment", "db", namespace, pod={"volumes": volumes, "containers": containers})
    text = diagnosis_of(live_cluster, live_cluster.apply(obj), seconds=3)
    assert "claim data is not bound (StorageClass no-such-class)" in text
    assert "ProvisioningFailed" in text


def test_a_quota_fails_after_a_while(
    live_cluster: LiveCluster, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import (
        workload_rules as workloads,
    )

    monkeypatch.setattr(workloads, "REFUSED_PODS_FAIL_AFTER", 1.0)
    meta = {"name": "none", "namespace": namespace}
    live_cluster.apply(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": {"pods": "0"}}}
    )
    started = time.monotonic()
    while (
        not (live_cluster.get("v1", "ResourceQuota", "none", namespace) or {}).get("status", {}).get("used")
    ):
        assert time.monotonic() - started < LONG, "the quota's controller has not seen it"
        time.sleep(0.1)
    text = diagnosis_of(
        live_cluster, live_cluster.apply(workload("Deployment", "web", namespace)), seconds=LONG
    )
    assert "exceeded quota: none" in text


def test_a_finalizer_keeps_an_object_until_it_lets_go(live_cluster: LiveCluster, namespace: str) -> None:
    held = config_map("kept", namespace)
    held["metadata"]["finalizers"] = ["example.com/keep"]
    deleted = [live_cluster.apply(held)]
    live_cluster.delete("v1", "ConfigMap", "kept", namespace)

    def gone(seconds: float) -> WaitResult:
        return wait_until_gone(WaitTerms(live_cluster, time.monotonic() + seconds), deleted)

    assert "example.com/keep" in gone(0.5).unhealthy[0].health.message

    def let_go() -> None:
        live_cluster.patch("v1", "ConfigMap", "kept", namespace, {"metadata": {"finalizers": None}})

    timer = threading.Timer(0.5, let_go)
    timer.start()
    assert gone(LONG).is_healthy
    timer.join()
    assert live_cluster.get("v1", "ConfigMap", "kept", namespace) is None


@pytest.fixture
def crds(live_cluster: LiveCluster) -> Iterator[list[Object]]:
    """Five CustomResourceDefinitions of a group of this test's own, not yet applied."""
    group = f"wait-{secrets.token_hex(4)}.example.com"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    made: list[Object] = [
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"things{n}.{group}"},
            "spec": {
                "group": group,
                "scope": "Namespaced",
                "names": {"kind": f"Thing{n}", "plural": f"things{n}"},
                "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
            },
        }
        for n in range(5)
    ]
    yield made
    for crd in made:
        live_cluster.delete(crd["apiVersion"], crd["kind"], crd["metadata"]["name"])


def established(cluster: LiveCluster, answers: list[Object]) -> WaitResult:
    return wait_until_established(WaitTerms(cluster, time.monotonic() + LONG), answers)


def test_new_kinds_can_be_used_once_they_are_established(
    live_cluster: LiveCluster, namespace: str, crds: list[Object]
) -> None:
    assert established(live_cluster, [live_cluster.apply(crd) for crd in crds]).is_healthy
    for crd in crds:
        thing = {
            "apiVersion": f"{crd['spec']['group']}/v1",
            "kind": crd["spec"]["names"]["kind"],
            "metadata": {"name": "one", "namespace": namespace},
        }
        assert waited(live_cluster, [live_cluster.apply(thing)]).is_healthy


def test_taken_names_fail(live_cluster: LiveCluster, crds: list[Object]) -> None:
    first, second = crds[:2]
    second["spec"]["names"]["kind"] = first["spec"]["names"]["kind"]
    assert established(live_cluster, [live_cluster.apply(first)]).is_healthy
    result = established(live_cluster, [live_cluster.apply(second)])
    assert result.ended == "failed"
    assert "already in use" in result.unhealthy[0].health.message
