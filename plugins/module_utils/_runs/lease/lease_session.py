# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Working under a cluster's lease: as a task of a run, or with a separate lease."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from typing import Any, NamedTuple

from ..._carrier.task import Task
from ..._cluster.boot_clock import boot_clock, boot_clock_id
from ..._cluster.cluster import Cluster
from ..._cluster.errors import ClusterError
from ..._objects.access.rights import Right
from ..._progress import NOTICE
from ..._threads import map_in_threads
from ..._timestamp import timestamp
from ..records.record_writer import current_user, patch_record
from ..records.run_record import run_status
from ..records.runs import RUN
from .acquisition import AcquiredLease, Acquisition, LeaseRequest
from .fence_token import Fence, fence_of, fenced_cluster, lower_fence, no_fence_reason
from .held_lease import HeldLease, read_lease
from .lease import Holder, Lease

UNANSWERED = "unanswered"
"""In a record's lease: since when a write of the run had no answer, so that the lease must expire."""


class LeaseState(NamedTuple):
    """What has to be known before a lease is acquired.

    Attributes:
        lease: as it was just read.
        no_fence: see :class:`~.acquisition.LeaseRequest`.
    """

    lease: Lease
    no_fence: str


def read_lease_state(task: Task) -> LeaseState:
    """Read what has to be known before a lease is acquired.

    Raises:
        ClusterError: the server does not answer.
    """
    account = task.params["service_account"]
    reads: list[Callable[[Cluster], Any]] = [read_lease, lambda cluster: no_fence_reason(cluster, account)]
    return LeaseState(*map_in_threads(lambda read: read(task.cluster), reads))


def acquire_lease(task: Task, run: str, rights: Collection[Right], before: LeaseState) -> AcquiredLease:
    """Acquire the lease for a run that begins, with the options of its task.

    Args:
        task: that begins the run.
        run: its name.
        rights: what its writes have to be allowed.
        before: what was just read.

    Raises:
        LeaseHeld: another process holds it.
        LifecycleError: it was cancelled, or the server does not answer.
    """
    params = task.params
    # The parent is ansible-playbook if this is one of its workers, which soon ends.
    holder = Holder(run, current_user(), os.getppid())
    claim = LeaseRequest(
        holder,
        params["lease_seconds"],
        params["lease_wait"],
        params["service_account"],
        rights,
        before.no_fence,
    )
    acquisition = Acquisition(
        task.cluster,
        claim,
        lambda state, text: task.progress("run", state, text),
        task.cancelled,
        clock=boot_clock,
        sleep=time.sleep,
    )
    return acquisition.acquire(before.lease)


def may_wait(task: Task) -> bool:
    """Whether the user lets a task wait for other runs, so that an outdated plan is no error."""
    return bool(task.params["lease_wait"])


def lease_record(acquired: AcquiredLease) -> dict[str, Any]:
    """What the record of a run stores of its lease, so that the run's tasks can work under it."""
    tenure = acquired.tenure
    record = {
        "holder": tenure.holder,
        "epoch": tenure.epoch,
        "seconds": tenure.seconds,
        "until": tenure.until,
        "clock": boot_clock_id(),
        **asdict(acquired.fence),
    }
    return {key: value for key, value in record.items() if value}


def fence_warning(fence: Fence) -> str:
    """The warning about a fence for a person; empty if the server alone enforces it."""
    if not fence.is_advisory:
        return fence.note
    return f"writes are not fenced: a run that loses its lease could still write, because {fence.note}"


@contextmanager
def run_under_lease(task: Task, record: Mapping[str, Any]) -> Iterator[Task]:
    """The task, working under the lease of its run, which is kept renewed in this block.

    Args:
        task: some task.
        record: of its run; one that was killed while it began has none.

    Raises:
        LeaseLost: the run has lost its lease.
        ClusterError: the server does not answer.
    """
    lease = run_status(record).get("lease")
    if not lease:
        yield task
        return
    tenure = _tenure_of(task.cluster, lease)
    tenure.cancelled = task.cancelled
    # Send a request only if the lease was not renewed for long, or if this machine does not know.
    tenure.require_lease()
    fence = fence_of(lease)
    cluster = fenced_cluster(task.cluster, tenure, fence)
    try:
        with tenure.keep_renewed():
            yield replace(task, cluster=cluster, tenure=tenure)
    finally:
        unanswered = _ends_unanswered(tenure)
        if unanswered:
            _record_unanswered(task, record, tenure)
    if tenure.is_over:
        _release(task.cluster, tenure, fence, unanswered=unanswered or UNANSWERED in lease)


@contextmanager
def hold_lease(
    task: Task, acquired: AcquiredLease, *, warning: str, state: str = NOTICE, outlives_block: bool = False
) -> Iterator[Task]:
    """The task, working under its acquired lease, which is kept renewed in this block, and then released.

    Args:
        task: whose lease it is.
        acquired: the acquired lease.
        warning: about its fence, see :func:`fence_warning`; empty for none.
        state: of the report with the warning.
        outlives_block: whether the tasks of a run get the lease if the block succeeds.
    """
    with ExitStack() as stack:
        stack.callback(release_acquired_lease, task, acquired)
        if warning:
            task.progress("run", state, warning)
        with acquired.tenure.keep_renewed():
            yield replace(task, cluster=acquired.cluster, tenure=acquired.tenure)
        if outlives_block:
            stack.pop_all()


def release_lease(cluster: Cluster, record: Mapping[str, Any]) -> None:
    """Release the lease of a run that has ended; failures resolve when the lease expires.

    Args:
        cluster: the live one, as the current user.
        record: of the run. If it names an unanswered write, the lease is left to expire.
    """
    lease = run_status(record).get("lease")
    if lease:
        _release(cluster, _tenure_of(cluster, lease), fence_of(lease), unanswered=UNANSWERED in lease)


def release_acquired_lease(task: Task, acquired: AcquiredLease) -> None:
    """Release a lease whose run did not begin, or a separate lease."""
    unanswered = _ends_unanswered(acquired.tenure)
    if unanswered:
        _warn_of_unanswered(task, acquired.tenure)
    _release(task.cluster, acquired.tenure, acquired.fence, unanswered=unanswered)


def _ends_unanswered(tenure: HeldLease) -> bool:
    """End the work under a lease; whether it is still ours, and a write under it has no answer yet."""
    return not tenure.loss_reason and tenure.stop_writes() > 0


def _release(cluster: Cluster, tenure: HeldLease, fence: Fence, *, unanswered: bool) -> None:
    # First the Secret: the next holder may then be sure that nobody writes with its tokens.
    with suppress(ClusterError):
        lower_fence(cluster, fence)
    if unanswered:
        # The server drops the write when the lease expires: its request has that as timeout.
        return
    with suppress(ClusterError):
        tenure.release()


def _record_unanswered(task: Task, record: Mapping[str, Any], tenure: HeldLease) -> None:
    """Record that no task of the run may release the lease."""
    _warn_of_unanswered(task, tenure)
    with suppress(ClusterError):
        lease = {UNANSWERED: timestamp()}
        patch_record(task.cluster, RUN, record["metadata"]["name"], "status", {"lease": lease})


def _warn_of_unanswered(task: Task, tenure: HeldLease) -> None:
    task.progress(
        "run",
        "unanswered",
        "a write of what was given up has no answer yet, so the lease is not given back, but left to expire:"
        f" the next run waits for that, up to {tenure.seconds:.0f} s",
    )


def _tenure_of(cluster: Cluster, lease: Mapping[str, Any]) -> HeldLease:
    clock = boot_clock_id()
    until = float(lease["until"]) if clock and lease.get("clock") == clock else None
    return HeldLease(
        cluster,
        str(lease["holder"]),
        int(lease["epoch"]),
        float(lease["seconds"]),
        until=until,
        clock=boot_clock,
    )
