# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From manifests to what is sent, and in which order."""

from __future__ import annotations

import base64
from dataclasses import replace

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.desired_component import (
    complete_manifest,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.desired_release import (
    desired_release,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.order import by_rank
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import (
    FOUNDATION,
    ComponentEntry,
    Content,
    Release,
)


def obj(kind: str, name: str, namespace: str = "", api_version: str = "v1", **fields: object) -> Object:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **fields}


def served(_api_version: str, kind: str) -> bool | None:
    return {"ConfigMap": True, "Secret": True, "Deployment": True, "Namespace": False}.get(kind)


def release(**content: list[Object]) -> Release:
    return Release(
        version="1.0",
        digest="d",
        profile="",
        default_namespace="kyma-system",
        components=tuple(ComponentEntry(name, f"{name}-ns") for name in content),
        content={name: Content(tuple(objects)) for name, objects in content.items()},
        crds=Content(()),
    )


def test_the_namespace_is_the_components_where_the_manifest_leaves_it_out() -> None:
    assert complete_manifest(obj("ConfigMap", "a"), "ns", served)["metadata"]["namespace"] == "ns"
    assert complete_manifest(obj("ConfigMap", "a", "mine"), "ns", served)["metadata"]["namespace"] == "mine"
    assert "namespace" not in complete_manifest(obj("Namespace", "a", "mine"), "ns", served)["metadata"]


def test_the_releases_own_crds_give_the_scope_of_kinds_that_are_not_served_yet() -> None:
    crd = obj("CustomResourceDefinition", "widgets.x.io", api_version="apiextensions.k8s.io/v1")
    crd["spec"] = {"group": "x.io", "scope": "Namespaced", "names": {"kind": "Widget"}}
    widget = obj("Widget", "w", api_version="x.io/v1")
    desired = desired_release(release(a=[widget, crd]), served)
    assert desired.components["a"].objects[0]["metadata"]["namespace"] == "a-ns"


def test_string_data_becomes_data() -> None:
    secret = obj("Secret", "s", stringData={"k": "v"}, data={"k": "x", "o": "y"})
    done = complete_manifest(secret, "ns", served)
    assert done["data"] == {"k": base64.b64encode(b"v").decode(), "o": "y"}
    assert "stringData" not in done
    assert "stringData" in secret


def test_fields_that_others_own_are_left_out() -> None:
    aggregating = obj("ClusterRole", "r", aggregationRule={"clusterRoleSelectors": []}, rules=[])
    assert "rules" not in complete_manifest(aggregating, "ns", served)
    scaler = obj("HorizontalPodAutoscaler", "h", api_version="autoscaling/v2")
    scaler["spec"] = {"scaleTargetRef": {"kind": "Deployment", "name": "d"}}
    scaled = obj("Deployment", "d", api_version="apps/v1", spec={"replicas": 3, "x": 1}, status={"y": 1})
    done = desired_release(release(a=[scaler, scaled]), served).components["a"].objects[1]
    assert done["spec"] == {"x": 1}
    assert "status" not in done
    dumped = obj("ConfigMap", "a", "ns")
    meta = dict(dumped["metadata"])
    dumped["metadata"] |= {"uid": "u", "resourceVersion": "1", "managedFields": [{}], "generation": 1}
    dumped["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "creationTimestamp": None}
    assert complete_manifest(dumped, "ns", served)["metadata"] == meta


def test_the_foundation_has_all_namespaces_with_what_a_component_says_of_its_own() -> None:
    brought = obj("Namespace", "a-ns")
    brought["metadata"]["labels"] = {"istio-injection": "enabled"}
    desired = desired_release(release(a=[brought, obj("Namespace", "other")], b=[]), served)
    objects = desired.components[FOUNDATION].objects
    assert [(o["metadata"]["name"], o["metadata"].get("labels")) for o in objects] == [
        ("a-ns", {"istio-injection": "enabled"}),
        ("b-ns", None),
    ]
    assert [o["metadata"]["name"] for o in desired.components["a"].objects] == ["other"]
    assert not desired.components["a"].warnings


def test_odd_manifests_are_the_servers_to_judge() -> None:
    assert "stringData" not in complete_manifest(obj("Secret", "s", stringData=None), "ns", served)
    assert complete_manifest(obj("Secret", "s", stringData={"k": None}), "ns", served)["data"] == {"k": ""}
    assert complete_manifest(obj("Secret", "s", stringData=["x"]), "ns", served)["stringData"] == ["x"]
    scaler = obj("HorizontalPodAutoscaler", "h", api_version="autoscaling/v2")
    crd = obj("CustomResourceDefinition", "c", api_version="apiextensions.k8s.io/v1")
    assert len(desired_release(release(a=[scaler, crd]), served).components["a"].objects) == 2


def test_an_autoscaler_scales_what_it_targets_and_not_its_namesake() -> None:
    scaler = obj("HorizontalPodAutoscaler", "h", "other", api_version="autoscaling/v2")
    scaler["spec"] = {"scaleTargetRef": {"kind": "Deployment", "name": "d"}}
    here = obj("Deployment", "d", api_version="apps/v1", spec={"replicas": 3})
    there = obj("Deployment", "d", "other", api_version="apps/v1", spec={"replicas": 3})
    objects = desired_release(release(a=[scaler, here, there]), served).components["a"].objects
    assert [o["spec"].get("replicas") for o in objects[1:]] == [3, None]


def test_an_object_that_two_components_claim_is_a_problem() -> None:
    desired = desired_release(
        release(a=[obj("ConfigMap", "x", "ns")], b=[obj("ConfigMap", "x", "ns")]), served
    )
    assert desired.problems == ("ConfigMap ns/x is part of both a and b: leave it out of one of them",)
    twice = desired_release(release(a=[obj("ConfigMap", "x"), obj("ConfigMap", "x")]), served)
    assert "stands twice in a" in twice.problems[0]


def labelled(label: str) -> Object:
    named = obj("Namespace", "a-ns")
    named["metadata"]["labels"] = {"owner": label}
    return named


def test_a_namespace_that_two_components_describe_differently_is_a_problem() -> None:
    desired = desired_release(release(a=[labelled("a")], b=[labelled("b")]), served)
    assert desired.problems == ("Namespace a-ns is part of both a and b: leave it out of one of them",)
    twice = desired_release(release(a=[labelled("a"), labelled("b")]), served)
    assert twice.problems == ("Namespace a-ns stands twice in a: leave one of them out",)
    assert not desired_release(release(a=[labelled("a")], b=[labelled("a")]), served).problems


def test_a_definition_that_stands_among_the_crds_twice_counts_once_if_it_is_the_same() -> None:
    crd = obj("CustomResourceDefinition", "widgets.x.io", api_version="apiextensions.k8s.io/v1")
    other = {**crd, "spec": {"scope": "Cluster"}}
    same = desired_release(replace(release(a=[]), crds=Content((crd, dict(crd)))), served)
    assert not same.problems
    assert [o["kind"] for o in same.components[FOUNDATION].objects] == [
        "Namespace",
        "CustomResourceDefinition",
    ]
    different = desired_release(replace(release(a=[]), crds=Content((crd, other))), served)
    assert different.problems == (
        "CustomResourceDefinition widgets.x.io stands twice among the release's CRDs, not alike:"
        " leave one of them out",
    )


def test_referenced_objects_come_first_and_webhooks_last() -> None:
    objects = [
        obj("ValidatingWebhookConfiguration", "v", api_version="admissionregistration.k8s.io/v1"),
        obj("Widget", "w", api_version="x.io/v1"),
        obj("Service", "knative", api_version="serving.knative.dev/v1"),
        obj("Role", "gateway", api_version="gateway.networking.k8s.io/v1"),
        obj("Deployment", "d", api_version="apps/v1"),
        obj("Service", "s"),
        obj("ClusterRoleBinding", "b", api_version="rbac.authorization.k8s.io/v1"),
        obj("ConfigMap", "c"),
        obj("CustomResourceDefinition", "crd", api_version="apiextensions.k8s.io/v1"),
        obj("Namespace", "n"),
    ]
    names = [[o["metadata"]["name"] for o in rank] for rank in by_rank(objects)]
    assert names == [["crd", "n"], ["c"], ["s", "b"], ["d"], ["w", "knative", "gateway"], ["v"]]
