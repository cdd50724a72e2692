# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the in-memory cluster has for tests alone; what it shares with a real one is in test_contract.py."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    ExecResult,
    Object,
    Ref,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ExecOutputTooLarge,
    ExecTimeout,
    Gone,
    NotFound,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.clock import FOREVER
from tests.support.owned_objects import owned_by


def config_map(name: str = "a", namespace: str = "default", **data: str) -> Object:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def pod() -> Object:
    meta = {"name": "p", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {}}


class TestSeeds:
    def test_seeds_are_accepted_in_any_order_and_without_their_namespace(self) -> None:
        crd = {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.t"},
            "spec": {
                "group": "t",
                "names": {"kind": "Thing", "plural": "things"},
                "scope": "Namespaced",
                "versions": [{"name": "v1", "served": True, "storage": True}],
            },
        }
        thing = {"apiVersion": "t/v1", "kind": "Thing", "metadata": {"name": "a", "namespace": "far"}}
        cluster = MemoryCluster(thing, crd)
        assert cluster.get("t/v1", "Thing", "a", "far") is not None
        assert cluster.get("v1", "Namespace", "far") is not None

    def test_a_seed_keeps_the_fields_that_a_server_sets(self) -> None:
        obj = config_map()
        obj["metadata"] |= {"uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["t/f"]}
        read = MemoryCluster(obj).get("v1", "ConfigMap", "a", "default")
        assert read is not None
        assert read["metadata"]["uid"] == "u"
        assert read["metadata"]["deletionTimestamp"] == "2026-01-01T00:00:00Z"

    def test_a_seed_counts_as_applied_by_a_manager(self) -> None:
        cluster = MemoryCluster(config_map(k="1", l="1"))
        assert cluster.apply(config_map(k="2"))["data"] == {"k": "2"}
        cluster.seed(config_map("b"), manager="helm")
        read = cluster.get("v1", "ConfigMap", "b", "default")
        assert read is not None
        assert [entry["manager"] for entry in read["metadata"]["managedFields"]] == ["helm"]

    def test_a_claim_is_bound(self) -> None:
        claim = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {"resources": {"requests": {"storage": "10Gi"}}},
        }
        read = MemoryCluster(claim).get("v1", "PersistentVolumeClaim", "c", "default")
        assert read is not None
        assert read["status"] == {"phase": "Bound", "capacity": {"storage": "10Gi"}}

    def test_a_seed_may_have_doubled_items_as_in_a_plain_create(self) -> None:
        twice = [{"name": "E", "value": "1"}, {"name": "E", "value": "2"}]
        seed = {**pod(), "spec": {"containers": [{"name": "c", "env": twice}]}}
        read = MemoryCluster(seed).get("v1", "Pod", "p", "default")
        assert read is not None
        assert read["spec"]["containers"][0]["env"] == twice


class TestRequests:
    def test_every_call_is_recorded(self) -> None:
        cluster = MemoryCluster(config_map())
        cluster.get("v1", "ConfigMap", "a", "default")
        cluster.list("v1", "ConfigMap")
        cluster.with_field_manager("m").apply(config_map(k="1"), dry_run=True)
        cluster.delete("v1", "ConfigMap", "a", "default")
        ref = Ref("", "ConfigMap", "default", "a")
        assert cluster.requests == [
            Request("get", ref),
            Request("list", Ref("", "ConfigMap", "", "")),
            Request("apply", ref, True),
            Request("delete", ref),
        ]
        assert [request.writes for request in cluster.requests] == [False, False, False, True]


class TestFaults:
    def test_before_the_effect(self) -> None:
        cluster = MemoryCluster()
        cluster.fail_at(2, Unreachable("reset"))
        assert cluster.get("v1", "ConfigMap", "a", "default") is None
        with pytest.raises(Unreachable):
            cluster.create(config_map())
        assert cluster.get("v1", "ConfigMap", "a", "default") is None

    def test_a_fault_may_follow_the_effect_of_a_write(self) -> None:
        cluster = MemoryCluster()
        cluster.fail_at(1, Unreachable("reset"), before=False, writes_only=True)
        assert cluster.get("v1", "ConfigMap", "a", "default") is None
        with pytest.raises(Unreachable):
            cluster.create(config_map())
        assert cluster.get("v1", "ConfigMap", "a", "default") is not None

    def test_a_fault_hits_the_requests_that_a_test_selects(self) -> None:
        cluster = MemoryCluster()
        cluster.fail_when(lambda request: request.ref.name == "b", Unreachable("reset"), times=1)
        cluster.create(config_map("a"))
        with pytest.raises(Unreachable):
            cluster.create(config_map("b"))
        cluster.create(config_map("b"))


class TestControllers:
    def test_an_object_of_two_owners_goes_with_both(self) -> None:
        cluster = MemoryCluster()
        owner = cluster.create(config_map("owner"))
        between = cluster.create(owned_by(config_map("between"), owner))
        cluster.create(owned_by(config_map("last"), owner, between))
        cluster.delete("v1", "ConfigMap", "owner", "default")
        assert cluster.get("v1", "ConfigMap", "last", "default") is None

    def test_controllers_react_to_writes_and_to_each_other(self) -> None:
        def ready(cluster: Cluster, event: Event) -> None:
            meta = event.object["metadata"]
            if event.type != "DELETED" and event.object["kind"] == "Pod":
                cluster.patch(
                    "v1",
                    "Pod",
                    meta["name"],
                    meta["namespace"],
                    {"status": {"phase": "Running"}},
                    subresource="status",
                )

        seen: list[tuple[str, str]] = []
        cluster = MemoryCluster()
        cluster.on_write(ready)
        cluster.on_write(lambda _cluster, event: seen.append((event.type, event.object["kind"])))
        cluster.create(pod())
        read = cluster.get("v1", "Pod", "p", "default")
        assert read is not None
        assert read["status"] == {"phase": "Running"}
        assert seen == [("ADDED", "Pod"), ("MODIFIED", "Pod")]
        assert [request.verb for request in cluster.requests] == ["create", "get"]

    def test_a_write_without_a_change_causes_no_event(self) -> None:
        seen: list[str] = []
        cluster = MemoryCluster(config_map(k="1"))
        cluster.on_write(lambda _cluster, event: seen.append(event.type))
        cluster.apply(config_map(k="1"))
        cluster.apply(config_map(k="2"), dry_run=True)
        assert seen == []


class TestWatches:
    def test_a_watch_wakes_at_a_write_from_another_thread(self) -> None:
        cluster = MemoryCluster()
        start = cluster.list("v1", "ConfigMap").resource_version
        timer = threading.Timer(0.05, lambda: cluster.create(config_map()))
        timer.start()
        watch = cluster.watch("v1", "ConfigMap", "default", resource_version=start, seconds=30)
        assert next(watch).type == "ADDED"
        timer.join()

    def test_the_past_can_be_forgotten(self) -> None:
        cluster = MemoryCluster()
        start = cluster.list("v1", "ConfigMap").resource_version
        cluster.create(config_map())
        cluster.forget_history()
        with pytest.raises(Gone):
            next(cluster.watch("v1", "ConfigMap", resource_version=start, seconds=1))

    def test_a_watch_is_stopped_by_another_thread(self) -> None:
        cluster, stop = MemoryCluster(), StopSignal()
        start = cluster.list("v1", "ConfigMap").resource_version
        threading.Timer(0.05, stop.set).start()
        options: dict[str, Any] = {"resource_version": start, "seconds": FOREVER, "stop": stop}
        assert list(cluster.watch("v1", "ConfigMap", **options)) == []
        cluster.create(config_map())
        assert list(cluster.watch("v1", "ConfigMap", **options)) == []

    def test_a_watch_ends_with_a_bookmark_on_request(self) -> None:
        cluster = MemoryCluster()
        start = cluster.list("v1", "ConfigMap").resource_version
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
        [seen] = cluster.watch("v1", "ConfigMap", resource_version=start, seconds=0.01, bookmarks=True)
        assert seen.type == "BOOKMARK"
        now = cluster.list("v1", "ConfigMap").resource_version
        assert seen.object["metadata"] == {"resourceVersion": now}


class TestPods:
    def test_logs(self) -> None:
        cluster = MemoryCluster(pod())
        assert cluster.logs("p", "default") == ""
        cluster.set_log("p", "default", "one\ntwo\nthree\n", container="c")
        assert cluster.logs("p", "default", container="c", tail_lines=2) == "two\nthree\n"
        assert cluster.logs("p", "default", container="c", tail_lines=0) == ""
        with pytest.raises(NotFound):
            cluster.logs("q", "default")

    def test_commands(self) -> None:
        cluster = MemoryCluster(pod())
        assert cluster.exec("p", "default", ["true"]).exit_code == 0
        cluster.on_exec(lambda _name, _namespace, command, _c: ExecResult(" ".join(command).encode(), b"", 3))
        assert cluster.exec("p", "default", ["a", "b"]) == ExecResult(b"a b", b"", 3)

    def test_the_limits_of_a_command(self) -> None:
        cluster = MemoryCluster(pod())
        cluster.on_exec(lambda *_call: ExecResult(b"a" * 6, b"b" * 4, 0))
        assert cluster.exec("p", "default", ["x"], max_bytes=10).exit_code == 0
        with pytest.raises(ExecOutputTooLarge, match="Pod default/p: it has printed more than 9 bytes"):
            cluster.exec("p", "default", ["x"], max_bytes=9)
        cluster.on_exec(lambda *_call: time.sleep(0.05) or ExecResult(b"", b"", 0))
        with pytest.raises(ExecTimeout, match=r"Pod default/p: it did not end within 0\.01 s"):
            cluster.exec("p", "default", ["x"], seconds=0.01)


class TestSharing:
    def test_many_threads(self) -> None:
        cluster = MemoryCluster()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: cluster.apply(config_map(f"n{n}", k=str(n))), range(200)))
        items = cluster.list("v1", "ConfigMap", "default").items
        assert len(items) == 200
        assert len({item["metadata"]["resourceVersion"] for item in items}) == 200

    def test_an_answer_is_a_copy_that_the_caller_may_change(self) -> None:
        cluster = MemoryCluster()
        given = config_map(k="1")
        for answer in (
            cluster.create(given),
            cluster.get("v1", "ConfigMap", "a", "default"),
            cluster.list("v1", "ConfigMap", "default").items[0],
            given,
        ):
            assert answer is not None
            answer["data"]["k"] = "spoilt"
        read = cluster.get("v1", "ConfigMap", "a", "default")
        assert read is not None
        assert read["data"] == {"k": "1"}

    def test_versions_of_a_kind_are_one_object(self) -> None:
        scaler = {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "h", "namespace": "default"},
            "spec": {"maxReplicas": 2},
        }
        cluster = MemoryCluster(scaler)
        read = cluster.get("autoscaling/v1", "HorizontalPodAutoscaler", "h", "default")
        assert read is not None
        assert read["apiVersion"] == "autoscaling/v1"
        version = read["metadata"]["resourceVersion"]
        again = cluster.apply({**scaler, "apiVersion": "autoscaling/v1"})
        assert again["metadata"]["resourceVersion"] == version
