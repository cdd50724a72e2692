# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that accepts writes only while a run holds its lease."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from .cluster import Cluster
from .errors import ClusterError
from .wrapper import Call, ClusterWrapper, T


class LeaseLost(ClusterError):
    """A run no longer holds the lease of its cluster, so it may not write any more."""


class LeaseHolding(Protocol):
    """The lease of a run.

    Attributes:
        is_over: whether no work is left to do under it.
        cancelled: whether the work under it is to stop, as far as known without a request.
    """

    is_over: bool
    cancelled: Callable[[], bool]

    @property
    def loss_reason(self) -> str:
        """The present lease holder, in a sentence; empty while we hold the lease, as far as known."""

    def require_lease(self) -> None:
        """Acquire or confirm the lease. Raises LifecycleError if we neither hold it nor can acquire it."""


class WriteFence(Protocol):
    """The part of a lease that guards writes."""

    def guard_write(self) -> AbstractContextManager[None]:
        """Write in this block. Raises LeaseLost unless the lease is held for long enough to write."""


class FencedCluster(ClusterWrapper):
    """Another cluster; refuses every write once the lease is lost.

    This check is reliable only while our process is not suspended. For the server to refuse writes too, the
    inner cluster has to write with the run's own token; see :class:`~.cluster.WriteTerms`.
    """

    def __init__(self, inner: Cluster, holding: WriteFence) -> None:
        super().__init__(inner)
        self._holding = holding

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if not call.writes:
            return ask()
        with self._holding.guard_write():
            return ask()
