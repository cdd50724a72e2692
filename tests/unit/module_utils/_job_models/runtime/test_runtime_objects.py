# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job becomes the Kubernetes objects that run it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    JOB_LABEL,
    KINDS_OF,
    hidden_fields,
    objects_of_fields,
    runtime_objects,
)

KEY = JobKey("shop", "report")
LABELS = {JOB_LABEL: "report"}


def objects(job_type: JobType, **fields: Any) -> list[Object]:
    return runtime_objects(core_job(KEY, job_type, {"image": "busybox", **fields}))


def main(job_type: JobType, **fields: Any) -> Object:
    """The object that runs the pods; there must be no other."""
    [obj] = objects(job_type, **fields)
    return obj


def pod(obj: Object) -> Object:
    spec = obj["spec"]
    pod_spec: Object = spec.get("jobTemplate", {"spec": spec})["spec"]["template"]["spec"]
    return pod_spec


def container(job_type: JobType = JobType.ONE_OFF, **fields: Any) -> Object:
    [only] = pod(objects(job_type, **fields)[0])["containers"]
    assert only["name"] == "job"
    result: Object = only
    return result


@pytest.mark.parametrize("job_type", JobType)
def test_the_main_object_comes_first_and_carries_the_labels(job_type: JobType) -> None:
    obj = objects(job_type, schedule="@daily", port=80)[0]
    assert (obj["apiVersion"], obj["kind"]) == KINDS_OF[job_type][0]
    assert obj["metadata"] == {
        "name": "report",
        "namespace": "shop",
        "labels": {**LABELS, "app.kubernetes.io/managed-by": "kyma-lifecycle-job-store"},
    }


def test_a_one_off_job() -> None:
    obj = main(JobType.ONE_OFF, retry=2, timeout=60)
    assert obj["spec"].keys() == {"backoffLimit", "activeDeadlineSeconds", "template"}
    assert (obj["spec"]["backoffLimit"], obj["spec"]["activeDeadlineSeconds"]) == (2, 60)
    assert obj["spec"]["template"]["metadata"] == {"labels": LABELS}
    assert pod(obj)["restartPolicy"] == "Never"


def test_a_scheduled_job() -> None:
    spec = main(JobType.SCHEDULED, schedule="5 4 * * *", timezone="Europe/Berlin", retry=1, timeout=9)["spec"]
    template = spec.pop("jobTemplate")
    assert spec == {
        "schedule": "5 4 * * *",
        "timeZone": "Europe/Berlin",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 30,
    }
    assert template["metadata"] == {"labels": LABELS}
    assert (template["spec"]["backoffLimit"], template["spec"]["activeDeadlineSeconds"]) == (1, 9)
    assert template["spec"]["template"]["spec"]["restartPolicy"] == "Never"


def test_a_macro_becomes_a_schedule_of_five_fields() -> None:
    assert len(main(JobType.SCHEDULED, schedule="@daily")["spec"]["schedule"].split()) == 5


def test_a_continuous_job_with_a_port_has_a_service() -> None:
    deployment, service = objects(JobType.CONTINUOUS, replicas=3, port=53, port_protocol="UDP")
    assert deployment["spec"]["replicas"] == 3
    assert deployment["spec"]["selector"] == {"matchLabels": LABELS}
    assert deployment["spec"]["strategy"] == {"type": "RollingUpdate"}
    assert deployment["spec"]["template"]["metadata"] == {"labels": LABELS}
    assert pod(deployment)["containers"][0]["ports"] == [{"containerPort": 53, "protocol": "UDP"}]
    assert (service["apiVersion"], service["kind"]) == ("v1", "Service")
    assert service["metadata"] == deployment["metadata"]
    assert service["spec"] == {
        "selector": LABELS,
        "ports": [{"port": 53, "targetPort": 53, "protocol": "UDP"}],
    }


def test_a_suspended_job() -> None:
    assert main(JobType.ONE_OFF, suspend=True)["spec"]["suspend"] is True
    scheduled = main(JobType.SCHEDULED, suspend=True)["spec"]
    assert scheduled["suspend"] is True
    assert "suspend" not in scheduled["jobTemplate"]["spec"]
    assert main(JobType.CONTINUOUS, suspend=True, replicas=3)["spec"]["replicas"] == 0


def test_a_container() -> None:
    assert container(
        command="run --all",
        logs={"stdout": "/data/out"},
        env={"B": "2", "A": "1"},
        memory="1Gi",
        cpu="2",
        mount={"claim": "files", "path": "/srv"},
    ) == {
        "name": "job",
        "image": "busybox",
        "command": ["/bin/sh", "-c", "--", "exec 1>>/data/out;run --all"],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "2", "memory": "1Gi"}},
        "volumeMounts": [{"name": "data", "mountPath": "/srv"}],
    }
    mounted = pod(main(JobType.ONE_OFF, mount={"claim": "files"}))
    assert mounted["volumes"] == [{"name": "data", "persistentVolumeClaim": {"claimName": "files"}}]


def test_a_container_with_nothing_but_an_image() -> None:
    assert container(memory="", cpu="") == {"name": "job", "image": "busybox"}
    assert container(memory="", cpu="1")["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("check", "action"),
    [
        ({"script": "test -e /ok"}, {"exec": {"command": ["/bin/sh", "-c", "test -e /ok"]}}),
        ({"script": "-e"}, {"exec": {"command": ["/bin/sh", "-c", "--", "-e"]}}),
        ({"path": "/ok"}, {"httpGet": {"path": "/ok", "port": 80}}),
    ],
)
def test_a_health_check_is_used_while_it_starts_and_while_it_runs(check: Any, action: Object) -> None:
    made = container(JobType.CONTINUOUS, health_check=check, port=80)
    for probe in (made["startupProbe"], made["livenessProbe"]):
        assert action.items() <= probe.items()
    assert made["startupProbe"]["failureThreshold"] > made["livenessProbe"]["failureThreshold"]
    assert "readinessProbe" not in made


def test_extra_is_applied_last_to_the_object_of_its_kind() -> None:
    service_patch = {"spec": {"type": "NodePort", "selector": None}}
    extra = {"Deployment": {"spec": {"replicas": None, "paused": True}}, "Service": service_patch}
    deployment, service = objects(JobType.CONTINUOUS, port=80, extra=extra)
    assert "replicas" not in deployment["spec"]
    assert deployment["spec"]["paused"] is True
    assert deployment["spec"]["strategy"] == {"type": "RollingUpdate"}
    assert service["spec"].keys() == {"type", "ports"}
    job = core_job(KEY, JobType.CONTINUOUS, {"image": "busybox", "port": 80, "extra": extra})
    assert objects_of_fields(job) == objects(JobType.CONTINUOUS, port=80)


def test_extra_alone_can_describe_a_service() -> None:
    _deployment, service = objects(JobType.CONTINUOUS, extra={"Service": {"spec": {"clusterIP": "None"}}})
    assert service == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "report", "namespace": "shop"},
        "spec": {"clusterIP": "None"},
    }


@pytest.mark.parametrize("extra", [{"Deployment": {"a": 1}}, {"Job": None}, {"Job": {}}, {"Job": "x"}])
def test_extra_for_other_kinds_or_of_another_shape_changes_nothing(extra: Any) -> None:
    assert objects(JobType.ONE_OFF, extra=extra) == objects(JobType.ONE_OFF)


def test_an_empty_extra_makes_no_service() -> None:
    assert len(objects(JobType.CONTINUOUS, extra={"Service": {}})) == 1


def test_objects_share_nothing_with_each_other_and_with_the_job() -> None:
    job = core_job(
        KEY, JobType.CONTINUOUS, {"image": "x", "port": 80, "extra": {"Service": {"a": {"b": [1]}}}}
    )
    deployment, service = runtime_objects(job)
    deployment["metadata"]["labels"]["x"] = service["a"]["b"][0] = "changed"
    deployment["spec"]["selector"]["matchLabels"].clear()
    limits = deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    limits.clear()
    assert deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert deployment["spec"]["template"]["metadata"]["labels"] == LABELS
    assert runtime_objects(job)[1]["a"] == {"b": [1]}


def test_a_field_is_hidden_if_extra_sets_the_same() -> None:
    def hidden(extra: Object, **fields: Any) -> list[str]:
        return hidden_fields(core_job(KEY, JobType.ONE_OFF, {"image": "busybox", **fields, "extra": extra}))

    def of_container(**fields: Any) -> Object:
        return {"Job": {"spec": {"template": {"spec": {"containers": {"job": fields}}}}}}

    command = of_container(command=["/bin/sh", "-c", "true"])
    assert hidden(command, command="false", retry=2) == ["command"]
    assert hidden(command, retry=2) == []
    assert hidden(of_container(tty=True), command="false") == []
    assert hidden(of_container(image="nginx")) == ["image"]
    # These say the same as the defaults, or nothing about the objects.
    assert hidden(command, retry=0, emails="all") == []
    assert hidden({}, command="false") == []
