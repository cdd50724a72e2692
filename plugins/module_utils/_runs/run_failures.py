# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The failures of a run or one of its tasks: causes by their times, then what was not started. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from .._migrations.results import RUNNING, SKIPPED
from .._objects.health.named_pods import in_short
from .._result_codec import to_result
from ..migration import GLOBAL
from .component_state import ComponentState, component_states
from .outcomes import (
    CANCELLED,
    FAILED,
    NARROW,
    NEVER_STARTED,
    NOT_STARTED,
    SUCCEEDED,
    ComponentOutcome,
)
from .records.run_record import RunBegin, begin_of, run_status

NOTHING_KNOWN = "its process ended while it began, before anything was recorded"
UNENDED = "~"
"""After all times."""
_ENDS = {FAILED: "failed", CANCELLED: "was cancelled"}


def outcome_problems(outcomes: Sequence[ComponentOutcome]) -> list[str]:
    """The failures of a task, each in a sentence: causes by their times, then what was not started."""
    causes = [
        f"component {one.name} {one.state}: {in_short(one.error)}"
        for one in sorted(outcomes, key=lambda outcome: outcome.finished_at or UNENDED)
        if one.state not in (SUCCEEDED, NOT_STARTED)
    ]
    waiting = [one for one in outcomes if one.state == NOT_STARTED]
    return causes + never_started([one.name for one in waiting], waiting[0].error if waiting else "")


def task_failures(outcomes: Sequence[ComponentOutcome], cancelled_by: str) -> list[str]:
    """The failures of a task of a run as its record has them, if the playbook ends before the run."""
    components = {one.name: to_result(one) for one in outcomes}
    return failures_of({"components": components, "cancelled": cancelled_by})


def never_started(names: Sequence[str], reason: str = "") -> list[str]:
    """One line about all that was not started, or none if everything was.

    Args:
        names: of what was not started.
        reason: of the first one.
    """
    why = f" ({reason})" if reason else ""
    return [f"{NEVER_STARTED}{', '.join(names)}{why}"] if names else []


def failures_of(
    run_status: Mapping[str, Any], names: Sequence[str] = (), more_causes: Sequence[str] = ()
) -> list[str]:
    """Everything that failed in a run, each in a sentence: the causes first, then what was not started.

    Args:
        run_status: of its record.
        names: the components that take part, if those without an outcome were not started.
        more_causes: other failures, each in a sentence.
    """
    states = _states(run_status, names)
    failures = [f"cancelled by {run_status['cancelled']}"] if run_status.get("cancelled") else []
    for name, entry in _broken_migrations(run_status).items():
        failures.append(f"migration {name}: {entry.get('error') or entry.get('evidence')}")
    prefix = {CANCELLED: f"{CANCELLED}, "}
    failures += [
        f"{one.label}: {prefix.get(one.state, '')}{one.reason}" for one in states if one.state in _ENDS
    ]
    return [*failures, *more_causes, *_never_started(states, run_status)]


def failures_in_short(run: Mapping[str, Any]) -> list[str]:
    """The failures of a run, without the reasons that the tasks which failed have given.

    Args:
        run: its record.
    """
    status = run_status(run)
    states = _states(status, begin_of(run).components)
    failures = [f"cancelled by {status['cancelled']}"] if status.get("cancelled") else []
    failures += [f"migration {name} failed: its task says why" for name in _broken_migrations(status)]
    failures += [f"{one.label} {_ENDS[one.state]}: its task says why" for one in states if one.state in _ENDS]
    failures += interrupted_migrations(status)
    return failures + _never_started(states, status)


def _never_started(states: Sequence[ComponentState], status: Mapping[str, Any]) -> list[str]:
    """One line about the components and migrations that were not started, with the reason of the first."""
    reasons = {one.name: one.reason for one in states if one.state == NOT_STARTED}
    reasons |= _skipped_migrations(status)
    return never_started(list(reasons), next(iter(reasons.values()), ""))


def _states(status: Mapping[str, Any], names: Sequence[str]) -> list[ComponentState]:
    """The states of components in the order in which they ended; those without an end come last."""
    entries = [{**entry, "name": name} for name, entry in (status.get("components") or {}).items()]
    ended = sorted(entries, key=lambda entry: entry.get("finished_at") or UNENDED)
    return list(component_states(ended, names).values())


def _broken_migrations(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The global migrations that failed; a component's error includes those of the component."""
    return {name: entry for name, entry in _fatal_migrations(status) if entry.get("state") != SKIPPED}


def _skipped_migrations(status: Mapping[str, Any]) -> dict[str, str]:
    """The reasons of the global migrations that were not started, because something before them failed."""
    fatal = _fatal_migrations(status)
    return {name: str(one.get("error") or "") for name, one in fatal if one.get("state") == SKIPPED}


def _fatal_migrations(status: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    migrations: Mapping[str, Mapping[str, Any]] = status.get("migrations") or {}
    return [(n, one) for n, one in migrations.items() if one.get("component") == GLOBAL and one.get("fatal")]


def run_problems(run: Mapping[str, Any], before: str = "") -> list[str]:
    """Everything that failed or never ended in a run, each in a sentence.

    Args:
        run: its record.
        before: a phase of it: only what precedes that phase counts. Empty for the whole run.
    """
    begin, status = begin_of(run), run_status(run)
    failures = failures_of(status, begin.components, interrupted_migrations(status))
    # A run with a failure does not reach its late phases, and the failure is reported already.
    return failures or ([] if begin.action else [NOTHING_KNOWN]) or _never_reached(begin, status, before)


def interrupted_migrations(status: Mapping[str, Any]) -> list[str]:
    """The migrations that a run began but did not end, each in a sentence.

    Args:
        status: of the run's record.
    """
    return [
        f"migration {name}: its process ended in the middle of it"
        for name, entry in (status.get("migrations") or {}).items()
        if entry.get("state") == RUNNING
    ]


def _never_reached(begin: RunBegin, status: Mapping[str, Any], before: str) -> list[str]:
    planned = takewhile(lambda phase: phase != before, begin.phases)
    missing = [phase for phase in planned if phase not in (status.get("phases") or {})]
    if missing or before or begin.alone:
        return [f"{phase}: did not end" for phase in missing]
    return [
        f"component {name}: its definitions still have versions that the release has no more"
        for name, entry in (status.get("components") or {}).items()
        if entry.get("wide") and NARROW not in (entry.get("phases") or {})
    ]
