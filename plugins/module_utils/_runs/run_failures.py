# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The failures of a run or one of its tasks, causes first and what was not started in one line. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from .._migrations.results import RUNNING, SKIPPED
from .._objects.inventory.inventory import COMPONENT
from ..migration import GLOBAL
from .outcomes import CANCELLED, FAILED, NARROW, NOT_STARTED, SUCCEEDED, ComponentOutcome

NEVER_STARTED = "never started: "
_ENDS = {FAILED: "failed", CANCELLED: "was cancelled"}


def outcome_problems(outcomes: Sequence[ComponentOutcome]) -> list[str]:
    """The failures of a task, each in a sentence: causes first, then what was not started, in one line."""
    causes = [
        f"component {one.name} {one.state}: {one.error}"
        for one in outcomes
        if one.state not in (SUCCEEDED, NOT_STARTED)
    ]
    waiting = [one for one in outcomes if one.state == NOT_STARTED]
    return causes + never_started([one.name for one in waiting], waiting[0].error if waiting else "")


def never_started(names: Sequence[str], reason: str = "") -> list[str]:
    """One line about all that was not started, or none if everything was.

    Args:
        names: of what was not started.
        reason: of the first one.
    """
    why = f" ({reason})" if reason else ""
    return [f"{NEVER_STARTED}{', '.join(names)}{why}"] if names else []


def failures_of(
    run_status: Mapping[str, Any], missing: Sequence[str] = (), more_causes: Sequence[str] = ()
) -> list[str]:
    """Everything that failed in a run, each in a sentence: the causes first, then what was not started.

    Args:
        run_status: of its record.
        missing: the components that the record does not name.
        more_causes: other failures, each in a sentence.
    """
    failures: list[str] = []
    if run_status.get("cancelled"):
        failures.append(f"cancelled by {run_status['cancelled']}")
    for name, entry in _broken_migrations(run_status).items():
        failures.append(f"migration {name}: {entry.get('error') or entry.get('evidence')}")
    entries: Mapping[str, Mapping[str, Any]] = run_status.get("components") or {}
    for name, entry in entries.items():
        label = f"{entry.get('kind', COMPONENT)} {name}"
        if entry.get("state") == FAILED:
            failures.append(f"{label}: {entry.get('error')}")
        elif entry.get("state") == CANCELLED:
            failures.append(f"{label}: {entry.get('state')}, {entry.get('error')}")
    waiting = [name for name, entry in entries.items() if entry.get("state") == NOT_STARTED]
    reason = str(entries[waiting[0]].get("error") or "") if waiting else ""
    never = never_started([*waiting, *missing, *_skipped_migrations(run_status)], reason)
    return [*failures, *more_causes, *never]


def failures_in_short(run: Mapping[str, Any]) -> list[str]:
    """The failures of a run, without reasons: the tasks that failed have given them.

    Args:
        run: its record.
    """
    status = run.get("status") or {}
    components: Mapping[str, Mapping[str, Any]] = status.get("components") or {}
    failures = [f"cancelled by {status['cancelled']}"] if status.get("cancelled") else []
    failures += [f"migration {name} failed: its task says why" for name in _broken_migrations(status)]
    failures += [
        f"{entry.get('kind', COMPONENT)} {name} {_ENDS[entry['state']]}: its task says why"
        for name, entry in components.items()
        if entry.get("state") in _ENDS
    ]
    waiting = [name for name, entry in components.items() if entry.get("state") == NOT_STARTED]
    failures += interrupted_migrations(status)
    return failures + never_started([*waiting, *_missing_components(run), *_skipped_migrations(status)])


def _broken_migrations(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The global migrations that failed; a component's error includes those of the component."""
    return {name: entry for name, entry in _fatal_migrations(status) if entry.get("state") != SKIPPED}


def _skipped_migrations(status: Mapping[str, Any]) -> list[str]:
    """The global migrations that were not started, because something before them failed."""
    return [name for name, entry in _fatal_migrations(status) if entry.get("state") == SKIPPED]


def _fatal_migrations(status: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    migrations: Mapping[str, Mapping[str, Any]] = status.get("migrations") or {}
    return [(n, one) for n, one in migrations.items() if one.get("component") == GLOBAL and one.get("fatal")]


def _missing_components(run: Mapping[str, Any]) -> list[str]:
    """The components of a run that its record does not name."""
    known = (run.get("status") or {}).get("components") or {}
    return [name for name in run["spec"].get("components") or () if name not in known]


def run_problems(run: Mapping[str, Any], before: str = "") -> list[str]:
    """Everything that failed or never ended in a run, each in a sentence.

    Args:
        run: its record.
        before: a phase of it: only what precedes that phase counts. Empty for the whole run.
    """
    spec, status = run["spec"], run.get("status") or {}
    failures = failures_of(status, _missing_components(run), interrupted_migrations(status))
    # A run with a failure does not reach its late phases, and the failure is reported already.
    return failures or _never_reached(spec, status, before)


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


def _never_reached(spec: Mapping[str, Any], status: Mapping[str, Any], before: str) -> list[str]:
    planned = takewhile(lambda phase: phase != before, spec.get("phases") or ())
    missing = [phase for phase in planned if phase not in (status.get("phases") or {})]
    if missing or before or spec.get("alone"):
        return [f"{phase}: did not end" for phase in missing]
    return [
        f"component {name}: its definitions still have versions that the release has no more"
        for name, entry in (status.get("components") or {}).items()
        if entry.get("wide") and NARROW not in (entry.get("phases") or {})
    ]
