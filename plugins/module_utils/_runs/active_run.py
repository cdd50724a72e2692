# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run while a task works for it: what it records, whether it is to stop, and how it ends."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .._carrier.task import Result, Task
from .._errors import LifecycleError
from .._record_codec import to_record
from .._result_codec import to_result
from .._threads import REQUESTS_AT_ONCE
from .._timestamp import timestamp
from .cancellation import CancellationCheck
from .outcomes import CANCELLED, ENDS, FAILED, SUCCEEDED, ComponentOutcome, durations_of, phase_entry
from .recorder import (
    begin_record,
    end_cancelled_run,
    end_record,
    run_begin,
    run_seconds,
    seconds_since_start,
)
from .records.installation import Installation
from .records.run_record import begin_of, run_status
from .records.runs import update_run_status

_SHARED = ("phases", "components", "migrations")
"""The parts of a run's status that its tasks add to."""


class Beginning(NamedTuple):
    """The installation before a run that has yet to begin, and while it works."""

    before: Installation
    begun: Installation


class ActiveRun:
    """A run while a task works for it.

    An earlier task has begun it and a later one ends it, or it is this task from its beginning to its end
    (see :func:`new_run`). Outside of a run nothing is recorded. It is usable from several threads.

    Args:
        task: that works; in check mode nothing is recorded.
        record: of the run, as it was read; empty outside of a run.
        beginning: for a run that begins with :meth:`begin`.

    Attributes:
        facts: what was known of the run when it began; empty outside of one.
        name: of the run; empty until its record has begun, and outside of a run.
        cancelled_by: who or what cancelled it before its work was done, set at its end; mostly empty.
        cancellation: whether it is to stop.
        migration_count: how many migrations its record may have to name.
    """

    def __init__(self, task: Task, record: Mapping[str, Any], beginning: Beginning | None = None) -> None:
        self._task = task
        self._beginning = beginning
        self._planned_name: str = record["metadata"]["name"] if record else ""
        self._lock = threading.Lock()
        status = run_status(record)
        self._status: dict[str, dict[str, Any]] = {key: dict(status.get(key) or {}) for key in _SHARED}
        self._problem: LifecycleError | None = None
        self._has_ended = False
        self._seconds = 0.0
        self._cancelled: dict[str, str] = {}
        self.facts = begin_of(record)
        self.name = "" if beginning else self._planned_name
        self.cancelled_by = ""
        self.cancellation = CancellationCheck(task, record)
        self.migration_count = 0
        self._records: ThreadPoolExecutor | None = None
        self._pending: list[Future[None]] = []

    @property
    def components(self) -> Mapping[str, Mapping[str, Any]]:
        """The recorded outcomes of components by name, including those of earlier tasks."""
        return self._status["components"]

    @property
    def states(self) -> dict[str, str]:
        """How components have ended, by name, including those of earlier tasks."""
        return {name: entry.get("state", "") for name, entry in self.components.items()}

    @property
    def ended_count(self) -> int:
        """How many components have ended."""
        return sum(1 for state in self.states.values() if state in ENDS)

    def phase(self, name: str) -> Mapping[str, Any]:
        """What is recorded of a phase; empty if it has not ended."""
        return self._status["phases"].get(name) or {}

    def begin(self) -> None:
        """Begin the record, unless it has begun; plans from before it are no longer valid.

        Raises:
            LifecycleError: it cannot be written, so nothing may be changed.
        """
        with self._lock:
            if self._problem:
                raise self._problem
            if self.name or self._task.check_mode or not self._beginning:
                return
            try:
                self._status["phases"] |= begin_record(
                    self._task.cluster, self._planned_name, self.facts, *self._beginning
                )
            except LifecycleError as error:
                self._problem = error
                raise
            self.name = self._planned_name

    @contextmanager
    def recording_beside(self) -> Iterator[None]:
        """Record the outcomes in this block beside the work that follows; all are recorded at its end.

        Raises:
            LifecycleError: one cannot be recorded.
        """
        self._records = records = ThreadPoolExecutor(REQUESTS_AT_ONCE)
        try:
            yield
        finally:
            self._records = None
            records.shutdown()
        for call in self._pending:
            call.result()

    def note(self, *outcomes: ComponentOutcome, cancelled_by: str = "") -> None:
        """Record the outcomes of components, and who or what has cancelled the run meanwhile."""
        entries = {one.name: to_result(one) for one in outcomes}
        for one in outcomes:
            if one.watched:
                entries[one.name]["seen"] = round(seconds_since_start(self.facts), 3)
        migrations = [migration for one in outcomes for migration in one.migrations]
        self.note_entries(entries, migrations, cancelled_by)

    def note_entries(
        self,
        components: Mapping[str, Mapping[str, Any]],
        migrations: Iterable[Mapping[str, Any]] = (),
        cancelled_by: str = "",
        phases: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Record what is to be known of components, migrations and phases; what is known stays.

        Args:
            components: by name, in the form of results.
            migrations: their outcomes, in the form of results.
            cancelled_by: who or what has cancelled the run.
            phases: by name, see :func:`~.outcomes.phase_entry`.
        """
        if cancelled_by and not self._cancelled:
            self._cancelled = {"cancelled": cancelled_by, "cancelledAt": timestamp()}
        parts = {
            "components": components,
            "migrations": {one["id"]: one for one in migrations},
            "phases": phases or {},
        }
        status = {key: entries for key, entries in parts.items() if entries}
        with self._lock:
            for key, entries in status.items():
                for name, entry in entries.items():
                    self._status[key][name] = {**self._status[key].get(name, {}), **entry}
        news = {**status, **self._cancelled}
        if not (self.name and news):
            return
        among = len({*self.facts.components, *self.components})
        among += max(self.migration_count, len(self._status["migrations"]))

        def record() -> None:
            # A run that is one task returns what it can't record, and goes on.
            with suppress(*([LifecycleError] if self._beginning else [])):
                update_run_status(self._task.cluster, self.name, news, among=among)

        if self._records is None:
            record()
        else:
            self._pending.append(self._records.submit(record))

    def note_phase(self, name: str, states: Collection[str], seconds: float) -> None:
        """Record how the components of a phase have ended, and how long they took together.

        A phase may take several tasks, and earlier tasks have recorded their share.
        """
        before = self.phase(name)
        all_states = {*states, *([before["state"]] if before else [])}
        state = next(iter(all_states)) if len(all_states) == 1 else FAILED
        self.note_entries({}, phases={name: phase_entry(state, seconds, before)})

    def end_if_cancelled(self, why: str) -> Result:
        """End the record of a run that was cancelled; its end for the task's result, with warnings if any.

        Args:
            why: who or what cancelled it, or empty.
        """
        task = self._task
        if not self.name or not why:
            return {}
        if task.tenure:
            # Ansible may not reach the task that ends the run.
            task.tenure.is_over = True
        try:
            ended = end_cancelled_run(task.cluster, self.name, why)
        except LifecycleError as error:
            return {
                "warnings": [f"the run {self.name} was cancelled, and its record could not be ended: {error}"]
            }
        description = f"by {why}" + (f"; never started: {', '.join(ended.never)}" if ended.never else "")
        task.progress("run", "cancelled", f"{description}; run the playbook again to continue")
        return {"state": CANCELLED, "seconds": ended.seconds}

    def end(self, outcomes: Sequence[ComponentOutcome]) -> list[str]:
        """End the record of a run that is this task, unless it has ended; returns warnings for a person."""
        if self._has_ended:
            return []
        self._has_ended = True
        self._seconds = run_seconds(self.facts, self._status)
        failed = [outcome for outcome in outcomes if outcome.state != SUCCEEDED]
        self.cancelled_by = self.cancellation.reason() if failed else ""
        self.cancellation.run = ""
        if not self.name:
            return []
        if self.cancelled_by:
            ended = self.end_if_cancelled(self.cancelled_by)
            self._seconds = ended.get("seconds", self._seconds)
            return list(ended.get("warnings", ()))
        messages = [f"{one.owner_kind} {one.name}: {one.error}" for one in failed]
        messages += [warning for one in outcomes for warning in one.warnings]
        state = FAILED if failed else SUCCEEDED
        try:
            end_record(self._task.cluster, self.name, state, messages, self._seconds)
        except LifecycleError as error:
            return [f"the record of the run {self.name} could not be ended: {error}"]
        return []

    def as_result(self, outcomes: Sequence[ComponentOutcome]) -> dict[str, Any]:
        """What a task's result says of the run, which has ended, and how long everything took."""
        failed = any(outcome.state != SUCCEEDED for outcome in outcomes)
        return {
            "run": self.name,
            "state": CANCELLED if self.cancelled_by else FAILED if failed else SUCCEEDED,
            "seconds": self._seconds,
            "durations": durations_of({**self._status, "seconds": self._seconds}),
        }


def new_run(
    task: Task,
    name: str,
    action: str,
    beginning: Beginning,
    names: Sequence[str],
    *,
    order: Sequence[str] = (),
    deadline: float = 0.0,
) -> ActiveRun:
    """A run that is one task from its beginning to its end, such as a deletion.

    Args:
        task: of the run.
        name: of the run.
        action: what it does, see :mod:`~.record_schema`.
        beginning: the installation before it and while it works.
        names: the components or modules that take part, in that order.
        order: the order in which the release has its components.
        deadline: seconds after which it stops; 0 means never.
    """
    installation = beginning.before
    facts = run_begin(
        action,
        installation,
        version=installation.target or installation.version,
        profile=installation.profile,
        components=names,
        all_components=order,
        deadline=deadline,
    )
    record = {"metadata": {"name": name}, "status": {"begin": to_record(facts)}}
    return ActiveRun(task, record, beginning)
