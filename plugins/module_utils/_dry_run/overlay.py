# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The writes of a rehearsal so far, and their effect on its reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from .._cluster.cluster import Cluster, Object, Ref, Resource, group_of, ref_of
from .._cluster.deep_copy import deep_copy
from .._cluster.errors import Forbidden
from .._cluster.kinds import (
    CRD_KIND,
    NAMESPACE_KIND,
    Kind,
    KindTable,
    built_in_kinds,
    is_of_kind,
    kinds_of_crd,
)
from .._cluster.served_versions import preferred_first
from .error_responses import without_version
from .writes import establish

LOCKS = 64
FIRST_VERSION = 10**15
"""resourceVersions of rehearsed objects begin above those of any real cluster."""


@dataclass(frozen=True)
class OverlayChange:
    """The rehearsed change of one object.

    Attributes:
        ref: its reference.
        before: the object before the rehearsal's first write, or None.
        after: the object after the last write, or None.
        unverified: whether the server could not validate at least one write.
        status: whether at least one write was of the object's ``status``, which its controller owns.
    """

    ref: Ref
    before: Object | None
    after: Object | None
    unverified: bool
    status: bool = False


class Overlay:
    """The changes over a cluster, shared by all clients of one rehearsal; usable from several threads.

    Args:
        inner: the cluster.
        definitions: CustomResourceDefinitions that are known, and so not read.

    Attributes:
        tolerates_webhook: whether to continue if the webhook of that name does not answer.
    """

    def __init__(self, inner: Cluster, definitions: Iterable[Object] = ()) -> None:
        self._inner = inner
        self._lock = threading.RLock()
        self._ref_locks = [threading.RLock() for _i in range(LOCKS)]
        self._changes: dict[Ref, OverlayChange] = {}
        self._kinds: dict[tuple[str, str], Kind | None] = {}
        self._crd_kinds: KindTable = {}
        for definition in definitions:
            self._crd_kinds.update(kinds_of_crd(definition))
        self._wiped: set[Ref] = set()
        self._gone: dict[str, bool] = {}
        self._owners: dict[str, Object | None] = {}
        self._version = FIRST_VERSION
        self.tolerates_webhook: Callable[[str], bool] = lambda _webhook: False

    def lock_of(self, ref: Ref) -> threading.RLock:
        """The lock that the writer of an object holds."""
        return self._ref_locks[hash(ref) % LOCKS]

    def changes(self) -> list[OverlayChange]:
        """The changed objects, in the order of the first writes; not to be changed."""
        with self._lock:
            return [c for c in self._changes.values() if not _same(c.before, c.after)]

    def change_of(self, ref: Ref) -> OverlayChange | None:
        """The change of one object; not to be changed."""
        return self._changes.get(ref)

    def changes_of_kind(self, kind: Kind) -> list[OverlayChange]:
        """The changes of one kind."""
        with self._lock:
            return [
                c for ref, c in self._changes.items() if is_of_kind(ref, (kind.group, kind.resource.kind))
            ]

    def record_write(
        self, ref: Ref, before: Object | None, after: Object, *, unverified: bool, status: bool = False
    ) -> Object:
        """Record a write that turned ``before`` into ``after``, unless it changed nothing.

        Args:
            ref: the object's reference.
            before: the object before the write.
            after: the object after the write. It then belongs to the overlay, and may share no part with
                others.
            unverified: whether the server could not validate the write.
            status: whether it was a write of the object's ``status``.

        Returns:
            A copy of the recorded object.
        """
        with self._lock:
            if _same(before, after):
                return after
            self._version += 1
            after["metadata"]["resourceVersion"] = str(self._version)
            if is_of_kind(ref, CRD_KIND) and before is None:
                establish(after)
            earlier = self._changes.get(ref)
            if earlier is None:
                self._changes[ref] = OverlayChange(ref, before, after, unverified, status)
            else:
                unverified = unverified or earlier.unverified
                status = status or earlier.status
                self._changes[ref] = replace(earlier, after=after, unverified=unverified, status=status)
            if is_of_kind(ref, CRD_KIND):
                self._serve(before, after)
            return deep_copy(after)

    def drop(self, ref: Ref, before: Object, *, unverified: bool, orphan: bool) -> None:
        """Record a deletion: of the object, and of its dependents as far as they were written here.

        Dependents that exist only in the cluster are hidden when they are read (:meth:`visible`).
        """
        with self._lock:
            earlier = self._changes.get(ref) or OverlayChange(ref, before, before, unverified)
            unverified = unverified or earlier.unverified
            self._changes[ref] = replace(earlier, after=None, unverified=unverified)
            uid = before["metadata"].get("uid") or ""
            self._gone[uid] = orphan
            if is_of_kind(ref, NAMESPACE_KIND) or is_of_kind(ref, CRD_KIND):
                self._wiped.add(ref)
            if is_of_kind(ref, CRD_KIND):
                self._serve(before, None)
            for other in list(self._changes.values()):
                if other.after is None:
                    continue
                left = None if _within(other.ref, ref, before) else self._owned(other.after)
                if left is None:
                    self.drop(other.ref, other.after, unverified=True, orphan=False)
                elif left is not other.after:
                    self._changes[other.ref] = replace(other, after=left)

    @property
    def deleted_any(self) -> bool:
        """Whether anything has been deleted, so that objects of the cluster may be deleted with it."""
        return bool(self._gone)

    # Served kinds.

    def kind(self, api_version: str, kind: str) -> Kind | None:
        """The kind with the rehearsal's CRDs, or None if it isn't served."""
        key = api_version, kind
        if key in self._kinds:
            return self._kinds[key]
        resource = self._inner.resource(api_version, kind)
        if resource is None:
            return None
        known = built_in_kinds().get(key) or self._crd_kinds.get(key)
        if known is None:
            return Kind(resource, True, True, is_custom=True)
        return known if known.resource == resource else replace(known, resource=resource)

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        """The kind in every version that is served with the rehearsal's CRDs, preferred version first."""
        with self._lock:
            known = list(self._kinds.items())
        changed = {at: one for (at, name), one in known if name == kind and group_of(at) == group}
        found = self._inner.served(group, kind)
        if not changed:
            return found
        unchanged = [one for one in found if one.api_version not in changed]
        return preferred_first([*unchanged, *(one.resource for one in changed.values() if one)])

    def typed(self, kind: Kind) -> Kind:
        """The kind with its schema, for writes that the server can't validate."""
        resource = kind.resource
        key = resource.api_version, resource.kind
        if not kind.is_custom or kind.schema or key in self._kinds:
            return kind
        crd = self._inner.get(f"{CRD_KIND[0]}/v1", CRD_KIND[1], kind.qualified_plural)
        if crd is not None:
            self._crd_kinds.update(kinds_of_crd(crd))
        return self._crd_kinds.get(key, kind)

    def is_new(self, namespace: str) -> bool:
        """Whether a namespace exists only here, so that the cluster can't have objects in it."""
        change = self._changes.get(Ref(*NAMESPACE_KIND, "", namespace))
        return change is not None and change.before is None

    def redefined(self, kind: Kind) -> bool:
        """Whether the rehearsal has changed the definition of this kind."""
        return (kind.resource.api_version, kind.resource.kind) in self._kinds

    def readable_version(self, kind: Kind) -> str | None:
        """The apiVersion in which the cluster has objects of this kind, or None if it has none."""
        if not self.redefined(kind):
            return kind.resource.api_version
        ref = Ref(*CRD_KIND, "", kind.qualified_plural)
        change = self._changes.get(ref)
        if change is None or change.before is None or ref in self._wiped:
            return None
        served = [api_version for api_version, _kind in kinds_of_crd(change.before)]
        wanted = kind.resource.api_version
        return wanted if wanted in served else next(iter(served), None)

    def _serve(self, before: Object | None, after: Object | None) -> None:
        if before is not None:
            self._kinds.update(dict.fromkeys(kinds_of_crd(before)))
        if after is not None:
            self._kinds.update(kinds_of_crd(after))

    # Existing objects.

    def asks_server(self, ref: Ref, kind: Kind, deciding: list[Ref]) -> bool:
        """Whether the server's dry run can validate a write: it has all objects that affect the write."""
        return ref not in self._changes and self.has_real_surroundings(ref, kind, deciding)

    def has_real_surroundings(self, ref: Ref, kind: Kind, deciding: list[Ref]) -> bool:
        """Whether the server has all objects that affect a write, except the object itself."""
        is_wiped = Ref(*NAMESPACE_KIND, "", ref.namespace) in self._wiped
        touched = any(other in self._changes for other in deciding)
        return not (touched or is_wiped or self.is_new(ref.namespace) or self.redefined(kind))

    def lacks_only_its_place(self, ref: Ref, kind: Kind) -> bool:
        """Whether the server has the same definition of the kind, and lacks only the namespace."""
        return (
            self.is_new(ref.namespace)
            and not self.redefined(kind)
            and self._inner.resource(kind.resource.api_version, ref.kind) is not None
        )

    def visible(self, obj: Object) -> Object | None:
        """An object of the cluster in the rehearsal's view; None if its owner or its namespace is deleted."""
        ref = ref_of(obj)
        if ref.namespace and Ref(*NAMESPACE_KIND, "", ref.namespace) in self._wiped:
            return None
        return self._owned(obj)

    def _owned(self, obj: Object) -> Object | None:
        owners = obj["metadata"].get("ownerReferences") or ()
        if not owners or not self._gone:
            return obj
        fates = [self._fate(owner, obj["metadata"].get("namespace")) for owner in owners]
        if None not in fates and False in fates:
            return None
        left = [owner for owner, fate in zip(owners, fates, strict=True) if fate is None]
        if len(left) == len(owners):
            return obj
        meta = {key: value for key, value in obj["metadata"].items() if key != "ownerReferences"}
        return {**obj, "metadata": {**meta, "ownerReferences": left} if left else meta}

    def _fate(self, owner: Object, namespace: str | None) -> bool | None:
        """The state of an owner: None if it exists, else whether its dependents were to be orphaned."""
        uid = owner["uid"]
        if uid in self._gone:
            return self._gone[uid]
        # Owners have owners: a Pod's is a ReplicaSet, which is deleted with its Deployment.
        resource = self._inner.resource(owner["apiVersion"], owner["kind"])
        if resource is None:
            return None
        place = namespace if resource.namespaced else None
        if uid not in self._owners:
            try:
                self._owners[uid] = self._inner.get(owner["apiVersion"], owner["kind"], owner["name"], place)
            except Forbidden:
                # A user who may not read the owner can't delete it, so its dependents stay.
                self._owners[uid] = None
        found = self._owners[uid]
        if found is None or found["metadata"].get("uid") != uid or self.visible(found) is not None:
            return None
        with self._lock:
            self._gone[uid] = False
        return False


def _within(ref: Ref, container: Ref, obj: Object) -> bool:
    """Whether an object is deleted with a container: a namespace or a CRD, given as it was."""
    if is_of_kind(container, NAMESPACE_KIND):
        return ref.namespace == container.name
    return is_of_kind(container, CRD_KIND) and is_of_kind(
        ref, (obj["spec"]["group"], obj["spec"]["names"]["kind"])
    )


def _same(one: Object | None, other: Object | None) -> bool:
    if one is None or other is None or one is other:
        return one is other
    return without_version(one) == without_version(other)
