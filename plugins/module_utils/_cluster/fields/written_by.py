# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks objects whose manifest sets no field, such as a Namespace that has only a name: pure.

The server records no field manager of such an object in ``managedFields``. Only objects that name us there
are ever deleted, so these get one field.
"""

from __future__ import annotations

from typing import Any

from ..cluster import FIELD_MANAGER, Object

WRITTEN_BY = "lifecycle.kyma-project.io/written-by"
"""The annotation, with the name of our field manager."""
_WITHOUT_MANAGER = frozenset(
    {
        *("apiVersion", "kind", "metadata", "status", "name", "generateName", "namespace"),
        *("uid", "resourceVersion", "generation", "creationTimestamp", "selfLink"),
    }
)
"""The fields of an object and of its metadata for which the server records no field manager."""


def with_writer(obj: Object) -> Object:
    """The object, with the annotation if it sets no field."""
    meta = obj["metadata"]
    fields = {**obj, **meta}
    if any(_has_field(value) for key, value in fields.items() if key not in _WITHOUT_MANAGER):
        return obj
    return {**obj, "metadata": {**meta, "annotations": {WRITTEN_BY: FIELD_MANAGER}}}


def _has_field(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return value is not None if inner is None else any(map(_has_field, inner))
