# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who scales what."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.autoscaling import (
    AUTOSCALERS,
    is_scaled,
    leaving_replicas,
    target_of,
    targets_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release

from tests.support import driver


def deployment(**spec: Any) -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": "ns"},
        "spec": spec,
    }


def held_by(*managers: tuple[str, str]) -> Object:
    live = deployment(replicas=4)
    live["metadata"]["managedFields"] = [
        {
            "manager": name,
            "operation": "Update",
            "subresource": subresource,
            "fieldsV1": {"f:spec": {"f:replicas": {}}},
        }
        for name, subresource in managers
    ]
    return live


def autoscaler(autoscaler_kind: str, **target: str) -> Object:
    return {
        "apiVersion": "example.com/v1",
        "kind": autoscaler_kind,
        "metadata": {"name": "x"},
        "spec": {"scaleTargetRef": target},
    }


def test_autoscalers_say_what_they_target() -> None:
    hpa = autoscaler("HorizontalPodAutoscaler", kind="StatefulSet", name="b")
    assert target_of(hpa, "ns") == ("StatefulSet", "ns", "b")
    assert target_of(autoscaler("ScaledObject", name="a"), "ns") == ("Deployment", "ns", "a")
    assert target_of({**hpa, "spec": {}}, "ns") == ("Deployment", "ns", "")
    hpa["metadata"]["namespace"] = "its-own"
    assert targets_of([hpa]) == {("StatefulSet", "its-own", "b")}
    assert is_scaled(deployment(), {("Deployment", "ns", "a")})
    assert not is_scaled(deployment(), {("Deployment", "other", "a")})


@pytest.mark.parametrize(
    ("live", "replicas"),
    [
        (None, None),
        (held_by(), None),
        (held_by(("kube-controller-manager", "scale")), None),
        (held_by((FIELD_MANAGER, ""), ("kube-controller-manager", "scale")), None),
        (held_by((FIELD_MANAGER, "")), 4),
        (held_by(("helm", "")), 4),
        (held_by(("kubectl-edit", "")), None),
    ],
)
def test_replicas_are_left_out_unless_that_would_reset_them(
    live: Object | None, replicas: int | None
) -> None:
    intent = deployment(replicas=2, paused=True)
    left = leaving_replicas(intent, live)
    assert left["spec"].get("replicas") == replicas
    assert left["spec"]["paused"]
    assert intent["spec"]["replicas"] == 2


def scaled(version: str, app: str) -> Release:
    """A release of a Deployment ``web``, whose selector ``app`` is in, and of its autoscaler."""
    web = driver.deployment("web")
    web["spec"]["selector"]["matchLabels"] = web["spec"]["template"]["metadata"]["labels"] = {"app": app}
    scaler = autoscaler("HorizontalPodAutoscaler", kind="Deployment", name="web")
    return driver.release(version, {"a": [web, {**scaler, "apiVersion": "autoscaling/v2"}]})


def scale(someone: driver.Deployer, replicas: int) -> None:
    """What an autoscaler does."""
    controller = someone.cluster.with_field_manager("kube-controller-manager")
    controller.patch("apps/v1", "Deployment", "web", "kyma-system", {"spec": {"replicas": replicas}})


def replicas_of(someone: driver.Deployer) -> Any:
    live = someone.cluster.get("apps/v1", "Deployment", "web", "kyma-system")
    return live and live["spec"].get("replicas")


def actions_of(planned: Any) -> dict[str, str]:
    return {one["name"]: one["action"] for one in planned["plan"]["components"]}


@pytest.mark.parametrize("replicas", [8, 0])
def test_a_recreated_deployment_has_as_many_replicas_as_it_was_scaled_to(replicas: int) -> None:
    someone = driver.deployer(scaled("2.9", "old"), replace_immutable=["Deployment"])
    someone.deploy()
    scale(someone, replicas)
    someone.materials.given = scaled("2.10", "new")
    assert someone.deploy()["state"] == "succeeded"
    assert someone.states()["a"] == "succeeded"
    assert replicas_of(someone) == replicas
    for now in (replicas, 5, 6):
        scale(someone, now)
        assert actions_of(someone.deploy()) == {"foundation": "unchanged", "a": "unchanged"}
        assert not any(one["drift"] for one in someone.plan()["plan"]["components"])
        assert replicas_of(someone) == now


@pytest.mark.parametrize(
    ("namespace", "spec"),
    [
        ("kyma-system", None),
        ("kyma-system", "web"),
        ("kyma-system", ["web"]),
        ("kyma-system", {"scaleTargetRef": None}),
        ("kyma-system", {"scaleTargetRef": "web"}),
        ("kyma-system", {"scaleTargetRef": [{"name": "web"}]}),
        ("kyma-system", {"scaleTargetRef": {"kind": ["Deployment"], "name": {"web": 1}}}),
        ("kyma-system", {"scaleTargetRef": {"kind": 1, "name": 2}}),
        ("kyma-system", {"scaleTargetRef": {"name": "another"}}),
        ("tenant", {"scaleTargetRef": {"kind": "Deployment", "name": "web", "namespace": "kyma-system"}}),
    ],
)
@pytest.mark.parametrize("kind", AUTOSCALERS)
def test_others_autoscalers_break_nothing_and_count_only_by_what_they_target_beside_them(
    namespace: str, spec: Any, kind: tuple[str, str]
) -> None:
    api_version, name = kind
    scaler = {"apiVersion": api_version, "kind": name, "metadata": {"name": "odd", "namespace": namespace}}
    if name == "ScaledObject":
        keda = driver.crd(name, "keda.sh")
        keda["spec"]["versions"][0]["name"] = "v1alpha1"
        cluster = driver.healthy_cluster(keda)
    else:
        cluster = driver.healthy_cluster()
    cluster.seed({**scaler, "spec": spec})
    assert cluster.list(*kind).items
    someone = driver.deployer(
        driver.release("2.9", {"a": [driver.deployment("web", replicas=2)]}), cluster=cluster
    )
    for replicas in (2, 3):
        someone.materials.given = driver.release(
            f"2.{replicas}", {"a": [driver.deployment("web", replicas=replicas)]}
        )
        assert someone.deploy()["state"] == "succeeded"
        assert replicas_of(someone) == replicas
