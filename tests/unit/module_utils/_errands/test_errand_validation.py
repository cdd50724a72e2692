# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with a spec: all of it at once, each with its place and what to do."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import errand_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_validation import errand_problems

from tests.support.played_errands import container, errand_object, one_file


def problems(**fields: Any) -> list[str]:
    """What is wrong with an errand."""
    return errand_problems(errand_from(errand_object(**fields)))


def mapped(**files: Any) -> dict[str, Any]:
    """An output with files of the container main."""
    return {"outputMap": {"main": files}}


def test_nothing_is_wrong_with_a_good_errand() -> None:
    assert problems() == []
    assert (
        problems(output=one_file(versioned=True, secretLabels={"a": "b"}, secretAnnotations={"c": "d"})) == []
    )
    assert problems(output={**one_file(), "secretLabels": {"quarks.cloudfoundry.org/x": ""}}) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"containers": [container("hold-x")]}, "container hold-x: the prefix hold- is reserved"),
        ({"pod": {"volumes": [{"name": "kyma-output-0"}]}}, "volume kyma-output-0: the prefix"),
        (
            {"output": {"outputMap": {"other": {"f": {"name": "x"}}}}},
            "names container other, and the template",
        ),
        ({"output": mapped(**{"a/b": {"name": "x"}})}, "file 'a/b': a file is named without its folder"),
        ({"output": mapped(**{"..": {"name": "x"}})}, "file '..'"),
        ({"output": mapped(**{"a\nb": {"name": "x"}})}, "file 'a\\nb'"),
        ({"output": one_file("No Name")}, "'No Name' is no valid name of a Secret"),
        ({"output": one_file("x" * 254)}, "is no valid name"),
        ({"output": one_file("x" * 250, versioned=True)}, "or too long"),
        ({"output": one_file("x-v2", versioned=True)}, "is itself the name of a version"),
        ({"output": mapped(f={"name": "x"}, g={"name": "x"})}, "another file becomes the Secret x, too"),
        ({"output": one_file(secretLabels={"a": "no label!"})}, "the value of label 'a' is invalid"),
        ({"output": {**one_file(), "secretLabels": {"a b": ""}}}, "the label 'a b' has an invalid name"),
        ({"output": one_file(secretAnnotations={"a b": ""})}, "the annotation 'a b' has an invalid name"),
        (
            {
                "output": one_file(
                    versioned=True, secretLabels={"quarks.cloudfoundry.org/secret-version": "1"}
                )
            },
            "is reserved",
        ),
        (
            {"output": {**mapped(f={"name": "x"}, g={"name": "y"}), "from": "terminationMessage"}},
            "has 2 files, and a container has one termination message",
        ),
        (
            {
                "containers": [container(volumeMounts=[{"name": "v", "mountPath": "/mnt/quarks/x/"}])],
                "output": one_file(),
            },
            "container main mounts a volume at /mnt/quarks/x",
        ),
    ],
)
def test_an_invalid_field_has_one_message(fields: dict[str, Any], expected: str) -> None:
    messages = problems(**fields)
    assert len(messages) == 1, messages
    assert expected in messages[0]


def test_all_problems_are_found_at_once() -> None:
    files = {"a/b": {"name": "No"}, "c": {"name": "x", "secretLabels": {"a": "!"}}}
    messages = problems(containers=[container(), container("hold-x")], output=mapped(**files))
    assert len(messages) == 4


def test_nothing_is_mounted_over_where_there_is_no_output() -> None:
    mounted = [container(volumeMounts=[{"name": "v", "mountPath": "/mnt/quarks"}])]
    assert problems(containers=mounted) == []
    assert problems(containers=mounted, output={**one_file(), "from": "terminationMessage"}) == []


def test_no_errand_runs_where_the_accounts_of_runs_are() -> None:
    errand = errand_object(output=one_file())
    errand["metadata"]["namespace"] = "kyma-lifecycle"
    (problem,) = errand_problems(errand_from(errand))
    assert "no errand runs in the namespace kyma-lifecycle" in problem
    assert problem.endswith("Declare it in another namespace")
