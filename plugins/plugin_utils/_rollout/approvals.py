# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a ring lacks of an approval. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ...module_utils._text import MOST_NAMES, short_list
from .model import ApprovalFacts, ClusterFacts, RingOptions, RolloutCluster, Standing


def approving_ring(rings: Sequence[RingOptions], name: str) -> RingOptions:
    """The ring whose clusters have the approvals of a ring: the ring before that has hosts, or else itself.

    Args:
        rings: in their order.
        name: of the ring to approve.
    """
    before: RingOptions | None = None
    for ring in rings:
        if ring.name == name:
            return before or ring
        before = ring if ring.hosts else before
    raise ValueError(f"there is no ring {name}")


def missing_approval(ring: str, digest: str, carriers: Sequence[RolloutCluster]) -> str:
    """What a ring lacks of an approval, in a few words; empty if it is approved.

    Every cluster needs one that isn't out, and was in its ring when it was approved.

    Args:
        ring: to approve.
        digest: of the release.
        carriers: all clusters of the ring whose clusters have the approvals.
    """
    reachable = [one for one in carriers if one.standing not in (Standing.OUT, Standing.UNPLANNED)]
    valid = {one.name: _valid(one.facts, ring, digest) for one in reachable}
    given = [approval for approvals in valid.values() for approval in approvals]
    # An approval that names no clusters is taken for one of all.
    members = {name for one in given for name in one.clusters or valid}
    lacking = [name for name in valid if name in members and not valid[name]]
    if any(name in members for name in valid) and not lacking:
        return ""
    # Such as one that did not answer when it was approved.
    notes = [f"; it is missing on {short_list(lacking, MOST_NAMES)}"] if lacking else []
    unread = [one for one in carriers if one.facts.approvals_problem]
    notes += [f"; {one.name}: {one.facts.approvals_problem}" for one in unread[:1]]
    return "".join(["no approval for this release (kyma_ring_approve)", *notes])


def _valid(facts: ClusterFacts, ring: str, digest: str) -> list[ApprovalFacts]:
    return [
        one
        for one in facts.approvals
        if one.ring == ring and one.release_digest == digest and digest and _is_in_time(one, facts)
    ]


def _is_in_time(approval: ApprovalFacts, facts: ClusterFacts) -> bool:
    return approval.until is None or (facts.now is not None and facts.now < approval.until)
