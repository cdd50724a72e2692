# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes of all objects of a kind, for as long as a process lives."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TypeAlias

from .cluster import Cluster, Event, Object, Page
from .errors import Gone, NotFound
from .stop_signal import StopSignal

SHORTEST_WATCH, LONGEST_WATCH = 300.0, 540.0
"""The length of a watch in seconds. A random choice between them spreads the restarts of informers."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two attempts while a watch fails or nothing serves the kind, doubling."""
STOP_SECONDS = 2.0
"""How long :meth:`Informer.stop` waits for the thread, which may be waiting for a server that is away."""

OnChange: TypeAlias = "Callable[[Object | None, Object | None], None]"
"""Receives an object before and after a change; None if it did not exist or no longer exists."""


class InformerScope(NamedTuple):
    """The objects of an informer: of a kind, in a namespace or, if that is empty, in all namespaces.

    Attributes:
        api_version, kind, namespace: of the objects.
        label_selector: of the objects that count.
        metadata_only: whether their metadata is enough.
    """

    api_version: str
    kind: str
    namespace: str = ""
    label_selector: str = ""
    metadata_only: bool = False

    def __str__(self) -> str:
        return f"{self.kind} in {self.namespace}" if self.namespace else self.kind

    def list(self, cluster: Cluster) -> Page:
        """The present objects, from one list."""
        return cluster.list(
            self.api_version,
            self.kind,
            self.namespace or None,
            label_selector=self.label_selector,
            metadata_only=self.metadata_only,
        )


class Informer:
    """All objects of a subject, from one list and the watches that follow it, in a thread.

    It continues until it is stopped: after a watch has ended, while the server is away, and while nothing
    serves the kind. Another list finds objects that have changed or been deleted meanwhile, and reports them
    as if it had watched them. While nothing happens it uses no CPU.

    Args:
        cluster: the cluster.
        subject: the objects.
        on_change: receives each change of the reduced object (see ``keep``), one after the other, in the
            informer's thread. It must not change the objects, and should be short: the next change waits. An
            object that was deleted and recreated is two changes. An error of it is reported, and the change
            counts as handled.
        keep: reduces an object, to save memory. If it fails, the object stays as it was held.
        on_error: receives errors, in the informer's thread. They need no action.
        watch_seconds: the length of a watch.
    """

    def __init__(
        self,
        cluster: Cluster,
        subject: InformerScope,
        on_change: OnChange,
        keep: Callable[[Object], Object] = lambda obj: obj,
        *,
        on_error: Callable[[Exception], None] = lambda _error: None,
        watch_seconds: Callable[[], float] = lambda: random.uniform(SHORTEST_WATCH, LONGEST_WATCH),
    ) -> None:
        self.subject = subject
        self._cluster = cluster
        self._on_change = on_change
        self._keep = keep
        self._on_error = on_error
        self._watch_seconds = watch_seconds
        self._stop = StopSignal()
        self._synced = threading.Event()
        self._held: dict[_Key, _HeldObject] = {}
        self._position = ""
        self._watch_begun = math.inf
        self._thread = threading.Thread(target=self._run, name=f"informer {subject}", daemon=True)

    def start(self) -> None:
        """Start the thread. It can be started once."""
        self._thread.start()

    def stop(self) -> None:
        """Stop it for good: after this has returned there are no more changes.

        The exception is a change whose handling takes more than :data:`STOP_SECONDS`.
        """
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(STOP_SECONDS)

    def is_synced_within(self, seconds: float) -> bool:
        """Wait until each object of the first list was reported; whether this happened in time."""
        return self._synced.wait(seconds)

    @property
    def is_following(self) -> bool:
        """Whether it has listed the objects and follows their changes; not while it can't."""
        return self._synced.is_set() and bool(self._position)

    def _run(self) -> None:
        pause = FIRST_PAUSE
        while not self._stop.is_set:
            ended_well, self._watch_begun = False, math.inf
            try:
                ended_well = self._has_followed()
            except (Gone, NotFound):
                # No failure: the server has dropped the history, or the kind's definition was deleted.
                self._position = ""
            except Exception as error:
                # Any other error: without a restart, users of this informer would get no more changes.
                self._position = ""
                self._report(error)
            if ended_well or time.monotonic() - self._watch_begun > LONGEST_PAUSE:
                pause = FIRST_PAUSE
            if ended_well:
                continue
            self._stop.wait(pause * random.uniform(0.8, 1.2))
            pause = min(2 * pause, LONGEST_PAUSE)

    def _has_followed(self) -> bool:
        """List if needed, and watch; whether it succeeded, so that it may be repeated at once."""
        subject = self.subject
        if not self._position:
            self._take_list(subject.list(self._cluster))
            if not self._stop.is_set:
                self._synced.set()
            if not self._position:
                # Nothing serves the kind, so there is nothing to watch.
                return False
        self._watch_begun, before = time.monotonic(), self._position
        for event in self._cluster.watch(
            subject.api_version,
            subject.kind,
            subject.namespace or None,
            resource_version=self._position,
            seconds=self._watch_seconds(),
            label_selector=subject.label_selector,
            metadata_only=subject.metadata_only,
            bookmarks=True,
            stop=self._stop,
        ):
            if self._stop.is_set:
                break
            self._take_event(event)
        # A watch that ends at once without events (a proxy may cut it) must not spin.
        return self._position != before or time.monotonic() - self._watch_begun > FIRST_PAUSE

    def _take_list(self, page: Page) -> None:
        self._position = page.resource_version
        vanished = set(self._held)
        for obj in page.items:
            vanished.discard(_key_of(obj))
            self._put(obj)
        for key in vanished:
            self._drop(key)

    def _take_event(self, event: Event) -> None:
        if event.type == "DELETED":
            self._drop(_key_of(event.object))
        elif event.type != "BOOKMARK":
            self._put(event.object)
        # Only now: an event whose handling has failed is read again.
        self._position = event.object["metadata"].get("resourceVersion") or self._position

    def _put(self, obj: Object) -> None:
        key, meta = _key_of(obj), obj["metadata"]
        uid, version = meta.get("uid", ""), meta.get("resourceVersion", "")
        before = self._held.get(key)
        if before is not None and (before.uid, before.version) == (uid, version):
            return
        try:
            new = self._keep(obj)
        except Exception as error:
            self._report(error)
            return
        if before is not None and before.uid != uid:
            self._drop(key)
            before = None
        self._held[key] = _HeldObject(new, uid, version)
        old = before.object if before else None
        if old != new:
            self._notify(old, new)

    def _drop(self, key: _Key) -> None:
        before = self._held.pop(key, None)
        if before is not None:
            self._notify(before.object, None)

    def _notify(self, old: Object | None, new: Object | None) -> None:
        if self._stop.is_set:
            return
        try:
            self._on_change(old, new)
        except Exception as error:
            self._report(error)

    def _report(self, error: Exception) -> None:
        if not self._stop.is_set:
            # There is no other place to report to.
            with suppress(Exception):
                self._on_error(error)


_Key: TypeAlias = "tuple[str, str]"
"""Namespace and name."""


class _HeldObject(NamedTuple):
    """A held object.

    Attributes:
        object: the object as reduced by ``keep``.
        uid, version: those of the whole object.
    """

    object: Object
    uid: str
    version: str


def _key_of(obj: Object) -> _Key:
    meta = obj["metadata"]
    return (meta.get("namespace") or "", meta["name"])
