# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taking one journaled write back from an object, field by field: pure.

A field is what server-side apply takes for one (KEP-555): an item of a keyed list is one of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._cluster.cluster import Object, manager_of
from ..._cluster.deep_copy import deep_copy
from ..._cluster.fields.field_sets import ITEM, Field, as_json, as_text, item_key, values_of
from ..._cluster.fields.list_types import Shapes
from ..._cluster.fields.managed_fields import SERVER_METADATA
from .journal_entry import STATUS, JournalEntry

_NOT_WRITTEN = frozenset({*SERVER_METADATA, "selfLink"})
"""Of an object's metadata, what nobody writes; ``selfLink`` is what old servers kept."""

CONTROLLERS_OWN = (
    ("f:metadata", "f:annotations"),
    ("f:metadata", "f:finalizers"),
    ("f:metadata", "f:ownerReferences"),
)
"""Where controllers add to any object: what they add keeps nobody from deleting what a migration has made."""

_ABSENT = object()


@dataclass(frozen=True)
class WritableState:
    """An object as it is, or as it is to be.

    Attributes:
        content: what can be written of it; None where there is no such object.
        uid: which object of this name it is.
        recreated: whether it has to be created, as it went.
        makers: by which field manager it was made, as far as its ``managedFields`` tell.
    """

    content: Object | None
    uid: str = ""
    recreated: bool = False
    makers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RevertResult:
    """What comes of taking one write back.

    Attributes:
        state: the object after it.
        fields: paths of what went back.
        retained: paths of what has changed since the write, and stays.
        already_reverted: paths of what is as it was before the write anyhow.
        whole: whether the object as a whole is as it was before the write anyhow.
        reason: why nothing of it could be taken back, or empty.
    """

    state: WritableState
    fields: tuple[str, ...] = ()
    retained: tuple[str, ...] = ()
    already_reverted: tuple[str, ...] = ()
    whole: bool = False
    reason: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether nothing of the write is left."""
        return not (self.retained or self.reason)


def writable_state(obj: Object | None, *, status: bool = False) -> WritableState:
    """An object as a state; its status belongs to it only if that was written."""
    if obj is None:
        return WritableState(None)
    return WritableState(writable_content(obj, status=status), _uid(obj), makers=_makers(obj))


def writable_content(obj: Object, *, status: bool = False) -> Object:
    """What can be written of an object: without what names it and what the server keeps itself."""
    left_out = ("apiVersion", "kind", "metadata", *(() if status else (STATUS,)))
    meta = {key: value for key, value in obj["metadata"].items() if key not in _NOT_WRITTEN}
    content = {key: value for key, value in obj.items() if key not in left_out}
    return {**deep_copy(content), **({"metadata": deep_copy(meta)} if meta else {})}


def revert_write(
    entry: JournalEntry, now: WritableState, shapes: Shapes, *, force: bool = False
) -> RevertResult:
    """Take one write back.

    Args:
        entry: the write.
        now: the object as it is.
        shapes: how values of its kind merge.
        force: overwrite what has changed since, too.
    """
    if entry.before is None:
        return _without_creation(entry, now, shapes, force=force)
    if entry.after is None:
        return _without_deletion(entry, now, shapes, force=force)
    status = entry.subresource == STATUS
    before, after = (
        writable_content(entry.before, status=status),
        writable_content(entry.after, status=status),
    )
    if now.content is None:
        return RevertResult(now, reason="it is gone, and with it what the migration has changed")
    back = revert_fields(before, after, now.content, shapes, force=force)
    if now.uid != _uid(entry.before) and not force and (back.fields or back.retained):
        return RevertResult(now, already_reverted=back.already_reverted, reason="it was recreated since")
    return RevertResult(replace(now, content=back.content), back.fields, back.retained, back.already_reverted)


def _without_creation(
    entry: JournalEntry, now: WritableState, shapes: Shapes, *, force: bool
) -> RevertResult:
    if now.content is None or entry.after is None:
        return RevertResult(now, whole=True)
    if entry.is_settled and now.uid != _uid(entry.after):
        return RevertResult(now, reason="it was recreated since")
    if not (entry.is_settled or now.recreated or manager_of(entry.migration) in now.makers):
        # The write may never have been made, and somebody else may have made the object by now.
        return RevertResult(now, reason="its managedFields don't say that the migration created it")
    made = writable_content(entry.after)
    changed = () if force else _differences(made, now.content, shapes, additions=entry.is_settled)
    if changed:
        return RevertResult(now, retained=changed)
    return RevertResult(WritableState(None), ("the object",))


def _without_deletion(
    entry: JournalEntry, now: WritableState, shapes: Shapes, *, force: bool
) -> RevertResult:
    if entry.before is None:
        return RevertResult(now)
    was = writable_content(entry.before)
    if now.content is None:
        return RevertResult(WritableState(was, _uid(entry.before), recreated=True), ("the object",))
    differing = _differences(was, now.content, shapes)
    if now.uid == _uid(entry.before) or not differing:
        # It never went, or it was undone before, and nobody could note it any more.
        return RevertResult(now, whole=not differing)
    if not force:
        return RevertResult(now, retained=differing, reason="it was recreated since")
    back = revert_fields(was, {}, now.content, shapes, force=True)
    return RevertResult(replace(now, content=back.content), back.fields)


def _uid(obj: Object) -> str:
    return str(obj["metadata"].get("uid", ""))


def _makers(obj: Object) -> frozenset[str]:
    """Who made it, unless he has written it again: ``managedFields`` say when each manager wrote last."""
    meta = obj["metadata"]
    made = meta.get("creationTimestamp", "")
    managers = [one for one in meta.get("managedFields") or () if not one.get("subresource")]
    # The server notes who writes just before it makes the object.
    return frozenset(one.get("manager", "") for one in managers if one.get("time", "") <= made)


def _differences(made: Object, now: Object, shapes: Shapes, *, additions: bool = True) -> tuple[str, ...]:
    """What differs from what was made, but for what controllers add to any object.

    Without ``additions`` nothing counts that was added: where no answer came, the server's defaults aren't
    known.
    """
    then, live = values_of(made, shapes), values_of(now, shapes)
    return tuple(
        _text(field)
        for field in ({**then, **live} if additions else then)
        if then.get(field, _ABSENT) != live.get(field, _ABSENT)
        and (field in then or not any(field[: len(own)] == own for own in CONTROLLERS_OWN))
        # That a map or list is no longer empty is told by what is in it.
        and not (field in then and then[field] in ({}, []))
    )


@dataclass(frozen=True)
class RevertedFields:
    """An object after some of it went back; see :class:`RevertResult`."""

    content: Object
    fields: tuple[str, ...]
    retained: tuple[str, ...]
    already_reverted: tuple[str, ...]


def revert_fields(
    before: Object, after: Object, now: Object, shapes: Shapes, *, force: bool
) -> RevertedFields:
    """What changed from before to after goes back where it now is as it was after."""
    then, wrote, live = (values_of(obj, shapes) for obj in (before, after, now))
    back: dict[Field, Any] = {}
    retained: list[Field] = []
    already_reverted: list[Field] = []
    emptied: list[Field] = []
    for field in {**then, **wrote}:
        was, became, found = (values.get(field, _ABSENT) for values in (then, wrote, live))
        if was == became:
            continue
        if found == was:
            already_reverted.append(field)
        elif found is _ABSENT and (_is_empty(was) or _is_empty(became)) and _is_filled(field, live, wrote):
            # What is in it is told by itself; it is only to stay when nothing is left in it.
            emptied += [field] if _is_empty(was) else []
        elif found == became or force:
            back[field] = was
        else:
            retained.append(field)
    if not force:
        _keep_items_whole(back, live, retained)
    _leave_lost_items(back, live, retained)
    content = _with(now, back, then)
    for field in emptied:
        if not _is_lost(field, {**live, **back}) and _at(content, field) is _ABSENT:
            _put(content, field, then[field])
    changed = values_of(content, shapes)
    # A map that stays, as others have put something into it, did not go back.
    fields = [field for field in back if changed.get(field, _ABSENT) != live.get(field, _ABSENT)]
    return RevertedFields(content, _texts(fields), _texts(retained), _texts(already_reverted))


def _is_empty(value: Any) -> bool:
    return isinstance(value, (dict, list)) and not value


def _is_filled(field: Field, *objects: Mapping[Field, Any]) -> bool:
    """Whether an object has something in this map or list."""
    return any(other[: len(field)] == field and other != field for values in objects for other in values)


def _leave_lost_items(back: dict[Field, Any], live: Mapping[Field, Any], retained: list[Field]) -> None:
    """What was in an item of a list that is gone since can't come back without it."""
    for field in [field for field, value in back.items() if value is not _ABSENT]:
        if _is_lost(field, {**live, **back}):
            del back[field]
            retained.append(field)


def _is_lost(field: Field, present: Mapping[Field, Any]) -> bool:
    above = (field[:length] for length in range(1, len(field)))
    return any(_is_item(one[-1]) and present.get(one, _ABSENT) is _ABSENT for one in above)


def _keep_items_whole(back: dict[Field, Any], live: Mapping[Field, Any], retained: list[Field]) -> None:
    """An item of a list goes with all that is in it, or, where others have changed it, not at all."""
    for item in [field for field, value in back.items() if value is _ABSENT and live.get(field) is ITEM]:
        inside = [field for field in live if field[: len(item)] == item and field != item]
        if any(back.get(field, item) is not _ABSENT for field in inside):
            retained.append(item)
            for field in (item, *inside):
                back.pop(field, None)


def _with(obj: Object, values: Mapping[Field, Any], order: Mapping[Field, Any]) -> Object:
    """The object with other values; what is absent goes, and so does what is left empty by that."""
    changed: Object = deep_copy(obj)
    absent = {field for field, value in values.items() if value is _ABSENT}
    for field in sorted(absent, key=len, reverse=True):
        # What is in an item goes with it, and without its keys it could not be found.
        if not any(
            field[:length] in absent and _is_item(field[length - 1]) for length in range(1, len(field))
        ):
            _remove(changed, field)
    for field, value in sorted(values.items(), key=lambda one: len(one[0])):
        if value is not _ABSENT:
            _put(changed, field, value)
    for lists in {field[:-1] for field, value in values.items() if value is ITEM}:
        _sort(changed, lists, [field[-1] for field in order if field[:-1] == lists])
    return changed


def _is_item(element: str) -> bool:
    return element.startswith("k:")


def _remove(node: Any, field: Field) -> None:
    child = _member(node, field[0])
    if child is _ABSENT:
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
    child = _member(node, element)
    if not inside and (value is ITEM or element.startswith("v:")):
        if child is _ABSENT:
            node.append(json.loads(element[2:]))
        return
    if not inside:
        _set(node, element, deep_copy(value))
        return
    if child is _ABSENT:
        child = _set(node, element, {} if inside[0].startswith("f:") else [])
    _put(child, inside, value)


def _set(node: Any, element: str, value: Any) -> Any:
    if isinstance(node, dict):
        node[element[2:]] = value
        return value
    # An item that no one item stands for: those of one key that a plain write has brought.
    items = value if isinstance(value, list) else [{**json.loads(element[2:]), **value}]
    node.extend(items)
    return items[0]


def _member(node: Any, element: str) -> Any:
    mark, rest = element[0], element[2:]
    if mark == "f":
        return node.get(rest, _ABSENT) if isinstance(node, dict) else _ABSENT
    if not isinstance(node, list):
        return _ABSENT
    if mark == "k":
        keys = tuple(json.loads(rest))
        return next((item for item in node if item_key(item, keys) == element), _ABSENT)
    return next((item for item in node if as_json(item) == rest), _ABSENT)


def _at(node: Any, field: Field) -> Any:
    for element in field:
        node = _member(node, element)
    return node


def _sort(obj: Object, path: Field, order: list[str]) -> None:
    """Let the items of a list stand in an order again; what is not in it comes last."""
    items = _at(obj, path)
    if isinstance(items, list) and order and _is_item(order[0]):
        keys = tuple(json.loads(order[0][2:]))
        known = {element: place for place, element in enumerate(order)}
        items.sort(key=lambda item: known.get(item_key(item, keys) or "", len(known)))


def _texts(fields: list[Field]) -> tuple[str, ...]:
    """Paths for people; an item of a list stands for all that is in it."""
    items = [field for field in fields if _is_item(field[-1])]
    shown = [f for f in fields if not any(f[: len(item)] == item and f != item for item in items)]
    return tuple(map(_text, shown))


def _text(field: Field) -> str:
    return as_text(field).lstrip(".")


def top_of(path: str) -> str:
    """The name of the top-level field that a path begins with."""
    return path.partition(".")[0].partition("[")[0]
