# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster's lease as one process holds it: its renewal, and how long it lasts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from ..._cluster.boot_clock import boot_clock
from ..._cluster.cluster import Cluster, WriteTerms
from ..._cluster.errors import ApiError, ClusterError, Invalid, NotFound, may_have_acted
from ..._cluster.fence import LeaseLost
from .lease import (
    LEASE_API_VERSION,
    LEASE_NAME,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
    RENEWAL_SECONDS,
    Lease,
    holder_of,
    lease_from,
    release_patch,
    renewal_patch,
)

RETRY_SECONDS = 2.0
"""Seconds until a renewal that got no answer is tried again."""
TRIES, TRY_AGAIN_SECONDS = 5, 0.3
"""How often, and with which pause, a writer renews a lease that was not renewed in time."""


def read_lease(cluster: Cluster, name: str = LEASE_NAME) -> Lease:
    """The lease of a cluster; a free lease if there is none.

    Args:
        cluster: to read from.
        name: of the lease; by default that of runs.

    Raises:
        ClusterError: it cannot be read.
    """
    return lease_from(cluster.get(LEASE_API_VERSION, LEASE_OBJECT_KIND, name, LIFECYCLE_NAMESPACE))


class HeldLease:
    """The lease, while this process holds it. Usable from several threads.

    Args:
        cluster: the live one, as the current user.
        holder: our identity in the lease.
        epoch: of the lease since we hold it.
        seconds: how long it lasts from each renewal on.
        name: of the lease; by default that of runs.
        until: when it ends without renewal, by ``clock``; by default it has to be renewed at once.
        clock: seconds that only grow; for tests.

    Attributes:
        is_over: whether no work is left to do under it.
        cancelled: see :class:`~.fence.LeaseHolding`.
    """

    def __init__(
        self,
        cluster: Cluster,
        holder: str,
        epoch: int,
        seconds: float,
        *,
        name: str = LEASE_NAME,
        until: float | None = None,
        clock: Callable[[], float] = boot_clock,
    ) -> None:
        self._name = name
        self._asking = cluster
        # A renewal that hangs must not block the next one.
        self._cluster = cluster.with_write_terms(WriteTerms(lambda: RENEWAL_SECONDS))
        self.holder = holder
        self.epoch = epoch
        self.seconds = seconds
        self.is_over = False
        self.cancelled: Callable[[], bool] = lambda: False
        self._clock = clock
        self._until = clock() if until is None else until
        self._lost = ""
        self._is_kept_renewed = False
        self._lock = threading.Lock()
        self._writes: set[object] = set()

    @property
    def loss_reason(self) -> str:
        """Who holds the lease instead of us, in a sentence; empty while we hold it as far as is known."""
        return self._lost

    def seconds_left(self) -> float:
        """For how many seconds the lease is certainly ours; zero or less if that is not certain."""
        return 0.0 if self._lost else self._until - self._clock()

    def is_extension_pending(self) -> bool:
        """See :class:`~.cluster.WriteTerms`: the renewing thread retries while the server is away.

        Raises:
            LeaseLost: it is no longer ours.
        """
        if self._lost:
            raise LeaseLost(self._lost)
        return self._is_kept_renewed and not self.cancelled()

    def renew(self) -> None:
        """Renew the lease, even if it has expired, unless another run has taken it.

        Raises:
            LeaseLost: it is no longer ours.
            ClusterError: the server does not answer, or not as it should.
        """
        if self._lost:
            raise LeaseLost(self._lost)
        # The time of the request counts: observers see the effect of its answer later than that.
        begun = self._clock()
        try:
            self._patch(renewal_patch(self.holder, self.epoch, datetime.now(UTC)))
        except (Invalid, NotFound) as refusal:
            lease = read_lease(self._asking, self._name)
            if (lease.holder, lease.epoch) == (self.holder, self.epoch):
                raise
            self._lost = lost_to(self.holder, self.epoch, lease, self._name)
            raise LeaseLost(self._lost) from refusal
        # A slow renewal may be answered after a renewal that began later.
        self._until = max(self._until, begun + self.seconds)

    @contextmanager
    def guard_write(self) -> Iterator[None]:
        """See :class:`~.fence.WriteFence`.

        Raises:
            LeaseLost, ClusterError: as for :meth:`require_lease`.
        """
        write = object()
        self._writes.add(write)
        try:
            self.require_lease()
            yield
        finally:
            self._writes.discard(write)

    def stop_writes(self) -> int:
        """Block new writes; how many of those that had begun have no answer yet.

        A write may have no answer: that of an abandoned migration, whose thread still waits for it.
        """
        self._lost = self._lost or lost_to(self.holder, self.epoch, Lease(epoch=self.epoch), self._name)
        return len(self._writes)

    def require_lease(self) -> None:
        """Renew the lease here and now if it was not renewed for a third of its time.

        So a lease that was deleted, or that others have written, is noticed after that time at the latest.

        Raises:
            LeaseLost: it is no longer ours.
            ClusterError: it is unknown whether it still is.
        """
        if self._is_fresh():
            return
        with self._lock:
            # The first renewal may have waited for the server for longer than the lease lasts.
            for attempt in range(1, TRIES + 1):
                if self._is_fresh():
                    return
                try:
                    self.renew()
                except LeaseLost:
                    raise
                except ClusterError as error:
                    if self.seconds_left() > self.seconds / 3:
                        # A server that does not answer names no other holder.
                        return
                    # A renewal more than necessary does no harm.
                    if not may_have_acted(error) or self.cancelled() or attempt == TRIES:
                        raise
                    time.sleep(TRY_AGAIN_SECONDS)

    def _is_fresh(self) -> bool:
        return self.seconds_left() > self.seconds * 2 / 3

    @property
    def until(self) -> float:
        """When the lease ends without renewal, by its clock."""
        return self._until

    @contextmanager
    def keep_renewed(self) -> Iterator[None]:
        """Keep the lease renewed in this block; a short block needs no request for that."""
        ended = threading.Event()
        thread = threading.Thread(target=self._keep_renewing, args=(ended,), name="lease", daemon=True)
        thread.start()
        self._is_kept_renewed = True
        try:
            yield
        finally:
            self._is_kept_renewed = False
            ended.set()
            # A renewal that waits for an answer does no harm: the server refuses it once the lease is
            # released.
            thread.join(RETRY_SECONDS)

    def _keep_renewing(self, ended: threading.Event) -> None:
        regular = min(RENEWAL_SECONDS, self.seconds / 4)
        # The previous task of this run may have renewed the lease some time ago, as may a renewal that waited
        # for the server.
        pause = self._pause(regular)
        while not ended.wait(max(pause, 0.0)):
            try:
                self.renew()
                pause = self._pause(regular)
            except LeaseLost:
                return
            except ClusterError:
                # A thread that writes checks how long the lease is still ours.
                pause = min(RETRY_SECONDS, self.seconds / 4)

    def _pause(self, regular: float) -> float:
        """Seconds until the next renewal, counted from the request of the last one."""
        return self.seconds_left() - self.seconds + regular

    def release(self) -> None:
        """Release the lease, unless it is no longer ours.

        Raises:
            ClusterError: the server does not answer; the lease then expires by itself.
        """
        try:
            self._patch(release_patch(self.holder, self.epoch))
        except (Invalid, NotFound):
            return

    def _patch(self, patch: list[dict[str, Any]]) -> None:
        try:
            self._cluster.patch(LEASE_API_VERSION, LEASE_OBJECT_KIND, self._name, LIFECYCLE_NAMESPACE, patch)
        except ApiError as refusal:
            from ..._cluster.admission.denials import name_denier

            name_denier(self._asking, refusal)
            raise


def lost_to(holder: str, epoch: int, lease: Lease, name: str) -> str:
    """Who holds a lease instead of its holder in an earlier epoch, for a person."""
    run = holder_of(holder).run
    is_of_runs = name == LEASE_NAME
    what = "the lease of the cluster" if is_of_runs else f"the Lease {LIFECYCLE_NAMESPACE}/{name}"
    if lease.epoch == epoch and not lease.holder:
        return f"{run} may write no more: it was ended, and has given {what} back"
    # The holder of another lease than that of runs stands by for it again, without a person.
    advice = "; run the playbook again" if is_of_runs else ""
    if not lease.uid:
        why = f"the Lease {LIFECYCLE_NAMESPACE}/{name} was deleted"
    elif lease.holder and lease.epoch <= epoch:
        # A run that takes it over counts the epoch up.
        why = f"others have written {lease} into it"
    else:
        now = f"{lease} has taken it over" if lease.holder else "another run held it, and has released it"
        why = f"{now}. It was silent too long, as its process, its machine or its network stood still"
    return f"{run} has lost {what}, so it may write no more: {why}{advice}"
