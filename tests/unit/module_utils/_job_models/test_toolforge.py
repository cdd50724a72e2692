# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of Toolforge are read from its labels and from its custom resources."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import given_fields
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.recognition import UnreadableJob
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.probe_commands import SHELL
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.toolforge import (
    lost_fields,
    toolforge_job,
    toolforge_resource,
)

PROBES = ("startupProbe", "livenessProbe")


def labels(version: str, component: str, **more: str) -> dict[str, str]:
    return {
        "toolforge": "tool",
        "app.kubernetes.io/managed-by": "toolforge-jobs-framework",
        "app.kubernetes.io/created-by": "wm-lol",
        "app.kubernetes.io/version": version,
        "app.kubernetes.io/component": component,
        "app.kubernetes.io/name": "report",
        **{f"jobs.toolforge.org/{name}": value for name, value in more.items()},
    }


def template(line: str, own: dict[str, str], **pod: Any) -> Object:
    container = {
        "name": "job",
        "image": "docker-registry.tools.wmflabs.org/toolforge-python311-sssd-base:latest",
        "workingDir": "/data/project/wm-lol",
        "command": ["/bin/sh", "-c", "--", line],
        "resources": {
            "limits": {"cpu": "500m", "memory": "512Mi"},
            "requests": {"cpu": "250m", "memory": "268435456"},
        },
    }
    return {"metadata": {"labels": own}, "spec": {"containers": [container], **pod}}


def cron_job(line: str, version: str, **more: str) -> Object:
    own = labels(version, "cronjobs", **more)
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {
            "name": "report",
            "namespace": "tool-wm-lol",
            "labels": own,
            "annotations": {"jobs.toolforge.org/cron-expression": "@daily"},
        },
        "spec": {
            "schedule": "17 3 * * *",
            "successfulJobsHistoryLimit": 0,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 30,
            "jobTemplate": {
                "spec": {
                    "template": template(line, own, restartPolicy="Never"),
                    "ttlSecondsAfterFinished": 30,
                    "backoffLimit": 0,
                }
            },
        },
    }


@pytest.mark.parametrize(
    ("version", "line", "logs"),
    [
        (
            "1",
            "./run.sh a 1>>report.out 2>>report.err",
            {"stdout": "report.out", "stderr": "report.err", "suffix": ">>"},
        ),
        (
            "1",
            "./run.sh a 1>/dev/null 2>/dev/null",
            {"stdout": "/dev/null", "stderr": "/dev/null", "suffix": ">"},
        ),
        ("2", "./run.sh a", None),
        # These are the user's own.
        ("2", "./run.sh a 1>>a 2>>b", None),
        (
            "2",
            "exec 1>>/data/project/a.out;exec 2>>/data/project/a.err;./run.sh a",
            {"stdout": "/data/project/a.out", "stderr": "/data/project/a.err"},
        ),
    ],
)
def test_command_and_log_files(version: str, line: str, logs: Any) -> None:
    obj = cron_job(line, version, emails="onfailure", filelog="yes")
    job = toolforge_job(obj)
    assert job
    assert (job.key, job.type) == (JobKey("tool-wm-lol", "report"), JobType.SCHEDULED)
    fields = given_fields(job)
    assert (fields["command"], fields.get("logs")) == (line if logs is None else "./run.sh a", logs)
    # A resolved schedule stays.
    assert (fields["schedule"], fields["emails"], fields["retry"]) == ("17 3 * * *", "onfailure", 0)
    assert (fields["cpu"], fields["memory"]) == ("500m", "512Mi")
    [rebuilt] = runtime_objects(job)
    assert normal_form(rebuilt) == normal_form(obj)


def test_a_label_says_that_redirections_come_first() -> None:
    obj = cron_job("exec 1>>a;exec 2>>b;./run.sh 1>>own 2>>own", "1", **{"command-new-format": "yes"})
    job = toolforge_job(obj)
    assert job
    assert (job.command, job.logs.stdout) == ("./run.sh 1>>own 2>>own", "a")
    plain = toolforge_job(cron_job("./run.sh 1>>own", "1", **{"command-new-format": "yes"}))
    assert plain
    assert plain.command == "./run.sh 1>>own"


def test_others_are_no_jobs_of_toolforge() -> None:
    obj = cron_job("a", "2")
    obj["metadata"]["labels"] = {"toolforge": "other"}
    assert toolforge_job(obj) is None
    obj["metadata"]["labels"] = labels("2", "cronjobs") | {"toolforge": "webservice"}
    assert toolforge_job(obj) is None


def deployment(script: str, *start: str) -> Object:
    """A continuous job whose health check is a script, as Toolforge's framework writes it."""
    own = labels("2", "deployments", emails="none")
    pods = template("./serve.sh", own)
    action = {"exec": {"command": [*start, script]}}
    [container] = pods["spec"]["containers"]
    container["startupProbe"] = {**action, "periodSeconds": 1, "timeoutSeconds": 5, "failureThreshold": 120}
    container["livenessProbe"] = {**action, "periodSeconds": 10, "timeoutSeconds": 5, "failureThreshold": 3}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "report", "namespace": "tool-wm-lol", "labels": own},
        "spec": {"replicas": 1, "selector": {"matchLabels": own}, "template": pods},
    }


@pytest.mark.parametrize("script", ["./check.sh", "exec ./check.sh; echo 'a b'", "test -e /tmp/up"])
def test_a_script_health_check_is_a_field_and_is_rebuilt_as_it_is(script: str) -> None:
    obj = deployment(script, "/bin/sh", "-c")
    job = toolforge_job(obj)
    assert job
    assert given_fields(job)["health_check"] == {"script": script}
    [rebuilt] = runtime_objects(job)
    assert normal_form(rebuilt) == normal_form(obj)
    probes = [rebuilt["spec"]["template"]["spec"]["containers"][0][name] for name in PROBES]
    assert probes == [obj["spec"]["template"]["spec"]["containers"][0][name] for name in PROBES]


def test_the_older_form_of_a_script_health_check_is_the_same_field() -> None:
    jobs = [toolforge_job(deployment("./check.sh", *start)) for start in (SHELL[:2], SHELL)]
    assert jobs[0] == jobs[1]


@pytest.mark.parametrize("start", [("/bin/sh", "-c"), ("/bin/bash", "-c"), ("/bin/sh",), ()])
def test_a_health_check_that_is_no_script_of_the_shell_is_its_words(start: tuple[str, ...]) -> None:
    obj = deployment("-e", *start)
    job = toolforge_job(obj)
    assert job
    assert given_fields(job)["health_check"] == {"command": [*start, "-e"]}
    [rebuilt] = runtime_objects(job)
    assert normal_form(rebuilt) == normal_form(obj)


def resource(kind: str, **spec: Any) -> Object:
    return {
        "apiVersion": "jobs-api.toolforge.org/v1",
        "kind": kind,
        "metadata": {"name": "report", "namespace": "tool-wm-lol"},
        "spec": {"cmd": "./run.sh", "job_name": "report", "tool_name": "wm-lol", "mount": "all", **spec},
    }


POD_LABELS = {"toolforge": "tool", "toolforge.org/mount-storage": "all"}
"""By them, Toolforge's webhook mounts its storage."""
IMAGE = {"short_name": "python3.11", "host": "registry.example.org", "path": "python", "tag": "1"}


def test_a_scheduled_custom_resource() -> None:
    schedule = {"text": "@hourly", "minute": "7", "hour": "*", "day": "*", "month": "*", "day_of_week": "*"}
    key, type_, fields = toolforge_resource(
        resource(
            "ScheduledJob",
            image=IMAGE,
            schedule=schedule,
            retry=1,
            filelog=True,
            filelog_stdout="report.out",
            emails="all",
        )
    )
    assert (key, type_) == (JobKey("tool-wm-lol", "report"), JobType.SCHEDULED)
    assert fields == {
        "command": "./run.sh",
        "image": "registry.example.org/python:1",
        "schedule": "7 * * * *",
        "retry": 1,
        "emails": "all",
        "logs": {"stdout": "report.out", "stderr": "/data/project/wm-lol/report.err"},
        "pod": {"metadata": {"labels": POD_LABELS}},
    }


def test_a_continuous_custom_resource() -> None:
    check = {"type": "http", "path": "/health"}
    image = IMAGE | {"digest": "sha256:abc"}
    _key, type_, fields = toolforge_resource(
        resource(
            "ContinuousJob",
            image=image,
            port=8000,
            port_protocol="tcp",
            health_check=check,
            replicas=2,
            filelog=False,
        )
    )
    assert type_ is JobType.CONTINUOUS
    assert fields == {
        "command": "./run.sh",
        "image": "registry.example.org/python@sha256:abc",
        "port": 8000,
        "port_protocol": "TCP",
        "replicas": 2,
        "health_check": {"path": "/health"},
        "pod": {"metadata": {"labels": POD_LABELS}},
    }


def test_an_image_of_which_only_the_short_name_is_known() -> None:
    fields = toolforge_resource(resource("OneOffJob", image={"short_name": "python3.11"}))[2]
    assert fields["image"] == "python3.11"


OLD_IMAGE = {
    "canonical_name": "python3.11",
    "type": "standard",
    "container": "registry.example.org/python:latest",
    "digest": "sha256:abc",
    "state": "stable",
}


@pytest.mark.parametrize(
    ("image", "name"),
    [
        (OLD_IMAGE, "registry.example.org/python:latest@sha256:abc"),
        ({**OLD_IMAGE, "digest": None}, "registry.example.org/python:latest"),
        ({**OLD_IMAGE, "container": None}, "python3.11"),
        ({**OLD_IMAGE, "container": "registry.example.org/python@sha256:def"}, None),
    ],
)
def test_images_of_older_releases(image: Object, name: str | None) -> None:
    fields = toolforge_resource(resource("OneOffJob", image=image))[2]
    assert fields["image"] == (name or image["container"])


@pytest.mark.parametrize(
    ("image", "is_built"),
    [
        (OLD_IMAGE, False),
        ({**OLD_IMAGE, "type": "buildservice"}, True),
        ({"short_name": "tool-shop/tool-shop:latest"}, True),
        (IMAGE, False),
    ],
)
def test_a_custom_resource_has_the_defaults_of_toolforge(image: Object, is_built: bool) -> None:
    unset = resource("OneOffJob", image=image)
    del unset["spec"]["mount"]
    fields = toolforge_resource(unset)[2]
    assert fields["pod"]["metadata"]["labels"]["toolforge.org/mount-storage"] == (
        "none" if is_built else "all"
    )
    assert ("logs" in fields) is not is_built


BUILT = {"short_name": "tool-shop/tool-shop:latest"}


@pytest.mark.parametrize(
    ("cmd", "more", "command"),
    [
        ("web", {}, ["launcher", "web"]),
        ("./run.sh --name 'a b'", {}, ["launcher", "./run.sh", "--name", "a b"]),
        ("launcher web", {}, ["launcher", "web"]),
        # These need a shell.
        ("./run.sh | sort", {}, "launcher ./run.sh | sort"),
        ("./run.sh $HOME", {}, "launcher ./run.sh $HOME"),
        ("echo it's", {}, "launcher echo it's"),
        ("web", {"filelog": True}, "launcher web"),
    ],
)
def test_a_command_in_an_image_of_the_build_service_is_its_words(
    cmd: str, more: Object, command: Any
) -> None:
    assert (
        toolforge_resource(resource("OneOffJob", image=BUILT, **{"cmd": cmd, **more}))[2]["command"]
        == command
    )


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ({"command": ["launcher", "web", "a b"]}, ["launcher", "web", "a b"]),
        ({"command": ["web"], "args": ["a b"]}, ["web"]),
        ({"command": [*SHELL, "launcher web"]}, "launcher web"),
    ],
)
def test_objects_of_the_build_service_have_their_words(version: str, words: Object, command: Any) -> None:
    obj = cron_job("", version)
    [container] = obj["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    container.update(words)
    job = toolforge_job(obj)
    assert job
    assert given_fields(job)["command"] == command
    assert job.container.get("args") == words.get("args")
    [rebuilt] = runtime_objects(job)
    assert normal_form(rebuilt) == normal_form(obj)


@pytest.mark.parametrize(
    ("obj", "problem"),
    [
        (resource("Webservice", image="a"), "Webservice is no kind"),
        (resource("OneOffJob"), "image is not set"),
        (resource("ScheduledJob", image="a"), "schedule is not set"),
        ({"kind": "OneOffJob", "metadata": {}, "spec": None}, "name is"),
    ],
)
def test_a_custom_resource_that_no_definition_can_describe_is_refused(obj: Object, problem: str) -> None:
    with pytest.raises(UnreadableJob, match=problem):
        toolforge_resource(obj)


@pytest.mark.parametrize(
    ("kind", "spec", "lost"),
    [
        ("ContinuousJob", {"publish": True, "port": 8000, "emails": "all"}, []),
        ("ContinuousJob", {"publish": {"path": "/a"}}, ["publish"]),
        (
            "ContinuousJob",
            {"health_check": {"path": "/", "period": 5}, "port": 80, "retry": 2},
            ["health_check.period", "retry"],
        ),
        (
            "OneOffJob",
            {"port": 8000, "colour": "red"},
            ["colour", "port"],
        ),
        ("OneOffJob", {"port": None, "colour": "", "filelog": True, "filelog_stdout": "a"}, []),
    ],
)
def test_each_field_that_an_import_cannot_store_is_named(kind: str, spec: Object, lost: list[str]) -> None:
    obj = resource(kind, image=IMAGE, **spec)
    assert lost_fields(obj) == lost
    assert toolforge_resource(obj)[2].get("publish") == (spec.get("publish") is True or None)
