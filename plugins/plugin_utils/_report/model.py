# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of the report: plain values, without layout and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FAILED, CANCELLED, RUNNING, SUCCEEDED = "failed", "cancelled", "running", "succeeded"
NOT_STARTED, UNREACHABLE, HELD, UNCHANGED = "not started", "unreachable", "held", "unchanged"
PENDING = "pending"
"""The state of a cluster whose tasks have not ended when the report is written."""
STATES = (FAILED, UNREACHABLE, HELD, CANCELLED, RUNNING, PENDING, NOT_STARTED, SUCCEEDED, UNCHANGED)
"""The states of clusters, in the order in which a person should read them."""


@dataclass(frozen=True)
class Work:
    """One part of a run that takes time.

    Attributes:
        kind: ``plan``, ``phase``, ``component``, ``migration``, ``module`` or ``errand``.
        name: of the phase, the component, the module or the errand, or the id of the migration.
        state: how it ended.
        seconds: how long it took.
        start: seconds from the start of the run; None if the record does not have it.
        component: of a migration: the component that it belongs to, or empty.
        parts: of a component: seconds of its phases, in their order.
    """

    kind: str
    name: str
    state: str = ""
    seconds: float = 0.0
    start: float | None = None
    component: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Failure:
    """A failure, or a part that did not start, for one reason.

    Attributes:
        subjects: what it is about, such as ``component logging``; empty if the text has it.
        text: what failed, on which object, why.
        state: ``failed``, ``cancelled`` or ``not started``.
    """

    subjects: tuple[str, ...]
    text: str
    state: str = FAILED


@dataclass(frozen=True)
class MigrationReport:
    """The result of one migration: its id, component, phase, state, verdict, evidence, error and seconds."""

    id: str
    component: str = ""
    phase: str = ""
    state: str = ""
    verdict: str = ""
    evidence: str = ""
    error: str = ""
    seconds: float = 0.0
    wrote: bool = False


@dataclass(frozen=True)
class ComponentReport:
    """The result of one component or module: numbers of objects, and seconds of its phases."""

    name: str
    version: str = ""
    state: str = ""
    objects: int = 0
    created: int = 0
    changed: int = 0
    replaced: int = 0
    deleted: int = 0
    seconds: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunReport:
    """One run on one cluster.

    Attributes:
        name: of the run; empty for the result of a task that has no record.
        what: its action, for people, such as ``Deploy 2.11``.
        version, previous, profile: of the release.
        started_by: the user who began it.
        started_at, finished_at: RFC 3339; empty if unknown.
        state: ``succeeded``, ``failed``, ``cancelled`` or ``running``.
        seconds: how long it took, or has taken when it was last written to.
        note: that it has not ended.
        logs: commands that show the logs of what failed.
        work: all parts that took time.
        failures: root causes first.
        migrations, components: their results.
    """

    name: str = ""
    what: str = ""
    version: str = ""
    previous: str = ""
    profile: str = ""
    started_by: str = ""
    started_at: str = ""
    finished_at: str = ""
    state: str = ""
    seconds: float = 0.0
    note: str = ""
    logs: tuple[str, ...] = ()
    work: tuple[Work, ...] = ()
    failures: tuple[Failure, ...] = ()
    migrations: tuple[MigrationReport, ...] = ()
    components: tuple[ComponentReport, ...] = ()

    @property
    def has_migration_writes(self) -> bool:
        """Whether a migration of it may have written to the cluster."""
        return any(one.wrote for one in self.migrations)


@dataclass(frozen=True)
class ClusterReport:
    """One cluster.

    Attributes:
        name: of its host.
        state: see :data:`STATES`.
        version: the release that it has, or empty.
        target: the release that it is on its way to, or empty.
        reason: for its state, if its runs don't have it.
        runs: the shown ones, oldest first.
    """

    name: str
    state: str
    version: str = ""
    target: str = ""
    reason: str = ""
    runs: tuple[RunReport, ...] = ()

    @property
    def seconds(self) -> float:
        """The total duration of its runs."""
        return sum(run.seconds for run in self.runs)

    @property
    def first_reason(self) -> str:
        """The first failure; empty if there is none."""
        failures = [failure for run in self.runs for failure in run.failures]
        if failures:
            return ": ".join(filter(None, (", ".join(failures[0].subjects), failures[0].text)))
        return self.reason
