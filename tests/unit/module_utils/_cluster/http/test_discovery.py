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

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, GROUP
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ApiError,
    ApiUnavailable,
    KindNotServed,
    NotFound,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.discovery import Discovery
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.served_versions import (
    UnpublishedDefinitions,
)

from tests.support.apiserver import CORE, GROUPS, kind


class Served:
    """Documents by path, and the paths that were asked for."""

    def __init__(self, documents: Mapping[str, Any]) -> None:
        self.documents = dict(documents)
        self.requests: list[str] = []
        self.now = 100.0

    def fetch(self, path: str, accept: str) -> Mapping[str, Any]:
        del accept
        self.requests.append(path)
        document: Mapping[str, Any] | Callable[[], Mapping[str, Any]] = self.documents[path]
        return document() if callable(document) else document

    def discovery(self) -> Discovery:
        return Discovery(self.fetch, clock=lambda: self.now)


def test_two_requests_at_the_first_need_and_none_after() -> None:
    served = Served({"/api": CORE, "/apis": GROUPS})
    discovery = served.discovery()
    assert served.requests == []

    for _i in range(3):
        config_map = discovery.find("v1", "ConfigMap")
        role = discovery.find("rbac.authorization.k8s.io/v1", "ClusterRole")

    assert sorted(served.requests) == ["/api", "/apis"]
    assert config_map is not None
    assert (config_map.plural, config_map.namespaced) == ("configmaps", True)
    assert role is not None
    assert (role.plural, role.namespaced) == ("clusterroles", False)


def test_threads_that_waited_for_the_first_fetch_do_not_fetch_again() -> None:
    begun = threading.Barrier(4)

    def slowly() -> Mapping[str, Any]:
        time.sleep(0.1)
        return CORE

    def find() -> None:
        begun.wait(60)
        discovery.find("v1", "ConfigMap")

    served = Served({"/api": slowly, "/apis": GROUPS})
    hours = itertools.count()
    discovery = Discovery(served.fetch, clock=lambda: 3600.0 * next(hours))
    threads = [threading.Thread(target=find) for _i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(served.requests) == ["/api", "/apis"]


def test_threads_share_one_fetch() -> None:
    def slowly() -> Mapping[str, Any]:
        time.sleep(0.05)
        return GROUPS

    served = Served({"/api": CORE, "/apis": slowly})
    discovery = served.discovery()
    results: list[object] = []
    threads = [
        threading.Thread(target=lambda: results.append(discovery.find("v1", "Pod"))) for _i in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(served.requests) == 2
    assert len(results) == 8
    assert None not in results


def test_a_miss_refreshes_once_in_half_a_second() -> None:
    served = Served({"/api": CORE, "/apis": GROUPS})
    discovery = served.discovery()
    discovery.find("v1", "Pod")

    for _i in range(5):
        assert discovery.find("example.org/v1", "Thing") is None
    assert len(served.requests) == 2

    served.now += 0.6
    things = {"version": "v1", "resources": [kind("things", "Thing")]}
    served.documents["/apis"] = {
        "kind": "APIGroupDiscoveryList",
        "items": [{"metadata": {"name": "example.org"}, "versions": [things]}],
    }

    assert discovery.find("example.org/v1", "Thing") is not None
    assert served.requests[2:] == ["/apis"]


def test_a_missing_kind_of_the_core_group_is_searched_in_all_groups() -> None:
    served = Served({"/api": {**CORE, "items": []}, "/apis": GROUPS})
    discovery = served.discovery()
    assert discovery.find("v1", "Pod") is None
    served.now += 0.6
    served.documents["/api"] = CORE
    assert discovery.find("v1", "Pod") is not None
    assert sorted(served.requests[2:]) == ["/api", "/apis"]


@pytest.mark.parametrize(
    ("versions", "is_refused"), [(("v1",), False), (("v1beta1", "v1alpha1"), True), (("v2", "v1"), False)]
)
def test_definitions_of_ours_that_were_never_published_are_refused_with_the_command_that_deletes_them(
    versions: tuple[str, ...], is_refused: bool
) -> None:
    older = {one: [kind("runs", "Run"), kind("errands", "Errand")] for one in versions}
    document = {"kind": "APIGroupDiscoveryList", "items": [*GROUPS["items"], group(GROUP, **older)]}
    served = Served({"/api": CORE, "/apis": document})
    discovery = served.discovery()
    assert discovery.find("v1", "ConfigMap")
    if is_refused:
        with pytest.raises(UnpublishedDefinitions) as error:
            discovery.find(API_VERSION, "KymaRun")
        command = f"kubectl delete crd errands.{GROUP} runs.{GROUP}"
        assert str(error.value).splitlines()[-1] == command
        assert "Dump stored jobs" in str(error.value)
    else:
        assert discovery.find(API_VERSION, "KymaRun") is None
    assert sorted(served.requests)[:2] == ["/api", "/apis"]


def group(name: str, **versions: Any) -> dict[str, Any]:
    """A group of aggregated discovery: each version with its resources, or None if it is stale."""
    listed = [
        {"version": version, "resources": resources or [], "freshness": "Current" if resources else "Stale"}
        for version, resources in versions.items()
    ]
    return {"metadata": {"name": name}, "versions": listed}


def groups(*listed: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "APIGroupDiscoveryList", "items": list(listed)}


THINGS = [kind("things", "Thing")]


def test_a_kind_is_named_in_every_version_in_the_order_of_the_server() -> None:
    served = Served({"/api": CORE, "/apis": groups(group("g.io", v2=THINGS, v1=THINGS, v1beta1=THINGS))})
    discovery = served.discovery()
    resources = discovery.served("g.io", "Thing")
    assert [one.api_version for one in resources] == ["g.io/v2", "g.io/v1", "g.io/v1beta1"]
    assert [one.api_version for one in discovery.served("", "Pod")] == ["v1"]
    assert len(served.requests) == 2


def test_a_kind_that_is_not_named_is_asked_for_again() -> None:
    served = Served({"/api": CORE, "/apis": GROUPS})
    discovery = served.discovery()
    assert discovery.served("g.io", "Thing") == ()
    served.now += 0.6
    served.documents["/apis"] = groups(group("g.io", v1=THINGS))
    assert [one.plural for one in discovery.served("g.io", "Thing")] == ["things"]
    assert served.requests[2:] == ["/apis"]


def test_kinds_of_a_stale_version_are_unknown() -> None:
    stale = groups(group("g.io", v1=None), group("other.io", v1=THINGS))
    served = Served({"/api": CORE, "/apis": stale})
    discovery = served.discovery()
    assert discovery.find("g.io/v1", "Thing") is None
    for ask in (
        lambda: discovery.refuse_doubt("g.io/v1", "Thing"),
        lambda: discovery.refuse_doubt("g.io/v2", "Thing"),
        lambda: discovery.served("g.io", "Thing"),
    ):
        with pytest.raises(ApiUnavailable, match=r"APIService v1\.g\.io: its server does not answer"):
            ask()
    # All others are known.
    discovery.refuse_doubt("other.io/v1", "Nothing")
    assert len(discovery.served("other.io", "Thing")) == 1
    served.now += 0.6
    served.documents["/apis"] = groups(group("g.io", v1=THINGS))
    assert len(discovery.served("g.io", "Thing")) == 1


def test_the_error_about_an_unserved_version_lists_the_served_ones() -> None:
    versions = groups(group("g.io", v2=THINGS, v1=THINGS, v3=None))
    discovery = Served({"/api": CORE, "/apis": versions}).discovery()
    with pytest.raises(KindNotServed) as caught:
        discovery.refuse_doubt("g.io/v1beta1", "Thing")
    assert caught.value.served == ("g.io/v2", "g.io/v1")
    with pytest.raises(ApiUnavailable, match=r"v3\.g\.io"):
        discovery.refuse_doubt("g.io/v3", "Thing")


def definition(**served: bool) -> dict[str, Any]:
    versions = [{"name": name, "served": one} for name, one in served.items()]
    return {"spec": {"group": "g.io", "names": {"kind": "Thing"}, "versions": versions}}


def test_a_version_that_a_later_definition_takes_away_is_not_expected_any_longer() -> None:
    discovery = Served({"/api": CORE, "/apis": GROUPS}).discovery()
    discovery.expect(definition(v1=True, v2=True), 30.0)
    assert discovery.expects("g.io/v1", "Thing")
    discovery.expect(definition(v1=False, v2=True), 30.0)
    assert not discovery.expects("g.io/v1", "Thing")
    assert discovery.expects("g.io/v2", "Thing")


def test_a_server_without_aggregated_discovery() -> None:
    def down() -> Mapping[str, Any]:
        raise ApiError("read which kinds are served", status=503)

    def gone() -> Mapping[str, Any]:
        raise NotFound("read which kinds are served", status=404)

    served = Served(
        {
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {
                "kind": "APIGroupList",
                "groups": [
                    {"versions": [{"groupVersion": "apps/v1"}]},
                    {"versions": [{"groupVersion": "metrics.k8s.io/v1beta1"}]},
                    {"versions": [{"groupVersion": "gone.io/v1"}]},
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
            "/apis/gone.io/v1": gone,
        }
    )
    discovery = served.discovery()

    pod, deployment = discovery.find("v1", "Pod"), discovery.find("apps/v1", "Deployment")

    assert pod is not None
    assert pod.plural == "pods"
    assert deployment is not None
    assert deployment.namespaced
    with pytest.raises(ApiUnavailable, match=r"v1beta1\.metrics\.k8s\.io: read which .*: HTTP 503"):
        discovery.served("metrics.k8s.io", "NodeMetrics")
    # What is not there any more is known to have no kinds.
    assert discovery.served("gone.io", "Thing") == ()
