# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of others a write takes out of an object."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.field_sets import (
    to_fields_v1,
    values_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.list_types import shapes_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import Kind, built_in_kinds
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.losses import (
    LostValue,
    lost_values,
)

Object = dict[str, Any]
NOT_OWNED = ("apiVersion", "kind", "name", "namespace", "managedFields", "uid")


def fields_of(obj: Object) -> Object:
    kinds = {kind.resource.kind: kind for kind in built_in_kinds().values()}
    kind: Kind | None = kinds.get(obj["kind"])
    fields = values_of(obj, shapes_of(kind) if kind else lambda _names: None)
    return to_fields_v1(field for field in fields if field[-1].removeprefix("f:") not in NOT_OWNED)


def owned_by(manager: str, obj: Object, *, subresource: str = "") -> Object:
    """The entry of a manager that has written exactly this object."""
    entry = {"manager": manager, "operation": "Update", "apiVersion": obj["apiVersion"]}
    return {**entry, "fieldsV1": fields_of(obj), **({"subresource": subresource} if subresource else {})}


def written(obj: Object, *entries: Object) -> Object:
    return {**obj, "metadata": {**obj["metadata"], "managedFields": list(entries)}}


def made_by(manager: str, obj: Object) -> Object:
    return written(obj, owned_by(manager, obj))


def shown(losses: list[LostValue]) -> list[tuple[str, str, str]]:
    return [(one.field, one.manager, one.value) for one in losses]


def obj_of(kind: str, api_version: str = "v1", meta: Object | None = None, **content: Any) -> Object:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "a", "namespace": "n", **(meta or {})},
        **content,
    }


def workload(kind: str, *containers: Object, **spec: Any) -> Object:
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": list(containers)}}
    return obj_of(kind, "apps/v1", spec={"template": template, **spec})


MAIN = {"name": "main", "image": "main:1"}
PROXY = {"name": "proxy", "image": "proxy:1", "env": [{"name": "A", "value": "1"}]}


def test_a_removed_value_of_a_configmap_is_a_loss() -> None:
    before = made_by("kubectl-create", obj_of("ConfigMap", data={"a": "1", "b": "2"}))
    after = obj_of("ConfigMap", data={"a": "1"})
    [loss] = lost_values(before, after, intent=after)
    assert loss == LostValue(Ref("", "ConfigMap", "n", "a"), "data.b", "kubectl-create", '"2"')
    assert str(loss) == 'ConfigMap n/a: data.b = "2", written by kubectl-create'


def test_values_of_data_are_named_one_by_one_even_if_all_are_lost() -> None:
    before = made_by("helm", obj_of("ConfigMap", data={"a": "1", "b.c": "2"}))
    after = obj_of("ConfigMap")
    assert shown(lost_values(before, after, intent=after)) == [
        ("data.a", "helm", '"1"'),
        ("data.b.c", "helm", '"2"'),
    ]


def test_no_value_of_a_secret_is_shown() -> None:
    before = made_by("helm", obj_of("Secret", data={"password": "aHVudGVyMg=="}, type="Opaque"))
    after = obj_of("Secret", type="Opaque")
    [loss] = lost_values(before, after, intent=obj_of("Secret"))
    assert (loss.field, loss.value) == ("data.password", "(hidden)")
    assert "aHVudGVyMg" not in repr(loss) + str(loss)


def test_a_value_that_the_release_sets_is_a_change_also_as_string_data() -> None:
    before = made_by("helm", obj_of("Secret", data={"password": "b2xk"}))
    after = obj_of("Secret", data={"password": "bmV3"})
    assert lost_values(before, after, intent=after) == []
    assert lost_values(before, after, intent=obj_of("Secret", stringData={"password": "new"})) == []


def test_a_default_in_the_place_of_a_value_is_a_loss() -> None:
    before = made_by("kubectl-client-side-apply", workload("StatefulSet", MAIN, replicas=3))
    after = workload("StatefulSet", MAIN, replicas=1)
    intent = workload("StatefulSet", MAIN)
    assert shown(lost_values(before, after, intent)) == [("spec.replicas", "kubectl-client-side-apply", "3")]


def test_a_null_in_the_release_sets_no_value() -> None:
    before = made_by("helm", workload("Deployment", MAIN, replicas=3))
    after = workload("Deployment", MAIN, replicas=1)
    assert shown(lost_values(before, after, intent=workload("Deployment", MAIN, replicas=None))) == [
        ("spec.replicas", "helm", "3")
    ]


def test_a_value_that_another_one_has_changed_in_the_meantime_is_no_loss() -> None:
    before = made_by("kubectl-client-side-apply", workload("Deployment", MAIN, replicas=3))
    autoscaler = owned_by("kube-controller-manager", obj_of("Deployment", "apps/v1", spec={"replicas": 1}))
    after = written(workload("Deployment", MAIN, replicas=5), {**autoscaler, "subresource": "scale"})
    assert lost_values(before, after, intent=workload("Deployment", MAIN)) == []


def test_a_lost_container_is_one_loss_with_its_contents() -> None:
    before = made_by("helm", workload("Deployment", MAIN, PROXY))
    after = workload("Deployment", MAIN)
    [loss] = lost_values(before, after, intent=after)
    assert (loss.field, loss.manager) == ('spec.template.spec.containers[name="proxy"]', "helm")
    assert loss.value.startswith('{"env":[{"name":"A","value":"1"}],"image":"proxy:1"')


def test_items_of_keyed_lists_are_compared_by_their_keys() -> None:
    ports = [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}]
    before = made_by("helm", workload("Deployment", {**MAIN, "ports": ports, "env": PROXY["env"]}))
    after = workload("Deployment", {**MAIN, "ports": [{"containerPort": 80, "protocol": "TCP"}]})
    assert shown(lost_values(before, after, intent=after)) == [
        ('spec.template.spec.containers[name="main"].env', "helm", '[{"name":"A","value":"1"}]'),
        (
            'spec.template.spec.containers[name="main"].ports[containerPort=80,protocol="UDP"]',
            "helm",
            '{"containerPort":80,"protocol":"UDP"}',
        ),
    ]


def test_values_of_sets_are_lost_one_by_one() -> None:
    before = made_by("kubectl-create", obj_of("ConfigMap", meta={"finalizers": ["x/a", "x/b"]}))
    after = obj_of("ConfigMap", meta={"finalizers": ["x/b"]})
    assert shown(lost_values(before, after, intent=after)) == [
        ('metadata.finalizers[="x/a"]', "kubectl-create", '"x/a"')
    ]


def test_an_atomic_value_that_the_release_sets_is_a_change() -> None:
    before = made_by("helm", workload("Deployment", {**MAIN, "args": ["a", "b"]}))
    after = workload("Deployment", {**MAIN, "args": ["a"]})
    assert lost_values(before, after, intent=after) == []


def test_a_label_of_a_claim_is_a_loss() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    before = made_by("helm", obj_of("PersistentVolumeClaim", meta={"labels": {"team": "x"}}, spec=spec))
    after = obj_of("PersistentVolumeClaim", spec=spec)
    assert shown(lost_values(before, after, intent=after)) == [("metadata.labels.team", "helm", '"x"')]


def test_a_lost_part_of_a_custom_resource_is_one_loss() -> None:
    spec = {"size": 1, "storage": {"class": "fast", "size": {"min": 1}}}
    before = made_by("helm", obj_of("Thing", "example.com/v1", spec=spec))
    after = obj_of("Thing", "example.com/v1", spec={"size": 1})
    assert shown(lost_values(before, after, intent=after)) == [
        ("spec.storage", "helm", '{"class":"fast","size":{"min":1}}')
    ]


@pytest.mark.parametrize("operation", ["Apply", "Update"])
def test_a_value_that_is_also_ours_is_no_loss(operation: str) -> None:
    obj = obj_of("ConfigMap", data={"a": "1"})
    ours = {**owned_by(FIELD_MANAGER, obj), "operation": operation}
    before = written(obj, ours, owned_by("kubectl-create", obj))
    assert lost_values(before, obj_of("ConfigMap"), intent=obj_of("ConfigMap")) == []


def test_the_bookkeeping_of_creators_is_no_loss() -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "meta.helm.sh/release-name": "kyma",
        "meta.helm.sh/release-namespace": "n",
        "helm.sh/resource-policy": "keep",
    }
    labels = {"app.kubernetes.io/managed-by": "Helm", "helm.sh/chart": "kyma-1"}
    before = made_by("helm", obj_of("ConfigMap", meta={"annotations": annotations, "labels": labels}))
    assert lost_values(before, obj_of("ConfigMap"), intent=obj_of("ConfigMap")) == []


def test_the_marks_of_another_tool_are_no_loss_but_their_neighbours_are() -> None:
    annotations = {"argocd.argoproj.io/tracking-id": "app:/ConfigMap:n/a"}
    labels = {"app.kubernetes.io/managed-by": "me"}
    before = made_by(
        "argocd-controller", obj_of("ConfigMap", meta={"annotations": annotations, "labels": labels})
    )
    assert shown(lost_values(before, obj_of("ConfigMap"), intent=obj_of("ConfigMap"))) == [
        ("metadata.labels.app.kubernetes.io/managed-by", "argocd-controller", '"me"')
    ]


def test_a_status_is_no_loss() -> None:
    obj = obj_of("Thing", "example.com/v1", status={"ready": True})
    before = written(obj, owned_by("operator", obj), owned_by("operator", obj, subresource="status"))
    after = obj_of("Thing", "example.com/v1")
    assert lost_values(before, after, intent=after) == []


def test_a_map_belongs_to_the_owners_of_its_values() -> None:
    obj = obj_of("ConfigMap", meta={"annotations": {"a": "1", "b": "2"}})
    maker = {
        **owned_by("kubectl-create", obj),
        "fieldsV1": {"f:metadata": {"f:annotations": {".": {}}}},
    }
    ours = owned_by(FIELD_MANAGER, obj_of("ConfigMap", meta={"annotations": {"a": "1"}}))
    person = owned_by("kubectl-annotate", obj_of("ConfigMap", meta={"annotations": {"b": "2"}}))
    after = obj_of("ConfigMap", meta={"annotations": {"b": "2", "c": "3"}})
    assert lost_values(written(obj, maker, ours, person), after, intent=after) == []


def test_all_owners_of_a_lost_value_are_named() -> None:
    obj = obj_of("ConfigMap", data={"a": "1"})
    before = written(obj, owned_by("helm", obj), owned_by("kubectl-edit", obj))
    assert shown(lost_values(before, obj_of("ConfigMap"), intent=obj_of("ConfigMap"))) == [
        ("data.a", "helm, kubectl-edit", '"1"')
    ]


def test_values_without_an_owner_and_unchanged_ones_are_no_losses() -> None:
    obj = obj_of("ConfigMap", data={"a": "1", "b": "2"})
    before = written(obj, owned_by("helm", obj_of("ConfigMap", data={"a": "1"})))
    assert lost_values(before, obj_of("ConfigMap", data={"a": "1"}), intent=obj_of("ConfigMap")) == []
