# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON schemas of the files that people write agree with their readers, and with all examples."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_validation import job_problems
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.module import DEFINITION as MODULE
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.component_list import (
    read_component_list,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.release_file import parse_release_file

from tests.cluster.paths import ROOT
from tests.make.file_schemas import FOLDER, file_schemas, render

DATA = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data")

COMPONENTS, RELEASE, MODULES, JOBS = (
    f"{name}.schema.json" for name in ("components", "release", "modules", "jobs")
)
SCHEMAS = file_schemas()
LINE = re.compile(r"# yaml-language-server: \$schema=(\S+)")


def schema_problems(name: str, content: object) -> list[str]:
    validator = jsonschema.Draft7Validator(SCHEMAS[name])
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(content)]


def component_problems(text: str) -> list[str]:
    return [str(one) for one in read_component_list(text, "components.yaml")[1]]


def release_problems(text: str) -> list[str]:
    try:
        parse_release_file(text, "release.yaml")
    except LifecycleError as error:
        return [str(error)]
    return []


def module_problems(text: str) -> list[str]:
    spec = {"modules": MODULE.argument_spec["modules"]}
    validated = ArgumentSpecValidator(spec).validate({"modules": yaml.safe_load(text)})
    return list(validated.error_messages)


def job_file_problems(text: str) -> list[str]:
    problems = []
    for entry in yaml.safe_load(text):
        fields = {name: value for name, value in entry.items() if value is not None}
        fields.pop("namespace", None)
        problems += job_problems(fields.pop("name", ""), fields.pop("type", ""), fields)
    return problems


READERS: dict[str, Callable[[str], list[str]]] = {
    COMPONENTS: component_problems,
    RELEASE: release_problems,
    MODULES: module_problems,
    JOBS: job_file_problems,
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_files_are_up_to_date(name: str) -> None:
    command = "run `make fix`, or `python -m tests.make.file_schemas`"
    assert (FOLDER / name).read_text("utf-8") == render(SCHEMAS[name]), command
    jsonschema.Draft7Validator.check_schema(SCHEMAS[name])


WELL_FORMED = [
    (
        COMPONENTS,
        "components: [{name: a, timeout: 600}, {name: b-1, timeout: 1h, needs: a, version: 1.10}]",
    ),
    (
        COMPONENTS,
        "{defaultNamespace: x, prerequisites: [{name: a, provides: [a.org]}], components: }",
    ),
    (
        COMPONENTS,
        "components: [{name: a, role: acme.a, source: charts/a, namespace: b, needs: [b, c]}]",
    ),
    (RELEASE, "{version: 1.10, upgrades_from: [v1.9, 1.8.2-rc1], kubernetes: '>=1.27,<1.37'}"),
    (RELEASE, "{upgrades_from: 1.9}"),
    (MODULES, "[{name: a, version: 1.1, default: yes, needs: [b], configuration: {kind: A}}]"),
    (MODULES, "[{name: a, state: absent, policy: ignore, delete_resources: 'true', channel: fast}]"),
    (JOBS, "[{name: a, type: one-off, image: b, command: [c, d], memory: 128Mi, cpu: 0.5, retry: 2}]"),
]


@pytest.mark.parametrize(("name", "text"), WELL_FORMED)
def test_a_schema_takes_all_that_its_reader_takes(name: str, text: str) -> None:
    assert READERS[name](text) == []
    assert schema_problems(name, yaml.safe_load(text)) == []


def test_a_list_of_modules_may_have_templates() -> None:
    listed = [{"name": "a", "state": "{{ b }}", "default": "{{ c }}", "needs": "{{ d }}"}]
    assert schema_problems(MODULES, listed) == []


REFUSED = [
    (COMPONENTS, "components: [{name: a, nedes: [b]}]"),
    (COMPONENTS, "component: [{name: a}]"),
    (COMPONENTS, "components: {name: a}"),
    (COMPONENTS, "components: [a]"),
    (COMPONENTS, "components: [{namespace: a}]"),
    (COMPONENTS, "components: [{name: A_1}]"),
    (COMPONENTS, "components: [{name: a, needs: [{name: b}]}]"),
    (COMPONENTS, "components: [{name: a, timeout: soon}]"),
    (COMPONENTS, "components: [{name: a, role: ../roles/a}]"),
    (COMPONENTS, "components: [{name: a, provides: [example]}]"),
    (COMPONENTS, "defaultNamespace: shop"),
    (COMPONENTS, "[{name: a}]"),
    (RELEASE, "{version: [1.0]}"),
    (RELEASE, "{version: latest}"),
    (RELEASE, "{upgrade_from: [1.0]}"),
    (RELEASE, "{upgrades_from: {a: b}}"),
    (MODULES, "[{version: 1.0}]"),
    (MODULES, "[{name: a, chanel: fast}]"),
    (MODULES, "[{name: a, state: present}]"),
    (MODULES, "[{name: a, default: maybe}]"),
    (MODULES, "[{name: a, configuration: [b]}]"),
    (MODULES, "[{name: a, policy: delete}]"),
    (JOBS, "[{type: one-off, image: a}]"),
    (JOBS, "[{name: a, type: daily, image: a}]"),
    (JOBS, "[{name: a, type: one-off, image: a, retries: 2}]"),
    (JOBS, "[{name: a, type: one-off, image: a, retry: '2'}]"),
    (JOBS, "[{name: a, type: one-off, image: a, mount: {path: /a}}]"),
    (JOBS, "[{name: a, type: scheduled, image: a, schedule: '@daily', suspend: 'yes'}]"),
    (JOBS, "[{name: a, type: continuous, image: a, health_check: {url: /a}}]"),
]


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_a_schema_refuses_forms_that_its_reader_refuses(name: str, text: str) -> None:
    assert READERS[name](text)
    assert schema_problems(name, yaml.safe_load(text))


def releases_of_kyma() -> list[Path]:
    return sorted(DATA.glob("kyma-releases/**/components.yaml"))


def test_the_component_lists_of_all_releases_of_kyma_have_the_schema() -> None:
    lists = releases_of_kyma()
    if not lists:
        pytest.skip("there is no real data here")
    assert {str(one): schema_problems(COMPONENTS, yaml.safe_load(one.read_text())) for one in lists} == {
        str(one): [] for one in lists
    }


EXAMPLES = {
    "examples/release/components.yaml": COMPONENTS,
    "examples/release/release.yaml": RELEASE,
    "examples/job_store/jobs.yaml": JOBS,
}


@pytest.mark.parametrize(("path", "schema"), EXAMPLES.items())
def test_an_example_names_its_schema_and_has_it(path: str, schema: str) -> None:
    example = ROOT / path
    text = example.read_text("utf-8")
    [named] = LINE.findall(text)
    assert (example.parent / named).resolve() == (FOLDER / schema).resolve()
    assert schema_problems(schema, yaml.safe_load(text)) == []


def test_the_lists_of_modules_in_examples_and_guides_have_the_schema() -> None:
    [play] = yaml.safe_load((ROOT / "examples" / "modules.yml").read_text("utf-8"))
    lists: list[Any] = [play["tasks"][0]["vars"]["kyma_modules"]]
    pages = ("guide_modules.md", "guide_community_modules.md")
    guide = "".join((ROOT / "docs" / page).read_text("utf-8") for page in pages)
    for block in re.findall(r"^```yaml\n(.*?)^```", guide, re.MULTILINE | re.DOTALL):
        lists += [one for one in _values_of(yaml.safe_load(block), "kyma_modules") if isinstance(one, list)]
    assert len(lists) > 2
    assert [schema_problems(MODULES, one) for one in lists] == [[] for _one in lists]


def _values_of(content: object, key: str) -> list[Any]:
    if isinstance(content, list):
        return [value for one in content for value in _values_of(one, key)]
    if not isinstance(content, dict):
        return []
    return [
        *([content[key]] if key in content else []),
        *(value for one in content.values() for value in _values_of(one, key)),
    ]


GUIDES = {
    "docs/guide_release.md": (COMPONENTS, RELEASE),
    "docs/guide_modules.md": (MODULES,),
    "docs/guide_job_store.md": (JOBS,),
}


@pytest.mark.parametrize("path", GUIDES)
def test_a_guide_shows_the_line_for_editors(path: str) -> None:
    named = {Path(one).name for one in LINE.findall((ROOT / path).read_text("utf-8"))}
    assert named == {*GUIDES[path]}
