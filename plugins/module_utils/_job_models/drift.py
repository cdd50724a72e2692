# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of a runtime object that others have changed, and their managers. Pure.

Only fields decide. ``managedFields`` (KEP-555) says who owns a field; a field that was removed has no owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .._cluster.cluster import FIELD_MANAGER, Object, Ref, ref_of
from .._cluster.fields.field_owners import Entry, owners_of
from .._loose_json import mapping_of, mappings_in, text_of
from .._objects.ownership.findings import PLATFORM_MANAGERS, name_of
from .runtime.normal_form import normal_form
from .runtime.patches import items_by_name

HIDDEN = "(not shown)"
"""Takes the place of values that may be secrets."""
_SCALERS = (*PLATFORM_MANAGERS, "keda-operator")
_REPLICAS = ("spec", "replicas")
_METADATA = ("labels", "annotations")

Step: TypeAlias = "str | int | tuple[str, str]"
"""Leads from a value to one in it: the name of a field, the index of an item, or ``("name", <its name>)``."""
Path = tuple[Step, ...]


@dataclass(frozen=True)
class DriftedField:
    """A field of a runtime object that differs from the intended one.

    Attributes:
        ref: the object.
        field: its path, such as ``spec.template.spec.containers[job].image``.
        expected, actual: the values; None if there is none. Those of environment variables are not shown.
        manager: the field manager that set it, with its subresource in brackets; empty if there is none.
        time: when that manager last wrote the object; RFC 3339, or empty.
    """

    ref: Ref
    field: str
    expected: Any
    actual: Any
    manager: str
    time: str


def find_drift(desired: Object, live: Object) -> list[DriftedField]:
    """The fields of a runtime object that others have changed, in the order of their paths.

    Labels and annotations that others have added are no drift, nor is the number of pods that an autoscaler
    has set.

    Args:
        desired: the object as it should be.
        live: the object in the cluster.
    """
    drift = []
    for path in _differences(_compared(desired), _compared(live), ()):
        owner = _owner(live, path)
        if path == _REPLICAS and _is_scaled(desired, live, owner):
            continue
        expected, actual = _value_at(desired, path), _value_at(live, path)
        expected, actual = (_shown(value, path) for value in (expected, actual))
        manager, time = (name_of(owner), text_of(owner.get("time"))) if owner else ("", "")
        drift.append(DriftedField(ref_of(live), _text(path), expected, actual, manager, time))
    return sorted(drift, key=lambda one: one.field)


def _compared(obj: Object) -> Object:
    """The part of an object that counts: all but its identity; of metadata only labels and annotations."""
    form = normal_form(obj)
    metadata = mapping_of(form.pop("metadata", None))
    form = {name: value for name, value in form.items() if name not in ("apiVersion", "kind")}
    return {**form, "metadata": {name: mapping_of(metadata.get(name)) for name in _METADATA}}


def _differences(expected: Any, actual: Any, path: Path) -> Iterator[Path]:
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        is_open = path in (("metadata", "labels"), ("metadata", "annotations"))
        for name in sorted(expected.keys() if is_open else expected.keys() | actual.keys()):
            yield from _differences(expected.get(name), actual.get(name), (*path, name))
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from _differences_of_lists(expected, actual, path)
    elif expected != actual or isinstance(expected, bool) is not isinstance(actual, bool):
        yield path


def _differences_of_lists(expected: list[Any], actual: list[Any], path: Path) -> Iterator[Path]:
    old, new = items_by_name(expected), items_by_name(actual)
    if old is not None and new is not None and ([*old] == [*new] or old.keys() != new.keys()):
        for name in sorted(old.keys() | new.keys()):
            yield from _differences(old.get(name), new.get(name), (*path, ("name", name)))
    elif len(expected) == len(actual) and (old is None or new is None):
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from _differences(one, other, (*path, index))
    elif expected != actual:
        yield path


def _value_at(value: Any, path: Path) -> Any:
    for step in path:
        value = _child(value, step)
    return value


def _child(value: Any, step: Step) -> Any:
    if isinstance(step, str):
        return mapping_of(value).get(step)
    items = value if isinstance(value, list) else []
    if isinstance(step, int):
        return items[step] if step < len(items) else None
    return next((item for item in mappings_in(items) if item.get("name") == step[1]), None)


def _shown(value: Any, path: Path) -> Any:
    """A value without the values of environment variables."""
    if value is not None and "env" in path and path[-1] not in ("env", "name"):
        is_variable = isinstance(path[-1], tuple) and isinstance(value, Mapping)
        return _shown_variable(value) if is_variable else HIDDEN
    if isinstance(value, Mapping):
        return {name: _shown(one, (*path, name)) for name, one in value.items()}
    if isinstance(value, list):
        is_env = path[-1] == "env"
        return [
            _shown_variable(one) if is_env else _shown(one, (*path, index)) for index, one in enumerate(value)
        ]
    return value


def _shown_variable(variable: Any) -> Any:
    return {name: one if name == "name" else HIDDEN for name, one in mapping_of(variable).items()}


def _is_scaled(desired: Object, live: Object, owner: Mapping[str, Any] | None) -> bool:
    """Whether an autoscaler has set the number of pods; it never scales from 0 or to 0."""
    desired_count, running_count = (_value_at(obj, _REPLICAS) for obj in (desired, live))
    is_scaler = (
        owner is not None
        and owner.get("subresource") == "scale"
        and text_of(owner.get("manager")) in _SCALERS
    )
    return is_scaler and desired_count != 0 and running_count != 0


def _owner(live: Object, path: Path) -> Entry | None:
    """The entry of ``managedFields`` that owns a field: of several, the newest that is not ours."""
    owners = owners_of(live, *_elements(live, path))
    return max(owners, key=lambda one: (not _is_ours(one), text_of(one.get("time"))), default=None)


def _is_ours(entry: Entry) -> bool:
    return text_of(entry.get("manager")).startswith(FIELD_MANAGER)


def _elements(value: Any, path: Path) -> Iterator[Any]:
    for step in path:
        value = _child(value, step)
        yield f"f:{step}" if isinstance(step, str) else value


def _text(path: Path) -> str:
    text = ""
    for step in path:
        if isinstance(step, str):
            # Names of labels and annotations have dots and slashes.
            text += f'["{step}"]' if "." in step or "/" in step else f".{step}"
        else:
            text += f"[{step if isinstance(step, int) else step[1]}]"
    return text.removeprefix(".")
