# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check and run migrations in parallel."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence

from ..migration import Migration
from .attempt import CHECK, RUN, TICK, UNDO, Attempt
from .results import (
    CANCELLED,
    NOT_NEEDED,
    SKIPPED,
    TIMEOUT,
    WARNED,
    CheckResult,
    EngineSettings,
    MigrationOutcome,
)


def check_migrations(migrations: Sequence[type[Migration]], setting: EngineSettings) -> list[CheckResult]:
    """Return the verdicts of migrations of any components and phases, by reads only.

    Returns:
        One result each, in their order. An error of a migration is in its result.
    """
    outcomes = _Work(migrations, setting, CHECK).through()
    return [
        CheckResult(
            id=outcome.id,
            component=outcome.component,
            phase=outcome.phase,
            verdict=outcome.verdict,
            evidence=outcome.evidence,
            seconds=outcome.seconds,
            requests=outcome.requests,
            slow=outcome.slow,
            error="" if outcome.verdict else outcome.error,
            fatal=outcome.fatal,
        )
        for outcome in outcomes
    ]


def run_migrations(migrations: Sequence[type[Migration]], setting: EngineSettings) -> list[MigrationOutcome]:
    """Run the migrations of one component and phase in parallel, except where one waits for another.

    Each is checked, run if it is needed, and checked again. Returns when all have ended or been given up. A
    migration that was given up can't use the cluster any more.

    Returns:
        One outcome each, in their order. Errors of migrations are in the outcomes and not raised.
    """
    return _Work(migrations, setting, RUN).through()


def run_own_undo(migrations: Sequence[type[Migration]], setting: EngineSettings) -> list[MigrationOutcome]:
    """Call the own ``undo`` of migrations, one after the other, the last first.

    Returns:
        One outcome each, in that order. Errors of migrations are in the outcomes and not raised.
    """
    return [outcome for one in reversed(migrations) for outcome in _Work([one], setting, UNDO).through()]


class _Work:
    """Active migrations, one thread each, which the calling thread supervises."""

    def __init__(self, migrations: Sequence[type[Migration]], setting: EngineSettings, action: str) -> None:
        self._setting = setting
        self._action = action
        self._order = [migration.id() for migration in migrations]
        self._waiting = {migration.id(): migration for migration in migrations}
        self._active: dict[str, Attempt] = {}
        self._outcomes: dict[str, MigrationOutcome] = {}
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._cancelled_at: float | None = None

    def through(self) -> list[MigrationOutcome]:
        """Run until all migrations have an outcome."""
        while self._waiting or self._active:
            self._apply_time_limits()
            self._start_ready_migrations()
            self._wait()
            self._collect_outcomes()
        return [self._outcomes[one] for one in self._order]

    def _apply_time_limits(self) -> None:
        if self._cancelled_at is None and self._setting.cancelled():
            self._cancelled_at = time.monotonic()
        if self._cancelled_at is not None:
            self._drop_waiting(CANCELLED, "the deployment was cancelled before it started")
        elif self._setting.remaining() <= 0:
            self._drop_waiting(TIMEOUT, "the deployment's time was up before it started")
        for attempt in self._active.values():
            self._end_if_overdue(attempt)

    def _end_if_overdue(self, attempt: Attempt) -> None:
        grace = self._setting.grace
        if overdue := attempt.overdue():
            attempt.end(TIMEOUT, overdue)
        elif self._cancelled_at is not None and time.monotonic() - self._cancelled_at > grace:
            attempt.end(CANCELLED, f"its {attempt.step} did not end within {grace:g} s of the cancellation")

    def _start_ready_migrations(self) -> None:
        for migration_id, migration in list(self._waiting.items()):
            before = (
                [other for other in migration.after if other in self._order] if self._action == RUN else []
            )
            ended = [self._outcomes[other] for other in before if other in self._outcomes]
            failed = [outcome.id for outcome in ended if not outcome.is_success]
            if failed:
                why = f"not started, as {failed[0]} did not succeed"
                self._note_unstarted(migration, SKIPPED, why)
            elif len(ended) == len(before) and len(self._active) < self._setting.workers:
                del self._waiting[migration_id]
                attempt = Attempt(
                    migration,
                    self._setting,
                    action=self._action,
                    on_end=lambda: self._wake.put(None),
                )
                self._active[migration_id] = attempt
                attempt.start()

    def _wait(self) -> None:
        if not self._active:
            if self._waiting:
                raise ValueError(f"{', '.join(self._waiting)} wait for each other")
            return
        soonest = min(attempt.seconds_left() for attempt in self._active.values())
        try:
            self._wake.get(timeout=min(max(soonest, 0.001), TICK))
        except queue.Empty:
            return

    def _collect_outcomes(self) -> None:
        for migration_id, attempt in list(self._active.items()):
            if attempt.outcome is not None:
                del self._active[migration_id]
                self._note(attempt.outcome)

    def _drop_waiting(self, state: str, why: str) -> None:
        for migration in list(self._waiting.values()):
            self._note_unstarted(migration, state, why)

    def _note_unstarted(self, migration: type[Migration], state: str, why: str) -> None:
        migration_id = migration.id()
        del self._waiting[migration_id]
        if migration.on_failure == "warn" and state != CANCELLED:
            state = WARNED
        self._note(
            MigrationOutcome(migration_id, migration.component, str(migration.phase), state, error=why)
        )

    def _note(self, outcome: MigrationOutcome) -> None:
        self._outcomes[outcome.id] = outcome
        if self._action != CHECK and outcome.state != NOT_NEEDED:
            detail = outcome.error or f"in {outcome.seconds:.1f} s"
            self._setting.progress(outcome.id, outcome.state, detail)
