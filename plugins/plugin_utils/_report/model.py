# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of the report: plain values, without layout and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...module_utils._migrations.results import MigrationOutcome
from ...module_utils._runs.cluster_state import ClusterState
from ...module_utils._runs.outcomes import FAILED, ComponentOutcome, Duration
from .._carrier.command_target import CommandTarget
from .._last_lines.playbook_summary import NextStep
from .._rollout.model import Rollout


@dataclass(frozen=True)
class Work(Duration):
    """One part of a run that takes time.

    Attributes:
        start, finish: seconds from the start of the run; None if the record does not have it.
        parts: of a component: seconds of its phases, in their order.
    """

    start: float | None = None
    finish: float | None = None
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
class RunReport:
    """One run on one cluster.

    Attributes:
        name: of the run; empty for the result of a task that has no record.
        what: its action, for people, such as ``Deploy 2.11``.
        version, previous, profile: of the release.
        started_by: the user who began it.
        started_at, finished_at: RFC 3339; empty if unknown.
        state: ``succeeded``, ``failed``, ``cancelled``, ``running`` or ``lost``.
        seconds: how long its plan and it took, or has taken when it was last written to.
        note: that it has not ended.
        logs: commands that show the logs of what failed.
        work: all parts that took time.
        failures: in the order in which they happened, and then what did not start.
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
    migrations: tuple[MigrationOutcome, ...] = ()
    components: tuple[ComponentOutcome, ...] = ()

    @property
    def has_migration_writes(self) -> bool:
        """Whether a migration of it may have written to the cluster."""
        return any(one.wrote for one in self.migrations)


@dataclass(frozen=True)
class ClusterReport:
    """One cluster.

    Attributes:
        end: its state, as in the table over clusters.
        version: the release that it has, or empty.
        target: the release that it is on its way to, or empty.
        runs: the shown ones, oldest first.
        commands: what commands need to reach the cluster.
    """

    end: ClusterState
    version: str = ""
    target: str = ""
    runs: tuple[RunReport, ...] = ()
    commands: CommandTarget = field(default_factory=CommandTarget)

    @property
    def name(self) -> str:
        """The name of its host."""
        return self.end.cluster

    @property
    def state(self) -> str:
        """One of :data:`~.cluster_state.STATES`."""
        return self.end.state

    @property
    def seconds(self) -> float:
        """How long its deployments took."""
        return self.end.seconds

    @property
    def reason(self) -> str:
        """The first reason, if no run in the report has it."""
        has_run = any(run.failures and run.state == self.state for run in self.runs)
        return "" if has_run else self.end.reason


@dataclass(frozen=True)
class RolloutReport:
    """A rollout over rings.

    Attributes:
        decided: what is decided, with the ends of runs.
        steps: when to run it again, or what it needs.
        is_over: whether this call deploys nothing more.
    """

    decided: Rollout
    steps: tuple[NextStep, ...] = ()
    is_over: bool = False

    @property
    def ring_of(self) -> dict[str, str]:
        """The ring of each cluster."""
        return {one.name: ring.name for ring in self.decided.rings for one in ring.clusters}
