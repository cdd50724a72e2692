# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who scales what."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.autoscaling import (
    is_scaled,
    leaving_replicas,
    target_of,
    targets_of,
)


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
