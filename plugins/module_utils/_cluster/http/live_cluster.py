# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The live implementation of the interface: a real API server over HTTP."""

from __future__ import annotations

import copy
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import quote

from ..._redaction import SEEN_SECRETS, remember_secret
from ..cluster import (
    EXEC_BYTES,
    EXEC_SECONDS,
    FIELD_MANAGER,
    Cluster,
    Event,
    ExecResult,
    Object,
    Page,
    Patch,
    Resource,
    WriteTerms,
    group_of,
)
from ..errors import ClusterError, Gone, KindNotServed, NotFound, Unreachable, api_error, may_have_acted
from .discovery import Discovery
from .transport import Transport

if TYPE_CHECKING:
    from ..stop_signal import StopSignal

METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
METADATA_ONLY_EVENTS = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
PAGE_ITEMS = 500
METADATA_PAGE_ITEMS = 5000
"""Metadata is small: fewer requests per kind matter more than a small answer."""
SERVING_SECONDS = 30.0
"""How long a kind in discovery may answer 404, as after a change of its definition: mostly a second."""
SERVING_POLL_SECONDS = 0.1

T = TypeVar("T")


class LiveCluster(Cluster):
    """A cluster over HTTP; all its variants share connections, discovery and counters."""

    def __init__(
        self, transport: Transport, *, discovery: Discovery | None = None, field_manager: str = FIELD_MANAGER
    ) -> None:
        self._transport = transport
        self._discovery = discovery or Discovery(self._fetch_discovery)
        self._field_manager = field_manager
        self._writing = transport

    @property
    def requests(self) -> Counter[str]:
        """The number of HTTP requests on this connection, by method."""
        return self._transport.requests

    def with_field_manager(self, name: str) -> LiveCluster:
        other = copy.copy(self)
        other._field_manager = name
        return other

    def with_write_terms(self, terms: WriteTerms) -> LiveCluster:
        other = copy.copy(self)
        other._writing = self._writing.with_terms(terms)
        return other

    def token(self, service_account: str, namespace: str, *, bound_to: Object, seconds: int) -> str:
        owner = {"apiVersion": bound_to["apiVersion"], "kind": bound_to["kind"]}
        owner |= {key: bound_to["metadata"][key] for key in ("name", "uid")}
        answer = self._transport.request(
            describe("get a token of", "ServiceAccount", service_account, namespace),
            "POST",
            f"/api/v1/namespaces/{quote(namespace)}/serviceaccounts/{quote(service_account)}/token",
            body={
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenRequest",
                "spec": {"boundObjectRef": owner, "expirationSeconds": seconds},
            },
            # A second token does no harm.
            repeatable=True,
        )
        token = str(answer.json()["status"]["token"])
        remember_secret(token)
        return token

    def resource(self, api_version: str, kind: str) -> Resource | None:
        return self._discovery.find(api_version, kind)

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        return self._discovery.served(group, kind)

    def server_version(self) -> str:
        answer = self._transport.request("read the server's version", "GET", "/version")
        return str(answer.json()["gitVersion"])

    def server_time(self) -> str:
        return self._transport.presence.server_time() or super().server_time()

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> Object | None:
        resource = self._awaited(api_version, kind)
        if resource is None:
            self._discovery.refuse_doubt(api_version, kind)
            return None
        action = describe("get", kind, name, namespace)

        def ask(served: Resource) -> Object:
            return self._transport.request(action, "GET", path_of(served, namespace, name)).json()

        try:
            live = self._while_served(resource, ask)
            SEEN_SECRETS.note(live)
            return live
        except (NotFound, KindNotServed) as error:
            raise_if_served(error)
            return None

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
        resource = self._awaited(api_version, kind)
        if resource is None:
            self._discovery.refuse_doubt(api_version, kind)
            return Page([], "")
        query = [("labelSelector", label_selector), ("fieldSelector", field_selector)]
        limit = METADATA_PAGE_ITEMS if metadata_only else PAGE_ITEMS
        try:
            return self._while_served(
                resource, lambda served: self._list(served, namespace, query, limit, metadata_only)
            )
        except KindNotServed as error:
            raise_if_served(error)
            return Page([], "")
        except Gone:
            # The continue token has expired between two pages: one read of the whole list needs no token.
            return self._list(self._served(api_version, kind), namespace, query, 0, metadata_only)

    def _list(
        self,
        resource: Resource,
        namespace: str | None,
        query: Sequence[tuple[str, str]],
        limit: int,
        metadata_only: bool,
    ) -> Page:
        action = describe("list", resource.kind, "", namespace)
        path = collection_path(resource, namespace)
        items: list[Object] = []
        token = ""
        while True:
            answer = self._transport.request(
                action,
                "GET",
                path,
                query=[*query, ("limit", str(limit) if limit else ""), ("continue", token)],
                accept=METADATA_ONLY if metadata_only else "application/json",
            ).json()
            items.extend(answer.get("items") or ())
            meta = answer.get("metadata") or {}
            token = meta.get("continue") or ""
            if not token:
                whole = [named(item, resource) for item in items]
                for one in whole:
                    SEEN_SECRETS.note(one)
                return Page(whole, str(meta.get("resourceVersion") or ""))

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        SEEN_SECRETS.note(obj)
        resource, namespace, name = self._target(obj)
        query = [
            ("fieldManager", self._field_manager),
            # Server-side apply refuses unknown fields in any case. The only other warnings are about
            # duplicate keys, for which the server would parse the body a second time.
            ("fieldValidation", "Ignore"),
            ("force", "true" if force else ""),
            ("dryRun", "All" if dry_run else ""),
        ]
        bound = bool(obj["metadata"].get("resourceVersion")) and not dry_run

        def ask(served: Resource) -> Object:
            return self._writing.request(
                describe("apply", resource.kind, name, namespace),
                "PATCH",
                path_of(served, namespace, name),
                query=query,
                body=obj,
                content_type="application/apply-patch+yaml",
                # A second apply has the same effect, unless it requires one version.
                repeatable=not bound,
            ).json()

        def request(served: Resource) -> Object:
            return self._written(lambda: ask(served), obj) if bound else ask(served)

        return self._after_write(self._while_served(resource, request), dry_run)

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        return self._create(obj, "Warn", dry_run=dry_run)

    def validate(self, obj: Object) -> Object:
        return self._create(obj, "Strict", dry_run=True)

    def _create(self, obj: Object, field_validation: str, *, dry_run: bool) -> Object:
        SEEN_SECRETS.note(obj)
        resource, namespace, name = self._target(obj)
        query = [
            ("fieldManager", self._field_manager),
            ("fieldValidation", field_validation),
            ("dryRun", "All" if dry_run else ""),
        ]

        def ask(served: Resource) -> Object:
            return self._writing.request(
                describe("create", resource.kind, name, namespace),
                "POST",
                collection_path(served, namespace, required=True),
                query=query,
                body=obj,
                repeatable=dry_run,
            ).json()

        def request(served: Resource) -> Object:
            # We can't find an object again whose name the server generates.
            return ask(served) if dry_run or not name else self._written(lambda: ask(served), obj)

        return self._after_write(self._while_served(resource, request), dry_run)

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
        SEEN_SECRETS.note_patch(kind, patch)
        resource = self._served(api_version, kind)
        merge = isinstance(patch, Mapping)
        query = [
            ("fieldManager", self._field_manager),
            ("fieldValidation", "Warn"),
            ("dryRun", "All" if dry_run else ""),
        ]

        def ask(served: Resource) -> Object:
            return self._writing.request(
                describe("patch", kind, name, namespace),
                "PATCH",
                path_of(served, namespace, name, subresource),
                query=query,
                body=patch,
                content_type="application/merge-patch+json" if merge else "application/json-patch+json",
                repeatable=dry_run,
            ).json()

        def request(served: Resource) -> Object:
            # We can't tell the effect of a JSON patch from older content; and a scale is not the object.
            if dry_run or not isinstance(patch, Mapping) or subresource not in ("", "status"):
                return ask(served)
            target = {"apiVersion": api_version, "kind": kind, "name": name, "namespace": namespace}
            return self._written(lambda: ask(served), patch, target)

        return self._after_write(self._while_served(resource, request), dry_run)

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
        resource = self._served(api_version, kind)
        options: Object = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
        }
        preconditions = {"uid": uid, "resourceVersion": resource_version}
        if any(preconditions.values()):
            options["preconditions"] = {key: value for key, value in preconditions.items() if value}
        if dry_run:
            options["dryRun"] = ["All"]

        def ask(served: Resource) -> Literal[True]:
            self._writing.request(
                describe("delete", kind, name, namespace),
                "DELETE",
                path_of(served, namespace, name),
                # With a body the server obeys only the body; the query is for readers of its audit log.
                query=[("dryRun", "All" if dry_run else "")],
                body=options,
                repeatable=dry_run,
            )
            return True

        def look() -> bool | None:
            live = self.get(api_version, kind, name, namespace)
            if live is None or live["metadata"].get("deletionTimestamp"):
                return True
            return True if uid and live["metadata"]["uid"] != uid else None

        if kind == "CustomResourceDefinition":
            self._discovery.expect_nothing()
        try:
            return self._while_served(resource, lambda served: self._settled(lambda: ask(served), look))
        except (NotFound, KindNotServed) as error:
            raise_if_served(error)
            return False

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
        end = time.monotonic() + seconds
        resource = self.resource(api_version, kind)
        while resource is None:
            # Nothing can happen to it until it is served; an immediate return would make callers spin.
            if time.monotonic() >= end or is_stopped_within(min(0.5, end - time.monotonic()), stop):
                return
            resource = self.resource(api_version, kind)
        action = describe("watch", kind, "", namespace)
        path = collection_path(resource, namespace)
        failures = 0
        while (seconds_left := end - time.monotonic()) > 0:
            query = [
                ("watch", "true"),
                ("allowWatchBookmarks", "true"),
                ("resourceVersion", resource_version),
                ("fieldSelector", field_selector),
                ("labelSelector", label_selector),
                ("timeoutSeconds", str(math.ceil(seconds_left))),
            ]
            accept = METADATA_ONLY_EVENTS if metadata_only else "application/json"
            try:
                with self._transport.stream(
                    action, path, query=query, seconds=seconds_left, accept=accept, stop=stop
                ) as lines:
                    for line in lines:
                        failures = 0
                        event = json.loads(line)
                        obj = event["object"]
                        if event["type"] == "ERROR":
                            raise api_error(action, int(obj.get("code") or 500), obj)
                        resource_version = obj["metadata"]["resourceVersion"]
                        if event["type"] != "BOOKMARK" or bookmarks:
                            yield Event(event["type"], named(obj, resource) if metadata_only else obj)
                        if time.monotonic() >= end or (stop is not None and stop.is_set):
                            return
            except Unreachable:
                # A watch may break off at any time; it continues where it stopped, unless the server is away.
                failures += 1
                if failures > 3 and not (stop is not None and stop.is_set):
                    raise
            if is_stopped_within(min(0.1 * 2**failures, max(0.0, end - time.monotonic())), stop):
                return

    def logs(
        self,
        name: str,
        namespace: str,
        *,
        container: str | None = None,
        tail_lines: int | None = None,
        limit_bytes: int | None = None,
        since: str = "",
        timestamps: bool = False,
    ) -> str:
        answer = self._transport.request(
            describe("read the log of", "Pod", name, namespace),
            "GET",
            f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}/log",
            query=[
                ("container", container or ""),
                ("tailLines", "" if tail_lines is None else str(tail_lines)),
                ("limitBytes", "" if limit_bytes is None else str(limit_bytes)),
                ("sinceTime", since),
                ("timestamps", "true" if timestamps else ""),
            ],
            accept="text/plain, */*",
        )
        return answer.data.decode("utf-8", "replace")

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
        # Imported here, because most tasks run no command in a container.
        from .remote_command import run_command

        return run_command(
            self._writing,
            describe("run a command in", "Pod", name, namespace),
            f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}/exec",
            command,
            container,
            seconds=seconds,
            max_bytes=max_bytes,
        )

    def _fetch_discovery(self, path: str, accept: str) -> dict[str, Any]:
        return self._transport.request("read which kinds are served", "GET", path, accept=accept).json()

    def _served(self, api_version: str, kind: str) -> Resource:
        resource = self._awaited(api_version, kind)
        if resource is None:
            raise KindNotServed(api_version, kind)
        return resource

    def _awaited(self, api_version: str, kind: str) -> Resource | None:
        """The resource of a kind; waits for one that was defined just now, and for a server that starts."""
        while (resource := self.resource(api_version, kind)) is None:
            if not (self._discovery.expects(api_version, kind) or self._transport.is_starting):
                return None
            time.sleep(SERVING_POLL_SECONDS)
        return resource

    def _target(self, obj: Object) -> tuple[Resource, str | None, str]:
        resource = self._served(obj["apiVersion"], obj["kind"])
        return resource, obj["metadata"].get("namespace"), obj["metadata"].get("name") or ""

    def _written(
        self, ask: Callable[[], Object], desired: Mapping[str, Any], target: Mapping[str, Any] | None = None
    ) -> Object:
        """Write an object; if the answer is lost, read the object before the write is repeated.

        Args:
            ask: sends the write.
            desired: its content.
            target: the object's identity, if the content lacks it.
        """
        meta = target or {**desired["metadata"], "apiVersion": desired["apiVersion"], "kind": desired["kind"]}

        def look() -> Object | None:
            from .lost_answers import find_written_object

            live = self.get(meta["apiVersion"], meta["kind"], meta["name"], meta.get("namespace"))
            return find_written_object(live, desired, self._field_manager)

        return self._settled(ask, look)

    def _settled(self, ask: Callable[[], T], look: Callable[[], T | None]) -> T:
        try:
            return ask()
        except ClusterError as error:
            if not may_have_acted(error):
                raise
            # Rarely needed.
            from .lost_answers import resolve_lost_write

            return resolve_lost_write(ask, look, error, policy=self._transport.retry_policy)

    def _after_write(self, answer: Object, dry_run: bool) -> Object:
        """The answer to a write; if it defines a kind, later requests for the kind wait for it."""
        if answer.get("kind") == "CustomResourceDefinition" and not dry_run:
            self._discovery.expect(answer, SERVING_SECONDS)
        return answer

    def _while_served(self, resource: Resource, request: Callable[[Resource], T]) -> T:
        """Send a request, again if its path does not exist although discovery lists its kind.

        Args:
            resource: of the kind, as discovery returned it.
            request: sends it; gets the current resource, as a definition may have been recreated
                with another scope.

        Raises:
            KindNotServed: discovery no longer lists it, or the path stays missing.
            ApiUnavailable: the server no longer knows whether it serves it.
        """
        end = time.monotonic() + SERVING_SECONDS
        while True:
            try:
                return request(resource)
            except NotFound as error:
                if not is_missing_path(error):
                    raise
            self._discovery.refresh(group_of(resource.api_version))
            current = self._awaited(resource.api_version, resource.kind)
            if current is None:
                self._discovery.refuse_doubt(resource.api_version, resource.kind)
                raise KindNotServed(resource.api_version, resource.kind)
            if time.monotonic() >= end:
                raise KindNotServed(resource.api_version, resource.kind, served=[current.api_version])
            resource = current
            time.sleep(SERVING_POLL_SECONDS)


def is_stopped_within(seconds: float, stop: StopSignal | None) -> bool:
    """Wait some seconds, or until a stop signal; whether the signal was set."""
    (stop.wait if stop else time.sleep)(seconds)
    return stop is not None and stop.is_set


def raise_if_served(error: ClusterError) -> None:
    """Raise an error again unless it says that no objects of the kind exist."""
    if isinstance(error, KindNotServed) and error.served:
        raise error


def is_missing_path(error: NotFound) -> bool:
    """Whether a 404 is for the path of a kind, not for an object or its namespace."""
    return not error.reason or error.api_message == "the server could not find the requested resource"


def named(item: Object, resource: Resource) -> Object:
    """An item of a list, with apiVersion and kind, which lists omit."""
    return {**item, "apiVersion": resource.api_version, "kind": resource.kind}


def describe(verb: str, kind: str, name: str, namespace: str | None) -> str:
    """The operation and its object, for errors."""
    if not name:
        return f"{verb} {kind}" + (f" in {namespace}" if namespace else "")
    return f"{verb} {kind} {namespace}/{name}" if namespace else f"{verb} {kind} {name}"


def collection_path(resource: Resource, namespace: str | None, *, required: bool = False) -> str:
    """The path of a kind's objects, in one namespace or in all namespaces.

    Raises:
        ClusterError: a namespace is required, and missing.
    """
    prefix = f"/apis/{resource.api_version}" if group_of(resource.api_version) else "/api/v1"
    if resource.namespaced and namespace:
        return f"{prefix}/namespaces/{quote(namespace)}/{resource.plural}"
    if resource.namespaced and required:
        raise ClusterError(f"a {resource.kind} lives in a namespace, and none was given")
    return f"{prefix}/{resource.plural}"


def path_of(resource: Resource, namespace: str | None, name: str, subresource: str = "") -> str:
    """The path of one object, without the namespace if the object is cluster-scoped."""
    if not name:
        raise ClusterError(f"a {resource.kind} without a name can't be addressed")
    path = f"{collection_path(resource, namespace, required=True)}/{quote(name, safe=':')}"
    return f"{path}/{subresource}" if subresource else path
