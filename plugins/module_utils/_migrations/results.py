# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes of checking and of running a migration: plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from .._cluster.cluster import Cluster
from .._progress import GRACE, Progress
from ..migration import Component

if TYPE_CHECKING:
    from .journal.journal_entry import Journal

NEEDED = "needed"
NOT_NEEDED = "not_needed"
BLOCKED = "blocked"
"""Verdicts; the last two are also what may come of a run."""

RUNNING = "running"
"""The state from before the first write on until there is an outcome; it stays where the run was killed."""

DONE = "done"
FAILED = "failed"
WARNED = "warned"
TIMEOUT = "timeout"
CANCELLED = "cancelled"
SKIPPED = "skipped"

ENDS = (DONE, NOT_NEEDED, BLOCKED, FAILED, WARNED, TIMEOUT, CANCELLED, SKIPPED)
"""The states after which there is nothing more to say of a migration."""

LOG_STATES = ("info", "warning")
"""The states under which a migration's own log lines are told."""

FATAL = (BLOCKED, FAILED, TIMEOUT, CANCELLED, SKIPPED)
"""The states that fail a component, or the run where the migration is global."""

MOST_REQUESTS = 3
"""How many calls of the cluster a check may make; more are told of."""

SLOW_SECONDS = 0.2
"""Seconds from which the table lists a migration that was not needed."""


PredictedVerdicts = Mapping[str, Mapping[str, str]]
"""What a plan has said of migrations, by id: ``verdict`` and ``evidence``, as in plans and records."""


@dataclass(frozen=True)
class EngineSettings:
    """What all migrations of a deployment share.

    Attributes:
        cluster: the live one, or an overlay of it for a rehearsal.
        components: all components of the release, by name.
        release: the version that is being deployed.
        profile: the profile, or empty.
        variables: the user's variables for migrations.
        progress: where to tell what is going on.
        cancelled: whether a person, or a migration, has asked to stop.
        cancel: cancels the whole deployment, with a reason; ``cancelled`` answers yes from then on.
        remaining: seconds until the deadline of the whole run.
        rehearsal: nothing is kept, and nothing in the cluster reacts: waits end at once.
        workers: how many migrations are at work at once.
        grace: seconds that what is in flight gets after a cancellation.
        predicted: what the plan said of those that a run is held to, by id; empty where there is no plan.
        journal: where what they write is kept, so that it can be undone; None where it isn't.
        before_run: called with the outcome of one that is about to write. It records that, and may wait
            without using up the migration's time; what it raises fails the migration before it has written.
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
    """What a migration's check says, for a plan.

    Attributes:
        id: e.g. ``logging/grow-loki-volume``.
        component: the component it belongs to, or ``global``.
        phase: ``pre`` or ``post``.
        verdict: ``needed``, ``not_needed`` or ``blocked``; empty if the check failed.
        evidence: what in the cluster led to it.
        seconds: how long the check took.
        requests: how many calls of the cluster it made.
        slow: it has nothing to do and yet took longer than 0.2 seconds to say so.
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

    def as_result(self) -> dict[str, Any]:
        """As it stands in a task's result."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


@dataclass(frozen=True)
class MigrationOutcome:
    """What came of one migration in a run.

    Attributes:
        id: e.g. ``logging/grow-loki-volume``.
        component: the component it belongs to, or ``global``.
        phase: ``pre`` or ``post``.
        state: ``running`` from before its first write on; then ``done``, ``not_needed``, ``blocked``,
            ``failed``, ``timeout``, ``cancelled``, ``skipped`` (one that must be done before was not), or
            ``warned``: done with a warning, or failed where ``on_failure`` is ``warn`` (then there is an
            ``error``).
        verdict: what its check said at first, or empty if it said nothing.
        evidence: what in the cluster led to it.
        error: what failed, why, and what to do; empty where it succeeded.
        seconds: how long it took altogether.
        started_at: when it began (UTC, with milliseconds); empty if it did not.
        finished_at: when it ended, in the same way.
        requests: how many calls of the cluster it made.
        slow: it had nothing to do and yet took longer than 0.2 seconds to say so.
        warnings: what it told as a warning.
        wrote: whether ``run`` was begun, so that something may have been written.
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
    def succeeded(self) -> bool:
        """Whether the cluster is where the migration brings it."""
        return not self.error

    @property
    def fatal(self) -> bool:
        """Whether it fails its component."""
        return self.state in FATAL

    def as_result(self) -> dict[str, Any]:
        """As it stands in a task's result and in the run's record."""
        return {
            **asdict(self),
            "seconds": round(self.seconds, 3),
            "warnings": list(self.warnings),
            "fatal": self.fatal,
        }
