# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs are recognized in runtime objects, and nothing of these is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    JobKey,
    JobType,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import (
    core_job,
    given_fields,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_validation import job_problems
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.recognition import (
    UnreadableJob,
    job_from_runtime,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.probe_commands import SHELL
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    hidden_fields,
    runtime_objects,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples
from tests.support.manifests import manifests_of
from tests.support.runtime_samples import rich_cron_job, rich_deployment, rich_job, rich_service

KEY = JobKey("shop", "report")


def container(**fields: Any) -> Object:
    return {"name": "web", "image": "nginx:1", **fields}


def deployment(*containers: Object, **pod: Any) -> Object:
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "report", "namespace": "shop", "labels": {"team": "a"}},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [*containers], **pod}},
        },
    }


def service(*ports: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "report", "namespace": "shop"},
        "spec": {"selector": {"app": "web"}, "ports": [*ports]},
    }


def recognized(main: Object, service: Object | None = None) -> CoreJob:
    """The job of some objects, after seeing that it means them and that it can be stored and loaded."""
    before = deep_copy([main, service])
    job = job_from_runtime(main, service)
    assert [main, service] == before
    live = [normal_form(obj) for obj in (main, service) if obj]
    assert [normal_form(obj) for obj in runtime_objects(job)] == live
    assert core_job(job.key, job.type, given_fields(job)) == job
    assert not job_problems(job.key.name, job.type, given_fields(job))
    return job


JOBS: dict[JobType, dict[str, Any]] = {
    JobType.ONE_OFF: {"retry": 2, "timeout": 60, "suspend": True},
    JobType.SCHEDULED: {"schedule": "5 4 * * *", "timezone": "Europe/Berlin", "retry": 0},
    JobType.CONTINUOUS: {
        "replicas": 2,
        "port": 8080,
        "port_protocol": "TCP",
        "health_check": {"path": "/healthz"},
    },
}


@pytest.mark.parametrize("type_", JobType)
def test_our_own_objects_are_the_job_again(type_: JobType) -> None:
    fields = {
        "image": "busybox:1",
        "command": "./run; date | cat",
        "logs": {"stdout": "/data/out", "stderr": "/data/err"},
        "memory": "1Gi",
        "cpu": "250m",
        "env": {"A": "1", "B": ""},
        "mount": {"claim": "disk", "path": "/data"},
        **JOBS[type_],
    }
    objects = runtime_objects(core_job(KEY, type_, fields))
    # TCP can't be told from the default of Kubernetes.
    fields.pop("port_protocol", None)
    assert given_fields(recognized(*objects)) == fields


def test_fields_of_a_deployment_by_hand_can_be_changed() -> None:
    job = recognized(deployment(container(workingDir="/srv", args=["-v"])))
    assert (job.image, job.replicas, job.memory, job.cpu) == ("nginx:1", 3, "", "")
    assert "image" in job.given
    changed = core_job(KEY, job.type, {**given_fields(job), "image": "nginx:2", "replicas": 1})
    spec = runtime_objects(changed)[0]["spec"]
    assert spec["replicas"] == 1
    assert spec["template"]["spec"]["containers"] == [
        container(image="nginx:2", workingDir="/srv", args=["-v"])
    ]
    assert spec["selector"] == {"matchLabels": {"app": "web"}}


def test_a_command_of_another_form_is_its_words() -> None:
    job = recognized(deployment(container(command=["nginx", "-g", "daemon off;"])))
    assert given_fields(job)["command"] == ["nginx", "-g", "daemon off;"]


def test_a_shell_line_with_its_redirections_is_one_command() -> None:
    line = "./run 1>>out 2>>err"
    job = recognized(deployment(container(command=[*SHELL, line])))
    assert (job.command, job.logs.stdout) == (line, "")


@pytest.mark.parametrize("names", [("web", "proxy"), ("job", "proxy"), ("proxy", "job"), ("a", "b")])
def test_two_containers_a_volume_and_an_affinity(names: tuple[str, str]) -> None:
    containers = [container(name=name, env=[{"name": "A", "value": name}]) for name in names]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
    recognized(deployment(*containers, volumes=[{"name": "tmp", "emptyDir": {}}], affinity=affinity))


def test_the_first_container_is_the_job_and_others_are_its_sidecars() -> None:
    job = recognized(deployment(container(name="proxy"), container(name="job")))
    assert job.container["name"] == "proxy"
    assert [one["name"] for one in job.pod["spec"]["containers"]] == ["job"]


@pytest.mark.parametrize("limit", [{}, {"backoffLimit": 2}, {"backoffLimit": 6}])
def test_a_limit_of_retries_per_index(limit: Object) -> None:
    obj = rich_job("report")
    obj["metadata"]["namespace"] = "shop"
    for name in ("backoffLimit", "podFailurePolicy"):
        obj["spec"].pop(name, None)
    obj["spec"] |= {"backoffLimitPerIndex": 1, "completionMode": "Indexed", "completions": 3, **limit}
    assert not hidden_fields(recognized(obj))


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ([("A", "1"), ("B", "2")], {"A": "1", "B": "2"}),
        # A variable may use those before it, and those after it mean nothing to it.
        ([("B", "2"), ("A", "$(B)")], {"A": "$(B)", "B": "2"}),
        ([("A", "$(B)"), ("B", "2")], ["A", "B"]),
        ([("D", "$(B)"), ("C", "3"), ("B", "$(A)"), ("A", "$(HOME)")], ["C", "D", "B", "A"]),
        ([("C", "3"), ("A", "$(A)"), ("B", "$(A)")], {"A": "$(A)", "B": "$(A)", "C": "3"}),
        ([("A", "$(B)"), ("B", "$(A)")], {"A": "$(B)", "B": "$(A)"}),
        ([("B", "$(A)"), ("A", "$(B)")], ["B", "A"]),
        ([("A", "1"), ("A", "2")], ["A", "A"]),
        # Kubernetes takes it, and no field has such a name.
        ([("not a word", "1")], ["not a word"]),
        # Else their order means nothing.
        ([("B", "2"), ("A", "1")], {"A": "1", "B": "2"}),
    ],
)
def test_variables_stay_in_an_order_that_means_something(env: list[tuple[str, str]], expected: Any) -> None:
    variables = [{"name": name, "value": value} for name, value in env]
    job = recognized(deployment(container(env=variables)))
    env_field = given_fields(job)["env"]
    assert ([one["name"] for one in env_field] if isinstance(env_field, list) else env_field) == expected


def test_variables_may_come_from_elsewhere() -> None:
    secret = {"name": "Z", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}
    job = recognized(deployment(container(env=[{"name": "A", "value": "1"}, secret])))
    assert job.env == {"A": "1", "Z": {"secretKeyRef": {"name": "a", "key": "b"}}}


def test_a_service_with_one_port_is_the_port() -> None:
    ports = {"ports": [{"containerPort": 8080, "protocol": "TCP"}]}
    job = recognized(deployment(container(**ports)), service({"port": 8080, "targetPort": 8080}))
    assert job.port == 8080


def test_a_service_may_find_pods_by_fewer_labels_than_their_deployment() -> None:
    main, beside = deployment(container()), service({"port": 80})
    more = {"app": "web", "release": "a"}
    main["spec"]["selector"]["matchLabels"] = main["spec"]["template"]["metadata"]["labels"] = more
    job = recognized(main, beside)
    assert job.workload["spec"]["selector"]["matchLabels"] == more
    assert job.service == {"spec": {"selector": {"release": None}}}


def test_a_volume_may_be_mounted_more_than_once() -> None:
    mounts = [
        {"name": "files", "mountPath": "/data"},
        {"name": "files", "mountPath": "/etc/web.conf", "subPath": "web.conf", "readOnly": True},
        {"name": "tmp", "mountPath": "/tmp"},
    ]
    volumes = [
        {"name": "files", "persistentVolumeClaim": {"claimName": "web"}},
        {"name": "tmp", "emptyDir": {}},
    ]
    job = recognized(deployment(container(volumeMounts=mounts), volumes=volumes))
    assert given_fields(job)["volumes"] == [
        {"name": "files", "path": "/data", "claim": "web"},
        {"name": "files", "path": "/etc/web.conf", "sub_path": "web.conf", "read_only": True},
        {"name": "tmp", "path": "/tmp", "empty_dir": ""},
    ]


def test_a_mount_may_have_parts_that_no_entry_has() -> None:
    mounts = [
        {"name": "files", "mountPath": "/data", "mountPropagation": "HostToContainer"},
        {"name": "files", "mountPath": "C:\\data"},
        {"name": "elsewhere", "mountPath": "/x", "subPathExpr": "$(A)"},
    ]
    volumes = [{"name": "files", "persistentVolumeClaim": {"claimName": "web"}}]
    job = recognized(deployment(container(volumeMounts=mounts), volumes=volumes))
    files, windows, elsewhere = given_fields(job)["volumes"]
    assert files["mount"] == {"mountPropagation": "HostToContainer"}
    assert windows == {"name": "files", "mount": {"mountPath": "C:\\data"}}
    assert elsewhere == {"name": "elsewhere", "path": "/x", "mount": {"subPathExpr": "$(A)"}}


@pytest.mark.parametrize("port", [80, 81])
def test_a_health_check_by_tcp_is_one_of_the_port_of_the_service(port: int) -> None:
    probe = {"tcpSocket": {"port": port}, "failureThreshold": 5}
    probed = container(startupProbe=probe, livenessProbe=probe, ports=[{"containerPort": 80}])
    job = recognized(deployment(probed), service({"port": 80}))
    assert given_fields(job).get("health_check") == ({"tcp": True} if port == 80 else None)
    assert job.container["livenessProbe"]["failureThreshold"] == 5


def test_a_service_with_two_ports_is_left_alone() -> None:
    ports = [{"name": "a", "port": 80, "targetPort": 8080}, {"name": "b", "port": 81}]
    assert "port" not in recognized(deployment(container()), service(*ports)).given


@pytest.mark.parametrize(
    ("schedule", "stored"),
    [
        ("5 4 * * *", "5 4 * * *"),
        # Kubernetes doesn't spread it.
        ("@daily", "0 0 * * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@every 90m", "@every 90m"),
    ],
)
def test_a_schedule_stays_as_it_runs(schedule: str, stored: str) -> None:
    cron_job = rich_cron_job("report")
    cron_job["spec"]["schedule"] = schedule
    cron_job["metadata"]["namespace"] = "shop"
    job = recognized(cron_job)
    assert job.schedule == stored
    assert "schedule" not in job.workload.get("spec", {})


@pytest.mark.parametrize("rich", [rich_job, rich_cron_job, rich_deployment])
def test_nothing_of_an_object_with_many_fields_is_lost(rich: Callable[[str], Object]) -> None:
    obj = rich("report")
    obj["metadata"]["namespace"] = "shop"
    recognized(obj)
    if obj["kind"] == "Deployment":
        beside = rich_service("report")
        beside["metadata"]["namespace"] = "shop"
        recognized(obj, beside)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "StatefulSet"}, "StatefulSet is no job"),
        ({"metadata": {"name": "a" * 53, "namespace": "shop"}}, "at most 52 characters"),
        ({"metadata": {"name": "a.b", "namespace": "shop"}}, "lower-case letters"),
        ({"spec": {"template": {"spec": {"containers": []}}}}, "no containers"),
        ({"spec": None}, "no containers"),
    ],
)
def test_an_object_that_can_be_no_job_is_refused(change: Object, problem: str) -> None:
    with pytest.raises(UnreadableJob, match=problem):
        job_from_runtime({**deployment(container()), **change})


TEXT = st.sampled_from(["a", "b", "$(A)", "x y", "1"])
VARIABLE = st.one_of(
    st.fixed_dictionaries({"value": TEXT}),
    st.just({"valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}),
)
CONTAINER = st.fixed_dictionaries(
    {"image": st.sampled_from(["a:1", "b"])},
    optional={
        "command": st.sampled_from(
            [["/bin/sh", "-c", "--", "exec 1>>o;date"], ["/bin/sh", "-c", "--", "a 1>b"], ["x"]]
        ),
        "args": st.lists(TEXT, max_size=2),
        "env": st.dictionaries(st.sampled_from("ABC"), VARIABLE, max_size=3).map(
            lambda env: [{"name": name, **value} for name, value in env.items()]
        ),
        "resources": st.fixed_dictionaries(
            {}, optional={"limits": st.just({"memory": "1Gi"}), "requests": st.just({"cpu": "1"})}
        ),
        "volumeMounts": st.just([{"name": "data", "mountPath": "/x"}]),
        "livenessProbe": st.sampled_from(
            [
                {"exec": {"command": command}, "periodSeconds": 7}
                for command in (
                    [*SHELL, "true"],
                    ["/bin/sh", "-c", "true"],
                    ["/bin/sh", "-c", "-x"],
                    [*SHELL, "-x"],
                    [*SHELL],
                    ["true"],
                )
            ]
        ),
        "ports": st.just([{"containerPort": 80}]),
    },
)
CONTAINERS = st.dictionaries(st.sampled_from(["job", "web", "c"]), CONTAINER, min_size=1).map(
    lambda named: [{"name": name, **one} for name, one in named.items()]
)
PODS = st.fixed_dictionaries(
    {"containers": CONTAINERS},
    optional={
        "restartPolicy": st.just("Always"),
        "volumes": st.sampled_from(
            [
                [{"name": "data", "persistentVolumeClaim": {"claimName": "a"}}],
                [{"name": "data", "emptyDir": {}}, {"name": "b", "emptyDir": {}}],
            ]
        ),
        "nodeSelector": st.just({"disk": "ssd"}),
    },
)


@settings(max_examples=examples(60), deadline=None)
@given(PODS, st.integers(0, 3), st.sampled_from([None, [80], [80, 81]]))
def test_any_deployment_is_rebuilt_as_it_was(pod: Object, replicas: int, ports: list[int] | None) -> None:
    obj = deployment(*pod["containers"], **{name: one for name, one in pod.items() if name != "containers"})
    obj["spec"]["replicas"] = replicas
    beside = service(*({"name": f"p{one}", "port": one} for one in ports)) if ports else None
    recognized(obj, beside)


def handmade() -> list[tuple[Object, Object | None]]:
    """The main objects of handmade.yaml, with their Services."""
    objects = yaml.safe_load((Path(__file__).parent / "handmade.yaml").read_text())
    for obj in objects:
        obj["metadata"]["namespace"] = "shop"
    services = {one["metadata"]["name"]: one for one in objects if one["kind"] == "Service"}
    return [(one, services.get(one["metadata"]["name"])) for one in objects if one["kind"] != "Service"]


def test_handmade_workloads_are_rebuilt_equal() -> None:
    assert len([recognized(*objects) for objects in handmade()]) > 10


def test_the_workloads_of_real_releases_are_rebuilt_equal(real_releases: Path) -> None:
    count = 0
    for release in sorted(one for one in real_releases.iterdir() if (one / "components.yaml").is_file()):
        for manifest in manifests_of(release, "evaluation"):
            obj = manifest.object
            if obj["kind"] in ("Deployment", "Job", "CronJob"):
                obj["metadata"].setdefault("namespace", manifest.namespace)
                recognized(obj)
                count += 1
    assert count > 50
