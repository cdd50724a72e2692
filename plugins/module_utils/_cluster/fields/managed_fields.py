# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The owners of fields: the entries of ``managedFields``, and how a write changes them (KEP-555)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..cluster import Object
from .field_sets import Field, Fields, as_text, by_depth, from_fields_v1, to_fields_v1, values_of
from .list_types import Shapes

APPLY = "Apply"
UPDATE = "Update"

SERVER_METADATA = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "name",
    "namespace",
    "resourceVersion",
    "uid",
)
"""The metadata that names the object or that the server maintains."""
UNMANAGED: frozenset[Field] = frozenset(
    {("f:apiVersion",), ("f:kind",), ("f:metadata",)}
    | {("f:metadata", f"f:{name}") for name in SERVER_METADATA}
)
"""The fields that the server maintains, or that name the object: no manager owns them."""


class Manager(NamedTuple):
    """The writer, and its operation. A manager that applies is the same in every version."""

    name: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        text = f'"{self.name}"'
        if self.subresource:
            text += f' with subresource "{self.subresource}"'
        return text if self.operation == APPLY else f"{text} using {self.api_version}"


Owners = dict[Manager, Fields]


class Change(NamedTuple):
    """The difference between two states of an object."""

    written: Fields
    removed: Fields


def fields_of(obj: Object, shapes: Shapes) -> Fields:
    """All fields of an object that a manager can own."""
    return frozenset(field for field in values_of(obj, shapes) if not _is_unmanaged(field))


def change_between(old: Object, new: Object, shapes: Shapes) -> Change:
    """The fields that were added or changed, and those that were removed."""
    before, after = values_of(old, shapes), values_of(new, shapes)
    written = {field for field, value in after.items() if field not in before or before[field] != value}
    return Change(
        frozenset(field for field in written if not _is_unmanaged(field)),
        frozenset(field for field in before if field not in after and not _is_unmanaged(field)),
    )


def fields_by_manager(obj: Object) -> Owners:
    """The fields by manager."""
    owners: Owners = {}
    for entry in _entries(obj):
        applied = entry["operation"] == APPLY
        api_version = "" if applied else entry.get("apiVersion", "")
        manager = Manager(entry["manager"], entry["operation"], api_version, entry.get("subresource", ""))
        owners[manager] = from_fields_v1(entry.get("fieldsV1") or {})
    return owners


def _entries(obj: Object) -> list[Object]:
    """The entries of an object; the server may have one empty entry instead of none."""
    return [entry for entry in obj["metadata"].get("managedFields") or () if entry]


def managed_fields_entries(
    owners: Owners, api_version: str, now: str, previous: Object | None, wrote: Manager | None = None
) -> list[Object]:
    """The ``managedFields`` of an object; an entry keeps its time while its fields and their values stay.

    Args:
        owners: the fields by manager.
        api_version: the version in which the object was written.
        now: the time in RFC 3339, in whole seconds.
        previous: the object before the write, if there was one.
        wrote: the writer, if the write changed anything.
    """
    old_owners = fields_by_manager(previous) if previous else {}
    old_entries = _entries(previous) if previous else []
    old_times = {
        manager: (entry.get("time"), entry.get("apiVersion"))
        for manager, entry in zip(old_owners, old_entries, strict=True)
    }
    entries = []
    for manager, fields in owners.items():
        if not fields:
            continue
        time, old_version = old_times.get(manager, (now, ""))
        unchanged = old_owners.get(manager) == fields
        entry = {
            "manager": manager.name,
            "operation": manager.operation,
            "apiVersion": manager.api_version or (old_version if unchanged else api_version) or api_version,
            "time": time if unchanged and manager != wrote else now,
            "fieldsType": "FieldsV1",
            "fieldsV1": to_fields_v1(fields),
        }
        if manager.subresource:
            entry["subresource"] = manager.subresource
        entries.append({key: value for key, value in entry.items() if value is not None})
    return sorted(entries, key=lambda entry: (entry["operation"], entry.get("time", ""), entry["manager"]))


def after_update(owners: Owners, writer: Manager, change: Change) -> Owners:
    """The owners after a plain write: the writer owns what it changed, and removed fields have no owner."""
    mine = (owners.get(writer, frozenset()) | change.written) - change.removed
    others = {
        manager: fields - change.written - change.removed
        for manager, fields in owners.items()
        if manager != writer
    }
    return {**others, writer: mine}


def after_apply(owners: Owners, writer: Manager, intent: Fields, change: Change) -> Owners:
    """The owners after an apply without conflicts, or a forced one."""
    return {**after_update(owners, writer, change), writer: intent}


def conflicts(owners: Owners, writer: Manager, change: Change) -> list[tuple[Manager, Field]]:
    """The fields that an apply would change and that others own."""
    return [
        (manager, field)
        for manager, fields in sorted(owners.items())
        if manager != writer
        for field in sorted(fields & change.written, key=by_depth)
    ]


def conflict_status(conflicting: Iterable[tuple[Manager, Field]]) -> Mapping[str, Any]:
    """The Status with which the server refuses such an apply."""
    by_manager: dict[Manager, list[str]] = {}
    for manager, field in conflicting:
        by_manager.setdefault(manager, []).append(as_text(field))
    count = sum(map(len, by_manager.values()))
    if count == 1:
        manager, [field_text] = next(iter(by_manager.items()))
        description = f" conflict with {manager}: {field_text}"
    else:
        description = "\n".join(
            f" conflicts with {manager}:\n" + "\n".join(f"- {field}" for field in fields)
            for manager, fields in by_manager.items()
        )
    causes = [
        {"reason": "FieldManagerConflict", "message": f"conflict with {manager}", "field": field}
        for manager, fields in by_manager.items()
        for field in fields
    ]
    noun = "conflict" if count == 1 else "conflicts"
    return {
        "reason": "Conflict",
        "message": f"Apply failed with {count} {noun}:{description}",
        "details": {"causes": causes},
    }


def _is_unmanaged(field: Field) -> bool:
    return field[:2] in UNMANAGED
