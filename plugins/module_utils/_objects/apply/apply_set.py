# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applying all objects of a component, rank by rank, as a run does it and as a plan rehearses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..._cluster.cluster import Cluster, Object, Ref, ref_of
from ..._cluster.errors import ClusterError, Forbidden, Unreachable
from ..._threads import map_in_threads
from ..inventory.finished_job_entries import is_done
from ..inventory.inventory_entry import ForeignFields
from ..ownership.findings import DriftOutcome, Finding, finding_keys
from ..ownership.policy import Policy
from .apply_object import NO_KNOWN_OBJECTS, AppliedObject, KnownObjects, apply_object
from .crd_versions import widen_versions
from .order import CRD_RANK, by_rank, rank_of

CRD = "CustomResourceDefinition"


@dataclass(frozen=True)
class Refusal:
    """An object that the server did not accept."""

    ref: Ref
    error: ClusterError


@dataclass(frozen=True)
class WaitCallbacks:
    """How to wait in between; a rehearsal waits for nothing.

    Attributes:
        until_gone: for an object that was deleted, as it was then.
        until_served: for the kinds of the CRDs that were applied; raises ClusterError where one isn't.
        until_provided: for kinds that a program in the cluster installs; it takes the objects of a rank
            before they are applied, and returns them as they are to be applied.
    """

    until_gone: Callable[[Object], None] = lambda _deleted: None
    until_served: Callable[[Sequence[Object]], None] = lambda _crds: None
    until_provided: Callable[[Sequence[Object]], Sequence[Object]] = lambda rank: rank


@dataclass(frozen=True)
class ApplyResult:
    """What came of applying the objects of a component.

    Attributes:
        applied: what the server accepted.
        refused: what it did not; after a rank with a refusal a run goes no further.
        left: objects that were not tried any more.
        wide: definitions that were given more versions than the release has, for as long as the run takes.
    """

    applied: tuple[AppliedObject, ...]
    refused: tuple[Refusal, ...]
    untried: tuple[Ref, ...] = ()
    wide: tuple[Ref, ...] = ()

    @property
    def warnings(self) -> list[str]:
        """What a person should know about the objects."""
        return [warning for applied in self.applied for warning in applied.warnings]

    @property
    def findings(self) -> list[Finding]:
        """What others have done to the objects, told before or not."""
        return [finding for applied in self.applied for finding in applied.findings]

    @property
    def foreign_fields(self) -> dict[Ref, ForeignFields]:
        """What others hold of each object, as an inventory remembers it."""
        return {
            one.ref: (
                finding_keys(one.findings, one.ref, DriftOutcome.CEDED),
                finding_keys(one.findings, one.ref, DriftOutcome.KEPT),
            )
            for one in self.applied
        }


def apply_objects(
    cluster: Cluster,
    objects: Sequence[Object],
    policy: Policy,
    waits: WaitCallbacks,
    *,
    known: KnownObjects = NO_KNOWN_OBJECTS,
    keep_going: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
    answered: Callable[[AppliedObject], None] = lambda _applied: None,
) -> ApplyResult:
    """Apply objects in the right order, those of one rank side by side.

    Jobs that have finished before, and have removed themselves, are left alone.

    Args:
        cluster: live or an overlay.
        objects: complete, as they are to be.
        policy: what the user allows.
        waits: how to wait in between.
        known: what is known of the objects.
        keep_going: whether to go on after a refusal, to learn of all of them.
        cancelled: asked before every rank.
        answered: told of each object that the server accepts, also where a wait in between ends it all.

    Raises:
        Unreachable: there is nothing to learn any more, as the server is gone; only with ``keep_going``.
    """

    def attempt(obj: Object) -> AppliedObject | Refusal | None:
        if lost:
            # Each of them would wait as long as the one before it for a server that is not there.
            return None
        try:
            intent = _widened(cluster, obj) if ref_of(obj) in there else obj
            if intent is not obj:
                wide.append(ref_of(obj))
            accepted = apply_object(cluster, intent, policy, waits.until_gone, known)
        except Unreachable as error:
            if keep_going:
                raise
            lost.append(ref_of(obj))
            return Refusal(ref_of(obj), error)
        except ClusterError as error:
            return Refusal(ref_of(obj), error)
        answered(accepted)
        return accepted

    applied: list[AppliedObject] = []
    refused: list[Refusal] = []
    wide: list[Ref] = []
    lost: list[Ref] = []
    left: list[Ref] = []
    there: frozenset[Ref] = frozenset()
    ranks = by_rank([obj for obj in objects if not is_done(cluster, obj, known.entries.get(ref_of(obj)))])
    for position, rank in enumerate(ranks):
        if (refused and not keep_going) or cancelled():
            left += [ref_of(obj) for later in ranks[position:] for obj in later]
            return ApplyResult(tuple(applied), tuple(refused), tuple(left), tuple(wide))
        if rank_of(rank[0]) == CRD_RANK:
            there = _existing(cluster, rank)
        complete = waits.until_provided(rank)
        for obj, answer in zip(complete, map_in_threads(attempt, complete), strict=True):
            if isinstance(answer, AppliedObject):
                applied.append(answer)
            elif answer:
                refused.append(answer)
            else:
                left.append(ref_of(obj))
        if rank_of(rank[0]) == CRD_RANK and not refused:
            waits.until_served([one.object for one in applied if one.ref.kind == CRD])
    return ApplyResult(tuple(applied), tuple(refused), tuple(left), tuple(wide))


def _existing(cluster: Cluster, crds: Sequence[Object]) -> frozenset[Ref]:
    """The definitions that may be there: one question for all, as mostly none of them is."""
    try:
        found = cluster.list(crds[0]["apiVersion"], CRD, metadata_only=True).items
    except Forbidden:
        # Then each of them is asked for, and says what else is missing.
        return frozenset(map(ref_of, crds))
    return frozenset(map(ref_of, found))


def _widened(cluster: Cluster, crd: Object) -> Object:
    return widen_versions(crd, cluster.get(crd["apiVersion"], CRD, crd["metadata"]["name"]))
