# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server would refuse of a Secret, said before anything is written."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.secret_validation import (
    MOST_BYTES,
    InvalidSecret,
    base_problems,
    data_problems,
    metadata_problems,
    name_problems,
    refuse_problems,
    reserved_problems,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.versioned_secrets import (
    SECRET_KIND_LABEL,
    SOURCE_ANNOTATION,
)

VALUE = "geheim-123"


@pytest.mark.parametrize("name", ["x", "a.b-c", "0", "a" * 253])
def test_names_that_are_valid(name: str) -> None:
    assert base_problems(name) == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "is invalid"),
        ("X", "is invalid"),
        ("a_b", "is invalid"),
        ("-a", "is invalid"),
        ("a..b", "is invalid"),
        ("a\n", "is invalid"),
        ("a" * 254, "has 254 characters; at most 253"),
    ],
)
def test_names_that_are_not(name: str, reason: str) -> None:
    (problem,) = name_problems(name)
    assert reason in problem


def test_the_name_of_a_version_is_no_base() -> None:
    assert base_problems("x-v3") == ["the name 'x-v3' is itself the name of a version: use the base 'x'"]


@pytest.mark.parametrize("key", ["a", ".dockerconfigjson", "a_b.C-9", "k" * 253])
def test_keys_that_are_valid(key: str) -> None:
    assert data_problems({key: VALUE}) == []


@pytest.mark.parametrize("key", ["", "a/b", "a b", ".", "..", "..a", "ü", "a\n", "k" * 254])
def test_keys_that_are_not(key: str) -> None:
    (problem,) = data_problems({key: VALUE})
    assert problem.startswith("the key ")
    assert VALUE not in problem


@pytest.mark.parametrize(
    ("value", "kind"),
    [(4711, "number"), (True, "boolean"), (None, "null"), ([VALUE], "list"), ({"a": VALUE}, "mapping")],
)
def test_values_have_to_be_texts(value: object, kind: str) -> None:
    (problem,) = data_problems({"port": value})
    assert problem.startswith(f"the value of key 'port' is of type {kind}, not a text")
    assert VALUE not in problem
    assert "4711" not in problem


def test_a_value_that_is_no_unicode() -> None:
    (problem,) = data_problems({"a": f"{VALUE}\ud800"})
    assert "cannot be encoded as UTF-8" in problem
    assert VALUE not in problem


def test_the_limit_counts_bytes_of_all_values() -> None:
    half = "ü" * (MOST_BYTES // 4)
    assert data_problems({"a": half, "b": half}) == []
    (problem,) = data_problems({"a": half, "b": half + "!"})
    assert f"its values have {MOST_BYTES + 1} bytes" in problem
    assert "at most 1048576 bytes (1 MiB)" in problem


METADATA: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"A/b": "c"}, {}, "the label 'A/b' has an invalid name"),
    ({}, {"a/": "x"}, "the annotation 'a/' has an invalid name"),
    ({"a b": "c"}, {}, "the label 'a b' has an invalid name"),
    ({"a/b/c": "d"}, {}, "the label 'a/b/c' has an invalid name"),
    ({"a": "b c"}, {}, "the value of label 'a' is invalid"),
    ({"a": "b" * 64}, {}, "the value of label 'a' is invalid"),
    ({"a": 1}, {}, "the value of label 'a' is of type number: quote it"),
    ({}, {"a": True}, "the value of annotation 'a' is of type boolean: quote it"),
    ({}, {"a": "b" * (256 * 1024)}, "its annotations have 262145 bytes"),
]


@pytest.mark.parametrize(("labels", "annotations", "expected"), METADATA)
def test_labels_and_annotations(labels: dict[str, Any], annotations: dict[str, Any], expected: str) -> None:
    (problem,) = metadata_problems(labels, annotations)
    assert problem.startswith(expected)


def test_labels_and_annotations_that_are_valid() -> None:
    assert metadata_problems({"app": "shop", "example.com/app": ""}, {"A.b/C": "any text: ü\n"}) == []


def test_the_label_and_the_annotation_of_versions_are_reserved() -> None:
    problems = reserved_problems({SECRET_KIND_LABEL: "x"}, {SOURCE_ANNOTATION: "y"})
    assert [problem.split(" is ")[0] for problem in problems] == [
        f"the label {SECRET_KIND_LABEL}",
        f"the annotation {SOURCE_ANNOTATION}",
    ]
    assert reserved_problems({"a": "b"}, {"c": "d"}) == []


def test_all_problems_are_named_at_once() -> None:
    refuse_problems("cannot write Secret a/b", [])
    with pytest.raises(InvalidSecret, match=r"^cannot write Secret a/b: one; two\. Nothing was written\.$"):
        refuse_problems("cannot write Secret a/b", ["one", "two"])
