# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A stored job is the same, also in old versions; unknown fields survive; reading raises one error only."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
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
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import (
    FIELD_NAMES,
    core_job,
    fields_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.patches import merge_patch
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    API_VERSION,
    DEFINITION_KINDS,
    UnreadableDefinition,
    definition_object,
    read_definition,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

KEY = JobKey("shop", "report")
SPEC_V1 = {
    "cmd": "./report --all 1>>/data/out 2>>'/data/the errors'",
    "image": "busybox",
    "memory": "1Gi",
    "cpu": "1",
    "env": {"A": "b"},
    "mount": {"claim": "files", "path": "/data"},
    "retry": 2,
    "schedule": "@daily",
    "timezone": "Europe/Berlin",
    "suspend": True,
    "timeout": 60,
    "replicas": 2,
    "port": 80,
    "healthScript": "true",
    "emails": "all",
    "extra": {"CronJob": {"metadata": {"labels": {"a": "b"}}}},
    "extraNulls": ["/CronJob/spec"],
    "replaces": "one-off",
}
SPEC_V2 = {
    **{name: value for name, value in SPEC_V1.items() if name != "cmd"},
    "command": "./report --all",
    "logs": {"stdout": "/data/out", "stderr": "/data/the errors"},
}
SPEC_V3 = {
    **{name: value for name, value in SPEC_V2.items() if name not in ("memory", "cpu", "healthScript")},
    "resources": {"memory": "1Gi", "cpu": "1"},
    "healthCheck": {"script": "true"},
}

SPEC_V4 = SPEC_V3
"""A ``spec`` of version 3 is one of version 4, which has more fields."""
MORE_OF_V4 = {
    "command": ["./report", "--all"],
    "env": {"A": "b", "PASSWORD": {"secretKeyRef": {"name": "login", "key": "password"}}},
    "requests": {"memory": "512Mi"},
    "limits": {"memory": "1Gi", "example.com/gpu": "1"},
    "volumes": [
        {"path": "/data", "claim": "files"},
        {"path": "/etc/report", "read_only": True, "config_map": {"name": "report", "optional": True}},
    ],
    "imagePullSecrets": ["registry"],
    "sidecars": [{"name": "proxy", "image": "proxy:1"}],
    "healthCheck": {"command": ["check"]},
    "storeLabels": False,
    "concurrencyPolicy": "Replace",
    "ttl": 60,
    "tolerations": [{"operator": "Exists"}],
    "automountServiceAccountToken": False,
    "podLabels": {"team": "a"},
}


def stored(spec: Any, version: Any = "4", type_: JobType = JobType.SCHEDULED) -> dict[str, Any]:
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
    one, two, three, four = (
        read_definition(stored(spec, str(version)))
        for version, spec in enumerate((SPEC_V1, SPEC_V2, SPEC_V3, SPEC_V4), start=1)
    )
    assert one.job == two.job == three.job == four.job
    assert fields_of(three.job) == {
        "command": "./report --all",
        "image": "busybox",
        "memory": "1Gi",
        "cpu": "1",
        "env": {"A": "b"},
        "mount": {"claim": "files", "path": "/data"},
        "retry": 2,
        "schedule": "@daily",
        "timezone": "Europe/Berlin",
        "suspend": True,
        "timeout": 60,
        "replicas": 2,
        "port": 80,
        "health_check": {"script": "true"},
        "logs": {"stdout": "/data/out", "stderr": "/data/the errors"},
        "emails": "all",
        "extra": {"CronJob": {"metadata": {"labels": {"a": "b"}}, "spec": None}},
    }
    assert {each.replaces for each in (one, two, three, four)} == {JobType.ONE_OFF}
    assert [each.storage_version for each in (one, two, three, four)] == [1, 2, 3, 4]
    assert one.is_writable
    assert (one.key, one.type, one.status.run) == (KEY, JobType.SCHEDULED, 4)


@pytest.mark.parametrize(("spec", "version"), [(SPEC_V1, "1"), (SPEC_V2, "2"), (SPEC_V3, "3")])
def test_an_old_version_is_written_as_the_current_one(spec: dict[str, Any], version: str) -> None:
    existing = stored(spec, version)
    before = deep_copy(existing)
    made = definition_object(read_definition(existing).job, existing, JobType.ONE_OFF)
    assert made == stored(SPEC_V4)
    assert existing == before


def test_all_stored_names_of_version_4_keep_their_meaning() -> None:
    spec = yaml.safe_load((Path(__file__).parent / "version_4.yaml").read_text())
    definition = read_definition(stored(spec))
    assert definition_object(definition.job, replaces=definition.replaces)["spec"] == spec
    fields = fields_of(definition.job)
    assert {*fields} == {*FIELD_NAMES}
    assert fields["extra"]["CronJob"].pop("spec", "") is None
    resources = {name: fields.pop(name) for name in ("memory", "cpu")}
    names = {re.sub("[A-Z]", lambda one: f"_{one[0].lower()}", name): name for name in spec}
    del names["extra_nulls"], names["replaces"]
    assert {**fields, "resources": resources} == {ours: spec[name] for ours, name in names.items()}


def test_the_fields_of_version_4_are_read_and_written() -> None:
    definition = read_definition(stored(MORE_OF_V4))
    assert definition_object(definition.job)["spec"] == MORE_OF_V4
    fields = fields_of(definition.job)
    assert (fields["command"], fields["ttl"], fields["store_labels"]) == (["./report", "--all"], 60, False)
    assert fields["pod_labels"] == {"team": "a"}
    # As options have them.
    assert core_job(KEY, JobType.SCHEDULED, fields) == definition.job


def test_equal_patches_are_stored_alike() -> None:
    many = [None] * 12
    spec = {"b": {"two": None, "one": None}, "a": many}
    turned = {"a": many, "b": {"one": None, "two": None}}
    one, other = (
        definition_object(job(image="a", extra={"CronJob": {"spec": patch}})) for patch in (spec, turned)
    )
    assert one == other
    assert one["spec"]["extraNulls"][-2:] == ["/CronJob/spec/b/one", "/CronJob/spec/b/two"]
    assert read_definition(one).job.extra == {"CronJob": {"spec": spec}}


def test_a_name_that_only_version_4_knows_has_no_meaning_in_an_older_one() -> None:
    existing = stored({"image": "a", "ttl": "soon"}, "3")
    definition = read_definition(existing)
    assert fields_of(definition.job) == {"image": "a"}
    assert definition_object(definition.job, existing)["spec"] == {"image": "a"}


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("command", ["a", 1], "is a list, not a list of texts"),
        ("env", {"A": True}, "has 'A', which is not a text"),
        ("volumes", ["data"], "is a list, not a list of mappings"),
        ("volumes", [{"secret": "a", "claim": "b"}], "has 2 sources in its entry 1, not one"),
        ("healthCheck", {"tcp": 1}, "has tcp, which is 1, not true or false"),
        ("affinity", ["a"], "is not a mapping"),
    ],
)
def test_a_value_of_another_shape_is_named(field: str, value: Any, problem: str) -> None:
    with pytest.raises(UnreadableDefinition, match=f"spec.{field} {problem}"):
        read_definition(stored({field: value}))


def test_a_line_that_empties_its_log_files_first_stays_whole() -> None:
    for line in ("./report 1>/data/out 2>/data/err", "./report 1>>/data/out 2>/data/err"):
        fields = fields_of(read_definition(stored({"cmd": line}, "1")).job)
        assert fields == {"command": line}


def test_only_fields_that_were_set_are_stored() -> None:
    made = definition_object(job(JobType.ONE_OFF, image="a", memory="", logs={}, retry=0, env={}))
    assert made == {
        "apiVersion": API_VERSION,
        "kind": "OneOffJob",
        "metadata": {"name": "report", "namespace": "shop", "labels": {STORAGE_VERSION_LABEL: "4"}},
        "spec": {
            "image": "a",
            "resources": {"memory": ""},
            "env": {},
            "retry": 0,
            "logs": {"stdout": ""},
        },
    }
    assert definition_object(job(), made | {"kind": "ScheduledJob"})["spec"] == {}


def test_unknown_fields_survive_a_write() -> None:
    spec = {
        **SPEC_V3,
        "mount": {"claim": "files", "path": "/data", "readOnly": True},
        "resources": {"memory": "1Gi", "gpu": {"count": 1}},
        "logs": {"rotate": [1]},
        "healthCheck": {"script": "true", "seconds": 5},
        "extra": {"CronJob": {"spec": {"suspend": True}}, "Note": {"by": ["hand"]}},
        "colour": {"of": "sky"},
        "cmd": "not ours in version 4",
    }
    made = definition_object(job(image="b", cpu="2", mount={"claim": "other"}), stored(spec))
    assert made["spec"] == {
        "image": "b",
        "mount": {"claim": "other", "readOnly": True},
        "resources": {"cpu": "2", "gpu": {"count": 1}},
        "logs": {"rotate": [1]},
        "healthCheck": {"seconds": 5},
        "extra": {"Note": {"by": ["hand"]}},
        "colour": {"of": "sky"},
        "cmd": "not ours in version 4",
    }
    assert made["metadata"] == stored({})["metadata"]
    assert fields_of(read_definition(made).job) == {
        "image": "b",
        "cpu": "2",
        "mount": {"claim": "other"},
    }


@pytest.mark.parametrize(("spec", "version"), [(SPEC_V1, "1"), (SPEC_V2, "2"), (SPEC_V3, "3")])
def test_an_unknown_name_in_extra_is_no_field_and_stays(spec: dict[str, Any], version: str) -> None:
    existing = stored({**spec, "extra": {"Note": 1}, "extraNulls": None}, version)
    read_job = read_definition(existing).job
    assert "extra" not in read_job.given
    made = definition_object(read_job, existing)
    assert made["spec"]["extra"] == {"Note": 1}
    patched = core_job(
        KEY, read_job.type, {**fields_of(read_job), "extra": {"CronJob": {"spec": {"a": None}}}}
    )
    both = definition_object(patched, made)
    assert both["spec"]["extra"] == {"Note": 1, "CronJob": {"spec": {}}}
    assert read_definition(both).job == patched
    assert definition_object(read_job, both) == made


def test_unknown_fields_survive_a_migration_unless_their_name_has_a_meaning_now() -> None:
    spec = {
        **SPEC_V1,
        "mount": {"claim": "files", "path": "/data", "readOnly": True},
        "colour": "red",
        "resources": {"gpu": 1, "memory": "unknown to version 1"},
        "healthCheck": "unknown to version 1",
        "portProtocol": "unknown to version 1",
    }
    existing = stored(spec, "1")
    made = definition_object(read_definition(existing).job, existing, JobType.ONE_OFF)
    assert made["spec"] == {
        **SPEC_V3,
        "mount": {"claim": "files", "path": "/data", "readOnly": True},
        "colour": "red",
        "resources": {"gpu": 1, "memory": "1Gi", "cpu": "1"},
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
            "labels": {"team": "a", STORAGE_VERSION_LABEL: "4"},
            "annotations": {"note": "x"},
        },
        "spec": {"image": "b", "colour": 1, "replaces": "scheduled"},
    }


def test_a_newer_version_is_read_as_far_as_it_is_known_and_not_written() -> None:
    existing = stored({"image": "a", "command": {"b": 1}, "replaces": 3, "new": 1}, "99")
    definition = read_definition(existing)
    assert (definition.storage_version, definition.is_writable, definition.replaces) == (99, False, None)
    assert fields_of(definition.job) == {"image": "a"}
    with pytest.raises(
        UnreadableDefinition, match=r"storage version is 99, and this release writes at most 4"
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
    "env list": (stored({"env": [{"name": "A"}]}), "spec.env is not a mapping"),
    "group": (stored({"resources": {"cpu": []}}), "spec.resources has cpu, which is a list, not a text"),
    "extra": (stored({"extra": "x"}), "spec.extra is not a mapping"),
    "nulls": (stored({"extraNulls": "/a"}), "spec.extraNulls is '/a', not a list of texts"),
    "pointer": (stored({"extra": {}, "extraNulls": ["/a/b"]}), "'/a/b', which leads nowhere in extra"),
    "negative place": (
        stored({"extra": {"Job": {"a": [1]}}, "extraNulls": ["/Job/a/-1"]}),
        "'/Job/a/-1', which leads nowhere in extra",
    ),
    "negative step": (
        stored({"extra": {"Job": {"a": [{}]}}, "extraNulls": ["/Job/a/-1/b"]}),
        "'/Job/a/-1/b', which leads nowhere in extra",
    ),
    "type": (stored({"replaces": "daily"}), "spec.replaces is 'daily', not one of one-off, sched"),
    "two": (stored({"retry": "a", "image": []}), "spec.image is a list, not a text; spec.retry"),
    "old": (stored({"cmd": 1, "healthScript": {}}, "1"), "spec.healthScript is a mapping, not a text"),
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
        read_definition(stored({"extra": {"CronJob": deep}}))


def test_a_broken_definition_is_mended_by_a_write() -> None:
    made = definition_object(job(image="b"), stored({"image": [], "env": 3, "resources": "x", "a": 1}, None))
    assert made["spec"] == {"image": "b", "a": 1}
    assert fields_of(read_definition(made).job) == {"image": "b"}


def test_numbers_that_yaml_reads_where_a_text_is_needed() -> None:
    definition = read_definition(stored({"resources": {"cpu": 1, "memory": 0.5}, "env": {"A": 2}}))
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
        "extra": st.dictionaries(st.sampled_from(["Job", "CronJob"]), json_values),
    },
)
jobs = st.builds(core_job, st.just(KEY), st.sampled_from(JobType), fields)
replacements = st.none() | st.sampled_from(JobType)
unknown = st.dictionaries(st.sampled_from(["x", "y"]), json_values, max_size=2)
GROUPS = ("resources", "mount", "healthCheck", "logs", "extra")


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
        assert apply_merge_patch(existing, merge_patch(existing, made)) == made


v1_specs = st.fixed_dictionaries(
    {},
    optional={
        "cmd": st.text(max_size=20) | st.sampled_from([SPEC_V1["cmd"], "a 1>x", "a 1>>x 2>y", "exec 1>>a;b"]),
        "memory": texts["memory"],
        "cpu": texts["cpu"],
        "healthScript": st.text(),
        **{name: numbers[name] for name in ("retry", "port")},
        "env": st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
        "extra": st.dictionaries(st.sampled_from(["Job", "CronJob"]), json_values),
        "x": json_values,
        "replaces": st.sampled_from([str(one) for one in JobType]),
        "mount": st.fixed_dictionaries({"claim": st.text(), "x": json_values}, optional={"path": st.text()}),
    },
)


@settings(max_examples=examples(100, 200), deadline=None)
@given(v1_specs)
def test_nothing_is_lost_from_version_1_to_4(spec: dict[str, Any]) -> None:
    existing = stored(spec, "1")
    definition = read_definition(existing)
    made = definition_object(definition.job, existing, definition.replaces)
    again = read_definition(made)
    assert (again.job, again.replaces, again.storage_version) == (definition.job, definition.replaces, 4)
    left = dict(made["spec"])
    resources = left.pop("resources", {})
    assert {name: spec[name] for name in ("memory", "cpu") if name in spec} == resources
    assert left.pop("healthCheck", {}).get("script") == spec.get("healthScript")
    command, logs = left.pop("command", None), left.pop("logs", {})
    assert (command is None) == ("cmd" not in spec)
    assert all(file in spec["cmd"] for file in [command, *logs.values()] if file)
    for name in ("retry", "port", "env", "x", "replaces"):
        assert left.get(name) == spec.get(name)
    if "mount" in spec:
        # The default path is not stored.
        mount = {name: value for name, value in spec["mount"].items() if (name, value) != ("path", "")}
        assert left["mount"] == mount
    if "extra" in spec:
        assert definition.job.extra == spec["extra"]


WORDS = [
    *({*SPEC_V1, *SPEC_V2, *SPEC_V3}),
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
    | st.sampled_from(["ScheduledJob", "1", "2", "3", "4", "/a", "\ud800"])
)
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=15,
)
any_spec = anything | st.fixed_dictionaries({}, optional=dict.fromkeys(WORDS[:20], anything))


@settings(max_examples=examples(100, 500), deadline=None)
@given(any_spec, st.sampled_from(["1", "2", "3", "4"]) | anything, anything, st.sampled_from(JobType))
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
