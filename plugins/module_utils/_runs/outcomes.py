# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of working on migrations, components and phases: plain values, and how they are recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from .._errors import MOST_REASONS
from .._migrations.results import RUNNING
from .._objects.inventory.inventory import COMPONENT
from .._objects.prune.removal import Removal
from ..migration import GLOBAL, Phase

if TYPE_CHECKING:
    from .._objects.ownership.findings import Finding


SUCCEEDED = "succeeded"
FAILED = "failed"
NOT_STARTED = "not started"
CANCELLED = "cancelled"
PRUNE = "prune"
"""The phase in which what the release no longer has goes, once everything is healthy."""
NARROW = "narrow"
"""What a component does last, whose definitions were given more versions than the release's."""
ENDS = (SUCCEEDED, FAILED, NOT_STARTED, CANCELLED)


@dataclass(frozen=True)
class ComponentOutcome:
    """What came of one component.

    Attributes:
        name: of the component.
        state: ``succeeded``, ``failed``, ``not started`` or ``cancelled``.
        error: what failed, on which object, why; empty unless it failed or was not started.
        seconds: how long it took altogether.
        phases: seconds of ``pre``, ``apply``, ``wait`` and ``post``, as far as it came, and of ``narrow``
            where definitions had to be narrowed.
        created, changed, replaced, deleted: how many objects.
        objects: how many objects it consists of.
        migrations: what came of its migrations, as they stand in results.
        warnings: what a person should know.
        wide: names of definitions that have more versions than the release's, until the run is over.
        component_version: the component's own version, or empty.
        findings: what others have done to its objects and was not told before.
        watched: whether what was written is noted as it stood just now, and not as it was answered.
        owner_kind: what it is: a component, or a module.
    """

    name: str
    state: str
    error: str = ""
    seconds: float = 0.0
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
        """As it stands in a task's result and in the run's record."""
        return {
            "name": self.name,
            "kind": self.owner_kind,
            "component_version": self.component_version,
            "state": self.state,
            "error": self.error,
            "seconds": round(self.seconds, 3),
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
    """The name of the phase of those migrations that belong to no component."""
    return f"{GLOBAL} {phase.value}"


def durations_of(run_status: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The durations in a run's record as rows: ``kind``, ``name``, ``state`` and ``seconds``."""
    return [
        duration_of(entry.get("kind", kind), name, entry)
        for kind in ("phase", "migration", "component")
        for name, entry in (run_status.get(f"{kind}s") or {}).items()
    ]


def duration_of(kind: str, name: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """One row of durations, of what came of a phase, a migration or a component."""
    return {
        "kind": kind,
        "name": name,
        "state": entry.get("state", ""),
        "seconds": float(entry.get("seconds", 0.0)),
        "slow": bool(entry.get("slow", False)),
    }


def failures_of(run_status: Mapping[str, Any]) -> list[str]:
    """Everything that failed in a run, each in a sentence."""
    found: list[str] = []
    if run_status.get("cancelled"):
        found.append(f"cancelled by {run_status['cancelled']}")
    for name, entry in (run_status.get("migrations") or {}).items():
        # A component's own migrations are told by the component's error.
        if entry.get("component") == GLOBAL and entry.get("fatal"):
            found.append(f"migration {name}: {entry.get('error') or entry.get('evidence')}")
    for name, entry in (run_status.get("components") or {}).items():
        label = f"{entry.get('kind', COMPONENT)} {name}"
        if entry.get("state") == FAILED:
            found.append(f"{label}: {entry.get('error')}")
        elif entry.get("state") in (CANCELLED, NOT_STARTED):
            found.append(f"{label}: {entry.get('state')}, {entry.get('error')}")
    return found


def run_problems(run: Mapping[str, Any], before: str = "") -> list[str]:
    """Everything that failed in a run or never came to its end, each in a sentence.

    Args:
        run: its record.
        before: a phase of it: only what goes before that counts. Empty for the whole run.
    """
    spec, status = run["spec"], run.get("status") or {}
    known = status.get("components") or {}
    found = failures_of(status)
    found += [
        f"component {name}: never started" for name in spec.get("components") or () if name not in known
    ]
    found += [
        f"migration {name}: its process ended in the middle of it"
        for name, entry in (status.get("migrations") or {}).items()
        if entry.get("state") == RUNNING
    ]
    # What comes late in a run is not reached where anything failed, which is told already.
    return found or _never_reached(spec, status, before)


def _never_reached(spec: Mapping[str, Any], status: Mapping[str, Any], before: str) -> list[str]:
    planned = takewhile(lambda phase: phase != before, spec.get("phases") or ())
    missing = [phase for phase in planned if phase not in (status.get("phases") or {})]
    if missing or before or spec.get("alone"):
        return [f"{phase}: never came to its end" for phase in missing]
    return [
        f"component {name}: its definitions still have versions that the release has no more"
        for name, entry in (status.get("components") or {}).items()
        if entry.get("wide") and NARROW not in (entry.get("phases") or {})
    ]


def removal_outcome(name: str, removal: Removal, seconds: float = 0.0) -> ComponentOutcome:
    """What came of removing objects of a component, as it is told and recorded."""
    state, error = SUCCEEDED, "; ".join(removal.errors[:MOST_REASONS])
    if removal.cancelled:
        left = f"cancelled, {len(removal.untried) + len(removal.failed)} objects are still there"
        state, error = CANCELLED, "; ".join(filter(None, (left, error)))
    elif error:
        state = FAILED
    return ComponentOutcome(
        name, state, error=error, seconds=seconds, deleted=len(removal.deleted), warnings=tuple(removal.notes)
    )
