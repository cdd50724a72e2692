# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes objects of inventories in reverse order of creation, and waits until they are gone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._cluster.cluster import Cluster, Object, Ref
from ..._cluster.errors import ClusterError, Conflict, NotFound
from ..._cluster.kinds import NAMESPACE_KIND
from ..._cluster.recent_lists import DirectLists
from ..._cluster.served_versions import readable_version
from ..._errors import MOST_REASONS
from ..._threads import map_in_threads
from ..apply.order import rank_of
from ..health.diagnosis import Lists
from ..health.explanation import tidy
from ..health.wait import UnhealthyObject, WaitTerms, wait_until_gone
from ..inventory.inventory import Inventory
from ..inventory.inventory_entry import InventoryEntry
from ..inventory.live_objects import read_metadata
from .prune_decision import DELETE, GONE, NOT_OWNED, RETAINED, RemovalDecision, decide_removal

ATTEMPTS = 12
"""How often to read an object again that changes between a read and its deletion: controllers are quick.

A controller writes an aggregated ClusterRole each time one of its parts is deleted; a release has many.
"""
LONGEST_PAUSE = 1.0
"""Seconds between two of these reads, at most; the first pauses are shorter, and each one doubles."""
FOREGROUND = "foregroundDeletion"
"""The server's own finalizer on an object that is deleted after its dependents."""
_RUNS_PODS = ("apps", "batch")


@dataclass
class Removal:
    """The result of removing objects.

    Attributes:
        deleted: objects that were deleted and are gone.
        gone: objects that no longer existed.
        not_owned: objects that aren't ours any more.
        retained: objects that are ours and stay.
        failed: objects that could not be deleted, or are not gone.
        untried: objects after a failure or a cancellation.
        notes: a sentence about each object that is not ours or stays.
        errors: a sentence about each failure.
        cancelled: whether a person has cancelled it.
    """

    deleted: list[InventoryEntry] = field(default_factory=list)
    gone: list[InventoryEntry] = field(default_factory=list)
    not_owned: list[InventoryEntry] = field(default_factory=list)
    retained: list[InventoryEntry] = field(default_factory=list)
    failed: list[InventoryEntry] = field(default_factory=list)
    untried: list[InventoryEntry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    cancelled: bool = False

    @property
    def refs_to_drop(self) -> frozenset[Ref]:
        """The references that an inventory no longer needs."""
        return frozenset(entry.ref for entry in (*self.deleted, *self.gone, *self.not_owned))

    def and_then(self, later: Removal) -> Removal:
        """The combined result of this and a later removal."""
        joined = {
            name: value + getattr(later, name) for name, value in vars(self).items() if name != "cancelled"
        }
        return Removal(**joined, cancelled=self.cancelled or later.cancelled)


@dataclass(frozen=True)
class Terms(WaitTerms):
    """The terms on which objects are removed, and on which their end is awaited.

    Attributes:
        retain: returns the decision to retain an object (given its metadata) instead of deleting it, or None;
            called right before its deletion.
        force: whether objects are deleted that are marked to stay.
        approved: uids of objects that may be deleted although this collection has not written them: those
            that the user has named, and those in the manifest of an adopted module.
        own: whether the collection deletes its own objects.
        requested: called once the deletion of an object is requested, or found to be needless.
    """

    retain: Callable[[InventoryEntry, Object], RemovalDecision | None] = lambda _entry, _live: None
    force: bool = False
    approved: frozenset[str] = frozenset()
    own: bool = False
    requested: Callable[[], None] = lambda: None


def remove_objects(terms: Terms, entries: Iterable[InventoryEntry]) -> Removal:
    """Delete objects rank by rank, each rank gone before the next, in reverse order of creation.

    So webhooks and aggregated APIs are deleted before their servers, and custom resources while their
    operators can still remove their finalizers. It stops after a rank with a failure.

    Raises:
        ClusterError: the live objects can't be read.
    """
    removal = Removal()
    known = in_served_versions(terms.cluster, entries)
    live = read_metadata(terms.cluster, [Inventory("", entries=tuple(known))])
    for rank in _ranks(known):
        if removal.errors or removal.cancelled or terms.cancelled():
            removal.cancelled = removal.cancelled or not removal.errors
            removal.untried += rank
            continue
        _remove_rank(terms, rank, live, removal)
    return removal


def _ranks(entries: Iterable[InventoryEntry]) -> list[list[InventoryEntry]]:
    ranks: dict[int, list[InventoryEntry]] = {}
    for entry in entries:
        rank = rank_of({"apiVersion": entry.api_version, "kind": entry.ref.kind})
        ranks.setdefault(rank, []).append(entry)
    return [ranks[rank] for rank in sorted(ranks, reverse=True)]


def _remove_rank(
    terms: Terms, rank: Sequence[InventoryEntry], live: Mapping[Ref, Object], removal: Removal
) -> None:
    def attempt(entry: InventoryEntry) -> RemovalDecision | ClusterError | None:
        if terms.cancelled():
            return None
        try:
            return _delete(terms, entry, live.get(entry.ref))
        except ClusterError as error:
            return error
        finally:
            terms.requested()

    requested: list[InventoryEntry] = []
    for entry, answer in zip(rank, map_in_threads(attempt, rank), strict=True):
        if answer is None:
            removal.cancelled = True
            removal.untried.append(entry)
        elif isinstance(answer, ClusterError):
            removal.failed.append(entry)
            removal.errors.append(str(answer))
        elif answer.action == DELETE:
            requested.append(entry._replace(uid=answer.uid))
        else:
            {GONE: removal.gone, NOT_OWNED: removal.not_owned, RETAINED: removal.retained}[
                answer.action
            ].append(entry)
            removal.notes += [answer.reason] if answer.reason else []
    _await_deletions(terms, requested, removal)


def _delete(terms: Terms, entry: InventoryEntry, live: Object | None) -> RemovalDecision:
    """Request one object's deletion, if allowed, with its read version as a precondition."""
    cluster, ref = terms.cluster, entry.ref
    for attempt in range(ATTEMPTS):
        fate = decide_removal(entry, live, force=terms.force, approved=terms.approved, own=terms.own)
        if fate.action != DELETE or live is None:
            return fate
        spared = None if attempt else terms.retain(entry, live)
        if spared:
            return spared
        try:
            existed = cluster.delete(
                *ref.in_version(entry.api_version),
                uid=fate.uid,
                resource_version=fate.resource_version,
                propagation=propagation_of(ref),
            )
        except (Conflict, NotFound):
            time.sleep(min(LONGEST_PAUSE, 0.01 * 2**attempt))
            live = cluster.get(*ref.in_version(entry.api_version))
        else:
            return fate if existed else RemovalDecision(GONE)
    raise ClusterError(
        f"{ref}: it changes so often that its deletion failed, {ATTEMPTS} times;"
        " find out who writes it so often, or run the playbook again"
    )


def propagation_of(ref: Ref) -> str:
    """How dependents are deleted: with ``Foreground`` a workload is gone only when its pods are."""
    return "Foreground" if ref.group in _RUNS_PODS else "Background"


def _await_deletions(terms: Terms, requested: Sequence[InventoryEntry], removal: Removal) -> None:
    if not requested:
        return
    live = read_metadata(terms.cluster, [Inventory("", entries=tuple(requested))])
    existing = [obj for one in requested if (obj := live.get(one.ref)) and obj["metadata"]["uid"] == one.uid]
    result = wait_until_gone(terms, existing)
    remaining = {one.ref: one for one in result.unhealthy}
    removal.deleted += [entry for entry in requested if entry.ref not in remaining]
    removal.failed += [entry for entry in requested if entry.ref in remaining]
    if result.ended == "cancelled":
        removal.cancelled = True
    lists = DirectLists(terms.cluster)
    removal.errors += [explain_holding(lists, one) for one in result.unhealthy]


def explain_holding(lists: Lists, unhealthy: UnhealthyObject) -> str:
    """Why a deleted object still exists, see :func:`holding_reason`; reads its pods if it has any."""
    return holding_reason(unhealthy, _pods_of(lists, unhealthy))


def _pods_of(lists: Lists, unhealthy: UnhealthyObject) -> list[Object]:
    """The remaining pods of a workload; empty for other objects, and if they can't be read."""
    labels = (((unhealthy.object or {}).get("spec") or {}).get("selector") or {}).get("matchLabels")
    if unhealthy.ref.group not in _RUNS_PODS or not labels:
        return []
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    try:
        return lists.find("v1", "Pod", unhealthy.ref.namespace, label_selector=selector)
    except ClusterError:
        return []


def holding_reason(unhealthy: UnhealthyObject, pods: Sequence[Object] = ()) -> str:
    """Why a deleted object still exists, and who can help, in a sentence."""
    obj: Mapping[str, Any] = unhealthy.object or {}
    finalizers = [str(name) for name in (obj.get("metadata") or {}).get("finalizers") or ()]
    if unhealthy.ref[:2] == NAMESPACE_KIND:
        conditions = (obj.get("status") or {}).get("conditions") or ()
        detail = "; ".join(tidy(c.get("message")) for c in conditions if c.get("status") == "True")
        content = detail or "the cluster does not say of what"
        return f"{unhealthy.ref}: it was deleted, and is not empty yet: {content}"
    others = [name for name in finalizers if name != FOREGROUND]
    if others:
        return (
            f"{unhealthy.ref}: it was deleted, and its finalizers hold it: {', '.join(others)};"
            " look whether the controller behind them still runs, which has to let go of it"
        )
    if finalizers:
        awaited = ", ".join(_about_pod(pod) for pod in pods[:MOST_REASONS]) or "what belongs to it"
        return f"{unhealthy.ref}: it was deleted, and has to wait for {awaited}"
    return f"{unhealthy.ref}: it was deleted, and is still there"


def _about_pod(pod: Mapping[str, Any]) -> str:
    meta = pod["metadata"]
    names = ", ".join(name for name in meta.get("finalizers") or () if name != FOREGROUND)
    node = (pod.get("spec") or {}).get("nodeName")
    return f"pod {meta['name']}" + (f" (held by {names})" if names else f" (on node {node})" if node else "")


def in_served_versions(cluster: Cluster, entries: Iterable[InventoryEntry]) -> list[InventoryEntry]:
    """The entries, each in a version in which the cluster still serves its kind, if there is one.

    The applied version of an object may be gone, while the object still exists in another one.

    Raises:
        ClusterError: the server does not know which versions it serves.
    """
    entries = list(entries)
    recorded = {(entry.api_version, entry.ref.kind) for entry in entries}
    versions = {kind: readable_version(cluster, *kind) for kind in recorded}
    return [entry._replace(api_version=versions[entry.api_version, entry.ref.kind]) for entry in entries]
