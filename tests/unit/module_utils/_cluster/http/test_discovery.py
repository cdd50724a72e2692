# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Discovery: what is served, asked for as seldom as possible."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.discovery import Discovery

from tests.support.apiserver import CORE, GROUPS, kind


class Served:
    """Documents by path, and the paths that were asked for."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self.documents = dict(documents)
        self.asked: list[str] = []
        self.now = 100.0

    def fetch(self, path: str, accept: str) -> Mapping[str, Any]:
        del accept
        self.asked.append(path)
        document: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = self.documents[path]
        return document() if callable(document) else document

    def discovery(self) -> Discovery:
        return Discovery(self.fetch, clock=lambda: self.now)


def test_two_requests_at_the_first_need_and_none_after() -> None:
    served = Served({"/api": CORE, "/apis": GROUPS})
    discovery = served.discovery()
    assert served.asked == []

    for _i in range(3):
        found = discovery.find("v1", "ConfigMap")
        role = discovery.find("rbac.authorization.k8s.io/v1", "ClusterRole")

    assert sorted(served.asked) == ["/api", "/apis"]
    assert found is not None
    assert (found.plural, found.namespaced) == ("configmaps", True)
    assert role is not None
    assert (role.plural, role.namespaced) == ("clusterroles", False)


def test_who_waits_long_for_the_first_fetch_is_content_with_it() -> None:
    def slowly() -> Mapping[str, Any]:
        time.sleep(0.1)
        return CORE

    served = Served({"/api": slowly, "/apis": GROUPS})
    hours = itertools.count()
    discovery = Discovery(served.fetch, clock=lambda: 3600.0 * next(hours))
    threads = [threading.Thread(target=discovery.find, args=("v1", "ConfigMap")) for _i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(served.asked) == ["/api", "/apis"]


def test_threads_share_one_fetch() -> None:
    def slowly() -> Mapping[str, Any]:
        time.sleep(0.05)
        return GROUPS

    served = Served({"/api": CORE, "/apis": slowly})
    discovery = served.discovery()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(discovery.find("v1", "Pod"))) for _i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(served.asked) == 2
    assert len(found) == 8
    assert None not in found


def test_a_miss_refreshes_once_in_half_a_second() -> None:
    served = Served({"/api": CORE, "/apis": GROUPS})
    discovery = served.discovery()
    discovery.find("v1", "Pod")

    for _i in range(5):
        assert discovery.find("example.org/v1", "Thing") is None
    assert len(served.asked) == 2

    served.now += 0.6
    things = {"version": "v1", "resources": [kind("things", "Thing")]}
    served.documents["/apis"] = {
        "kind": "APIGroupDiscoveryList",
        "items": [{"metadata": {"name": "example.org"}, "versions": [things]}],
    }

    assert discovery.find("example.org/v1", "Thing") is not None
    assert len(served.asked) == 4


def test_a_server_without_aggregated_discovery() -> None:
    def down() -> Mapping[str, Any]:
        raise ApiError("read", status=503)

    served = Served(
        {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {
                "kind": "APIGroupList",
                "groups": [
                    {"versions": [{"groupVersion": "apps/v1"}]},
                    {"versions": [{"groupVersion": "metrics.k8s.io/v1beta1"}]},
                ],
            },
            "/api/v1": {
                "groupVersion": "v1",
                "resources": [
                    {"name": "pods/log", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
                    {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["get", "list"]},
                ],
            },
            "/apis/apps/v1": {
                "groupVersion": "apps/v1",
                "resources": [{"name": "deployments", "kind": "Deployment", "namespaced": True}],
            },
            "/apis/metrics.k8s.io/v1beta1": down,
        }
    )
    discovery = served.discovery()

    pod, deployment = discovery.find("v1", "Pod"), discovery.find("apps/v1", "Deployment")

    assert pod is not None
    assert pod.plural == "pods"
    assert deployment is not None
    assert deployment.namespaced
