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
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, TypeAlias

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import ClusterError
from ..._cluster.own_objects import APPROVALS
from ..._custom_resources.resource_kind import ResourceKind
from ..._errors import LifecycleError
from ..._field_notes import SPEC, described, in_metadata, in_spec
from ..._result_codec import INTERNAL
from ..._text import LONGEST_LINE, one_line
from ..._timestamp import parse_time, timestamp
from .record_schema import STORAGE_VERSION

_DIGEST = "[0-9a-f]{64}"
MOST_CLUSTERS = 10_000
"""How many clusters an approval may name."""
Line: TypeAlias = Annotated[str, described(read=one_line, maxLength=LONGEST_LINE)]
"""A text that a person may have written, on one line."""


@dataclass(frozen=True)
class Approval:
    """That a ring may get a release."""

    ring: Annotated[Line, in_spec("The name of the ring.")]
    release_digest: Annotated[
        Line, in_spec("The digest of the approved release.", pattern=f"^{_DIGEST}$", maxLength=64)
    ]
    reason: Annotated[Line, in_spec("Why, or a reference to the decision.")]
    until: Annotated[
        Line, in_spec("When the approval ends by itself. Empty for never.", format="date-time", maxLength=40)
    ] = ""
    user: Annotated[
        Line,
        in_spec("The API server's name for the account that approved, as that account has recorded it."),
    ] = ""
    by: Annotated[Line, in_spec("The person that approved, as stated.")] = ""
    clusters: Annotated[
        tuple[Line, ...],
        in_spec(
            "The clusters that had to have the approval when it was written. Empty for all.",
            maxItems=MOST_CLUSTERS,
        ),
    ] = ()
    at: Annotated[str, in_metadata("creationTimestamp")] = ""
    name: Annotated[str, in_metadata()] = field(default="", compare=False, metadata=INTERNAL)

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


APPROVAL = ResourceKind(
    Approval,
    "KymaApproval",
    APPROVALS,
    "kyap",
    "That a ring of a fleet may get a release. The approver's role writes it.",
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
    storage_version=STORAGE_VERSION,
    notes={SPEC: described("What is approved.", rules=(("self == oldSelf", "an approval never changes"),))},
    required=["spec"],
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


def approval_record(approval: Approval) -> Object:
    """The record of an approval. Its name depends on its content: a changed approval is another record."""
    record = APPROVAL.object_of(approval)
    digest = hashlib.sha256(json.dumps([record["spec"], approval.at]).encode()).hexdigest()[:12]
    word = re.sub("[^a-z0-9]+", "-", approval.ring.lower())[:100].strip("-") or "ring"
    record["metadata"]["name"] = approval.name or f"{word}-{digest}"
    return record


def read_approvals(cluster: Cluster) -> list[Approval]:
    """All approvals in a cluster, the oldest first.

    Raises:
        ClusterError: they can't be read.
    """
    approvals = map(APPROVAL.read, cluster.list(*APPROVAL.address).items)
    return sorted(approvals, key=lambda one: (one.at, one.name))


def find_approvals(cluster: Cluster) -> tuple[list[Approval], str]:
    """The approvals in a cluster, and why they could not be read: in a sentence, or empty."""
    try:
        if cluster.resource(*APPROVAL.address) is None:
            return [], "the cluster has no definition of approvals"
        return read_approvals(cluster), ""
    except ClusterError as error:
        return [], f"the approvals could not be read: {one_line(error)}"
