# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Acquiring the lease of a cluster: at once, after a wait for its holder, or by takeover of a dead one."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from ..._cluster.boot_clock import boot_clock
from ..._cluster.cluster import FIELD_MANAGER, MANAGED_BY, Cluster, ref_of
from ..._cluster.errors import ApiError, ClusterError, Conflict, Forbidden, NotFound
from ..._errors import LifecycleError
from ..._objects.access.rights import Right
from ..._objects.inventory.inventory_entry import InventoryEntry
from ..._objects.prune.removal import Terms, remove_objects
from .fence_token import (
    REFUSED_AFTER_SECONDS,
    Fence,
    RaisedFence,
    advisory_fence,
    delete_other_fences,
    fenced_cluster,
    lower_fence,
    no_fence_reason,
    raise_fence,
)
from .held_lease import HeldLease, read_lease
from .lease import (
    LEASE_API_VERSION,
    LEASE_NAME,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
    Holder,
    Lease,
    acquisition_spec,
)
from .lease_availability import LeaseAvailability, LeaseObservation, observe_lease

LOOK_SECONDS = 1.0
"""How often a waiting process reads the lease."""
REPORT_SECONDS = 30.0
"""How often a waiting process reports that it waits."""


class LeaseHeld(LifecycleError):
    """Another process holds the lease, and the time to wait for it is up."""


@dataclass(frozen=True)
class LeaseRequest:
    """A request for the lease.

    Attributes:
        holder: who requests it.
        seconds: how long the lease lasts from each renewal on.
        wait: how many seconds to wait while another process holds it.
        account: the ServiceAccount to write with, or empty.
        rights: what the account has to be allowed.
        no_fence: why there can be no fence; empty if there may be one, None if this was not checked.
    """

    holder: Holder
    seconds: int
    wait: float
    account: str
    rights: Collection[Right] = ()
    no_fence: str | None = None


class AcquiredLease(NamedTuple):
    """A lease that this process holds.

    Attributes:
        tenure: the held lease.
        fence: what keeps this process from writing without the lease.
        cluster: to write to from now on.
        is_first: whether no other run held the lease meanwhile, so that an earlier plan may still be valid.
    """

    tenure: HeldLease
    fence: Fence
    cluster: Cluster
    is_first: bool


class Acquisition:
    """One attempt to acquire the lease, which may take some time.

    Args:
        cluster: the live one.
        claim: the request.
        report: is called with messages for a person while this waits: a state and a sentence.
        cancelled: whether to stop waiting.
        name: of the lease. The default is the lease of runs, the only one that has fences.
        clock, sleep: for tests.
    """

    def __init__(
        self,
        cluster: Cluster,
        claim: LeaseRequest,
        report: Callable[[str, str], None],
        cancelled: Callable[[], bool],
        *,
        name: str = LEASE_NAME,
        clock: Callable[[], float] = boot_clock,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._cluster = cluster
        self._claim = claim
        self._report = report
        self._cancelled = cancelled
        self._name = name
        self._clock = clock
        self._sleep = sleep
        self._raised: RaisedFence | None = None

    def acquire(self, lease: Lease | None = None) -> AcquiredLease:
        """Acquire the lease.

        Args:
            lease: as it was just read, if it was read.

        Raises:
            LeaseHeld: another process held it for longer than the time to wait.
            LifecycleError: the attempt was cancelled, or the server does not answer.
        """
        try:
            return self._acquire(lease or read_lease(self._cluster, self._name))
        except BaseException as error:
            self._lower()
            if isinstance(error, ApiError):
                from ..._cluster.admission.denials import name_denier

                name_denier(self._cluster, error)
            raise

    def _acquire(self, lease: Lease) -> AcquiredLease:
        started = self._clock()
        observation = observe_lease(None, lease, started)
        is_first = True
        while True:
            if observation.availability(self._clock()) is LeaseAvailability.HELD:
                is_first = False
                self._wait_for_next_read(observation, started)
            else:
                tenure = self._take(observation.lease)
                if tenure is not None:
                    return self._complete(tenure, observation, is_first)
                is_first = False
                # A process that was quicker may have deleted the fences of all others.
                self._lower()
            observation = observe_lease(observation, read_lease(self._cluster, self._name), self._clock())

    def _wait_for_next_read(self, observation: LeaseObservation, started: float) -> None:
        """Wait until the next reading of the lease.

        Args:
            observation: what is known of the lease, which another process holds.
            started: when this attempt began to wait.

        Raises:
            LifecycleError: the wait has ended without the lease.
        """
        if self._cancelled():
            raise LifecycleError(f"cancelled while it waited for {observation.lease}, who has the lease")
        waited = self._clock() - started
        if observation.is_alive and waited >= self._claim.wait:
            raise LeaseHeld(
                f"another run is active on this cluster: {observation.lease} holds its lease, and renewed it "
                f"while this run waited for {waited:.0f} s. Run the playbook again when that run has "
                f"ended, or let it wait with lease_wait=<seconds> (kyma_lease_wait)"
            )
        if waited % REPORT_SECONDS < LOOK_SECONDS:
            silent = f"is not renewed for {observation.lease.seconds:.0f} s"
            how = (
                f"at most {self._claim.wait:.0f} s; this run takes over if the lease {silent}"
                if self._claim.wait
                else f"this run takes over if the lease {silent}, and ends if it is"
            )
            self._report("waiting", f"for {observation.lease}, who has the lease: {how}")
        self._sleep(min(LOOK_SECONDS, observation.lease.seconds / 4))

    def _lower(self) -> None:
        if self._raised:
            with suppress(ClusterError):
                # A Secret that stays does no harm: no process writes with its tokens.
                lower_fence(self._cluster, self._raised.fence)
        self._raised = None

    def _take(self, before: Lease) -> HeldLease | None:
        """Take a lease that is free or was given up; None if another process was quicker."""
        claim = self._claim
        self._raised = self._raised or self._prepare()
        started = self._clock()
        spec = acquisition_spec(before, claim.holder, claim.seconds, datetime.now(UTC))
        try:
            self._write(before, spec)
        except Conflict:
            return None
        return HeldLease(
            self._cluster,
            claim.holder.identity,
            before.epoch + 1,
            claim.seconds,
            name=self._name,
            until=started + claim.seconds,
            clock=self._clock,
        )

    def _prepare(self) -> RaisedFence:
        """Create the fence first: a Secret created later might be that of a run that has already lost."""
        claim = self._claim
        no_fence = claim.no_fence
        if no_fence is None:
            no_fence = no_fence_reason(self._cluster, claim.account)
        if no_fence:
            return advisory_fence(no_fence)
        try:
            return raise_fence(self._cluster, claim.holder.run, claim.account, claim.rights)
        except NotFound:
            # On a cluster that never had a lease.
            create_namespace(self._cluster)
            return raise_fence(self._cluster, claim.holder.run, claim.account, claim.rights)

    def _write(self, before: Lease, spec: dict[str, object]) -> None:
        """Write the lease if it is unchanged. Raises Conflict if it is not."""
        if before.uid:
            meta = {"uid": before.uid, "resourceVersion": before.resource_version}
            patch = {"metadata": meta, "spec": spec}
            try:
                self._cluster.patch(
                    LEASE_API_VERSION, LEASE_OBJECT_KIND, self._name, LIFECYCLE_NAMESPACE, patch
                )
            except NotFound as gone:
                raise Conflict("take the lease", status=409) from gone
            return
        meta = {"name": self._name, "namespace": LIFECYCLE_NAMESPACE}
        lease = {"apiVersion": LEASE_API_VERSION, "kind": LEASE_OBJECT_KIND, "metadata": meta, "spec": spec}
        try:
            self._cluster.create(lease)
        except NotFound:
            create_namespace(self._cluster)
            self._cluster.create(lease)

    def _complete(self, tenure: HeldLease, observation: LeaseObservation, is_first: bool) -> AcquiredLease:
        fence, token = self._raised or RaisedFence(Fence())
        tenure.cancelled = self._cancelled
        taken_over = bool(observation.lease.holder)
        # A missing lease may have been deleted while another process held it. Fences belong to runs: a
        # process that takes another lease over must not delete them.
        if self._name == LEASE_NAME and (taken_over or not observation.lease.uid):
            # If this fails, the lease is left to expire. A released lease would suggest that no earlier
            # holder can still write.
            with tenure.keep_renewed():
                note, evicted = self._evict(tenure, fence, observation.lease)
            fence = replace(fence, note=note or fence.note)
            taken_over = taken_over or evicted
        cluster = fenced_cluster(self._cluster, tenure, fence, token)
        return AcquiredLease(tenure, fence, cluster, is_first and not taken_over)

    def _evict(self, tenure: HeldLease, own: Fence, gone: Lease) -> tuple[str, bool]:
        """Wait until no earlier holder can write; why that is uncertain, and whether the wait was needed."""
        if gone.holder:
            self._report("taking over", f"from {gone}, who was silent for {gone.seconds:.0f} s")
        try:
            # As long as this process holds the lease: otherwise this would be the fence of its next holder.
            if not delete_other_fences(fenced_cluster(self._cluster, tenure, Fence()), own):
                return "", False
        except Forbidden as refusal:
            if not gone.holder:
                return "", False
            why = (
                f"{gone} could not be prevented from writing, in case it is still active: "
                f"{refusal.api_message}"
            )
            return why, False
        until = f"in {REFUSED_AFTER_SECONDS:.0f} s the server refuses the tokens of the earlier holder"
        self._report("taking over", until)
        self._sleep(REFUSED_AFTER_SECONDS)
        return "", True


def create_namespace(cluster: Cluster) -> None:
    """Create the namespace of leases, with a label that later shows that this collection created it."""
    meta = {"name": LIFECYCLE_NAMESPACE, "labels": {MANAGED_BY: FIELD_MANAGER}}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})


NAMESPACE_SECONDS = 60.0
"""How long the deletion of our namespace may take."""


def delete_lease(cluster: Cluster) -> None:
    """Delete the lease from a cluster where nothing else of ours is left; failures do no harm.

    Our namespace is deleted too if this collection created it: others may have put the deployer's account
    there.
    """
    with suppress(ClusterError):
        namespace, lease = cluster.get("v1", "Namespace", LIFECYCLE_NAMESPACE), read_lease(cluster)
        if namespace is None or lease.holder:
            return
        # Refused if another process has taken the lease meanwhile.
        cluster.delete(
            LEASE_API_VERSION,
            LEASE_OBJECT_KIND,
            LEASE_NAME,
            LIFECYCLE_NAMESPACE,
            uid=lease.uid,
            resource_version=lease.resource_version,
        )
        if (namespace["metadata"].get("labels") or {}).get(MANAGED_BY) == FIELD_MANAGER:
            terms = Terms(cluster, time.monotonic() + NAMESPACE_SECONDS, own=True)
            remove_objects(terms, [InventoryEntry("v1", ref_of(namespace))])
