# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of checks and runs of migrations: plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from .._cluster.cluster import Cluster
from .._progress import GRACE, Progress
from .._result_codec import result_fields
from ..migration import Component

if TYPE_CHECKING:
    from .journal.journal_entry import Journal

NEEDED = "needed"
NOT_NEEDED = "not_needed"
BLOCKED = "blocked"
"""Verdicts. The last two are also states of an outcome."""

RUNNING = "running"
"""The state from before the first write until the outcome. It stays if the run was killed."""

DONE = "done"
FAILED = "failed"
WARNED = "warned"
TIMEOUT = "timeout"
CANCELLED = "cancelled"
SKIPPED = "skipped"

LOG_STATES = ("info", "warning")
"""The states with which a migration's own log lines are reported."""

FATAL = (BLOCKED, FAILED, TIMEOUT, CANCELLED, SKIPPED)
"""The states that fail a component, or the run where the migration is global."""

MOST_REQUESTS = 3
"""The requests that a check may make. More are reported."""

SLOW_SECONDS = 0.2
"""Seconds from which the table lists a migration that was not needed."""


class PredictedVerdict(NamedTuple):
    """What a plan expects of a migration. Empty for one that the plan did not know."""

    verdict: Annotated[str, "`needed`, `not_needed` or `blocked`."] = ""
    evidence: Annotated[str, "What the verdict is based on."] = ""


PredictedVerdicts = Mapping[str, PredictedVerdict]
"""A plan's predictions by id of the migration."""


@dataclass(frozen=True)
class EngineSettings:
    """Settings of all migrations of a deployment.

    Attributes:
        cluster: the live one, or an overlay of it for a rehearsal.
        components: all components of the release, by name.
        release: the version that is being deployed.
        profile: the profile, or empty.
        variables: the user's variables for migrations.
        progress: reports the progress.
        cancelled: whether a person, or a migration, has asked to stop.
        cancel: cancels the whole deployment, with a reason; ``cancelled`` returns True from then on.
        remaining: seconds until the deadline of the whole run.
        rehearsal: writes are not stored, and no controller reacts: waits end at once.
        workers: how many migrations are active at once.
        grace: seconds that active work gets after a cancellation.
        predicted: the plan's predictions that a run must meet, by id; empty if there is no plan.
        journal: records the writes, so that they can be undone; None if they are not journaled.
        before_run: called with the outcome of a migration that is about to write. It records that, and may
            wait without using up the migration's time. If it raises, the migration fails before it writes.
    """

    cluster: Cluster
    components: Mapping[str, Component]
    release: str
    progress: Progress
    profile: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)
    cancelled: Callable[[], bool] = lambda: False
    cancel: Callable[[str], None] = lambda _reason: None
    remaining: Callable[[], float] = lambda: inf
    rehearsal: bool = False
    workers: int = 8
    grace: float = GRACE
    predicted: PredictedVerdicts = field(default_factory=dict)
    journal: Journal | None = None
    before_run: Callable[[MigrationOutcome], None] = lambda _intent: None


@dataclass(frozen=True)
class CheckResult:
    """The result of a migration's check, for a plan.

    Attributes:
        id: e.g. ``logging/grow-loki-volume``.
        component: the component it belongs to, or ``global``.
        phase: ``pre`` or ``post``.
        verdict: ``needed``, ``not_needed`` or ``blocked``; empty if the check failed.
        evidence: what in the cluster led to it.
        seconds: how long the check took.
        requests: how many calls of the cluster it made.
        slow: whether it has nothing to do and yet took longer than 0.2 seconds to say so.
        error: why there is no verdict, or empty.
        fatal: whether this blocks a deployment: ``blocked`` or an error, unless ``on_failure`` is ``warn``.
    """

    id: str
    component: str
    phase: str
    verdict: str
    evidence: str
    seconds: float
    requests: int
    slow: bool = False
    error: str = ""
    fatal: bool = False


@dataclass(frozen=True)
class MigrationOutcome:
    """The outcome of one migration in a run.

    Attributes:
        id: The migration's id.
        component: The component that it belongs to, or ``global``.
        phase: ``pre`` or ``post``.
        state: How it ended. ``done``, ``not_needed``, ``warned`` if it was done with a warning, ``blocked``
            if a person must act, ``failed``, ``timeout``, ``cancelled``, or ``skipped`` if a migration that
            it needs did not end well. ``running`` from before its first write.
        verdict: The first verdict of its check, ``needed``, ``not_needed`` or ``blocked``. Empty if there is
            none.
        evidence: The state in the cluster that led to the verdict.
        error: What failed, why, and what to do. Empty if nothing did.
        seconds: How long it took.
        started_at: When it began, in UTC. Empty if unknown.
        finished_at: When it ended, in UTC. Empty if unknown.
        requests: How many times it called the cluster.
        slow: Whether it was not needed, and its check took longer than 0.2 seconds.
        warnings: Its warnings.
        wrote: Whether it began, so that it may have written something.
        fatal: Whether it fails its component, or the run if it is global.
    """

    id: str
    component: str
    phase: str
    state: str
    verdict: str = ""
    evidence: str = ""
    error: str = ""
    seconds: float = 0.0
    started_at: str = ""
    finished_at: str = ""
    requests: int = 0
    slow: bool = False
    warnings: tuple[str, ...] = ()
    wrote: bool = False

    @property
    def is_success(self) -> bool:
        """Whether the cluster is migrated."""
        return not self.error

    @property
    def fatal(self) -> bool:
        """Whether it fails its component."""
        return self.state in FATAL

    def as_result(self) -> dict[str, Any]:
        """The same as a dict, for a task's result and the run's record."""
        return {**result_fields(self), "fatal": self.fatal}
