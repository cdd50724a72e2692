# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON patches as merge patches that come to the same, for whatever objects and patches."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.json_patch import (
    PatchRefused,
    apply_json_patch,
    apply_merge_patch,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.journal.intended_writes import (
    as_merge_patch,
    with_preconditions,
)
from hypothesis import given, settings
from hypothesis import strategies as st

names = st.sampled_from(["a", "b", "c"])
leaves = st.sampled_from(["1", "2", 3, True])
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
specs = st.dictionaries(names, values, max_size=3)
paths = st.lists(st.sampled_from(["a", "b", "c", "0", "1", "-"]), min_size=1, max_size=3).map(
    lambda parts: "/spec/" + "/".join(parts)
)
operations = st.one_of(
    st.fixed_dictionaries(
        {"op": st.sampled_from(["add", "replace", "test"]), "path": paths, "value": values}
    ),
    st.fixed_dictionaries({"op": st.just("remove"), "path": paths}),
    st.fixed_dictionaries({"op": st.sampled_from(["move", "copy"]), "path": paths, "from": paths}),
)


def _object(spec: Any) -> Object:
    meta = {"name": "a", "namespace": "n", "resourceVersion": "7"}
    return {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": meta, "spec": spec}


@given(specs, st.lists(operations, min_size=1, max_size=4))
@settings(max_examples=300, deadline=None)
def test_a_json_patch_and_its_merge_patch_have_the_same_result(
    spec: dict[str, Any], patch: list[dict[str, Any]]
) -> None:
    before = _object(spec)
    merge = as_merge_patch(patch, before)
    try:
        after = apply_json_patch(before, patch)
    except PatchRefused:
        # The server is asked, and says why.
        assert merge is None
        return
    if merge is None:
        assert after == before
        return
    assert apply_merge_patch(before, merge) == after
    # What was done once is the same when it is done twice.
    assert apply_merge_patch(after, merge) == after


def test_a_merge_patch_of_a_list_holds_for_the_version_that_was_read() -> None:
    before = _object({"lines": ["x"]})
    patch = as_merge_patch([{"op": "add", "path": "/spec/lines/-", "value": "y"}], before)
    assert patch == {"spec": {"lines": ["x", "y"]}}
    assert with_preconditions(patch, before) == {"metadata": {"resourceVersion": "7"}, **patch}
    assert as_merge_patch([{"op": "add", "path": "/spec/x", "value": 1}], None) is None
