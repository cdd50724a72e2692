# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One watch per kind and namespace for a whole process, shared by all waits for its objects."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import NamedTuple, TypeAlias

from ..._cluster.cluster import Cluster, Event, Object, Page, Ref, ref_of
from ..._cluster.errors import ApiError, ApiUnavailable, ClusterError, Gone, Unreachable
from ..._cluster.recent_lists import RecentLists

WATCH_SECONDS = 30.0
"""How long one watch request lasts, and so how long a thread may outlive its last follower, in seconds."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between attempts while the API server does not answer, doubling."""


class WatchScope(NamedTuple):
    """The scope of one watch; ``namespace`` is empty for cluster-scoped kinds."""

    api_version: str
    kind: str
    namespace: str


@dataclass(frozen=True)
class ObjectState:
    """An object's state in ``version``; ``object`` is None if it did not exist then.

    Versions are resourceVersions as numbers; they may be compared within one resource (KEP-5504). ``last`` is
    its state when it was deleted, if that was seen.
    """

    ref: Ref
    object: Object | None
    version: int
    last: Object | None = None


@dataclass(frozen=True)
class WatchFailure:
    """A watch does not work: for now, or (``final``) for good."""

    error: Exception
    final: bool


WatchUpdate: TypeAlias = "ObjectState | WatchFailure"
Inbox = SimpleQueue[WatchUpdate]


def parse_resource_version(resource_version: str | None) -> int:
    """A resourceVersion as a number; 0, older than all others, if there is none."""
    return int(resource_version) if resource_version and resource_version.isdigit() else 0


class Watcher:
    """Lets any number of threads follow objects, with one list and one watch per kind and namespace.

    An existing list can replace the first one.
    The threads also share lists of pods and events when they search for causes.
    A watch continues for :data:`WATCH_SECONDS` at most after its last follower has left. The next follower
    resumes it. Threads are daemons.
    """

    def __init__(self, cluster: Cluster, *, watch_seconds: float = WATCH_SECONDS) -> None:
        self.cluster = cluster
        self._watch_seconds = watch_seconds
        self._lock = threading.Lock()
        self._feeds: dict[WatchScope, _Feed] = {}
        self._read: dict[tuple[str, str], Object | None] = {}
        self.recent_lists = RecentLists(cluster)

    def follow(self, scope: WatchScope, refs: Iterable[Ref], inbox: Inbox, page: Page | None = None) -> None:
        """Put every sighting of ``refs`` into ``inbox``, beginning with their last known states.

        Args:
            scope: the scope of the objects.
            refs: the objects to follow.
            inbox: receives the sightings.
            page: a complete recent list; without it, the objects are listed if needed.
        """
        with self._lock:
            feed = self._feeds.setdefault(scope, _Feed(scope))
            if not feed.is_running:
                feed.is_running = True
                if page:
                    feed.take(page)
                thread = threading.Thread(
                    target=self._run, args=(feed,), daemon=True, name=f"watch {scope.kind} {scope.namespace}"
                )
                thread.start()
            followed = frozenset(refs)
            feed.followers.append(_Follower(followed, inbox))
            if feed.listed:
                for ref in followed:
                    inbox.put(feed.latest.get(ref) or ObjectState(ref, None, feed.listed))

    def leave(self, inbox: Inbox) -> None:
        """Put no more sightings into ``inbox``."""
        with self._lock:
            for feed in self._feeds.values():
                feed.followers = [f for f in feed.followers if f.inbox is not inbox]

    def storage_class(self, name: str) -> Object | None:
        """A StorageClass, read once; None if it does not exist or may not be read."""
        return self._read_once("storage.k8s.io/v1", "StorageClass", name)

    def declares_state(self, obj: Object) -> bool:
        """Whether the definition of an object's kind has ``status.state``, which its operator sets."""
        resource = self.cluster.resource(obj["apiVersion"], obj["kind"])
        group, _slash, version = obj["apiVersion"].rpartition("/")
        name = f"{resource.plural}.{group}" if resource else ""
        crd = self._read_once("apiextensions.k8s.io/v1", "CustomResourceDefinition", name) if name else None
        schemas = (
            one["schema"]["openAPIV3Schema"]
            for one in (crd or {"spec": {"versions": ()}})["spec"]["versions"]
            if one["name"] == version and one.get("schema")
        )
        statuses = ((one.get("properties") or {}).get("status") or {} for one in schemas)
        return any("state" in (one.get("properties") or {}) for one in statuses)

    def _read_once(self, api_version: str, kind: str, name: str) -> Object | None:
        if (kind, name) not in self._read:
            try:
                self._read[kind, name] = self.cluster.get(api_version, kind, name)
            except ClusterError:
                return None
        return self._read[kind, name]

    def _run(self, feed: _Feed) -> None:
        pause = FIRST_PAUSE
        while self._is_followed(feed):
            opened, before = time.monotonic(), feed.position
            try:
                self._watch(feed)
            except Gone:
                feed.position = ""
            except Exception as error:
                final = not passes(error)
                self._notify(feed, WatchFailure(error, final))
                if final:
                    return
            else:
                # A watch that ends at once without events (a proxy may cut it) must not spin.
                if feed.position != before or time.monotonic() - opened > FIRST_PAUSE:
                    pause = FIRST_PAUSE
                    continue
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _watch(self, feed: _Feed) -> None:
        api_version, kind, namespace = feed.scope
        if not feed.position:
            self._take_list(feed, self.cluster.list(api_version, kind, namespace or None))
            if not feed.position:
                return
        for event in self.cluster.watch(
            api_version,
            kind,
            namespace or None,
            resource_version=feed.position,
            seconds=self._watch_seconds,
        ):
            self._take_event(feed, event)
            if not feed.followers:
                return

    def _take_list(self, feed: _Feed, page: Page) -> None:
        with self._lock:
            feed.take(page)
            for follower in feed.followers:
                for ref in follower.refs:
                    follower.inbox.put(feed.latest.get(ref) or ObjectState(ref, None, feed.listed))

    def _take_event(self, feed: _Feed, event: Event) -> None:
        state = sighting(event.object, is_deleted=event.type == "DELETED")
        with self._lock:
            feed.position = event.object["metadata"].get("resourceVersion") or feed.position
            feed.latest[state.ref] = state
            for follower in feed.followers:
                if state.ref in follower.refs:
                    follower.inbox.put(state)

    def _notify(self, feed: _Feed, trouble: WatchFailure) -> None:
        with self._lock:
            for follower in feed.followers:
                follower.inbox.put(trouble)
            if trouble.final:
                # Later followers must start a new feed: this one gets no more events.
                self._feeds.pop(feed.scope, None)

    def _is_followed(self, feed: _Feed) -> bool:
        with self._lock:
            # The next follower continues from its position, without another list.
            feed.is_running = bool(feed.followers)
            return feed.is_running


@dataclass(frozen=True)
class _Follower:
    refs: frozenset[Ref]
    inbox: Inbox


@dataclass
class _Feed:
    """All that one watch has shown so far: the objects at ``listed``, and every event since."""

    scope: WatchScope
    position: str = ""
    listed: int = 0
    latest: dict[Ref, ObjectState] = field(default_factory=dict)
    followers: list[_Follower] = field(default_factory=list)
    is_running: bool = False

    def take(self, page: Page) -> None:
        """Start again from a list."""
        self.position, self.listed = page.resource_version, parse_resource_version(page.resource_version)
        self.latest = {ref_of(o): sighting(o) for o in page.items}


def sighting(obj: Object, *, is_deleted: bool = False) -> ObjectState:
    """The state of an object in a list or an event."""
    version = parse_resource_version(obj["metadata"].get("resourceVersion"))
    return ObjectState(ref_of(obj), None if is_deleted else obj, version, obj if is_deleted else None)


def passes(error: Exception) -> bool:
    """Whether a retry may succeed: no answer, or the API server is overloaded or restarting."""
    return isinstance(error, (ApiUnavailable, Unreachable)) or (
        isinstance(error, ApiError) and (error.status == 429 or error.status >= 500)
    )


def watch_scope(api_version: str, ref: Ref) -> WatchScope:
    """The scope to watch for an object."""
    return WatchScope(api_version, ref.kind, ref.namespace)
