# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster for one step of a migration: closed when its time is over, and read-only for a check."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from .._cluster.cluster import Cluster, Event, Object, Page, Ref, WriteTerms, group_of
from .._cluster.fields.written_by import with_writer
from .._cluster.own_objects import own_object_problem
from .._cluster.wrapper import Call, ClusterWrapper, T
from .._errors import LifecycleError
from .._redaction import Redactor

LAST_SECONDS = 1.0
"""Minimum seconds for a write that begins at a step's very end, so that the server can still answer."""


class WriteInCheck(LifecycleError):
    """A migration's check tried to write."""


class MigrationStopped(BaseException):
    """Ends the thread of a migration that was given up.

    It is not an ``Exception``, so that ``except Exception`` in a migration's loop doesn't keep it alive.
    """


class Gate:
    """Whether one step of a migration may use the cluster.

    Args:
        migration: its id.
        read_only: whether it may only read. Dry runs on the server may pass, because they store nothing.
    """

    def __init__(self, migration: str, *, read_only: bool) -> None:
        self._migration = migration
        self._read_only = read_only
        self._shut = False

    @property
    def is_shut(self) -> bool:
        """Whether the step is over."""
        return self._shut

    def shut(self) -> None:
        """Refuse all further calls."""
        self._shut = True

    def terms(self, seconds_left: Callable[[], float]) -> WriteTerms:
        """The terms of an admitted write: it is neither sent nor retried once the step is over.

        Args:
            seconds_left: returns the seconds left of the step's time.
        """

        def left() -> float:
            seconds = 0.0 if self._shut else seconds_left()
            return max(seconds, LAST_SECONDS) if seconds > 0 else 0.0

        def is_extension_pending() -> bool:
            self.read()
            return True

        return WriteTerms(left, is_extension_pending=is_extension_pending)

    def read(self) -> None:
        """Admit a read. Raises MigrationStopped if the step is over."""
        if self._shut:
            raise MigrationStopped(f"migration {self._migration} was given up")

    def admit(self, call: Call) -> None:
        """Admit a call.

        Raises:
            WriteInCheck: it would write, in a check.
            LifecycleError: it would write an object of the collection itself.
            MigrationStopped: the step is over.
        """
        self.read()
        if self._read_only and call.writes:
            verb = "run a command in" if call.verb == "exec" else call.verb
            raise WriteInCheck(
                f"the check of migration {self._migration} tried to {verb} {call.kind} {call.name}: a check "
                f"only reads; what changes the cluster belongs into run"
            )
        target = Ref(group_of(call.api_version), call.kind, call.namespace or "", call.name)
        problem = own_object_problem(target) if call.writes else ""
        if problem:
            raise LifecycleError(f"migration {self._migration} may not {call.verb} this: {problem}")


class GuardedCluster(ClusterWrapper):
    """A cluster whose calls must pass a gate."""

    def __init__(self, inner: Cluster, gate: Gate, redactor: Redactor) -> None:
        super().__init__(inner)
        self._gate = gate
        self._redactor = redactor

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        self._gate.admit(call)
        self._note(call.obj)
        if call.patch is not None:
            self._redactor.note_patch(call.kind, call.patch)
        answer = ask()
        self._note(answer)
        return answer

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        """See Cluster."""
        return super().apply(with_writer(obj), force=force, dry_run=dry_run)

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """See Cluster."""
        return super().create(with_writer(obj), dry_run=dry_run)

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        self._gate.read()
        for event in ask():
            self._gate.read()
            self._note(event.object)
            yield event

    def _note(self, seen: object) -> None:
        for obj in seen.items if isinstance(seen, Page) else (seen,):
            if isinstance(obj, Mapping):
                self._redactor.note(obj)
