# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A separate lease: for a task that is not part of a run, or is a whole run by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime

from ..._carrier.task import Result, Task
from ..._cluster.cluster import Cluster, Event, WriteTerms
from ..._cluster.wrapper import Call, ClusterWrapper, T
from ..._errors import LifecycleError
from ..._objects.access.rights import Right
from ..records.hold import hold_problem
from ..records.installation import read_installation
from .acquisition import AcquiredLease, LeaseHeld
from .lease_session import acquire_lease, fence_warning, read_lease_state, release_acquired_lease


class _ClusterHeld(LifecycleError):
    """A person holds the cluster: it must not be changed for now."""


class _Outdated(Exception):
    """Another process worked since everything was read. Nothing was written yet."""


def run_with_own_lease(
    task: Task,
    run: str,
    work: Callable[[Task], Result],
    rights: Callable[[], Collection[Right]] | None = None,
) -> Result:
    """Run a work that acquires the lease with its first write, and release the lease at its end.

    Args:
        task: whose work it is.
        run: its name in the lease.
        work: begins with reading everything. It is called again if another process worked before its first
            write.
        rights: what its writes have to be allowed; called once there is a write. If this is unknown, the
            fence is advisory.

    Raises:
        LifecycleError: what the work raises. A lease that cannot be acquired is an error of the first write:
            another process holds it, or a person holds the cluster.
    """
    with ExitStack() as stack:
        own = _OwnLease(task, run, rights, stack)
        working_task = replace(task, cluster=_LeasedCluster(task.cluster, own), tenure=own)
        with suppress(_Outdated):
            result = work(working_task)
            # A migration's failure is an outcome like any other.
            if not own.is_outdated:
                return result
        own.is_outdated = False
        return work(working_task)


class _OwnLease:
    """The lease, from the first write on.

    Attributes:
        is_over, cancelled: see :class:`~.fence.LeaseHolding`.
        is_outdated: whether all that was read before is out of date.
    """

    def __init__(
        self, task: Task, run: str, rights: Callable[[], Collection[Right]] | None, stack: ExitStack
    ) -> None:
        self.is_over = False
        self.cancelled = task.cancelled
        self.is_outdated = False
        self._task = task
        self._run = run
        self._rights = rights
        self._stack = stack
        self._lock = threading.Lock()
        self._won: AcquiredLease | None = None
        self._refused: LifecycleError | None = None

    @property
    def loss_reason(self) -> str:
        """See :class:`~.fence.LeaseHolding`."""
        return self._won.tenure.loss_reason if self._won else ""

    def require_lease(self) -> None:
        """See :class:`~.fence.LeaseHolding`. It may wait for a long time."""
        self.cluster()

    def cluster(self) -> Cluster:
        """The cluster to write to.

        Raises:
            _Outdated: the lease is ours, and everything has to be read again.
            LifecycleError: the lease cannot be acquired.
        """
        with self._lock:
            won = self._won
            if self._refused:
                # All threads that wanted to write have waited for the same.
                raise self._refused
            if won is None:
                try:
                    won = self._win()
                except (LeaseHeld, _ClusterHeld) as refusal:
                    self._refused = refusal
                    raise
                self.is_outdated = not won.is_first
            if self.is_outdated:
                raise _Outdated("another run was active meanwhile, so everything is checked again")
            return won.cluster

    def _is_cancelled(self) -> bool:
        # A cancellation may become known only after the lease is acquired.
        return self.cancelled()

    def _win(self) -> AcquiredLease:
        self._must_not_be_held()
        task = self._task
        if self._rights is None:
            task = replace(task, params={**task.params, "service_account": ""})
        won = acquire_lease(task, self._run, self._rights() if self._rights else (), read_lease_state(task))
        won.tenure.cancelled = self._is_cancelled
        self._stack.callback(release_acquired_lease, task, won)
        if not won.is_first:
            # The acquisition may have taken long.
            self._must_not_be_held()
        self._stack.enter_context(won.tenure.keep_renewed())
        told = fence_warning(won.fence) if self._rights else ""
        if told:
            task.progress("run", "advisory", told)
        self._won = won
        return won

    def _must_not_be_held(self) -> None:
        held = hold_problem(read_installation(self._task.cluster).hold, datetime.now(UTC))
        if held:
            raise _ClusterHeld(held)


class _LeasedCluster(ClusterWrapper):
    """A cluster to which the first write needs a lease."""

    def __init__(self, inner: Cluster, own: _OwnLease) -> None:
        super().__init__(inner)
        self._own = own
        self._manager = ""
        self._terms: WriteTerms | None = None

    def with_field_manager(self, name: str) -> _LeasedCluster:
        other = super().with_field_manager(name)
        other._manager = name
        return other

    def with_write_terms(self, terms: WriteTerms) -> _LeasedCluster:
        other = super().with_write_terms(terms)
        other._terms = terms.within(self._terms)
        return other

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.writes:
            cluster = self._own.cluster()
            cluster = cluster.with_field_manager(self._manager) if self._manager else cluster
            self._inner = cluster.with_write_terms(self._terms) if self._terms else cluster
        return ask()

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        return ask()
