# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kinds that a server serves: read on first use, shared by all threads, refreshed on a miss."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..._threads import map_in_threads
from ..cluster import GROUP, Resource, group_of
from ..errors import ApiError, NotFound
from ..served_versions import refuse_doubt, refuse_unavailable, refuse_unpublished

AGGREGATED = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    for version in ("v2", "v2beta1")
)
"""Aggregated discovery (KEP-3352): everything in two answers; a server without it sends plain documents."""
ACCEPT = AGGREGATED + ",application/json"
SHORTEST_AGE = 0.03
"""Seconds between two refreshes: loops ask again after a miss, and a new CRD takes about a second."""

Document = Mapping[str, Any]
Fetch = Callable[[str, str], Document]
"""Reads a path with an Accept header, and returns the decoded document."""
Table = dict[tuple[str, str], Resource]
NO_ANSWER = "its server does not answer"


@dataclass(frozen=True)
class Snapshot:
    """The kinds that an API server serves at one moment.

    Attributes:
        table: the kinds, ordered in each group by the server's preference of versions.
        unavailable: the group-versions whose kinds the server can't list, each with the reason.
    """

    table: Table
    unavailable: Mapping[str, str]

    def versions(self, group: str, kind: str) -> tuple[Resource, ...]:
        """A kind in every version of its group, preferred first."""
        return tuple(
            resource
            for (api_version, name), resource in self.table.items()
            if name == kind and group_of(api_version) == group
        )


class Discovery:
    """The kinds that one API server serves."""

    def __init__(self, fetch: Fetch, clock: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._clock = clock
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._core: Document | None = None
        self._fetched_at = 0.0
        self._expected: dict[tuple[str, str], float] = {}

    def expect(self, definition: Document, seconds: float) -> None:
        """Record that a CustomResourceDefinition was written: for these seconds its kinds may be unserved."""
        spec, until = definition["spec"], self._clock() + seconds
        for version in spec.get("versions") or ():
            key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            if version.get("served"):
                self._expected[key] = until
            else:
                self._expected.pop(key, None)

    def expect_nothing(self) -> None:
        """Record that a definition was deleted."""
        self._expected.clear()

    def expects(self, api_version: str, kind: str) -> bool:
        """Whether a kind that is not served yet may be served soon."""
        return self._clock() < self._expected.get((api_version, kind), 0.0)

    def find(self, api_version: str, kind: str) -> Resource | None:
        """The resource of a kind, or None if the server does not list it.

        Raises:
            UnpublishedDefinitions: the kind is ours, and the server has definitions that no version reads.
        """
        if group_of(api_version) == GROUP:
            refuse_unpublished(self._current().table.values())
        resource = self._current().table.get((api_version, kind))
        if resource is None:
            resource = self.refresh(group_of(api_version)).table.get((api_version, kind))
        return resource

    def served(self, group: str, kind: str) -> tuple[Resource, ...]:
        """A kind in every version that is served, preferred first; see :meth:`.cluster.Cluster.served`."""
        resources = self._current().versions(group, kind)
        if not resources:
            snapshot = self.refresh(group)
            resources = snapshot.versions(group, kind)
            if not resources:
                refuse_unavailable(group, snapshot.unavailable)
        return resources

    def refuse_doubt(self, api_version: str, kind: str) -> None:
        """Return if no objects of a kind can exist that :meth:`find` did not find.

        Raises:
            KindNotServed, ApiUnavailable: they may exist.
        """
        snapshot = self._current()
        others = snapshot.versions(group_of(api_version), kind)
        refuse_doubt(api_version, kind, others, snapshot.unavailable)

    def refresh(self, group: str = "") -> Snapshot:
        """Read discovery again, unless another thread just did.

        Args:
            group: of the missing kind. Definitions add no kinds to the core group (``""``), so that is read
                again only for one of its kinds.
        """
        with self._lock:
            self._core = self._core if group else None
            if self._snapshot is None or self._clock() - self._fetched_at >= SHORTEST_AGE:
                return self._renewed()
            return self._snapshot

    def _current(self) -> Snapshot:
        if self._snapshot is not None:
            return self._snapshot
        with self._lock:
            # A thread that waited here for the first answer accepts it, however long the wait was.
            return self._snapshot if self._snapshot is not None else self._renewed()

    def _renewed(self) -> Snapshot:
        self._snapshot = self._read()
        self._fetched_at = self._clock()
        return self._snapshot

    def _read(self) -> Snapshot:
        paths = ("/apis",) if self._core else ("/apis", "/api")
        groups, *core = map_in_threads(lambda path: self._fetch(path, ACCEPT), paths)
        self._core = core[0] if core else self._core
        table: Table = {}
        unavailable: dict[str, str] = {}
        missing: list[str] = []
        for document in filter(None, (self._core, groups)):
            if document.get("kind") == "APIGroupDiscoveryList":
                table.update(aggregated_table(document))
                unavailable.update(dict.fromkeys(stale_versions(document), NO_ANSWER))
            else:
                missing.extend(group_versions(document))
        for api_version, answer in zip(missing, map_in_threads(self._group_version, missing), strict=True):
            if isinstance(answer, ApiError):
                unavailable[api_version] = str(answer)
            else:
                table.update(group_version_table(answer))
        return Snapshot(table, unavailable)

    def _group_version(self, api_version: str) -> Document | ApiError:
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        try:
            return self._fetch(path, "application/json")
        except NotFound:
            # The group was removed during this request.
            return {}
        except ApiError as error:
            # An extension API server that is down hides only its own kinds.
            return error


def aggregated_table(document: Document) -> Table:
    """The kinds in an APIGroupDiscoveryList; the first resource of a kind counts."""
    table: Table = {}
    for api_version, version in _aggregated_versions(document):
        for entry in version.get("resources") or ():
            kind = (entry.get("responseKind") or {}).get("kind")
            if kind:
                resource = Resource(
                    api_version=api_version,
                    kind=kind,
                    plural=entry["resource"],
                    namespaced=entry.get("scope") == "Namespaced",
                )
                table.setdefault((api_version, kind), resource)
    return table


def stale_versions(document: Document) -> list[str]:
    """The apiVersions in an APIGroupDiscoveryList for which the server has no fresh answer (KEP-3352).

    These are aggregated APIs. The list has their last known kinds, or none at all.
    """
    return [
        api_version
        for api_version, version in _aggregated_versions(document)
        if version.get("freshness") == "Stale"
    ]


def _aggregated_versions(document: Document) -> Iterator[tuple[str, Document]]:
    for group in document.get("items") or ():
        name = (group.get("metadata") or {}).get("name") or ""
        for version in group.get("versions") or ():
            yield f"{name}/{version['version']}" if name else version["version"], version


def group_versions(document: Document) -> list[str]:
    """The apiVersions in an APIVersions (``/api``) or an APIGroupList (``/apis``)."""
    if document.get("kind") == "APIVersions":
        return list(document.get("versions") or ())
    return [
        version["groupVersion"]
        for group in document.get("groups") or ()
        for version in group.get("versions") or ()
    ]


def group_version_table(document: Document) -> Table:
    """The kinds in an APIResourceList, without subresources."""
    api_version = document.get("groupVersion") or ""
    table: Table = {}
    for entry in document.get("resources") or ():
        if "/" not in entry["name"]:
            resource = Resource(
                api_version=api_version,
                kind=entry["kind"],
                plural=entry["name"],
                namespaced=bool(entry.get("namespaced")),
            )
            table.setdefault((api_version, entry["kind"]), resource)
    return table
