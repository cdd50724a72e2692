# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes whose answer was lost: they are checked before they are repeated."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..cluster import Object
from ..errors import ClusterError, Forbidden, Unauthorized, may_have_acted
from .retry import INTERNAL, Loss, RetryPolicy

T = TypeVar("T")

BOOKKEEPING = frozenset({"resourceVersion", "managedFields", "generation"})
"""Fields of metadata that a write may have as a precondition, and that the server changes with the write."""

IDENTITY = frozenset({"name", "namespace", "uid"})
"""Fields of metadata that identify the object of a write."""


def resolve_lost_write(
    ask: Callable[[], T],
    look: Callable[[], T | None],
    lost: ClusterError,
    *,
    policy: RetryPolicy,
    sleep: Callable[[float], None] = time.sleep,
) -> T:
    """The result of a write whose answer was lost, or the answer to its repetition.

    Args:
        ask: sends the write.
        look: returns the result of the write, or None if it has not taken effect.
        lost: the error in place of the first answer.
        policy: for how long it is repeated.
        sleep: waits so many seconds.

    Raises:
        ClusterError: the server refuses the write, and has not executed it; or no check was answered.
    """
    started = time.monotonic()
    attempt = 0

    def find() -> T | None:
        return _look_until_answered(look, lost, policy, sleep)

    while True:
        result = find()
        if result is not None:
            return result
        attempt += 1
        outcome = getattr(lost, "status", Loss.NO_ANSWER)
        wait = policy.delay(outcome, attempt=attempt, elapsed=time.monotonic() - started, repeatable=True)
        if wait is None:
            raise lost
        sleep(wait)
        try:
            return ask()
        except ClusterError as error:
            if not may_have_acted(error):
                # It may refuse because the lost write has arrived after all.
                result = find()
                if result is None:
                    raise
                return result
            lost = error


def _look_until_answered(
    look: Callable[[], T | None], lost: ClusterError, policy: RetryPolicy, sleep: Callable[[float], None]
) -> T | None:
    """The result of ``look``; a server that has just started refuses what it grants a moment later.

    Raises:
        ClusterError: ``lost``, as the write may have taken effect: no check was answered.
    """
    waited = 0.0
    attempt = 0
    while True:
        try:
            return look()
        except (Unauthorized, Forbidden) as error:
            attempt += 1
            wait = policy.delay(INTERNAL, attempt=attempt, elapsed=waited, repeatable=True)
            if wait is None:
                raise lost from error
        except ClusterError as error:
            raise lost from error
        waited += wait
        sleep(wait)


def contains_fields(live: Any, desired: Any) -> bool:
    """Whether an object has all fields of a write; null means that a field does not exist (RFC 7386).

    Empty values may be missing: the server omits them too.
    """
    if isinstance(desired, Mapping):
        known = {} if live is None else live
        return isinstance(known, Mapping) and all(
            contains_fields(known.get(key), one) for key, one in desired.items()
        )
    if isinstance(desired, list):
        known = [] if live is None else live
        return (
            isinstance(known, list)
            and len(known) == len(desired)
            and all(contains_fields(one, other) for one, other in zip(known, desired, strict=True))
        )
    return bool(live == desired)


def find_written_object(live: Object | None, desired: Mapping[str, Any], manager: str) -> Object | None:
    """The live object, if a write of this manager has given it the desired content.

    Args:
        live: the object as read since the write, or None.
        desired: the write's content: an intent or a merge patch.
        manager: the field manager of the write.
    """
    if live is None:
        return None
    managers = {entry.get("manager") for entry in live["metadata"].get("managedFields") or ()}
    # An object without any field has no manager.
    if managers and manager not in managers:
        return None
    new_meta = desired.get("metadata") or {}
    # A change that requires one version is refused once there is another: a retry does no harm.
    if (version := new_meta.get("resourceVersion")) and version == live["metadata"].get("resourceVersion"):
        return None
    meta = {key: value for key, value in new_meta.items() if key not in BOOKKEEPING}
    if set(desired) <= {"apiVersion", "kind", "metadata"} and set(meta) <= IDENTITY:
        return live if _holders(new_meta) == _holders(live["metadata"]) else None
    content = {key: value for key, value in desired.items() if key != "stringData"}
    if texts := desired.get("stringData"):
        encoded = {key: base64.b64encode(str(text).encode()).decode() for key, text in texts.items()}
        content["data"] = {**(desired.get("data") or {}), **encoded}
    return live if contains_fields(live, {**content, "metadata": meta}) else None


def _holders(meta: Mapping[str, Any]) -> list[str]:
    """The managers of all fields, sorted, without their times; ``[]`` if the object has none."""
    entries = ({**entry, "time": None} for entry in meta.get("managedFields") or ())
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)
