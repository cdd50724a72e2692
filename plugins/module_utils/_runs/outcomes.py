# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outcomes of migrations, components and phases: plain values, and how they are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._errors import MOST_REASONS
from .._objects.inventory.owner_kinds import COMPONENT, MODULE
from .._objects.ownership.findings import Finding
from .._result_codec import INTERNAL, from_result, one_of, result_fields, returned_as
from .._timestamp import NO_TIMES, Times, interval_until_now
from ..migration import GLOBAL, Phase

if TYPE_CHECKING:
    from .._objects.prune.removal import Removal

SUCCEEDED = "succeeded"
FAILED = "failed"
NOT_STARTED = "not started"
CANCELLED = "cancelled"
NEVER_STARTED = "never started: "
"""The beginning of the failure that lists what was not started."""
PRUNE = "prune"
"""The phase that prunes what the release no longer has, once everything is healthy."""
PHASE, ERRAND, MIGRATION = "phase", "errand", "migration"
PLAN, LEASE, BEGIN, END, OTHER = "plan", "lease", "begin", "end", "other"
"""The time of a run besides its work: its plan, its lease, its record, and the time between its tasks."""
BEFORE_RUN = (PLAN, LEASE)
"""What precedes the start of a run; the seconds in its record include it."""
NARROW = "narrow"
"""The last phase of a component whose definitions have more versions than the release's."""
ENDS = (SUCCEEDED, FAILED, NOT_STARTED, CANCELLED)
KINDS = (PLAN, PHASE, COMPONENT, MODULE, ERRAND, MIGRATION)
"""What a duration may be about, in the order of the table."""


@dataclass(frozen=True)
class Duration:
    """How long one part of a run took: a row of a table.

    Attributes:
        kind: What was measured.
        name: The name of what was measured, or the migration's id.
        state: How it ended.
        seconds: How long it took, by a monotonic clock.
        slow: Whether the check of a migration that was not needed took long.
        started_at: When it began, in UTC. Empty if unknown.
        finished_at: When it ended, in UTC. Empty if unknown.
        component: The component of a migration. Empty for all else.
    """

    kind: str = field(metadata=one_of(KINDS))
    name: str
    state: str = ""
    seconds: float = 0.0
    slow: bool = False
    started_at: str = ""
    finished_at: str = ""
    component: str = ""


@dataclass(frozen=True)
class ComponentOutcome:
    """The outcome of one component.

    Attributes:
        name: The component's name.
        state: How it ended.
        error: What failed, on which object, and why. Empty if nothing did.
        seconds: How long it took.
        started_at: When it began, in UTC. Empty if unknown.
        finished_at: When it ended, in UTC. Empty if unknown.
        phases: Seconds of each part, ``pre``, ``apply``, ``wait`` and ``post``. ``narrow`` is the removal of
            old versions from CustomResourceDefinitions at the end of the run.
        created: How many objects were created.
        changed: How many objects were changed.
        replaced: How many objects were deleted and recreated because of immutable fields.
        deleted: How many objects were deleted, and are gone.
        objects: The number of its objects.
        migrations: the outcomes of its migrations, in the form of results.
        warnings: Warnings.
        wide: CustomResourceDefinitions with more versions than the release has, because objects of these
            versions may exist. The run removes the versions once all components are healthy.
        component_version: The version of the component in the component list, or empty.
        findings: Changes of others to its objects that were not reported before.
        watched: whether the current state of written objects is recorded, and not the server's answer.
        owner_kind: What it is. Records of runs have modules too.
    """

    name: str
    state: str = field(metadata=one_of(ENDS))
    error: str = ""
    seconds: float = 0.0
    started_at: str = ""
    finished_at: str = ""
    phases: Mapping[str, float] = field(default_factory=dict)
    created: int = 0
    changed: int = 0
    replaced: int = 0
    deleted: int = 0
    objects: int = 0
    migrations: tuple[Mapping[str, Any], ...] = field(default=(), metadata=INTERNAL)
    warnings: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    component_version: str = ""
    findings: tuple[Finding, ...] = field(default=(), metadata=returned_as("drift"))
    watched: bool = field(default=False, metadata=INTERNAL)
    owner_kind: str = field(default=COMPONENT, metadata=returned_as("kind") | one_of((COMPONENT, MODULE)))


def global_phase(phase: Phase) -> str:
    """The name of the phase of the global migrations."""
    return f"{GLOBAL} {phase.value}"


def phase_entry(state: str, seconds: float, earlier: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What a run's record says of a phase that has just ended.

    Args:
        state: how it ended.
        seconds: how long it took.
        earlier: what the record already says of the phase, from earlier tasks.
    """
    before, times = earlier or {}, interval_until_now(seconds)
    return {
        "state": state,
        "seconds": round(before.get("seconds", 0.0) + seconds, 3),
        "started_at": before.get("started_at") or times["started_at"],
        "finished_at": times["finished_at"],
    }


def durations_of(run_status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The durations in a run's record as rows, see :class:`Duration`; the phases are in their order.

    Time that no phase counts, such as the time between tasks, is a row too. The seconds of the plan and of
    all phases add up to those of the run.
    """
    phases = run_status.get("phases") or {}
    in_order = sorted(phases.items(), key=lambda one: str(one[1].get("started_at") or ""))
    rows = [duration_of(entry.get("kind", PHASE), name, entry) for name, entry in in_order]
    rest = round(run_status.get("seconds", 0.0) - sum(row["seconds"] for row in rows), 3)
    if rows and rest > 0:
        rows.append(duration_of(PHASE, OTHER, {"state": SUCCEEDED, "seconds": rest}))
    rows += [duration_of(MIGRATION, n, one) for n, one in (run_status.get("migrations") or {}).items()]
    for name, entry in (run_status.get("components") or {}).items():
        rows.append(duration_of(entry.get("kind", COMPONENT), name, entry))
    return rows


def duration_of(kind: str, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """One row of durations, from the outcome of a plan, phase, migration, component, module or errand."""
    component = entry.get("component") if kind == MIGRATION else ""
    return result_fields(from_result(Duration, {**entry, "kind": kind, "name": name, "component": component}))


def removal_outcome(
    name: str, removal: Removal, seconds: float = 0.0, times: Times = NO_TIMES
) -> ComponentOutcome:
    """The outcome of removing objects of a component, as it is reported and recorded."""
    state, error = SUCCEEDED, "; ".join(removal.errors[:MOST_REASONS])
    if removal.cancelled:
        left = len(removal.untried) + len(removal.failed)
        there = f"{left} of {left + len(removal.deleted)} objects are still there"
        state, error = CANCELLED, "; ".join(filter(None, (there, error)))
    elif error:
        state = FAILED
    return ComponentOutcome(
        name,
        state,
        error=error,
        seconds=seconds,
        **times,
        deleted=len(removal.deleted),
        warnings=tuple(removal.notes),
    )


def deployed_completely(version: str) -> str:
    """The sentence for a release that the cluster has, also in the record of the installation."""
    return f"{version} was deployed completely"


def not_deployed_completely(version: str) -> str:
    """The sentence for a release that the cluster does not have yet."""
    return f"{version} is not deployed completely"
