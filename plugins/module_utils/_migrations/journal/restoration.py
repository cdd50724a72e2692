# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reverts one journaled write to an object, field by field: pure.

A field is the same as in server-side apply (KEP-555): an item of a keyed list is a field too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._cluster.cluster import Object, manager_of
from ..._cluster.fields.field_owners import entries_of
from ..._cluster.fields.field_sets import (
    ABSENT,
    ITEM,
    Field,
    as_text,
    field_value,
    item_key,
    member_of,
    values_of,
)
from ..._cluster.fields.list_types import Shapes
from ..._cluster.fields.managed_fields import SERVER_METADATA
from ..._deep_copy import deep_copy
from .journal_entry import STATUS, JournalEntry

_NOT_WRITTEN = frozenset({*SERVER_METADATA, "selfLink"})
"""Metadata that clients do not write; ``selfLink`` is from old servers."""

CONTROLLERS_OWN = (
    ("f:metadata", "f:annotations"),
    ("f:metadata", "f:finalizers"),
    ("f:metadata", "f:ownerReferences"),
)
"""Fields that controllers add to any object. They do not prevent the deletion of a created object."""


@dataclass(frozen=True)
class WritableState:
    """The writable state of an object, current or wanted.

    Attributes:
        content: its writable fields; None if the object does not exist.
        uid: its uid, to recognize a recreated object.
        recreated: whether it has to be created again, because it was deleted.
        makers: the field managers that may have created it, as far as its ``managedFields`` say.
        writers: all field managers in its ``managedFields``.
    """

    content: Object | None
    uid: str = ""
    recreated: bool = False
    makers: frozenset[str] = frozenset()
    writers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RevertResult:
    """The result of reverting one write.

    Attributes:
        state: the object after it.
        fields: paths of the reverted fields.
        retained: paths of fields that have changed since the write, and stay unchanged.
        already_reverted: paths of fields that already have their value from before the write.
        whole: whether the whole object already is as before the write.
        reason: why nothing of it could be reverted, or empty.
    """

    state: WritableState
    fields: tuple[str, ...] = ()
    retained: tuple[str, ...] = ()
    already_reverted: tuple[str, ...] = ()
    whole: bool = False
    reason: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether the write is reverted completely."""
        return not (self.retained or self.reason)


def writable_state(obj: Object | None, *, status: bool = False) -> WritableState:
    """The state of an object. It includes the status only if the status was written."""
    if obj is None:
        return WritableState(None)
    managers = [one for one in entries_of(obj) if not one.get("subresource")]
    return WritableState(
        writable_content(obj, status=status),
        _uid(obj),
        makers=_makers(obj, managers),
        writers=frozenset(one.get("manager", "") for one in managers),
    )


def writable_content(obj: Object, *, status: bool = False) -> Object:
    """The writable fields of an object: without its name, and without fields that the server sets."""
    left_out = ("apiVersion", "kind", "metadata", *(() if status else (STATUS,)))
    meta = {key: value for key, value in obj["metadata"].items() if key not in _NOT_WRITTEN}
    content = {key: value for key, value in obj.items() if key not in left_out}
    return {**deep_copy(content), **({"metadata": deep_copy(meta)} if meta else {})}


def revert_write(
    entry: JournalEntry, now: WritableState, shapes: Shapes, *, force: bool = False
) -> RevertResult:
    """Revert one write.

    Args:
        entry: the write.
        now: the current object.
        shapes: how values of its kind merge.
        force: also overwrite fields that have changed since, but not those of an object that was recreated.
    """
    if entry.before is None:
        return _without_creation(entry, now, shapes, force=force)
    if entry.after is None:
        return _without_deletion(entry, now, shapes)
    status = entry.subresource == STATUS
    before, after = (
        writable_content(entry.before, status=status),
        writable_content(entry.after, status=status),
    )
    if now.content is None:
        return RevertResult(now, reason="it is gone, and with it what the migration has changed")
    back = revert_fields(before, after, now.content, shapes, force=force)
    if now.uid != _uid(entry.before) and (back.fields or back.retained):
        return RevertResult(now, already_reverted=back.already_reverted, reason="it was recreated since")
    return RevertResult(replace(now, content=back.content), back.fields, back.retained, back.already_reverted)


def _without_creation(
    entry: JournalEntry, now: WritableState, shapes: Shapes, *, force: bool
) -> RevertResult:
    if now.content is None or entry.after is None:
        return RevertResult(now, whole=True)
    if entry.is_settled and now.uid != _uid(entry.after):
        return RevertResult(now, reason="it was recreated since")
    made = writable_content(entry.after)
    changed = () if force else _differences(made, now.content, shapes, additions=entry.is_settled)
    # Others may write journals. A write without an answer may have had no effect, and another client may
    # have created the object.
    creators = now.writers if entry.is_settled else now.makers
    if not (now.recreated or manager_of(entry.migration) in creators):
        reason = "its managedFields don't say that the migration created it"
        return RevertResult(now, retained=changed, reason=reason)
    if changed:
        return RevertResult(now, retained=changed)
    return RevertResult(WritableState(None), ("the object",))


def _without_deletion(entry: JournalEntry, now: WritableState, shapes: Shapes) -> RevertResult:
    if entry.before is None:
        return RevertResult(now)
    was = writable_content(entry.before)
    if now.content is None:
        return RevertResult(WritableState(was, _uid(entry.before), recreated=True), ("the object",))
    differing = _differences(was, now.content, shapes)
    if now.uid == _uid(entry.before) or not differing:
        # It was never deleted, or an earlier undo was not recorded.
        return RevertResult(now, whole=not differing)
    return RevertResult(now, retained=differing, reason="it was recreated since")


def _uid(obj: Object) -> str:
    return str(obj["metadata"].get("uid", ""))


def _makers(obj: Object, managers: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Field managers that may have created it. ``managedFields`` only have each manager's last write."""
    made = obj["metadata"].get("creationTimestamp", "")
    # The server sets the time of a manager just before it creates the object.
    return frozenset(one.get("manager", "") for one in managers if one.get("time", "") <= made)


def _differences(made: Object, now: Object, shapes: Shapes, *, additions: bool = True) -> tuple[str, ...]:
    """Paths that differ from the created object, without fields that controllers add to any object.

    Without ``additions`` no added field counts: if no answer arrived, the server's defaults aren't known.
    """
    then, live = values_of(made, shapes), values_of(now, shapes)
    return tuple(
        _text(field)
        for field in ({**then, **live} if additions else then)
        if then.get(field, ABSENT) != live.get(field, ABSENT)
        and (field in then or not any(field[: len(own)] == own for own in CONTROLLERS_OWN))
        # If a map or list is no longer empty, its fields are listed instead.
        and not (field in then and then[field] in ({}, []))
    )


@dataclass(frozen=True)
class RevertedFields:
    """An object after some fields were reverted; see :class:`RevertResult`."""

    content: Object
    fields: tuple[str, ...]
    retained: tuple[str, ...]
    already_reverted: tuple[str, ...]


def revert_fields(
    before: Object, after: Object, now: Object, shapes: Shapes, *, force: bool
) -> RevertedFields:
    """Revert each field that differs between before and after, if its current value is that of after."""
    then, wrote, live = (values_of(obj, shapes) for obj in (before, after, now))
    back: dict[Field, Any] = {}
    retained: list[Field] = []
    already_reverted: list[Field] = []
    emptied: list[Field] = []
    for field in {**then, **wrote}:
        was, became, current = (values.get(field, ABSENT) for values in (then, wrote, live))
        if was == became:
            continue
        if current == was:
            already_reverted.append(field)
        elif current is ABSENT and (_is_empty(was) or _is_empty(became)) and _is_filled(field, live, wrote):
            # Its fields are reverted one by one. The empty map itself only stays if no field is left.
            emptied += [field] if _is_empty(was) else []
        elif current == became or force:
            back[field] = was
        else:
            retained.append(field)
    if not force:
        _keep_items_whole(back, live, retained)
    _leave_lost_items(back, live, retained)
    content = _with(now, back, then)
    for field in emptied:
        if not _is_lost(field, {**live, **back}) and field_value(content, field) is ABSENT:
            _put(content, field, then[field])
    changed = values_of(content, shapes)
    # A map that stays, because others have added fields to it, was not reverted.
    fields = [field for field in back if changed.get(field, ABSENT) != live.get(field, ABSENT)]
    return RevertedFields(content, _texts(fields), _texts(retained), _texts(already_reverted))


def _is_empty(value: Any) -> bool:
    return isinstance(value, (dict, list)) and not value


def _is_filled(field: Field, *objects: Mapping[Field, Any]) -> bool:
    """Whether one of the objects has fields in this map or list."""
    return any(other[: len(field)] == field and other != field for values in objects for other in values)


def _leave_lost_items(back: dict[Field, Any], live: Mapping[Field, Any], retained: list[Field]) -> None:
    """Do not revert fields in an item of a list that is gone: they need the item."""
    for field in [field for field, value in back.items() if value is not ABSENT]:
        if _is_lost(field, {**live, **back}):
            del back[field]
            retained.append(field)


def _is_lost(field: Field, present: Mapping[Field, Any]) -> bool:
    above = (field[:length] for length in range(1, len(field)))
    return any(_is_item(one[-1]) and present.get(one, ABSENT) is ABSENT for one in above)


def _keep_items_whole(back: dict[Field, Any], live: Mapping[Field, Any], retained: list[Field]) -> None:
    """Remove an item of a list completely, or not at all if others have changed it."""
    for item in [field for field, value in back.items() if value is ABSENT and live.get(field) is ITEM]:
        inside = [field for field in live if field[: len(item)] == item and field != item]
        if any(back.get(field, item) is not ABSENT for field in inside):
            retained.append(item)
            for field in (item, *inside):
                back.pop(field, None)


def _with(obj: Object, values: Mapping[Field, Any], order: Mapping[Field, Any]) -> Object:
    """The object with other values. Absent fields are removed, and so are maps that become empty by that."""
    changed: Object = deep_copy(obj)
    absent = {field for field, value in values.items() if value is ABSENT}
    for field in sorted(absent, key=len, reverse=True):
        # Fields in an item are removed with it. Without its keys the item could not be found.
        if not any(
            field[:length] in absent and _is_item(field[length - 1]) for length in range(1, len(field))
        ):
            _remove(changed, field)
    for field, value in sorted(values.items(), key=lambda one: len(one[0])):
        if value is not ABSENT:
            _put(changed, field, value)
    for lists in {field[:-1] for field, value in values.items() if value is ITEM}:
        _sort(changed, lists, [field[-1] for field in order if field[:-1] == lists])
    return changed


def _is_item(element: str) -> bool:
    return element.startswith("k:")


def _remove(node: Any, field: Field) -> None:
    child = member_of(node, field[0])
    if child is ABSENT:
        return
    if len(field) > 1:
        _remove(child, field[1:])
        if child or not isinstance(child, (dict, list)):
            return
    if isinstance(node, dict):
        del node[field[0][2:]]
    else:
        node[:] = [item for item in node if item is not child]


def _put(node: Any, field: Field, value: Any) -> None:
    element, inside = field[0], field[1:]
    child = member_of(node, element)
    if not inside and (value is ITEM or element.startswith("v:")):
        if child is ABSENT:
            node.append(json.loads(element[2:]))
        return
    if not inside:
        _set(node, element, deep_copy(value))
        return
    if child is ABSENT:
        child = _set(node, element, {} if inside[0].startswith("f:") else [])
    _put(child, inside, value)


def _set(node: Any, element: str, value: Any) -> Any:
    if isinstance(node, dict):
        node[element[2:]] = value
        return value
    # Several items with one key, which a plain write has added.
    items = value if isinstance(value, list) else [{**json.loads(element[2:]), **value}]
    node.extend(items)
    return items[0]


def _sort(obj: Object, path: Field, order: list[str]) -> None:
    """Restore the order of the items of a list. Unknown items are last."""
    items = field_value(obj, path)
    if isinstance(items, list) and order and _is_item(order[0]):
        keys = tuple(json.loads(order[0][2:]))
        positions = {element: position for position, element in enumerate(order)}
        items.sort(key=lambda item: positions.get(item_key(item, keys) or "", len(positions)))


def _texts(fields: list[Field]) -> tuple[str, ...]:
    """Paths for people. An item of a list includes all its fields."""
    items = [field for field in fields if _is_item(field[-1])]
    shown = [f for f in fields if not any(f[: len(item)] == item and f != item for item in items)]
    return tuple(map(_text, shown))


def _text(field: Field) -> str:
    return as_text(field).lstrip(".")


def top_of(path: str) -> str:
    """The top-level field of a path."""
    return path.partition(".")[0].partition("[")[0]
