# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON merge patch (RFC 7386) and JSON patch (RFC 6902) on plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..._deep_copy import deep_copy


class PatchRefused(Exception):
    """A JSON patch does not fit the object: a test failed, or a path does not exist."""


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """The target after a JSON merge patch; neither argument is changed."""
    if not isinstance(patch, Mapping):
        return deep_copy(patch)
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = apply_merge_patch(result.get(key), value)
    return result


def merge_patch_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch (RFC 7386) from one mapping to the other; empty if they are equal."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key)
        if isinstance(value, Mapping) and isinstance(old, Mapping):
            if inner := merge_patch_between(old, value):
                patch[key] = inner
        elif key not in before or value != old:
            patch[key] = value
    return patch


def apply_json_patch(target: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """The target after a JSON patch; neither argument is changed.

    Raises:
        PatchRefused: a test failed, or a path does not exist.
    """
    # With this holder the root is a member like any other.
    holder = {"": deep_copy(target)}
    for operation in operations:
        try:
            _operate(holder, operation)
        except (LookupError, TypeError, ValueError) as error:
            raise PatchRefused(f"{operation.get('op')} {operation.get('path')}: {error}") from error
    return holder[""]


def _operate(holder: dict[str, Any], operation: Mapping[str, Any]) -> None:
    op = operation["op"]
    container, key = _locate(holder, operation["path"])
    if op in ("move", "copy"):
        source, source_key = _locate(holder, operation["from"])
        value = deep_copy(_member(source, source_key))
        if op == "move":
            del source[_index(source, source_key)]
            container, key = _locate(holder, operation["path"])
        _add(container, key, value)
    elif op == "add":
        _add(container, key, deep_copy(operation["value"]))
    elif op == "test":
        if _member(container, key) != operation["value"]:
            raise ValueError("the value is another")
    elif op in ("replace", "remove"):
        _member(container, key)
        if op == "replace":
            container[_index(container, key)] = deep_copy(operation["value"])
        else:
            del container[_index(container, key)]
    else:
        raise ValueError("no such operation")


def _locate(holder: dict[str, Any], path: str) -> tuple[Any, str]:
    *above, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    node: Any = holder
    for part in above:
        node = _member(node, part)
    return node, last


def _index(container: Any, key: str) -> Any:
    return int(key) if isinstance(container, list) else key


def _member(container: Any, key: str) -> Any:
    return container[_index(container, key)]


def _add(container: Any, key: str, value: Any) -> None:
    if isinstance(container, list):
        position = len(container) if key == "-" else int(key)
        if position > len(container):
            raise IndexError("beyond the end of the list")
        container.insert(position, value)
    else:
        container[key] = value
