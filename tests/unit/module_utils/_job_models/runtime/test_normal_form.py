# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the server and its controllers add to an object is no part of its normal form; all else is."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples
from tests.support.runtime_samples import rich_cron_job, rich_deployment, rich_job, rich_service

API_VERSIONS = {"Job": "batch/v1", "CronJob": "batch/v1", "Deployment": "apps/v1", "Service": "v1"}
RICH = [rich_job(), rich_cron_job(), rich_deployment(), rich_service()]


def obj(kind: str, spec: Any, **metadata: Any) -> Object:
    return {
        "apiVersion": API_VERSIONS[kind],
        "kind": kind,
        "metadata": {"name": "x", "namespace": "shop", **metadata},
        "spec": spec,
    }


def deployment(pod: Object, **template_metadata: Any) -> Object:
    return obj("Deployment", {"template": {"metadata": template_metadata, "spec": pod}})


def pod_form(pod: Object) -> Any:
    """The normal form of the spec of a Deployment's pods."""
    return normal_form(deployment(pod))["spec"]["template"].get("spec", {})


def container_form(**fields: Any) -> Any:
    return pod_form({"containers": [{"name": "x", **fields}]})["containers"][0]


def volume_form(**fields: Any) -> Any:
    return pod_form({"volumes": [{"name": "x", **fields}]})["volumes"][0]


# --- metadata


def test_the_bookkeeping_of_the_server_goes() -> None:
    live = obj(
        "CronJob",
        {"schedule": "* * * * *"},
        uid="1",
        resourceVersion="2",
        generation=3,
        creationTimestamp="2026-01-01T00:00:00Z",
        managedFields=[{"manager": "kubectl"}],
        selfLink="/x",
        generateName="x-",
        deletionTimestamp="2026-01-01T00:00:00Z",
        deletionGracePeriodSeconds=0,
        annotations={"kubectl.kubernetes.io/last-applied-configuration": "{}"},
        labels={},
        finalizers=["foregroundDeletion", "orphan"],
        ownerReferences=[{"kind": "Robot", "name": "r", "uid": "2", "controller": True}],
    )
    assert normal_form({**live, "status": {"active": []}}) == obj("CronJob", {"schedule": "* * * * *"})


def test_metadata_of_the_author_stays() -> None:
    owner = {"kind": "Team", "name": "a", "uid": "2"}
    authored = obj(
        "Deployment",
        {"replicas": 0},
        labels={"app": "", "job-name": "j"},
        annotations={"a": "", "kubectl.kubernetes.io/other": "b", "batch.kubernetes.io/x": "y"},
        finalizers=["shop.invalid/hold"],
        ownerReferences=[owner],
    )
    live = deep_copy(authored)
    live["metadata"]["finalizers"].append("foregroundDeletion")
    live["metadata"]["ownerReferences"].append({"kind": "Robot", "uid": "3", "controller": True})
    assert normal_form(live) == authored


def test_annotations_of_the_controllers_of_deployments_and_jobs_go() -> None:
    revision = {"deployment.kubernetes.io/revision": "3"}
    tracking = {"batch.kubernetes.io/job-tracking": ""}
    for kind, notes in (("Deployment", revision), ("Job", tracking)):
        assert "annotations" not in normal_form(obj(kind, {}, annotations=notes))["metadata"], kind
    assert normal_form(obj("Job", {}, annotations=revision))["metadata"]["annotations"] == revision


def test_a_restart_is_no_part_of_what_the_author_means() -> None:
    restarted = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}
    pod = {"containers": [{"name": "x", "image": "y"}]}
    assert normal_form(deployment(pod, annotations=restarted)) == normal_form(deployment(pod))
    assert normal_form(deployment(pod, annotations={**restarted, "a": "b"}))["spec"]["template"][
        "metadata"
    ] == {"annotations": {"a": "b"}}


# --- jobs

CONTROLLER_LABELS = {
    "batch.kubernetes.io/controller-uid": "1",
    "batch.kubernetes.io/job-name": "x",
    "controller-uid": "1",
    "job-name": "x",
}


def job(spec: Object, labels: Object, pod_labels: Object) -> Object:
    return obj(
        "Job", {"template": {"metadata": {"labels": pod_labels}, "spec": {"a": 1}}, **spec}, labels=labels
    )


def test_the_selector_and_labels_of_a_job_that_its_controller_made_go() -> None:
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}}
    live = job({"selector": selector}, {**CONTROLLER_LABELS, "a": "b"}, {**CONTROLLER_LABELS, "c": "d"})
    assert normal_form(live) == job({}, {"a": "b"}, {"c": "d"})


def test_a_selector_of_the_authors_own_stays() -> None:
    authored = job(
        {"manualSelector": True, "selector": {"matchLabels": {"job-name": "x"}}},
        {"a": "b"},
        {"job-name": "x", "controller-uid": "y"},
    )
    assert normal_form(authored) == authored


def test_a_job_without_labels_and_one_with_those_of_its_pods_are_the_same() -> None:
    pod_labels = {"a": "b"}
    assert normal_form(job({}, pod_labels, pod_labels)) == normal_form(job({}, {}, pod_labels))
    assert normal_form(job({}, {"a": "c"}, pod_labels))["metadata"]["labels"] == {"a": "c"}
    cron_job = obj("CronJob", {"jobTemplate": {"metadata": {"labels": CONTROLLER_LABELS}}})
    assert normal_form(cron_job) == cron_job


def failure_policy(**status: str) -> Object:
    condition = {"type": "DisruptionTarget", **status}
    return {"podFailurePolicy": {"rules": [{"action": "Ignore", "onPodConditions": [condition]}]}}


@pytest.mark.parametrize(
    ("spec", "form"),
    [
        ({"completions": 1, "parallelism": 1}, {}),
        ({"completions": 1}, {}),
        ({"parallelism": 1}, {"parallelism": 1}),
        ({"completions": 3, "parallelism": 1}, {"completions": 3}),
        ({"completions": 1, "parallelism": 3}, {"completions": 1, "parallelism": 3}),
        ({"backoffLimit": 6}, {}),
        ({"backoffLimit": 0}, {"backoffLimit": 0}),
        ({"backoffLimit": 6, "backoffLimitPerIndex": 1}, {"backoffLimit": 6, "backoffLimitPerIndex": 1}),
        ({"backoffLimit": 2147483647, "backoffLimitPerIndex": 1}, {"backoffLimitPerIndex": 1}),
        ({"podReplacementPolicy": "TerminatingOrFailed"}, {}),
        (failure_policy(), failure_policy(status="True")),
        (failure_policy(status="False"), failure_policy(status="False")),
        ({"podReplacementPolicy": "Failed"}, {"podReplacementPolicy": "Failed"}),
        ({"podReplacementPolicy": "Failed", "podFailurePolicy": {"a": 1}}, {"podFailurePolicy": {"a": 1}}),
        ({"suspend": False, "completionMode": "NonIndexed", "manualSelector": False}, {}),
        ({"suspend": True, "completionMode": "Indexed"}, {"suspend": True, "completionMode": "Indexed"}),
    ],
)
def test_defaults_of_a_job(spec: Object, form: Object) -> None:
    assert normal_form(obj("Job", spec)) == obj("Job", form)
    assert normal_form(obj("CronJob", {"jobTemplate": {"spec": spec}})) == obj(
        "CronJob", {"jobTemplate": {"spec": form}}
    )


# --- values that are the API server's defaults


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (
            "CronJob",
            {
                "concurrencyPolicy": "Allow",
                "suspend": False,
                "successfulJobsHistoryLimit": 3,
                "failedJobsHistoryLimit": 1,
            },
        ),
        (
            "Deployment",
            {
                "replicas": 1,
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
                },
            },
        ),
        ("Service", {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"}),
    ],
)
def test_defaults_of_an_object(kind: str, spec: Object) -> None:
    assert normal_form(obj(kind, spec)) == obj(kind, {})


@pytest.mark.parametrize(
    ("kind", "spec"),
    [
        (
            "CronJob",
            {"concurrencyPolicy": "Forbid", "successfulJobsHistoryLimit": 1, "failedJobsHistoryLimit": 3},
        ),
        (
            "CronJob",
            {"suspend": True, "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Always"}}}}},
        ),
        ("Deployment", {"replicas": 0, "strategy": {"type": "Recreate"}, "paused": True}),
        ("Deployment", {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}),
        ("Service", {"type": "NodePort", "sessionAffinity": "ClientIP", "internalTrafficPolicy": "Local"}),
    ],
)
def test_a_value_that_differs_from_the_default_stays(kind: str, spec: Object) -> None:
    assert normal_form(obj(kind, spec)) == obj(kind, spec)


def test_defaults_of_a_pod() -> None:
    pod = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "nodeSelector": {},
        "hostNetwork": False,
        "tolerations": [],
        "affinity": None,
    }
    assert pod_form(pod) == {}
    other = {
        "terminationGracePeriodSeconds": 0,
        "dnsPolicy": "Default",
        "automountServiceAccountToken": False,
    }
    assert pod_form(other) == other


def test_both_names_of_the_service_account_are_one() -> None:
    both = {"serviceAccount": "a", "serviceAccountName": "a"}
    assert pod_form(both) == pod_form({"serviceAccount": "a"}) == {"serviceAccountName": "a"}


def test_defaults_of_a_container() -> None:
    probe = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
    http = {"path": "/", "port": 80, "scheme": "HTTP"}
    form = container_form(
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        resources={},
        securityContext={},
        ports=[{"containerPort": 80, "protocol": "TCP"}, {"containerPort": 53, "protocol": "UDP"}],
        env=[
            {"name": "A", "value": ""},
            {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "a"}}},
        ],
        livenessProbe={**probe, "httpGet": http},
        startupProbe={**probe, "failureThreshold": 30, "exec": {"command": ["true"]}},
        lifecycle={"preStop": {"httpGet": http}},
    )
    assert form == {
        "name": "x",
        "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
        "env": [{"name": "A"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}],
        "livenessProbe": {"httpGet": {"port": 80}},
        "startupProbe": {"failureThreshold": 30, "exec": {"command": ["true"]}},
        "lifecycle": {"preStop": {"httpGet": {"port": 80}}},
    }


@pytest.mark.parametrize(
    ("image", "default"),
    [
        ("busybox", "Always"),
        ("busybox:latest", "Always"),
        ("busybox:1", "IfNotPresent"),
        ("registry:5000/busybox", "Always"),
        ("registry:5000/busybox:1", "IfNotPresent"),
        ("busybox@sha256:0", "IfNotPresent"),
        ("busybox:latest@sha256:0", "Always"),
    ],
)
def test_the_pull_policy_depends_on_the_image(image: str, default: str) -> None:
    assert container_form(image=image, imagePullPolicy=default) == {"name": "x", "image": image}
    other = ({"Always", "IfNotPresent"} - {default}).pop()
    assert container_form(image=image, imagePullPolicy=other)["imagePullPolicy"] == other
    assert container_form(image=image, imagePullPolicy="Never")["imagePullPolicy"] == "Never"


def test_defaults_of_volumes() -> None:
    assert volume_form() == {"name": "x", "emptyDir": {}}
    assert volume_form(hostPath={"path": "/a", "type": ""}) == {"name": "x", "hostPath": {"path": "/a"}}
    for source in ("configMap", "secret", "projected", "downwardAPI"):
        assert volume_form(**{source: {"defaultMode": 420}}) == {"name": "x", source: {}}
        assert volume_form(**{source: {"defaultMode": 256}}) == {"name": "x", source: {"defaultMode": 256}}


def test_empty_maps_that_say_something_stay() -> None:
    affinity = {"podAffinity": {"terms": [{"namespaceSelector": {}, "labelSelector": {}}]}}
    assert pod_form({"affinity": affinity}) == {"affinity": affinity}


def test_amounts_of_resources_keep_three_decimals() -> None:
    resources = {"limits": {"cpu": "1.0001"}, "requests": {"cpu": "0.5"}}
    form = {"limits": {"cpu": "1001m"}, "requests": {"cpu": "500m"}}
    assert container_form(resources=resources)["resources"] == form


def test_a_port_of_the_host_is_a_default_in_the_network_of_the_host_alone() -> None:
    containers = [{"name": "x", "ports": [{"containerPort": 80, "hostPort": 80}]}]
    assert pod_form({"containers": containers}) == {"containers": containers}
    in_host = pod_form({"containers": containers, "hostNetwork": True})
    assert in_host["containers"][0]["ports"] == [{"containerPort": 80}]


def test_quantities_of_volumes() -> None:
    assert volume_form(emptyDir={"sizeLimit": "1024Mi"}) == {"name": "x", "emptyDir": {"sizeLimit": "1Gi"}}
    item = {"path": "a", "resourceFieldRef": {"resource": "limits.cpu", "divisor": "0"}}
    other = {"path": "a", "resourceFieldRef": {"resource": "limits.cpu", "divisor": "1000m"}}
    form = volume_form(projected={"sources": [{"downwardAPI": {"items": [item, other]}}]})
    assert form["projected"]["sources"][0]["downwardAPI"]["items"] == [
        {"path": "a", "resourceFieldRef": {"resource": "limits.cpu"}},
        {"path": "a", "resourceFieldRef": {"resource": "limits.cpu", "divisor": "1"}},
    ]


# --- all kinds


@pytest.mark.parametrize("sample", RICH, ids=lambda sample: sample["kind"])
def test_a_normal_form_is_its_own_normal_form(sample: Object) -> None:
    before = deep_copy(sample)
    form = normal_form(sample)
    assert normal_form(form) == form
    form["metadata"]["labels"].clear()
    form["spec"].clear()
    assert sample == before


def test_fields_that_we_do_not_know_stay() -> None:
    unknown = {"spec": {"template": {"spec": {"new": {"nested": {}, "off": False, "none": ""}}}}}
    form = normal_form(apply_merge_patch(rich_deployment(), unknown))
    assert form["spec"]["template"]["spec"]["new"] == {"nested": {}, "off": False, "none": ""}


NAMES = st.sampled_from(
    [
        "spec",
        "metadata",
        "labels",
        "template",
        "jobTemplate",
        "containers",
        "volumes",
        "env",
        "ports",
        "resources",
        "limits",
        "image",
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=12,
)


# How long it takes to make such objects depends on the machine.
@settings(max_examples=examples(100, 200), deadline=None)
@given(st.sampled_from([*API_VERSIONS, "Other"]), st.dictionaries(NAMES, ANYTHING))
def test_an_object_of_any_shape_has_a_normal_form(kind: str, fields: Object) -> None:
    form = normal_form({"kind": kind, **fields})
    assert normal_form(form) == form
