# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The live form against a real API server."""

from __future__ import annotations

import base64
import json
import secrets
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Unauthorized,
    Unconfigured,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy

from tests.cluster.paths import IS_OLDEST
from tests.cluster.programs import OLDEST_KUBERNETES
from tests.support.served_kinds import silent_api

pytestmark = pytest.mark.cluster


def config_map(namespace: str, name: str = "a", **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def pod(namespace: str, *env: str) -> Object:
    container = {"name": "c", "image": "none", "env": [{"name": name, "value": "x"} for name in env]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "namespace": namespace},
        "spec": {"containers": [container], "nodeSelector": {"nowhere": "at-all"}},
    }


def test_version_and_discovery(live_cluster: LiveCluster) -> None:
    oldest = OLDEST_KUBERNETES.version("k8s.io/kubernetes")
    assert live_cluster.server_version().startswith(oldest if IS_OLDEST else "v1.")
    deployment = live_cluster.resource("apps/v1", "Deployment")
    namespace = live_cluster.resource("v1", "Namespace")
    crd = live_cluster.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition")

    assert deployment is not None
    assert (deployment.plural, deployment.namespaced) == ("deployments", True)
    assert namespace is not None
    assert not namespace.namespaced
    assert crd is not None
    assert live_cluster.resource("apps/v1", "Nonsense") is None
    assert live_cluster.requests == {"GET": 3}


def test_legacy_discovery_says_the_same(live_cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import discovery

    aggregated = discovery.Discovery(live_cluster._fetch_discovery).refresh()
    monkeypatch.setattr(discovery, "ACCEPT", "application/json")
    legacy = discovery.Discovery(live_cluster._fetch_discovery).refresh()

    known = ("v1", "apps/v1", "autoscaling/v1", "autoscaling/v2")
    assert {kind: r for kind, r in legacy.table.items() if kind[0] in known} == {
        kind: r for kind, r in aggregated.table.items() if kind[0] in known
    }
    for group, kind in (("apps", "Deployment"), ("autoscaling", "HorizontalPodAutoscaler")):
        assert legacy.versions(group, kind) == aggregated.versions(group, kind)


@pytest.mark.parametrize("how", ["aggregated", "legacy"])
def test_discovery_knows_which_aggregated_api_is_down(
    live_cluster: LiveCluster, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import discovery

    if how == "legacy":
        monkeypatch.setattr(discovery, "ACCEPT", "application/json")
        # The 503 is this server's last word.
        live_cluster._transport.retry_policy = RetryPolicy(limit=0.2)
    obj = silent_api(f"{how}{secrets.token_hex(4)}.live.test")
    api_version = f"{obj['spec']['group']}/v1"
    live_cluster.apply(obj)
    try:
        end = time.monotonic() + 30
        while True:
            snapshot = discovery.Discovery(live_cluster._fetch_discovery).refresh()
            if api_version in snapshot.unavailable:
                break
            assert time.monotonic() < end, snapshot.unavailable
            time.sleep(0.2)
    finally:
        live_cluster.delete(obj["apiVersion"], "APIService", obj["metadata"]["name"])
    assert "apps/v1" not in snapshot.unavailable


def test_the_life_of_an_object(live_cluster: LiveCluster, namespace: str) -> None:
    assert live_cluster.get("v1", "ConfigMap", "a", namespace) is None

    rehearsed = live_cluster.apply(config_map(namespace, x="1"), dry_run=True)
    assert rehearsed["metadata"]["uid"]
    assert live_cluster.get("v1", "ConfigMap", "a", namespace) is None

    created = live_cluster.apply(config_map(namespace, x="1", face="😀 = \n"))
    assert created["data"]["face"] == "😀 = \n"
    assert created["metadata"]["managedFields"][0]["manager"] == FIELD_MANAGER
    with pytest.raises(AlreadyExists, match=f"create ConfigMap {namespace}/a"):
        live_cluster.create(config_map(namespace))

    merged = live_cluster.patch("v1", "ConfigMap", "a", namespace, {"data": {"y": "2", "face": None}})
    assert merged["data"] == {"x": "1", "y": "2"}
    patched = live_cluster.patch(
        "v1", "ConfigMap", "a", namespace, [{"op": "replace", "path": "/data/y", "value": "3"}]
    )
    assert patched["data"]["y"] == "3"
    assert live_cluster.get("v1", "ConfigMap", "a", namespace) == patched

    with pytest.raises(Conflict):
        live_cluster.delete("v1", "ConfigMap", "a", namespace, uid="00000000-0000-0000-0000-000000000000")
    stale = created["metadata"]["resourceVersion"]
    with pytest.raises(Conflict):
        live_cluster.delete("v1", "ConfigMap", "a", namespace, resource_version=stale)
    assert live_cluster.delete("v1", "ConfigMap", "a", namespace, dry_run=True)
    assert live_cluster.get("v1", "ConfigMap", "a", namespace) is not None
    assert live_cluster.delete("v1", "ConfigMap", "a", namespace, uid=created["metadata"]["uid"])
    assert live_cluster.get("v1", "ConfigMap", "a", namespace) is None
    assert live_cluster.delete("v1", "ConfigMap", "a", namespace) is False


def test_fields_of_others(live_cluster: LiveCluster, namespace: str) -> None:
    other = live_cluster.with_field_manager("somebody-else")
    live_cluster.apply(config_map(namespace, x="ours"))

    with pytest.raises(Conflict) as caught:
        other.apply(config_map(namespace, x="theirs"))
    assert [cause.field for cause in caught.value.causes] == [".data.x"]
    assert FIELD_MANAGER in caught.value.causes[0].message
    assert other.apply(config_map(namespace, x="theirs"), force=True)["data"] == {"x": "theirs"}


def test_an_object_that_server_side_apply_can_not_type_can_still_be_created(
    kubeconfig: str, namespace: str
) -> None:
    heard: list[str] = []
    cluster = connect({"kubeconfig": kubeconfig}, on_warning=lambda _action, text: heard.append(text))
    with pytest.raises(Untypeable, match="duplicate entries"):
        cluster.apply(pod(namespace, "A", "A"))
    unknown = pod(namespace, "A", "A")
    unknown["spec"]["nonsense"] = True
    with pytest.raises(Untypeable, match="nonsense"):
        cluster.apply({**pod(namespace), "spec": {**pod(namespace)["spec"], "nonsense": True}})

    cluster.create(unknown)

    assert any("nonsense" in text for text in heard), heard


def test_answers_that_say_no(live_cluster: LiveCluster, namespace: str) -> None:
    with pytest.raises(NotFound, match=r"namespaces .*no-such-namespace"):
        live_cluster.apply(config_map("no-such-namespace"))
    with pytest.raises(NotFound):
        live_cluster.patch("v1", "ConfigMap", "missing", namespace, {})
    with pytest.raises(Invalid, match="Invalid value"):
        live_cluster.apply(config_map(namespace, "Not_A_Name"))


def test_listing(live_cluster: LiveCluster, namespace: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abcde":
        live_cluster.apply(config_map(namespace, name, x="1"))
    live_cluster.resource("v1", "ConfigMap")
    before = live_cluster.requests["GET"]

    page = live_cluster.list("v1", "ConfigMap", namespace, field_selector="metadata.name!=kube-root-ca.crt")
    assert [item["metadata"]["name"] for item in page.items] == list("abcde")
    assert all(item["kind"] == "ConfigMap" and item["data"] for item in page.items)
    assert live_cluster.requests["GET"] == before + 1

    slim = live_cluster.list("v1", "ConfigMap", namespace, metadata_only=True)
    assert {frozenset(item) for item in slim.items} == {frozenset({"apiVersion", "kind", "metadata"})}
    assert {(item["apiVersion"], item["kind"]) for item in slim.items} == {("v1", "ConfigMap")}
    assert all(item["metadata"]["managedFields"] for item in slim.items)

    monkeypatch.setattr(sys.modules[LiveCluster.__module__], "PAGE_ITEMS", 2)
    before = live_cluster.requests["GET"]
    paged = live_cluster.list("v1", "ConfigMap", namespace, field_selector="metadata.name!=kube-root-ca.crt")
    assert [item["metadata"]["name"] for item in paged.items] == list("abcde")
    assert live_cluster.requests["GET"] == before + 3

    assert live_cluster.list("example.org/v1", "Thing").items == []


def test_watching(live_cluster: LiveCluster, namespace: str) -> None:
    version = live_cluster.list("v1", "ConfigMap", namespace).resource_version
    delays = []

    def work() -> None:
        for step in ("1", "2"):
            time.sleep(0.2)
            live_cluster.apply(config_map(namespace, x=step))
            delays.append(time.monotonic())
        live_cluster.delete("v1", "ConfigMap", "a", namespace)

    worker = threading.Thread(target=work)
    worker.start()
    seen = []
    for event in live_cluster.watch(
        "v1", "ConfigMap", namespace, resource_version=version, seconds=60, field_selector="metadata.name=a"
    ):
        seen.append((event.type, event.object["kind"], time.monotonic()))
        if event.type == "DELETED":
            break
    worker.join()

    assert [kind for kind, _name, _version in seen] == ["ADDED", "MODIFIED", "DELETED"]
    assert seen[0][2] - delays[0] < 10


def test_a_watch_ends_in_time(live_cluster: LiveCluster, namespace: str) -> None:
    version = live_cluster.list("v1", "ConfigMap", namespace).resource_version
    live_cluster.apply(config_map(namespace))
    started = time.monotonic()

    # A controller puts a ConfigMap of its own into every new namespace.
    watch = live_cluster.watch(
        "v1",
        "ConfigMap",
        namespace,
        resource_version=version,
        seconds=3,
        field_selector="metadata.name=a",
    )

    assert [event.type for event in watch] == ["ADDED"]
    assert 2.9 < time.monotonic() - started < 30


def test_a_new_kind_is_found_within_two_seconds(live_cluster: LiveCluster, namespace: str) -> None:
    group = f"{namespace}.example.org"
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
            ],
        },
    }
    assert live_cluster.resource(f"{group}/v1", "Thing") is None
    live_cluster.apply(crd)
    try:
        end = time.monotonic() + 10
        while live_cluster.resource(f"{group}/v1", "Thing") is None:
            assert time.monotonic() < end
            time.sleep(0.05)
        thing = {
            "apiVersion": f"{group}/v1",
            "kind": "Thing",
            "metadata": {"name": "a", "namespace": namespace},
            "spec": {"x": 1},
        }
        assert live_cluster.apply(thing)["spec"] == {"x": 1}
        assert [item["kind"] for item in live_cluster.list(f"{group}/v1", "Thing").items] == ["Thing"]
    finally:
        live_cluster.delete(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition", f"things.{group}", propagation="Foreground"
        )
    time.sleep(0.6)
    end = time.monotonic() + 10
    while live_cluster.list(f"{group}/v1", "Thing").items:
        assert time.monotonic() < end
        time.sleep(0.2)


def test_logs_and_commands_of_a_pod_that_is_not_there(live_cluster: LiveCluster, namespace: str) -> None:
    with pytest.raises(NotFound, match=f"read the log of Pod {namespace}/none"):
        live_cluster.logs("none", namespace)
    with pytest.raises(NotFound, match=f"run a command in Pod {namespace}/none"):
        live_cluster.exec("none", namespace, ["true"])


def test_many_threads(live_cluster: LiveCluster, namespace: str) -> None:
    errors: list[Exception] = []

    def work(number: int) -> None:
        try:
            for step in range(5):
                live_cluster.apply(config_map(namespace, f"n-{number}-{step}", x="1"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert errors == []
    assert live_cluster.requests == {"PATCH": 80, "GET": 2}


class TestLogin:
    """Every kind of login that this cluster knows."""

    @pytest.fixture
    def config(self, kubeconfig: str) -> dict[str, Any]:
        content: dict[str, Any] = yaml.safe_load(Path(kubeconfig).read_text(encoding="utf-8"))
        return content

    @pytest.fixture
    def server(self, config: dict[str, Any]) -> dict[str, Any]:
        entry: dict[str, Any] = config["clusters"][0]["cluster"]
        return entry

    @pytest.fixture
    def ca(self, server: dict[str, Any], tmp_path: Path) -> str:
        if "certificate-authority-data" not in server:
            pytest.skip("the kubeconfig has no certificate-authority-data")
        path = tmp_path / "ca.pem"
        path.write_bytes(base64.b64decode(server["certificate-authority-data"]))
        return str(path)

    @pytest.fixture
    def token(self, live_cluster: LiveCluster, namespace: str) -> str:
        account = {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "live-login", "namespace": namespace},
        }
        live_cluster.apply(account)
        answer = live_cluster._transport.request(
            "ask for a token",
            "POST",
            f"/api/v1/namespaces/{namespace}/serviceaccounts/live-login/token",
            body={"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}},
        )
        return str(answer.json()["status"]["token"])

    def user_of(self, cluster: LiveCluster) -> tuple[str, set[str]]:
        """The user name and groups that the server takes us for."""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        answer = cluster._transport.request(
            "ask who we are", "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body=review
        ).json()
        info = answer["status"]["userInfo"]
        return info["username"], set(info.get("groups") or ())

    def test_certificate(self, live_cluster: LiveCluster) -> None:
        assert "system:authenticated" in self.user_of(live_cluster)[1]

    def test_token(self, server: dict[str, Any], ca: str, token: str, namespace: str) -> None:
        cluster = connect({"host": server["server"], "api_key": token, "ca_cert": ca})

        assert self.user_of(cluster)[0] == f"system:serviceaccount:{namespace}:live-login"
        with pytest.raises(Forbidden, match="live-login"):
            cluster.list("v1", "Secret")

    def test_wrong_token(self, server: dict[str, Any], ca: str) -> None:
        with pytest.raises(Unauthorized) as caught:
            connect({"host": server["server"], "api_key": "hunter2", "ca_cert": ca}).list("v1", "Secret")
        assert "hunter2" not in str(caught.value)
        assert f"{server['server']} does not accept the login (the option host, with" in str(caught.value)

    def test_credential_plugin(self, config: dict[str, Any], token: str, tmp_path: Path) -> None:
        credential = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "kind": "ExecCredential",
            "status": {"token": token},
        }
        (tmp_path / "credential").write_text(json.dumps(credential))
        plugin = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "cat",
            "args": [str(tmp_path / "credential")],
            "interactiveMode": "Never",
        }
        for entry in config["users"]:
            entry["user"] = {"exec": plugin}

        assert self.user_of(connect({"kubeconfig": config}))[0].endswith(":live-login")

    def test_impersonation(self, kubeconfig: str) -> None:
        cluster = connect(
            {"kubeconfig": kubeconfig, "impersonate_user": "jane", "impersonate_groups": ["a", "b"]}
        )
        name, groups = self.user_of(cluster)

        assert (name, groups - {"system:authenticated"}) == ("jane", {"a", "b"})
        with pytest.raises(Forbidden, match="jane"):
            cluster.list("v1", "Secret")
        with pytest.raises(Forbidden, match="jane"):
            cluster.exec("none", "default", ["true"])

    def test_an_unknown_authority(self, config: dict[str, Any], server: dict[str, Any]) -> None:
        server.pop("certificate-authority-data", None)
        server.pop("certificate-authority", None)
        with pytest.raises(Unconfigured, match=f"no trusted connection to {server['server']}.*ca_cert"):
            connect({"kubeconfig": config}).server_version()
        unverified = connect({"kubeconfig": config, "validate_certs": False})
        assert unverified.server_version().startswith("v1.")
        with pytest.raises(ApiError):
            unverified.exec("none", "default", ["true"])

    def test_the_servers_name(self, config: dict[str, Any], server: dict[str, Any]) -> None:
        server["tls-server-name"] = "kubernetes.default.svc"
        cluster = connect({"kubeconfig": config})
        assert cluster.server_version().startswith("v1.")
        with pytest.raises(NotFound):
            cluster.exec("none", "default", ["true"])

        server["tls-server-name"] = "somebody.else"
        with pytest.raises(Unconfigured, match=r"somebody\.else"):
            connect({"kubeconfig": config}).server_version()
