# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Lease of a cluster: who may write, and how a holder takes, renews and releases it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..._carrier.task import LEASE_SECONDS
from ..._cluster import own_objects
from ..._cluster.cluster import Object
from ..._text import one_line

LEASE_API_VERSION = "coordination.k8s.io/v1"
LEASE_OBJECT_KIND = "Lease"
LIFECYCLE_NAMESPACE = own_objects.LIFECYCLE_NAMESPACE
LEASE_NAME = "deployment"
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
