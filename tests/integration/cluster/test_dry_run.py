# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay over a real API server: what it asks, what it leaves there, and what it can't be told yet."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Conflict,
    Invalid,
    NotFound,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)

pytestmark = pytest.mark.cluster


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, bool]]:
    """Every request that goes out from now on: method, path, and whether it is a dry run."""
    requests: list[tuple[str, str, bool]] = []
    original = Transport.request

    def request(self: Transport, action: str, method: str, path: str, **options: Any) -> Any:
        body = options.get("body")
        in_query = ("dryRun", "All") in options.get("query", ())
        in_body = isinstance(body, dict) and body.get("dryRun") == ["All"]
        requests.append((method, path, in_query or in_body))
        return original(self, action, method, path, **options)

    monkeypatch.setattr(Transport, "request", request)
    return requests


@pytest.fixture
def overlay(live_cluster: LiveCluster, sent: list[tuple[str, str, bool]]) -> Iterator[DryRunCluster]:
    """A rehearsal; a test that wants a namespace names that first, as making one is a write."""
    sent.clear()
    yield DryRunCluster(live_cluster)
    assert [request for request in sent if request[0] != "GET" and not request[2]] == []


def config_map(namespace: str, **data: str) -> Object:
    meta = {"name": "a", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def deployment(namespace: str, image: str) -> Object:
    pod = {"containers": [{"name": "c", "image": image, "env": [{"name": "A", "value": "1"}]}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d", "namespace": namespace},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": pod},
        },
    }


def widget_crd() -> Object:
    group = f"d{secrets.token_hex(4)}.rehearsal.test"
    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def test_a_whole_installation_is_rehearsed_and_nothing_is_there(
    overlay: DryRunCluster, live_cluster: LiveCluster
) -> None:
    place, crd = f"rehearsal-{secrets.token_hex(4)}", widget_crd()
    widget = {
        "apiVersion": f"{crd['spec']['group']}/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": place},
        "size": 1,
    }
    objects = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}},
        crd,
        config_map(place, k="1"),
        deployment(place, "none:1"),
        widget,
    ]
    for obj in objects:
        overlay.apply(obj)
    changes = overlay.changes()
    assert [change.ref for change in changes] == [ref_of(obj) for obj in objects]
    assert [change.unverified for change in changes] == [False, False, True, True, True]
    for obj in objects:
        address = obj["apiVersion"], obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace")
        assert overlay.get(*address) is not None
        assert live_cluster.get(*address) is None
    with pytest.raises(Untypeable, match="field not declared in schema"):
        overlay.apply({**widget, "bogus": 1})


def test_several_steps(namespace: str, overlay: DryRunCluster, live_cluster: LiveCluster) -> None:
    overlay.apply(deployment(namespace, "none:1"))
    overlay.with_field_manager("kubectl").patch(
        "apps/v1", "Deployment", "d", namespace, {"spec": {"replicas": 2}}
    )
    with pytest.raises(Conflict, match=r'conflict with "kubectl" using apps/v1: [.]spec[.]replicas'):
        overlay.apply(deployment(namespace, "none:2"))
    forced = overlay.apply(deployment(namespace, "none:2"), force=True)
    assert forced["spec"]["replicas"] == 0
    container = forced["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] == "none:2"
    # The server's defaults, from its dry run of the first step, have survived the later ones.
    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert overlay.delete("apps/v1", "Deployment", "d", namespace) is True
    assert overlay.changes() == []
    assert live_cluster.get("apps/v1", "Deployment", "d", namespace) is None


class TestOnWhatIsThere:
    @pytest.fixture
    def overlay(
        self, live_cluster: LiveCluster, namespace: str, sent: list[tuple[str, str, bool]]
    ) -> Iterator[DryRunCluster]:
        live_cluster.apply(config_map(namespace, k="1"))
        live_cluster.apply(deployment(namespace, "none:1"))
        sent.clear()
        yield DryRunCluster(live_cluster)
        assert [request for request in sent if request[0] != "GET" and not request[2]] == []

    def test_unchanged_is_no_change(self, overlay: DryRunCluster, namespace: str) -> None:
        overlay.apply(config_map(namespace, k="1"))
        assert overlay.changes() == []

    def test_changed_and_deleted(
        self, overlay: DryRunCluster, live_cluster: LiveCluster, namespace: str
    ) -> None:
        overlay.patch("v1", "ConfigMap", "a", namespace, {"data": {"k": "2"}})
        overlay.delete("apps/v1", "Deployment", "d", namespace)
        config, gone = overlay.changes()
        assert config.before is not None
        assert config.after is not None
        assert (config.before["data"], config.after["data"]) == ({"k": "1"}, {"k": "2"})
        assert gone.before is not None
        assert gone.after is None
        assert not any(change.unverified for change in overlay.changes())
        assert live_cluster.get("apps/v1", "Deployment", "d", namespace) is not None

    def test_objects_are_deleted_with_their_owner(
        self, overlay: DryRunCluster, live_cluster: LiveCluster, namespace: str
    ) -> None:
        for item in live_cluster.list("apps/v1", "ReplicaSet", namespace).items:
            assert overlay.get("apps/v1", "ReplicaSet", item["metadata"]["name"], namespace) is not None
        overlay.delete("apps/v1", "Deployment", "d", namespace)
        assert overlay.list("apps/v1", "ReplicaSet", namespace).items == []

    def test_refusals_are_the_servers(self, overlay: DryRunCluster, namespace: str) -> None:
        other = deployment(namespace, "none:1")
        other["spec"]["selector"] = {"matchLabels": {"app": "e"}}
        with pytest.raises(Invalid, match="field is immutable"):
            overlay.apply(other)
        twice = deployment(namespace, "none:1")
        twice["spec"]["template"]["spec"]["containers"][0]["env"] *= 2
        with pytest.raises(Untypeable, match="duplicate entries"):
            overlay.apply(twice)
        with pytest.raises(NotFound):
            overlay.apply(config_map("rehearsal-nowhere"))
        assert overlay.changes() == []


@pytest.mark.parametrize("verb", ["apply", "create"])
@pytest.mark.parametrize("fault", ["wrong type", "twice", "out of range", "no such name"])
def test_refusals_in_a_new_namespace_are_those_of_one_that_is_there(
    overlay: DryRunCluster, live_cluster: LiveCluster, verb: str, fault: str
) -> None:
    def faulty(namespace: str) -> Object:
        obj = deployment(namespace, "none:1")
        if fault == "wrong type":
            obj["spec"]["replicas"] = "one"
        elif fault == "twice":
            obj["spec"]["template"]["spec"]["containers"][0]["env"] *= 2
        elif fault == "out of range":
            obj["spec"]["replicas"] = -1
        else:
            obj["metadata"]["name"] = "No_Name"
        return obj

    def refusal(cluster: Cluster, namespace: str) -> tuple[type[Exception] | None, str]:
        try:
            # A dry run of what is there; the rehearsal's own would not be kept and asks the same.
            getattr(cluster, verb)(faulty(namespace), dry_run=True)
        except ClusterError as error:
            return type(error), str(error).replace(namespace, "…")
        return None, ""

    new = f"rehearsal-{secrets.token_hex(4)}"
    overlay.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}})
    assert refusal(overlay, new) == refusal(live_cluster, "default")


@pytest.mark.parametrize("verb", ["apply", "create"])
@pytest.mark.parametrize("is_taken", [False, True])
def test_warnings_about_what_goes_to_a_new_namespace_name_that(
    live_cluster: LiveCluster, kubeconfig: str, verb: str, *, is_taken: bool
) -> None:
    heard: list[tuple[str, str]] = []
    warned = connect({"kubeconfig": kubeconfig}, on_warning=lambda *warning: heard.append(warning))
    new = f"rehearsal-{secrets.token_hex(4)}"
    overlay = DryRunCluster(warned)
    overlay.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": new}})
    obj = deployment(new, "none:1")
    obj["metadata"]["name"] = new
    obj["spec"]["template"]["spec"]["nodeSelector"] = {"beta.kubernetes.io/arch": "amd64"}
    in_default = {**deployment("default", "none:1"), "metadata": {"name": new, "namespace": "default"}}
    if is_taken:
        live_cluster.create(in_default)
    try:
        getattr(overlay, verb)(obj)
    finally:
        if is_taken:
            live_cluster.delete("apps/v1", "Deployment", new, "default")
    assert {action for action, _text in heard} == {f"{verb} Deployment {new}/{new}"}
    assert all("deprecated" in text for _action, text in heard)
