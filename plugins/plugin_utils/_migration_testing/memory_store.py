# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of an in-memory API server: versions, history, and cascading deletions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...module_utils._cluster.cluster import Event, Object, Ref
from ...module_utils._cluster.kinds import NAMESPACE_KIND, built_in_kinds, is_of_kind
from ...module_utils._cluster.owner_references import is_owned_by
from ...module_utils._deep_copy import deep_copy
from ...module_utils._dry_run.object_store import ObjectStore
from ...module_utils._timestamp import timestamp

FOREGROUND = "foregroundDeletion"
PROMPT_FINALIZERS = frozenset({"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"})
"""Finalizers that Kubernetes' controllers remove as soon as the object is not in use."""
SLOW = "kyma-project.io/slow-deletion"
SLOW_KINDS = frozenset(
    {"CustomResourceDefinition", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "Pod"}
)
"""Kinds whose deletions controllers or kubelets must end."""


class Happened(NamedTuple):
    """An entry of the history, for watches.

    Attributes:
        version: the version of the store after it.
        ref: the object.
        event: the event of a watch of all objects.
        before: the object before; None if it did not exist. Must not be changed.
    """

    version: int
    ref: Ref
    event: Event
    before: Object | None

    def seen_through(self, matches: Callable[[Object], bool]) -> Event | None:
        """The event of a watch with a selector; None if it has no event.

        The event of an object that no longer matches has its last matching state.
        """
        after = None if self.event.type == "DELETED" else self.event.object
        matched = self.before is not None and matches(self.before)
        if after is not None and matches(after):
            return Event("MODIFIED" if matched else "ADDED", after)
        if self.before is None or not matched:
            return None
        meta = {**self.before["metadata"], "resourceVersion": str(self.version)}
        return Event("DELETED", {**self.before, "metadata": meta})


class MemoryStore(ObjectStore):
    """Objects with their history, whose deletions wait for finalizers.

    Attributes:
        history: all changes.
        oldest: watches from an older version raise Gone.
        slow: the objects whose deletions took time until :meth:`end_deletions`; None if none takes time.
    """

    def __init__(self) -> None:
        super().__init__(built_in_kinds().items())
        self.history: list[Happened] = []
        self.oldest = 0
        self.slow: dict[Ref, None] | None = None

    def end_deletions(self) -> None:
        """End all deletions that take time."""
        with self.changed:
            for ref in self.slow or ():
                obj = deep_copy(self.objects.get(ref))
                if obj and SLOW in obj["metadata"].get("finalizers", ()):
                    obj["metadata"]["finalizers"].remove(SLOW)
                    self._record(ref, self.objects[ref], obj)
            self._settle()

    def delete(
        self, ref: Ref, before: Object, propagation: str = "Background", *, unverified: bool = True
    ) -> None:
        """Begin an object's deletion. End it, and its cascading deletions, as far as finalizers allow."""
        del unverified
        obj = deep_copy(before)
        meta = obj["metadata"]
        if meta.get("deletionTimestamp"):
            return
        finalizers = [name for name in meta.get("finalizers") or () if name not in PROMPT_FINALIZERS]
        if propagation == "Foreground":
            finalizers.append(FOREGROUND)
        if self.slow is not None and (propagation != "Background" or ref.kind in SLOW_KINDS):
            finalizers.append(SLOW)
            self.slow[ref] = None
        meta["finalizers"] = finalizers
        meta.update(deletionTimestamp=timestamp(), deletionGracePeriodSeconds=0)
        if meta.get("generation"):
            meta["generation"] += 1
        if is_of_kind(ref, NAMESPACE_KIND):
            obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
        contents = self._contents(ref, obj)
        if finalizers or contents:
            self._record(ref, before, obj)
        self.objects[ref] = obj
        if propagation == "Orphan":
            self._deleted_owners[meta["uid"]] = True
            self._collect_garbage()
        elif propagation == "Foreground":
            contents += self._dependents(meta["uid"])
        for other in contents:
            if other in self.objects:
                how = propagation if propagation == "Foreground" else "Background"
                self.delete(other, self.objects[other], how)
        self._settle()

    def _settle(self) -> None:
        settled = False
        while not settled:
            settled = True
            for ref, obj in list(self.objects.items()):
                meta = obj["metadata"]
                if not meta.get("deletionTimestamp") or ref not in self.objects:
                    continue
                waits_for = list(meta.get("finalizers") or ())
                if FOREGROUND in waits_for and not self._dependents(meta["uid"]):
                    waits_for.remove(FOREGROUND)
                if not waits_for and not self._contents(ref, obj):
                    self._remove(ref, obj)
                    settled = False

    def _dependents(self, uid: str) -> list[Ref]:
        return [ref for ref, obj in self.objects.items() if is_owned_by(obj, uid)]

    def _record(self, ref: Ref, before: Object | None, after: Object | None) -> None:
        super()._record(ref, before, after)
        type_ = "DELETED" if after is None else "MODIFIED" if before else "ADDED"
        if obj := deep_copy(after or before):
            obj["metadata"]["resourceVersion"] = str(self.version)
            self.history.append(Happened(self.version, ref, Event(type_, obj), before))
        self.changed.notify_all()
