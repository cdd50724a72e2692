# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may not change, where only this side can tell."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.server_rules import (
    depends_on,
    refused_resize,
    validation_causes,
)


def stateful_set(template: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "nats", "namespace": "n"},
        "spec": {"serviceName": "nats", "volumeClaimTemplates": [template]},
    }


def claim_template(storage: str = "1Gi") -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    return {"metadata": {"name": "data"}, "spec": spec}


def as_stored(template: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**template["metadata"], "creationTimestamp": None},
        "spec": {**template["spec"], "volumeMode": "Filesystem"},
        "status": {"phase": "Pending"},
    }


def test_defaults_of_the_server_are_no_change_of_a_claim_template() -> None:
    stored = stateful_set(as_stored(claim_template()))
    assert not list(validation_causes(stateful_set(claim_template()), stored))
    without_any = {**claim_template(), "metadata": {"name": "data", "annotations": {}}}
    assert not list(validation_causes(stateful_set(without_any), stored))


def test_another_claim_template_is_refused() -> None:
    stored = stateful_set(as_stored(claim_template()))
    [problem] = validation_causes(stateful_set(claim_template("2Gi")), stored)
    assert "updates to statefulset spec" in str(problem)
    block = {**claim_template(), "spec": {**claim_template()["spec"], "volumeMode": "Block"}}
    assert validation_causes(stateful_set(block), stored)


def of_kind(kind: str, **content: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "n"}, **content}


LABELLED = {"metadata": {"labels": {"app": "a"}}}
CLAIM = {"storageClassName": "s", "volumeMode": "Block", "resources": {"requests": {"storage": "1Gi"}}}
SELECTOR = {"matchLabels": {"app": "a", "level": "1"}}
POD = {"restartPolicy": "Never", "containers": [{"name": "a", "imagePullPolicy": "Always"}]}
STORED: dict[str, dict[str, Any]] = {
    "Secret": {"type": "kubernetes.io/tls"},
    "StorageClass": {"reclaimPolicy": "Retain", "volumeBindingMode": "Immediate"},
    "Job": {"spec": {"completions": 2, "completionMode": "Indexed", "template": {**LABELLED, "spec": POD}}},
    "StatefulSet": {"spec": {"serviceName": "a", "podManagementPolicy": "Parallel", "selector": SELECTOR}},
    "PersistentVolumeClaim": {"spec": CLAIM, "status": {"phase": "Bound"}},
    "RoleBinding": {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "a"}},
    "Deployment": {"spec": {"selector": SELECTOR}},
    "CustomResourceDefinition": {"spec": {"scope": "Cluster", "names": {"plural": "things"}}},
}
"""Parts of objects that may not change, by kind."""


@pytest.mark.parametrize("kind", STORED)
def test_a_field_that_a_write_leaves_out_does_not_change(kind: str) -> None:
    stored = of_kind(kind, **STORED[kind])
    for written in ({}, {"spec": {}}, {"spec": dict.fromkeys(STORED[kind].get("spec") or ())}):
        assert validation_causes(of_kind(kind, **written), stored) == []


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("Secret", {"type": "Opaque"}),
        ("StorageClass", {"reclaimPolicy": "Delete"}),
        ("Job", {"spec": {"completions": 1}}),
        ("Job", {"spec": {"template": {"metadata": {"labels": {"other": "b"}}}}}),
        ("Job", {"spec": {"template": {"spec": {"containers": [{"name": "b"}]}}}}),
        ("Job", {"spec": {"template": {"spec": {"containers": [{"name": "a"}, {"name": "b"}]}}}}),
        ("StatefulSet", {"spec": {"podManagementPolicy": "OrderedReady"}}),
        ("StatefulSet", {"spec": {"selector": {"matchLabels": {"app": "a"}}}}),
        ("PersistentVolumeClaim", {"spec": {"storageClassName": "other"}}),
        ("PersistentVolumeClaim", {"spec": {"resources": {"requests": {"storage": "500Mi"}}}}),
        ("RoleBinding", {"roleRef": {"kind": "Role", "name": "b"}}),
        ("Deployment", {"spec": {"selector": {"matchLabels": {"app": "a"}}}}),
        ("CustomResourceDefinition", {"spec": {"scope": "Namespaced"}}),
    ],
)
def test_a_field_with_another_value_is_refused(kind: str, written: dict[str, Any]) -> None:
    stored = of_kind(kind, **STORED[kind])
    stored |= {"status": {"phase": "Bound", "capacity": {"storage": "1Gi"}}}
    assert validation_causes(of_kind(kind, **written), stored)


def workload(kind: str, labels: dict[str, str]) -> dict[str, Any]:
    spec = {"selector": SELECTOR, "template": {"metadata": {"labels": labels}}}
    return {**of_kind(kind, spec=spec), "apiVersion": "apps/v1"}


def test_a_selector_must_select_the_pods_of_its_template() -> None:
    for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"):
        assert validation_causes(workload(kind, {"app": "a", "level": "1", "more": "b"}), None) == []
        [cause] = validation_causes(workload(kind, {"app": "a"}), None)
        assert cause.field == "spec.template.metadata.labels"
        assert "`selector` does not match template `labels`" in cause.message


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
@pytest.mark.parametrize("field", ["data", "binaryData"])
def test_the_data_of_an_immutable_object_stays(kind: str, field: str) -> None:
    old, new = of_kind(kind, **{field: {"a": "MQ=="}}), of_kind(kind, **{field: {"a": "Mg=="}})
    assert validation_causes(new, old) == []
    [cause] = validation_causes(new, {**old, "immutable": True})
    assert cause == (
        "FieldValueForbidden",
        "Forbidden: field is immutable when `immutable` is set",
        field,
    )
    assert validation_causes(old, {**old, "immutable": True}) == []


def test_an_object_that_is_being_deleted_gets_no_new_finalizer() -> None:
    def held_by(*finalizers: str, **meta: Any) -> dict[str, Any]:
        return {"kind": "ConfigMap", "metadata": {"name": "a", "finalizers": list(finalizers), **meta}}

    deleting = {"deletionTimestamp": "2026-11-29T10:00:00Z"}
    assert validation_causes(held_by("a", "b"), held_by("a")) == []
    assert validation_causes(held_by("a"), held_by("a", "b", **deleting)) == []
    [cause] = validation_causes(held_by("a", "b"), held_by("a", **deleting))
    assert cause.message.endswith('found new finalizers []string{"b"}')


def test_a_definition_keeps_the_versions_that_are_stored() -> None:
    def definition(*versions: str, stored: tuple[str, ...]) -> dict[str, Any]:
        spec = {"versions": [{"name": one} for one in versions]}
        return of_kind("CustomResourceDefinition", spec=spec, status={"storedVersions": list(stored)})

    old = definition("v1", "v2", stored=("v1", "v2"))
    assert validation_causes(old, old) == []
    [cause] = validation_causes(definition("v2", stored=("v2", "v1")), old)
    assert cause.field == "status.storedVersions[1]"
    assert "missing from spec.versions; v1 was previously a storage version" in cause.message


def claim(size: str, phase: str = "Bound", **status: Any) -> dict[str, Any]:
    spec = {"storageClassName": "s", "resources": {"requests": {"storage": size}}}
    return of_kind("PersistentVolumeClaim", spec=spec, status={"phase": phase, **status})


@pytest.mark.parametrize(
    ("old", "size", "field"),
    [
        (claim("1Gi"), "2Gi", ""),
        (claim("1Gi", "Pending"), "2Gi", "spec"),
        (claim("1Gi", "Pending"), "1024Mi", ""),
        # A growth that has not ended may be taken back.
        (claim("3Gi", capacity={"storage": "1Gi"}), "2Gi", ""),
        (claim("3Gi", capacity={"storage": "1Gi"}), "500Mi", "spec.resources.requests.storage"),
        (claim("2Gi", capacity={"storage": "2Gi"}), "1Gi", "spec.resources.requests.storage"),
    ],
)
def test_only_a_bound_claim_may_grow(old: dict[str, Any], size: str, field: str) -> None:
    assert [cause.field for cause in validation_causes(claim(size), old)] == ([field] if field else [])


@pytest.mark.parametrize(
    ("storage_class", "size", "is_refused"),
    [
        ({"allowVolumeExpansion": True}, "2Gi", False),
        ({"allowVolumeExpansion": False}, "2Gi", True),
        ({}, "2Gi", True),
        (None, "2Gi", True),
        (None, "1Gi", False),
        (None, "500Mi", False),
    ],
)
def test_a_claim_grows_if_its_storage_class_allows_that(
    storage_class: dict[str, Any] | None, size: str, is_refused: bool
) -> None:
    looked_up: list[str] = []

    def lookup(ref: Ref) -> dict[str, Any] | None:
        looked_up.append(f"{ref.group} {ref.kind} {ref.name}")
        return storage_class

    assert bool(refused_resize(claim(size), claim("1Gi"), lookup)) == is_refused
    assert looked_up == (["storage.k8s.io StorageClass s"] if size == "2Gi" else [])
    assert refused_resize(claim("2Gi"), None, lookup) == ""


def test_a_name_of_a_wrong_type_is_no_dependency() -> None:
    meta = {"name": "x", "namespace": "shop"}
    pod: dict[str, Any] = {"apiVersion": "v1", "kind": "Pod", "metadata": meta}
    claim: dict[str, Any] = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta}
    odd: dict[str, Any] = {"a": None}
    spec = {"serviceAccountName": odd, "priorityClassName": odd, "storageClassName": odd}
    assert [ref.name for ref in depends_on({**pod, "spec": spec})] == ["default"]
    assert depends_on({**claim, "spec": spec}) == []
    named = {"serviceAccountName": "a", "priorityClassName": "p", "storageClassName": "s"}
    assert [ref.name for ref in depends_on({**pod, "spec": named})] == ["a", "p"]
    assert [ref.name for ref in depends_on({**claim, "spec": named})] == ["s"]
