# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies all objects of a component, rank by rank, in a run and in a plan's rehearsal."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from threading import Event

from ..._cluster.cluster import Cluster, Object, Ref, address_of, ref_of
from ..._cluster.errors import ClusterError, Forbidden, ServerTimeout, Unreachable
from ..._threads import map_in_threads
from ..inventory.finished_job_entries import is_done
from ..inventory.inventory_entry import ForeignFields
from ..ownership.findings import DriftOutcome, Finding, finding_keys
from ..ownership.policy import Policy
from .apply_object import NO_KNOWN_OBJECTS, AppliedObject, KnownObjects, apply_object
from .crd_versions import widen_versions
from .order import CRD_RANK, by_rank, rank_of
from .refusals import UnallowedTaking

CRD = "CustomResourceDefinition"
REPEAT_SECONDS = 1.0
"""Seconds until an object is applied again that an overloaded server did not complete."""


@dataclass(frozen=True)
class Refusal:
    """An object that the server refused."""

    ref: Ref
    error: ClusterError


@dataclass(frozen=True)
class WaitCallbacks:
    """The waits between ranks; a rehearsal waits for nothing.

    Attributes:
        until_gone: waits until an object no longer exists; gets it as it was when it was deleted.
        until_served: waits for the kinds of applied CRDs; raises ClusterError if one is not served.
        until_provided: waits for kinds that a program in the cluster installs; gets the objects of a rank
            before they are applied, and returns the objects to apply.
    """

    until_gone: Callable[[Object], None] = lambda _deleted: None
    until_served: Callable[[Sequence[Object]], None] = lambda _crds: None
    until_provided: Callable[[Sequence[Object]], Sequence[Object]] = lambda rank: rank


@dataclass(frozen=True)
class ApplyResult:
    """The result of applying objects of a component.

    Attributes:
        applied: the objects that the server accepted.
        refused: those that it refused; a run stops after a rank with a refusal.
        untried: objects that were not tried any more.
        wide: definitions that have more versions than the release during the run.
    """

    applied: tuple[AppliedObject, ...] = ()
    refused: tuple[Refusal, ...] = ()
    untried: tuple[Ref, ...] = ()
    wide: tuple[Ref, ...] = ()

    def __add__(self, later: ApplyResult) -> ApplyResult:
        """The result of both, one after the other."""
        return ApplyResult(
            self.applied + later.applied,
            self.refused + later.refused,
            self.untried + later.untried,
            self.wide + later.wide,
        )

    @property
    def warnings(self) -> list[str]:
        """Messages for the user about the objects."""
        return [warning for applied in self.applied for warning in applied.warnings]

    @property
    def findings(self) -> list[Finding]:
        """The changes by others to the objects, reported before or not."""
        return [finding for applied in self.applied for finding in applied.findings]

    @property
    def foreign_fields(self) -> dict[Ref, ForeignFields]:
        """The fields of each object that others own, in the form of an inventory."""
        return {
            one.ref: (
                finding_keys(one.findings, one.ref, DriftOutcome.CEDED),
                finding_keys(one.findings, one.ref, DriftOutcome.RETAINED),
            )
            for one in self.applied
        }


@dataclass(frozen=True)
class ApplyTerms:
    """The terms on which objects are applied.

    Attributes:
        cluster: live or an overlay.
        policy: what the user allows.
        waits: the waits between ranks.
        known: the knowledge about the objects.
        keep_going: whether to continue after a refusal, to find all of them.
        cancelled: called before every object, from several threads.
        answered: gets each object that the server accepted, also if a later wait raises an error.
        may_repeat: whether there is time to apply an object again that an overloaded server did not complete.
    """

    cluster: Cluster
    policy: Policy
    waits: WaitCallbacks = WaitCallbacks()
    known: KnownObjects = NO_KNOWN_OBJECTS
    keep_going: bool = False
    cancelled: Callable[[], bool] = lambda: False
    answered: Callable[[AppliedObject], None] = lambda _applied: None
    may_repeat: Callable[[], bool] = lambda: False


def apply_objects(terms: ApplyTerms, objects: Sequence[Object]) -> ApplyResult:
    """Apply complete objects in their order, those of one rank in parallel.

    It skips Jobs that have finished before, and have removed themselves.

    Raises:
        Unreachable, ServerTimeout: the server is unreachable or overloaded, so no more refusals can be found;
            only with ``keep_going``.
    """
    entries, done = terms.known.entries, ApplyResult()
    ranks = by_rank([obj for obj in objects if not is_done(terms.cluster, obj, entries.get(ref_of(obj)))])
    for position, rank in enumerate(ranks):
        if (done.refused and not terms.keep_going) or terms.cancelled():
            return done + ApplyResult(untried=tuple(map(ref_of, chain.from_iterable(ranks[position:]))))
        done += _apply_rank(terms, rank)
    return done


def _apply_rank(terms: ApplyTerms, rank: Sequence[Object]) -> ApplyResult:
    """Apply objects in parallel, and wait for the kinds that they define."""
    crds = [obj for obj in rank if rank_of(obj) == CRD_RANK]
    existing = _existing(terms.cluster, crds) if crds else frozenset[Ref]()
    attempt = partial(_attempt, terms, existing, Event())
    done = sum(map_in_threads(attempt, terms.waits.until_provided(rank)), ApplyResult())
    if crds and not done.refused:
        terms.waits.until_served([one.object for one in done.applied if one.ref.kind == CRD])
    return done


def _attempt(terms: ApplyTerms, existing: Container[Ref], is_over: Event, obj: Object) -> ApplyResult:
    """Apply one object, again as long as an overloaded server does not complete it.

    Args:
        terms: of the apply.
        existing: the definitions that may exist, and are to keep their versions during the run.
        is_over: whether no other object of the rank is tried; set here.
        obj: the object.
    """
    ref = ref_of(obj)
    while True:
        if is_over.is_set() or terms.cancelled():
            return ApplyResult(untried=(ref,))
        wide: tuple[Ref, ...] = ()
        try:
            intent = _widened(terms.cluster, obj) if ref in existing else obj
            wide = () if intent is obj else (ref,)
            applied = apply_object(terms.cluster, intent, terms.policy, terms.waits.until_gone, terms.known)
        except ClusterError as error:
            if isinstance(error, ServerTimeout) and terms.may_repeat():
                time.sleep(REPEAT_SECONDS)
                continue
            is_away = isinstance(error, (ServerTimeout, Unreachable))
            if is_away or isinstance(error, UnallowedTaking):
                # Each other object would wait as long for a server that is unreachable.
                is_over.set()
            if is_away and terms.keep_going:
                raise
            return ApplyResult(refused=(Refusal(ref, error),), wide=wide)
        terms.answered(applied)
        return ApplyResult((applied,), wide=wide)


def _existing(cluster: Cluster, crds: Sequence[Object]) -> frozenset[Ref]:
    """The definitions that may exist: one request for all, as mostly none of them exists."""
    try:
        definitions = cluster.list(crds[0]["apiVersion"], CRD, metadata_only=True).items
    except Forbidden:
        # Then each of them is read, and the error names other missing rights.
        return frozenset(map(ref_of, crds))
    return frozenset(map(ref_of, definitions))


def _widened(cluster: Cluster, crd: Object) -> Object:
    return widen_versions(crd, cluster.get(*address_of(crd)))
