# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are held as they are now, whatever happens to the watches."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster import informer as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Forbidden,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.informer import Informer, InformerScope
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.clock import FOREVER
from tests.support.eventually import eventually

CONFIG_MAPS = InformerScope("v1", "ConfigMap", "default")
THINGS = InformerScope("example.org/v1", "Thing")
CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Thing", "plural": "things"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.05)
    # What ends in time does not need it.
    monkeypatch.setattr(module, "STOP_SECONDS", 60.0)


def config_map(name: str = "a", labels: dict[str, str] | None = None, **data: str) -> Object:
    meta = {"name": name, "namespace": "default", **({"labels": labels} if labels else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def thing() -> Object:
    meta = {"name": "t", "namespace": "default"}
    return {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": meta}


def data_of(obj: Object | None) -> Any:
    """What tests look at: the data, or None."""
    return obj and obj.get("data")


class Seen:
    """What an informer has reported."""

    def __init__(self) -> None:
        self.changes: list[tuple[Any, Any]] = []
        self.errors: list[Exception] = []

    def on_change(self, old: Object | None, new: Object | None) -> None:
        """Note a change, as the data before and after it."""
        self.changes.append((data_of(old), data_of(new)))


@contextmanager
def informed(
    cluster: Cluster, subject: InformerScope = CONFIG_MAPS, *, synced: bool = True, **how: Any
) -> Iterator[tuple[Informer, Seen]]:
    """An informer that runs, and what it has reported."""
    seen = Seen()
    how = {"on_change": seen.on_change, "on_error": seen.errors.append, **how}
    informer = Informer(cluster, subject, **how)
    informer.start()
    try:
        assert not synced or informer.is_synced_within(60)
        yield informer, seen
    finally:
        informer.stop()
        assert not informer._thread.is_alive()


def held_by(informer: Informer) -> dict[tuple[str, str], Object]:
    """The objects that an informer holds, by namespace and name."""
    return {key: held.object for key, held in list(informer._held.items())}


def before_first_watch(cluster: MemoryCluster, happen: Callable[[], object]) -> None:
    """Have something happen in the gap between the first list and the first watch."""
    happened: list[Request] = []

    def matches(request: Request) -> bool:
        if request.verb == "watch" and not happened:
            happened.append(request)
            happen()
        return False

    cluster.fail_when(matches, ValueError("never"))


class TestChanges:
    def test_existing_objects_and_their_changes_are_reported(self) -> None:
        cluster = MemoryCluster(config_map(k="1"))
        with informed(cluster) as (informer, seen):
            assert seen.changes == [(None, {"k": "1"})]
            cluster.patch("v1", "ConfigMap", "a", "default", {"data": {"k": "2"}})
            cluster.create(config_map("b", k="3"))
            cluster.delete("v1", "ConfigMap", "a", "default")
            eventually(lambda: len(seen.changes) == 4)
            assert seen.changes[1:] == [({"k": "1"}, {"k": "2"}), (None, {"k": "3"}), ({"k": "2"}, None)]
            assert [data_of(obj) for obj in held_by(informer).values()] == [{"k": "3"}]
            assert data_of(held_by(informer).get(("default", "b"))) == {"k": "3"}
            assert held_by(informer).get(("default", "a")) is None
        assert seen.errors == []

    def test_a_change_is_held_before_it_is_reported(self) -> None:
        cluster, held = MemoryCluster(config_map(k="1")), list[object]()
        informer = Informer(
            cluster,
            CONFIG_MAPS,
            lambda _old, _new: held.append(data_of(held_by(informer).get(("default", "a")))),
        )
        informer.start()
        assert informer.is_synced_within(60)
        cluster.delete("v1", "ConfigMap", "a", "default")
        eventually(lambda: len(held) == 2)
        informer.stop()
        assert held == [{"k": "1"}, None]

    def test_other_namespaces_and_all_of_them(self) -> None:
        other = {**config_map(k="2"), "metadata": {"name": "a", "namespace": "other"}}
        cluster = MemoryCluster(config_map(k="1"), other)
        with informed(cluster) as (informer, _seen):
            assert len(held_by(informer)) == 1
        with informed(cluster, InformerScope("v1", "ConfigMap")) as (informer, _seen):
            assert [data_of(held_by(informer).get((place, "a"))) for place in ("default", "other")] == [
                {"k": "1"},
                {"k": "2"},
            ]

    def test_an_object_that_begins_or_stops_to_match_a_label_is_a_change(self) -> None:
        cluster = MemoryCluster(config_map(k="1"), config_map("b", {"x": "1"}, k="2"))
        subject = CONFIG_MAPS._replace(label_selector="x=1")
        with informed(cluster, subject) as (informer, seen):
            assert seen.changes == [(None, {"k": "2"})]
            cluster.patch("v1", "ConfigMap", "a", "default", {"metadata": {"labels": {"x": "1"}}})
            cluster.patch("v1", "ConfigMap", "b", "default", {"metadata": {"labels": {"x": "2"}}})
            eventually(lambda: len(seen.changes) == 3)
            assert seen.changes[1:] == [(None, {"k": "1"}), ({"k": "2"}, None)]
            assert [data_of(obj) for obj in held_by(informer).values()] == [{"k": "1"}]

    def test_metadata_alone(self) -> None:
        cluster = MemoryCluster(config_map(k="1"))
        with informed(cluster, CONFIG_MAPS._replace(metadata_only=True)) as (informer, _seen):
            cluster.create(config_map("b", k="2"))
            eventually(lambda: len(held_by(informer)) == 2)
            assert [obj.keys() for obj in held_by(informer).values()] == [
                {"apiVersion", "kind", "metadata"}
            ] * 2

    def test_a_change_of_what_is_not_kept_is_none(self) -> None:
        cluster = MemoryCluster(config_map(k="1", other="1"))
        with informed(cluster, keep=lambda obj: {"data": obj["data"]["k"]}) as (informer, seen):
            cluster.patch("v1", "ConfigMap", "a", "default", {"data": {"other": "2"}})
            cluster.patch("v1", "ConfigMap", "a", "default", {"data": {"k": "2"}})
            eventually(lambda: len(seen.changes) == 2)
            assert seen.changes == [(None, "1"), ("1", "2")]
            assert [*held_by(informer).values()] == [{"data": "2"}]

    def test_only_the_retained_part_of_an_object_takes_memory(self) -> None:
        cluster = MemoryCluster(*(config_map(f"n{n}", k="x" * 100_000 + str(n)) for n in range(50)))

        def bytes_held(keep: Callable[[Object], Object]) -> int:
            tracemalloc.start()
            try:
                with informed(Parsing(cluster), keep=keep):
                    return tracemalloc.get_traced_memory()[0]
            finally:
                tracemalloc.stop()

        whole = bytes_held(lambda obj: obj)
        assert whole > 4_000_000
        assert bytes_held(lambda obj: {"metadata": {"name": obj["metadata"]["name"]}}) < whole / 20


class Parsing(ClusterWrapper):
    """A cluster whose answers share no memory with it, as those of a server."""

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        answer = ask()
        if call.verb == "list":
            for item in answer.items:
                item["data"] = {key: value[:-1] + value[-1:] for key, value in item["data"].items()}
        return answer


class TestGaps:
    def test_a_change_between_the_list_and_the_watch_is_reported(self) -> None:
        cluster = MemoryCluster(config_map(k="1"))
        before_first_watch(cluster, lambda: cluster.delete("v1", "ConfigMap", "a", "default"))
        with informed(cluster) as (_informer, seen):
            eventually(lambda: len(seen.changes) == 2)
            assert seen.changes == [(None, {"k": "1"}), ({"k": "1"}, None)]

    def test_a_change_that_the_server_no_longer_knows_is_reported(self) -> None:
        cluster = MemoryCluster(config_map("a", k="1"), config_map("b", k="1"), config_map("c", k="1"))

        def change_and_forget() -> None:
            cluster.delete("v1", "ConfigMap", "a", "default")
            cluster.patch("v1", "ConfigMap", "b", "default", {"data": {"k": "2"}})
            cluster.create(config_map("d", k="4"))
            cluster.forget_history()

        before_first_watch(cluster, change_and_forget)
        with informed(cluster) as (informer, seen):
            eventually(lambda: len(seen.changes) == 6)
            assert sorted(seen.changes[3:], key=str) == [
                (None, {"k": "4"}),
                ({"k": "1"}, None),
                ({"k": "1"}, {"k": "2"}),
            ]
            assert len(held_by(informer)) == 3
            assert seen.errors == []
            cluster.delete("v1", "ConfigMap", "d", "default")
            eventually(lambda: len(seen.changes) == 7)

    def test_a_deletion_and_a_recreation_are_two_changes(self) -> None:
        cluster = MemoryCluster(config_map(k="1"))

        def replace() -> None:
            cluster.delete("v1", "ConfigMap", "a", "default")
            cluster.create(config_map(k="1"))
            cluster.forget_history()

        before_first_watch(cluster, replace)
        with informed(cluster, keep=lambda obj: {"data": obj["data"]}) as (_informer, seen):
            eventually(lambda: len(seen.changes) == 3)
            assert seen.changes[1:] == [({"k": "1"}, None), (None, {"k": "1"})]

    def test_watches_follow_each_other_without_another_list(self) -> None:
        cluster = MemoryCluster(config_map(k="1"))
        with informed(cluster, watch_seconds=lambda: 0.02) as (_informer, seen):
            eventually(lambda: sum(one.verb == "watch" for one in cluster.requests) > 3)
            cluster.patch("v1", "ConfigMap", "a", "default", {"data": {"k": "2"}})
            eventually(lambda: len(seen.changes) == 2)
            # Bookmarks let it go on from where it is, though all of what it has seen is forgotten.
            cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
            watches = sum(one.verb == "watch" for one in cluster.requests)
            eventually(lambda: sum(one.verb == "watch" for one in cluster.requests) > watches + 1)
            cluster.forget_history()
            watches = sum(one.verb == "watch" for one in cluster.requests)
            eventually(lambda: sum(one.verb == "watch" for one in cluster.requests) > watches + 1)
            assert sum(one.verb == "list" for one in cluster.requests) == 1

    def test_a_kind_that_is_served_later_and_no_longer_and_again(self) -> None:
        cluster = MemoryCluster()
        with informed(cluster, THINGS) as (informer, seen):
            assert held_by(informer) == {}
            for _time in range(2):
                cluster.apply(CRD)
                cluster.create(thing())
                eventually(lambda: held_by(informer))
                cluster.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.example.org")
                eventually(lambda: not held_by(informer))
            eventually(lambda: len(seen.changes) == 4)
            assert seen.errors == []


class TestTrouble:
    def test_a_server_that_is_away_and_comes_back(self) -> None:
        cluster, is_away = MemoryCluster(config_map("a", k="1"), config_map("b", k="1")), [False]
        cluster.fail_when(lambda request: is_away[0] and not request.writes, Unreachable("nobody there"))
        with informed(cluster, watch_seconds=lambda: 0.02) as (informer, seen):
            is_away[0] = True
            eventually(lambda: len(seen.errors) > 3)
            assert len(held_by(informer)) == 2
            cluster.delete("v1", "ConfigMap", "a", "default")
            cluster.patch("v1", "ConfigMap", "b", "default", {"data": {"k": "2"}})
            time.sleep(0.1)
            assert len(seen.changes) == 2
            is_away[0] = False
            eventually(lambda: len(seen.changes) == 4)
            assert seen.changes[2:] == [({"k": "1"}, {"k": "2"}), ({"k": "1"}, None)]

    def test_attempts_grow_rare(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pauses: list[float] = []

        class Impatient(StopSignal):
            def wait(self, seconds: float) -> None:
                pauses.append(seconds)
                super().wait(0.001)

        monkeypatch.setattr(module, "StopSignal", Impatient)
        monkeypatch.setattr(module, "LONGEST_PAUSE", 0.16)
        cluster = MemoryCluster()
        refusal = Forbidden("watch ConfigMap", status=403)
        cluster.fail_when(lambda request: request.verb == "watch", refusal)
        with informed(cluster) as (_informer, seen):
            eventually(lambda: len(pauses) > 6)
            assert set(seen.errors) == {refusal}
        for pause, middle in zip(pauses, (0.01, 0.02, 0.04, 0.08, 0.16, 0.16), strict=False):
            assert 0.8 * middle <= pause <= 1.2 * middle

    def test_a_watch_that_ends_at_once_does_not_spin(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "LONGEST_PAUSE", 10.0)
        cluster = MemoryCluster()
        with informed(cluster, watch_seconds=lambda: 0.0):
            time.sleep(0.5)
            assert sum(one.verb == "watch" for one in cluster.requests) < 10

    def test_unexpected_errors_of_the_cluster(self) -> None:
        cluster, error = MemoryCluster(config_map(k="1")), ValueError("bad answer")
        cluster.fail_when(lambda request: request.verb in ("list", "watch"), error, times=3)
        with informed(cluster) as (_informer, seen):
            eventually(lambda: len(seen.errors) == 3)
            cluster.patch("v1", "ConfigMap", "a", "default", {"data": {"k": "2"}})
            eventually(lambda: len(seen.changes) == 2)

    def test_an_error_of_the_change_handler_is_reported(self) -> None:
        cluster, seen = MemoryCluster(config_map(k="1")), list[object]()

        def fail(_old: Object | None, new: Object | None) -> None:
            seen.append(data_of(new))
            raise ValueError("no")

        with informed(cluster, on_change=fail) as (informer, record):
            cluster.patch("v1", "ConfigMap", "a", "default", {"data": {"k": "2"}})
            eventually(lambda: len(seen) == 2)
            eventually(lambda: len(record.errors) == 2)
            assert data_of(held_by(informer).get(("default", "a"))) == {"k": "2"}
            assert sum(one.verb == "list" for one in cluster.requests) == 1

    def test_errors_of_keep_concern_one_object(self) -> None:
        cluster = MemoryCluster(config_map("a", k="1"), config_map("b", other="1"))
        with informed(cluster, keep=lambda obj: {"data": obj["data"]["k"]}) as (informer, seen):
            assert [str(error) for error in seen.errors] == ["'k'"]
            cluster.patch("v1", "ConfigMap", "a", "default", {"data": {"k": None, "j": "1"}})
            eventually(lambda: len(seen.errors) == 2)
            assert [*held_by(informer).values()] == [{"data": "1"}]
            cluster.patch("v1", "ConfigMap", "b", "default", {"data": {"k": "2"}})
            eventually(lambda: len(held_by(informer)) == 2 and len(seen.changes) == 2)
            assert seen.changes == [(None, "1"), (None, "2")]

    def test_errors_of_reporting_errors(self) -> None:
        def fail(*_arguments: object) -> None:
            raise ValueError("no")

        cluster = MemoryCluster(config_map(k="1"))
        cluster.fail_when(lambda request: request.verb == "watch", Unreachable("gone"), times=1)
        with informed(cluster, on_change=fail, on_error=fail) as (informer, _seen):
            cluster.create(config_map("b", k="2"))
            eventually(lambda: len(held_by(informer)) == 2)


class TestStopping:
    def test_stopping_does_not_wait_for_the_watch(self) -> None:
        cluster = MemoryCluster(config_map(k="1"))
        with informed(cluster, watch_seconds=lambda: FOREVER) as (informer, seen):
            eventually(lambda: cluster.requests[-1].verb == "watch")
            informer.stop()
            assert not informer._thread.is_alive()
            cluster.delete("v1", "ConfigMap", "a", "default")
            assert len(seen.changes) == 1

    def test_stopping_does_not_wait_for_the_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(module, "FIRST_PAUSE", FOREVER)
        cluster = MemoryCluster()
        cluster.fail_when(lambda _request: True, Unreachable("away"))
        with informed(cluster, synced=False) as (informer, seen):
            eventually(lambda: seen.errors)
            assert not informer.is_synced_within(0.01)
            informer.stop()
            assert not informer._thread.is_alive()

    def test_a_change_may_stop_it(self) -> None:
        cluster, seen = MemoryCluster(config_map("a", k="1"), config_map("b", k="1")), list[object]()

        def stop(_old: Object | None, new: Object | None) -> None:
            seen.append(new)
            informer.stop()

        informer = Informer(cluster, CONFIG_MAPS, stop)
        informer.start()
        informer._thread.join(60)
        assert not informer._thread.is_alive()
        assert len(seen) == 1

    def test_an_informer_that_was_never_started_can_be_stopped(self) -> None:
        Informer(MemoryCluster(), CONFIG_MAPS, lambda _old, _new: None).stop()

    def test_no_cpu_is_used_while_nothing_happens(self) -> None:
        cluster = MemoryCluster(config_map(k="1"))
        with informed(cluster):
            eventually(lambda: cluster.requests[-1].verb == "watch")
            calls, spent = len(cluster.requests), time.process_time()
            time.sleep(0.5)
            assert time.process_time() - spent < 0.2
            assert len(cluster.requests) == calls


def test_a_subject_reads_as_what_it_is() -> None:
    assert (str(CONFIG_MAPS), str(THINGS)) == ("ConfigMap in default", "Thing")
