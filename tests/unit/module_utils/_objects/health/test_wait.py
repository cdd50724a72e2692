# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting on the in-memory cluster: when it ends, what it costs, and what it tells."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Object,
    Page,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Forbidden,
    Gone,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import wait
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import (
    workload_rules as workloads,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.status import Health
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import (
    UnhealthyObject,
    WaitResult,
    WaitTerms,
    wait_until_established,
    wait_until_gone,
    wait_until_healthy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.watcher import (
    Inbox,
    Watcher,
    WatchFailure,
    WatchScope,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import FOREVER
from tests.support.eventually import eventually

LONG = FOREVER
"""Seconds that no test should ever need."""


def deployment(name: str, namespace: str = "ns") -> Object:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }


def config_map(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "ns"}}


def claim(name: str, storage_class: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {
            "storageClassName": storage_class,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def storage_class(name: str, mode: str) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "p",
        "volumeBindingMode": mode,
    }


def crd(kind: str, *versions: str) -> Object:
    plural = kind.lower() + "s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": kind + "List"},
            "versions": [
                {"name": v, "served": True, "storage": v == versions[0], "schema": schema} for v in versions
            ],
        },
    }


def complete(obj: Object) -> dict[str, Any]:
    return {
        "observedGeneration": obj["metadata"].get("generation", 1),
        "replicas": 1,
        "updatedReplicas": 1,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "conditions": [
            {"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"},
        ],
    }


def saying(obj: Object, kind: str, status: str, reason: str) -> dict[str, Any]:
    said = {"type": kind, "status": status, "reason": reason, "message": "because"}
    return {"observedGeneration": obj["metadata"].get("generation", 1), "conditions": [said]}


class Stage:
    """A cluster, and a stagehand that changes it while somebody waits."""

    def __init__(self) -> None:
        self.cluster = MemoryCluster()
        self.cluster.seed(config_map("seeds-the-namespace"))
        self.watcher = Watcher(self.cluster, watch_seconds=LONG)
        self.changes: list[tuple[Ref, Health]] = []

    def applied(self, *objects: Object) -> list[Object]:
        """Apply objects; their answers. Counting of requests begins anew."""
        answers = [self.cluster.apply(o) for o in objects]
        self.cluster.requests.clear()
        return answers

    def set_status(self, obj: Object, status: dict[str, Any]) -> None:
        meta = obj["metadata"]
        controller = self.cluster.with_field_manager("controller")
        controller._recorded = False
        controller.patch(
            obj["apiVersion"],
            obj["kind"],
            meta["name"],
            meta.get("namespace"),
            {"status": status},
            subresource="status",
        )

    def wait(self, answers: list[Object], seconds: float = LONG, **more: Any) -> WaitResult:
        given: dict[str, Any] = {
            "on_change": lambda ref, health: self.changes.append((ref, health)),
            "watcher": self.watcher,
        } | more
        own = {name: given.pop(name) for name in ("objects", "pages", "by_state") if name in given}
        refs = [(o["apiVersion"], ref_of(o)) for o in answers]
        terms = WaitTerms(self.cluster, time.monotonic() + seconds, **given)
        return wait_until_healthy(terms, refs, **{"objects": answers, **own})

    @property
    def cost(self) -> dict[str, int]:
        return dict(Counter(request.verb for request in self.cluster.requests))


@pytest.fixture
def stage() -> Stage:
    return Stage()


@contextmanager
def after(seconds: float, action: Callable[[], object]) -> Iterator[None]:
    timer = threading.Timer(seconds, action)
    timer.start()
    yield
    timer.join()


@contextmanager
def taking(at_least: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started >= at_least


def test_a_kind_that_is_current_by_its_existence_needs_no_request(stage: Stage) -> None:
    answers = stage.applied(config_map("a"), config_map("b"))
    assert stage.wait(answers).is_healthy
    assert stage.wait(answers, objects=()).is_healthy
    assert stage.cost == {}
    assert stage.changes == []


def test_an_object_whose_answer_is_current_needs_no_request(stage: Stage) -> None:
    (fresh,) = stage.applied(deployment("a"))
    stage.set_status(fresh, complete(fresh))
    answers = stage.applied(deployment("a"))
    assert stage.wait(answers).is_healthy
    assert stage.cost == {}


def pages_of(cluster: MemoryCluster, namespace: str = "ns") -> dict[tuple[str, str, str], Page]:
    return {("apps/v1", "Deployment", namespace): cluster.list("apps/v1", "Deployment", namespace)}


def test_an_object_listed_before_as_current_needs_no_request(stage: Stage) -> None:
    (alone,) = stage.applied(deployment("alone"))
    stage.set_status(alone, complete(alone))
    pages = pages_of(stage.cluster)
    stage.cluster.requests.clear()
    result = stage.wait([alone], objects=[], pages=pages)
    assert (result.is_healthy, result.watched, stage.cost, stage.changes) == (True, True, {}, [])


def test_an_object_listed_before_is_watched_from_that_list_on(stage: Stage) -> None:
    (alone,) = stage.applied(deployment("alone"))
    pages = pages_of(stage.cluster)
    # Between the list and the wait: a watch that began only now would not show it.
    stage.set_status(alone, complete(alone))
    stage.cluster.requests.clear()
    assert stage.wait([alone], objects=[], pages=pages).is_healthy
    assert stage.cost == {"watch": 1}


def test_an_unchanged_object_may_not_break_during_the_wait(stage: Stage) -> None:
    stage.cluster.seed({**config_map("x"), "metadata": {"name": "x", "namespace": "other"}})
    (alone,) = stage.applied(deployment("alone", "other"))
    stage.set_status(alone, complete(alone))
    pages = pages_of(stage.cluster, "other")
    (changed,) = stage.applied(deployment("changed"))
    steps = [
        (alone, complete(alone) | {"readyReplicas": 0, "availableReplicas": 0}),
        (changed, complete(changed)),
        (alone, complete(alone)),
    ]

    def play() -> None:
        for obj, status in steps:
            stage.set_status(obj, status)
            time.sleep(0.2)

    with after(0.1, play):
        assert stage.wait([alone, changed], objects=[changed], pages=pages).is_healthy
    states = [health.state for ref, health in stage.changes if ref.name == "alone"]
    assert states == ["progressing", "current"]


def test_written_objects_count_as_watched_only_if_all_were_watched(stage: Stage) -> None:
    answers = stage.applied(deployment("a"), config_map("c"))
    with after(0.1, lambda: stage.set_status(answers[0], complete(answers[0]))):
        assert stage.wait(answers[:1]).watched
    again = stage.applied(deployment("b"))
    with after(0.1, lambda: stage.set_status(again[0], complete(again[0]))):
        assert not stage.wait([*again, answers[1]]).watched


def test_a_written_object_that_was_current_at_once_was_not_watched(stage: Stage) -> None:
    assert not stage.wait(stage.applied(config_map("a"))).watched


def test_nothing_to_wait_for(stage: Stage) -> None:
    assert stage.wait([], seconds=-1).is_healthy


def test_an_event_ends_the_wait_at_once(stage: Stage) -> None:
    answers = stage.applied(deployment("a"), config_map("c"))
    with taking(0.3), after(0.3, lambda: stage.set_status(answers[0], complete(answers[0]))):
        assert stage.wait(answers) == WaitResult("healthy")
    assert stage.cost == {"list": 1, "watch": 1}
    assert [(str(ref), health.state) for ref, health in stage.changes] == [
        ("Deployment ns/a", "progressing"),
        ("Deployment ns/a", "current"),
    ]


def test_a_change_before_the_list_is_seen_by_the_list(stage: Stage) -> None:
    answers = stage.applied(deployment("a"))
    stage.set_status(answers[0], complete(answers[0]))
    assert stage.wait(answers).is_healthy


def test_many_objects_of_a_kind_cost_one_list_and_one_watch_per_namespace(stage: Stage) -> None:
    stage.cluster.seed({**config_map("x"), "metadata": {"name": "x", "namespace": "other"}})
    answers = stage.applied(*(deployment(f"d{n}", space) for n in range(20) for space in ("ns", "other")))

    def finish() -> None:
        for one in answers:
            stage.set_status(one, complete(one))

    with after(0.2, finish):
        assert stage.wait(answers).is_healthy
    assert stage.cost == {"list": 2, "watch": 2}


def test_many_components_at_once_share_a_watch(stage: Stage) -> None:
    answers = stage.applied(*(deployment(f"d{n}") for n in range(15)))
    # Those of earlier tests may end meanwhile.
    threads_before = set(threading.enumerate())
    with ThreadPoolExecutor(15) as pool:
        waits = [pool.submit(stage.wait, [one]) for one in answers]
        time.sleep(0.2)
        assert len(set(threading.enumerate()) - threads_before) == 15 + 1
        for one in answers:
            stage.set_status(one, complete(one))
        assert all(wait.result().is_healthy for wait in waits)
    assert stage.cost == {"list": 1, "watch": 1}


def test_a_later_follower_gets_the_earlier_states(stage: Stage) -> None:
    early, late, never = stage.applied(deployment("early"), deployment("late"), deployment("never"))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(stage.wait, [early])
        time.sleep(0.2)
        stage.set_status(late, complete(late))
        stage.cluster.delete("apps/v1", "Deployment", "never", "ns")
        time.sleep(0.1)
        assert stage.wait([late]).is_healthy
        assert stage.wait([never], seconds=0.1).unhealthy[0].health.reason == "Missing"
        stage.set_status(early, complete(early))
        assert first.result().is_healthy
    assert stage.cost["list"] == stage.cost["watch"] == 1


def test_a_later_follower_ignores_a_list_that_is_older_than_its_object(stage: Stage) -> None:
    (early,) = stage.applied(deployment("early"))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(stage.wait, [early])
        time.sleep(0.2)
        # The list was made before this one was, so that it is missing there.
        (created,) = stage.applied(deployment("created"))
        with after(0.2, lambda: stage.set_status(created, complete(created))):
            assert stage.wait([created]).is_healthy
        assert not any(health.reason == "Missing" for _ref, health in stage.changes)
        stage.set_status(early, complete(early))
        assert first.result().is_healthy


def test_a_watch_without_followers_is_resumed(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    with after(0.1, lambda: stage.set_status(answer, complete(answer))):
        assert stage.wait([answer]).is_healthy
    (changed,) = stage.applied(deployment("a") | {"spec": {**deployment("a")["spec"], "replicas": 2}})
    status = complete(changed)
    status.update(replicas=2, updatedReplicas=2, readyReplicas=2, availableReplicas=2)
    with after(0.1, lambda: stage.set_status(changed, status)):
        assert stage.wait([changed]).is_healthy


def test_a_watch_that_has_ended_is_resumed_without_another_list(stage: Stage) -> None:
    stage.watcher = Watcher(stage.cluster, watch_seconds=0.05)
    threads_before = set(threading.enumerate())
    for name in ("first", "second"):
        (answer,) = stage.applied(deployment(name))
        with after(0.1, lambda answer=answer: stage.set_status(answer, complete(answer))):
            assert stage.wait([answer]).is_healthy
        lists = stage.cost.get("list", 0)
        assert lists == (1 if name == "first" else 0)
        eventually(lambda: set(threading.enumerate()) <= threads_before, 10)


def test_the_first_failure_ends_the_wait(stage: Stage) -> None:
    answers = stage.applied(deployment("slow"), deployment("bad"))
    failure = saying(answers[1], "Progressing", "False", "ProgressDeadlineExceeded")
    with taking(0.2), after(0.2, lambda: stage.set_status(answers[1], failure)):
        result = stage.wait(answers)
    assert result.ended == "failed"
    assert not result.is_healthy
    assert [(u.ref.name, u.health.state) for u in result.unhealthy] == [
        ("bad", "failed"),
        ("slow", "progressing"),
    ]
    bad = result.unhealthy[0]
    assert bad.object is not None
    assert bad.object["status"]["conditions"] == failure["conditions"]
    assert bad.api_version == "apps/v1"


def test_all_must_be_current_at_the_same_time(stage: Stage) -> None:
    one, other = stage.applied(deployment("one"), deployment("other"))
    steps = [
        (one, complete(one)),
        (one, complete(one) | {"readyReplicas": 0, "availableReplicas": 0}),
        (other, complete(other)),
    ]

    def play() -> None:
        for obj, status in steps:
            stage.set_status(obj, status)
            time.sleep(0.1)

    def is_over() -> bool:
        return any(ref.name == "other" and health.state == "current" for ref, health in stage.changes)

    with after(0.1, play):
        result = stage.wait([one, other], cancelled=is_over)
    assert result.ended == "cancelled"
    assert [u.ref.name for u in result.unhealthy] == ["one"]


def test_a_hanging_object_is_diagnosed_now_and_then(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "REASON_SECONDS", 0.2)
    monkeypatch.setattr(wait, "LOOK_SECONDS", 0.4)
    answers = stage.applied(config_map("fine"), deployment("a"), deployment("b"))
    stage.set_status(answers[1], complete(answers[1]))
    looks: list[tuple[float, list[str]]] = []

    def look(unhealthy: Sequence[UnhealthyObject]) -> None:
        looks.append((time.monotonic() - started, [one.ref.name for one in unhealthy]))

    started = time.monotonic()
    result = stage.wait(answers, look_into=look, cancelled=lambda: len(looks) == 3)
    assert result.ended == "cancelled"
    assert all(names == ["b"] for _at, names in looks)
    first, second, third = (at for at, _names in looks[:3])
    assert first >= 0.2
    assert (second - first >= 0.4, third - second >= 0.4) == (True, True)


def test_an_object_that_is_healthy_soon_is_not_diagnosed(stage: Stage) -> None:
    answers = stage.applied(deployment("a"))
    with after(0.3, lambda: stage.set_status(answers[0], complete(answers[0]))):
        assert stage.wait(answers, look_into=lambda _some: pytest.fail("it was")).is_healthy


def test_the_deadline_ends_the_wait(stage: Stage) -> None:
    answers = stage.applied(deployment("a"))
    with taking(0.6):
        result = stage.wait(answers, seconds=0.6)
    assert (result.ended, len(result.unhealthy)) == ("deadline", 1)
    assert stage.cost == {"list": 1, "watch": 1}


def test_waiting_is_not_looking_again_and_again(stage: Stage) -> None:
    answers = stage.applied(deployment("a"))
    looks: list[float] = []

    def cancelled() -> bool:
        looks.append(time.monotonic())
        return False

    stage.wait(answers, seconds=0.6, cancelled=cancelled)
    assert len(looks) <= 8


def test_a_cancellation_ends_the_wait(stage: Stage) -> None:
    answers = stage.applied(deployment("a"))
    cancelled = threading.Event()
    with taking(0.3), after(0.3, cancelled.set):
        result = stage.wait(answers, cancelled=cancelled.is_set)
    assert (result.ended, len(result.unhealthy)) == ("cancelled", 1)


def test_a_refusal_that_lasts_fails(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "REFUSED_PODS_FAIL_AFTER", 0.3)
    answers = stage.applied(deployment("a"))
    stage.set_status(answers[0], saying(answers[0], "ReplicaFailure", "True", "FailedCreate"))
    with taking(0.3):
        result = stage.wait(answers)
    assert result.ended == "failed"
    assert result.unhealthy[0].health == Health("failed", "FailedCreate", "its pods are refused: because")
    assert stage.changes[-1][1].state == "failed"


def test_a_refusal_that_passes_does_not_fail(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workloads, "REFUSED_PODS_FAIL_AFTER", 60.0)
    answers = stage.applied(deployment("a"))
    stage.set_status(answers[0], saying(answers[0], "ReplicaFailure", "True", "FailedCreate"))
    with after(0.2, lambda: stage.set_status(answers[0], complete(answers[0]))):
        assert stage.wait(answers).is_healthy


def test_an_object_that_is_gone_fails(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait, "MISSING_FAILS_AFTER", 0.1)
    answers = stage.applied(deployment("a"))
    with after(0.2, lambda: stage.cluster.delete("apps/v1", "Deployment", "a", "ns")):
        result = stage.wait(answers)
    assert result.ended == "failed"
    assert (result.unhealthy[0].health.reason, result.unhealthy[0].health.state) == ("Missing", "failed")


def test_without_answers_objects_are_read(stage: Stage) -> None:
    answers = stage.applied(deployment("a"), deployment("b"))
    for one in answers:
        stage.set_status(one, complete(one))
    assert stage.wait(answers, objects=()).is_healthy
    assert stage.cost["list"] == 1


def test_an_expired_watch_starts_again(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    gone = Gone("watch Deployment", status=410, reason="Expired")
    stage.cluster.fail_when(lambda request: request.verb == "watch", gone, times=1)
    with after(0.1, lambda: stage.set_status(answer, complete(answer))):
        assert stage.wait([answer]).is_healthy
    assert stage.cost["list"] == 2


def test_an_api_server_that_does_not_answer_is_waited_for(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    stage.cluster.fail_when(
        lambda request: request.verb == "list", Unreachable("connection refused"), times=2
    )
    stage.set_status(answer, complete(answer))
    with taking(0.6):
        result = stage.wait([answer])
    assert result == WaitResult("healthy")
    assert stage.cost["list"] == 3


def test_an_api_server_that_never_answers_is_named(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    stage.cluster.fail_when(lambda request: request.verb == "list", Unreachable("connection refused"))
    result = stage.wait([answer], seconds=0.5)
    assert (result.ended, result.trouble) == ("deadline", "connection refused")
    assert stage.cost["list"] <= 3


def test_a_watch_that_is_cut_at_once_is_not_opened_in_a_loop(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    stage.watcher = Watcher(stage.cluster, watch_seconds=0)
    stage.wait([answer], seconds=1)
    assert stage.cost["watch"] <= 4


def test_a_kind_that_is_not_served_is_asked_for_now_and_then(stage: Stage) -> None:
    ref = Ref("example.com", "Widget", "ns", "a")
    terms = WaitTerms(stage.cluster, time.monotonic() + 0.5, watcher=stage.watcher)
    result = wait_until_healthy(terms, [("example.com/v1", ref)])
    assert (result.ended, result.unhealthy[0].health.reason) == ("deadline", "Missing")
    assert "watch" not in stage.cost


def test_a_watch_that_is_forbidden_is_an_error(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    forbidden = Forbidden("watch Deployment in ns", status=403, api_message="not yours")
    stage.cluster.fail_when(lambda request: request.verb == "watch", forbidden)
    with pytest.raises(Forbidden, match="not yours"):
        stage.wait([answer])


def test_a_follower_that_joins_a_failed_watch_gets_its_error(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    first: Inbox = SimpleQueue()
    second: Inbox = SimpleQueue()

    class Watched(Watcher):
        late = False

        def _notify(self, feed: Any, trouble: WatchFailure) -> None:
            super()._notify(feed, trouble)
            if not self.late:
                self.late = True
                self.follow(WatchScope("apps/v1", "Deployment", "ns"), [ref_of(answer)], second)

    forbidden = Forbidden("list Deployment in ns", status=403, api_message="not yours")
    stage.cluster.fail_when(lambda request: request.verb == "list", forbidden)
    Watched(stage.cluster).follow(WatchScope("apps/v1", "Deployment", "ns"), [ref_of(answer)], first)
    for inbox in (first, second):
        assert inbox.get(timeout=LONG) == WatchFailure(forbidden, final=True)


def test_a_claim_waits_for_its_first_pod(stage: Stage) -> None:
    stage.cluster.seed(storage_class("lazy", "WaitForFirstConsumer"), storage_class("eager", "Immediate"))
    lazy = stage.applied(claim("a", "lazy"), claim("b", "lazy"))
    for one in lazy:
        stage.set_status(one, {"phase": "Pending"})
    assert stage.wait(lazy, seconds=1).is_healthy
    assert stage.cost == {"get": 1}
    eager = stage.applied(claim("c", "eager"))
    assert stage.wait(eager, seconds=0.2).ended == "deadline"


def test_a_storage_class_that_may_not_be_read_is_taken_for_an_eager_one(stage: Stage) -> None:
    answers = stage.applied(claim("a", "lazy"))
    forbidden = Forbidden("get StorageClass lazy", status=403)
    stage.cluster.fail_when(lambda request: request.verb == "get", forbidden)
    with after(0.2, lambda: stage.set_status(answers[0], {"phase": "Bound"})):
        assert stage.wait(answers).is_healthy


def gone(stage: Stage, *objects: Object, seconds: float = LONG) -> WaitResult:
    terms = WaitTerms(stage.cluster, time.monotonic() + seconds, watcher=stage.watcher)
    return wait_until_gone(terms, objects)


def test_an_object_that_is_gone_costs_one_read(stage: Stage) -> None:
    assert gone(stage, deployment("never")).is_healthy
    assert stage.cost == {"get": 1}


def test_an_object_that_is_held_is_watched_to_its_end(stage: Stage) -> None:
    held = deployment("kept")
    held["metadata"]["finalizers"] = ["example.com/keep"]
    (held,) = stage.applied(held)
    stage.cluster.delete("apps/v1", "Deployment", "kept", "ns")

    def let_go() -> None:
        stage.cluster.patch("apps/v1", "Deployment", "kept", "ns", {"metadata": {"finalizers": None}})

    result = gone(stage, held, seconds=0.2)
    assert result.ended == "deadline"
    assert "example.com/keep" in result.unhealthy[0].health.message
    with taking(0.2), after(0.2, let_go):
        assert gone(stage, held).is_healthy


def test_a_new_object_of_the_same_name_does_not_prolong_the_wait(stage: Stage) -> None:
    (old,) = stage.applied(deployment("a"))

    def replace() -> None:
        stage.cluster.delete("apps/v1", "Deployment", "a", "ns")
        stage.cluster.apply(deployment("a"))

    with after(0.2, replace):
        assert gone(stage, old).is_healthy


def test_an_object_recreated_before_the_first_read_is_gone_too(stage: Stage) -> None:
    (old,) = stage.applied(deployment("a"))
    stage.cluster.delete("apps/v1", "Deployment", "a", "ns")
    stage.applied(deployment("a"))
    assert gone(stage, old).is_healthy
    assert stage.cost == {"get": 1}


def test_an_object_without_a_deletion_is_reported_as_not_deleted(stage: Stage) -> None:
    (answer,) = stage.applied(deployment("a"))
    assert gone(stage, answer, seconds=0.1).unhealthy[0].health.reason == "NotDeleted"


def established(cluster: MemoryCluster, *crds: Object, seconds: float = LONG, **more: Any) -> WaitResult:
    return wait_until_established(WaitTerms(cluster, time.monotonic() + seconds, **more), crds)


def test_a_kind_that_is_served_costs_nothing(stage: Stage) -> None:
    stage.applied(crd("Widget", "v1"))
    assert established(stage.cluster, crd("Widget", "v1")).is_healthy
    assert stage.cost == {}


def test_every_version_must_be_served(stage: Stage) -> None:
    stage.applied(crd("Widget", "v1"))
    both = crd("Widget", "v1", "v2")
    unserved = established(stage.cluster, both, seconds=0.1)
    assert (unserved.ended, unserved.unhealthy[0].health.reason) == ("deadline", "NotServed")
    with taking(0.3), after(0.3, lambda: stage.cluster.apply(both)):
        assert established(stage.cluster, both).is_healthy


def test_a_version_that_is_not_to_be_served_is_not_waited_for(stage: Stage) -> None:
    stage.applied(crd("Widget", "v1"))
    both = crd("Widget", "v1", "v2")
    both["spec"]["versions"][1]["served"] = False
    assert established(stage.cluster, both, seconds=0.2).is_healthy


def test_taken_names_fail_without_waiting_for_the_deadline(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait, "NOT_SERVED_LOOK_SECONDS", 0.2)
    (answer,) = stage.applied(crd("Widget", "v1"))
    stage.set_status(answer, saying(answer, "NamesAccepted", "False", "PluralConflict"))
    monkeypatch.setattr(MemoryCluster, "resource", lambda *_: None)
    with taking(0.2):
        result = established(stage.cluster, answer)
    assert result.ended == "failed"
    assert result.unhealthy[0].health.reason == "PluralConflict"


def test_another_definition_of_that_kind_does_not_count(stage: Stage) -> None:
    stage.applied(crd("Widget", "v1"))
    second = crd("Widget", "v1")
    second["spec"]["names"]["plural"] = "widgetz"
    assert established(stage.cluster, second, seconds=0.2).ended == "deadline"


def test_a_kind_that_is_never_served_ends_at_the_deadline(stage: Stage) -> None:
    cancelled = threading.Event()
    with taking(0.3):
        assert established(stage.cluster, crd("Widget", "v1"), seconds=0.3).ended == "deadline"
    with after(0.2, cancelled.set):
        assert (
            established(stage.cluster, crd("Widget", "v1"), cancelled=cancelled.is_set).ended == "cancelled"
        )
