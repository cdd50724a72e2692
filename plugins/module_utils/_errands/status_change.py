# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of an errand, as a decision changes it: pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._custom_resources.conditions import new_condition
from .._custom_resources.events import EventNote
from .._timestamp import timestamp
from .due_run import has_run_now
from .errand_model import RUN_REQUEST, Errand, ErrandPhase, ErrandStatus, Strategy
from .errand_steps import WriteStatus
from .errand_view import ErrandView

ACCEPTED, RUNNING, SUCCEEDED, NOT_REPEATED, CYCLIC = (
    "Accepted",
    "Running",
    "Succeeded",
    "NowNotRepeated",
    "Cyclic",
)
"""Types of conditions. The last two are there only where they are true."""
NOT_REPEATED_TEXT = (
    "now was applied again, and this template has run already. For another run, give the annotation"
    f" {RUN_REQUEST} a new value"
)
_ANNOUNCED = {
    ErrandPhase.REFUSED: ("Refused", True),
    ErrandPhase.WAITING: ("Waiting", False),
    ErrandPhase.QUEUED: ("Queued", False),
    ErrandPhase.RUNNING: ("Started", False),
    ErrandPhase.SUCCEEDED: ("Succeeded", False),
    ErrandPhase.FAILED: ("Failed", True),
}
"""Phases that an Event tells of: its reason, and whether it is a warning."""


def write_status(
    view: ErrandView,
    *,
    problems: Sequence[str] = (),
    warnings: Sequence[str] | None = None,
    **changes: Any,
) -> WriteStatus | None:
    """The step that changes the status; None if nothing changes.

    Args:
        view: the state of the errand.
        problems: why the errand is refused.
        warnings: ignored fields of its template; None for those of the status, as they are found only when no
            run is open.
        changes: fields of the status.
    """
    errand = view.errand
    status = replace(errand.status, **changes, observed_generation=errand.generation)
    known = _recorded_warnings(errand) if warnings is None else warnings
    conditions = _conditions(view, status, problems, known)
    status = replace(status, conditions=conditions)
    if status == errand.status:
        return None
    return WriteStatus(status, _event(errand.status, status))


def _recorded_warnings(errand: Errand) -> list[str]:
    accepted = next((one for one in errand.status.conditions if one["type"] == ACCEPTED), {})
    return [accepted["message"]] if accepted.get("message") and accepted.get("status") == "True" else []


def is_news(before: ErrandStatus, after: ErrandStatus) -> bool:
    """Whether to report a change to others: each phase, and the end of a run once."""
    if after.phase not in _ANNOUNCED:
        return False
    if after.phase in (ErrandPhase.SUCCEEDED, ErrandPhase.FAILED):
        return before.open_run is not None and after.open_run is None
    is_same_run = bool(before.run and after.run and before.run.number == after.run.number)
    return before.phase is not after.phase or bool(after.run and not is_same_run)


def _event(before: ErrandStatus, after: ErrandStatus) -> EventNote | None:
    if not is_news(before, after):
        return None
    reason, is_warning = _ANNOUNCED[after.phase]
    phases_of_run = (ErrandPhase.RUNNING, ErrandPhase.SUCCEEDED, ErrandPhase.FAILED)
    text = f"run {after.run.number}" if after.run and after.phase in phases_of_run else ""
    if after.phase is ErrandPhase.RUNNING and after.run:
        text += f" ({after.run.reason})"
    message = ": ".join(part for part in (text, after.message) if part)
    return EventNote(reason, message, is_warning)


def _conditions(
    view: ErrandView, status: ErrandStatus, problems: Sequence[str], warnings: Sequence[str]
) -> tuple[Mapping[str, Any], ...]:
    errand = view.errand
    conditions = [_accepted(problems, warnings), _running(status), _succeeded(status)]
    if ignores_now(errand, status):
        conditions.append((NOT_REPEATED, "True", "Declared", NOT_REPEATED_TEXT))
    if view.cycle:
        circle = " -> ".join((*view.cycle, view.cycle[0]))
        text = (
            f"these errands write what the next one reads, in a circle: {circle}. None of them runs again"
            " when its configuration changes. Set updateOnConfigChange: false for one of them"
        )
        conditions.append((CYCLIC, "True", "Cycle", text))
    before, now = errand.status.conditions, timestamp(view.now)
    return tuple(
        new_condition(*one, before=before, now=now) | {"observedGeneration": errand.generation}
        for one in conditions
    )


def _accepted(problems: Sequence[str], warnings: Sequence[str]) -> tuple[str, str, str, str]:
    if problems:
        return ACCEPTED, "False", "Invalid", "; ".join(problems)
    return ACCEPTED, "True", "Adjusted" if warnings else "Valid", " ".join(warnings)


def _running(status: ErrandStatus) -> tuple[str, str, str, str]:
    is_running = status.open_run is not None
    return RUNNING, str(is_running), str(status.phase), status.message if is_running else ""


def _succeeded(status: ErrandStatus) -> tuple[str, str, str, str]:
    outcome = status.run.outcome if status.run else None
    if outcome is None:
        return SUCCEEDED, "Unknown", "Running" if status.run else "NeverRun", ""
    return SUCCEEDED, str(outcome.is_success), outcome.reason, outcome.message


def ignores_now(errand: Errand, status: ErrandStatus) -> bool:
    """Whether a ``now`` in the spec of an errand runs nothing any more."""
    run = status.run
    return (
        errand.spec.strategy is Strategy.NOW
        and errand.strategy_owner.is_declared
        and run is not None
        and not run.is_open
        and has_run_now(errand)
        and run.ended_generation != errand.generation
    )
