# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The intended result of a write to an object that was read before: pure."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.fields.apply_merge import merge_intent
from ..._cluster.fields.json_patch import (
    PatchRefused,
    apply_json_patch,
    apply_merge_patch,
    merge_patch_between,
)
from ..._cluster.fields.list_types import shapes_of
from ..._cluster.kinds import Kind, built_in_kinds


def with_name(obj: Object) -> Object:
    """The object with a generated name if it has none, so that it can be found even without an answer."""
    meta = obj["metadata"]
    if meta.get("name"):
        return obj
    return {**obj, "metadata": {**meta, "name": f"{meta.get('generateName', '')}{secrets.token_hex(3)}"}}


def with_preconditions(content: Mapping[str, Any], before: Object | None) -> dict[str, Any]:
    """An intent or a merge patch with the uid and resourceVersion of the object that was read, if known.

    With a resourceVersion alone, the server would recreate an object that is gone in the meantime.
    """
    meta = content.get("metadata") or {}
    if before is None:
        return dict(content)
    seen = {key: before["metadata"].get(key) for key in ("uid", "resourceVersion")}
    missing = {key: value for key, value in seen.items() if value and not meta.get(key)}
    return {**content, "metadata": {**meta, **missing}}


def as_merge_patch(
    operations: Sequence[Mapping[str, Any]], before: Object | None
) -> Mapping[str, Any] | None:
    """The merge patch with the same effect as a JSON patch on the object that was read.

    It can be repeated if its answer is lost. None if there is none: the server then says why.
    """
    if before is None:
        return None
    try:
        return merge_patch_between(before, apply_json_patch(before, operations)) or None
    except PatchRefused:
        return None


def resource_version_of(obj: Object | None) -> str:
    """The resourceVersion of an object, or empty."""
    return str(obj["metadata"].get("resourceVersion", "")) if obj is not None else ""


def expected_after_apply(before: Object, intent: Mapping[str, Any]) -> Object:
    """The approximate result of an apply, for an apply whose answer never arrived."""

    kind: Kind | None = built_in_kinds().get((before["apiVersion"], before["kind"]))
    return merge_intent(before, dict(intent), shapes_of(kind) if kind else lambda _names: None)


def expected_after_patch(before: Object, patch: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Object:
    """The object after a merge patch or a JSON patch."""
    try:
        patched: Object = (
            apply_merge_patch(before, patch)
            if isinstance(patch, Mapping)
            else apply_json_patch(before, patch)
        )
    except PatchRefused:
        # The server reports this with its own message.
        return before
    return patched


def is_same_resource_version(before: Object, after: Object | None) -> bool:
    """Whether a write has changed nothing, by the resourceVersion."""
    return after is not None and resource_version_of(before) == resource_version_of(after)
