# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have changed in a runtime object is found, by field and by field manager."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.drift import (
    HIDDEN,
    DriftedField,
    find_drift,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    STORE,
    runtime_objects,
)

SECRET = "hunter2"
FIELDS = {"image": "web:1", "command": "serve", "replicas": 2, "env": {"A": SECRET}, "port": 80}
POD = ("spec", "template", "spec")


def desired_object() -> Object:
    return runtime_objects(core_job(JobKey("shop", "web"), JobType.CONTINUOUS, FIELDS))[0]


def live(**fields: Any) -> Object:
    obj = deep_copy(desired_object()) | fields
    obj["metadata"] |= {"uid": "u", "resourceVersion": "7", "generation": 2}
    return obj


def entry(manager: str, fields: Object, time: str = "2026-11-25T10:00:00Z", **more: Any) -> Object:
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": fields, **more}


def container_of(obj: Object) -> Object:
    container: Object = obj["spec"]["template"]["spec"]["containers"][0]
    return container


def only(drift: list[DriftedField]) -> DriftedField:
    [one] = drift
    return one


def test_an_object_as_the_server_returns_it_has_no_drift() -> None:
    obj = live(status={"replicas": 1})
    obj["spec"]["progressDeadlineSeconds"] = 600
    obj["metadata"]["annotations"] = {"deployment.kubernetes.io/revision": "4"}
    assert not find_drift(desired_object(), obj)


def test_drift_names_the_field_and_its_manager() -> None:
    obj = live()
    obj["spec"]["replicas"] = 5
    fields = {"f:spec": {"f:replicas": {}}}
    obj["metadata"]["managedFields"] = [
        entry(STORE, {"f:spec": {"f:template": {}}}),
        entry("kubectl", fields, subresource="scale"),
        entry("kube-controller-manager", {"f:status": {}}, subresource="status"),
    ]
    drift = only(find_drift(desired_object(), obj))
    assert (drift.field, drift.expected, drift.actual) == ("spec.replicas", 2, 5)
    assert (drift.manager, drift.time) == ("kubectl (scale)", "2026-11-25T10:00:00Z")


@pytest.mark.parametrize(
    ("manager", "desired_count", "running_count", "drifts"),
    [
        ("kube-controller-manager", 2, 5, False),
        ("keda-operator", 2, 5, False),
        ("kubectl", 2, 5, True),
        # An autoscaler never scales to 0 or from 0.
        ("kube-controller-manager", 2, 0, True),
        ("kube-controller-manager", 0, 5, True),
    ],
)
def test_the_number_of_pods_is_an_autoscalers(
    manager: str, desired_count: int, running_count: int, drifts: bool
) -> None:
    expected, obj = desired_object(), live()
    expected["spec"]["replicas"], obj["spec"]["replicas"] = desired_count, running_count
    fields = {"f:spec": {"f:replicas": {}}}
    obj["metadata"]["managedFields"] = [entry(manager, fields, subresource="scale")]
    assert bool(find_drift(expected, obj)) is drifts
    # An autoscaler writes the scale, not the object.
    obj["metadata"]["managedFields"] = [entry(manager, fields)]
    assert find_drift(expected, obj)


def test_a_field_of_a_container_has_its_name() -> None:
    obj = live()
    container_of(obj)["image"] = "web:2"
    item = {'k:{"name":"job"}': {".": {}, "f:image": {}}}
    fields = {"f:spec": {"f:template": {"f:spec": {"f:containers": item}}}}
    obj["metadata"]["managedFields"] = [entry(STORE, fields), entry("kubectl-edit", fields)]
    drift = only(find_drift(desired_object(), obj))
    assert drift.field == "spec.template.spec.containers[job].image"
    assert drift.manager == "kubectl-edit"


def test_the_newest_of_several_owners_counts() -> None:
    obj = live()
    obj["spec"]["replicas"] = 5
    fields = {"f:spec": {"f:replicas": {}}}
    obj["metadata"]["managedFields"] = [
        entry("b", fields, "2026-11-25T11:00:00Z"),
        entry("a", fields, "2026-11-25T10:00:00Z"),
        entry(STORE, fields, "2026-11-25T12:00:00Z"),
    ]
    assert only(find_drift(desired_object(), obj)).manager == "b"


def test_a_field_that_was_removed_has_no_manager() -> None:
    obj = live()
    del container_of(obj)["resources"]["limits"]["memory"]
    obj["metadata"]["managedFields"] = [entry("kubectl", {"f:spec": {"f:replicas": {}}})]
    drift = only(find_drift(desired_object(), obj))
    assert (drift.field, drift.actual, drift.manager) == (
        "spec.template.spec.containers[job].resources.limits.memory",
        None,
        "",
    )


def test_a_field_that_was_added_is_drift_in_the_spec_alone() -> None:
    obj = live()
    obj["metadata"]["labels"]["team"] = "a"
    obj["metadata"]["annotations"] = {"note": "x"}
    obj["metadata"]["finalizers"] = ["a/b"]
    assert not find_drift(desired_object(), obj)
    obj["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    assert only(find_drift(desired_object(), obj)).field == "spec.template.spec.nodeSelector"


def test_a_label_of_ours_that_was_changed_is_drift() -> None:
    obj = live()
    obj["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "me"
    drift = only(find_drift(desired_object(), obj))
    assert drift.field == 'metadata.labels["app.kubernetes.io/managed-by"]'


@pytest.mark.parametrize(("value", "is_drift"), [("x", False), ("$(b)", True)])
def test_variables_in_another_order_are_drift_if_one_uses_another(value: str, is_drift: bool) -> None:
    expected, obj = desired_object(), live()
    for one, names in ((expected, "ab"), (obj, "ba")):
        container_of(one)["env"] = [{"name": name, "value": value} for name in names]
    fields = [one.field for one in find_drift(expected, obj)]
    assert fields == (["spec.template.spec.containers[job].env"] if is_drift else [])


def test_a_word_of_a_command_has_its_place() -> None:
    obj = live()
    container_of(obj)["command"][3] = "other"
    drift = only(find_drift(desired_object(), obj))
    assert (drift.field, drift.actual) == ("spec.template.spec.containers[job].command[3]", "other")


def test_true_is_no_number() -> None:
    expected, obj = desired_object(), live()
    expected["spec"]["paused"], obj["spec"]["paused"] = True, 1
    assert only(find_drift(expected, obj)).field == "spec.paused"


@pytest.mark.parametrize("how", ["changed", "variable added", "container added", "all removed", "all added"])
def test_no_value_of_a_variable_is_shown(how: str) -> None:
    expected, obj = desired_object(), live()
    env = container_of(obj)["env"]
    if how == "changed":
        env[0]["value"] = SECRET + "!"
    elif how == "variable added":
        env.append({"name": "B", "value": SECRET})
    elif how == "container added":
        container = {"name": "b", "image": "b", "env": [{"name": "B", "value": SECRET}]}
        obj["spec"]["template"]["spec"]["containers"].append(container)
    elif how == "all removed":
        del container_of(obj)["env"]
    else:
        del container_of(expected)["env"]
    drift = only(find_drift(expected, obj))
    text = json.dumps([drift.expected, drift.actual])
    assert SECRET not in text
    assert HIDDEN in text
