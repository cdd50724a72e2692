# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a simulated server, the kinds that it serves, and what is deleted with an object."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from .._cluster.cluster import Object, Ref, Resource, group_of
from .._cluster.kinds import CRD_KIND, NAMESPACE_KIND, Kind, is_crd, is_of_kind, kinds_of_crd
from .._cluster.served_versions import preferred_first


@dataclass(frozen=True)
class OverlayChange:
    """The change of one object.

    Attributes:
        ref: its reference.
        before: the object before the first write, or None.
        after: the object after the last write, or None.
        unverified: whether no server has validated at least one write.
        status: whether at least one write was of the object's ``status``, which its controller owns.
    """

    ref: Ref
    before: Object | None
    after: Object | None
    unverified: bool
    status: bool = False


class ObjectStore:
    """Written objects; usable from several threads. A deletion is final at once, whatever its finalizers say.

    A subclass may know more kinds and objects, such as those of a cluster below.

    Args:
        kinds: the served kinds.
        version: the first resourceVersion is the next one.

    Attributes:
        changed: the lock of the store. It notifies of changes if a subclass does.
        objects: the written objects that exist. They must not be changed.
        originals: the states of all written objects before their first writes.
        kinds: the kinds as changed by definitions here; None if one is no longer served.
    """

    def __init__(self, kinds: Iterable[tuple[tuple[str, str], Kind]] = (), version: int = 0) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.objects: dict[Ref, Object] = {}
        self.originals: dict[Ref, Object | None] = {}
        self.kinds: dict[tuple[str, str], Kind | None] = dict(kinds)
        self.version = version
        self._unverified: set[Ref] = set()
        self._status_writes: set[Ref] = set()
        self._deleted_owners: dict[str, bool] = {}

    def changes(self) -> list[OverlayChange]:
        """The changed objects, in the order of their first writes; not to be changed."""
        with self.changed:
            return [
                OverlayChange(ref, before, after, ref in self._unverified, ref in self._status_writes)
                for ref, before, after in ((r, b, self.objects.get(r)) for r, b in self.originals.items())
                if not has_same_content(before, after)
            ]

    def of_kind(self, kind: Kind, namespace: str | None) -> list[Object]:
        """The written objects of a kind; not to be changed."""
        group_kind = kind.group, kind.resource.kind
        with self.changed:
            return [
                obj
                for ref, obj in self.objects.items()
                if ref[:2] == group_kind and (not namespace or ref.namespace == namespace)
            ]

    def kind(self, api_version: str, kind: str) -> Kind | None:
        """The kind, or None if it isn't served."""
        key = api_version, kind
        return self.kinds[key] if key in self.kinds else self._kind_below(api_version, kind)

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        """The kind in every version that is served, preferred version first."""
        with self.changed:
            known = list(self.kinds.items())
        changed = {at: one for (at, name), one in known if name == kind and group_of(at) == group}
        below = self._served_below(group, kind)
        if not changed:
            return below
        unchanged = [one for one in below if one.api_version not in changed]
        return preferred_first([*unchanged, *(one.resource for one in changed.values() if one)])

    def put(
        self, ref: Ref, before: Object | None, after: Object, *, unverified: bool = True, status: bool = False
    ) -> Object:
        """Store the result of a write, unless it changed nothing.

        Args:
            ref: the object's reference.
            before: the object before the write.
            after: the object after the write. It then belongs to the store, and may share no part with
                others.
            unverified: whether no server has validated the write.
            status: whether it was a write of the object's ``status``.

        Returns:
            The object itself. It must not be changed.
        """
        with self.changed:
            if before is not None and has_same_content(before, after):
                return before
            self._deleted_owners.pop(after["metadata"].get("uid") or "", None)
            self._serve(before, after)
            self._record(ref, before, after)
            self._mark(ref, unverified, status)
            self._settle()
            return after

    def delete(
        self, ref: Ref, before: Object, propagation: str = "Background", *, unverified: bool = True
    ) -> None:
        """Delete an object, and the written objects that are deleted with it."""
        with self.changed:
            self._mark(ref, unverified, status=False)
            self._remove(ref, before, is_orphaning=propagation == "Orphan")

    def _mark(self, ref: Ref, unverified: bool, status: bool) -> None:
        if unverified:
            self._unverified.add(ref)
        if status:
            self._status_writes.add(ref)

    def _record(self, ref: Ref, before: Object | None, after: Object | None) -> None:
        """Store one change with a new resourceVersion."""
        self.version += 1
        self.originals.setdefault(ref, before)
        if after is None:
            self.objects.pop(ref, None)
        else:
            after["metadata"]["resourceVersion"] = str(self.version)
            self.objects[ref] = after

    def _settle(self) -> None:
        """End deletions that wait for nothing any more."""

    def _remove(self, ref: Ref, before: Object, *, is_orphaning: bool = False) -> None:
        self._serve(before, None)
        self._record(ref, before, None)
        self._deleted_owners.setdefault(before["metadata"].get("uid") or "", is_orphaning)
        for other in self._contents(ref, before):
            if other in self.objects:
                self.delete(other, self.objects[other])
        self._collect_garbage()

    def _contents(self, ref: Ref, obj: Object) -> list[Ref]:
        """The written objects that are deleted with a namespace or a CRD."""
        if is_of_kind(ref, NAMESPACE_KIND):
            return [other for other in self.objects if other.namespace == ref.name]
        if is_of_kind(ref, CRD_KIND):
            kind = obj["spec"]["group"], obj["spec"]["names"]["kind"]
            return [other for other in self.objects if is_of_kind(other, kind)]
        return []

    def _collect_garbage(self) -> None:
        """Delete the written objects whose owners are gone, and release those that were orphaned."""
        owned = [one for one in self.objects.items() if one[1]["metadata"].get("ownerReferences")]
        for ref, obj in owned:
            # A deletion may have changed it, or deleted it too.
            if self.objects.get(ref) is not obj:
                continue
            updated = self.with_living_owners(obj)
            if updated is None:
                self.delete(ref, obj)
            elif updated is not obj:
                self._record(ref, obj, updated)

    def with_living_owners(self, obj: Object) -> Object | None:
        """The object without its deleted owners; None if it is deleted with them."""
        owners = obj["metadata"].get("ownerReferences") or ()
        if not owners or not self._deleted_owners:
            return obj
        fates = [self._fate(owner, obj["metadata"].get("namespace")) for owner in owners]
        if None not in fates and False in fates:
            return None
        living = [owner for owner, fate in zip(owners, fates, strict=True) if fate is None]
        if len(living) == len(owners):
            return obj
        meta = {key: value for key, value in obj["metadata"].items() if key != "ownerReferences"}
        return {**obj, "metadata": {**meta, "ownerReferences": living} if living else meta}

    def _fate(self, owner: Object, namespace: str | None) -> bool | None:
        """The state of an owner: None if it exists, else whether its dependents were to be orphaned."""
        del namespace
        return self._deleted_owners.get(owner.get("uid") or "")

    def _serve(self, before: Object | None, after: Object | None) -> None:
        for crd, is_served in ((before, False), (after, True)):
            if crd is not None and is_crd(crd):
                kinds = kinds_of_crd(crd)
                self.kinds.update(kinds if is_served else dict.fromkeys(kinds))

    def _kind_below(self, api_version: str, kind: str) -> Kind | None:
        """A kind that no definition here has changed."""
        del api_version, kind
        return None

    def _served_below(self, group: str, kind: str) -> tuple[Resource, ...]:
        """The served versions of a kind without the definitions here."""
        del group, kind
        return ()


def has_same_content(one: Object | None, other: Object | None) -> bool:
    """Whether two states of an object differ at most in its resourceVersion, and in the version it is in."""
    if one is None or other is None or one is other:
        return one is other
    return _content(one) == _content(other)


def _content(obj: Object) -> Object:
    meta = {key: value for key, value in obj["metadata"].items() if key != "resourceVersion"}
    return {**obj, "apiVersion": "", "metadata": meta}
