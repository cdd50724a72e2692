# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads that several share: each is asked once, and everybody has an answer of their own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Page
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.shared_reads import SharedReads
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.migrations import config_map


def there() -> MemoryCluster:
    cluster = MemoryCluster(config_map("one"), config_map("two"))
    cluster.requests.clear()
    return cluster


def test_the_same_read_by_several_handles_is_one_request() -> None:
    cluster = there()
    shared = SharedReads(cluster)
    other = shared.with_field_manager("somebody")
    for handle in (shared, other, shared):
        assert len(handle.list("v1", "ConfigMap", "default").items) == 2
        assert handle.get("v1", "ConfigMap", "one", "default")
        assert handle.get("v1", "ConfigMap", "absent", "default") is None
    assert [request.verb for request in cluster.requests] == ["list", "get", "get"]


def test_other_arguments_make_another_read() -> None:
    cluster = there()
    shared = SharedReads(cluster)
    for how in ({}, {"label_selector": "a=b"}, {"metadata_only": True}, {"label_selector": ""}):
        shared.list("v1", "ConfigMap", "default", **how)
    shared.list("v1", "ConfigMap")
    shared.list("v1", "ConfigMap", "")
    assert len(cluster.requests) == 4


def test_everybody_may_change_what_they_got() -> None:
    shared = SharedReads(there())
    page, obj = shared.list("v1", "ConfigMap"), shared.get("v1", "ConfigMap", "one", "default")
    assert obj
    page.items[0]["metadata"]["name"] = obj["metadata"]["name"] = "mine"
    page.items.clear()
    assert [one["metadata"]["name"] for one in shared.list("v1", "ConfigMap").items] == ["one", "two"]
    again = shared.get("v1", "ConfigMap", "one", "default")
    assert again
    assert again["metadata"]["name"] == "one"


def test_shared_objects_without_a_change_are_intact() -> None:
    shared = SharedReads(there(), copied=False)
    assert shared.get("v1", "ConfigMap", "absent", "default") is None
    assert shared.list("v1", "ConfigMap") is shared.list("v1", "ConfigMap")
    assert shared.get("v1", "ConfigMap", "one", "default") is shared.get("v1", "ConfigMap", "one", "default")
    assert shared.are_intact()


@pytest.mark.parametrize("how", ["an object", "an object of a list", "a list"])
def test_a_change_of_a_shared_object_is_noticed(how: str) -> None:
    shared = SharedReads(there(), copied=False)
    page, obj = shared.list("v1", "ConfigMap"), shared.get("v1", "ConfigMap", "one", "default")
    assert obj
    if how == "an object":
        obj["metadata"]["labels"] = {"a": "b"}
    elif how == "an object of a list":
        del page.items[1]["metadata"]["name"]
    else:
        page.items.reverse()
    assert not shared.are_intact()


def test_simultaneous_reads_wait_for_one_answer() -> None:
    calls: list[str] = []
    everybody = threading.Barrier(8, timeout=60)

    class Slow(MemoryCluster):
        def list(self, *args: Any, **how: Any) -> Page:
            calls.append("list")
            threading.Event().wait(0.05)
            return super().list(*args, **how)

    shared = SharedReads(Slow(config_map("one")))

    def ask(_number: int) -> int:
        everybody.wait()
        return len(shared.list("v1", "ConfigMap").items)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [1] * 8
    assert calls == ["list"]


def test_a_read_that_fails_is_asked_for_again() -> None:
    class Flaky(MemoryCluster):
        broken = True

        def get(self, *args: Any) -> Any:
            if self.broken:
                raise ClusterError("the connection broke")
            return super().get(*args)

    cluster = Flaky(config_map("one"))
    shared = SharedReads(cluster)
    with pytest.raises(ClusterError, match="broke"):
        shared.get("v1", "ConfigMap", "one", "default")
    cluster.broken = False
    assert shared.get("v1", "ConfigMap", "one", "default")


def test_only_plain_reads_are_shared() -> None:
    cluster = there()
    shared = SharedReads(cluster)
    for _again in range(2):
        shared.apply(config_map("three"), dry_run=True)
        list(shared.watch("v1", "ConfigMap", resource_version="0", seconds=0))
    verbs = [request.verb for request in cluster.requests]
    assert verbs.count("apply") == 2
