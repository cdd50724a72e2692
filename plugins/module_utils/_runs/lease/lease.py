# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run may write to a cluster, as one Lease says it, and whether its holder is still there: pure.

A holder renews its lease while it works. Whoever wants it takes the holder for gone only after the lease has
looked the same for its whole duration by one's own clock. The times in a Lease are for people: two clocks are
never compared, so that one that is off does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from ..._carrier.task import LEASE_SECONDS
from ..._cluster.cluster import Object
from ..._text import one_line

LEASE_API_VERSION = "coordination.k8s.io/v1"
LEASE_OBJECT_KIND = "Lease"
LIFECYCLE_NAMESPACE = "kyma-lifecycle"
LEASE_NAME = "deployment"
RENEWAL_SECONDS = 10.0
"""How often a lease is renewed, so that whoever waits soon sees that its holder is there."""


@dataclass(frozen=True)
class Holder:
    """Who holds a lease.

    Attributes:
        run: what it is at work on: the name of a run.
        by: user and host, as in ``alice@bastion``.
        process: the number of its process on that host.
    """

    run: str
    by: str = ""
    process: int = 0

    @property
    def identity(self) -> str:
        """As it stands in the lease."""
        return f"{self.run} {self.by} {self.process}"


def holder_of(identity: str) -> Holder:
    """Who an identity in a lease means; one that isn't ours is taken as it is."""
    line = one_line(identity)
    words = line.split(" ")
    if len(words) != 3 or not words[2].isdigit():
        return Holder(line)
    return Holder(words[0], words[1], int(words[2]))


@dataclass(frozen=True)
class Lease:
    """The lease of a cluster.

    Attributes:
        holder: its identity; empty where nobody has the lease.
        epoch: how often it has changed hands.
        seconds: how long it lasts from each renewal on.
        since, renewed: when it was acquired and renewed last, by the holder's clock: for people only.
        uid, resource_version: of the object; empty where there is none yet.
    """

    holder: str = ""
    epoch: int = 0
    seconds: float = LEASE_SECONDS
    since: str = ""
    renewed: str = ""
    uid: str = ""
    resource_version: str = ""

    def __str__(self) -> str:
        who = holder_of(self.holder)
        by = f" of {who.by} (process {who.process})" if who.by else ""
        since = f" since {self.since[:19]}Z" if self.since else ""
        return f"{who.run}{by}{since}"


def lease_from(obj: Object | None) -> Lease:
    """The lease that an object is; a free one where there is none."""
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
    """Whether a lease can be had."""

    FREE = "free"
    HELD = "held"
    EXPIRED = "expired"


@dataclass(frozen=True)
class LeaseObservation:
    """What an observer has seen of a lease.

    Attributes:
        lease: as it was seen last.
        since: from when on it has looked like that, by the observer's clock.
        is_alive: whether its holder was seen renewing it.
    """

    lease: Lease
    since: float
    is_alive: bool = False

    def availability(self, now: float) -> LeaseAvailability:
        """Whether it can be had at a moment of the observer's clock."""
        if not self.lease.holder:
            return LeaseAvailability.FREE
        return LeaseAvailability.EXPIRED if now - self.since >= self.lease.seconds else LeaseAvailability.HELD


def observe_lease(before: LeaseObservation | None, lease: Lease, now: float) -> LeaseObservation:
    """What an observer knows after another look.

    Args:
        before: what it knew; None at the first look.
        lease: as it is now.
        now: by the observer's clock, after the answer has come.
    """
    if before is None:
        return LeaseObservation(lease, now)
    if _looks_of(before.lease) == _looks_of(lease):
        return LeaseObservation(lease, before.since, before.is_alive)
    return LeaseObservation(lease, now, before.lease.holder == lease.holder)


def _looks_of(lease: Lease) -> tuple[object, ...]:
    """What a holder changes; that somebody put a label on the object is no sign of life."""
    return (lease.holder, lease.epoch, lease.seconds, lease.renewed, lease.uid)


def acquisition_spec(before: Lease, holder: Holder, seconds: int, now: datetime) -> dict[str, Any]:
    """The spec of a lease that somebody takes: its epoch is one more."""
    moment = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "holderIdentity": holder.identity,
        "leaseDurationSeconds": seconds,
        "leaseTransitions": before.epoch + 1,
        "acquireTime": moment,
        "renewTime": moment,
    }


def renewal_patch(holder: str, epoch: int, now: datetime) -> list[dict[str, Any]]:
    """The JSON patch by which a holder renews its lease: refused where it is no longer the holder."""
    moment = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return [
        *_only_for(holder, epoch),
        {"op": "replace", "path": "/spec/renewTime", "value": moment},
    ]


def release_patch(holder: str, epoch: int) -> list[dict[str, Any]]:
    """The JSON patch by which a holder gives its lease back; the epoch stays, so that the next is higher."""
    return [*_only_for(holder, epoch), {"op": "remove", "path": "/spec/holderIdentity"}]


def _only_for(holder: str, epoch: int) -> list[dict[str, Any]]:
    return [
        {"op": "test", "path": "/spec/holderIdentity", "value": holder},
        {"op": "test", "path": "/spec/leaseTransitions", "value": epoch},
    ]
