# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose field is it? What to do when server-side apply meets fields that others hold (KEP-555): pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..._cluster.cluster import Object, ref_of
from ..._cluster.deep_copy import deep_copy
from ..._cluster.errors import Cause
from ..._cluster.fields.list_types import KEY_DEFAULTS
from .findings import DriftOutcome, Finding, name_of
from .policy import INTERACTIVE_MANAGERS, is_interactive

_MANAGER = re.compile(r'conflict with "([^"]*)"(?: with subresource "([^"]*)")?')
_SEGMENT = re.compile(r"\.([^.\[\]]+)|\[([^\]]*)\]")
_KEY = re.compile(r'([^=,]*)=("(?:[^"\\]|\\.)*"|[^,]*)')


@dataclass(frozen=True)
class Resolution:
    """How to apply an object in spite of a conflict.

    Attributes:
        intent: the object without the fields that were ceded.
        force: whether what is left takes fields from others.
        taken: what is taken back from its holders.
        ceded: what is left to its holders.
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
    """Take back what people hold, cede what controllers, subresources and other appliers hold.

    Args:
        intent: the object that was to be applied.
        causes: the conflict's ``details.causes``.
        managers: the ``managedFields`` of the live object, which know when their holders wrote.
        interactive: patterns of the names of managers that fields are taken back from.
        force: whether to take fields from everybody.

    Returns:
        What to apply instead, or None where a field can't be told from the causes.
    """
    times = {name_of(manager): str(manager.get("time") or "") for manager in managers}
    remaining = deep_copy(intent)
    taken: list[Finding] = []
    ceded: list[Finding] = []
    for cause in causes:
        found = _MANAGER.search(cause.message)
        if not found:
            return None
        manager, subresource = found.groups()
        holder = name_of({"manager": manager, "subresource": subresource})
        finding = Finding(
            ref_of(intent), cause.field.lstrip("."), holder, times.get(holder, ""), DriftOutcome.RESTORED
        )
        # Who scales by hand uses what was made for scaling: that is no edit of the object.
        if force or (not subresource and is_interactive(manager, interactive)):
            taken.append(finding)
        elif remove_field(remaining, cause.field):
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


def remove_field(obj: Object, path: str) -> bool:
    """Take the field at ``path`` out of ``obj``; False where there is no such field.

    ``path`` is written as the server writes it: ``.spec.containers[name="a"].image``, ``.data.key``.
    """
    here: Any = obj
    parent: Any = None
    step: Any = None
    rest = path
    while rest:
        match = _SEGMENT.match(rest)
        if not match:
            return False
        parent = here
        if match.group(1) is not None:
            # A key may hold dots itself (annotations): the longest key that fits is meant.
            step = _longest_key(parent, rest[1:])
            if step is None:
                return False
            rest = rest[1 + len(step) :]
            here = parent[step]
        else:
            step = _index(parent, match.group(2))
            if step is None:
                return False
            rest = rest[match.end() :]
            here = parent[step]
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
    wanted = {key.strip(): value.strip('"') for key, value in _KEY.findall(keys)}
    for position, item in enumerate(parent):
        if (
            isinstance(item, dict)
            and wanted
            and all(str(item.get(k, KEY_DEFAULTS.get(k))) == v for k, v in wanted.items())
        ):
            return position
        if "" in wanted and str(item) == wanted[""]:
            return position
    return None
