# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The component list, in the format that Kyma has always had, with our optional keys."""

from __future__ import annotations

import json

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.component_list import (
    ComponentList,
    is_outside,
    read_component_list,
    seconds_of,
)

KYMA = """\
---
defaultNamespace: kyma-system
prerequisites:
  - name: "cluster-essentials"
  - name: "istio"
    namespace: "istio-system"
components:
  - name: "logging"
"""


def list_in(text: str, file: str) -> ComponentList:
    """The list of a text with nothing wrong."""
    listed, problems = read_component_list(text, file)
    assert problems == ()
    return listed


def problems_of(text: str, file: str) -> list[str]:
    """What is wrong with a text."""
    return [str(problem) for problem in read_component_list(text, file)[1]]


def test_kyma_s_own_format() -> None:
    listed = list_in(KYMA, "components.yaml")
    assert listed.default_namespace == "kyma-system"
    assert listed.entries == (
        ComponentEntry("cluster-essentials", "kyma-system", prerequisite=True),
        ComponentEntry("istio", "istio-system", prerequisite=True),
        ComponentEntry("logging", "kyma-system"),
    )


def test_the_default_namespace_has_a_default() -> None:
    assert list_in("components: [{name: a}]", "f").entries[0].namespace == "kyma-system"


def test_our_optional_keys_are_read() -> None:
    text = (
        "components:\n- name: a\n  needs: [b, c]\n  timeout: 10m\n  source: x/y\n  version: 2.10\n"
        "  role: my.own.role\n  provides: [networking.istio.io, mesh.test]\n"
        "- {name: b, needs: a, timeout: 90, provides: mesh.test}\n"
    )
    first, second = list_in(text, "f").entries
    assert first == ComponentEntry(
        "a",
        "kyma-system",
        needs=("b", "c"),
        timeout=600.0,
        source="x/y",
        version="2.10",
        role="my.own.role",
        provides=("networking.istio.io", "mesh.test"),
    )
    assert (second.needs, second.timeout, second.provides) == (("a",), 90.0, ("mesh.test",))


@pytest.mark.parametrize(
    "text",
    [
        "defaultNamespace: kyma-lifecycle\ncomponents: [{name: a}]",
        "components:\n- {name: a, namespace: kyma-lifecycle}",
        "prerequisites:\n- {name: a, namespace: kyma-lifecycle}\ncomponents:\n- name: b",
    ],
)
def test_no_component_is_in_the_namespace_of_the_collection(text: str) -> None:
    (problem,) = problems_of(text, "f")
    assert "amespace is kyma-lifecycle, and that belongs to the collection" in problem


def test_json_with_tabs_is_read() -> None:
    text = '{\n\t"components": [\n\t\t{"name": "a", "version": 2.10, "needs": []}\n\t]\n}\n'
    assert list_in(text, "components.json").entries == (ComponentEntry("a", "kyma-system", version="2.10"),)


@pytest.mark.parametrize("version", ["1-\U0001f680", r"\ud83d\ude80", r"\\ud83d\\ude80", 'ä/\t"\n'])
def test_json_with_escapes_is_read(version: str) -> None:
    text = json.dumps({"components": [{"name": "a", "version": version}]})
    assert list_in(text, "components.json").entries[0].version == version


@pytest.mark.parametrize("escape", [r"\ud83d", r"\ude80\ud83d", r"\UD83D\UDE80"])
def test_half_a_character_of_json_is_refused(escape: str) -> None:
    (problem,) = problems_of(f'{{"components": [{{"name": "{escape}"}}]}}', "components.json")
    assert "not YAML" in problem


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("600", 600),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1.5h", 5400),
        ("2d", 172800),
        ("0", None),
        ("", None),
    ],
)
def test_durations_are_read_as_seconds(text: str, seconds: float | None) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["10 m", "m", "d", "1w", "-5", "10m1h"])
def test_invalid_durations_are_refused(text: str) -> None:
    assert seconds_of(text) is None


@pytest.mark.parametrize(
    ("path", "out"),
    [("a/b", False), ("a/../b", False), ("./a", False), ("../a", True), ("a/../../b", True), ("/a", True)],
)
def test_paths_that_lead_out(path: str, out: bool) -> None:
    assert is_outside(path) is out


def test_all_errors_are_reported_at_once_with_their_lines() -> None:
    text = """\
defaultNamespace: Upper
extra: 1
prerequisites: {}
components:
  - name: a
    need: b
    timeout: soon
  - name: a
  - namespace: x
  - plain
  - name: ../b
    source: ../c
  - name: global
  - name: c
    needs: [{d: 1}]
    version: [1]
  - name: foundation
"""
    assert [one.removeprefix("components.yaml:") for one in problems_of(text, "components.yaml")] == [
        "1: the key 'extra' is unknown here: there are defaultNamespace, prerequisites, components",
        "1: 'Upper' can't be a namespace's name",
        "5: the key 'need' is unknown here: did you mean needs?",
        "5: the timeout 'soon' is neither seconds nor like 10m or 1h30m",
        "8: the component a is there twice, first on line 5",
        "9: a component needs a name",
        "1: entry 4 of components must be a mapping with a name",
        "11: '../b' can't be a component's name: it may have lower-case letters, digits and '-'",
        "11: the source '../c' must be a path inside of the release",
        "13: no component can be called global: that is for values and migrations of the whole deployment",
        "14: needs must be a list of strings",
        "14: version must be a string",
        "17: no component can be called foundation:"
        " that is the namespaces and CRDs that are deployed before any component",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("components: []\n", "the list has no components"),
        ("components:\n  a: b\n", "components must be a list"),
        ("- a\n", "one mapping is wanted here"),
        ("", "one mapping is wanted here"),
        ("components: [{name: a}]\ncomponents: [{name: b}]\n", "f:2: the key 'components' is there twice"),
    ],
)
def test_a_file_without_a_list_is_refused(text: str, message: str) -> None:
    (problem,) = problems_of(text, "f")
    assert message in problem


@pytest.mark.parametrize(
    "role", ["/tmp/evil", "./evil", "../evil", "evil/tasks", "~/evil", "{{ evil }}", "a b"]
)
def test_a_role_is_a_name_and_no_path_to_code(role: str) -> None:
    (problem,) = problems_of(f"components: [{{name: a, role: '{role}'}}]\n", "components.yaml")
    assert "can't be a role's name" in problem


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (
            "networking.istio.io/v1beta1",
            "is no API group such as networking.istio.io: give it without version",
        ),
        ("Gateway", "is no API group"),
        ("istio", "is no API group"),
        ('""', "is no API group"),
        ("networking.k8s.io", "provides has networking.k8s.io, which every cluster serves"),
        ("{a: b}", "provides must be a list of strings"),
    ],
)
def test_a_component_provides_api_groups_of_custom_resources(group: str, message: str) -> None:
    (problem,) = problems_of(f"components:\n- name: a\n  provides: [{group}]\n", "components.yaml")
    assert message in problem
