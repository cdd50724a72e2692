# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with the fields of a job: all at once, each with its field, value and what is allowed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.field_table import FIELDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_validation import job_problems
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    JOB_LABEL,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

IMAGE = {"image": "busybox"}
EVIL = "x\n\x1b[2J" + "y" * 5000


def problems(type: str = "one-off", name: str = "report", **fields: Any) -> list[str]:
    required = {"schedule": "@daily"} if type == "scheduled" else {}
    return job_problems(name, type, {**IMAGE, **required, **fields})


COMMON: dict[str, Any] = {
    "command": "a; b\nc",
    "image": "registry.example.com:5000/tool@sha256:0123",
    "memory": "1.5Gi",
    "cpu": 0.5,
    "env": {"A": "x", "a.b-c_1": 1, "_": 1.5},
    "mount": {"claim": "my.files", "path": "/data"},
    "suspend": True,
    "logs": {"stdout": "/data/out", "stderr": None},
    "emails": "onfailure",
    "publish": True,
    "requests": {"memory": "1Gi"},
    "limits": {"example.com/gpu": "1"},
    "volumes": [
        {"path": "/tmp", "empty_dir": ""},
        {"path": "/cache", "empty_dir": "1Gi", "name": "cache"},
        {"path": "/cache/a", "sub_path": "a", "read_only": True, "name": "cache"},
        {"path": "/etc/tool", "config_map": {"name": "tool", "items": []}},
        {"hostPath": {"path": "/var/log"}},
    ],
    "image_pull_secrets": ["registry"],
    "pod": {"spec": {"containers": [{"name": "proxy"}]}},
    "container": {"tty": True},
    "store_labels": True,
}
RUNS: dict[str, Any] = {"retry": 3, "timeout": 0}
GOOD: dict[str, dict[str, Any]] = {
    "one-off": {**COMMON, **RUNS, "job": {"spec": {"ttlSecondsAfterFinished": 5}}},
    "scheduled": {
        **COMMON,
        **RUNS,
        "schedule": "30 4 * * mon-fri",
        "timezone": "America/Argentina/Buenos_Aires",
        "workload": {"metadata": {"labels": {"a": "b"}}},
    },
    "continuous": {
        **COMMON,
        "replicas": 0,
        "port": 8080,
        "port_protocol": "UDP",
        "health_check": {"script": None, "path": "/healthz"},
        "service": {"spec": {"type": None}},
    },
}


@pytest.mark.parametrize("type", GOOD)
def test_nothing_is_wrong_with_a_good_job(type: str) -> None:
    assert problems(type, **GOOD[type]) == []
    assert problems(type, **dict.fromkeys(set(FIELDS) - {"image", "schedule"})) == []


def test_together_the_good_jobs_have_all_fields() -> None:
    assert {field for fields in GOOD.values() for field in fields} == {*FIELDS}


@pytest.mark.parametrize("value", [{"memory": "", "cpu": ""}, {"command": ""}, {"env": {}}, {"logs": {}}])
def test_empty_values_are_fine(value: dict[str, Any]) -> None:
    assert problems(**value) == []


def test_an_empty_time_zone_is_fine() -> None:
    assert problems("scheduled", timezone="") == []


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("one-off", {"name": "Report"}, "name is 'Report'; use lower-case letters, digits and '-'"),
    ("one-off", {"name": "-a"}, "name is '-a'; use lower-case"),
    ("one-off", {"name": "a.b"}, "name is 'a.b'; use lower-case"),
    ("one-off", {"name": ""}, "name is ''; use lower-case"),
    ("one-off", {"name": "a\n"}, "name is 'a'; use lower-case"),
    ("one-off", {"name": 5}, "name is 5; use lower-case"),
    ("one-off", {"name": "a" * 53}, "use at most 52 characters, not 53"),
    ("cron", {}, "type is 'cron'; use one of one-off, scheduled, continuous"),
    ("one-off", {"image": None}, "image is not set; use the name of a container image"),
    ("one-off", {"image": "a b"}, "image is 'a b'; use the name of a container image"),
    ("one-off", {"image": 5}, "image is 5; use"),
    ("one-off", {"image": "a\x1b"}, "image is 'a?'; use"),
    ("one-off", {"command": ["a", 1]}, "command is ['a', 1]; use a list of texts"),
    ("one-off", {"command": ["a"], "logs": {"stdout": "/x"}}, "logs are set with a command of several words"),
    (
        "one-off",
        {"command": "a", "container": {"args": ["b"]}},
        "args are set with a shell line",
    ),
    ("one-off", {"env": {"A": {"secretKeyRef": "a"}}}, "env.A names no source of its value; use a"),
    ("one-off", {"requests": {"memory": "lots"}}, "requests.memory is 'lots'; use a quantity of 0 or more"),
    ("one-off", {"limits": ["1Gi"]}, "limits is ['1Gi']; use a mapping of resources to quantities"),
    ("one-off", {"volumes": {"claim": "a"}}, "volumes is {'claim': 'a'}; use a list of mappings"),
    ("one-off", {"volumes": [{"path": "/x"}]}, "volumes[1] has no source; set one of claim"),
    ("one-off", {"volumes": [{"path": "/", "claim": "a", "secret": "b"}]}, "volumes[1] has claim and secret"),
    ("one-off", {"volumes": [{"path": "/x", "clam": "a"}]}, "volumes[1].clam is 'a'; use a mapping, or"),
    ("one-off", {"volumes": [{"path": "/x", "claim": "A B"}]}, "volumes[1].claim is 'A B'; use the name"),
    ("one-off", {"volumes": [{"path": "x", "secret": "a"}]}, "volumes[1].path is 'x'; use an absolute path"),
    ("one-off", {"volumes": [{"name": "a"}]}, "volumes[1] has no path; set where the volume is mounted"),
    ("one-off", {"volumes": [{"path": "/x", "claim": "a", "read_only": 1}]}, "volumes[1].read_only is 1"),
    ("one-off", {"image_pull_secrets": "a"}, "image_pull_secrets is 'a'; use a list of texts"),
    ("one-off", {"store_labels": "no"}, "store_labels is 'no'; use true or false"),
    ("one-off", {"pod": {"spec": {"restartPolicy": "Always"}}}, "use one of Never, OnFailure"),
    (
        "one-off",
        {"workload": {"spec": {}}},
        "workload is set, and only scheduled and continuous",
    ),
    ("continuous", {"job": {"spec": {}}}, "job is set, and only one-off and scheduled jobs have it"),
    ("scheduled", {"service": {"spec": {}}}, "service is set, and only continuous jobs have it"),
    (
        "one-off",
        {"pod": {"metadata": {"labels": {"a": 1}}}},
        "pod.metadata.labels must be a mapping of",
    ),
    ("one-off", {"pod": []}, "pod is []; use a mapping, as Kubernetes has it"),
    ("one-off", {"pod": {"sepc": {}}}, "pod.sepc is no field; did you mean spec?"),
    (
        "one-off",
        {"pod": {"spec": {"tolerations": {"a": 1}}}},
        "pod.spec.tolerations must be a list",
    ),
    (
        "one-off",
        {"pod": {"spec": {"containers": [{"name": "job"}]}}},
        "has job, which is the container",
    ),
    ("one-off", {"container": {"image": "a"}}, "container.image is set; use the field image instead"),
    (
        "one-off",
        {"volumes": [{"path": "/x", "claim": "a", "mount": {"subPath": "b"}}]},
        "use sub_path instead",
    ),
    (
        "one-off",
        {"volumes": [{"path": "/x", "claim": "a", "mount": 1}]},
        "volumes[1].mount is 1; use a",
    ),
    ("one-off", {"volumes": [{"claim": "a", "mount": {"x": 1}}]}, "volumes[1] has no path; set where"),
    ("continuous", {"service": {"spec": {"type": "NodePort"}}}, "service is set without ports; set port or"),
    ("continuous", {"store_labels": False}, "selector is not set; without the labels of the store, set"),
    (
        "continuous",
        {"workload": {"spec": {"selector": {"matchLabels": {"a": "b"}}}}},
        "selector is not among pod.metadata.labels; set the same labels",
    ),
    ("continuous", {"health_check": {"tcp": True}}, "health_check.tcp is set without a port; set port"),
    ("continuous", {"health_check": {"command": "x"}}, "health_check.command is 'x'; use a list of texts"),
    ("one-off", {"command": "a\0"}, "use a text"),
    ("one-off", {"memory": "lots"}, "memory is 'lots'; use a quantity of 0 or more, such as 256Mi"),
    ("one-off", {"memory": True}, "memory is True; use a quantity"),
    ("one-off", {"memory": "1e99999999999999999999"}, "memory is '1e9999"),
    ("one-off", {"memory": "1e" + "9" * 5000}, "memory is '1e9999"),
    ("one-off", {"cpu": "-1"}, "cpu is '-1'; use a quantity of 0 or more, such as 250m"),
    ("one-off", {"env": ["A=x"]}, "env is '(not shown)'; use a mapping"),
    ("one-off", {"env": {"1A": "x"}}, "env has the name '1A'; use letters"),
    ("one-off", {"env": {"A=B": "x"}}, "env has the name 'A=B'"),
    ("one-off", {"env": {"..": "x"}}, "env has the name '..'"),
    ("one-off", {"env": {".": "x"}}, "env has the name '.'"),
    ("one-off", {"env": {5: "x"}}, "env has the name 5"),
    ("one-off", {"env": {"A": True}}, "env.A is no text; quote the value"),
    ("one-off", {"env": {"A": None}}, "env.A is no text; quote the value"),
    ("one-off", {"env": {"A": "\0"}}, "env.A has a null character"),
    ("one-off", {"mount": "files"}, "mount is 'files'; use a mapping with claim and path"),
    ("one-off", {"mount": {"path": "/x"}}, "mount.claim is not set; use the name of a Persistent"),
    ("one-off", {"mount": {"claim": "Files"}}, "mount.claim is 'Files'; use"),
    ("one-off", {"mount": {"claim": "a", "path": "x"}}, "mount.path is 'x'; use an absolute path"),
    ("one-off", {"mount": {"claim": "a", "path": "/x:y"}}, "mount.path is '/x:y'; use"),
    ("one-off", {"mount": {"claim": "a", "path": "/x\0"}}, "mount.path is '/x?'; use"),
    ("one-off", {"mount": {"claim": "a", "pth": "/x"}}, "mount.pth is no field; did you mean path?"),
    ("one-off", {"retry": -1}, "retry is -1; use a whole number from 0 to 2147483647"),
    ("one-off", {"retry": "3"}, "retry is '3'; use a whole number from 0 to 2147483647, without quotes"),
    ("one-off", {"retry": True}, "retry is True; use"),
    ("one-off", {"timeout": 2**31}, "timeout is 2147483648; use"),
    ("one-off", {"timeout": 1.5}, "timeout is 1.5; use"),
    ("scheduled", {"schedule": None}, "schedule is not set; a scheduled job needs one"),
    ("scheduled", {"schedule": "60 * * * *"}, "its minute '60' is invalid"),
    ("scheduled", {"schedule": 5}, "schedule is 5; use a text"),
    ("scheduled", {"timezone": "Berlin/"}, "timezone is 'Berlin/'; use the name of a time zone"),
    ("scheduled", {"timezone": "Local"}, "timezone is 'Local'"),
    ("scheduled", {"timezone": "../etc"}, "timezone is '../etc'"),
    ("scheduled", {"timezone": 1}, "timezone is 1"),
    ("one-off", {"suspend": "true"}, "suspend is 'true'; use true or false, without quotes"),
    ("one-off", {"schedule": "@daily"}, "schedule is set, and only scheduled jobs have it"),
    ("one-off", {"timezone": "UTC"}, "timezone is set, and only scheduled jobs have it"),
    ("scheduled", {"replicas": 1}, "replicas is set, and only continuous jobs have it"),
    ("scheduled", {"port": 1}, "port is set, and only continuous jobs have it"),
    ("scheduled", {"port_protocol": "TCP"}, "port_protocol is set, and only continuous jobs have it"),
    ("one-off", {"health_check": {"script": "x"}}, "health_check is set, and only continuous jobs"),
    (
        "continuous",
        {"retry": 1},
        "retry is set, and only one-off and scheduled jobs have it; remove it, or change the type continuous",
    ),
    ("continuous", {"timeout": 1}, "timeout is set, and only one-off and scheduled jobs have it"),
    ("continuous", {"replicas": -1}, "replicas is -1"),
    ("continuous", {"port": 0}, "port is 0; use a whole number from 1 to 65535"),
    ("continuous", {"port": 65536}, "port is 65536; use"),
    ("continuous", {"port_protocol": "tcp"}, "port_protocol is 'tcp'; use one of TCP, UDP, SCTP"),
    ("continuous", {"health_check": "x"}, "health_check is 'x'; use a mapping with one of"),
    ("continuous", {"health_check": {}}, "health_check has neither script nor path"),
    ("continuous", {"health_check": {"script": "x", "path": "/"}, "port": 1}, "has both script and path"),
    ("continuous", {"health_check": {"script": 5}}, "health_check.script is 5; use a text"),
    ("continuous", {"health_check": {"path": "x"}, "port": 1}, "health_check.path is 'x'; use the path"),
    ("continuous", {"health_check": {"path": "/"}}, "health_check.path is set without a port; set port"),
    ("continuous", {"health_check": {"script": "x", "paht": 1}}, "health_check.paht is no field; did"),
    ("one-off", {"logs": "/x"}, "logs is '/x'; use a mapping with stdout and stderr"),
    ("one-off", {"command": "a", "logs": {"stderr": 5}}, "logs.stderr is 5; use a path"),
    ("one-off", {"logs": {"stdot": None}}, "logs.stdot is no field; did you mean stdout?"),
    ("one-off", {"logs": {"stdout": "/x"}}, "logs are set without a command; set command"),
    ("one-off", {"emails": "never"}, "emails is 'never'; use one of none, all, onfinish, onfailure"),
    ("one-off", {"emails": []}, "emails is []; use one of"),
    ("one-off", {"job": {"apiVersion": "v1"}}, "job.apiVersion can't be changed"),
    ("one-off", {"job": {"kind": "Pod"}}, "job.kind can't be changed"),
    ("one-off", {"job": {"status": {}}}, "job.status can't be changed"),
    ("one-off", {"job": {"metadata": {"name": "x"}}}, "job.metadata.name can't be"),
    ("one-off", {"job": {"metadata": {"namespace": 1}}}, "job.metadata.namespace can't"),
    ("one-off", {"job": {"metadata": None}}, "job.metadata is not set; use a mapping"),
    ("one-off", {"job": {"metadata": {"uid": "x"}}}, "job.metadata.uid can't be changed"),
    ("one-off", {"job": {"metadata": {"generateName": "x"}}}, "generateName can't be changed"),
    ("one-off", {"job": {"metadata": {"finalizers": 3}}}, "finalizers must be a list of strings"),
    ("one-off", {"job": {"metadata": {"ownerReferences": 3}}}, "must be a list of mappings"),
    ("one-off", {"job": {"spec": "x"}}, "job.spec is 'x'; use a mapping"),
    ("one-off", {"job": {"spec": None}}, "job.spec is not set; use a mapping"),
    (
        "one-off",
        {"job": {"metadata": {"labels": {"app.kubernetes.io/managed-by": "kyma-lifecycle"}}}},
        "marks components and no jobs; remove it",
    ),
    (
        "one-off",
        {"job": {"metadata": {"labels": {"lifecycle.kyma-project.io/errand": "x"}}}},
        "marks Jobs of errands; remove it",
    ),
    (
        "one-off",
        {"job": {"metadata": {"ownerReferences": [{"controller": True}]}}},
        "what has a controller is no job of the store",
    ),
    ("one-off", {"comand": "x"}, "comand is no field; did you mean command?"),
    ("one-off", {"xyz": "x"}, "xyz is no field; see the options of stored_job"),
]


OTHERS = {"metadata": {"labels": {JOB_LABEL: "other"}}}


@pytest.mark.parametrize(
    ("type", "mapping"),
    [
        ("one-off", "job"),
        ("one-off", "pod"),
        ("scheduled", "workload"),
        ("scheduled", "job"),
        ("scheduled", "pod"),
        ("continuous", "workload"),
        ("continuous", "service"),
    ],
)
def test_a_mapping_sets_our_label_to_no_name_of_another_job(type: str, mapping: str) -> None:
    port = {"port": 80} if mapping == "service" else {}
    message = f"{mapping}.metadata.labels.{JOB_LABEL} is other, and must be report; remove it"
    assert problems(type, **port, **{mapping: OTHERS}) == [message]
    own = json.loads(json.dumps(OTHERS).replace("other", "report"))
    assert problems(type, **port, **{mapping: own}) == []


@pytest.mark.parametrize(("type", "fields", "expected"), WRONG)
def test_an_invalid_field_has_one_message(type: str, fields: dict[str, Any], expected: str) -> None:
    messages = problems(type, **fields)
    assert len(messages) == 1, messages
    assert expected in messages[0]


def test_all_problems_are_found_at_once() -> None:
    messages = job_problems(
        "No", "scheduled", {"memory": "x", "port": 0, "env": {"1": "", "2": ""}, "xyz": 1}
    )
    assert [problem.split()[0] for problem in messages] == [
        "name",
        "memory",
        "port",
        "env",
        "env",
        "xyz",
        "port",
        "schedule",
        "image",
    ]


def test_values_of_others_are_shown_on_one_short_line_and_env_values_never() -> None:
    values = {field: EVIL for field in FIELDS if field != "command"}
    nested = {
        "env": {EVIL: "s3cret", "A": ["s3cret"]},
        "mount": {"claim": EVIL, "path": EVIL, EVIL: 1},
        "health_check": {"path": EVIL, EVIL: 1},
        "logs": {"stdout": EVIL, EVIL: 1},
        "pod": {EVIL: EVIL, "metadata": {EVIL: 1}},
    }
    for fields in ({**values, EVIL: 1}, nested, {"env": "s3cret"}, {"env": {"A": {"s3cret": 1}}}):
        for problem in job_problems(EVIL, EVIL, fields) + job_problems(EVIL, "continuous", fields):
            assert problem.isprintable()
            assert len(problem) < 500
            assert "s3cret" not in problem


WORDS = ["/x", "1Gi", "@daily", "TCP", "all"]
loose = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["/x", "1Gi", "@daily"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.text() | st.sampled_from(["claim", "path", "stdout", "script", "Job", "spec", "metadata"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@settings(max_examples=examples(100, 400), deadline=None)
@given(st.sampled_from(JobType), st.dictionaries(st.sampled_from(sorted(FIELDS)), loose))
def test_any_values_can_be_validated_and_valid_ones_make_a_job(type: JobType, fields: dict[str, Any]) -> None:
    if not problems(type, **fields):
        core_job(JobKey("shop", "report"), type, fields)
