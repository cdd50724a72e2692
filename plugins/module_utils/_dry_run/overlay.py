# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The writes of a rehearsal so far, and their effect on its reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from .._cluster.cluster import Cluster, Object, Ref, Resource, ref_of
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
from .object_store import ObjectStore
from .server_rules import depends_on
from .writes import establish

LOCKS = 64
FIRST_VERSION = 10**15
"""resourceVersions of rehearsed objects begin above those of any real cluster."""


class Overlay(ObjectStore):
    """The changes over a cluster, shared by all clients of one rehearsal.

    Dependents that exist only in the cluster are hidden when they are read (:meth:`visible`).

    Args:
        inner: the cluster.
        definitions: CustomResourceDefinitions that are known, and so not read.

    Attributes:
        tolerates_webhook: whether to continue if the webhook of that name does not answer.
        finds_unknown_fields: whether the server looks for them also where a namespace exists only here.
    """

    def __init__(self, inner: Cluster, definitions: Iterable[Object] = ()) -> None:
        super().__init__(version=FIRST_VERSION)
        self._inner = inner
        self._ref_locks = [threading.RLock() for _i in range(LOCKS)]
        self._crd_kinds: KindTable = {}
        for definition in definitions:
            self._crd_kinds.update(kinds_of_crd(definition))
        self._wiped: set[Ref] = set()
        self._owners: dict[str, Object | None] = {}
        self.tolerates_webhook: Callable[[str], bool] = lambda _webhook: False
        self.finds_unknown_fields = False

    def lock_of(self, ref: Ref) -> threading.RLock:
        """The lock that the writer of an object holds."""
        return self._ref_locks[hash(ref) % LOCKS]

    @property
    def has_deletions(self) -> bool:
        """Whether anything has been deleted, so that objects of the cluster may be deleted with it."""
        return bool(self._deleted_owners)

    # Served kinds.

    def _kind_below(self, api_version: str, kind: str) -> Kind | None:
        key = api_version, kind
        resource = self._inner.resource(api_version, kind)
        if resource is None:
            return None
        known = built_in_kinds().get(key) or self._crd_kinds.get(key)
        if known is None:
            return Kind(resource, True, True, is_custom=True)
        return known if known.resource == resource else replace(known, resource=resource)

    def _served_below(self, group: str, kind: str) -> tuple[Resource, ...]:
        return self._inner.served(group, kind)

    def typed(self, kind: Kind) -> Kind:
        """The kind with its schema, for writes that the server can't validate."""
        resource = kind.resource
        key = resource.api_version, resource.kind
        if not kind.is_custom or kind.schema or key in self.kinds:
            return kind
        crd = self._inner.get(f"{CRD_KIND[0]}/v1", CRD_KIND[1], kind.qualified_plural)
        if crd is not None:
            self._crd_kinds.update(kinds_of_crd(crd))
        return self._crd_kinds.get(key, kind)

    def is_new(self, namespace: str) -> bool:
        """Whether a namespace exists only here, so that the cluster can't have objects in it."""
        ref = Ref(*NAMESPACE_KIND, "", namespace)
        return ref in self.originals and self.originals[ref] is None

    def is_redefined(self, kind: Kind) -> bool:
        """Whether the rehearsal has changed the definition of this kind."""
        return (kind.resource.api_version, kind.resource.kind) in self.kinds

    def readable_version(self, kind: Kind) -> str | None:
        """The apiVersion in which the cluster has objects of this kind, or None if it has none."""
        if not self.is_redefined(kind):
            return kind.resource.api_version
        ref = Ref(*CRD_KIND, "", kind.qualified_plural)
        before = self.originals.get(ref)
        if before is None or ref in self._wiped:
            return None
        served = [api_version for api_version, _kind in kinds_of_crd(before)]
        version = kind.resource.api_version
        return version if version in served else next(iter(served), None)

    def _record(self, ref: Ref, before: Object | None, after: Object | None) -> None:
        if is_of_kind(ref, CRD_KIND) and before is None and after is not None:
            establish(after)
        if after is None and (is_of_kind(ref, NAMESPACE_KIND) or is_of_kind(ref, CRD_KIND)):
            self._wiped.add(ref)
        super()._record(ref, before, after)

    # Existing objects.

    def has_real_surroundings(self, ref: Ref, kind: Kind, obj: Object) -> bool:
        """Whether the server has all objects that affect a write, except the object itself."""
        namespace = Ref(*NAMESPACE_KIND, "", ref.namespace)
        deciding = depends_on({**obj, "metadata": {**obj["metadata"], "namespace": ref.namespace}})
        touched = namespace in self._wiped or any(other in self.originals for other in deciding)
        return not (touched or self.is_new(ref.namespace) or self.is_redefined(kind))

    def lacks_only_its_place(self, ref: Ref, kind: Kind) -> bool:
        """Whether the server has the same definition of the kind, and lacks only the namespace."""
        return (
            self.is_new(ref.namespace)
            and not self.is_redefined(kind)
            and self._inner.resource(kind.resource.api_version, ref.kind) is not None
        )

    def visible(self, obj: Object) -> Object | None:
        """An object of the cluster in the rehearsal's view; None if its owner or its namespace is deleted."""
        ref = ref_of(obj)
        if ref.namespace and Ref(*NAMESPACE_KIND, "", ref.namespace) in self._wiped:
            return None
        return self.with_living_owners(obj)

    def _fate(self, owner: Object, namespace: str | None) -> bool | None:
        uid = owner["uid"]
        if uid in self._deleted_owners:
            return self._deleted_owners[uid]
        # Owners have owners: a Pod's is a ReplicaSet, which is deleted with its Deployment.
        resource = self._inner.resource(owner["apiVersion"], owner["kind"])
        if resource is None:
            return None
        scoped_namespace = namespace if resource.namespaced else None
        if uid not in self._owners:
            try:
                self._owners[uid] = self._inner.get(
                    owner["apiVersion"], owner["kind"], owner["name"], scoped_namespace
                )
            except Forbidden:
                # A user who may not read the owner can't delete it, so its dependents stay.
                self._owners[uid] = None
        live = self._owners[uid]
        if live is None or live["metadata"].get("uid") != uid or self.visible(live) is not None:
            return None
        with self.changed:
            self._deleted_owners[uid] = False
        return False
