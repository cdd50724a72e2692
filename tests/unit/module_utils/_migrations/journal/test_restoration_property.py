# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking a write back by field, whatever the objects: what it changed goes back, and nothing else moves."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.field_sets import values_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.list_types import shapes_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import built_in_kinds
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.restoration import (
    revert_fields,
)
from hypothesis import given, settings
from hypothesis import strategies as st

SHAPES = shapes_of(built_in_kinds()["apps/v1", "Deployment"])

texts = st.sampled_from(["1", "2", "3"])
names = st.sampled_from(["a", "b", "c"])
texts_by_name = st.dictionaries(names, texts, max_size=3)


def _containers() -> st.SearchStrategy[list[Object]]:
    env = st.lists(names, max_size=2, unique=True).flatmap(
        lambda keys: st.tuples(*[st.fixed_dictionaries({"name": st.just(k), "value": texts}) for k in keys])
    )
    one = st.fixed_dictionaries(
        {"name": names, "image": texts},
        optional={"env": env.map(list), "args": st.lists(texts, max_size=2), "resources": texts_by_name},
    )
    return st.lists(one, max_size=3, unique_by=lambda item: item["name"])


objects = st.fixed_dictionaries(
    {},
    optional={
        "metadata": st.fixed_dictionaries(
            {},
            optional={
                "labels": texts_by_name,
                "annotations": texts_by_name,
                "finalizers": st.lists(names, max_size=2, unique=True),
            },
        ),
        "spec": st.fixed_dictionaries(
            {},
            optional={
                "replicas": st.integers(0, 2),
                "selector": st.fixed_dictionaries({"matchLabels": texts_by_name}),
                "template": st.fixed_dictionaries(
                    {"spec": st.fixed_dictionaries({"containers": _containers()})}
                ),
            },
        ),
    },
)


def filled(obj: Object) -> dict[Any, Any]:
    """The fields of an object that hold something."""
    return {field: value for field, value in values_of(obj, SHAPES).items() if value not in ({}, [])}


def parts_of(field: Any) -> list[Any]:
    """A field and all that it is a part of."""
    return [field[:length] for length in range(1, len(field) + 1)]


@settings(max_examples=200, deadline=None)
@given(objects, objects)
def test_an_object_that_others_have_not_changed_since_is_as_before(before: Object, after: Object) -> None:
    back = revert_fields(before, after, after, SHAPES, force=False)
    assert filled(back.content) == filled(before)
    assert back.retained == ()


@settings(max_examples=200, deadline=None)
@given(objects, objects, objects)
def test_fields_that_the_write_did_not_change_stay_unchanged(
    before: Object, after: Object, now: Object
) -> None:
    then, wrote, live = filled(before), filled(after), filled(now)
    back = filled(revert_fields(before, after, now, SHAPES, force=False).content)
    for field in {**live, **back}:
        if live.get(field) == back.get(field):
            continue
        # An item of a list goes and comes with all that is in it.
        assert any(then.get(part) != wrote.get(part) for part in parts_of(field)), field
        assert back.get(field) == then.get(field) or back.get(field) is None, field


@settings(max_examples=200, deadline=None)
@given(objects, objects, objects)
def test_again_nothing_changes(before: Object, after: Object, now: Object) -> None:
    first = revert_fields(before, after, now, SHAPES, force=False)
    again = revert_fields(before, after, first.content, SHAPES, force=False)
    assert again.content == first.content
    assert again.retained == first.retained


@settings(max_examples=200, deadline=None)
@given(objects, objects, objects)
def test_by_force_all_that_the_write_changed_is_as_before(before: Object, after: Object, now: Object) -> None:
    then, wrote = filled(before), filled(after)
    back = filled(revert_fields(before, after, now, SHAPES, force=True).content)
    for field in {**then, **wrote}:
        if then.get(field) != wrote.get(field):
            # An item that somebody has removed stays removed.
            gone = any(part[-1].startswith("k:") and part not in back for part in parts_of(field))
            assert gone or back.get(field) == then.get(field), field
