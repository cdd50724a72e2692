# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of an in-memory API server: versions, history, and cascading deletions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Event,
    Object,
    Ref,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import (
    CRD_KIND,
    NAMESPACE_KIND,
    Kind,
    KindTable,
    built_in_kinds,
    is_of_kind,
    kinds_of_crd,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.timestamp import timestamp
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.error_responses import (
    without_version,
)

FOREGROUND = "foregroundDeletion"
PROMPT_FINALIZERS = frozenset({"kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"})
"""Finalizers that Kubernetes' controllers remove as soon as the object is not in use."""


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


class Store:
    """The server's objects. Callers of a method must hold :attr:`changed`."""

    def __init__(self) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.objects: dict[Ref, Object] = {}
        self.kinds: KindTable = built_in_kinds()
        self.history: list[Happened] = []
        self.version = 0
        self.oldest = 0

    def find(self, ref: Ref) -> Object | None:
        """The stored object itself. It must not be changed."""
        return self.objects.get(ref)

    def of_kind(self, kind: Kind, namespace: str | None) -> Iterator[Object]:
        """The stored objects of a kind, in the order in which a server lists them."""
        for ref in sorted(self.objects, key=lambda ref: ref.key):
            if (ref.group, ref.kind) == (kind.group, kind.resource.kind) and (
                not namespace or ref.namespace == namespace
            ):
                yield self.objects[ref]

    def put(self, new: Object) -> Object:
        """Store an object with a new resourceVersion, unless it is unchanged. Returns the stored object."""
        ref = ref_of(new)
        old = self.objects.get(ref)
        if old is not None:
            # All versions of a kind are one object, stored in one of them.
            new = {**new, "apiVersion": old["apiVersion"]}
        if old is not None and without_version(old) == without_version(new):
            return old
        self._serve(old, new)
        self._record(ref, "MODIFIED" if old else "ADDED", new)
        self.objects[ref] = new
        self._settle()
        return new

    def delete(self, ref: Ref, propagation: str) -> None:
        """Begin an object's deletion. End it, and its cascading deletions, as far as finalizers allow."""
        obj = deep_copy(self.objects[ref])
        meta = obj["metadata"]
        if meta.get("deletionTimestamp"):
            return
        finalizers = [name for name in meta.get("finalizers") or () if name not in PROMPT_FINALIZERS]
        if propagation == "Foreground":
            finalizers.append(FOREGROUND)
        meta["finalizers"] = finalizers
        meta.update(deletionTimestamp=timestamp(), deletionGracePeriodSeconds=0)
        if meta.get("generation"):
            meta["generation"] += 1
        if is_of_kind(ref, NAMESPACE_KIND):
            obj["status"] = {**(obj.get("status") or {}), "phase": "Terminating"}
        contents = list(self._contents(ref, obj))
        if finalizers or contents:
            self._record(ref, "MODIFIED", obj)
        self.objects[ref] = obj
        if propagation == "Orphan":
            for dependent in self._dependents(meta["uid"]):
                self._disown(dependent, meta["uid"])
        elif propagation == "Foreground":
            contents += self._dependents(meta["uid"])
        for other in contents:
            if other in self.objects:
                self.delete(other, propagation if propagation == "Foreground" else "Background")
        self._settle()

    def _settle(self) -> None:
        """Remove objects that are being deleted and have nothing left to wait for."""
        settled = False
        while not settled:
            settled = True
            for ref, obj in list(self.objects.items()):
                meta = obj["metadata"]
                if ref not in self.objects or not meta.get("deletionTimestamp"):
                    continue
                waits_for = list(meta.get("finalizers") or ())
                if FOREGROUND in waits_for and not self._dependents(meta["uid"]):
                    waits_for.remove(FOREGROUND)
                if not waits_for and not any(self._contents(ref, obj)):
                    self._remove(ref)
                    settled = False

    def _remove(self, ref: Ref) -> None:
        obj = self.objects[ref]
        self._serve(obj, None)
        self._record(ref, "DELETED", obj)
        del self.objects[ref]
        uid = obj["metadata"]["uid"]
        living = {other["metadata"]["uid"] for other in self.objects.values()}
        for dependent in self._dependents(uid):
            if dependent not in self.objects:  # Already deleted with another dependent that also owned it.
                continue
            owners = self.objects[dependent]["metadata"]["ownerReferences"]
            if any(owner["uid"] in living for owner in owners):
                self._disown(dependent, uid)
            else:
                self.delete(dependent, "Background")

    def _contents(self, ref: Ref, obj: Object) -> Iterator[Ref]:
        """Objects that are deleted with a namespace or a CRD."""
        if is_of_kind(ref, NAMESPACE_KIND):
            yield from (other for other in self.objects if other.namespace == ref.name)
        elif is_of_kind(ref, CRD_KIND):
            names = obj["spec"]["group"], obj["spec"]["names"]["kind"]
            yield from (other for other in self.objects if other[:2] == names)

    def _dependents(self, uid: str) -> list[Ref]:
        return [
            ref
            for ref, obj in self.objects.items()
            if any(owner.get("uid") == uid for owner in obj["metadata"].get("ownerReferences") or ())
        ]

    def _disown(self, ref: Ref, uid: str) -> None:
        obj = deep_copy(self.objects[ref])
        owners = [owner for owner in obj["metadata"]["ownerReferences"] if owner["uid"] != uid]
        obj["metadata"]["ownerReferences"] = owners
        if not owners:
            del obj["metadata"]["ownerReferences"]
        self._record(ref, "MODIFIED", obj)
        self.objects[ref] = obj

    def _serve(self, old: Object | None, new: Object | None) -> None:
        for crd, served in ((old, False), (new, True)):
            if crd is not None and is_of_kind(ref_of(crd), CRD_KIND):
                for key, kind in kinds_of_crd(crd).items():
                    if served:
                        self.kinds[key] = kind
                    else:
                        self.kinds.pop(key, None)

    def _record(self, ref: Ref, type_: str, obj: Object) -> None:
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        event = Event(type_, deep_copy(obj))
        self.history.append(Happened(self.version, ref, event, self.objects.get(ref)))
        self.changed.notify_all()
