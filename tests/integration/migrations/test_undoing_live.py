# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Journaling and undoing on a real API server: what the in-memory one only plays."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Object,
    manager_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Conflict
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journal_entry import (
    JournalInMemory,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.journaling_cluster import (
    JournalingCluster,
    Writer,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo import undo_writes
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.undo_report import (
    UndoneObject,
)

from tests.integration.migrations.test_real_ones import Loki, eventually
from tests.support.loki import CLAIM, LABELS

pytestmark = pytest.mark.cluster

APPS = "apps/v1"
Write = Callable[[Cluster, str], object]


class Scene:
    """A namespace, and a journal through which a migration writes."""

    def __init__(self, cluster: LiveCluster, namespace: str) -> None:
        self.live = cluster
        self.namespace = namespace
        self.journal = JournalInMemory()
        writer = Writer("logging/it")
        self.migrating = JournalingCluster(
            cluster.with_field_manager(manager_of("logging/it")), self.journal, writer
        )
        self.by_hand = cluster.with_field_manager("somebody")

    def undo(self, *, force: bool = False) -> list[UndoneObject]:
        return undo_writes(self.live, self.journal.entries, force=force)

    def get(self, kind: str, name: str, api_version: str = "v1") -> Object | None:
        return self.live.get(api_version, kind, name, self.namespace)


@pytest.fixture
def scene(live_cluster: LiveCluster, namespace: str) -> Scene:
    return Scene(live_cluster, namespace)


def config_map(namespace: str, **data: str) -> Object:
    meta = {"name": "a", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def deployment(namespace: str, **images: str) -> Object:
    containers = [{"name": name, "image": image} for name, image in images.items()]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": namespace},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": {"containers": containers}},
        },
    }


def service(namespace: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a", "namespace": namespace},
        "spec": {"type": "NodePort", "ports": [{"port": 80}], "selector": LABELS},
    }


def patch(cluster: Cluster, namespace: str, kind: str, change: Any, api_version: str = "v1") -> None:
    cluster.patch(api_version, kind, "a", namespace, change)


WRITES: dict[str, tuple[Callable[[str], Object] | None, Write]] = {
    "merge patches": (
        lambda n: config_map(n, x="1", y="2"),
        lambda c, n: [
            patch(c, n, "ConfigMap", {"data": change}) for change in ({"x": "2", "y": None}, {"x": "3"})
        ],
    ),
    "JSON patch": (
        lambda n: config_map(n, x="1"),
        lambda c, n: patch(c, n, "ConfigMap", [{"op": "replace", "path": "/data/x", "value": "2"}]),
    ),
    "apply": (
        lambda n: deployment(n, a="1", b="1"),
        lambda c, n: c.apply(deployment(n, a="2", c="1"), force=True),
    ),
    "scale": (
        lambda n: deployment(n, a="1"),
        lambda c, n: c.patch("apps/v1", "Deployment", "a", n, {"spec": {"replicas": 1}}, subresource="scale"),
    ),
    "delete": (lambda n: deployment(n, a="1"), lambda c, n: c.delete("apps/v1", "Deployment", "a", n)),
    "create": (None, lambda c, n: c.create(config_map(n, x="1"))),
    "create by apply": (None, lambda c, n: c.apply(deployment(n, a="1"))),
}


def written(obj: Object | None) -> Object | None:
    """What a person could have written of an object."""
    if obj is None:
        return None
    annotations = {k: v for k, v in (obj["metadata"].get("annotations") or {}).items() if "revision" not in k}
    return {**{k: v for k, v in obj.items() if k not in ("metadata", "status")}, "annotations": annotations}


@pytest.mark.parametrize("name", WRITES)
def test_each_kind_of_write_is_undone_completely(scene: Scene, name: str) -> None:
    seed, write = WRITES[name]
    if seed:
        scene.by_hand.create(seed(scene.namespace))
    kinds = {"ConfigMap": "v1", "Deployment": "apps/v1"}
    before = [written(scene.get(kind, "a", version)) for kind, version in kinds.items()]
    write(scene.migrating, scene.namespace)
    assert [written(scene.get(kind, "a", version)) for kind, version in kinds.items()] != before
    rehearsed = undo_writes(DryRunCluster(scene.live), scene.journal.entries)
    done = scene.undo()
    assert [str(one) for one in done] == [str(one) for one in rehearsed]
    assert all(one.is_complete for one in done), [str(one) for one in done]
    eventually(lambda: [written(scene.get(kind, "a", version)) for kind, version in kinds.items()] == before)
    assert [str(one) for one in scene.undo() if one.is_changed] == []


def test_a_service_comes_back_with_other_addresses_and_says_so(scene: Scene) -> None:
    scene.by_hand.create(service(scene.namespace))
    scene.migrating.delete("v1", "Service", "a", scene.namespace)
    [one] = scene.undo()
    assert one.state == "recreated"
    assert {"its clusterIP", "its nodePorts"} <= set(one.lost)
    live = scene.get("Service", "a")
    assert live
    assert live["spec"]["clusterIP"]


def test_others_write_all_the_time_and_nothing_of_theirs_is_lost_or_taken_for_ours(scene: Scene) -> None:
    scene.by_hand.create(config_map(scene.namespace, x="0", busy="0"))
    stop = threading.Event()

    def write_all_the_time() -> None:
        count = 0
        while not stop.wait(0.001):
            count += 1
            patch(scene.by_hand, scene.namespace, "ConfigMap", {"data": {"busy": str(count)}})

    other = threading.Thread(target=write_all_the_time)
    other.start()
    try:
        for number in range(20):
            patch(scene.migrating, scene.namespace, "ConfigMap", {"data": {"x": str(number + 1)}})
        done = []
        while not done or done[0].state == "failed":
            done = scene.undo()
    finally:
        stop.set()
        other.join()
    assert [(one.fields, one.retained) for one in done] == [(("data.x",), ())]
    live = scene.get("ConfigMap", "a")
    assert live
    assert live["data"]["x"] == "0"
    assert int(live["data"]["busy"]) > 0


class QuickController(ClusterWrapper):
    """Writes to a Deployment as soon as somebody else has: before the writer can have another look at it."""

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        answer = ask()
        if call.verb == "patch":
            change = {"metadata": {"annotations": {"seen": "true"}}}
            patch(self._inner.with_field_manager("controller"), str(call.namespace), call.kind, change, APPS)
        return answer


def test_a_write_of_a_controller_at_once_after_a_scale_is_not_taken_for_ours(scene: Scene) -> None:
    scene.by_hand.create(deployment(scene.namespace, a="1"))
    watched = QuickController(scene.live.with_field_manager(manager_of("logging/it")))
    migrating = JournalingCluster(watched, scene.journal, Writer("logging/it"))
    migrating.patch(APPS, "Deployment", "a", scene.namespace, {"spec": {"replicas": 1}}, subresource="scale")
    [one] = scene.undo()
    assert (one.fields, one.retained) == (("spec.replicas",), ())
    live = scene.get("Deployment", "a", APPS)
    assert live
    assert live["spec"]["replicas"] == 0
    assert live["metadata"]["annotations"]["seen"] == "true"


def test_a_conflict_of_the_migration_s_own_is_its_own(scene: Scene) -> None:
    scene.by_hand.apply(config_map(scene.namespace, x="1"))
    with pytest.raises(Conflict):
        scene.migrating.apply(config_map(scene.namespace, x="2"))
    stale = {"metadata": {"resourceVersion": "1"}, "data": {"x": "2"}}
    with pytest.raises(Conflict):
        patch(scene.migrating, scene.namespace, "ConfigMap", stale)
    assert scene.journal.entries == []


@pytest.mark.parametrize("verb", ["delete", "patch"])
def test_an_object_that_others_recreated_stays_also_by_force(scene: Scene, verb: str) -> None:
    scene.by_hand.apply(config_map(scene.namespace, x="1"))
    if verb == "patch":
        patch(scene.migrating, scene.namespace, "ConfigMap", {"data": {"x": "2"}})
    (scene.migrating if verb == "delete" else scene.live).delete("v1", "ConfigMap", "a", scene.namespace)
    recreated = scene.by_hand.apply(config_map(scene.namespace, x="theirs"))
    [one] = scene.undo(force=True)
    assert (one.state, one.reason) == ("changed_since", "it was recreated since")
    assert scene.get("ConfigMap", "a") == recreated


def test_a_volume_that_has_grown_is_refused_by_the_server_and_named(scene: Scene) -> None:
    loki = Loki(scene.live, scene.namespace)
    try:
        loki.seed("10Gi")
        size = {"spec": {"resources": {"requests": {"storage": "30Gi"}}}}
        change = {**size, "metadata": {"labels": {"grown": "true"}}}
        scene.migrating.patch("v1", "PersistentVolumeClaim", CLAIM, scene.namespace, change)
        capacity = {"status": {"capacity": {"storage": "30Gi"}}}
        scene.live.patch(
            "v1", "PersistentVolumeClaim", CLAIM, scene.namespace, capacity, subresource="status"
        )
        [one] = scene.undo()
        assert one.state == "refused"
        assert one.fields == ("metadata.labels.grown",)
        assert str(one).startswith(f"PersistentVolumeClaim {scene.namespace}/{CLAIM}: as before (metadata.")
        assert "can not be less than" in one.reason
        assert loki.size() == "30Gi"
        assert "grown" not in loki.claim()["metadata"]["labels"]
    finally:
        loki.clean()
