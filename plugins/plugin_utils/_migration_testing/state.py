# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""States of a cluster in a test, and their differences by field: pure, except one reader."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._cluster.cluster import Cluster, Object, Ref, ref_of
from ...module_utils._cluster.fields.list_types import KEY_DEFAULTS
from ...module_utils._cluster.served_versions import find_object
from ...module_utils._objects.apply.diff import changed_values
from .attempt_record import AttemptRecord

ClusterState = Mapping[Ref, "Object | None"]
"""Objects by reference; None if it does not exist."""

LONGEST_VALUE = 80
"""Maximum characters of a value in a sentence."""


def api_versions_of(objects: Iterable[Mapping[str, Any]]) -> dict[Ref, str]:
    """The apiVersion to read each object in."""
    return {ref_of(obj): obj["apiVersion"] for obj in objects}


def read_state(cluster: Cluster, versions: Mapping[Ref, str]) -> ClusterState:
    """The current objects. Those being deleted count as gone."""
    live: dict[Ref, Object | None] = {}
    for ref, api_version in versions.items():
        # A migration may remove the version in which the test gives an object.
        obj = find_object(cluster, ref, api_version)
        live[ref] = None if obj is None or obj["metadata"].get("deletionTimestamp") else obj
    return live


def state_differences(
    live: ClusterState,
    desired: ClusterState,
    *,
    name: str,
    ignored: Collection[str] = (),
) -> list[str]:
    """How the current state differs from the desired one, each in a sentence for the author.

    Args:
        live: the current state.
        desired: the desired state; objects that it doesn't have must not exist.
        name: the name of the desired state in the sentences.
        ignored: paths of fields that may differ, with all below them; ``Kind:path`` for one kind alone.
    """
    lines: list[str] = []
    for ref in dict.fromkeys((*desired, *live)):
        is_there, should_be = live.get(ref), desired.get(ref)
        if is_there is None and should_be is not None:
            lines.append(f"{ref} is not there, and {name} has it")
        elif is_there is not None and should_be is None:
            lines.append(f"{ref} is there, and {name} does not have it")
        elif is_there is not None and should_be is not None:
            lines += _field_differences(ref, is_there, should_be, name, ignored)
    return lines


def status_differences(live: ClusterState, desired: Sequence[Object]) -> list[str]:
    """How statuses differ from the fields that the author gives. Controllers may set the others."""
    lines = []
    for obj in desired:
        status = (live.get(ref_of(obj)) or {}).get("status") or {}
        for key, value in (obj.get("status") or {}).items():
            if status.get(key) != value:
                lines.append(f"{ref_of(obj)}: status.{key} is {_text_of(status.get(key))}, not {value!r}")
    return lines


def replaced(before: ClusterState, live: ClusterState) -> list[Ref]:
    """The objects of ``before`` that are gone, or were replaced by others of the same name."""
    return [ref for ref, obj in before.items() if obj is not None and _uid(live.get(ref)) != _uid(obj)]


def incomplete(objects: Sequence[Mapping[str, Any]], name: str) -> Iterator[str]:
    """Problems of the objects that an author gives."""
    for number, obj in enumerate(objects, 1):
        lacks = [key for key in ("apiVersion", "kind") if not obj.get(key)]
        if not (obj.get("metadata") or {}).get("name"):
            lacks.append("metadata.name")
        if lacks:
            yield f"object {number} of {name} lacks {' and '.join(lacks)}"
    refs = [ref_of(obj) for obj in objects if (obj.get("metadata") or {}).get("name") and obj.get("kind")]
    for ref in sorted({ref for ref in refs if refs.count(ref) > 1}):
        yield f"{name} has {ref} twice"


def _field_differences(
    ref: Ref, live: Object, desired: Object, name: str, ignored: Collection[str]
) -> Iterator[str]:
    for path, value, other in _leaves(changed_values(_comparable(live), _comparable(desired))):
        # A server sets the defaults of the keys of lists in both.
        default = KEY_DEFAULTS.get(path.rpartition(".")[2])
        is_default = default is not None and [value, other] in ([default, None], [None, default])
        if path == "apiVersion" or is_default or _is_ignored(ref.kind, path, ignored):
            continue
        if ref.kind == "Secret" and path.startswith(("data", "stringData")):
            yield f"{ref}: {path} differs from {name} (the value of a Secret is not shown)"
        else:
            yield f"{ref}: {path} is {_text_of(value)}, and {name} has {_text_of(other, 'none')}"


def _leaves(changes: Iterable[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    """The single fields of a map that exists only on one side."""
    for path, value, other in changes:
        present, absent = (other, value) if value is None else (value, other)
        if absent is None and isinstance(present, dict) and present:
            sides = ((None, one) if value is None else (one, None) for one in present.values())
            named = zip((f"{path}.{name}" for name in present), sides, strict=True)
            yield from _leaves((name, *both) for name, both in named)
        else:
            yield path, value, other


def _comparable(obj: Object) -> Object:
    """An object without what differs between objects of the same content: uids of owners, orders of sets."""
    meta = dict(obj["metadata"])
    if owners := meta.get("ownerReferences"):
        meta["ownerReferences"] = [{**owner, "uid": ""} for owner in owners]
    if finalizers := meta.get("finalizers"):
        meta["finalizers"] = sorted(finalizers)
    return {**obj, "metadata": meta}


def _is_ignored(kind: str, path: str, ignored: Collection[str]) -> bool:
    for one in ignored:
        of_kind, colon, rest = one.partition(":") if re.match(r"[A-Z]\w*:", one) else ("", "", one)
        if (not colon or of_kind == kind) and (path == rest or path.startswith((f"{rest}.", f"{rest}["))):
            return True
    return False


def _text_of(value: object, none: str = "not there") -> str:
    if value is None:
        return none
    text = repr(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _uid(obj: Object | None) -> str:
    return str(obj["metadata"].get("uid")) if obj else ""


def bullet_list(problems: Iterable[str]) -> str:
    """Problems as an indented list below a sentence."""
    return "".join(f"\n    - {problem}" for problem in problems)


def last_call(attempt: AttemptRecord) -> str:
    """The last request of an attempt, as a clause."""
    calls = attempt.recording.calls
    return (
        f"its last request was {attempt.recording.describe_call(len(calls))}"
        if calls
        else "it made no request"
    )
