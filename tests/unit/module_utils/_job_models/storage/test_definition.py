# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stored job is the same, also in old versions; unknown fields survive; reading raises one error only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models import defaults as defaults_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    JobKey,
    JobType,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.defaults import DEFAULTS
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.field_table import FIELDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import (
    core_job,
    given_fields,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_validation import job_problems
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.patches import (
    merge_patch_ignoring_nulls,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    CURRENT_VERSION,
    DEFINITION_KINDS,
    FIELDS_OF_VERSIONS,
    UnreadableDefinition,
    definition_object,
    read_definition,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

KEY = JobKey("shop", "report")
COMMON = {
    "command": "./report --all",
    "image": "busybox",
    "env": {"A": "b"},
    "mount": {"claim": "files", "path": "/data"},
    "retry": 2,
    "schedule": "@daily",
    "timezone": "Europe/Berlin",
    "suspend": True,
    "timeout": 60,
    "replicas": 2,
    "port": 80,
    "healthCheck": {"script": "true"},
    "logs": {"stdout": "/data/out", "stderr": "/data/the errors"},
    "emails": "all",
    "replaces": "one-off",
}
SPEC_V1 = {
    **COMMON,
    "resources": {"memory": "1Gi", "cpu": "1"},
    "sidecars": [{"name": "proxy", "image": "proxy:1"}],
    "ttl": 60,
    "startingDeadline": 0,
    "podLabels": {"team": "a"},
    "extra": {"CronJob": {"metadata": {"labels": {"a": "b"}}, "spec": {}}},
    "extraNulls": ["/CronJob/spec/failedJobsHistoryLimit"],
}
SPEC_V2 = {
    **COMMON,
    "memory": "1Gi",
    "cpu": "1",
    "workload": {"metadata": {"labels": {"a": "b"}}, "spec": {}},
    "job": {"spec": {"ttlSecondsAfterFinished": 60}},
    "pod": {
        "metadata": {"labels": {"team": "a"}},
        "spec": {"containers": [{"name": "proxy", "image": "proxy:1"}]},
    },
    "nulls": ["/workload/spec/failedJobsHistoryLimit", "/workload/spec/startingDeadlineSeconds"],
}


def stored(spec: Any, version: Any = "2", type_: JobType = JobType.SCHEDULED) -> dict[str, Any]:
    labels = {"team": "a"} | ({} if version is None else {STORAGE_VERSION_LABEL: version})
    return {
        "apiVersion": API_VERSION,
        "kind": DEFINITION_KINDS[type_][1],
        "metadata": {
            "name": "report",
            "namespace": "shop",
            "labels": labels,
            "annotations": {"note": "x"},
            "resourceVersion": "7",
            "uid": "u",
        },
        "spec": spec,
        "status": {"defaults": 1, "run": 4},
    }


def job(type_: JobType = JobType.SCHEDULED, **fields: Any) -> CoreJob:
    return core_job(KEY, type_, fields)


def test_the_versions_are_read_alike() -> None:
    one, two = (read_definition(stored(spec, str(number))) for number, spec in ((1, SPEC_V1), (2, SPEC_V2)))
    assert one.job == two.job
    assert given_fields(two.job)["workload"] == {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"failedJobsHistoryLimit": None, "startingDeadlineSeconds": None},
    }
    assert (one.replaces, two.replaces) == (JobType.ONE_OFF, JobType.ONE_OFF)
    assert [each.storage_version for each in (one, two)] == [1, 2]
    assert one.is_writable
    assert (one.key, one.type, one.status.run) == (KEY, JobType.SCHEDULED, 4)


def test_an_old_version_is_written_as_the_current_one() -> None:
    existing = stored(SPEC_V1, "1")
    before = deep_copy(existing)
    made = definition_object(read_definition(existing).job, existing, JobType.ONE_OFF)
    assert made == stored(SPEC_V2)
    assert existing == before


def test_the_current_version_is_rolled_back_to_the_old_one() -> None:
    existing = stored({**SPEC_V2, "colour": "red", "logs": {"stdout": "/x", "level": 1}})
    job_of_two = read_definition(existing).job
    back = definition_object(job_of_two, existing, JobType.ONE_OFF, 1)
    assert back["metadata"]["labels"][STORAGE_VERSION_LABEL] == "1"
    spec = back["spec"]
    assert spec.keys().isdisjoint(("memory", "workload", "job", "pod", "nulls"))
    assert (spec["resources"], spec["colour"], spec["logs"]["level"]) == (SPEC_V1["resources"], "red", 1)
    again = read_definition(back)
    assert (again.storage_version, again.replaces) == (1, JobType.ONE_OFF)
    assert runtime_objects(again.job) == runtime_objects(job_of_two)


ROLLED_BACK: dict[str, dict[str, Any]] = {
    "variables in an order": {"env": [{"name": "B", "value": "$(A)"}, {"name": "A", "value": "1"}]},
    "the end of a line": {"command": "a", "logs": {"stdout": "/x", "suffix": ">"}},
    "parts of a mount": {
        "volumes": [
            {"path": "/x", "claim": "a", "mount": {"mountPropagation": "HostToContainer"}},
            {"name": "volume-1", "mount": {"mountPath": "C:"}},
        ]
    },
    "another name": {"container": {"name": "main", "tty": True}},
    "a Service": {"service": {"spec": {"clusterIP": "None"}}},
    "a selector": {
        "port": 80,
        "workload": {"spec": {"selector": {"matchLabels": {"a": "b"}}}},
        "pod": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "d"}]}},
    },
}


@pytest.mark.parametrize("given_fields", ROLLED_BACK.values(), ids=ROLLED_BACK)
def test_fields_unknown_to_the_old_version_are_in_its_extra(given_fields: dict[str, Any]) -> None:
    new = job(JobType.CONTINUOUS, image="a:1", **given_fields)
    back = definition_object(new, storage_version=1)
    assert {*back["spec"]} <= {name for name, _shape in FIELDS_OF_VERSIONS[1].values()}
    forms = [[normal_form(obj) for obj in runtime_objects(one)] for one in (read_definition(back).job, new)]
    assert forms[0] == forms[1]


EXTRAS: dict[str, dict[str, Any]] = {
    "what has a field": {"template": {"spec": {"containers": {"job": {"image": "b:1"}}}}, "replicas": 3},
    "all containers": {"template": {"spec": {"containers": [{"name": "own", "image": "c:1"}]}}},
    "another container": {"template": {"spec": {"containers": {"c": {"name": "c", "image": "d"}}}}},
    "a scheduler": {"template": {"spec": {"schedulerName": "batch"}}},
}


@pytest.mark.parametrize("extra", EXTRAS.values(), ids=EXTRAS)
def test_extra_of_the_old_version_is_in_fields_that_a_user_may_set(extra: dict[str, Any]) -> None:
    spec = {"image": "a:1", "emails": "all", "extra": {"Deployment": {"spec": extra}}}
    read_job = read_definition(stored(spec, "1", JobType.CONTINUOUS)).job
    fields = given_fields(read_job)
    assert job_problems("report", JobType.CONTINUOUS, fields) == []
    assert fields["emails"] == "all"
    assert "extra" not in fields
    main = runtime_objects(read_job)[0]["spec"]
    assert main["replicas"] == extra.get("replicas", 1)
    containers = extra["template"]["spec"].get("containers", {})
    images = [one["image"] for one in main["template"]["spec"]["containers"]]
    if isinstance(containers, list):
        assert images == ["c:1"]
    elif "job" in containers:
        assert images == ["b:1"]
    else:
        assert images == ["a:1", *(one["image"] for one in containers.values())]


@pytest.mark.parametrize("version", [1, 2])
def test_all_stored_names_keep_their_meaning(version: int) -> None:
    spec = yaml.safe_load((Path(__file__).parent / f"version_{version}.yaml").read_text())
    assert {*spec} == {name for name, _shape in FIELDS_OF_VERSIONS[version].values()}
    definition = read_definition(stored(spec, str(version)))
    if version == CURRENT_VERSION:
        assert definition_object(definition.job, replaces=definition.replaces)["spec"] == spec
        assert {*given_fields(definition.job)} == {*FIELDS}


def test_equal_mappings_are_stored_alike() -> None:
    many = [None] * 12
    spec = {"b": {"two": None, "one": None}, "a": many}
    turned = {"a": many, "b": {"one": None, "two": None}}
    one, other = (definition_object(job(image="a", pod={"spec": patch})) for patch in (spec, turned))
    assert one == other
    assert one["spec"]["nulls"][-2:] == ["/pod/spec/b/one", "/pod/spec/b/two"]
    assert read_definition(one).job.pod == {"spec": spec}


def test_a_name_that_only_the_current_version_knows_has_no_meaning_in_an_older_one() -> None:
    existing = stored({"image": "a", "pod": "soon"}, "1")
    definition = read_definition(existing)
    assert given_fields(definition.job) == {"image": "a"}
    assert definition_object(definition.job, existing)["spec"] == {"image": "a"}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("command", ["a", 1], "is a list, not a list of texts"),
        ("env", {"A": True}, "has 'A', which is not a text"),
        ("volumes", ["data"], "is a list, not a list of mappings"),
        ("volumes", [{"secret": "a", "claim": "b"}], "has 2 sources in its entry 1, not one"),
        ("healthCheck", {"tcp": 1}, "has tcp, which is 1, not true or false"),
        ("pod", ["a"], "is not a mapping"),
    ],
)
def test_a_value_of_another_shape_is_named(field: str, value: Any, problem: str) -> None:
    with pytest.raises(UnreadableDefinition, match=f"spec.{field} {problem}"):
        read_definition(stored({field: value}))


def test_only_fields_that_were_set_are_stored() -> None:
    made = definition_object(job(JobType.ONE_OFF, image="a", memory="", logs={}, retry=0, env={}))
    assert made == {
        "apiVersion": API_VERSION,
        "kind": "OneOffJob",
        "metadata": {"name": "report", "namespace": "shop", "labels": {STORAGE_VERSION_LABEL: "2"}},
        "spec": {
            "image": "a",
            "memory": "",
            "env": {},
            "retry": 0,
            "logs": {"stdout": ""},
        },
    }
    assert definition_object(job(), made | {"kind": "ScheduledJob"})["spec"] == {}


def test_unknown_fields_survive_a_write() -> None:
    spec = {
        **SPEC_V2,
        "mount": {"claim": "files", "path": "/data", "readOnly": True},
        "logs": {"rotate": [1]},
        "healthCheck": {"script": "true", "seconds": 5},
        "colour": {"of": "sky"},
        "resources": "not ours in version 2",
    }
    made = definition_object(job(image="b", cpu="2", mount={"claim": "other"}), stored(spec))
    assert made["spec"] == {
        "image": "b",
        "cpu": "2",
        "mount": {"claim": "other", "readOnly": True},
        "logs": {"rotate": [1]},
        "healthCheck": {"seconds": 5},
        "colour": {"of": "sky"},
        "resources": "not ours in version 2",
    }
    assert made["metadata"] == stored({})["metadata"]
    assert given_fields(read_definition(made).job) == {"image": "b", "cpu": "2", "mount": {"claim": "other"}}


def test_unknown_fields_survive_a_migration_unless_their_name_has_a_meaning_now() -> None:
    spec = {
        **SPEC_V1,
        "mount": {"claim": "files", "path": "/data", "readOnly": True},
        "colour": "red",
        "resources": {"gpu": 1, "memory": "1Gi", "cpu": "1"},
        "pod": "unknown to version 1",
    }
    existing = stored(spec, "1")
    made = definition_object(read_definition(existing).job, existing, JobType.ONE_OFF)
    assert made["spec"] == {
        **SPEC_V2,
        "mount": {"claim": "files", "path": "/data", "readOnly": True},
        "colour": "red",
        "resources": {"gpu": 1},
    }
    assert read_definition(made).job == read_definition(existing).job


def test_a_definition_of_another_type_gives_what_its_user_added_to_the_new_one() -> None:
    made = definition_object(
        job(JobType.CONTINUOUS, image="b"), stored({**SPEC_V1, "colour": 1}, "1"), JobType.SCHEDULED
    )
    assert made == {
        "apiVersion": API_VERSION,
        "kind": "ContinuousJob",
        "metadata": {
            "name": "report",
            "namespace": "shop",
            "labels": {"team": "a", STORAGE_VERSION_LABEL: "2"},
            "annotations": {"note": "x"},
        },
        "spec": {"image": "b", "colour": 1, "replaces": "scheduled"},
    }


def test_a_newer_version_is_read_as_far_as_it_is_known_and_not_written() -> None:
    existing = stored({"image": "a", "command": {"b": 1}, "replaces": 3, "new": 1}, "99")
    definition = read_definition(existing)
    assert (definition.storage_version, definition.is_writable, definition.replaces) == (99, False, None)
    assert given_fields(definition.job) == {"image": "a"}
    with pytest.raises(
        UnreadableDefinition, match=r"storage version is 99, and this release writes at most 2"
    ):
        definition_object(job(), existing)


BROKEN: Mapping[str, tuple[Any, str]] = {
    "nothing": (None, "its kind is None"),
    "another kind": ({**stored({}), "kind": "Job"}, "its kind is 'Job', not one of OneOffJob, Sched"),
    "no namespace": ({**stored({}), "metadata": {"name": "a"}}, "no namespace"),
    "no label": (stored({}, None), "its label lifecycle.kyma-project.io/storage-version is missing"),
    "no number": (stored({}, "latest"), "is 'latest', not a number from 1 on"),
    "version 0": (stored({}, "0"), "is '0', not a number"),
    "no spec": (stored(None), "spec is None, not a mapping"),
    "a list": (stored({"image": ["a"]}), "spec.image is a list, not a text"),
    "a truth": (stored({"image": True}), "spec.image is True, not a text"),
    "a word": (stored({"retry": "often"}), "spec.retry is 'often', not a whole number"),
    "a number": (stored({"retry": True}), "spec.retry is True, not a whole number"),
    "a fraction": (stored({"port": 1.5}), "spec.port is 1.5, not a whole number"),
    "no switch": (stored({"suspend": "no"}), "spec.suspend is 'no', not true or false"),
    "env": (stored({"env": {"A": ["secret"]}}), "spec.env has 'A', which is not a text"),
    "env list": (stored({"env": ["A"]}), "spec.env is a list, not a list of mappings"),
    "group": (stored({"logs": {"stdout": []}}), "spec.logs has stdout, which is a list, not a text"),
    "mapping": (stored({"pod": "x"}), "spec.pod is not a mapping"),
    "nulls": (stored({"nulls": "/a"}), "spec.nulls is '/a', not a list of texts"),
    "pointer": (stored({"pod": {}, "nulls": ["/a/b"]}), "'/a/b', which leads nowhere"),
    "no mapping": (stored({"image": "a", "nulls": ["/image"]}), "spec.nulls has /image, which leads nowhere"),
    "negative place": (stored({"pod": {"a": [1]}, "nulls": ["/pod/a/-1"]}), "/-1', which leads nowhere"),
    "negative step": (stored({"pod": {"a": [{}]}, "nulls": ["/pod/a/-1/b"]}), "/-1/b', which leads nowhere"),
    "old pointer": (stored({"extraNulls": ["/a/b"]}, "1"), "spec.extraNulls has '/a/b', which leads nowhere"),
    "old patch": (
        stored({"image": "a", "extra": {"CronJob": {"spec": {"jobTemplate": 1}}}}, "1"),
        "spec.extra describes no objects of a job",
    ),
    "type": (stored({"replaces": "daily"}), "spec.replaces is 'daily', not one of one-off, sched"),
    "two": (stored({"retry": "a", "image": []}), "spec.image is a list, not a text; spec.retry"),
    "old": (stored({"ttl": "soon"}, "1"), "spec.ttl is 'soon', not a whole number"),
    "terminal": (stored({"retry": "\x1b[31m\u202e"}), "spec.retry is"),
}


@pytest.mark.parametrize(("obj", "problem"), BROKEN.values(), ids=BROKEN)
def test_a_broken_definition_is_unreadable_with_the_reason(obj: Any, problem: str) -> None:
    with pytest.raises(UnreadableDefinition) as caught:
        read_definition(obj)
    assert problem in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_definition_that_is_nested_too_deeply_is_unreadable() -> None:
    deep: dict[str, Any] = {}
    for _depth in range(100_000):
        deep = {"a": deep}
    with pytest.raises(UnreadableDefinition, match="nested too deeply"):
        read_definition(stored({"pod": deep}))


def test_a_broken_definition_is_mended_by_a_write() -> None:
    made = definition_object(job(image="b"), stored({"image": [], "env": 3, "pod": "x", "a": 1}, None))
    assert made["spec"] == {"image": "b", "a": 1}
    assert given_fields(read_definition(made).job) == {"image": "b"}


def test_numbers_that_yaml_reads_where_a_text_is_needed() -> None:
    definition = read_definition(stored({"cpu": 1, "memory": 0.5, "env": {"A": 2}}))
    assert (definition.job.cpu, definition.job.memory, definition.job.env) == ("1", "0.5", {"A": "2"})


def test_the_defaults_are_those_of_the_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(defaults_module, "DEFAULTS", {1: DEFAULTS[1], 2: {**DEFAULTS[1], "memory": "2Gi"}})
    obj = stored({})
    assert read_definition(obj).job.memory == "512Mi"
    obj["status"]["defaults"] = 2
    assert read_definition(obj).job.memory == "2Gi"
    del obj["status"]
    assert read_definition(obj).job.memory == "512Mi"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["a", "b/c", "~", "~1", ""]) | st.text(max_size=3), inner, max_size=3
        )
    ),
    max_leaves=10,
)
texts = {
    name: st.text(max_size=8)
    for name in ("command", "image", "memory", "cpu", "schedule", "timezone", "port_protocol", "emails")
}
numbers = {name: st.integers() for name in ("retry", "timeout", "replicas", "port")}
fields = st.fixed_dictionaries(
    {},
    optional={
        **texts,
        **numbers,
        "suspend": st.booleans(),
        "env": st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
        "mount": st.fixed_dictionaries(
            {"claim": st.text(max_size=3)}, optional={"path": st.text(max_size=3)}
        ),
        "logs": st.fixed_dictionaries({}, optional={"stdout": st.text(max_size=3), "stderr": st.text()}),
        "health_check": st.fixed_dictionaries(
            {}, optional={"script": st.text(), "path": st.text(max_size=3)}
        ),
        "pod": st.dictionaries(st.sampled_from(["metadata", "spec"]), json_values),
        "service": st.dictionaries(st.text(max_size=3), json_values),
    },
)
jobs = st.builds(core_job, st.just(KEY), st.sampled_from(JobType), fields)
replacements = st.none() | st.sampled_from(JobType)
unknown = st.dictionaries(st.sampled_from(["x", "y"]), json_values, max_size=2)
GROUPS = ("mount", "healthCheck", "logs")


def has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(has_null, value.values()))
    return any(map(has_null, value)) if isinstance(value, list) else value is None


@settings(max_examples=examples(100, 200), deadline=None)
@given(jobs, replacements)
def test_a_job_is_the_same_after_it_was_stored(made: CoreJob, replaces: JobType | None) -> None:
    obj = definition_object(made, replaces=replaces)
    definition = read_definition(json.loads(json.dumps(obj)))
    assert (definition.job, definition.replaces, definition.is_writable) == (made, replaces, True)
    assert not has_null(obj)


@settings(max_examples=examples(100, 200), deadline=None)
@given(jobs, jobs, unknown, st.dictionaries(st.sampled_from(GROUPS), unknown))
def test_a_job_is_the_same_after_it_was_stored_over_another_one(
    old: CoreJob, new: CoreJob, foreign: dict[str, Any], nested: dict[str, dict[str, Any]]
) -> None:
    existing = definition_object(old, replaces=JobType.ONE_OFF)
    existing["spec"] |= foreign
    for group, names in nested.items():
        existing["spec"][group] = {**existing["spec"].get(group, {}), **names}
    before = deep_copy(existing)
    made = definition_object(new, existing)
    assert existing == before
    assert read_definition(made).job == new
    assert foreign.items() <= made["spec"].items()
    assert all(names.items() <= made["spec"][group].items() for group, names in nested.items() if names)
    again = definition_object(new, made)
    assert again == made
    # As it is written, and without what a merge patch can't say: a null that was there before.
    if old.type is new.type and not has_null(existing):
        assert apply_merge_patch(existing, merge_patch_ignoring_nulls(existing, made)) == made


WORDS = [
    *({*SPEC_V1, *SPEC_V2}),
    *("kind", "metadata", "labels", "spec", "status", "objects", "conditions", "history"),
    *("name", "namespace", "stdout", "claim", "script", "defaults", STORAGE_VERSION_LABEL),
]
names = st.sampled_from(WORDS) | st.text(max_size=3)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["ScheduledJob", "CronJob", "1", "2", "/a", "\ud800"])
)
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=15,
)
any_spec = anything | st.fixed_dictionaries({}, optional=dict.fromkeys(WORDS[:26], anything))


@settings(max_examples=examples(100, 500), deadline=None)
@given(any_spec, st.sampled_from(["1", "2"]) | anything, anything, st.sampled_from(JobType))
def test_nothing_but_the_one_error_is_raised_for_a_spec_and_a_status(
    spec: Any, version: Any, status: Any, type_: JobType
) -> None:
    obj = {**stored(spec, version, type_), "status": status}
    with suppress(UnreadableDefinition):
        definition = read_definition(obj)
        if definition.is_writable:
            assert (
                read_definition(definition_object(definition.job, obj, definition.replaces)).job
                == definition.job
            )


@settings(max_examples=examples(100, 300), deadline=None)
@given(anything, st.dictionaries(st.sampled_from(["kind", "metadata", "spec", "status"]), anything))
def test_nothing_but_the_one_error_is_raised_for_any_object(whole: Any, parts: dict[str, Any]) -> None:
    for obj in (whole, parts, {**stored({}), **parts}):
        with suppress(UnreadableDefinition):
            read_definition(obj)
