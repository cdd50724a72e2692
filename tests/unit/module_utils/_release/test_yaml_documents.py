# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML as kubectl understands it; the expectations were taken from kubectl 1.36 itself."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.release_error import ReleaseError
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.yaml_documents import (
    LocatedMapping,
    plain_text,
    read_documents,
)


def value(text: str) -> object:
    (document,) = read_documents(text, "f.yaml")
    return document.value


@pytest.mark.parametrize(
    ("scalar", "meaning"),
    [
        ("=", "="),
        ("1:30", "1:30"),
        ("12:30:45", "12:30:45"),
        ("2021-01-01", "2021-01-01"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ("1.2.3", "1.2.3"),
        ("1e3", 1000),
        ("6.02E+23", 6.02e23),
        ("1h4567", "1h4567"),
        ("1e4567", "1e4567"),
        ("1.0", 1),
        ("1.50", 1.5),
        (".5", 0.5),
        ("5.", 5),
        ("+.5", 0.5),
        ("0644", 420),
        ("0o644", 420),
        ("-0x10", -16),
        ("0b11", 3),
        ("089", 89),
        ("00", 0),
        ("+5", 5),
        ("++5", "++5"),
        ("1_000", 1000),
        ("_1", "_1"),
        ("123456789012", 123456789012),
        ("18446744073709551616", 1.8446744073709552e19),
        ("y", True),
        ("Yes", True),
        ("OFF", False),
        ("yEs", "yEs"),
        ("~", None),
        ("Null", None),
        ("", None),
        ('"5"', "5"),
        ("'true'", "true"),
        ("!!str 5", "5"),
        ("!!int '5'", 5),
        ("!!binary aGVsbG8=", "hello"),
    ],
)
def test_scalars_mean_what_kubectl_takes_them_for(scalar: str, meaning: object) -> None:
    parsed = value(f"k: {scalar}")
    assert parsed == {"k": meaning}
    assert type(parsed["k"]) is type(meaning)  # type of 1 and 1.0, of 1 and True


@pytest.mark.parametrize(
    ("key", "string"), [("8080", "8080"), ("1.5", "1.5"), ("4.0", "4"), ("on", "true"), ("n", "false")]
)
def test_keys_become_strings(key: str, string: str) -> None:
    assert value(f"{key}: a") == {string: "a"}


def test_anchors_and_merges_are_resolved() -> None:
    text = "a: &a {x: 1, y2: 2}\nb: {<<: *a, x: 3}\nc: {<<: [*a, {z: 1}]}\nd: [*a]\n"
    assert value(text) == {
        "a": {"x": 1, "y2": 2},
        "b": {"x": 3, "y2": 2},
        "c": {"x": 1, "y2": 2, "z": 1},
        "d": [{"x": 1, "y2": 2}],
    }


def test_values_of_an_alias_are_not_shared() -> None:
    parsed = value("a: &a {x: 1}\nb: *a\n")
    assert isinstance(parsed, dict)
    parsed["a"]["x"] = 2
    assert parsed["b"] == {"x": 1}


def test_documents_know_their_lines_and_empty_ones_are_left_out() -> None:
    text = "---\n# nothing\n---\na: 1\n---\n---\n\n# words\nb: 2\n...\n"
    assert [(document.value, document.line) for document in read_documents(text, "f")] == [
        ({"a": 1}, 4),
        ({"b": 2}, 9),
    ]
    assert read_documents("", "f") == []


def test_the_last_of_duplicate_keys_counts_and_all_are_reported() -> None:
    (document,) = read_documents("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n", "f")
    assert document.value == {"a": 3, "b": {"c": 2}}
    assert document.duplicates == (("c", 4), ("a", 5))


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "f.yaml:3:2", "not YAML"),
        ("a:\n\t- b\n", "f.yaml:2:1", "cannot start any token"),
        ("a: *nobody\n", "f.yaml:1:4", "names no anchor"),
        ("a: &a [*a]\n", "f.yaml:1:8", "names no anchor"),
        ("x: 1\na: .inf\n", "f.yaml:2:4", "JSON has no such number"),
        ("a: !vault x\n", "f.yaml:1:4", "the tag !vault is not known"),
        ("a: !!set {x}\n", "f.yaml:1:4", "is not known"),
        ("a: !!python/object/apply:os.system [id]\n", "f.yaml:1:4", "os.system is not known"),
        ("? [a, b]\n: c\n", "f.yaml:1:3", "a key must be a string"),
        ("a: {<<: 1}\n", "f.yaml:1:9", "takes a mapping"),
        ("ok: 1\nbad: \x01\n", "f.yaml:2", "not YAML"),
        ("[" * 5000, "f.yaml", "nested too deeply"),
    ],
)
def test_errors_name_file_line_and_column(text: str, place: str, message: str) -> None:
    with pytest.raises(ReleaseError) as caught:
        read_documents(text, "f.yaml")
    assert str(caught.value).startswith(f"{place}: ")
    assert message in str(caught.value)


def test_aliases_of_aliases_do_not_use_up_the_memory() -> None:
    """Nine lines of nine aliases each are a billion values."""
    lines = ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
    with pytest.raises(ReleaseError, match=r"f.yaml:7:40: its aliases repeat more than 1000000 values"):
        read_documents("\n".join(lines), "f.yaml")


def test_text_keeps_scalars_as_they_stand_and_mappings_their_lines() -> None:
    (document,) = read_documents(
        "version: 2.10\nx:\n  y: ~\n", "f", scalar=plain_text, mapping=LocatedMapping
    )
    assert document.value == {"version": "2.10", "x": {"y": None}}
    assert document.value["x"].line == 3


@pytest.fixture
def without_libyaml(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML as it is installed where libyaml is not."""
    monkeypatch.delattr(yaml, "CSafeLoader")


TABS = [
    ("a: 1\t\nb: 2\n", {"a": 1, "b": 2}),
    ("a:\t1\n", {"a": 1}),
    ("a: 'x'\t\nb: \"y\"\t# z\n", {"a": "x", "b": "y"}),
    ("a: 1 \t # z\n", {"a": 1}),
    ("a: x\ty\n", {"a": "x\ty"}),
    ("a: x \t y\n  z\n", {"a": "x \t y z"}),
    ("a: {b: 1,\tc: [2,\n\t3]}\t\n", {"a": {"b": 1, "c": [2, 3]}}),
    ("a:\n- x\t\n- z\n", {"a": ["x", "z"]}),
    ("a: x\t\n  y\n", {"a": "x y"}),
    ("a: x\t#y\t# z\n", {"a": "x"}),
    ("a: [x\t, y\tz\t]\n", {"a": ["x", "y\tz"]}),
    ("a\t: b\n", {"a": "b"}),
    ("a: x\t", {"a": "x"}),
    ("a: |\n  x\ty\n  \tz\n", {"a": "x\ty\n\tz\n"}),
    ("a: # \t\n  b\nc: d\n", {"a": "b", "c": "d"}),
]


@pytest.mark.parametrize(("text", "value"), TABS)
@pytest.mark.usefixtures("without_libyaml")
def test_tabs_are_read_without_libyaml(text: str, value: Any) -> None:
    assert [document.value for document in read_documents(text, "f.yaml")] == [value]


@pytest.mark.parametrize(("text", "value"), TABS)
def test_tabs_are_read_as_with_libyaml(text: str, value: Any) -> None:
    assert [document.value for document in read_documents(text, "f.yaml")] == [value]


@pytest.mark.parametrize("text", ["a:\n\tb: 1\n", "a:\n-\tb: 1\n", "a: b\n\tc: d\n"])
@pytest.mark.usefixtures("without_libyaml")
def test_a_tab_that_indents_is_refused_without_libyaml_too(text: str) -> None:
    with pytest.raises(ReleaseError, match=r"f.yaml:[12]:\d: not YAML"):
        read_documents(text, "f.yaml")
