# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same assertions on the in-memory cluster and on a real API server: the one must be like the other.

What reads say of kinds that are not served is asserted on overlays over both, too.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    AlreadyExists,
    ApiError,
    ApiUnavailable,
    ClusterError,
    Conflict,
    Forbidden,
    Invalid,
    KindNotServed,
    NotFound,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http import live_cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.retry import RetryPolicy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.stop_signal import StopSignal
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.refusals import (
    is_immutable,
    is_other_object,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.eventually import eventually
from tests.support.served_kinds import silent_api, with_versions

OTHER_WORDS = pytest.mark.newer_versions("Kubernetes 1.30 refuses the same, but in other words")
BOTH = ["memory", pytest.param("live", marks=pytest.mark.cluster)]


@pytest.fixture(params=BOTH)
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Each of the two, in turn, writing as the manager ``one``."""
    if request.param == "memory":
        return MemoryCluster().with_field_manager("one")
    live: LiveCluster = request.getfixturevalue("live_cluster")
    # The server answers some requests with a 500 that is its last word, and that a client would try again.
    live._transport.retry_policy = RetryPolicy(internal_limit=0.5)
    return live.with_field_manager("one")


@pytest.fixture
def place(cluster: Cluster) -> Iterator[str]:
    """A namespace of the test's own."""
    name = f"contract-{secrets.token_hex(4)}"
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    cluster.delete("v1", "Namespace", name)


@pytest.fixture
def widgets(cluster: Cluster) -> Iterator[Object]:
    """A CRD of the test's own, with a schema and a status."""
    crd = widget_crd(f"c{secrets.token_hex(4)}.contract.test")
    cluster.apply(crd)
    eventually(lambda: cluster.resource(f"{crd['spec']['group']}/v1", "Widget"))
    yield crd
    cluster.delete(crd["apiVersion"], crd["kind"], crd["metadata"]["name"])


def widget_crd(group: str) -> Object:
    part = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "string"}, "n": {"type": "integer"}},
    }
    spec = {
        "type": "object",
        "required": ["size"],
        "properties": {
            "size": {"type": "integer"},
            "color": {"type": "string", "enum": ["red", "blue"]},
            "parts": {
                "type": "array",
                "items": part,
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["id"],
            },
            "whole": {
                "type": "object",
                "x-kubernetes-map-type": "atomic",
                "additionalProperties": {"type": "string"},
            },
        },
    }
    status = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Widget", "plural": "widgets"},
            "scope": "Namespaced",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": schema,
                    "subresources": {"status": {}},
                }
            ],
        },
    }


def widget(crd: Object, namespace: str, **spec: Any) -> Object:
    return {
        "apiVersion": f"{crd['spec']['group']}/v1",
        "kind": "Widget",
        "metadata": {"name": "w", "namespace": namespace},
        "spec": spec,
    }


def config_map(namespace: str, name: str = "a", **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def workload(namespace: str, kind: str = "Deployment", **spec: Any) -> Object:
    container = {
        "name": "c",
        "image": "none:1",
        "env": [{"name": "A", "value": "1"}],
        "ports": [{"containerPort": 80}],
    }
    pod = {"containers": [container], "tolerations": [{"key": "k", "operator": "Exists"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "d", "namespace": namespace},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": pod},
            **spec,
        },
    }


def claim(namespace: str, size: str, storage_class: str = "") -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "p", "namespace": namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": storage_class,
            "resources": {"requests": {"storage": size}},
        },
    }


def container_of(obj: Object) -> Object:
    container: Object = obj["spec"]["template"]["spec"]["containers"][0]
    return container


def fields_of(obj: Object, manager: str) -> list[Any]:
    return [e["fieldsV1"] for e in obj["metadata"]["managedFields"] if e["manager"] == manager]


def refusal(error: type[ApiError], call: Callable[[], Any]) -> ApiError:
    with pytest.raises(error) as caught:
        call()
    return caught.value


class TestPlainWrites:
    def test_an_object_is_created_once_and_read_back(self, cluster: Cluster, place: str) -> None:
        created = cluster.create(config_map(place, k="v"))
        read = cluster.get("v1", "ConfigMap", "a", place)
        assert read == created
        assert {"uid", "resourceVersion", "creationTimestamp"} <= created["metadata"].keys()
        assert "generation" not in created["metadata"]
        error = refusal(AlreadyExists, lambda: cluster.create(config_map(place)))
        assert error.api_message == 'configmaps "a" already exists'

    def test_a_missing_namespace_takes_nothing(self, cluster: Cluster) -> None:
        obj = config_map("contract-nowhere")
        for error in (
            refusal(NotFound, lambda: cluster.apply(obj)),
            refusal(NotFound, lambda: cluster.create(obj)),
        ):
            assert error.api_message == 'namespaces "contract-nowhere" not found'

    def test_a_namespaced_kind_needs_a_namespace(self, cluster: Cluster) -> None:
        obj = config_map("")
        with pytest.raises(ClusterError):
            cluster.create(obj)
        with pytest.raises(ClusterError):
            cluster.get("v1", "ConfigMap", "a")

    def test_a_cluster_scoped_object_loses_its_namespace(self, cluster: Cluster, place: str) -> None:
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
        obj = {**role, "metadata": {"name": place, "namespace": place}, "rules": []}
        assert "namespace" not in cluster.apply(obj, dry_run=True)["metadata"]

    def test_an_unserved_kind_has_no_objects_and_takes_no_writes(self, cluster: Cluster, place: str) -> None:
        assert cluster.resource("nothing.test/v1", "Nothing") is None
        assert cluster.get("nothing.test/v1", "Nothing", "a", place) is None
        assert cluster.list("nothing.test/v1", "Nothing").items == []
        with pytest.raises(KindNotServed):
            cluster.apply({"apiVersion": "nothing.test/v1", "kind": "Nothing", "metadata": {"name": "a"}})
        with pytest.raises(KindNotServed):
            cluster.delete("nothing.test/v1", "Nothing", "a")

    def test_a_secrets_string_data_becomes_data(self, cluster: Cluster, place: str) -> None:
        secret = {**config_map(place), "kind": "Secret", "stringData": {"a": "b"}}
        del secret["data"]
        created = cluster.create(secret)
        assert created["data"] == {"a": "Yg=="}
        assert created["type"] == "Opaque"
        assert "stringData" not in created


class TestPatches:
    def test_a_merge_patch_sets_and_removes(self, cluster: Cluster, place: str) -> None:
        cluster.create(config_map(place, a="1", b="2"))
        patched = cluster.patch("v1", "ConfigMap", "a", place, {"data": {"a": None, "c": "3"}})
        assert patched["data"] == {"b": "2", "c": "3"}

    def test_a_patch_of_a_cluster_scoped_kind_needs_no_namespace(self, cluster: Cluster, place: str) -> None:
        for patch in (
            {"metadata": {"labels": {"a": "1"}}},
            [{"op": "replace", "path": "/metadata/labels/a", "value": "2"}],
        ):
            patched = cluster.patch("v1", "Namespace", place, patch)
        assert patched["metadata"]["labels"]["a"] == "2"
        with pytest.raises(TypeError, match="is missing"):
            cluster.patch("v1", "Namespace", place, None)

    def test_a_json_patch_tests_first(self, cluster: Cluster, place: str) -> None:
        cluster.create(config_map(place, a="1"))
        change = [
            {"op": "test", "path": "/data/a", "value": "1"},
            {"op": "replace", "path": "/data/a", "value": "2"},
        ]
        assert cluster.patch("v1", "ConfigMap", "a", place, change)["data"] == {"a": "2"}
        error = refusal(Invalid, lambda: cluster.patch("v1", "ConfigMap", "a", place, change))
        assert error.status == 422

    def test_a_patch_of_a_missing_object_is_an_error(self, cluster: Cluster, place: str) -> None:
        error = refusal(NotFound, lambda: cluster.patch("apps/v1", "Deployment", "a", place, {}))
        assert error.api_message == 'deployments.apps "a" not found'

    def test_preconditions_in_a_patch(self, cluster: Cluster, place: str) -> None:
        meta = cluster.create(config_map(place, a="1"))["metadata"]
        cluster.patch("v1", "ConfigMap", "a", place, {"data": {"a": "2"}})
        stale = {"metadata": {"resourceVersion": meta["resourceVersion"]}, "data": {"a": "3"}}
        error = refusal(Conflict, lambda: cluster.patch("v1", "ConfigMap", "a", place, stale))
        assert error.api_message == (
            'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
            "please apply your changes to the latest version and try again"
        )
        foreign = {"metadata": {"uid": "another"}, "data": {"a": "3"}}
        error = refusal(Invalid, lambda: cluster.patch("v1", "ConfigMap", "a", place, foreign))
        assert 'metadata.uid: Invalid value: "another": field is immutable' in error.api_message

    def test_a_write_that_changes_nothing_keeps_the_version(self, cluster: Cluster, place: str) -> None:
        version = cluster.apply(config_map(place, a="1"))["metadata"]["resourceVersion"]
        assert cluster.apply(config_map(place, a="1"))["metadata"]["resourceVersion"] == version
        same = cluster.patch("v1", "ConfigMap", "a", place, {"data": {"a": "1"}})
        assert same["metadata"]["resourceVersion"] == version


class TestDryRun:
    def test_a_dry_run_answers_and_stores_nothing(self, cluster: Cluster, place: str) -> None:
        assert "resourceVersion" not in cluster.create(config_map(place), dry_run=True)["metadata"]
        assert cluster.apply(config_map(place, a="1"), dry_run=True)["data"] == {"a": "1"}
        assert cluster.get("v1", "ConfigMap", "a", place) is None

    def test_a_dry_run_leaves_an_existing_object_unchanged(self, cluster: Cluster, place: str) -> None:
        before = cluster.apply(config_map(place, a="1"))
        patched = cluster.patch("v1", "ConfigMap", "a", place, {"data": {"a": "2"}}, dry_run=True)
        assert patched["data"] == {"a": "2"}
        assert patched["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
        assert cluster.delete("v1", "ConfigMap", "a", place, dry_run=True) is True
        assert cluster.get("v1", "ConfigMap", "a", place) == before


class TestApply:
    def test_owned_fields(self, cluster: Cluster, place: str) -> None:
        obj = workload(place)
        obj["metadata"]["labels"] = {"x": "y"}
        obj["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "emptyDir": {}}]
        applied = cluster.apply(obj)
        item: Any = {".": {}, "f:name": {}}
        assert fields_of(applied, "one") == [
            {
                "f:metadata": {"f:labels": {"f:x": {}}},
                "f:spec": {
                    "f:replicas": {},
                    "f:selector": {},
                    "f:template": {
                        "f:metadata": {"f:labels": {"f:app": {}}},
                        "f:spec": {
                            "f:containers": {
                                'k:{"name":"c"}': {
                                    **item,
                                    "f:env": {'k:{"name":"A"}': {**item, "f:value": {}}},
                                    "f:image": {},
                                    "f:ports": {
                                        'k:{"containerPort":80,"protocol":"TCP"}': {
                                            ".": {},
                                            "f:containerPort": {},
                                        }
                                    },
                                }
                            },
                            "f:tolerations": {},
                            "f:volumes": {'k:{"name":"v"}': {**item, "f:emptyDir": {}}},
                        },
                    },
                },
            }
        ]

    def test_preconditions(self, cluster: Cluster, place: str) -> None:
        message = 'Operation cannot be fulfilled on configmaps "a": '

        def bound(**meta: str) -> Object:
            obj = config_map(place, a="1")
            return {**obj, "metadata": {**obj["metadata"], **meta}}

        # With a resourceVersion alone, what is gone is made anew; by its uid it isn't.
        made = cluster.apply(bound(resourceVersion="1"))["metadata"]
        cluster.delete("v1", "ConfigMap", "a", place)
        for gone in (bound(uid=made["uid"]), bound(uid=made["uid"], resourceVersion="1")):
            error = refusal(Conflict, lambda obj=gone: cluster.apply(obj))
            assert error.api_message == (
                f"{message}uid mismatch: the provided object specified uid {made['uid']}, and no existing"
                " object was found"
            )
            assert is_other_object(error)
        live = cluster.apply(config_map(place, a="1"))["metadata"]
        for other in (
            bound(uid=made["uid"]),
            bound(uid=made["uid"], resourceVersion=live["resourceVersion"]),
        ):
            error = refusal(Invalid, lambda obj=other: cluster.apply(obj, force=True))
            assert (error.causes[0].field, is_other_object(error)) == ("metadata.uid", True)
            assert not is_immutable(error)
        for stale in (
            bound(uid=made["uid"], resourceVersion="1"),
            bound(uid=live["uid"], resourceVersion="1"),
        ):
            error = refusal(Conflict, lambda obj=stale: cluster.apply(obj))
            assert "the object has been modified" in error.api_message
        seen = {key: live[key] for key in ("uid", "resourceVersion")}
        assert cluster.apply(bound(**seen))["metadata"]["managedFields"] == live["managedFields"]

    def test_conflict_with_an_update(self, cluster: Cluster, place: str) -> None:
        cluster.apply(workload(place))
        cluster.with_field_manager("kubectl").patch(
            "apps/v1", "Deployment", "d", place, {"spec": {"replicas": 2}}
        )
        error = refusal(Conflict, lambda: cluster.apply(workload(place)))
        assert error.api_message == (
            'Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas'
        )
        (cause,) = error.causes
        assert cause.reason == "FieldManagerConflict"
        assert cause.message == 'conflict with "kubectl" using apps/v1'
        assert cause.field == ".spec.replicas"
        taken = cluster.apply(workload(place), force=True)
        assert taken["spec"]["replicas"] == 0
        assert fields_of(taken, "kubectl") == []

    def test_conflicts_with_another_applier(self, cluster: Cluster, place: str) -> None:
        cluster.apply(workload(place))
        other = workload(place, replicas=1)
        container_of(other)["image"] = "none:2"
        container_of(other)["env"][0]["value"] = "2"
        error = refusal(Conflict, lambda: cluster.with_field_manager("two").apply(other))
        assert error.api_message == (
            'Apply failed with 3 conflicts: conflicts with "one":\n'
            "- .spec.replicas\n"
            '- .spec.template.spec.containers[name="c"].image\n'
            '- .spec.template.spec.containers[name="c"].env[name="A"].value'
        )
        assert {cause.message for cause in error.causes} == {'conflict with "one"'}

    def test_fields_no_longer_applied_go_unless_another_has_them(self, cluster: Cluster, place: str) -> None:
        obj = config_map(place, a="1", b="2", c="3")
        obj["metadata"]["labels"] = {"l": "1"}
        cluster.apply(obj)
        cluster.with_field_manager("two").apply(config_map(place, b="2", d="4"))
        applied = cluster.apply(config_map(place, a="1"))
        assert applied["data"] == {"a": "1", "b": "2", "d": "4"}
        assert "labels" not in applied["metadata"]

    def test_items_of_keyed_lists(self, cluster: Cluster, place: str) -> None:
        obj = workload(place)
        container_of(obj)["env"] = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]
        cluster.apply(obj)
        sidecar = workload(place)
        sidecar["spec"] = {
            "template": {
                "spec": {
                    "containers": [
                        {"name": "c", "env": [{"name": "Z", "value": "9"}]},
                        {"name": "side", "image": "none:1"},
                    ]
                }
            }
        }
        cluster.with_field_manager("two").apply(sidecar)
        container_of(obj)["env"] = [{"name": "C", "value": "3"}, {"name": "A", "value": "1"}]
        obj["spec"]["template"]["spec"]["tolerations"] = [{"key": "other", "operator": "Exists"}]
        applied = cluster.apply(obj)
        assert [c["name"] for c in applied["spec"]["template"]["spec"]["containers"]] == ["c", "side"]
        assert {e["name"]: e["value"] for e in container_of(applied)["env"]} == {"A": "1", "C": "3", "Z": "9"}
        assert [t["key"] for t in applied["spec"]["template"]["spec"]["tolerations"]] == ["other"]

    def test_an_item_goes_with_what_others_changed_in_it(self, cluster: Cluster, place: str) -> None:
        obj = workload(place)
        obj["spec"]["template"]["spec"]["containers"].append({"name": "x", "image": "none:1"})
        cluster.apply(obj)
        patch = [{"op": "replace", "path": "/spec/template/spec/containers/1/image", "value": "none:2"}]
        cluster.with_field_manager("two").patch("apps/v1", "Deployment", "d", place, patch)
        containers = cluster.apply(workload(place))["spec"]["template"]["spec"]["containers"]
        assert [(c["name"], c["image"]) for c in containers] == [("c", "none:1")]

    def test_a_list_with_an_item_twice(self, cluster: Cluster, place: str) -> None:
        obj = workload(place)
        container_of(obj)["env"] *= 2
        error = refusal(Untypeable, lambda: cluster.apply(obj))
        assert (error.status, error.reason) == (500, "")
        assert error.api_message == (
            f"failed to create typed patch object ({place}/d; apps/v1, Kind=Deployment): "
            '.spec.template.spec.containers[name="c"].env: duplicate entries for key [name="A"]'
        )
        assert len(container_of(cluster.create(obj))["env"]) == 2

    def test_nulls_are_not_there(self, cluster: Cluster, place: str) -> None:
        obj = config_map(place, a="1")
        obj["metadata"].update(annotations=None, creationTimestamp=None)
        applied = cluster.apply(obj)
        assert "annotations" not in applied["metadata"]
        assert applied["metadata"]["creationTimestamp"]

    def test_a_namespace_has_its_name_as_a_label_after_every_removal(
        self, cluster: Cluster, place: str
    ) -> None:
        mine: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}}
        cluster.apply({**mine, "metadata": {"name": place, "labels": {"a": "b"}}})
        name = {"kubernetes.io/metadata.name": place}
        assert cluster.apply(mine)["metadata"]["labels"] == name
        taken = cluster.patch("v1", "Namespace", place, None, {"metadata": {"labels": None}})
        assert taken["metadata"]["labels"] == name


class TestGeneration:
    def test_the_generation_counts_changes_of_the_spec(self, cluster: Cluster, place: str) -> None:
        assert cluster.apply(workload(place))["metadata"]["generation"] == 1
        labelled = cluster.patch("apps/v1", "Deployment", "d", place, {"metadata": {"labels": {"a": "b"}}})
        assert labelled["metadata"]["generation"] == 1
        scaled = cluster.patch("apps/v1", "Deployment", "d", place, {"spec": {"paused": True}})
        assert scaled["metadata"]["generation"] == 2
        status = {"status": {"replicas": 7}, "spec": {"paused": False}}
        stated = cluster.patch("apps/v1", "Deployment", "d", place, status, subresource="status")
        assert stated["metadata"]["generation"] == 2
        assert stated["spec"]["paused"] is True
        assert stated["status"]["replicas"] == 7

    def test_the_status_is_not_written_with_the_rest(self, cluster: Cluster, place: str) -> None:
        applied = cluster.apply({**workload(place), "status": {"replicas": 7}})
        assert applied.get("status", {}).get("replicas") != 7


class TestImmutability:
    @OTHER_WORDS
    def test_selector_of_a_deployment(self, cluster: Cluster, place: str) -> None:
        cluster.apply(workload(place))
        change = {
            "spec": {
                "selector": {"matchLabels": {"app": "e"}},
                "template": {"metadata": {"labels": {"app": "e"}}},
            }
        }
        error = refusal(Invalid, lambda: cluster.patch("apps/v1", "Deployment", "d", place, change))
        assert error.api_message == (
            'Deployment.apps "d" is invalid: spec.selector: Invalid value: '
            '{"matchLabels":{"app":"e"}}: field is immutable'
        )
        assert [cause.field for cause in error.causes] == ["spec.selector"]

    @OTHER_WORDS
    def test_a_selector_that_does_not_match(self, cluster: Cluster, place: str) -> None:
        obj = workload(place, selector={"matchLabels": {"app": "e"}})
        error = refusal(Invalid, lambda: cluster.apply(obj))
        assert error.api_message == (
            'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: '
            '{"app":"d"}: `selector` does not match template `labels`'
        )

    @OTHER_WORDS
    def test_claim_template_of_a_stateful_set(self, cluster: Cluster, place: str) -> None:
        template = {"metadata": {"name": "s"}, "spec": claim(place, "10Gi")["spec"]}
        obj = workload(place, "StatefulSet", serviceName="d", volumeClaimTemplates=[template])
        cluster.apply(obj)
        grown = deepcopy(obj)
        grown["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] = "30Gi"
        error = refusal(Invalid, lambda: cluster.apply(grown))
        assert error.api_message == (
            'StatefulSet.apps "d" is invalid: spec: Forbidden: updates to statefulset spec for fields other '
            "than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
            "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
        )
        cluster.apply({**obj, "spec": {**obj["spec"], "replicas": 1}})

    def test_template_of_a_job(self, cluster: Cluster, place: str) -> None:
        obj = workload(place)
        pod = {**obj["spec"]["template"]["spec"], "restartPolicy": "Never"}
        job = {
            **obj,
            "apiVersion": "batch/v1",
            "kind": "Job",
            "spec": {"suspend": False, "template": {"spec": pod}},
        }
        cluster.apply(job)
        pod["containers"][0]["image"] = "none:2"
        error = refusal(Invalid, lambda: cluster.apply(job))
        assert error.api_message.startswith('Job.batch "d" is invalid: spec.template: Invalid value: ')
        assert error.api_message.endswith(": field is immutable")
        assert [cause.field for cause in error.causes] == ["spec.template"]

    def test_an_immutable_config_map(self, cluster: Cluster, place: str) -> None:
        cluster.create({**config_map(place, a="1"), "immutable": True})
        error = refusal(Invalid, lambda: cluster.patch("v1", "ConfigMap", "a", place, {"data": {"a": "2"}}))
        assert error.api_message == (
            'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set'
        )

    def test_role_reference(self, cluster: Cluster, place: str) -> None:
        group = "rbac.authorization.k8s.io"
        binding = {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "b", "namespace": place},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "view"},
            "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": place}],
        }
        cluster.apply(binding)
        changed = {**binding, "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "edit"}}
        error = refusal(Invalid, lambda: cluster.apply(changed))
        assert error.api_message.endswith(": cannot change roleRef")
        assert [cause.field for cause in error.causes] == ["roleRef"]


class TestClaims:
    @pytest.fixture
    def storage_class(self, cluster: Cluster) -> Iterator[str]:
        name = f"contract-{secrets.token_hex(4)}"
        kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass"}
        cluster.create({**kind, "metadata": {"name": name}, "provisioner": "contract.test/none"})
        yield name
        cluster.delete("storage.k8s.io/v1", "StorageClass", name)

    def bound(self, cluster: Cluster, obj: Object) -> None:
        cluster.create(obj)
        place = obj["metadata"]["namespace"]
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "name": "p",
            "namespace": place,
        }
        cluster.patch(
            **_address(volume),
            patch={"status": {"phase": "Bound", "capacity": {"storage": "10Gi"}}},
            subresource="status",
        )

    def grow(self, cluster: Cluster, place: str, size: str) -> Object:
        change = {"spec": {"resources": {"requests": {"storage": size}}}}
        return cluster.patch("v1", "PersistentVolumeClaim", "p", place, change)

    def test_an_unbound_claim_does_not_grow(self, cluster: Cluster, place: str, storage_class: str) -> None:
        cluster.create(claim(place, "10Gi", storage_class))
        error = refusal(Invalid, lambda: self.grow(cluster, place, "20Gi"))
        assert error.api_message.startswith(
            'PersistentVolumeClaim "p" is invalid: spec: Forbidden: spec is immutable after creation '
            "except resources.requests and volumeAttributesClassName for bound claims"
        )

    def test_a_class_that_can_not_expand(self, cluster: Cluster, place: str, storage_class: str) -> None:
        self.bound(cluster, claim(place, "10Gi", storage_class))
        error = refusal(Forbidden, lambda: self.grow(cluster, place, "20Gi"))
        assert error.api_message == (
            'persistentvolumeclaims "p" is forbidden: only dynamically provisioned pvc can be resized and '
            "the storageclass that provisions the pvc must support resize"
        )
        cluster.patch(
            "storage.k8s.io/v1", "StorageClass", storage_class, None, {"allowVolumeExpansion": True}
        )
        # The server's admission learns of the class by a watch.
        grown = eventually(lambda: _unless_forbidden(lambda: self.grow(cluster, place, "20Gi")))
        assert grown["spec"]["resources"]["requests"]["storage"] == "20Gi"

    @OTHER_WORDS
    def test_a_claim_does_not_shrink(self, cluster: Cluster, place: str, storage_class: str) -> None:
        self.bound(cluster, claim(place, "10Gi", storage_class))
        error = refusal(Invalid, lambda: self.grow(cluster, place, "5Gi"))
        assert error.api_message == (
            'PersistentVolumeClaim "p" is invalid: spec.resources.requests.storage: Forbidden: '
            "field can not be less than status.capacity"
        )

    @OTHER_WORDS
    def test_a_provisioner_stays(self, cluster: Cluster, storage_class: str) -> None:
        change = {"provisioner": "another"}
        error = refusal(
            Invalid, lambda: cluster.patch("storage.k8s.io/v1", "StorageClass", storage_class, None, change)
        )
        assert error.api_message == (
            f'StorageClass.storage.k8s.io "{storage_class}" is invalid: provisioner: '
            'Invalid value: "another": field is immutable'
        )


def _address(volume: Object) -> dict[str, Any]:
    return {
        "api_version": volume["apiVersion"],
        "kind": volume["kind"],
        "name": volume["name"],
        "namespace": volume["namespace"],
    }


def _unless_forbidden(call: Callable[[], Object]) -> Object | None:
    try:
        return call()
    except Forbidden:
        return None


class TestCreation:
    def test_an_object_as_read_is_not_created(self, cluster: Cluster, place: str) -> None:
        read = cluster.create(config_map(place))
        read["metadata"]["name"] = "b"
        error = refusal(ApiError, lambda: cluster.create(read))
        assert (error.status, error.reason) == (500, "")
        assert error.api_message == "resourceVersion should not be set on objects to be created"


class TestDeletion:
    def test_a_deletion_of_a_missing_object_is_false(self, cluster: Cluster, place: str) -> None:
        assert cluster.delete("v1", "ConfigMap", "a", place) is False

    def test_preconditions(self, cluster: Cluster, place: str) -> None:
        meta = cluster.create(config_map(place))["metadata"]
        error = refusal(Conflict, lambda: cluster.delete("v1", "ConfigMap", "a", place, uid="another"))
        assert "the UID in the precondition (another) does not match the UID in record" in error.api_message
        error = refusal(Conflict, lambda: cluster.delete("v1", "ConfigMap", "a", place, resource_version="1"))
        assert "the ResourceVersion in the precondition (1) does not match" in error.api_message
        uid, version = meta["uid"], meta["resourceVersion"]
        assert cluster.delete("v1", "ConfigMap", "a", place, uid=uid, resource_version=version) is True
        assert cluster.get("v1", "ConfigMap", "a", place) is None

    def test_finalizers_delay_a_deletion(self, cluster: Cluster, place: str) -> None:
        obj = config_map(place)
        obj["metadata"]["finalizers"] = ["contract.test/f"]
        cluster.create(obj)
        assert cluster.delete("v1", "ConfigMap", "a", place) is True
        dying = cluster.get("v1", "ConfigMap", "a", place)
        assert dying is not None
        assert dying["metadata"]["deletionTimestamp"]
        assert cluster.delete("v1", "ConfigMap", "a", place) is True
        more = {"metadata": {"finalizers": ["contract.test/f", "contract.test/g"]}}
        error = refusal(Invalid, lambda: cluster.patch("v1", "ConfigMap", "a", place, more))
        assert "no new finalizers can be added if the object is being deleted" in error.api_message
        cluster.patch("v1", "ConfigMap", "a", place, {"metadata": {"finalizers": None}})
        assert cluster.get("v1", "ConfigMap", "a", place) is None

    @pytest.mark.parametrize("propagation", ["Background", "Foreground", "Orphan"])
    def test_dependents_are_deleted_or_orphaned_by_the_propagation(
        self, cluster: Cluster, place: str, propagation: str
    ) -> None:
        owner = cluster.create(config_map(place, "owner"))
        reference = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "owner",
            "uid": owner["metadata"]["uid"],
        }
        dependent = config_map(place, "dependent")
        dependent["metadata"]["ownerReferences"] = [{**reference, "blockOwnerDeletion": True}]
        cluster.create(dependent)
        # The garbage collector learns of objects by watches; it must know both before one goes.
        time.sleep(0 if isinstance(cluster, MemoryCluster) else 3)
        assert cluster.delete("v1", "ConfigMap", "owner", place, propagation=propagation) is True
        eventually(lambda: cluster.get("v1", "ConfigMap", "owner", place) is None)
        if propagation != "Orphan":
            eventually(lambda: cluster.get("v1", "ConfigMap", "dependent", place) is None)
        else:
            left = cluster.get("v1", "ConfigMap", "dependent", place)
            assert left is not None
            assert "ownerReferences" not in left["metadata"]

    def test_a_namespace_goes_with_its_contents(self, cluster: Cluster, place: str) -> None:
        name = f"{place}-gone"
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        obj = config_map(name)
        obj["metadata"]["finalizers"] = ["contract.test/f"]
        cluster.create(obj)
        cluster.create(config_map(name, "b"))
        assert cluster.delete("v1", "Namespace", name) is True
        error = refusal(Forbidden, lambda: cluster.create(config_map(name, "late")))
        assert error.api_message == (
            f'configmaps "late" is forbidden: unable to create new content in namespace {name} '
            "because it is being terminated"
        )
        eventually(lambda: cluster.get("v1", "ConfigMap", "b", name) is None)
        terminating = cluster.get("v1", "Namespace", name)
        assert terminating is not None
        assert terminating["status"]["phase"] == "Terminating"
        cluster.patch("v1", "ConfigMap", "a", name, {"metadata": {"finalizers": None}})
        eventually(lambda: cluster.get("v1", "Namespace", name) is None)


class TestLists:
    def test_selectors(self, cluster: Cluster, place: str) -> None:
        for name, labels in {"a": {"x": "1"}, "b": {"x": "2", "y": "1"}, "c": {}}.items():
            obj = config_map(place, name, k="v")
            obj["metadata"]["labels"] = labels
            cluster.create(obj)
        expected = {
            "x=1": ["a"],
            "x==2,y": ["b"],
            "x!=1": ["b", "c"],
            "x in (1, 2)": ["a", "b"],
            "x notin (1),!y": ["c"],
            "x": ["a", "b"],
        }
        for selector, names in expected.items():
            page = cluster.list("v1", "ConfigMap", place, label_selector=selector + ",!istio")
            listed = [item["metadata"]["name"] for item in page.items]
            assert [name for name in listed if name != "kube-root-ca.crt"] == names, selector
        page = cluster.list("v1", "ConfigMap", place, field_selector="metadata.name=b")
        assert [item["metadata"]["name"] for item in page.items] == ["b"]
        page = cluster.list("v1", "ConfigMap", field_selector=f"metadata.namespace={place},metadata.name!=a")
        assert {"b", "c"} <= {item["metadata"]["name"] for item in page.items}
        with pytest.raises(Invalid):
            cluster.list("v1", "ConfigMap", place, label_selector="x in (1")

    def test_items_are_whole_or_metadata_alone(self, cluster: Cluster, place: str) -> None:
        created = cluster.create(config_map(place, k="v"))
        selector = "metadata.name=a"
        (item,) = cluster.list("v1", "ConfigMap", place, field_selector=selector).items
        assert item == created
        (item,) = cluster.list("v1", "ConfigMap", place, field_selector=selector, metadata_only=True).items
        assert item == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": created["metadata"]}


class TestWatches:
    def test_a_watch_reports_changes_and_ends(self, cluster: Cluster, place: str) -> None:
        start = cluster.list("v1", "ConfigMap", place).resource_version
        cluster.create(config_map(place, k="1"))
        cluster.create(config_map(place, "other"))
        cluster.patch("v1", "ConfigMap", "a", place, {"data": {"k": "2"}})
        cluster.delete("v1", "ConfigMap", "a", place)
        began = time.monotonic()
        events = list(
            cluster.watch(
                "v1", "ConfigMap", place, resource_version=start, seconds=3, field_selector="metadata.name=a"
            )
        )
        assert [(e.type, e.object["data"]["k"]) for e in events] == [
            ("ADDED", "1"),
            ("MODIFIED", "2"),
            ("DELETED", "2"),
        ]
        assert 2.8 < time.monotonic() - began < 30
        versions = [int(e.object["metadata"]["resourceVersion"]) for e in events]
        assert versions == sorted(versions)
        assert events[0].object["kind"] == "ConfigMap"

    def test_an_object_that_stops_to_match_a_selector_is_reported_as_deleted(
        self, cluster: Cluster, place: str
    ) -> None:
        start = cluster.list("v1", "ConfigMap", place).resource_version
        labelled = config_map(place, k="1")
        labelled["metadata"]["labels"] = {"x": "1"}
        cluster.create(config_map(place, "never", k="0"))
        cluster.create(labelled)
        cluster.patch("v1", "ConfigMap", "a", place, {"data": {"k": "2"}})
        gone = cluster.patch(
            "v1", "ConfigMap", "a", place, {"data": {"k": "3"}, "metadata": {"labels": {"x": "2"}}}
        )
        cluster.patch("v1", "ConfigMap", "a", place, {"data": {"k": "4"}})
        cluster.patch("v1", "ConfigMap", "a", place, {"metadata": {"labels": {"x": "1"}}})
        cluster.delete("v1", "ConfigMap", "a", place)
        watch = cluster.watch(
            "v1", "ConfigMap", place, resource_version=start, seconds=3, label_selector="x=1"
        )
        events = list(watch)
        assert [(e.type, e.object["data"]["k"]) for e in events] == [
            ("ADDED", "1"),
            ("MODIFIED", "2"),
            ("DELETED", "2"),
            ("ADDED", "4"),
            ("DELETED", "4"),
        ]
        # As it was while it matched, in the version since which it doesn't.
        assert events[2].object["metadata"]["labels"] == {"x": "1"}
        assert events[2].object["metadata"]["resourceVersion"] == gone["metadata"]["resourceVersion"]

    def test_metadata_alone(self, cluster: Cluster, place: str) -> None:
        start = cluster.list("v1", "ConfigMap", place).resource_version
        created = cluster.create(config_map(place, k="1"))
        watch = cluster.watch(
            "v1",
            "ConfigMap",
            place,
            resource_version=start,
            seconds=3,
            field_selector="metadata.name=a",
            metadata_only=True,
        )
        [event] = list(watch)
        meta = created["metadata"]
        assert event.object == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}

    def test_a_silent_watch_is_stopped(self, cluster: Cluster, place: str) -> None:
        start = cluster.list("v1", "ConfigMap", place).resource_version
        stop = StopSignal()
        watch = cluster.watch(
            "v1",
            "ConfigMap",
            place,
            resource_version=start,
            seconds=60,
            field_selector="metadata.name=a",
            stop=stop,
        )
        cluster.create(config_map(place, k="1"))
        assert next(watch).type == "ADDED"
        threading.Timer(0.2, stop.set).start()
        began = time.monotonic()
        assert list(watch) == []
        assert time.monotonic() - began < 20


class TestCustomResources:
    def test_established(self, cluster: Cluster, widgets: Object) -> None:
        def established() -> Object | None:
            crd = cluster.get(widgets["apiVersion"], widgets["kind"], widgets["metadata"]["name"])
            assert crd is not None
            states = {c["type"]: c["status"] for c in (crd.get("status") or {}).get("conditions") or ()}
            return crd if states.get("Established") == "True" else None

        crd = eventually(established)
        assert crd["status"]["storedVersions"] == ["v1"]
        assert crd["metadata"]["generation"] == 1

    def test_the_schema_is_kept_to(self, cluster: Cluster, place: str, widgets: Object) -> None:
        where = f"({place}/w; {widgets['spec']['group']}/v1, Kind=Widget)"
        error = refusal(Untypeable, lambda: cluster.apply(widget(widgets, place, size=1, bogus=2)))
        assert error.api_message == (
            f"failed to create typed patch object {where}: .spec.bogus: field not declared in schema"
        )
        error = refusal(Untypeable, lambda: cluster.apply(widget(widgets, place, size="x")))
        assert error.api_message == (
            f"failed to create typed patch object {where}: "
            ".spec.size: expected numeric (int or float), got string"
        )
        prefix = f'Widget.{widgets["spec"]["group"]} "w" is invalid: '
        error = refusal(Invalid, lambda: cluster.apply(widget(widgets, place, color="red")))
        assert error.api_message == prefix + "spec.size: Required value"
        error = refusal(Invalid, lambda: cluster.apply(widget(widgets, place, size=1, color="green")))
        assert (
            error.api_message
            == prefix + 'spec.color: Unsupported value: "green": supported values: "red", "blue"'
        )
        error = refusal(Invalid, lambda: cluster.create(widget(widgets, place, size="x")))
        assert error.api_message == prefix + (
            'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'
        )
        assert cluster.create(widget(widgets, place, size=1, bogus=2))["spec"] == {"size": 1}

    def test_merging_follows_the_schema(self, cluster: Cluster, place: str, widgets: Object) -> None:
        cluster.apply(widget(widgets, place, size=1, parts=[{"id": "a", "n": 1}], whole={"x": "1"}))
        two = widget(widgets, place, size=1, parts=[{"id": "b", "n": 2}])
        merged = cluster.with_field_manager("two").apply(two)
        assert [part["id"] for part in merged["spec"]["parts"]] == ["a", "b"]
        assert fields_of(merged, "one") == [
            {
                "f:spec": {
                    "f:parts": {'k:{"id":"a"}': {".": {}, "f:id": {}, "f:n": {}}},
                    "f:size": {},
                    "f:whole": {},
                }
            }
        ]
        dropped = cluster.apply(widget(widgets, place, size=1))
        assert dropped["spec"] == {"size": 1, "parts": [{"id": "b", "n": 2}]}
        assert dropped["metadata"]["generation"] == 3

    def test_the_status_is_its_own(
        self, cluster: Cluster, place: str, widgets: Object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        obj = {**widget(widgets, place, size=1), "status": {"x": 1}}
        assert "status" not in cluster.apply(obj)
        api_version = obj["apiVersion"]
        change = {"status": {"ok": True}, "spec": {"size": 5}, "metadata": {"labels": {"a": "b"}}}
        stated = cluster.patch(api_version, "Widget", "w", place, change, subresource="status")
        assert (stated["status"], stated["spec"]) == ({"ok": True}, {"size": 1})
        assert "labels" not in stated["metadata"]
        assert stated["metadata"]["generation"] == 1
        entry = stated["metadata"]["managedFields"][-1]
        assert (entry["operation"], entry["subresource"]) == ("Update", "status")
        applied = cluster.apply(widget(widgets, place, size=2))
        assert applied["status"] == {"ok": True}
        # The path that is missing is not one that a definition will bring.
        monkeypatch.setattr(live_cluster, "SERVING_SECONDS", 0.0)
        with pytest.raises(ClusterError):
            cluster.patch("v1", "ConfigMap", "a", place, {"status": {}}, subresource="status")

    @OTHER_WORDS
    def test_a_stored_version_stays(self, cluster: Cluster, widgets: Object) -> None:
        narrowed = deepcopy(widgets)
        narrowed["spec"]["versions"][0]["name"] = "v2"
        error = refusal(Invalid, lambda: cluster.apply(narrowed))
        assert "status.storedVersions[0]: Invalid value: " in error.api_message
        assert "missing from spec.versions" in error.api_message
        widened = deepcopy(widgets)
        widened["spec"]["versions"].append({**deepcopy(narrowed["spec"]["versions"][0]), "storage": False})
        cluster.apply(widened)
        group = widgets["spec"]["group"]
        eventually(lambda: cluster.resource(f"{group}/v2", "Widget"))
        assert cluster.resource(f"{group}/v1", "Widget") is not None

    def test_objects_go_with_their_definition(self, cluster: Cluster, place: str, widgets: Object) -> None:
        obj = widget(widgets, place, size=1)
        cluster.apply(obj)
        assert cluster.delete(widgets["apiVersion"], widgets["kind"], widgets["metadata"]["name"]) is True
        eventually(lambda: cluster.get(obj["apiVersion"], "Widget", "w", place) is None)
        eventually(lambda: cluster.list(obj["apiVersion"], "Widget").items == [])


def is_not_served(cluster: Cluster, api_version: str, namespace: str) -> bool:
    """Whether reads of Widgets in a version are refused, all in one way; a server may take a second."""
    reads: list[Callable[[], Any]] = [
        lambda: cluster.list(api_version, "Widget"),
        lambda: cluster.list(api_version, "Widget", namespace, metadata_only=True),
        lambda: cluster.get(api_version, "Widget", "w", namespace),
        lambda: cluster.get(api_version, "Widget", "nothing", namespace),
    ]
    errors = []
    for read in reads:
        try:
            read()
        except KindNotServed as error:
            errors.append((error.served, str(error)))
    assert len(set(errors)) <= 1
    return len(errors) == len(reads)


class TestServedVersions:
    """No read answers that there is nothing where objects may exist."""

    @pytest.fixture
    def api_service(self, cluster: Cluster) -> Iterator[Object]:
        """An APIService whose Service has no endpoints."""
        obj = silent_api(f"a{secrets.token_hex(4)}.contract.test")
        cluster.apply(obj)
        yield obj
        cluster.delete(obj["apiVersion"], obj["kind"], obj["metadata"]["name"])

    @pytest.fixture(params=["the cluster", "an overlay"])
    def reader(self, request: pytest.FixtureRequest, cluster: Cluster) -> Cluster:
        """What is read from: the cluster itself, or an overlay over it."""
        return cluster if request.param == "the cluster" else DryRunCluster(cluster)

    def test_all_versions_are_named_the_preferred_one_first(self, cluster: Cluster, reader: Cluster) -> None:
        crd = widget_crd(f"c{secrets.token_hex(4)}.contract.test")
        group = crd["spec"]["group"]
        assert reader.served(group, "Widget") == ()
        versions = dict.fromkeys(("v1alpha2", "v1", "v2beta1", "v2", "v11beta2", "v10", "foo1"), True)
        reader.apply(with_versions(crd, **versions))
        try:
            eventually(lambda: len(reader.served(group, "Widget")) == len(versions))
            resources = reader.served(group, "Widget")
            assert {(one.kind, one.plural, one.namespaced) for one in resources} == {
                ("Widget", "widgets", True)
            }
            names = [one.api_version.rpartition("/")[2] for one in resources]
            assert names == ["v10", "v2", "v1", "v11beta2", "v2beta1", "v1alpha2", "foo1"]
        finally:
            cluster.delete(crd["apiVersion"], crd["kind"], crd["metadata"]["name"])
        assert [one.api_version for one in reader.served("apps", "Deployment")] == ["apps/v1"]
        autoscalers = reader.served("autoscaling", "HorizontalPodAutoscaler")
        assert [one.api_version for one in autoscalers] == ["autoscaling/v2", "autoscaling/v1"]

    def test_a_version_that_is_not_served_is_no_empty_list_while_another_one_is(
        self, cluster: Cluster, reader: Cluster, place: str
    ) -> None:
        crd = widget_crd(f"c{secrets.token_hex(4)}.contract.test")
        group = crd["spec"]["group"]
        cluster.apply(with_versions(crd, v1=True, v2=True))
        try:
            eventually(lambda: len(cluster.served(group, "Widget")) == 2)
            cluster.apply(widget(crd, place, size=1))
            # An overlay takes the version away by itself.
            reader.apply(with_versions(crd, v1=False, v2=True))
            eventually(lambda: is_not_served(reader, f"{group}/v1", place))
            with pytest.raises(KindNotServed) as caught:
                reader.list(f"{group}/v1", "Widget")
            assert caught.value.served == (f"{group}/v2",)
            assert f"it serves Widget in {group}/v2" in str(caught.value)
            [obj] = reader.list(f"{group}/v2", "Widget").items
            assert obj["metadata"]["name"] == "w"
        finally:
            cluster.delete(crd["apiVersion"], crd["kind"], crd["metadata"]["name"])

    def test_a_version_that_never_was_is_no_empty_list_either(
        self, reader: Cluster, widgets: Object, place: str
    ) -> None:
        assert is_not_served(reader, f"{widgets['spec']['group']}/v7", place)
        with pytest.raises(KindNotServed, match="in apps/v1,"):
            reader.list("apps/v1beta1", "Deployment")

    def test_a_kind_that_no_version_serves_has_no_objects(self, reader: Cluster, widgets: Object) -> None:
        for api_version in ("nothing.test/v1", f"{widgets['spec']['group']}/v1", "apps/v1"):
            assert reader.list(api_version, "Nothing").items == []
            assert reader.get(api_version, "Nothing", "a", "default") is None
            assert reader.served(api_version.rpartition("/")[0], "Nothing") == ()

    def test_an_aggregated_api_that_is_down_is_no_empty_list(
        self, cluster: Cluster, reader: Cluster, api_service: Object
    ) -> None:
        group = api_service["spec"]["group"]

        def refusals() -> list[str]:
            messages = []
            for read in (
                lambda: reader.list(f"{group}/v1", "Thing"),
                lambda: reader.list(f"{group}/v2", "Thing"),
                lambda: reader.get(f"{group}/v1", "Thing", "a", "default"),
                lambda: reader.served(group, "Thing"),
            ):
                try:
                    read()
                except ApiUnavailable as error:
                    messages.append(str(error))
            return messages

        messages = eventually(lambda: refused if len(refused := refusals()) == 4 else [])
        assert all(f"APIService v1.{group}: its server does not answer" in one for one in messages)
        assert all(f"kubectl describe apiservice v1.{group}" in one for one in messages)
        # Reads of all other kinds go on.
        assert reader.get("v1", "Namespace", "default") is not None
        assert reader.list("nothing.test/v1", "Nothing").items == []
        name = api_service["metadata"]["name"]
        assert [
            i
            for i in reader.list("apiregistration.k8s.io/v1", "APIService").items
            if i["metadata"]["name"] == name
        ]
        cluster.delete(api_service["apiVersion"], "APIService", name)
        eventually(lambda: not refusals())
        assert reader.list(f"{group}/v1", "Thing").items == []
