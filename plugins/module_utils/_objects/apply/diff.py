# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes between two states of an object, as field paths and as a diff: pure.

The results contain no value of a Secret.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._cluster.cluster import Object, ref_of
from ..._redaction import without_secret_data
from ..ownership.policy import LAST_APPLIED

_BOOKKEEPING = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink")


def manifest_of(obj: Object, *, status: bool = False) -> Object:
    """An object without the fields that the server maintains: the content of its manifest.

    Args:
        obj: the object.
        status: whether its ``status`` was written on purpose, and does not belong to its controller.
    """
    shown = {key: value for key, value in obj.items() if status or key != "status"}
    meta = {key: value for key, value in obj["metadata"].items() if key not in _BOOKKEEPING}
    annotations = {k: v for k, v in (meta.pop("annotations", None) or {}).items() if k != LAST_APPLIED}
    return {**shown, "metadata": {**meta, **({"annotations": annotations} if annotations else {})}}


def changed_fields(before: Object, after: Object, *, status: bool = False) -> list[str]:
    """Paths of the fields that differ between two states of an object, e.g. ``spec.replicas``.

    Args:
        before, after: the states.
        status: see :func:`manifest_of`.
    """
    return [path for path, _before, _after in changed_values(before, after, status=status)]


def changed_values(before: Object, after: Object, *, status: bool = False) -> list[tuple[str, Any, Any]]:
    """The fields that differ, each with its value before and after, which may be a secret."""
    return list(_differences(manifest_of(before, status=status), manifest_of(after, status=status), ""))


def _differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys((*before, *after)):
            yield from _differences(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list) and _are_named(before) and _are_named(after):
        old = {item["name"]: item for item in before}
        new = {item["name"]: item for item in after}
        for name in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(name), new.get(name), f"{path}[{name}]")
        if list(old) != list(new) and set(old) == set(new):
            yield path, before, after
    else:
        yield path, before, after


def _are_named(items: list[Any]) -> bool:
    names = [item.get("name") for item in items if isinstance(item, dict)]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names) == len(items)


def diff_of(before: Object | None, after: Object | None, *, status: bool = False) -> dict[str, str]:
    """One entry of an Ansible diff, with the data of Secrets hidden.

    Args:
        before: the present object, or None if it does not exist yet.
        after: the future object, or None if it will be deleted.
        status: see :func:`manifest_of`.
    """
    subject = after or before
    if subject is None:
        raise AssertionError("a difference has an object before, after or both")
    header = str(ref_of(subject))
    old, new = without_secret_data(
        manifest_of(before, status=status) if before else None,
        manifest_of(after, status=status) if after else None,
    )
    return {
        "before_header": header if before else f"{header} (absent)",
        "after_header": header if after else f"{header} (deleted)",
        "before": _as_yaml(old),
        "after": _as_yaml(new),
    }


def _as_yaml(obj: Object | None) -> str:
    if obj is None:
        return ""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(obj, Dumper=dumper, default_flow_style=False, sort_keys=True, width=1000)
    return text
