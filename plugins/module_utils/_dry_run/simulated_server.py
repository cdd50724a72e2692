# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulated API server, with or without a cluster below it."""

from __future__ import annotations

import uuid
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Self, TypeAlias, TypeVar

from .._cluster.cluster import FIELD_MANAGER, Cluster, Object, Page, Patch, Ref, Resource, group_of
from .._cluster.errors import KindNotServed, NotRehearsable
from .._cluster.kinds import NAMESPACE_KIND, Kind, built_in_kinds
from .._cluster.object_selectors import field_matcher, label_matcher
from .._cluster.served_versions import refuse_doubt
from .._timestamp import timestamp
from .error_responses import (
    already_exists_error,
    copy_in_version,
    not_found_error,
    refuse_namespace,
    refuse_precondition,
    validated_ref,
)
from .object_store import ObjectStore
from .writes import Write

Answer = TypeVar("Answer")
Applied: TypeAlias = "tuple[Object | None, Object] | None"
"""An object before an apply and after it; None if the server below can't know."""


class SimulatedServer(Cluster):
    """Reads and writes of an API server, on objects in memory.

    By itself it has only the objects of its store. A subclass may simulate the server of a cluster: it also
    finds that cluster's objects, and asks its API server about writes whose results that can know.
    """

    _store: ObjectStore
    _field_manager = FIELD_MANAGER

    @abstractmethod
    def _call(self, verb: str, ref: Ref, dry_run: bool = False) -> AbstractContextManager[object]:
        """The time of one call, in which no other call writes the object."""

    # The cluster below.

    def _find(self, kind: Kind, ref: Ref) -> Object | None:
        """The object; not to be changed."""
        del kind
        return self._store.objects.get(ref)

    def _list_below(self, kind: Kind, namespace: str | None, **how: Any) -> Page:
        """The unwritten objects that are selected, and the resourceVersion of a list."""
        del kind, namespace, how
        return Page([], str(self._store.version))

    def _ask(
        self, verb: str, kind: Kind, ref: Ref, obj: Object, ask: Callable[[Cluster], Answer]
    ) -> Answer | None:
        """The answer of the server below to a write; None if it can't know its result."""
        del verb, kind, ref, obj, ask
        return None

    def _applied_below(self, kind: Kind, ref: Ref, obj: Object, *, force: bool, dry_run: bool) -> Applied:
        """The answer of the server below to an apply, and the object before it: both of one moment.

        Otherwise a controller's write in between would look like a part of the apply.
        """
        del kind, ref, obj, force, dry_run
        return None

    def _completed(self, kind: Kind, ref: Ref, after: Object) -> Object | None:
        """The result of a write as the server below completes it; None if it can't."""
        del kind, ref, after
        return None

    def _refuse_creation(self, verb: str, kind: Kind, ref: Ref, obj: Object) -> None:
        """Raise if an object can't be created in its namespace."""
        del obj
        if ref.namespace:
            refuse_namespace(verb, kind, ref, self._namespace(ref.namespace))

    def _namespace(self, name: str) -> Object | None:
        """A namespace that objects are created in; not to be changed."""
        return self._lookup(Ref(*NAMESPACE_KIND, "", name))

    def _unavailable(self) -> Mapping[str, str]:
        """The group-versions whose kinds are unknown, each with the reason."""
        return {}

    def _typed(self, kind: Kind) -> Kind:
        """The kind with its schema."""
        return kind

    def _react(self) -> None:
        """Do what follows a write."""

    # The interface Cluster.

    def with_field_manager(self, name: str) -> Self:
        other = copy(self)
        other._field_manager = name
        return other

    def resource(self, api_version: str, kind: str) -> Resource | None:
        served_kind = self._store.kind(api_version, kind)
        return served_kind.resource if served_kind else None

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        return self._store.served(group, kind)

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        served_kind = self._store.kind(api_version, kind)
        if served_kind is None:
            self._refuse_doubt(api_version, kind)
            return None
        ref = validated_ref(served_kind, name, namespace)
        with self._call("get", ref):
            obj = self._find(served_kind, ref)
            return copy_in_version(obj, api_version) if obj else None

    def list(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> Page:
        served_kind = self._store.kind(api_version, kind)
        if served_kind is None:
            self._refuse_doubt(api_version, kind)
            return Page([], "")
        has_labels, has_fields = label_matcher(label_selector), field_matcher(field_selector)
        how = {"label_selector": label_selector, "field_selector": field_selector}
        with self._call("list", served_kind.ref("", namespace)):
            below = self._list_below(served_kind, namespace, **how, metadata_only=metadata_only)
            written = self._store.of_kind(served_kind, namespace)
            items = [*below.items, *(obj for obj in written if has_labels(obj) and has_fields(obj))]
            items.sort(key=_storage_key)
            copies = [copy_in_version(obj, api_version, metadata_only=metadata_only) for obj in items]
            return Page(copies, below.resource_version)

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        kind = self._served(obj["apiVersion"], obj["kind"])
        ref = validated_ref(kind, obj["metadata"].get("name") or "", obj["metadata"].get("namespace"))
        with self._call("apply", ref, dry_run):
            if answered := self._applied_below(kind, ref, obj, force=force, dry_run=dry_run):
                return self._keep(ref, *answered, dry_run, unverified=False)
            live = self._find(kind, ref)
            if live is None:
                self._refuse_creation("apply", kind, ref, obj)
            after = self._write(kind).applied(live, obj, force=force)
            return self._keep_completed(kind, ref, live, after, dry_run)

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        kind = self._served(obj["apiVersion"], obj["kind"])
        meta = obj["metadata"]
        name = meta.get("name") or f"{meta.get('generateName') or ''}{uuid.uuid4().hex[:5]}"
        ref = validated_ref(kind, name, meta.get("namespace"))
        with self._call("create", ref, dry_run):
            answer = self._ask("create", kind, ref, obj, lambda server: server.create(obj, dry_run=True))
            if answer is not None:
                if "name" not in answer["metadata"]:
                    # A review is answered, and no object.
                    return answer
                ref = kind.ref(answer["metadata"]["name"], ref.namespace)
                return self._keep(ref, None, answer, dry_run, unverified=False)
            if self._find(kind, ref) is not None:
                raise already_exists_error(kind, ref)
            self._refuse_creation("create", kind, ref, obj)
            after = self._write(kind).created({**obj, "metadata": {**meta, "name": name}})
            return self._keep(ref, None, after, dry_run)

    def _patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Patch,
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        served_kind = self._served(api_version, kind)
        ref = validated_ref(served_kind, name, namespace)
        if subresource not in ("", "status"):
            raise NotRehearsable(f"patch {ref}: what a write to {subresource} does cannot be predicted")
        with self._call("patch", ref, dry_run):
            live = self._find(served_kind, ref)
            if live is None:
                raise not_found_error("patch", served_kind, ref)
            address = api_version, kind, name, namespace
            answer = self._ask(
                "patch",
                served_kind,
                ref,
                live,
                lambda server: server.patch(*address, patch, subresource=subresource, dry_run=True),
            )
            if answer is not None:
                return self._keep(ref, live, answer, dry_run, unverified=False, status=bool(subresource))
            if subresource and not self._typed(served_kind).has_status:
                raise KindNotServed(api_version, f"{kind}/{subresource}")
            after = self._write(served_kind).patched(copy_in_version(live, api_version), patch, subresource)
            if subresource:
                return self._keep(ref, live, after, dry_run, status=True)
            return self._keep_completed(served_kind, ref, live, after, dry_run)

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: str = "Background",
        dry_run: bool = False,
    ) -> bool:
        served_kind = self._served(api_version, kind)
        ref = validated_ref(served_kind, name, namespace)
        with self._call("delete", ref, dry_run):
            live = self._find(served_kind, ref)
            if live is None:
                return False
            address = api_version, kind, name, namespace
            how: dict[str, Any] = {"uid": uid, "resource_version": resource_version}
            exists = self._ask(
                "delete",
                served_kind,
                ref,
                live,
                lambda server: server.delete(*address, **how, propagation=propagation, dry_run=True),
            )
            if exists is False:
                return False
            if exists is None:
                refuse_precondition(served_kind, live, uid, resource_version)
            if not dry_run:
                self._store.delete(ref, live, propagation, unverified=exists is None)
                self._react()
            return True

    def _keep_completed(
        self, kind: Kind, ref: Ref, live: Object | None, after: Object, dry_run: bool
    ) -> Object:
        """Keep a write that was computed here, completed by the server below if it can."""
        completed = self._completed(kind, ref, after)
        return self._keep(ref, live, completed or after, dry_run, unverified=completed is None)

    def _keep(
        self,
        ref: Ref,
        before: Object | None,
        after: Object,
        dry_run: bool,
        *,
        unverified: bool = True,
        status: bool = False,
    ) -> Object:
        if dry_run:
            return after
        stored = self._store.put(ref, before, after, unverified=unverified, status=status)
        answer = copy_in_version(stored, after["apiVersion"])
        self._react()
        return answer

    def _write(self, kind: Kind) -> Write:
        return Write(self._typed(kind), self._field_manager, timestamp(), self._lookup)

    def _lookup(self, ref: Ref) -> Object | None:
        """An object of a built-in kind, by its reference only; not to be changed."""
        if obj := self._store.objects.get(ref):
            return obj
        kinds = (kind for (_at, name), kind in built_in_kinds().items() if (kind.group, name) == ref[:2])
        return next((self._find(kind, ref) for kind in kinds), None)

    def _served(self, api_version: str, kind: str) -> Kind:
        served_kind = self._store.kind(api_version, kind)
        if served_kind is None:
            raise KindNotServed(api_version, kind)
        return served_kind

    def _refuse_doubt(self, api_version: str, kind: str) -> None:
        versions = self.served(group_of(api_version), kind)
        refuse_doubt(api_version, kind, versions, self._unavailable())

    def _pod(self, verb: str, name: str, namespace: str) -> Ref:
        kind = self._served("v1", "Pod")
        ref = validated_ref(kind, name, namespace)
        if self._find(kind, ref) is None:
            raise not_found_error(verb, kind, ref)
        return ref


def _storage_key(obj: Object) -> str:
    meta = obj["metadata"]
    return f"{meta.get('namespace') or ''}/{meta['name']}"
