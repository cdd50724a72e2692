# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Edits that another client makes to the objects of a migration, in every field."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from typing import Any

from ...module_utils._cluster.cluster import Cluster, Object, Ref, address_of, ref_of
from ...module_utils._cluster.served_versions import find_object
from ...module_utils._errors import LifecycleError
from .secret_values import decoded, texts_in

OTHER_CLIENT = "another-client"
EDIT = "edited-by-another-client"
SHORTEST_MOVED_VALUE = 4
"""Minimum length of a value to search elsewhere. A shorter one may be there by chance."""
MOST_PATHS = 20
"""Maximum number of fields of one edit."""
METADATA = (("metadata", "labels"), ("metadata", "annotations"), ("metadata", "finalizers"))

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Edit:
    """Edits of some fields of one object, each a request.

    Attributes:
        ref, api_version: the object.
        values: the fields: the maps and lists to add to, or the values to change.
        adds: whether it adds a key or an item to each.
        is_certain: whether what it edits must exist in the end, perhaps elsewhere.
    """

    ref: Ref
    api_version: str
    values: tuple[tuple[Path, Any], ...]
    adds: bool
    is_certain: bool = True

    def __str__(self) -> str:
        path = self.values[0][0]
        where = ".".join(map(str, path if len(self.values) == 1 else _field_of(path)))
        return f"{'adds to' if self.adds else 'changes'} {where} of {self.ref}"

    def parts(self) -> list[Edit]:
        """It in one field each, and all of it last."""
        return [*(replace(self, values=(one,)) for one in self.values), self]

    @property
    def field(self) -> Path:
        """The field of the object that all of them are in."""
        return _field_of(self.values[0][0])

    @property
    def has_mark(self) -> bool:
        """Whether :data:`EDIT` is part of it."""
        return self.adds or any(isinstance(value, str) for _path, value in self.values)

    def apply(self, cluster: Cluster) -> int:
        """Write it. Returns how many of its values were written: the object may lack their fields."""
        # Items are added in front, so the fields of items are first.
        ordered = sorted(self.values, key=lambda one: -len(one[0]))
        return sum(self._writes(cluster.with_field_manager(OTHER_CLIENT), *one) for one in ordered)

    def _writes(self, cluster: Cluster, path: Path, value: Any) -> bool:
        ref, field = self.ref, _field_of(path)
        obj = find_object(cluster, ref, self.api_version)
        if obj is None or obj["metadata"].get("deletionTimestamp"):
            return False
        with suppress(KeyError, IndexError, TypeError, LifecycleError):
            if self.adds and path == field:
                _at(obj, path[:-1]).setdefault(path[-1], type(value)())
            holder = _at(obj, path if self.adds else path[:-1])
            if isinstance(holder, dict) and self.adds:
                # Also keys like those that exist, as a migration may be about all of them.
                alike = [re.sub(r"[^./_-]+$", EDIT, key) for key in list(holder)[:MOST_PATHS]]
                holder |= dict.fromkeys((EDIT, *alike), self._text)
            elif self.adds:
                holder.insert(0, marked(holder[0]))
            elif holder[path[-1]] == value:
                holder[path[-1]] = self._changed(value)
            else:
                return False
            patch: Any = _at(obj, field)
            for key in reversed(field):
                patch = {key: patch}
            cluster.patch(*address_of(obj), patch)
            return True
        return False

    def is_in(self, obj: Object | None) -> bool:
        """Whether an object has the values to which it changes the fields."""
        return all(_has(obj, path, self._changed(value)) for path, value in self.values)

    def _changed(self, value: Any) -> Any:
        return value + 1 if isinstance(value, int) else self._text

    @property
    def _text(self) -> str:
        is_encoded = self.ref.kind == "Secret" and self.values[0][0][0] == "data"
        return base64.b64encode(EDIT.encode()).decode() if is_encoded else EDIT


def edits_of(before: Sequence[Object], after: Sequence[Object]) -> Iterator[Edit]:
    """Additions to all fields, and changes of all values."""
    remains = {ref_of(obj): obj for obj in after}
    texts = set(_new_texts({ref_of(obj): obj for obj in before}, after))
    for obj in before:
        ref, api_version = ref_of(obj), obj["apiVersion"]
        changes: list[tuple[Path, Any]] = []
        for field, group in groupby(_fields(obj, ref in remains), key=lambda one: _field_of(one[0])):
            values = list(group)
            holders = tuple((path, value) for path, value in values if _can_grow(value, path == field))
            if holders:
                yield Edit(ref, api_version, holders[:MOST_PATHS], adds=True)
            leaves = [one for one in values if isinstance(one[1], str | int) and not isinstance(one[1], bool)]
            unchanged = tuple(one for one in leaves if _has(remains.get(ref), *one))
            if unchanged:
                yield Edit(ref, api_version, unchanged[:MOST_PATHS], adds=False)
            changes += [one for one in leaves if one not in unchanged]
        for path, value in changes:
            plain = decoded(str(value)) if ref.kind == "Secret" else str(value)
            is_moved = len(plain) >= SHORTEST_MOVED_VALUE and plain in texts
            yield Edit(ref, api_version, ((path, value),), adds=False, is_certain=is_moved)


def _new_texts(before: Mapping[Ref, Object], after: Sequence[Object]) -> Iterator[str]:
    """All texts in fields that had other values before. Those in the data of Secrets are decoded."""
    for obj in after:
        for path, value in _values(obj, ()):
            if isinstance(value, str) and not _has(before.get(ref_of(obj)), path, value):
                yield decoded(value) if obj["kind"] == "Secret" else value


def _fields(obj: Object, remains: bool) -> Iterator[tuple[Path, Any]]:
    """Every value in an object that others may edit, with its path, field by field."""
    content = dict(obj)
    if obj["kind"] in ("ConfigMap", "Secret"):
        content.setdefault("data", {})
    # A finalizer would only delay a deletion.
    for path in METADATA if remains else METADATA[:2]:
        existing = obj["metadata"].get(path[1], [] if path[1] == "finalizers" else {})
        yield from _values(existing, path)
    for key, value in content.items():
        if key not in ("apiVersion", "kind", "metadata", "status"):
            yield from _values(value, (key,))


def _values(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    yield path, value
    inner = (
        value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, one in inner:
        yield from _values(one, (*path, key))


def _field_of(path: Path) -> Path:
    return path[:2] if path[0] == "metadata" else path[:1]


def _can_grow(value: Any, is_field: bool) -> bool:
    """Whether others may add to it: a list with an example, or a map of texts."""
    if isinstance(value, list):
        return bool(value)
    is_map = isinstance(value, Mapping) and all(isinstance(one, str) for one in value.values())
    return is_map and (bool(value) or is_field)


def marked(value: Any) -> Any:
    """A value like this one, with other texts. Quantities are the same."""
    if isinstance(value, Mapping):
        return {key: marked(one) for key, one in value.items()}
    if isinstance(value, list):
        return [marked(one) for one in value]
    return EDIT if isinstance(value, str) and not value[:1].isdigit() else value


def _at(value: Any, path: Path) -> Any:
    return reduce(lambda holder, key: holder[key], path, value)


def _has(obj: Object | None, path: Path, value: Any) -> bool:
    with suppress(KeyError, IndexError, TypeError):
        return bool(_at(obj, path) == value)
    return False


def all_texts(objects: Iterable[Object | None]) -> Iterator[str]:
    """All texts in objects. Those in the data of Secrets are decoded."""
    for obj in filter(None, objects):
        yield from map(decoded, texts_in(obj)) if obj["kind"] == "Secret" else texts_in(obj)


def is_marked(objects: Iterable[Object | None]) -> bool:
    """Whether an edit is in these objects."""
    return any(EDIT in text for text in all_texts(objects))
