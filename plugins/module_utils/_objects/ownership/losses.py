# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of others that a write takes out of an object, by ``managedFields`` (KEP-555): pure."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import MANAGED_BY, Object, Ref, ref_of
from ..._cluster.fields.field_owners import entries_of
from ..._cluster.fields.field_sets import ABSENT, Field, Fields, as_json, as_text, field_value
from ..._cluster.fields.written_by import is_ours
from ..._loose_json import fields_at
from ..._text import one_line
from .adoption import ManagerEntry, owned_fields
from .findings import PLATFORM_MANAGERS, name_of
from .other_tools import marks_of

LONGEST_VALUE = 80
"""The maximum length of a shown value, in characters."""
HIDDEN = "(hidden)"
"""Shown in place of a value of a Secret."""

_MAPS_OF_VALUES = ("f:data", "f:binaryData", "f:labels", "f:annotations")
"""Maps whose values are named one by one, even if all of them are lost."""
_CONTROLLERS = PLATFORM_MANAGERS - {"before-first-apply"}
_BOOKKEEPING = ("kubectl.kubernetes.io/last-applied-configuration", "meta.helm.sh/", "helm.sh/")


@dataclass(frozen=True)
class LostValue:
    """One value of another field manager that an object loses by a write.

    Attributes:
        ref: the object.
        field: in the form of the server's messages, without the leading dot.
        manager: the field managers that own it, as reported.
        value: the value in short, for a message; hidden if the object is a Secret.
    """

    ref: Ref
    field: str
    manager: str
    value: str

    def __str__(self) -> str:
        return f"{self.ref}: {one_line(self.field)} = {self.value}, written by {one_line(self.manager)}"


def lost_values(before: Object, after: Object, intent: Object) -> list[LostValue]:
    """The values that only others own, and that a write removes or lets a default replace.

    A value that the intent itself sets is a change, not a loss. The values below a lost item or map count as
    one. The status and the bookkeeping of the tools that created the object are no losses. What our previous
    release had is none either: we own it, too.

    Args:
        before: the live object, with its ``managedFields``.
        after: the object after the write, as the server answers.
        intent: the object that is applied.
    """
    entries = entries_of(before)
    others = [entry for entry in entries if not is_ours(entry) and entry.get("subresource") != "status"]
    if not others:
        # The usual case; and parsing our fields of a large object takes long.
        return []
    desired = _normalized(intent)
    ours = _fields_of(entry for entry in entries if is_ours(entry))
    # The owner of a map may not be the owner of what is in it.
    around = {field[:end] for field in _fields_of(entries) for end in range(1, len(field))}
    theirs_after = _fields_of(entry for entry in entries_of(after) if not is_ours(entry))
    marks = marks_of(before)
    lost: dict[Field, list[str]] = {}
    for entry in others:
        for field in owned_fields(entry) - around - ours:
            value = _value_at(before, field)
            now = _value_at(after, field)
            if value is ABSENT or value == now:
                continue
            is_changed_by_others = now is not ABSENT and field in theirs_after
            if is_changed_by_others or _value_at(desired, field) is not ABSENT:
                continue
            if _is_bookkeeping(field, value, marks):
                continue
            managers = lost.setdefault(_topmost_lost(field, after), [])
            if name_of(entry) not in managers:
                managers.append(name_of(entry))
    ref = ref_of(before)
    return [
        LostValue(ref, as_text(field).lstrip("."), ", ".join(managers), _shown(ref, _value_at(before, field)))
        for field, managers in sorted(lost.items(), key=lambda item: as_text(item[0]))
    ]


def taken_values(before: Object, after: Object) -> tuple[LostValue, ...]:
    """The values that only others own, and that a write removes or replaces, also by a value of the intent.

    Values that Kubernetes' own controllers write do not count.

    Args:
        before: the live object, with its ``managedFields``.
        after: the object after the write, as the server answers.
    """
    taken = lost_values(before, after, {"metadata": {}})
    return tuple(one for one in taken if not _CONTROLLERS.issuperset(one.manager.split(", ")))


def _fields_of(entries: Iterable[ManagerEntry]) -> Fields:
    return frozenset[Field]().union(*map(owned_fields, entries))


def _normalized(obj: Object) -> Object:
    """An object as the server stores it: ``stringData`` is a part of ``data``."""
    texts = fields_at(obj, "stringData")
    encoded = {name: base64.b64encode(str(text).encode()).decode() for name, text in texts.items()}
    return {**obj, "data": {**fields_at(obj, "data"), **encoded}} if encoded else obj


def _value_at(obj: Object, field: Field) -> Any:
    """The value of a field; ``ABSENT`` if there is none, or null, which the server takes for none."""
    value = field_value(obj, field)
    return ABSENT if value is None else value


def _is_bookkeeping(field: Field, value: Any, marks: Mapping[str, frozenset[str]]) -> bool:
    """Whether a field is a label or an annotation by which a tool recognizes what it has created."""
    if field[-2:-1] not in (("f:labels",), ("f:annotations",)):
        return False
    name = field[-1].removeprefix("f:")
    is_mark = field[0] == "f:metadata" and name in marks[field[-2].removeprefix("f:")]
    return is_mark or name.startswith(_BOOKKEEPING) or (name, value) == (MANAGED_BY, "Helm")


def _topmost_lost(field: Field, after: Object) -> Field:
    """The outermost item or map around a field that is lost with it, or the field itself."""
    for end in range(1, len(field)):
        around = field[:end]
        if around[-1] not in _MAPS_OF_VALUES and _value_at(after, around) is ABSENT:
            return around
    return field


def _shown(ref: Ref, value: Any) -> str:
    return HIDDEN if ref.kind == "Secret" else one_line(as_json(value), LONGEST_VALUE)
