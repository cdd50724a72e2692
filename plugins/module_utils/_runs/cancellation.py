# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a run is to stop: somebody wants it, or its time is up; and how long what is in flight may take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from .._carrier.task import Task
from .._cluster.timestamp import timestamp
from .._errors import LifecycleError
from .recorder import seconds_since_start
from .records.runs import RUNNING, read_run, update_run_status

POLL_SECONDS = 5.0
"""How often the run's record is read for the wish of somebody at another terminal."""


class CancellationCheck:
    """Answers whether the work of a task is to stop, for as long as it works.

    It is to stop when the task's process was told so, when the run's deadline has passed, or when the run's
    record says so, which is read every few seconds by whichever thread asks. Usable from several threads.

    Args:
        task: who is at work; its progress and the run's record are told at once.
        record: of the run that the task is a part of, as it was read last; empty outside of a run.
        clock: seconds that only grow; for tests.
    """

    def __init__(
        self, task: Task, record: Mapping[str, Any], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._task = task
        self._run: str = record["metadata"]["name"] if record else ""
        self._by: str = record["spec"].get("startedBy", "") if record else ""
        self._limit = float(record["spec"].get("deadline") or 0.0) if record else 0.0
        self._deadline = clock() + self._limit - seconds_since_start(record["spec"]) if self._limit else None
        self._clock = clock
        self._looked = clock()
        self._lock = threading.Lock()
        self._reason = wish_in(record)
        if task.tenure:
            task.tenure.cancelled = self.is_known

    def __call__(self) -> bool:
        """Whether the work is to stop."""
        return bool(self.reason())

    def is_known(self) -> bool:
        """Whether the work is to stop as far as that is known without asking anybody, and telling nobody."""
        return bool(self._reason or self._own_reason())

    def reason(self) -> str:
        """Who or what wants it to stop; empty where nobody does."""
        if not self._reason:
            with self._lock:
                if not self._reason:
                    self._find_out()
        return self._reason

    def _find_out(self) -> None:
        reason = self._own_reason()
        wished = "" if reason else self._wish()
        if reason or wished:
            self._reason = reason or wished
            grace = float(self._task.params["grace"])
            self._task.progress(
                "run", "stopping", f"cancelled by {self._reason}; active work has {grace:.0f} s to end"
            )
        if reason and self._run and not self._lost:
            # At once, as nobody knows what else happens to this process. Its end is told again anyway.
            with suppress(LifecycleError):
                update_run_status(
                    self._task.cluster, self._run, {"cancelled": reason, "cancelledAt": timestamp()}
                )

    @property
    def _lost(self) -> str:
        return self._task.tenure.loss_reason if self._task.tenure else ""

    def _own_reason(self) -> str:
        if self._lost:
            return f"the loss of its lease: {self._lost}"
        if self._task.cancelled():
            return signalled(self._by)
        if self._deadline is not None and self._clock() > self._deadline:
            return f"its deadline of {self._limit:g} s"
        return ""

    def _wish(self) -> str:
        now = self._clock()
        if not self._run or now - self._looked < POLL_SECONDS:
            return ""
        self._looked = now
        try:
            return wish_in(read_run(self._task.cluster, self._run))
        except LifecycleError:
            # Whoever can't be asked now is asked again; the work itself tells of a cluster that is away.
            return ""


def signalled(by: str) -> str:
    """That a process was told to stop, as records tell it.

    Args:
        by: who has begun the run, or empty.
    """
    return "a signal to ansible-playbook" + (f", run by {by}" if by else "")


def wish_in(record: Mapping[str, Any]) -> str:
    """Who wants a run to stop, and why, as its record says; empty where nobody does."""
    status = record.get("status") or {}
    ended = status.get("state", RUNNING)
    return str(status.get("cancelled") or "") or ("" if ended == RUNNING else f"its end as {ended}")


class Grace:
    """Answers whether what was in flight at a cancellation has used up its grace.

    Args:
        cancelled: whether there is a cancellation.
        seconds: the grace.
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
        """Whether it is used up."""
        if not self._cancelled():
            return False
        if self._since is None:
            self._since = self._clock()
        return self._clock() - self._since >= self._seconds
