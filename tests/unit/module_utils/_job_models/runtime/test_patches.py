# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A merge patch leads from one object to another, and says no more than it must."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.patches import (
    merge_patch_ignoring_nulls,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    st.none() | st.sampled_from([0, 2, "", "x", False]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=3)


def without_nulls(value: Any) -> Any:
    """What an API server makes of nulls in maps."""
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    return value


@settings(max_examples=examples(100, 200), deadline=None)
@given(OBJECTS, OBJECTS)
def test_a_patch_turns_one_object_into_the_other(old: Any, new: Any) -> None:
    before = deep_copy((old, new))
    patch = merge_patch_ignoring_nulls(old, new)
    assert apply_merge_patch(old, patch) == without_nulls(new)
    assert (old, new) == before


@settings(max_examples=examples(100, 200), deadline=None)
@given(OBJECTS, OBJECTS)
def test_no_part_of_a_patch_can_be_left_out(old: Any, new: Any) -> None:
    patch = merge_patch_ignoring_nulls(old, new)
    for name in patch:
        shorter = {other: value for other, value in patch.items() if other != name}
        assert apply_merge_patch(old, shorter) != without_nulls(new)


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({"a": 1}, {"a": 1}, {}),
        ({"a": 1}, {"b": 2}, {"a": None, "b": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
        ({}, {"a": {}}, {"a": {}}),
        ({"a": [1, 2]}, {"a": [1]}, {"a": [1]}),
        ({"a": {"b": 1}}, {"a": [{"b": None}]}, {"a": [{"b": None}]}),
        ({}, {"a": {"b": None}}, {"a": {}}),
        ({"a": 1}, {"a": None}, {"a": None}),
        ({"a": "x"}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_a_patch(old: Any, new: Any, patch: Any) -> None:
    assert merge_patch_ignoring_nulls(old, new) == patch


def test_a_patch_shares_nothing_with_the_arguments() -> None:
    new: Any = {"kept": {"x": []}, "added": [{}]}
    patch = merge_patch_ignoring_nulls({"kept": {"x": []}}, new)
    patch["added"].append(1)
    assert new == {"kept": {"x": []}, "added": [{}]}
