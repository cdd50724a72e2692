# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that is written to only while a run holds its lease."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from .cluster import Cluster, Event
from .errors import ClusterError
from .wrapper import Call, ClusterWrapper, T


class LeaseLost(ClusterError):
    """A run no longer has the lease of its cluster, so it may not write any more."""


class LeaseHolding(Protocol):
    """The holding of a lease.

    Attributes:
        is_over: whether nothing is left to do under it.
        cancelled: whether what works under it is to stop, as far as that is known without asking anybody.
    """

    is_over: bool
    cancelled: Callable[[], bool]

    @property
    def loss_reason(self) -> str:
        """Who has the lease instead, in a sentence; empty as far as is known that it is held."""

    def require_lease(self) -> None:
        """Get the lease, or be sure of it. Raises LifecycleError where it isn't held, and can't be had."""


class WriteFence(Protocol):
    """The holding of a lease, as far as writing under it goes."""

    def guard_write(self) -> AbstractContextManager[None]:
        """Write in here. Raises LeaseLost unless the lease is held for long enough to write."""


class FencedCluster(ClusterWrapper):
    """Another cluster, with every write refused once the lease is lost.

    This alone trusts that our process goes on in time. That the server refuses writes, too, takes an inner
    cluster whose writes are made by the run's own token; see :class:`~.cluster.WriteTerms`.
    """

    def __init__(self, inner: Cluster, holding: WriteFence) -> None:
        super().__init__(inner)
        self._holding = holding

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if not call.writes:
            return ask()
        with self._holding.guard_write():
            return ask()

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        return ask()
