# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On a real API server, a run takes from other field managers only what its plan lists."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release

from tests.support.driver import config_map, deployment, release, secret
from tests.support.eventually import eventually
from tests.support.live_deployer import user_of
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.webhooks import mutating

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

NAMESPACE = "kyma-system"
KUBECTL = "kubectl-client-side-apply"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster with the namespace of the release."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as started:
        started.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        yield started


def shop(version: str, name: str, *objects: Object) -> Release:
    """One component with these objects, one that needs it, and one that does not."""
    needing = ComponentEntry("needing", NAMESPACE, needs=("first",))
    return release(
        version,
        {
            "first": list(objects),
            "needing": (needing, [config_map(f"{name}-needing", v=version)]),
            "other": [config_map(f"{name}-other", v=version)],
        },
    )


def live(cluster: OwnCluster, version: str, kind: str, name: str) -> Object:
    obj = cluster.api.get(version, kind, name, NAMESPACE)
    assert obj is not None
    return obj


def placed(obj: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "namespace": NAMESPACE}}


def test_a_secret_value_that_its_maker_adds_after_the_plan_is_not_lost(cluster: OwnCluster) -> None:
    maker = cluster.api.with_field_manager(KUBECTL)
    encoded = base64.b64encode(b"us").decode()
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login"}, "data": {"user": encoded}}
    maker.create(placed(made))
    user = user_of(cluster, shop("1.0", "login", secret("login", user="us"), deployment("late")), timeout=60)
    planned = user.plan()
    assert not planned["plan"]["blockers"]
    maker.patch("v1", "Secret", "login", NAMESPACE, {"data": {"password": "czNjcjN0"}})
    with cluster.audit.recorded() as requests:
        assert user.carry_out(planned)["state"] == "failed"
    ends = {"foundation": "succeeded", "other": "succeeded", "first": "failed", "needing": "not started"}
    assert user.states() == ends
    after = live(cluster, "v1", "Secret", "login")
    assert after["data"] == {"user": encoded, "password": "czNjcjN0"}
    owners = {one["manager"]: str(one["fieldsV1"]) for one in after["metadata"]["managedFields"]}
    assert "f:password" in owners[KUBECTL]
    assert cluster.api.get("apps/v1", "Deployment", "late", NAMESPACE) is None
    error = user.record()["status"]["components"]["first"]["error"]
    assert f"data.password = (hidden) of {KUBECTL}" in error
    assert "czNjcjN0" not in str(user.results) + str(user.record())
    assert not [one for one in requests if one.persists and "deployments" in one.target]
    # The next plan lists the loss, and waits for a word.
    refused = user.plan()
    assert refused["failed"]
    assert "Secret kyma-system/login would lose data.password" in refused["msg"]
    user.options["adopt_losses"] = ["Secret kyma-system/login"]
    assert user.deploy()["state"] == "succeeded"
    assert live(cluster, "v1", "Secret", "login")["data"] == {"user": encoded}


def autoscaler(name: str) -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"scaleTargetRef": target, "minReplicas": 3, "maxReplicas": 5},
    }


def hooks(name: str) -> Object:
    """A configuration of webhooks that calls nothing."""
    [rule] = [
        {"apiGroups": ["shop.test"], "apiVersions": ["v1"], "resources": ["offers"], "operations": ["*"]}
    ]
    hook: dict[str, Any] = {
        "name": "offers.shop.test",
        "rules": [rule],
        "clientConfig": {"service": {"name": "offers", "namespace": NAMESPACE}},
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [hook],
    }


def test_an_autoscaler_a_ca_injector_and_a_mutating_webhook_are_at_work(
    cluster: OwnCluster, tmp_path: Path
) -> None:
    def objects(version: str) -> list[Object]:
        web = deployment("web", f"example.com/web:{version}", replicas=1)
        return [web, hooks("offers"), config_map("settings", v=version)]

    def stamp(obj: Object) -> list[Object]:
        labels = {
            **obj["metadata"].get("labels", {}),
            "stamped": obj["metadata"].get("resourceVersion", "0"),
        }
        return [{"op": "add", "path": "/metadata/labels", "value": labels}]

    maker = cluster.api.with_field_manager(KUBECTL)
    for obj in objects("0.9"):
        maker.create(obj if obj["kind"].startswith("Validating") else placed(obj))
    with mutating(tmp_path, stamp) as client:
        hook = {
            "name": "stamps.shop.test",
            "clientConfig": client,
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "resources": ["configmaps"],
                    "operations": ["CREATE", "UPDATE"],
                }
            ],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}},
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }
        kind = "MutatingWebhookConfiguration"
        cluster.api.create({**hooks("stamps"), "kind": kind, "webhooks": [hook]})
        try:
            user = user_of(cluster, shop("1.1", "web", *objects("1.1")), timeout=60)
            planned = user.plan()
            assert not planned["plan"]["blockers"]
            cluster.api.create(autoscaler("web"))
            eventually(lambda: live(cluster, "apps/v1", "Deployment", "web")["spec"]["replicas"] == 3, 60)
            patch = [
                {
                    "op": "add",
                    "path": "/webhooks/0/clientConfig/caBundle",
                    "value": client["caBundle"],
                }
            ]
            injector = cluster.api.with_field_manager("cainjector")
            injector.patch(
                "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "offers", None, patch
            )
            ended = user.carry_out(planned)
            assert ended["state"] == "succeeded", user.record()["status"]
        finally:
            cluster.api.delete("admissionregistration.k8s.io/v1", kind, "stamps")
    web = live(cluster, "apps/v1", "Deployment", "web")
    assert web["spec"]["replicas"] == 3
    assert web["spec"]["template"]["spec"]["containers"][0]["image"] == "example.com/web:1.1"
    configuration = cluster.api.get(
        "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "offers"
    )
    assert configuration
    assert configuration["webhooks"][0]["clientConfig"]["caBundle"] == client["caBundle"]
