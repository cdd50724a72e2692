# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do when server-side apply meets fields that others own (KEP-555): pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._cluster.cluster import Object, ref_of
from ..._cluster.errors import Cause
from ..._cluster.fields.list_types import KEY_DEFAULTS
from ..._deep_copy import deep_copy
from .findings import DriftOutcome, Finding, name_of
from .policy import INTERACTIVE_MANAGERS, is_interactive

_MANAGER = re.compile(r'conflict with "([^"]*)"(?: with subresource "([^"]*)")?')
_SEGMENT = re.compile(r"\.([^.\[\]]+)|\[([^\]]*)\]")
_KEY = re.compile(r'([^=,]*)=("(?:[^"\\]|\\.)*"|[^,]*)')


@dataclass(frozen=True)
class Resolution:
    """How to apply an object despite a conflict.

    Attributes:
        intent: the object without the fields that were ceded.
        force: whether the remaining fields are taken from others.
        taken: the fields that are taken back from their owners.
        ceded: the fields that are left to their owners.
    """

    intent: Object
    force: bool
    taken: tuple[Finding, ...]
    ceded: tuple[Finding, ...]


def resolve_conflict(
    intent: Object,
    causes: Sequence[Cause],
    managers: Iterable[Mapping[str, Any]] = (),
    *,
    interactive: Sequence[str] = INTERACTIVE_MANAGERS,
    force: bool = False,
) -> Resolution | None:
    """Take back fields of people; cede those of controllers, subresources and other appliers.

    Args:
        intent: the object to apply.
        causes: the conflict's ``details.causes``.
        managers: the ``managedFields`` of the live object, with the times of their writes.
        interactive: patterns of the names of managers that fields are taken back from.
        force: whether to take fields from all managers.

    Returns:
        The resolution, or None if the causes do not identify a field.
    """
    times = {name_of(manager): str(manager.get("time") or "") for manager in managers}
    remaining = deep_copy(intent)
    taken: list[Finding] = []
    ceded: list[Finding] = []
    for cause in causes:
        match = _MANAGER.search(cause.message)
        if not match:
            return None
        manager, subresource = match.groups()
        holder = name_of({"manager": manager, "subresource": subresource})
        finding = Finding(
            ref_of(intent), cause.field.lstrip("."), holder, times.get(holder, ""), DriftOutcome.RESTORED
        )
        # A person who scales by hand uses the subresource for it: that is no edit of the object.
        if force or (not subresource and is_interactive(manager, interactive)):
            taken.append(finding)
        elif has_removed_field(remaining, cause.field):
            ceded.append(replace(finding, outcome=DriftOutcome.CEDED))
        else:
            return None
    if not causes:
        return None
    return Resolution(remaining, bool(taken), tuple(taken), tuple(ceded))


def is_held_by_people(
    managed_fields: Iterable[Mapping[str, Any]], interactive: Iterable[str] = INTERACTIVE_MANAGERS
) -> bool:
    """Whether a person has written an object itself, by its ``managedFields``."""
    interactive = tuple(interactive)
    return any(
        is_interactive(str(entry.get("manager")), interactive) and not entry.get("subresource")
        for entry in managed_fields
    )


def has_removed_field(obj: Object, path: str) -> bool:
    """Remove the field at ``path`` from ``obj``; False if it does not exist.

    ``path`` has the server's form: ``.spec.containers[name="a"].image``, ``.data.key``.
    """
    current: Any = obj
    parent: Any = None
    step: Any = None
    rest = path
    while rest:
        match = _SEGMENT.match(rest)
        if not match:
            return False
        parent = current
        if match.group(1) is not None:
            # A key may contain dots (annotations): the longest matching key is used.
            step = _longest_key(parent, rest[1:])
            if step is None:
                return False
            rest = rest[1 + len(step) :]
            current = parent[step]
        else:
            step = _index(parent, match.group(2))
            if step is None:
                return False
            rest = rest[match.end() :]
            current = parent[step]
    if parent is None:
        return False
    del parent[step]
    return True


def _longest_key(parent: Any, rest: str) -> str | None:
    if not isinstance(parent, dict):
        return None
    fitting = [
        key
        for key in parent
        if isinstance(key, str) and rest.startswith(key) and rest[len(key) : len(key) + 1] in ("", ".", "[")
    ]
    return max(fitting, key=len, default=None)


def _index(parent: Any, keys: str) -> int | None:
    if not isinstance(parent, list):
        return None
    key_values = {key.strip(): value.strip('"') for key, value in _KEY.findall(keys)}
    for position, item in enumerate(parent):
        if (
            isinstance(item, dict)
            and key_values
            and all(str(item.get(k, KEY_DEFAULTS.get(k))) == v for k, v in key_values.items())
        ):
            return position
        if "" in key_values and str(item) == key_values[""]:
            return position
    return None
