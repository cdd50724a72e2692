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
    runtime_objects,
)

KEY = JobKey("shop", "report")
LABELS = {JOB_LABEL: "report"}
FULL_PROBE = {"periodSeconds": 1, "timeoutSeconds": 1, "failureThreshold": 1}


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


def test_mappings_are_merged_into_the_objects_of_the_fields() -> None:
    deployment, service = objects(
        JobType.CONTINUOUS,
        port=80,
        workload={"metadata": {"annotations": {"a": "b"}}, "spec": {"paused": True, "strategy": None}},
        pod={"metadata": {"labels": {"team": "a"}}, "spec": {"tolerations": [{"operator": "Exists"}]}},
        container={"tty": True, "ports": None},
        service={"spec": {"type": "NodePort", "selector": {JOB_LABEL: None, "team": "a"}}},
    )
    assert deployment["metadata"]["annotations"] == {"a": "b"}
    assert deployment["spec"].keys() == {"replicas", "selector", "template", "paused"}
    assert deployment["spec"]["template"]["metadata"]["labels"] == {**LABELS, "team": "a"}
    assert pod(deployment)["tolerations"] == [{"operator": "Exists"}]
    [only] = pod(deployment)["containers"]
    assert (only["tty"], "ports" in only) == (True, False)
    assert service["spec"]["selector"] == {"team": "a"}
    assert service["spec"]["ports"] == [{"port": 80, "targetPort": 80, "protocol": "TCP"}]


def test_mappings_of_a_scheduled_job_and_of_a_one_off_job() -> None:
    labels = {"metadata": {"labels": {"part": "job"}}, "spec": {"ttlSecondsAfterFinished": 5}}
    cron_job = main(
        JobType.SCHEDULED, schedule="@daily", workload={"spec": {"concurrencyPolicy": None}}, job=labels
    )
    assert "concurrencyPolicy" not in cron_job["spec"]
    template = cron_job["spec"]["jobTemplate"]
    assert (template["metadata"]["labels"], template["spec"]["ttlSecondsAfterFinished"]) == (
        {**LABELS, "part": "job"},
        5,
    )
    one_off = main(JobType.ONE_OFF, job=labels)
    assert (one_off["metadata"]["labels"]["part"], one_off["spec"]["ttlSecondsAfterFinished"]) == ("job", 5)


@pytest.mark.parametrize(
    "others",
    [
        [{"name": "proxy", "image": "proxy:1"}],
        {"proxy": {"image": "proxy:1"}},
    ],
)
def test_other_containers_merge_by_name_as_a_list_or_as_a_mapping(others: Any) -> None:
    own, proxy = pod(main(JobType.ONE_OFF, pod={"spec": {"containers": others}}))["containers"]
    assert (own["name"], own["image"], proxy) == ("job", "busybox", {"name": "proxy", "image": "proxy:1"})


def test_a_mapping_alone_can_describe_a_service() -> None:
    deployment, service = objects(JobType.CONTINUOUS, service={"spec": {"clusterIP": "None"}})
    assert service == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": deployment["metadata"],
        "spec": {"clusterIP": "None", "selector": LABELS, "ports": []},
    }


def test_mappings_for_other_types_change_nothing() -> None:
    others = {"workload": {"spec": {"a": 1}}, "service": {"spec": {"a": 1}}}
    assert objects(JobType.ONE_OFF, **others) == objects(JobType.ONE_OFF)
    assert len(objects(JobType.CONTINUOUS, service={})) == 1


def test_objects_share_nothing_with_each_other_and_with_the_job() -> None:
    job = core_job(KEY, JobType.CONTINUOUS, {"image": "x", "port": 80, "service": {"a": {"b": [1]}}})
    deployment, service = runtime_objects(job)
    deployment["metadata"]["labels"]["x"] = service["a"]["b"][0] = "changed"
    deployment["spec"]["selector"]["matchLabels"].clear()
    limits = deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]
    limits.clear()
    assert deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert deployment["spec"]["template"]["metadata"]["labels"] == LABELS
    assert service["spec"]["selector"] == LABELS
    assert runtime_objects(job)[1]["a"] == {"b": [1]}


def test_a_field_is_hidden_if_a_mapping_sets_the_same() -> None:
    def hidden(**fields: Any) -> list[str]:
        return hidden_fields(core_job(KEY, JobType.CONTINUOUS, {"image": "busybox", **fields}))

    probes = {name: {"exec": {"command": ["a"]}, **FULL_PROBE} for name in ("startupProbe", "livenessProbe")}
    check = {"command": ["b"]}
    assert hidden(health_check=check, container=probes) == ["health_check"]
    assert hidden(health_check=check, container={"livenessProbe": probes["livenessProbe"]}) == []
    assert hidden(health_check=check) == []
    # These say the same as the defaults, or nothing about the objects.
    assert hidden(replicas=1, emails="all", container=probes) == []
