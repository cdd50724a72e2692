# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One active migration in its own thread: check, run, check again; or undo."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import PurePath
from typing import TypeVar

from .._cluster.cluster import Cluster, manager_of
from .._cluster.wrapper import DISCOVERED
from .._deep_copy import deep_copy
from .._errors import LifecycleError
from .._progress import Step, report_step
from .._redaction import Redactor, without_secrets
from .._release.lazy_objects import LazyObjects
from .._text import LONGEST_FOREIGN_ERROR, LONGEST_LINE, one_line
from .._timestamp import NO_TIMES, Times, interval_until_now
from ..migration import Component, Context, Migration, Verdict
from .guard import Gate, GuardedCluster, MigrationStopped
from .loader import true_path
from .meter import Meter, MeteredCluster
from .results import (
    BLOCKED,
    CANCELLED,
    DONE,
    FAILED,
    NOT_NEEDED,
    RUNNING,
    SLOW_SECONDS,
    TIMEOUT,
    WARNED,
    EngineSettings,
    MigrationOutcome,
)
from .verdicts import LONGEST_EVIDENCE, already_done_warning, deviation, verdict_from

TICK = 0.1
"""Seconds between checks whether the run was cancelled, while a thread waits."""

CHECK = "check"
RUN = "run"
UNDO = "undo"
"""Actions: get the verdict of a migration, run it if it is needed, or call its own ``undo``."""
START = "start"
"""The step before ``run``, in which the caller's ``before_run`` prepares for it."""

T = TypeVar("T")


class _OutOfTime(LifecycleError):
    """A step exceeded its timeout, and ended before it was given up."""


class Attempt:
    """One active migration. It ends by itself, or is given up by :meth:`end`; the first of both counts.

    Args:
        migration: the class.
        setting: the settings of all migrations.
        action: ``CHECK``, ``RUN`` or ``UNDO``.
        on_end: called once when it has ended.
    """

    def __init__(
        self, migration: type[Migration], setting: EngineSettings, *, action: str, on_end: Callable[[], None]
    ) -> None:
        self.id = migration.id()
        self.outcome: MigrationOutcome | None = None
        self.step = CHECK
        self._class = migration
        self._setting = setting
        self._action = action
        self._on_end = on_end
        self._meter = Meter()
        self._redactor = Redactor()
        self._gate = Gate(self.id, read_only=True)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._deadline = self._started
        self._skipped_sleep = 0.0
        self._verdict = ""
        self._evidence = ""
        self._wrote = False
        self._has_cancelled = False
        self._warnings: list[str] = []

    def start(self) -> None:
        """Start the migration. Never blocks."""
        self._started = time.monotonic()
        step = UNDO if self._action == UNDO else CHECK
        self._begin(step, read_only=step == CHECK)
        # A daemon thread, because a thread that was given up must not keep the process alive.
        threading.Thread(target=self._work, name=f"migration {self.id}", daemon=True).start()

    def end(self, state: str, error: str) -> None:
        """Give it up. Its thread is not stopped, but can't use the cluster any more."""
        self._finish(state, error)

    @property
    def timeout(self) -> float:
        """Seconds that each of its own steps may take."""
        return float(self._class.timeout)

    def seconds_left(self) -> float:
        """Seconds left of the current step's time."""
        return self._deadline - time.monotonic()

    def overdue(self) -> str:
        """Why the current step is out of time, or empty."""
        if self.seconds_left() > 0:
            return ""
        if self._setting.remaining() <= 0:
            return f"its {self.step} was not done when the deployment's time was up, and was given up"
        return f"its {self.step} took longer than its timeout of {self.timeout:g} s and was given up"

    def _work(self) -> None:
        try:
            state, error = self._steps()
        except MigrationStopped:
            return
        except _OutOfTime as failure:
            state, error = TIMEOUT, str(failure)
        except BaseException as failure:
            stopped = self._setting.cancelled() and not self._has_cancelled
            text = describe_error(failure, self._class, may_quote=not self._redactor.has_seen_values)
            state, error = (CANCELLED if stopped else FAILED), text
            if self.overdue():
                state, error = TIMEOUT, f"{self.overdue()}; at last it said: {error}"
        self._finish(state, error)

    def _steps(self) -> tuple[str, str]:
        migration = self._class()
        if self._action == UNDO:
            return self._undo(migration)
        verdict = self._ask(migration)
        if changed := self._deviation(verdict.state):
            return FAILED, changed
        if verdict.state == "blocked":
            return BLOCKED, f"blocked: {self._evidence}"
        if verdict.state == NOT_NEEDED or self._action == CHECK:
            return (NOT_NEEDED if verdict.state == NOT_NEEDED else DONE), ""
        if self._setting.cancelled():
            return CANCELLED, "the deployment was cancelled before it ran"
        step = Step(limit=self.timeout, reason=self._evidence, is_announced=True)
        self._setting.progress(self.id, RUNNING, self._evidence, step)
        # It may have to wait until no other run is active. That must not use up the migration's time.
        self._next(START, read_only=True)
        self._setting.before_run(self._as_outcome(RUNNING, wrote=True))
        self._next(RUN, read_only=False)
        self._wrote = True
        migration.run(self._context())
        self._next("check after run", read_only=True)
        again = self._ask(migration)
        if again.state == NOT_NEEDED:
            return (WARNED if self._warnings else DONE), ""
        evidence = self._fit(again.evidence, LONGEST_EVIDENCE)
        return FAILED, f"it ran, and its check still says {again.state}: {evidence}"

    def _deviation(self, verdict: str) -> str:
        """Why the plan no longer holds, which ends the whole run; usually empty."""
        predicted = self._setting.predicted.get(self.id)
        if predicted is None:
            return ""
        if warning := already_done_warning(predicted, verdict, self._evidence):
            self._log("warning", warning)
        changed = deviation(predicted, verdict, self._evidence)
        if changed:
            self._setting.cancel(f"migration {self.id}: {changed}")
        return changed

    def _undo(self, migration: Migration) -> tuple[str, str]:
        self._wrote = True
        migration.undo(self._context())
        self._must_be_in_time()
        return (WARNED if self._warnings else DONE), ""

    def _ask(self, migration: Migration) -> Verdict:
        answer: object = migration.check(self._context())
        self._must_be_in_time()
        verdict = verdict_from(answer)
        if self.step == CHECK:
            self._verdict = verdict.state
            self._evidence = self._fit(verdict.evidence, LONGEST_EVIDENCE)
        return verdict

    def _must_be_in_time(self) -> None:
        # A sleep ends with the step's time. So a step may seem done at the moment it is out of time.
        if self.overdue():
            raise _OutOfTime(self.overdue())

    def _next(self, step: str, *, read_only: bool) -> None:
        self._must_be_in_time()
        self._begin(step, read_only=read_only)

    def _begin(self, step: str, *, read_only: bool) -> None:
        with self._lock:
            if self._ended.is_set():
                raise MigrationStopped(f"migration {self.id} was given up")
            # Threads that the last step may have left running must not use its cluster any more.
            self._gate.shut()
            self._gate = Gate(self.id, read_only=read_only)
            self._skipped_sleep = 0.0
            seconds = min(inf if step == START else self.timeout, self._setting.remaining())
            self._deadline = time.monotonic() + seconds
            self.step = step
        report_step(f"migration {self.id}", step)

    def _finish(self, state: str, error: str) -> None:
        seconds = time.monotonic() - self._started
        with self._lock:
            if self._ended.is_set():
                return
            self._ended.set()
            self._gate.shut()
            if error and state not in (CANCELLED, DONE) and self._class.on_failure == "warn":
                state = WARNED
            self.outcome = self._as_outcome(
                state,
                wrote=self._wrote,
                error=self._fit(error),
                seconds=seconds,
                times=interval_until_now(seconds),
                slow=state == NOT_NEEDED and seconds > SLOW_SECONDS,
            )
        report_step(f"migration {self.id}", "")
        self._on_end()

    def _as_outcome(
        self,
        state: str,
        *,
        wrote: bool,
        error: str = "",
        seconds: float = 0.0,
        times: Times = NO_TIMES,
        slow: bool = False,
    ) -> MigrationOutcome:
        return MigrationOutcome(
            id=self.id,
            component=self._class.component,
            phase=str(self._class.phase),
            state=state,
            verdict=self._verdict,
            evidence=self._evidence,
            error=error,
            seconds=seconds,
            **times,
            requests=sum(n for verb, n in self._meter.calls.items() if verb not in DISCOVERED),
            slow=slow,
            warnings=tuple(self._warnings),
            wrote=wrote,
        )

    def _context(self) -> Context:
        setting, gate = self._setting, self._gate
        metered = MeteredCluster(self._cluster(gate), self._meter)

        def is_cancelled() -> bool:
            return gate.is_shut or setting.cancelled()

        def remaining() -> float:
            return 0.0 if gate.is_shut else max(0.0, self.seconds_left() - self._skipped_sleep)

        def sleep(seconds: float) -> None:
            gate.read()
            if setting.rehearsal:
                self._skip(seconds, remaining())
                return
            end = time.monotonic() + min(seconds, remaining())
            while (left := end - time.monotonic()) > 0 and not is_cancelled():
                self._ended.wait(min(left, TICK))
            gate.read()

        def cancel(reason: str) -> None:
            gate.read()
            self._has_cancelled = True
            setting.cancel(f"migration {self.id}: {self._fit(reason)}")

        return Context(
            cluster=GuardedCluster(metered, gate, self._redactor),
            # Changes that a migration makes to these must not be deployed, nor reach other migrations.
            components={name: _with_copies(one) for name, one in setting.components.items()},
            release=setting.release,
            profile=setting.profile,
            variables=deep_copy(dict(setting.variables)),
            log=_Log(self._log),
            remaining=remaining,
            cancelled=is_cancelled,
            cancel=cancel,
            sleep=sleep,
            rehearsal=setting.rehearsal,
        )

    def _cluster(self, gate: Gate) -> Cluster:
        cluster = self._setting.cluster.with_field_manager(manager_of(self.id))
        if self.step in (RUN, UNDO):
            # A write passes the gate once, and may then be retried for minutes.
            cluster = cluster.with_write_terms(gate.terms(self.seconds_left))
        if self._setting.journal is None or self.step != RUN:
            return cluster

        migration = self._class
        # Imported here, because a plan with nothing to do does not need it.
        from .journal.journaling_cluster import JournalingCluster, Writer

        writer = Writer(self.id, migration.irreversible, migration.irreversible_kinds)
        # Guarded on the inner side too: the gate may have been shut while a write was journaled.
        return JournalingCluster(GuardedCluster(cluster, gate, self._redactor), self._setting.journal, writer)

    def _skip(self, seconds: float, remaining: float) -> None:
        # Time passes only for the migration, so that a loop ends that waits for a controller.
        if seconds > 0 and remaining <= 0:
            raise _OutOfTime(
                f"rehearsed, it waited longer than its {self.timeout:g} s for something that doesn't "
                f"happen in a rehearsal: it should check ctx.rehearsal"
            )
        self._skipped_sleep += seconds

    def _fit(self, text: object, longest: int = LONGEST_LINE) -> str:
        """The migration's text, without values of Secrets and short enough to print and record."""
        return one_line(self._redactor.clean(str(text)), longest)

    def _log(self, state: str, message: str) -> None:
        if self._ended.is_set():
            return
        text = self._fit(message)
        if state == "warning":
            self._warnings.append(text)
        self._setting.progress(self.id, state, text)


def _with_copies(component: Component) -> Component:
    """The component with copies of its objects, copied on first access."""
    return replace(component, objects=LazyObjects(lambda: deep_copy(list(component.objects))))


class _Log:
    """See :class:`~..migration.Logger`."""

    def __init__(self, log: Callable[[str, str], None]) -> None:
        self._log = log

    def info(self, message: str) -> None:
        self._log("info", message)

    def warning(self, message: str) -> None:
        self._log("warning", message)


def describe_error(error: BaseException, migration: type[Migration], *, may_quote: bool = True) -> str:
    """A description of an error for people: our own errors as text; others with type, message and place.

    Args:
        error: the exception.
        migration: the migration that raised it.
        may_quote: whether to include the message of an error that isn't ours. Python and its libraries
            quote what they could not read, cut and escaped in many ways, so it could not be masked.
    """
    if isinstance(error, LifecycleError):
        return one_line(error)
    text = one_line(without_secrets(str(error)), LONGEST_FOREIGN_ERROR) if may_quote else ""
    what = type(error).__name__ + (f": {text}" if text else "")
    file = getattr(sys.modules.get(migration.__module__), "__file__", None)
    if not file:
        return what
    folder = f"{PurePath(file).parent}/"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(folder)]
    return f"{what} ({true_path(frames[-1].filename)}:{frames[-1].lineno})" if frames else what
