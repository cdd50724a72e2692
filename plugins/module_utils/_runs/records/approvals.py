# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of approvals: a person's decision that a ring may get a release.

No deployment writes them: only the approver's role may. An approval is replaced, and never changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ClusterError
from ..._cluster.own_objects import APPROVALS
from ..._custom_resources.crd_builder import STRING, STRINGS, object_schema, resource_definition
from ..._custom_resources.storage_version import with_storage_version
from ..._errors import LifecycleError
from ..._text import one_line
from ..._timestamp import parse_time, timestamp
from .record_schema import API_VERSION, STORAGE_VERSION, known_record

APPROVAL_KIND = "Approval"
_DIGEST = "[0-9a-f]{64}"
_SPEC = object_schema(
    ["ring", "releaseDigest", "reason"],
    ring=STRING,
    releaseDigest={**STRING, "pattern": f"^{_DIGEST}$"},
    reason=STRING,
    until={**STRING, "format": "date-time"},
    user=STRING,
    by=STRING,
    clusters=STRINGS,
)

APPROVAL_DEFINITION = resource_definition(
    APPROVAL_KIND,
    APPROVALS,
    "kyap",
    {"spec": _SPEC},
    [
        ("Ring", "string", ".spec.ring"),
        ("User", "string", ".spec.user"),
        ("Until", "string", ".spec.until"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ],
    wide_columns=[
        ("By", "string", ".spec.by"),
        ("Release digest", "string", ".spec.releaseDigest"),
        ("Reason", "string", ".spec.reason"),
    ],
    required=["spec"],
)


@dataclass(frozen=True)
class Approval:
    """That a ring may get a release.

    Attributes:
        ring: the name of the ring.
        release_digest: of the approved release.
        reason: why, or a reference to the decision.
        until: when it ends by itself (RFC 3339), or empty.
        user: the API server's name for the account that approved, as that account has recorded it.
        by: the person that approved, as stated.
        clusters: the clusters that had to have the approval when it was written; empty means all.
        at: when the API server has created the record (RFC 3339).
        name: of the record.
    """

    ring: str
    release_digest: str
    reason: str = ""
    until: str = ""
    user: str = ""
    by: str = ""
    clusters: tuple[str, ...] = ()
    at: str = ""
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        person = f"{self.by} ({self.user})" if self.by and self.user else self.by or self.user
        parts = [
            f"ring {self.ring} is approved for the release {self.release_digest[:12]}",
            f"by {person}" if person else "",
            f"since {self.at}" if self.at else "",
            f"until {self.until}" if self.until else "",
        ]
        return " ".join(filter(None, parts)) + (f": {self.reason}" if self.reason else "")

    def is_in_force(self, now: datetime) -> bool:
        """Whether it counts at a moment; not if its end can't be read."""
        end = parse_time(self.until)
        return not self.until or (end is not None and now < end)

    def as_result(self) -> dict[str, Any]:
        """It as part of a task's result."""
        fields = asdict(self)
        del fields["name"]
        return {**fields, "clusters": [*self.clusters]}


def approval_from(record: Mapping[str, Any]) -> Approval:
    """The approval in a record."""
    spec, meta = known_record(record).get("spec") or {}, record["metadata"]
    texts = {key: one_line(spec.get(key) or "") for key in ("ring", "reason", "until", "user", "by")}
    return Approval(
        **texts,
        release_digest=one_line(spec.get("releaseDigest") or ""),
        clusters=tuple(map(one_line, spec.get("clusters") or ())),
        at=str(meta.get("creationTimestamp") or ""),
        name=str(meta["name"]),
    )


def new_approval(params: Mapping[str, Any], user: str, now: datetime) -> Approval:
    """The approval that the options of a task describe.

    Raises:
        LifecycleError: a text is blank, the digest is none, or ``until`` is no time in the future.
    """
    # In the form in which it is read back: a second task with the same reason changes nothing.
    ring, reason, digest = (one_line(params[key]) for key in ("ring", "reason", "release_digest"))
    if not ring or not reason:
        blank = "reason" if ring else "ring"
        raise LifecycleError(f"cannot approve the release: {blank} is empty. Name the ring, and say why.")
    if not re.fullmatch(_DIGEST, digest):
        raise LifecycleError(
            f"cannot approve the release: release_digest is {digest!r}, which is not a sha256 of 64"
            " hexadecimal digits. Take it from the result of kyma.lifecycle.rollout."
        )
    end = parse_time(params["until"])
    if params["until"] and (end is None or end <= now):
        raise LifecycleError(
            f"cannot approve the release: until is {params['until']}, which is not a time in the future. Give"
            " one such as 2026-11-22T06:00:00Z, or leave until out."
        )
    return Approval(
        ring=ring,
        release_digest=digest,
        reason=reason,
        until=timestamp(end) if end else "",
        user=user,
        by=one_line(params["by"]),
        clusters=tuple(dict.fromkeys(map(one_line, params["clusters"]))),
        at=timestamp(now),
    )


def record_of(approval: Approval) -> Object:
    """The record of an approval. Its name depends on its content: a changed approval is another record."""
    spec = {
        "ring": approval.ring,
        "releaseDigest": approval.release_digest,
        "reason": approval.reason,
        "until": approval.until,
        "user": approval.user,
        "by": approval.by,
        "clusters": [*approval.clusters],
    }
    spec = {key: value for key, value in spec.items() if value}
    digest = hashlib.sha256(json.dumps([spec, approval.at]).encode()).hexdigest()[:12]
    word = re.sub("[^a-z0-9]+", "-", approval.ring.lower())[:100].strip("-") or "ring"
    meta = {"name": approval.name or f"{word}-{digest}"}
    record = {"apiVersion": API_VERSION, "kind": APPROVAL_KIND, "metadata": meta, "spec": spec}
    return with_storage_version(record, STORAGE_VERSION)


def read_approvals(cluster: Cluster) -> list[Approval]:
    """All approvals in a cluster, the oldest first.

    Raises:
        ClusterError: they can't be read.
    """
    approvals = map(approval_from, cluster.list(API_VERSION, APPROVAL_KIND).items)
    return sorted(approvals, key=lambda one: (one.at, one.name))


def find_approvals(cluster: Cluster) -> tuple[list[Approval], str]:
    """The approvals in a cluster, and why they could not be read: in a sentence, or empty."""
    try:
        if cluster.resource(API_VERSION, APPROVAL_KIND) is None:
            return [], "the cluster has no definition of approvals"
        return read_approvals(cluster), ""
    except ClusterError as error:
        return [], f"the approvals could not be read: {one_line(error)}"
