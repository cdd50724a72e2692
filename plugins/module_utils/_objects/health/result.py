# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a health rule, and the functions with which a rule reads an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._text import one_line

CURRENT = "current"
PROGRESSING = "progressing"
FAILED = "failed"

NOT_OBSERVED, OLD_OBSERVED = "NotObserved", "LatestGenerationNotObserved"
SILENT_REASONS = frozenset({NOT_OBSERVED, OLD_OBSERVED})
"""Reasons that say nothing to users: every object has them for a moment after each write."""


@dataclass(frozen=True)
class Health:
    """The health of an object at one moment.

    Attributes:
        state: ``current``, ``progressing`` or ``failed``.
        reason: one word in camel case, from the object's own condition if it has one.
        message: a clause that follows the object's name: ``1 of 3 replicas are ready``.
        fails_after: seconds after which this same progressing state counts as failed, or None if it may
            last. The waiting code measures them with its own clock: a cluster's clock may be wrong.
        settles_after: seconds after which this same progressing state counts as current, or None.
        warning: what is wrong with an object that is current all the same; a clause like the message.
    """

    state: str
    reason: str = ""
    message: str = ""
    fails_after: float | None = None
    settles_after: float | None = None
    warning: str = ""


def current(message: str = "", *, warning: str = "") -> Health:
    """The object has reached its wanted state."""
    return Health(CURRENT, "", one_line(message), warning=one_line(warning))


def progressing(reason: str, message: str, *, fails_after: float | None = None) -> Health:
    """The object may still reach its wanted state by itself."""
    return Health(PROGRESSING, one_line(reason), one_line(message), fails_after)


def failed(reason: str, message: str) -> Health:
    """The object will not reach its wanted state unless someone acts."""
    return Health(FAILED, one_line(reason), one_line(message))


def spec(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object's ``spec``; empty if it has none."""
    return _mapping(obj, "spec")


def status(obj: Mapping[str, Any]) -> Mapping[str, Any]:
    """The object's ``status``; empty if it has none, or if it is a word instead of a mapping."""
    return _mapping(obj, "status")


def _mapping(obj: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = obj.get(key)
    return value if isinstance(value, Mapping) else {}


def number(fields: Mapping[str, Any], key: str, default: int = 0) -> int:
    """An integer field; ``default`` if it is missing, which is how the API writes zero."""
    value = fields.get(key)
    return value if isinstance(value, int) else default


def conditions(obj: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """``status.conditions`` by type, without outdated or malformed ones."""
    outdated = outdated_conditions(obj)
    return {kind: one for kind, one in _all_conditions(obj).items() if kind not in outdated}


def outdated_conditions(obj: Mapping[str, Any]) -> dict[str, int]:
    """The conditions for an older generation of the object, by type, each with that generation.

    Source: Kubernetes API conventions, ``observedGeneration`` of a condition.
    """
    generation = obj["metadata"].get("generation")
    if not isinstance(generation, int):
        return {}
    observed = {kind: one.get("observedGeneration") for kind, one in _all_conditions(obj).items()}
    return {kind: last for kind, last in observed.items() if isinstance(last, int) and last < generation}


def _all_conditions(obj: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    listed = status(obj).get("conditions")
    if not isinstance(listed, list):
        return {}
    return {c["type"]: c for c in listed if isinstance(c, Mapping) and isinstance(c.get("type"), str)}


def is_true(condition: Mapping[str, Any] | None) -> bool:
    """Whether a condition exists and is True."""
    return condition is not None and condition.get("status") == "True"


def condition_message(condition: Mapping[str, Any], otherwise: str) -> str:
    """The message of a condition, or ``otherwise`` if it has none."""
    return str(condition.get("message") or condition.get("reason") or otherwise)


def cause_of(condition: Mapping[str, Any], reason: str, message: str) -> tuple[str, str]:
    """The reason and the message of a condition, or the given ones if it has none."""
    return str(condition.get("reason") or reason), condition_message(condition, message)


def lagging(obj: Mapping[str, Any]) -> Health | None:
    """Progressing if its controller has not seen the newest spec (kstatus generic.go, checkGeneration)."""
    generation = obj["metadata"].get("generation")
    observed = status(obj).get("observedGeneration")
    if isinstance(generation, int) and isinstance(observed, int) and observed != generation:
        return behind(observed, generation)
    return None


def behind(observed: int, generation: int) -> Health:
    """Progressing, as its controller has not seen the newest spec."""
    return progressing(
        OLD_OBSERVED,
        f"its controller has seen generation {observed} and not yet {generation}",
    )


def unseen(obj: Mapping[str, Any]) -> Health | None:
    """Like :func:`lagging`, but also progressing while no controller has written a status at all.

    For kinds whose controller is part of every cluster (kstatus core.go, checkGenerationSet, which has it
    for DaemonSets only).
    """
    if "observedGeneration" not in status(obj):
        return progressing(NOT_OBSERVED, "it has no status from its controller yet")
    return lagging(obj)
