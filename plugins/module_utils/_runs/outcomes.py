# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Outcomes of migrations, components and phases: plain values, and how they are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .._errors import MOST_REASONS
from .._objects.inventory.inventory import COMPONENT
from .._objects.prune.removal import Removal
from .._timestamp import NO_TIMES, Times, interval_until_now
from ..migration import GLOBAL, Phase

if TYPE_CHECKING:
    from .._objects.ownership.findings import Finding


SUCCEEDED = "succeeded"
FAILED = "failed"
NOT_STARTED = "not started"
CANCELLED = "cancelled"
PRUNE = "prune"
"""The phase that prunes what the release no longer has, once everything is healthy."""
PLAN, LEASE, BEGIN, END, OTHER = "plan", "lease", "begin", "end", "other"
"""The time of a run besides its work: its plan, its lease, its record, and the time between its tasks."""
BEFORE_RUN = (PLAN, LEASE)
"""What precedes the start of a run; the seconds in its record include it."""
NARROW = "narrow"
"""The last phase of a component whose definitions have more versions than the release's."""
ENDS = (SUCCEEDED, FAILED, NOT_STARTED, CANCELLED)


@dataclass(frozen=True)
class ComponentOutcome:
    """The outcome of one component.

    Attributes:
        name: of the component.
        state: ``succeeded``, ``failed``, ``not started`` or ``cancelled``.
        error: what failed, on which object, why; empty unless it failed or was not started.
        seconds: how long it took in total.
        started_at: when it began (UTC, with milliseconds); empty if it did not.
        finished_at: when it ended, in the same way.
        phases: seconds of ``pre``, ``apply``, ``wait`` and ``post``, as far as the component got, and of
            ``narrow`` if definitions had to be narrowed.
        created, changed, replaced, deleted: how many objects.
        objects: how many objects it consists of.
        migrations: the outcomes of its migrations, in the form of results.
        warnings: what a person should know.
        wide: names of definitions that have more versions than the release's, until the run is over.
        component_version: the component's own version, or empty.
        findings: changes by others to its objects that were not reported before.
        watched: whether the current state of written objects is recorded, and not the server's answer.
        owner_kind: what it is: a component, or a module.
    """

    name: str
    state: str
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
    migrations: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    wide: tuple[str, ...] = ()
    component_version: str = ""
    findings: tuple[Finding, ...] = ()
    watched: bool = False
    owner_kind: str = COMPONENT

    def as_result(self) -> dict[str, Any]:
        """The outcome as a task's result and the run's record have it."""
        return {
            "name": self.name,
            "kind": self.owner_kind,
            "component_version": self.component_version,
            "state": self.state,
            "error": self.error,
            "seconds": round(self.seconds, 3),
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "phases": {phase: round(seconds, 3) for phase, seconds in self.phases.items()},
            "created": self.created,
            "changed": self.changed,
            "replaced": self.replaced,
            "deleted": self.deleted,
            "objects": self.objects,
            "warnings": list(self.warnings),
            "wide": list(self.wide),
            "drift": [finding.as_result() for finding in self.findings],
        }


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
    """The durations in a run's record as rows, see :func:`duration_of`; the phases are in their order.

    Time that no phase counts, such as the time between tasks, is a row too. The seconds of the plan and of
    all phases add up to those of the run.
    """
    phases = run_status.get("phases") or {}
    in_order = sorted(phases.items(), key=lambda one: str(one[1].get("started_at") or ""))
    rows = [duration_of(entry.get("kind", "phase"), name, entry) for name, entry in in_order]
    rest = round(run_status.get("seconds", 0.0) - sum(row["seconds"] for row in rows), 3)
    if rows and rest > 0:
        rows.append(duration_of("phase", OTHER, {"state": SUCCEEDED, "seconds": rest}))
    rows += [duration_of("migration", n, one) for n, one in (run_status.get("migrations") or {}).items()]
    for name, entry in (run_status.get("components") or {}).items():
        rows.append(duration_of(entry.get("kind", COMPONENT), name, entry))
    return rows


def duration_of(kind: str, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """One row of durations, from the outcome of a plan, phase, migration, component, module or errand.

    It has ``kind``, ``name``, ``state``, ``seconds``, ``slow``, ``started_at`` and ``finished_at`` (UTC with
    milliseconds; empty if unknown), and the ``component`` of a migration.
    """
    return {
        "kind": kind,
        "name": name,
        "state": entry.get("state", ""),
        "seconds": float(entry.get("seconds", 0.0)),
        "slow": bool(entry.get("slow", False)),
        "started_at": str(entry.get("started_at") or ""),
        "finished_at": str(entry.get("finished_at") or ""),
        "component": str(entry.get("component") or "") if kind == "migration" else "",
    }


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
