# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run is to stop: by request or timeout; and how long the work in flight may still take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from .._carrier.stop_cause import stop_cause
from .._carrier.task import Task
from .._errors import LifecycleError
from .._timestamp import timestamp
from .recorder import seconds_since_start
from .records.record_schema import RUNNING
from .records.run_record import begin_of, run_status
from .records.runs import read_run, update_run_status

POLL_SECONDS = 5.0
"""How often the run's record is read for a request from another terminal."""


class CancellationCheck:
    """Says whether the work of a task is to stop, for as long as the task works.

    The work is to stop at three events: the task's process has received a signal, the run's deadline has
    passed, or the run's record requests it. The thread that asks reads the record, once every few seconds.
    Usable from several threads.

    Args:
        task: the task that works; a cancellation is reported in its progress and written to the run's record
            at once.
        record: of the task's run, as it was last read; empty outside of a run.
        clock: seconds that only grow; for tests.

    Attributes:
        run: whose record is read for requests; emptied when the run ends, because an end requests nothing.
    """

    def __init__(
        self, task: Task, record: Mapping[str, Any], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._task = task
        self.run: str = record["metadata"]["name"] if record else ""
        begin = begin_of(record)
        self._by = begin.started_by
        self._limit = begin.deadline
        self._deadline = clock() + self._limit - seconds_since_start(begin) if self._limit else None
        self._clock = clock
        self._last_read = clock()
        self._lock = threading.Lock()
        self._reason = cancellation_in(record)
        if task.tenure:
            task.tenure.cancelled = self.is_known

    def __call__(self) -> bool:
        """Whether the work is to stop."""
        return bool(self.reason())

    def is_known(self) -> bool:
        """Whether the work is to stop, from what is known already: sends no request and reports nothing."""
        return bool(self._reason or self._own_reason())

    def reason(self) -> str:
        """Who or what cancelled the work; empty if it is not cancelled."""
        if not self._reason:
            with self._lock:
                if not self._reason:
                    self._read_reason()
        return self._reason

    def _read_reason(self) -> None:
        reason = self._own_reason()
        requested = "" if reason else self._requested_reason()
        if reason or requested:
            self._reason = reason or requested
            grace = float(self._task.params["grace"])
            self._task.progress(
                "run", "stopping", f"cancelled by {self._reason}; active work has {grace:.0f} s to end"
            )
        if reason and self.run and not self._loss_reason:
            # At once, because this process may be killed next. The end of the run records the cancellation
            # again.
            with suppress(LifecycleError):
                update_run_status(
                    self._task.cluster, self.run, {"cancelled": reason, "cancelledAt": timestamp()}
                )

    @property
    def _loss_reason(self) -> str:
        return self._task.tenure.loss_reason if self._task.tenure else ""

    def _own_reason(self) -> str:
        if self._loss_reason:
            return f"the loss of its lease: {self._loss_reason}"
        if self._task.cancelled():
            return stop_text(self._by)
        if self._deadline is not None and self._clock() > self._deadline:
            return f"its deadline of {self._limit:g} s"
        return ""

    def _requested_reason(self) -> str:
        now = self._clock()
        if not self.run or now - self._last_read < POLL_SECONDS:
            return ""
        self._last_read = now
        try:
            return cancellation_in(read_run(self._task.cluster, self.run))
        except LifecycleError:
            # A record that cannot be read now is read again later; the work itself reports a cluster that is
            # away.
            return ""


def stop_text(by: str) -> str:
    """Why this process is asked to stop, in the words of the records.

    Args:
        by: who began the run, or empty.
    """
    return stop_cause() + (f", run by {by}" if by else "")


def cancellation_in(record: Mapping[str, Any]) -> str:
    """The user who requests a run to stop, and the reason, from its record; empty without a request."""
    status = run_status(record)
    ended = status["state"]
    return str(status.get("cancelled") or "") or ("" if ended == RUNNING else f"its end as {ended}")


class Grace:
    """Says whether the work in flight at a cancellation has used up its grace period.

    Args:
        cancelled: whether the work is cancelled.
        seconds: the grace period.
    """

    def __init__(
        self,
        cancelled: Callable[[], bool],
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cancelled = cancelled
        self._seconds = seconds
        self._clock = clock
        self._since: float | None = None

    def __call__(self) -> bool:
        """Whether the grace period is used up."""
        if not self._cancelled():
            return False
        if self._since is None:
            self._since = self._clock()
        return self._clock() - self._since >= self._seconds
