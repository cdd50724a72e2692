# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions of our custom resources, in the form of ``kubectl wait --for=condition=…``: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, TypeAlias

from .._cluster.cluster import Object
from .._field_notes import described

Time: TypeAlias = Annotated[str, described(format="date-time")]
"""A time; RFC 3339."""


class ConditionStatus(StrEnum):
    """Whether a condition is true."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(NamedTuple):
    """A condition, as other Kubernetes objects have them."""

    type: Annotated[str, described("What the condition is about.", minLength=1)]
    status: Annotated[ConditionStatus, "Whether the condition is true."]
    reason: Annotated[str, described("Why, in one word.", minLength=1)]
    last_transition_time: Annotated[Time, "When `status` last changed."]
    message: Annotated[str, "Why, in a sentence."] = ""
    observed_generation: Annotated[int, "The `metadata.generation` that the condition is about."] = 0


Conditions: TypeAlias = Annotated[
    tuple[Mapping[str, Any], ...],
    described(
        "Conditions, as other Kubernetes objects have them.",
        shape=tuple[Condition, ...],
        **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    ),
]
ObservedGeneration: TypeAlias = Annotated[int, "The `metadata.generation` that the status is about."]


def new_condition(
    type: str, status: str, reason: str, message: str, *, before: Iterable[Mapping[str, Any]], now: str
) -> Object:
    """A present condition. Its time is the earlier one unless the status has changed (KEP-1623).

    Args:
        type: of the condition.
        status: True, False or Unknown.
        reason: the reason, in a word.
        message: the reason, in a sentence.
        before: the conditions so far.
        now: the time; RFC 3339.
    """
    last = next((one for one in before if one.get("type") == type), {})
    since = last.get("lastTransitionTime") if last.get("status") == status else None
    return {
        "type": type,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since or now,
    }
