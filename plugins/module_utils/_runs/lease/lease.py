# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run may write to a cluster, according to one Lease, and whether its holder is alive. Pure.

A holder renews its lease while it works. An observer considers the holder dead only after the lease was
unchanged for its whole duration by the observer's own clock. The times in a Lease are for people: two clocks
are never compared, so a clock that is off does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from ..._carrier.task import LEASE_SECONDS
from ..._cluster import own_objects
from ..._cluster.cluster import Object
from ..._text import one_line
from ..._timestamp import parse_time

LEASE_API_VERSION = "coordination.k8s.io/v1"
LEASE_OBJECT_KIND = "Lease"
LIFECYCLE_NAMESPACE = own_objects.LIFECYCLE_NAMESPACE
LEASE_NAME = "deployment"
CLOCK_TOLERANCE = timedelta(minutes=1)
"""How far the clocks of a holder and of a reader may differ, until a reader shows a run as lost."""
RENEWAL_SECONDS = 10.0
"""How often a lease is renewed, so that observers soon see that its holder is alive."""


@dataclass(frozen=True)
class Holder:
    """Who holds a lease.

    Attributes:
        run: what the holder works on: the name of a run.
        by: user and host, as in ``alice@bastion``.
        process: the id of its process on that host.
    """

    run: str
    by: str = ""
    process: int = 0

    @property
    def identity(self) -> str:
        """The identity as the lease has it."""
        return f"{self.run} {self.by} {self.process}"


def holder_of(identity: str) -> Holder:
    """The holder that an identity in a lease means; an identity in another format is used unchanged."""
    line = one_line(identity)
    words = line.split(" ")
    if len(words) < 3 or not words[-1].isdigit():
        return Holder(line)
    # The name of a user may have spaces.
    return Holder(words[0], " ".join(words[1:-1]), int(words[-1]))


@dataclass(frozen=True)
class Lease:
    """The lease of a cluster.

    Attributes:
        holder: its identity; empty if nobody holds the lease.
        epoch: how often it has changed hands.
        seconds: how long it lasts from each renewal on.
        since, renewed: when it was acquired and last renewed, by the holder's clock: for people only.
        uid, resource_version: of the object; empty if there is none yet.
    """

    holder: str = ""
    epoch: int = 0
    seconds: float = LEASE_SECONDS
    since: str = ""
    renewed: str = ""
    uid: str = ""
    resource_version: str = ""

    def __str__(self) -> str:
        holder = holder_of(self.holder)
        by = f" of {holder.by} (process {holder.process})" if holder.by else ""
        since = f" since {self.since[:19]}Z" if self.since else ""
        return f"{holder.run}{by}{since}"


def lease_from(obj: Object | None) -> Lease:
    """The lease in an object; a free lease if there is none."""
    if obj is None:
        return Lease()
    spec: Mapping[str, Any] = obj.get("spec") or {}
    return Lease(
        holder=str(spec.get("holderIdentity") or ""),
        epoch=int(spec.get("leaseTransitions") or 0),
        seconds=float(spec.get("leaseDurationSeconds") or LEASE_SECONDS),
        since=str(spec.get("acquireTime") or ""),
        renewed=str(spec.get("renewTime") or ""),
        uid=str(obj["metadata"].get("uid") or ""),
        resource_version=str(obj["metadata"].get("resourceVersion") or ""),
    )


class LeaseAvailability(Enum):
    """Whether a lease can be acquired."""

    FREE = "free"
    HELD = "held"
    EXPIRED = "expired"


@dataclass(frozen=True)
class LeaseObservation:
    """What an observer has seen of a lease.

    Attributes:
        lease: as it was last seen.
        since: since when the lease is unchanged, by the observer's clock.
        is_alive: whether the observer saw the holder renew it.
    """

    lease: Lease
    since: float
    is_alive: bool = False

    def availability(self, now: float) -> LeaseAvailability:
        """Whether the lease can be acquired at a moment of the observer's clock."""
        if not self.lease.holder:
            return LeaseAvailability.FREE
        return LeaseAvailability.EXPIRED if now - self.since >= self.lease.seconds else LeaseAvailability.HELD


def observe_lease(before: LeaseObservation | None, lease: Lease, now: float) -> LeaseObservation:
    """What an observer knows after the next reading.

    Args:
        before: what it knew before; None at the first reading.
        lease: the current one.
        now: by the observer's clock, after the answer has arrived.
    """
    if before is None:
        return LeaseObservation(lease, now)
    if _looks_of(before.lease) == _looks_of(lease):
        return LeaseObservation(lease, before.since, before.is_alive)
    return LeaseObservation(lease, now, before.lease.holder == lease.holder)


def is_run_lost(run: str, lease: Lease, now: datetime) -> bool:
    """Whether a run without an end in its record no longer has its lease: for people, not for a decision.

    Args:
        run: its name.
        lease: as it was just read.
        now: by the reader's clock.
    """
    if holder_of(lease.holder).run != run:
        return True
    renewed = parse_time(lease.renewed)
    return renewed is not None and now - renewed > timedelta(seconds=lease.seconds) + CLOCK_TOLERANCE


def _looks_of(lease: Lease) -> tuple[object, ...]:
    """The fields that a holder changes; a new label on the object is no sign of life."""
    return (lease.holder, lease.epoch, lease.seconds, lease.renewed, lease.uid)


def acquisition_spec(before: Lease, holder: Holder, seconds: int, now: datetime) -> dict[str, Any]:
    """The spec of a lease for its next holder: the epoch is one higher."""
    moment = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "holderIdentity": holder.identity,
        "leaseDurationSeconds": seconds,
        "leaseTransitions": before.epoch + 1,
        "acquireTime": moment,
        "renewTime": moment,
    }


def renewal_patch(holder: str, epoch: int, now: datetime) -> list[dict[str, Any]]:
    """The JSON patch by which a holder renews its lease: the server refuses it if the holder has changed."""
    moment = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return [
        *_only_for(holder, epoch),
        {"op": "replace", "path": "/spec/renewTime", "value": moment},
    ]


def release_patch(holder: str, epoch: int) -> list[dict[str, Any]]:
    """The JSON patch by which a holder releases its lease; the epoch stays, so the next is higher."""
    return [*_only_for(holder, epoch), {"op": "remove", "path": "/spec/holderIdentity"}]


def _only_for(holder: str, epoch: int) -> list[dict[str, Any]]:
    return [
        {"op": "test", "path": "/spec/holderIdentity", "value": holder},
        {"op": "test", "path": "/spec/leaseTransitions", "value": epoch},
    ]
