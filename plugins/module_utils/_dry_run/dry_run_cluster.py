# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that accepts writes without executing them: the base of ``--check --diff``."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .._cluster.cluster import (
    EXEC_BYTES,
    EXEC_SECONDS,
    FIELD_MANAGER,
    Cluster,
    Event,
    ExecResult,
    Object,
    Page,
    Ref,
    Resource,
    WriteTerms,
    group_of,
    ref_of,
)
from .._cluster.deep_copy import deep_copy
from .._cluster.errors import (
    AlreadyExists,
    ApiError,
    ClusterError,
    Forbidden,
    Invalid,
    KindNotServed,
    NotRehearsable,
    is_dry_run_refused,
    silent_webhook,
)
from .._cluster.fields.json_patch import merge_patch_between
from .._cluster.kinds import CRD_KIND, NAMESPACE_KIND, Kind, built_in_kinds, is_of_kind
from .._cluster.object_selectors import field_matcher, label_matcher
from .._cluster.served_versions import refuse_doubt
from .._cluster.substitute import Substitute, name_original_of
from .._cluster.timestamp import timestamp
from .error_responses import (
    already_exists,
    copy_in_version,
    not_found,
    refuse_namespace,
    refuse_precondition,
    validated_ref,
)
from .overlay import Overlay, OverlayChange
from .server_rules import depends_on
from .writes import Write

if TYPE_CHECKING:
    from .._cluster.stop_signal import StopSignal

Answer = TypeVar("Answer")

ANY_NAMESPACE = "default"
"""A namespace that every cluster has."""
TRIES = 5
"""How often to ask again if someone writes an object between two requests."""
LONGEST_WATCH = 0.2
"""The length of a watch in seconds: a rehearsal has no events, but a caller that loops must not spin."""


class DryRunCluster(Cluster):
    """An overlay over another cluster: it stores writes in memory, and later reads see them.

    The inner cluster's dry run validates the first write of an object, and its errors are raised unchanged.
    Later writes are computed here, and the dry run completes them. The server can't validate a write if the
    object, its namespace, its CRD or its StorageClass exists only here, or if a tolerated webhook does not
    answer. Such a write is computed here by the server's rules, and marked *unverified*. Nothing is ever
    written to the inner cluster.

    A deletion is final at once: the overlay assumes that finalizers are served, and removes the objects of
    the garbage collector immediately. ``exec`` raises :class:`~.errors.NotRehearsable`.

    Args:
        inner: the cluster.
        definitions: CustomResourceDefinitions that the caller knows: they are not read, as many users may
            not read them.
    """

    def __init__(self, inner: Cluster, definitions: Iterable[Object] = ()) -> None:
        self._inner = inner
        self._field_manager = FIELD_MANAGER
        self._overlay = Overlay(inner, definitions)

    def changes(self) -> list[OverlayChange]:
        """The result of the writes so far, per object in the order of their first writes.

        Objects that were created and deleted again are left out. A change may be of ``managedFields`` only.
        The caller must not change the objects: they belong to the rehearsal.
        """
        return self._overlay.changes()

    def tolerate_webhooks(self, webhook: Callable[[str], bool]) -> None:
        """Continue without the server's validation if a webhook doesn't answer it.

        Args:
            webhook: whether to continue, by the name of the webhook.
        """
        self._overlay.tolerates_webhook = webhook

    @property
    def unverified(self) -> set[Ref]:
        """The objects with a write that the server could not validate."""
        return {change.ref for change in self.changes() if change.unverified}

    def with_field_manager(self, name: str) -> DryRunCluster:
        other = DryRunCluster(self._inner.with_field_manager(name))
        other._field_manager = name
        other._overlay = self._overlay
        return other

    def with_write_terms(self, terms: WriteTerms) -> DryRunCluster:
        # Nothing is written.
        del terms
        return self

    def token(self, service_account: str, namespace: str, *, bound_to: Object, seconds: int) -> str:
        return self._inner.token(service_account, namespace, bound_to=bound_to, seconds=seconds)

    def reading_from(self, inner: Cluster) -> DryRunCluster:
        """The same overlay over another client of the same cluster, such as one that caches its answers."""
        other = DryRunCluster(inner)
        other._field_manager = self._field_manager
        other._overlay = self._overlay
        return other

    def resource(self, api_version: str, kind: str) -> Resource | None:
        found = self._overlay.kind(api_version, kind)
        return found.resource if found else None

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        return self._overlay.served(group, kind)

    def server_version(self) -> str:
        return self._inner.server_version()

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        found = self._overlay.kind(api_version, kind)
        if found is None:
            refuse_doubt(api_version, kind, self.served(group_of(api_version), kind), {})
            return None
        current = self._current(found, validated_ref(found, name, namespace))
        return copy_in_version(current, api_version) if current else None

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
        found = self._overlay.kind(api_version, kind)
        if found is None:
            refuse_doubt(api_version, kind, self.served(group_of(api_version), kind), {})
            return Page([], "")
        has_labels, has_fields = label_matcher(label_selector), field_matcher(field_selector)
        page = Page([], "0")
        if readable := self._overlay.readable_version(found):
            page = self._inner.list(
                readable,
                kind,
                namespace,
                label_selector=label_selector,
                field_selector=field_selector,
                metadata_only=metadata_only,
            )
        changes = self._overlay.changes_of_kind(found)
        written = {change.ref for change in changes}
        seen = (self._overlay.visible(item) for item in page.items if ref_of(item) not in written)
        items = [copy_in_version(item, api_version) for item in seen if item is not None]
        items += [
            copy_in_version(change.after, api_version, metadata_only=metadata_only)
            for change in changes
            if change.after is not None
            and (not namespace or change.ref.namespace == namespace)
            and has_labels(change.after)
            and has_fields(change.after)
        ]
        return Page(sorted(items, key=lambda item: ref_of(item).key), page.resource_version)

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        kind = self._served(obj["apiVersion"], obj["kind"])
        ref = validated_ref(kind, obj["metadata"].get("name") or "", obj["metadata"].get("namespace"))
        with self._overlay.lock_of(ref):
            if self._asks_server("apply", ref, kind, obj):
                answer = self._heard(lambda: self._answered(kind, ref, obj, force=force, dry_run=dry_run))
                if answer is not None:
                    return answer
            live = self._current(kind, ref)
            if live is None:
                self._refuse_namespace("apply", kind, ref)
                self._refuse_elsewhere("apply", kind, ref, obj)
            after = self._write(kind).applied(live, obj, force=force)
            return self._kept(kind, ref, live, after, dry_run)

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        kind = self._served(obj["apiVersion"], obj["kind"])
        meta = obj["metadata"]
        name = meta.get("name") or f"{meta.get('generateName') or ''}{uuid.uuid4().hex[:5]}"
        ref = validated_ref(kind, name, meta.get("namespace"))
        with self._overlay.lock_of(ref):
            if self._asks_server("create", ref, kind, obj):
                answer = self._heard(lambda: self._inner.create(obj, dry_run=True))
                if answer is not None and "name" not in answer["metadata"]:
                    # A review is answered, and no object.
                    return answer
                if answer is not None:
                    ref = kind.ref(answer["metadata"]["name"], ref.namespace)
                    return self._verified(ref, None, answer, dry_run)
            if self._current(kind, ref) is not None:
                raise already_exists(kind, ref)
            self._refuse_namespace("create", kind, ref)
            self._refuse_elsewhere("create", kind, ref, obj)
            after = self._write(kind).created({**obj, "metadata": {**meta, "name": name}})
            return self._unverified(ref, None, after, dry_run)

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None,
        patch: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        subresource: str = "",
        dry_run: bool = False,
    ) -> Object:
        found = self._served(api_version, kind)
        ref = validated_ref(found, name, namespace)
        if subresource not in ("", "status"):
            raise NotRehearsable(f"patch {ref}: what a write to {subresource} does cannot be predicted")
        with self._overlay.lock_of(ref):
            live = self._current(found, ref)
            if live is None:
                raise not_found("patch", found, ref)
            if self._asks_server("patch", ref, found, live):
                answer = self._heard(
                    lambda: self._inner.patch(
                        api_version, kind, name, namespace, patch, subresource=subresource, dry_run=True
                    )
                )
                if answer is not None:
                    return self._verified(ref, live, answer, dry_run, status=bool(subresource))
            typed = self._overlay.typed(found)
            if subresource and not typed.has_status:
                raise KindNotServed(api_version, f"{kind}/{subresource}")
            after = self._write(typed).patched(copy_in_version(live, api_version), patch, subresource)
            if subresource:
                return self._unverified(ref, live, after, dry_run, status=True)
            return self._kept(found, ref, live, after, dry_run)

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
        found = self._served(api_version, kind)
        ref = validated_ref(found, name, namespace)
        with self._overlay.lock_of(ref):
            live = self._current(found, ref)
            if live is None:
                return False
            there: bool | None = None
            if self._asks_server("delete", ref, found, live):
                there = self._heard(
                    lambda: self._inner.delete(
                        api_version,
                        kind,
                        name,
                        namespace,
                        uid=uid,
                        resource_version=resource_version,
                        propagation=propagation,
                        dry_run=True,
                    )
                )
                if there is False:
                    return False
            if there is None:
                refuse_precondition(found, live, uid, resource_version)
            if not dry_run:
                self._overlay.drop(ref, live, unverified=there is None, orphan=propagation == "Orphan")
            return True

    def watch(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        resource_version: str,
        seconds: float,
        field_selector: str = "",
        label_selector: str = "",
        metadata_only: bool = False,
        bookmarks: bool = False,
        stop: StopSignal | None = None,
    ) -> Iterator[Event]:
        del api_version, kind, namespace, resource_version
        del field_selector, label_selector, metadata_only, bookmarks
        if stop is not None:
            stop.wait(min(seconds, LONGEST_WATCH))
        else:
            time.sleep(min(seconds, LONGEST_WATCH))
        return iter(())

    def logs(
        self, name: str, namespace: str, *, container: str | None = None, tail_lines: int | None = None
    ) -> str:
        self._pod("read the log of", name, namespace)
        return self._inner.logs(name, namespace, container=container, tail_lines=tail_lines)

    def exec(
        self,
        name: str,
        namespace: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        seconds: float = EXEC_SECONDS,
        max_bytes: int = EXEC_BYTES,
    ) -> ExecResult:
        del seconds, max_bytes
        ref = self._pod("run a command in", name, namespace)
        place = f"{ref}, container {container}" if container else str(ref)
        raise NotRehearsable(f"run a command in {place}: what {command[0]} does there cannot be predicted")

    def _current(self, kind: Kind, ref: Ref) -> Object | None:
        """The object in its rehearsed state; not to be changed."""
        change = self._overlay.change_of(ref)
        if change is not None:
            return change.after
        version = self._overlay.readable_version(kind)
        if version is None or self._overlay.is_new(ref.namespace):
            return None
        found = self._inner.get(version, ref.kind, ref.name, ref.namespace or None)
        return self._overlay.visible(found) if found else None

    def _asks_server(self, verb: str, ref: Ref, kind: Kind, obj: Object) -> bool:
        named = {**obj, "metadata": {**obj["metadata"], "namespace": ref.namespace}}
        if not self._overlay.asks_server(ref, kind, depends_on(named)):
            return False
        # An object deleted with its owner still exists on the server, which would treat this as an update.
        return verb == "delete" or not self._overlay.deleted_any or not self._hidden(kind, ref)

    def _heard(self, ask: Callable[[], Answer]) -> Answer | None:
        """The server's answer; None if it has none because of a tolerated webhook.

        That is a webhook that does not answer, or one without support for dry runs.
        """
        try:
            return ask()
        except ApiError as error:
            webhook = silent_webhook(error)
            is_tolerated = bool(webhook) and self._overlay.tolerates_webhook(webhook)
            if not is_tolerated and not is_dry_run_refused(error):
                raise
        return None

    def _hidden(self, kind: Kind, ref: Ref) -> bool:
        found = self._inner.get(kind.resource.api_version, ref.kind, ref.name, ref.namespace or None)
        return found is not None and self._overlay.visible(found) is None

    def _answered(self, kind: Kind, ref: Ref, obj: Object, *, force: bool, dry_run: bool) -> Object:
        """The server's answer to an apply, and the object before it: both of one moment.

        Otherwise a controller's write in between would look like a part of the apply.
        """
        before: Object | None = None
        for _attempt in range(TRIES):
            after = self._inner.apply(obj, force=force, dry_run=True)
            # A dry run answers with the resourceVersion of the present object.
            version = after["metadata"].get("resourceVersion")
            if not version:
                return self._verified(ref, None, after, dry_run)
            if dry_run:
                break
            before = self._inner.get(kind.resource.api_version, ref.kind, ref.name, ref.namespace or None)
            if before is None or before["metadata"].get("resourceVersion") == version:
                break
        return self._verified(ref, before, after, dry_run)

    def _verified(
        self, ref: Ref, before: Object | None, after: Object, dry_run: bool, *, status: bool = False
    ) -> Object:
        return (
            after
            if dry_run
            else self._overlay.record_write(ref, before, after, unverified=False, status=status)
        )

    def _kept(self, kind: Kind, ref: Ref, live: Object | None, after: Object, dry_run: bool) -> Object:
        """Record a write that was computed here, completed by the server if it can."""
        completed = self._completed(kind, ref, after)
        if completed is None:
            return self._unverified(ref, live, after, dry_run)
        return self._verified(ref, live, deep_copy(completed), dry_run)

    def _completed(self, kind: Kind, ref: Ref, after: Object) -> Object | None:
        """The server's result of a further write to an object that it has, or None if it can't answer.

        A removed field may return as a default, which only the server knows.
        """
        change = self._overlay.change_of(ref)
        there = change.before if change and change.after else None
        named = {**after, "metadata": {**after["metadata"], "namespace": ref.namespace}}
        if (
            there is None
            or there["apiVersion"] != after["apiVersion"]
            or there["metadata"].get("uid") != after["metadata"].get("uid")
            or (is_of_kind(ref, CRD_KIND) and there.get("status") != after.get("status"))
            or not self._overlay.has_real_surroundings(ref, kind, depends_on(named))
        ):
            return None
        patch = merge_patch_between(_intent_of(there), _intent_of(after))
        if not patch:
            return after
        answer = self._heard(
            lambda: self._inner.patch(
                after["apiVersion"], ref.kind, ref.name, ref.namespace or None, patch, dry_run=True
            )
        )
        if answer is None:
            return None
        # The server counts from its own object, the rehearsal from its last write.
        meta = after["metadata"]
        counted = {"generation": meta["generation"]} if "generation" in meta else {}
        managers = {"managedFields": meta.get("managedFields") or []}
        status = {"status": after["status"]} if "status" in after else {}
        return {**answer, **status, "metadata": {**answer["metadata"], **managers, **counted}}

    def _unverified(
        self, ref: Ref, before: Object | None, after: Object, dry_run: bool, *, status: bool = False
    ) -> Object:
        if dry_run:
            return after
        return self._overlay.record_write(ref, before, deep_copy(after), unverified=True, status=status)

    def _write(self, kind: Kind) -> Write:
        return Write(self._overlay.typed(kind), self._field_manager, timestamp(), self._lookup)

    def _lookup(self, ref: Ref) -> Object | None:
        """An object of a built-in kind, by its reference only."""
        for (api_version, name), kind in built_in_kinds().items():
            if (kind.group, name) == ref[:2]:
                return self.get(api_version, name, ref.name, ref.namespace or None)
        return None

    def _served(self, api_version: str, kind: str) -> Kind:
        found = self._overlay.kind(api_version, kind)
        if found is None:
            raise KindNotServed(api_version, kind)
        return found

    def _refuse_namespace(self, verb: str, kind: Kind, ref: Ref) -> None:
        if not ref.namespace:
            return
        try:
            namespace = self._lookup(Ref(*NAMESPACE_KIND, "", ref.namespace))
        except Forbidden:
            # A user of a namespace often may not read it.
            return
        refuse_namespace(verb, kind, ref, namespace)

    def _refuse_elsewhere(self, verb: str, kind: Kind, ref: Ref, obj: Object) -> None:
        """Let the server validate an object whose namespace it lacks, in another namespace.

        Only the error Invalid counts.
        """
        if not ref.namespace or not self._overlay.lacks_only_its_place(ref, kind):
            return
        spare = f"rehearsal-{uuid.uuid4().hex[:10]}"
        names = {spare: ref.name, f"{ANY_NAMESPACE}/{ref.name}": f"{ref.namespace}/{ref.name}"}
        substitute = Substitute(f"{verb} {ref}", names)
        with name_original_of(substitute):
            try:
                # Also for an apply, which costs the server half as much again.
                refusal = self._refusal_elsewhere(self._inner.create, obj, ref.name)
            except AlreadyExists:
                refusal = self._refusal_elsewhere(self._inner.create, obj, spare)
            if refusal is not None and verb == "apply":
                # The server can't type some objects that a plain create may still accept.
                refusal = self._refusal_elsewhere(self._inner.apply, obj, spare) or refusal
        if refusal is not None:
            raise type(refusal)(
                substitute.action,
                status=refusal.status,
                reason=refusal.reason,
                api_message=substitute.original(refusal.api_message),
                causes=refusal.causes,
            ) from refusal

    def _refusal_elsewhere(self, write: Callable[..., Object], obj: Object, name: str) -> Invalid | None:
        there = {**obj, "metadata": {**obj["metadata"], "name": name, "namespace": ANY_NAMESPACE}}
        try:
            write(there, dry_run=True)
        except Invalid as refusal:
            return refusal
        except AlreadyExists:
            raise
        except ClusterError:
            # Quotas, policies and rights depend on the namespace.
            pass
        return None

    def _pod(self, verb: str, name: str, namespace: str) -> Ref:
        kind = self._served("v1", "Pod")
        ref = validated_ref(kind, name, namespace)
        if self._current(kind, ref) is None:
            raise not_found(verb, kind, ref)
        return ref


def _intent_of(obj: Object) -> Object:
    """An object without the fields that the server writes by itself."""
    own = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink")
    meta = {key: value for key, value in obj["metadata"].items() if key not in own}
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": meta}
