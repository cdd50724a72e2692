# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lease with its own name, for engines of which one works while the others stand by."""

from __future__ import annotations

import math
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TypeAlias

from ..._carrier.task import LEASE_SECONDS
from ..._cluster.cluster import Cluster
from ..._cluster.errors import ClusterError, Forbidden, Unauthorized, Unconfigured
from ..._errors import LifecycleError
from ..records.record_writer import current_user
from .acquisition import LOOK_SECONDS, Acquisition, LeaseRequest
from .held_lease import HeldLease
from .lease import LIFECYCLE_NAMESPACE, Holder
from .lease_availability import LeaseObservation

CANCELLATION_POLL_SECONDS = 0.5
"""How often an engine that stands by checks whether it is to end."""
GIVE_UP_SECONDS = 1.0
"""How long an engine that ends waits for a pending request for the lease."""
RETRY_SECONDS = 2.0
"""Seconds until the lease is requested again if the server does not answer."""
RETRIES = "This one retries"
"""In the report of an engine that stands by, and can't read the lease."""
NO_FENCE = "what holds this lease works without a fence"

Report: TypeAlias = "Callable[[str, str], None]"
"""Is called with messages for a person: a state and a sentence."""


@contextmanager
def hold_named_lease(
    cluster: Cluster,
    name: str,
    cancelled: Callable[[], bool],
    report: Report,
    *,
    seconds: int = LEASE_SECONDS,
) -> Iterator[HeldLease | None]:
    """Stand by until a named lease can be acquired, hold it in this block, and release it at its end.

    The lease is kept renewed in this block. It may still be lost, which ``loss_reason`` reports. A caller
    that must not write after that writes to ``fenced_cluster(cluster, lease, Fence())``. The lease has no
    fence that the server knows of.

    Args:
        cluster: the live one.
        name: of the lease, in the namespace of all leases.
        cancelled: whether to stop standing by. It is called in this thread, at least every second.
        report: is called with messages for a person while this engine stands by, in a separate thread.
        seconds: how long the lease lasts from each renewal on, and so after how long another engine takes
            over from a killed one.

    Yields:
        The lease; None if this was cancelled before it acquired the lease.

    Raises:
        Forbidden, Unauthorized, Unconfigured: a person has to make the lease available. A server that is away
            is waited for instead.
    """
    lease = _Candidate(cluster, name, report, seconds).stand_by(cancelled)
    if lease is None:
        yield None
        return
    lease.cancelled = cancelled
    try:
        with lease.keep_renewed():
            yield lease
    finally:
        _release(lease)


class _GaveUp(LifecycleError):
    """The lease is no longer wanted."""


class _StandBy(Acquisition):
    """An attempt to acquire a lease that waits for as long as another engine renews it."""

    _reported_holder: tuple[str, int] | None = None

    @property
    def has_read_lease(self) -> bool:
        """Whether it has read the lease of another engine."""
        return self._reported_holder is not None

    def _wait_for_next_read(self, observation: LeaseObservation, started: float) -> None:
        del started
        if self._cancelled():
            raise _GaveUp("the lease is not wanted any longer")
        lease = observation.lease
        if self._reported_holder != (lease.holder, lease.epoch):
            self._reported_holder = (lease.holder, lease.epoch)
            self._report(
                "standing by",
                f"{lease} holds the {_description(self._name)}. This one takes over when it is given back, or"
                f" was not renewed for {lease.seconds:.0f} s",
            )
        self._sleep(min(LOOK_SECONDS, lease.seconds / 4))


class _Candidate:
    """A candidate for a lease. Its requests run in a thread: they may wait for a server that is away."""

    def __init__(self, cluster: Cluster, name: str, report: Report, seconds: int) -> None:
        self._cluster = cluster
        self._name = name
        self._report = report
        # Two candidates in one process are two holders.
        holder = Holder(f"{name}-{secrets.token_hex(3)}", current_user(), os.getpid())
        self._request = LeaseRequest(holder, seconds, math.inf, account="", no_fence=NO_FENCE)
        self._gave_up = threading.Event()
        self._lock = threading.Lock()
        self._results: SimpleQueue[HeldLease | Exception] = SimpleQueue()

    def stand_by(self, cancelled: Callable[[], bool]) -> HeldLease | None:
        """Wait for the lease; None if this was cancelled."""
        thread = threading.Thread(target=self._acquire, name=f"lease {self._name}", daemon=True)
        thread.start()
        try:
            while not cancelled():
                with suppress(Empty):
                    result = self._results.get(timeout=CANCELLATION_POLL_SECONDS)
                    if isinstance(result, Exception):
                        raise result
                    self._report("holding", f"the {_description(self._name)}, as {self._request.holder.run}")
                    return result
        except BaseException:
            self._give_up(thread)
            raise
        self._give_up(thread)
        return None

    def _give_up(self, thread: threading.Thread) -> None:
        with self._lock:
            self._gave_up.set()
        thread.join(GIVE_UP_SECONDS)
        with suppress(Empty):
            while True:
                result = self._results.get_nowait()
                if isinstance(result, HeldLease):
                    _release(result)

    def _acquire(self) -> None:
        trouble = ""
        while not self._gave_up.is_set():
            attempt = _StandBy(
                self._cluster,
                self._request,
                self._report_unless_given_up,
                self._gave_up.is_set,
                name=self._name,
                sleep=self._pause,
            )
            try:
                lease = attempt.acquire().tenure
            except _GaveUp:
                return
            except Exception as error:
                if not _may_pass(error):
                    self._results.put(error)
                    return
                # An engine that has stood by since reports the same trouble again.
                if attempt.has_read_lease or str(error) != trouble:
                    trouble = str(error)
                    what = f"the {_description(self._name)} can't be had: {trouble}"
                    self._report_unless_given_up("standing by", f"{what}. {RETRIES}")
                self._pause(RETRY_SECONDS)
            else:
                self._hand_over(lease)
                return

    def _pause(self, seconds: float) -> None:
        self._gave_up.wait(seconds)

    def _hand_over(self, lease: HeldLease) -> None:
        with self._lock:
            if not self._gave_up.is_set():
                self._results.put(lease)
                return
        _release(lease)

    def _report_unless_given_up(self, state: str, text: str) -> None:
        if not self._gave_up.is_set():
            self._report(state, text)


def _may_pass(error: Exception) -> bool:
    """Whether a retry may succeed without a person who intervenes."""
    if isinstance(error, Forbidden):
        return any(cause.reason == "NamespaceTerminating" for cause in error.causes)
    return isinstance(error, ClusterError) and not isinstance(error, (Unauthorized, Unconfigured))


def _description(name: str) -> str:
    return f"Lease {LIFECYCLE_NAMESPACE}/{name}"


def _release(lease: HeldLease) -> None:
    """Release a lease, unless a write under it has no answer yet: then it is left to expire."""
    if not lease.loss_reason and lease.stop_writes() == 0:
        with suppress(ClusterError):
            lease.release()
