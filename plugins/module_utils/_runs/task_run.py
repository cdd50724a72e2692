# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run that is one task from its beginning to its end, such as a deletion."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from .._carrier.task import Task
from .._errors import LifecycleError
from .._record_codec import to_record
from .._result_codec import to_result
from .cancellation import CancellationCheck
from .outcomes import CANCELLED, FAILED, SUCCEEDED, ComponentOutcome, durations_of, phase_entry
from .recorder import begin_record, end_if_cancelled, end_record, run_begin, run_seconds
from .records.installation import Installation
from .records.runs import update_run_status


class TaskRun:
    """The records, phases and cancellations of a run that is one task. It begins with :meth:`begin`.

    Args:
        task: of the run; in check mode nothing is recorded.
        run: its name.
        action: what it does, see :mod:`~.record_schema`.
        installation: as it was read before.
        begun: the installation while the run works.
        names: the components or modules that take part, in that order.
        order: the order in which the release has its components.
        deadline: seconds after which it stops; 0 means never.

    Attributes:
        name: of the run; empty until it has begun.
        cancelled_by: who or what cancelled it before its work was done, set at its end; mostly empty.
        cancellation: whether it is to stop.
    """

    def __init__(
        self,
        task: Task,
        run: str,
        action: str,
        installation: Installation,
        begun: Installation,
        names: Sequence[str],
        *,
        order: Sequence[str] = (),
        deadline: float = 0.0,
    ) -> None:
        self._task = task
        self._installation = installation
        self._begun = begun
        self._facts = run_begin(
            action,
            installation,
            version=installation.target or installation.version,
            profile=installation.profile,
            components=names,
            all_components=order,
            deadline=deadline,
        )
        self._name = run
        self._lock = threading.Lock()
        self._status: dict[str, dict[str, Any]] = {"phases": {}, "components": {}}
        self._problem: LifecycleError | None = None
        self._has_ended = False
        self._seconds = 0.0
        self.name = ""
        self.cancelled_by = ""
        self.cancellation = CancellationCheck(
            task, {"metadata": {"name": self._name}, "status": {"begin": to_record(self._facts)}}
        )

    def begin(self) -> None:
        """Begin the record, unless it has begun; plans from before it are no longer valid.

        Raises:
            LifecycleError: it cannot be written, so nothing may be changed.
        """
        with self._lock:
            if self._problem:
                raise self._problem
            if self.name or self._task.check_mode:
                return
            try:
                self._status["phases"] |= begin_record(
                    self._task.cluster, self._name, self._facts, self._installation, self._begun
                )
            except LifecycleError as error:
                self._problem = error
                raise
            self.name = self._name

    def note(self, outcome: ComponentOutcome) -> None:
        """Record the outcome of a component."""
        self._add({"components": {outcome.name: to_result(outcome)}})

    def note_phase(self, name: str, outcomes: Sequence[ComponentOutcome], seconds: float) -> None:
        """Record the outcome of some components of a phase, and how long they took together."""
        before = self._status["phases"].get(name) or {}
        states = {one.state for one in outcomes} | {before.get("state", outcomes[0].state)}
        state = states.pop() if len(states) == 1 else FAILED
        self._add({"phases": {name: phase_entry(state, seconds, before)}})

    def end(self, outcomes: Sequence[ComponentOutcome]) -> list[str]:
        """End the record, unless it has ended; returns warnings for a person."""
        if self._has_ended:
            return []
        self._has_ended = True
        self._seconds = run_seconds(self._facts, self._status)
        failed = [outcome for outcome in outcomes if outcome.state != SUCCEEDED]
        self.cancelled_by = self.cancellation.reason() if failed else ""
        self.cancellation.run = ""
        if not self.name:
            return []
        if self.cancelled_by:
            ended = end_if_cancelled(self._task, self.name, self.cancelled_by)
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

    def _add(self, status: dict[str, dict[str, Any]]) -> None:
        with self._lock:
            for key, entries in status.items():
                self._status[key] |= entries
        if self.name:
            # The work is done even if it cannot be recorded, and the result contains it too.
            with suppress(LifecycleError):
                update_run_status(self._task.cluster, self.name, status, among=len(self._facts.components))
