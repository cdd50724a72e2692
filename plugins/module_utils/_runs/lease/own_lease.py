# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A separate lease: for a task that is not part of a run, or is a whole run by itself."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from dataclasses import replace

from ..._carrier.task import Result, Task
from ..._cluster.cluster import Cluster, WriteTerms
from ..._cluster.wrapper import Call, ClusterWrapper
from ..._errors import LifecycleError
from ..._objects.access.rights import Right
from ..records.cluster_hold import ClusterHeld, require_no_hold
from ..records.hold_records import read_hold
from .acquisition import AcquiredLease, LeaseHeld
from .lease_session import acquire_lease, fence_warning, hold_lease, read_lease_state


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
                return own.with_state(result)
        own.is_outdated = False
        return own.with_state(work(working_task))


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
        self._lease: AcquiredLease | None = None
        self._refused: LifecycleError | None = None

    @property
    def loss_reason(self) -> str:
        """See :class:`~.fence.LeaseHolding`."""
        return self._lease.tenure.loss_reason if self._lease else ""

    @property
    def acquired(self) -> Cluster | None:
        """The cluster to write to, if the lease was acquired."""
        return self._lease.cluster if self._lease else None

    def with_state(self, result: Result) -> Result:
        """The result of the work, with the state of the refusal if its parts have failed by it."""
        return {**result, "state": self._refused.state} if self._refused and result.get("failed") else result

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
            lease = self._lease
            if self._refused:
                # All threads that wanted to write have waited for the same.
                raise self._refused
            if lease is None:
                try:
                    lease = self._acquire()
                except (LeaseHeld, ClusterHeld) as refusal:
                    self._refused = refusal
                    raise
                self.is_outdated = not lease.is_first
            if self.is_outdated:
                raise _Outdated("another run was active meanwhile, so everything is checked again")
            return lease.cluster

    def _is_cancelled(self) -> bool:
        # A cancellation may become known only after the lease is acquired.
        return self.cancelled()

    def _acquire(self) -> AcquiredLease:
        task = self._task
        require_no_hold(read_hold(task.cluster))
        if self._rights is None:
            task = replace(task, params={**task.params, "service_account": ""})
        lease = acquire_lease(task, self._run, self._rights() if self._rights else (), read_lease_state(task))
        lease.tenure.cancelled = self._is_cancelled
        warning = fence_warning(lease.fence) if self._rights else ""
        self._stack.enter_context(hold_lease(task, lease, warning=warning))
        if not lease.is_first:
            # The acquisition may have taken long.
            require_no_hold(read_hold(task.cluster))
        self._lease = lease
        return lease


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

    def _target(self, call: Call) -> Cluster:
        """See ClusterWrapper. From the first write on, reads too end with the lease."""
        cluster = self._own.cluster() if call.writes else self._own.acquired
        if cluster is None:
            return self._inner
        cluster = cluster.with_field_manager(self._manager) if self._manager else cluster
        return cluster.with_write_terms(self._terms) if self._terms else cluster
