# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fields become a job with the defaults of a release, and only those that were set are read from it again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models import defaults as defaults_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    HealthCheck,
    JobKey,
    JobType,
    LogFiles,
    Mount,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.defaults import (
    CURRENT_DEFAULTS,
    DEFAULTS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.field_table import FIELDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import (
    core_job,
    given_fields,
    is_same_json,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

KEY = JobKey("shop", "report")


def job(**fields: Any) -> CoreJob:
    return core_job(KEY, JobType.CONTINUOUS, fields)


def test_a_field_that_is_not_set_has_the_default() -> None:
    made = job(image="busybox", memory=None)
    assert (made.memory, made.cpu, made.retry, made.replicas) == ("512Mi", "500m", 0, 1)
    assert (made.port_protocol, made.emails, made.timeout, made.suspend) == ("TCP", "none", 0, False)
    assert (made.mount, made.health_check, made.logs, made.env) == (None, None, LogFiles(), {})
    assert made.given == {"image"}
    assert given_fields(made) == {"image": "busybox"}


def test_a_field_is_given_if_it_is_set_even_to_the_default_or_an_empty_value() -> None:
    made = job(memory="", retry=0, suspend=False, env={}, logs={})
    assert made.memory == ""
    assert given_fields(made) == {"memory": "", "env": {}, "retry": 0, "suspend": False, "logs": {}}


def test_nested_fields_and_texts_that_yaml_reads_as_numbers() -> None:
    made = job(
        cpu=1,
        env={"A": 1, "B": "x"},
        mount={"claim": "files"},
        logs={"stdout": "/data/out", "stderr": None},
        health_check={"path": "/healthz", "script": None},
        replicas="2",
    )
    assert (made.cpu, made.env, made.replicas) == ("1", {"A": "1", "B": "x"}, 2)
    assert made.mount == Mount("files")
    assert made.logs == LogFiles("/data/out", "")
    assert made.health_check == HealthCheck(path="/healthz")
    assert job(mount={"path": "/x"}).mount == Mount("", "/x")
    assert given_fields(made)["mount"] == {"claim": "files"}
    assert given_fields(job(mount={"claim": "files", "path": "/data"}))["mount"]["path"] == "/data"
    assert given_fields(made)["health_check"] == {"path": "/healthz"}


def test_unknown_fields_are_ignored() -> None:
    assert job(image="a", colour="red") == job(image="a")


def test_a_mapping_is_a_copy_with_its_nulls() -> None:
    workload: dict[str, Any] = {"spec": {"paused": None, "x": [1, {"y": None}]}}
    made = job(workload=workload)
    given_fields(made)["workload"]["spec"].clear()
    workload["spec"]["x"].clear()
    assert made.workload == {"spec": {"paused": None, "x": [1, {"y": None}]}}
    assert job(workload={}).given == frozenset()


def test_each_field_of_the_core_model_can_be_set() -> None:
    assert {*FIELDS} == {*CoreJob.__dataclass_fields__} - {"key", "type", "given"}


def test_the_defaults_are_those_of_the_release_and_else_the_current_ones(monkeypatch: Any) -> None:
    tables = {1: DEFAULTS[1], 2: {**DEFAULTS[1], "memory": "1Gi"}}
    monkeypatch.setattr(defaults_module, "DEFAULTS", tables)
    monkeypatch.setattr(defaults_module, "CURRENT_DEFAULTS", 2)
    sizes = [core_job(KEY, JobType.ONE_OFF, {}, release).memory for release in (0, 1, 2, 99)]
    assert sizes == ["1Gi", "512Mi", "1Gi", "1Gi"]


def test_published_defaults_never_change() -> None:
    assert CURRENT_DEFAULTS == 1
    assert DEFAULTS[1] == {
        "image": "",
        "command": "",
        "memory": "512Mi",
        "cpu": "500m",
        "retry": 0,
        "schedule": "",
        "timezone": "",
        "suspend": False,
        "timeout": 0,
        "replicas": 1,
        "port": 0,
        "port_protocol": "TCP",
        "emails": "none",
    }
    with pytest.raises(TypeError):
        DEFAULTS[1]["memory"] = "1Gi"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
texts = {
    name: st.text()
    for name in ("command", "image", "memory", "cpu", "schedule", "timezone", "port_protocol", "emails")
}
numbers = {name: st.integers() for name in ("retry", "timeout", "replicas", "port")}
any_fields: st.SearchStrategy[Mapping[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.none() | values for name, values in {**texts, **numbers}.items()},
        "suspend": st.none() | st.booleans(),
        "env": st.none() | st.dictionaries(st.text(), st.text() | st.integers()),
        "mount": st.none()
        | st.fixed_dictionaries({"claim": st.text()}, optional={"path": st.none() | st.text()}),
        "logs": st.none()
        | st.fixed_dictionaries({}, optional={"stdout": st.none() | st.text(), "stderr": st.text()}),
        "health_check": st.none()
        | st.fixed_dictionaries({}, optional={"script": st.none() | st.text(), "path": st.text()}),
        "pod": st.none() | st.dictionaries(st.text(), json_values, max_size=3),
        "colour": st.text(),
    },
)
types = st.sampled_from(JobType)


@settings(max_examples=examples(100, 200), deadline=None)
@given(types, any_fields)
def test_a_job_is_the_same_from_its_own_fields(type_: JobType, fields: Mapping[str, Any]) -> None:
    made = core_job(KEY, type_, MappingProxyType(dict(fields)))
    own = given_fields(made)
    assert core_job(KEY, type_, own) == made
    assert core_job(KEY, type_, json.loads(json.dumps(own))) == made
    unset = {"colour"} | ({"pod"} if not fields.get("pod") else set())
    assert {*own} == made.given == {name for name, value in fields.items() if value is not None} - unset


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ({"a": [1, {"b": None}]}, {"a": (1.0, {"b": None})}, True),
        ({"a": 1}, {"a": True}, False),
        ([0], [False], False),
        ({"a": 1}, {"b": 1}, False),
        ([1], [1, 2], False),
        ("1", 1, False),
        (True, True, True),
    ],
)
def test_values_are_compared_as_json_has_them(one: Any, other: Any, is_same: bool) -> None:
    for pair in ((one, other), (other, one)):
        assert is_same_json(*pair) is is_same
