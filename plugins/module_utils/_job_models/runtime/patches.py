# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON merge patches (RFC 7386) between runtime objects: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.cluster import Object
from ..._cluster.deep_copy import deep_copy
from ..._cluster.fields.json_patch import apply_merge_patch, merge_patch_between


def merge_patch(old: Mapping[str, Any], new: Mapping[str, Any]) -> Object:
    """The smallest merge patch that turns ``old`` into ``new``; empty if they are equal.

    A null field is an absent field, as for the API server: a merge patch can't say it otherwise. A list is
    replaced as a whole, so nulls inside it stay.
    """
    return deep_copy(merge_patch_between(old, _without_nulls(new)))


def apply_patch(obj: Mapping[str, Any], patch: Mapping[str, Any]) -> Object:
    """The object after a merge patch. The result shares nothing with either argument."""
    patched: Object = deep_copy(apply_merge_patch(obj, patch))
    return patched


def _without_nulls(fields: Mapping[str, Any]) -> Object:
    return {
        name: _without_nulls(value) if isinstance(value, Mapping) else value
        for name, value in fields.items()
        if value is not None
    }
