# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that accepts writes without executing them: the base of ``--check --diff``."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any, Self

from .._cluster.cluster import Cluster, Event, ExecResult, Object, Page, Ref, WriteTerms, address_of, ref_of
from .._cluster.errors import (
    AlreadyExists,
    ApiError,
    ClusterError,
    Forbidden,
    Invalid,
    NotRehearsable,
    is_dry_run_refused,
    silent_webhook,
)
from .._cluster.fields.json_patch import merge_patch_between
from .._cluster.kinds import CRD_KIND, Kind, is_of_kind
from .._cluster.substitute import Substitute, name_original_of
from .object_store import OverlayChange
from .overlay import Overlay
from .simulated_server import Answer, Applied, SimulatedServer

if TYPE_CHECKING:
    from .._cluster.stop_signal import StopSignal

ANY_NAMESPACE = "default"
"""A namespace that every cluster has."""
TRIES = 5
"""How often to ask again if someone writes an object between two requests."""
LONGEST_WATCH = 0.2
"""The length of a watch in seconds: a rehearsal has no events, but a caller that loops must not spin."""


class DryRunCluster(SimulatedServer):
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
        self._store = self._overlay = Overlay(inner, definitions)

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

    def find_unknown_fields(self) -> None:
        """Find unknown fields also where a namespace exists only here, by a second request per object."""
        self._overlay.finds_unknown_fields = True

    def with_field_manager(self, name: str) -> Self:
        return super().with_field_manager(name).reading_from(self._inner.with_field_manager(name))

    def with_write_terms(self, terms: WriteTerms) -> DryRunCluster:
        # Nothing is written.
        del terms
        return self

    def validate(self, obj: Object) -> Object:
        return self._inner.validate(obj)

    def token(self, service_account: str, namespace: str, *, bound_to: Object, seconds: int) -> str:
        return self._inner.token(service_account, namespace, bound_to=bound_to, seconds=seconds)

    def reading_from(self, inner: Cluster) -> Self:
        """The same overlay over another client of the same cluster, such as one that caches its answers."""
        other = copy(self)
        other._inner = inner
        return other

    def server_version(self) -> str:
        return self._inner.server_version()

    def server_time(self) -> str:
        return self._inner.server_time()

    def watch(
        self,
        api_version: str,
        kind: str,
        namespace: str | None = None,
        *,
        seconds: float,
        stop: StopSignal | None = None,
        **how: Any,
    ) -> Iterator[Event]:
        del api_version, kind, namespace, how
        (stop.wait if stop else time.sleep)(min(seconds, LONGEST_WATCH))
        return iter(())

    def logs(self, name: str, namespace: str, **how: Any) -> str:
        self._pod("read the log of", name, namespace)
        return self._inner.logs(name, namespace, **how)

    def exec(
        self,
        name: str,
        namespace: str,
        command: Sequence[str],
        *,
        container: str | None = None,
        **how: Any,
    ) -> ExecResult:
        del how
        ref = self._pod("run a command in", name, namespace)
        place = f"{ref}, container {container}" if container else str(ref)
        raise NotRehearsable(f"run a command in {place}: what {command[0]} does there cannot be predicted")

    def _call(self, verb: str, ref: Ref, dry_run: bool = False) -> AbstractContextManager[object]:
        del dry_run
        return nullcontext() if verb in ("get", "list") else self._overlay.lock_of(ref)

    def _find(self, kind: Kind, ref: Ref) -> Object | None:
        if ref in self._overlay.originals:
            return self._overlay.objects.get(ref)
        version = self._overlay.readable_version(kind)
        if version is None or self._overlay.is_new(ref.namespace):
            return None
        live = self._inner.get(*ref.in_version(version))
        return self._overlay.visible(live) if live else None

    def _list_below(self, kind: Kind, namespace: str | None, **how: Any) -> Page:
        version = self._overlay.readable_version(kind)
        if version is None:
            return Page([], "0")
        page = self._inner.list(version, kind.resource.kind, namespace, **how)
        unwritten = (item for item in page.items if ref_of(item) not in self._overlay.originals)
        return Page([one for one in map(self._overlay.visible, unwritten) if one], page.resource_version)

    def _typed(self, kind: Kind) -> Kind:
        return self._overlay.typed(kind)

    def _ask(
        self, verb: str, kind: Kind, ref: Ref, obj: Object, ask: Callable[[Cluster], Answer]
    ) -> Answer | None:
        return self._answer_of(lambda: ask(self._inner)) if self._asks_server(verb, ref, kind, obj) else None

    def _asks_server(self, verb: str, ref: Ref, kind: Kind, obj: Object) -> bool:
        if ref in self._overlay.originals or not self._overlay.has_real_surroundings(ref, kind, obj):
            return False
        # An object deleted with its owner still exists on the server, which would treat this as an update.
        if verb == "delete" or not self._overlay.has_deletions:
            return True
        live = self._inner.get(*ref.in_version(kind.resource.api_version))
        return live is None or self._overlay.visible(live) is not None

    def _answer_of(self, ask: Callable[[], Answer]) -> Answer | None:
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

    def _applied_below(self, kind: Kind, ref: Ref, obj: Object, *, force: bool, dry_run: bool) -> Applied:
        def ask(server: Cluster) -> tuple[Object | None, Object]:
            before: Object | None = None
            for _attempt in range(TRIES):
                after = server.apply(obj, force=force, dry_run=True)
                # A dry run answers with the resourceVersion of the present object.
                version = after["metadata"].get("resourceVersion")
                if not version or dry_run:
                    return None, after
                before = server.get(*ref.in_version(kind.resource.api_version))
                if before is None or before["metadata"].get("resourceVersion") == version:
                    break
            return before, after

        return self._ask("apply", kind, ref, obj, ask)

    def _completed(self, kind: Kind, ref: Ref, after: Object) -> Object | None:
        """The server's result of a further write to an object that it has, or None if it can't answer.

        A removed field may return as a default, which only the server knows.
        """
        original = self._overlay.originals.get(ref) if ref in self._overlay.objects else None
        if (
            original is None
            or original["apiVersion"] != after["apiVersion"]
            or original["metadata"].get("uid") != after["metadata"].get("uid")
            or (is_of_kind(ref, CRD_KIND) and original.get("status") != after.get("status"))
            or not self._overlay.has_real_surroundings(ref, kind, after)
        ):
            return None
        patch = merge_patch_between(_intent_of(original), _intent_of(after))
        if not patch:
            return after
        answer = self._answer_of(lambda: self._inner.patch(*address_of(after), patch, dry_run=True))
        if answer is None:
            return None
        # The server counts from its own object, the rehearsal from its last write.
        meta = after["metadata"]
        counted = {"generation": meta["generation"]} if "generation" in meta else {}
        managers = {"managedFields": meta.get("managedFields") or []}
        status = {"status": after["status"]} if "status" in after else {}
        return {**answer, **status, "metadata": {**answer["metadata"], **managers, **counted}}

    def _refuse_creation(self, verb: str, kind: Kind, ref: Ref, obj: Object) -> None:
        super()._refuse_creation(verb, kind, ref, obj)
        self._refuse_elsewhere(verb, kind, ref, obj)

    def _namespace(self, name: str) -> Object | None:
        try:
            return super()._namespace(name)
        except Forbidden:
            # A user of a namespace often may not read it.
            return {"metadata": {"name": name}}

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
            is_typed = refusal is None and not self._overlay.finds_unknown_fields
            if verb == "apply" and not is_typed:
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
        placed = {**obj, "metadata": {**obj["metadata"], "name": name, "namespace": ANY_NAMESPACE}}
        try:
            write(placed, dry_run=True)
        except Invalid as refusal:
            return refusal
        except AlreadyExists:
            raise
        except ClusterError:
            # Quotas, policies and rights depend on the namespace.
            pass
        return None


def _intent_of(obj: Object) -> Object:
    """An object without the fields that the server writes by itself."""
    own = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid", "selfLink")
    meta = {key: value for key, value in obj["metadata"].items() if key not in own}
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": meta}
