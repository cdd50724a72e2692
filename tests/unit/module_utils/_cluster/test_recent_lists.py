# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists that many waits share: how often the cluster is asked, by a clock that the tests set."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.recent_lists import (
    RECENT_SECONDS,
    DirectLists,
    RecentLists,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.migrations import config_map


class Reader:
    """Reads ConfigMaps of a cluster with two of them.

    Attributes:
        cluster: what they are in.
        lists: what is tested.
        now: the clock.
    """

    def __init__(self) -> None:
        self.cluster = MemoryCluster(config_map("one"), config_map("two"))
        self.cluster.requests.clear()
        self.now = 100.0
        self.lists = RecentLists(self.cluster, lambda: self.now)

    def names(self, namespace: str = "default", **selectors: str) -> list[str]:
        objects = self.lists.find("v1", "ConfigMap", namespace, **selectors)
        return [one["metadata"]["name"] for one in objects]

    @property
    def requests(self) -> list[str]:
        return [one.verb for one in self.cluster.requests]


def test_several_selections_cost_one_list() -> None:
    reader = Reader()
    assert reader.names(field_selector="metadata.name=one") == ["one"]
    assert reader.names(field_selector="metadata.name=two") == ["two"]
    assert reader.names(label_selector="app=shop") == []
    assert reader.requests == ["list"]


def test_another_namespace_is_another_list() -> None:
    reader = Reader()
    reader.names()
    assert reader.names("elsewhere") == []
    assert reader.requests == ["list", "list"]


def test_a_list_is_read_again_when_it_is_old() -> None:
    reader = Reader()
    reader.names()
    reader.cluster.delete("v1", "ConfigMap", "one", "default")
    reader.cluster.requests.clear()
    reader.now += RECENT_SECONDS - 0.1
    assert reader.names() == ["one", "two"]
    reader.now += 0.1
    assert reader.names() == ["two"]
    assert reader.requests == ["list"]


def test_a_refused_list_is_not_requested_again_soon() -> None:
    reader = Reader()
    refused = ClusterError("list ConfigMap: forbidden")
    reader.cluster.fail_when(lambda one: one.verb == "list", refused, times=1)
    for _again in range(3):
        with pytest.raises(ClusterError, match="forbidden"):
            reader.names()
    assert reader.requests == ["list"]
    reader.now += RECENT_SECONDS
    assert reader.names() == ["one", "two"]


def test_threads_that_ask_at_once_wait_for_one_answer() -> None:
    reader = Reader()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _number: reader.names(), range(32)))
    assert answers == [["one", "two"]] * 32
    assert reader.requests == ["list"]


def test_one_look_alone_is_selected_by_the_server() -> None:
    reader = Reader()
    lists = DirectLists(reader.cluster)
    for _again in range(2):
        (obj,) = lists.find("v1", "ConfigMap", "default", field_selector="metadata.name=one")
        assert obj["metadata"]["name"] == "one"
    assert reader.requests == ["list", "list"]
