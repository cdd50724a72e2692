# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One attempt at a migration, run by the real engine and recorded."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ...module_utils._cluster.cluster import Cluster
from ...module_utils._errors import LifecycleError
from ...module_utils._migrations import engine
from ...module_utils._migrations.attempt import describe_error
from ...module_utils._migrations.journal.journal_entry import Journal, JournalEntry
from ...module_utils._migrations.journal.undo import undo_writes
from ...module_utils._migrations.journal.undo_report import UndoneObject
from ...module_utils._migrations.results import TIMEOUT, EngineSettings
from ...module_utils._progress import Step
from ...module_utils.migration import Component, Context, Logger, Migration, Verdict, needed
from .process_state import restore_shared, shared_state
from .process_watch import CHECK, ProcessUse, watch_process
from .recorded_cluster import Fault, RecordedCluster, Recording


class Overslept(LifecycleError):
    """A migration waits for an event that does not happen."""


@dataclass(frozen=True)
class MigrationEnvironment:
    """The environment of a migration, without the cluster.

    Attributes:
        components: of the release, by name.
        release, profile, variables: as in :class:`~..migration.Context`.
        seconds: how long a step may take.
        waits: whether sleeps take time; otherwise they are skipped, and count against the timeout.
        on_sleep: called when a sleep is skipped.
    """

    components: Mapping[str, Component]
    release: str
    profile: str
    variables: Mapping[str, Any]
    seconds: float
    waits: bool
    on_sleep: Callable[[], object] = lambda: None


@dataclass
class AttemptRecord:
    """The record of one attempt.

    Attributes:
        recording: its calls of the cluster.
        verdicts: the verdict of each ``check``.
        error: the error of ``check`` or ``run``, for people, or empty.
        raised: the exception of that error, if there is one.
        ran_after: the number of calls before ``run`` was called; None if it was not.
        in_time: whether each step ended before its timeout.
        said: its log lines, and why it cancelled the deployment.
        contexts: its contexts, one for each step.
        process: its use of anything but the cluster.
        left: what its steps have changed in the process, each as a clause, and when.
    """

    recording: Recording
    verdicts: list[Verdict] = field(default_factory=list)
    error: str = ""
    raised: BaseException | None = None
    ran_after: int | None = None
    in_time: bool = True
    said: list[str] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    process: ProcessUse = field(default_factory=ProcessUse)
    left: dict[str, str] = field(default_factory=dict)

    @property
    def has_run(self) -> bool:
        """Whether ``run`` was called."""
        return self.ran_after is not None

    @property
    def verdict(self) -> str:
        """The state of the first verdict; empty if there is none."""
        return self.verdicts[0].state if self.verdicts else ""

    @property
    def reason(self) -> str:
        """Its first verdict with its evidence, for people."""
        return f"{self.verdict} ({self.verdicts[0].evidence!r})" if self.verdicts else "nothing"


def check_migration(
    migration: type[Migration],
    cluster: Cluster,
    around: MigrationEnvironment,
    *,
    compares_reads: bool = False,
) -> AttemptRecord:
    """Call only ``check``, and compare the answers to its reads if the caller wants it."""
    attempt = AttemptRecord(Recording(reads=[] if compares_reads else None))
    with _watching(attempt):
        [result] = engine.check_migrations([_watched(migration, attempt, around)], _setting(cluster, around))
    if result.error:
        _note_failure(attempt, result.error)
    return attempt


def attempt_migration(
    migration: type[Migration],
    cluster: Cluster,
    around: MigrationEnvironment,
    *,
    fault: Fault | None = None,
    fault_at: int = 0,
    rehearsal: bool = False,
    unasked: bool = False,
    journal: Journal | None = None,
    before_call: tuple[int, Callable[[], None]] | None = None,
) -> AttemptRecord:
    """Check, run if it is needed, and check again.

    Args:
        migration: the class.
        cluster: the cluster.
        around: the rest of its environment.
        fault, fault_at: the fault, and the number of the call that it happens to, from 1.
        rehearsal: whether the cluster stores no writes.
        unasked: run it without its check.
        journal: records its writes.
        before_call: the number of a call (from 1), and the action of another client right before it.
    """
    attempt = AttemptRecord(Recording(fault, fault_at, before_call=before_call))
    watched = _watched(migration, attempt, around, unasked=unasked)
    with _watching(attempt):
        [outcome] = engine.run_migrations(
            [watched],
            replace(_setting(cluster, around), rehearsal=rehearsal, journal=journal),
        )
    attempt.in_time = outcome.state != TIMEOUT
    if not attempt.in_time:
        seconds = min(around.seconds, float(migration.timeout))
        _note_failure(attempt, f"it did not end within {seconds:g} s, and was given up")
    elif not (attempt.verdicts or unasked):
        _note_failure(attempt, outcome.error)
    return attempt


def undo_migration(
    migration: type[Migration],
    cluster: Cluster,
    around: MigrationEnvironment,
    entries: Sequence[JournalEntry],
) -> tuple[list[UndoneObject], str]:
    """Undo the writes in a journal, and then call the migration's own ``undo``.

    Returns:
        The result of each object in the journal, and the error of the migration's own ``undo``, or empty.
    """
    undone = undo_writes(cluster, entries)
    if not migration.has_own_undo():
        return undone, ""
    [outcome] = engine.run_own_undo([migration], _setting(cluster, around))
    return undone, outcome.error


@contextmanager
def _watching(attempt: AttemptRecord) -> Iterator[None]:
    with watch_process() as use:
        attempt.process = use
        yield
    if use.ended_by:
        _note_failure(attempt, use.ended_by)


def _setting(cluster: Cluster, around: MigrationEnvironment) -> EngineSettings:
    end = time.monotonic() + around.seconds

    def progress(subject: str, state: str, detail: str = "", _step: Step | None = None) -> None:
        """Ignore the progress."""

    return EngineSettings(
        cluster=cluster,
        components=around.components,
        release=around.release,
        progress=progress,
        profile=around.profile,
        variables=around.variables,
        remaining=lambda: max(0.0, end - time.monotonic()),
    )


def _note_failure(attempt: AttemptRecord, error: str) -> None:
    attempt.error = attempt.error or error


def _watched(
    migration: type[Migration], attempt: AttemptRecord, around: MigrationEnvironment, *, unasked: bool = False
) -> type[Migration]:
    """The migration, with its cluster and log recorded, and its sleeps skipped."""

    def check(self: Migration, ctx: Context) -> Verdict:
        if unasked:
            return needed("the test kit runs it unasked")
        with _step(CHECK, migration, attempt):
            verdict = migration.check(self, _context(ctx, attempt, around, float(migration.timeout)))
        if isinstance(verdict, Verdict):
            attempt.verdicts.append(verdict)
        return verdict

    def run(self: Migration, ctx: Context) -> None:
        attempt.ran_after = len(attempt.recording.calls)
        with _step("run", migration, attempt):
            migration.run(self, _context(ctx, attempt, around, float(migration.timeout)))

    body = {"check": check, "run": run, "__module__": migration.__module__, "__doc__": migration.__doc__}
    return cast("type[Migration]", type(migration.__name__, (migration,), body))


@contextmanager
def _step(name: str, migration: type[Migration], attempt: AttemptRecord) -> Iterator[None]:
    """Note why a step fails, and what it changes in the process."""
    before, when = shared_state(), ""
    try:
        yield
    except BaseException as error:
        attempt.raised, when = error, ", if one of its calls fails"
        _note_failure(attempt, f"its {name} failed: {describe_error(error, migration)}")
        raise
    finally:
        changes = restore_shared(before)
        if not attempt.recording.has_been_killed:
            attempt.left.update({f"its {name} {clause}": when for clause in changes})


def _context(ctx: Context, attempt: AttemptRecord, around: MigrationEnvironment, timeout: float) -> Context:
    def cancel(reason: str) -> None:
        attempt.said.append(reason)
        ctx.cancel(reason)

    recorded = replace(
        ctx,
        cluster=RecordedCluster(ctx.cluster, attempt.recording),
        log=_RecordedLog(ctx.log, attempt.said),
        cancel=cancel,
    )
    attempt.contexts.append(recorded)
    if around.waits:
        return recorded
    slept = 0.0

    def sleep(seconds: float) -> None:
        nonlocal slept
        ctx.sleep(0.0)
        attempt.recording.must_live()
        slept += seconds
        around.on_sleep()
        if slept > timeout:
            raise Overslept(
                f"it slept for longer than its timeout of {timeout:g} s, waiting for something that nobody "
                f"does in memory: let the test's `reactions` do what a controller does"
            )

    def remaining() -> float:
        return max(0.0, timeout - slept) if ctx.remaining() > 0 else 0.0

    return replace(recorded, sleep=sleep, remaining=remaining)


class _RecordedLog:
    """A log that also records its lines."""

    def __init__(self, inner: Logger, said: list[str]) -> None:
        self._inner = inner
        self._said = said

    def info(self, message: str) -> None:
        self._said.append(str(message))
        self._inner.info(message)

    def warning(self, message: str) -> None:
        self._said.append(str(message))
        self._inner.warning(message)
