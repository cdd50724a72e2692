# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has written an object, by its ``managedFields``: pure.

Only objects that name us there are ever deleted. The server records no field manager of an object whose
manifest sets no field, such as a Namespace that has only a name, so these get one field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._text import one_line
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


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of ``managedFields`` is ours, or that of a migration."""
    name = str(entry.get("manager"))
    return name == FIELD_MANAGER or name.startswith(f"{FIELD_MANAGER}/")


def is_write_of(entry: Mapping[str, Any], manager: str, operation: str) -> bool:
    """Whether an entry of ``managedFields`` is a manager's write of the object itself, by an operation."""
    author = (entry.get("manager"), entry.get("operation"))
    return author == (manager, operation) and not entry.get("subresource")


def is_written_by(meta: Mapping[str, Any], manager: str = FIELD_MANAGER) -> bool:
    """Whether a field manager is among the writers of an object itself, by its metadata."""
    return any(
        one.get("manager") == manager and not one.get("subresource")
        for one in meta.get("managedFields") or ()
    )


def written_by(meta: Mapping[str, Any]) -> str:
    """The field managers of an object in parentheses, for a message; empty if they are unknown."""
    managers = sorted({one_line(one.get("manager")) for one in meta.get("managedFields") or ()})
    return f" (written by {', '.join(managers)})" if managers else ""
