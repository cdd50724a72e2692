# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The user's values: files in order, then overrides; later wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.user_values import (
    merge_values,
    parse_override,
    parse_values_file,
    read_user_values,
)


@pytest.mark.parametrize(
    ("override", "values"),
    [
        ("a.b=c", {"a": {"b": "c"}}),
        ("a.b.c=d=e", {"a": {"b": {"c": "d=e"}}}),
        ("a.b=", {"a": {"b": ""}}),
        ("a.b=5", {"a": {"b": 5}}),
        ("a.b=-5", {"a": {"b": -5}}),
        ("a.b=007", {"a": {"b": "007"}}),
        ("a.b=2.10", {"a": {"b": "2.10"}}),
        ("a.b=true", {"a": {"b": True}}),
        ("a.b=null", {"a": {"b": None}}),
        ("a.b=x,c=y", {"a": {"b": "x,c=y"}}),
        (r"a.annotations.istio\.io/x=y", {"a": {"annotations": {"istio.io/x": "y"}}}),
        ("global.domainName=x.y.z", {"global": {"domainName": "x.y.z"}}),
    ],
)
def test_overrides_are_parsed(override: str, values: object) -> None:
    assert parse_override(override) == values


@pytest.mark.parametrize("override", ["a=b", "a.b", "=b", "a..b=c", ".b=c", "a.b[0]=c"])
def test_no_overrides_are_refused_without_their_value(override: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        parse_override(override.replace("=", "=hunter2"))
    assert "hunter2" not in str(caught.value)


def test_mappings_are_merged_and_all_else_is_replaced() -> None:
    assert merge_values([{"a": {"x": 1, "y": [1]}, "b": 1}, {"a": {"y": [2], "z": None}, "b": {"c": 1}}]) == {
        "a": {"x": 1, "y": [2], "z": None},
        "b": {"c": 1},
    }


def test_later_wins_and_components_share_what_is_global(tmp_path: Path) -> None:
    first, second = tmp_path / "1.yaml", tmp_path / "2.yaml"
    first.write_text("global: {domain: a, x: 1}\nory:\n  replicas: 1\n  hpa: {min: 1}\nlogging:\n")
    second.write_text("ory: {hpa: {max: 3}, global: {x: 2}}\n")
    values = read_user_values([str(first), str(second)], ["ory.replicas=2", "ory.replicas=3", "global.y=z"])
    assert values.for_component("ory") == {
        "global": {"domain": "a", "x": 2, "y": "z"},
        "replicas": 3,
        "hpa": {"min": 1, "max": 3},
    }
    assert values.for_component("logging") == {"global": {"domain": "a", "x": 1, "y": "z"}}


def test_without_values_a_chart_gets_none() -> None:
    assert read_user_values([], []).for_component("a") == {}


def test_values_that_can_take_no_effect(tmp_path: Path) -> None:
    file = tmp_path / "v.yaml"
    file.write_text("manifests: {a: 1}\nchart: {a: 1}\ngone: {a: 1}\nglobal: {b: 1}\n")
    values = read_user_values([str(file)], ["manifests.a=1", "gone.a=1", "chart.a=1"])
    assert [str(problem) for problem in values.problems({"chart"}, {"manifests"})] == [
        f"{file}: manifests is no Helm chart in this release: values can't change it",
        "the override of manifests: manifests is no Helm chart in this release: values can't change it",
        "the override of gone: the release has no component gone",
    ]
    assert values.warnings({"chart", "manifests"}) == [
        f"{file}: its values for gone are not used, as the release has no such component"
    ]
    assert any("values change nothing" in str(problem) for problem in values.problems(set(), {"manifests"}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", "v.yaml:1: a values file is one mapping"),
        ("a: {}\n---\nb: {}\n", "v.yaml:3: a values file is one mapping"),
        ("a: 1\n", "v.yaml:1: the values of a must be a mapping"),
        ("a:\n  b: 1\n  b: 2\n", "v.yaml:3: the key 'b' is there twice"),
        ("a: [\n", "v.yaml:2:1: not YAML"),
    ],
)
def test_an_invalid_values_file_is_refused(text: str, message: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        parse_values_file(text, "v.yaml")
    assert message in str(caught.value)


def test_all_problems_of_values_are_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError) as caught:
        read_user_values([str(tmp_path / "none.yaml")], ["a", "b"])
    assert len(caught.value.problems) == 3
