# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until objects are healthy, gone, or served: woken by watch events, not by a clock.

An object that is current in the apply's answer costs no request. All waits of one run share a
:class:`~.watcher.Watcher`, so that many components at once need one watch per kind and namespace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TypeAlias

from ..._cluster.cluster import Cluster, Object, Pages, Ref, address_of, ref_of
from ..._progress import REASON_SECONDS
from ..._threads import map_in_threads
from .finished_jobs import end_of
from .platform_rules import waits_for_consumer
from .result import NOT_OBSERVED, PROGRESSING, current, failed, progressing
from .status import CURRENT, FAILED, Health, assess_health, has_state, is_always_current, lacks_state
from .watcher import (
    Inbox,
    ObjectState,
    Watcher,
    WatchFailure,
    WatchScope,
    WatchUpdate,
    parse_resource_version,
    watch_scope,
)

NOTICE_SECONDS = 0.25
"""The longest time until a cancellation is noticed, in seconds."""
LOOK_SECONDS = 10.0
"""Seconds between two searches for causes during a wait, after the first one."""
MISSING = "Missing"
MISSING_FAILS_AFTER = 5.0
"""Seconds that an object may be missing: tools that replace objects delete and create them."""
FIRST_SERVED_POLL_SECONDS = 0.03
SERVED_POLL_SECONDS = 0.1
"""Seconds between reads of discovery for a new kind, less at first: no event announces that it is served."""
NOT_SERVED_LOOK_SECONDS = 2.0
"""Seconds after which the CRD of a kind that is not served is read for the reason."""

UNREPORTED_SECONDS = 10.0
"""Seconds until an object whose operator does not report a state counts as current: it may not run yet."""
UNREPORTED = Health(
    PROGRESSING, NOT_OBSERVED, "its operator has not reported a state", settles_after=UNREPORTED_SECONDS
)

NOT_SERVED = progressing("NotServed", "its kind is not served yet")
NOT_READ_YET = progressing("NotReadYet", "it was not read yet")

OnChange = Callable[[Ref, Health], None]
LookInto: TypeAlias = "Callable[[Sequence[UnhealthyObject]], None]"
Judge: TypeAlias = "Callable[[Object | None], Health]"
Epilogue: TypeAlias = "Callable[[Object | None], Health | None]"
"""Returns the result of an object that no longer exists, from its last state; None if that is no end."""


@dataclass(frozen=True)
class UnhealthyObject:
    """An object that did not reach its wanted state, with its last known state."""

    api_version: str
    ref: Ref
    health: Health
    object: Object | None


@dataclass(frozen=True)
class WaitTerms:
    """The terms of a wait.

    Attributes:
        cluster: live or an overlay.
        deadline: when to give up, on the clock of ``time.monotonic()``.
        cancelled: whether to give up; noticed within half a second.
        on_change: gets the state of each object that was not as wanted at first, and each change of it, on
            the caller's thread.
        look_into: called after five seconds and every ten seconds after that, on the caller's thread, with
            the objects that are still not as wanted.
        watcher: the one to share with other waits on this cluster.
    """

    cluster: Cluster
    deadline: float = float("inf")
    cancelled: Callable[[], bool] = lambda: False
    on_change: OnChange = lambda _ref, _health: None
    look_into: LookInto = lambda _unhealthy: None
    watcher: Watcher | None = None


@dataclass(frozen=True)
class WaitResult:
    """The result of a wait.

    Attributes:
        ended: ``healthy``, ``failed`` (an object will not become healthy), ``deadline`` or ``cancelled``.
        unhealthy: the objects that were not healthy at the end, failed ones first.
        trouble: why the last watches of the cluster failed, or empty.
        seen: the last known state of each object that exists.
        watched: whether every written object was watched to the end, so that ``seen`` is up to date.
    """

    ended: str
    unhealthy: list[UnhealthyObject] = field(default_factory=list)
    trouble: str = ""
    seen: Mapping[Ref, Object] = field(default_factory=dict, compare=False)
    watched: bool = field(default=False, compare=False)

    @property
    def is_healthy(self) -> bool:
        """Whether all objects reached the wanted state."""
        return self.ended == "healthy"


def wait_until_healthy(
    terms: WaitTerms,
    refs: Sequence[tuple[str, Ref]],
    *,
    objects: Sequence[Object] = (),
    pages: Pages | None = None,
    by_state: bool = True,
) -> WaitResult:
    """Wait until all objects are current at the same time, or until one of them has failed.

    Args:
        terms: of the wait.
        refs: the objects to wait for: apiVersion and reference of each.
        objects: the answers of the applies. An object that is current in its answer is not read again.
        pages: whole lists from before the applies: they are not read again, but watched from there on for
            as long as the wait lasts.
        by_state: see :func:`~.status.assess_health`.

    Raises:
        ClusterError: the objects may not be read or watched.
    """
    watcher = terms.watcher or Watcher(terms.cluster)
    answers = {ref_of(o): o for o in objects}
    pages = pages or {}
    listed = {
        ref_of(o): (o, parse_resource_version(p.resource_version)) for p in pages.values() for o in p.items
    }

    def judge(obj: Object | None) -> Health:
        if obj is None:
            return progressing(MISSING, "it is not there (any more)", fails_after=MISSING_FAILS_AFTER)
        health = assess_health(obj, by_state=by_state)
        is_new = by_state and ref_of(obj) in answers and health.state == CURRENT
        if is_new and lacks_state(obj) and watcher.declares_state(obj):
            return UNREPORTED
        if health.state == CURRENT or obj["kind"] != "PersistentVolumeClaim":
            return health
        name = (obj.get("spec") or {}).get("storageClassName")
        storage_class = watcher.storage_class(name) if name else None
        return current("it waits for its first pod") if waits_for_consumer(obj, storage_class) else health

    def epilogue(last: Object | None) -> Health | None:
        return end_of(terms.cluster, last)

    wards = {}
    for api_version, ref in refs:
        answer = answers.get(ref)
        if answer is not None:
            wards[ref] = _Ward(api_version, ref, judge, judge(answer), answer, epilogue, written=True)
        elif not is_always_current(api_version, ref.kind):
            obj, version = listed.get(ref, (None, 0))
            known = judge(obj) if obj else NOT_READ_YET
            wards[ref] = _Ward(api_version, ref, judge, known, obj, epilogue, version=version)
    return _wait(terms, watcher, wards, pages)


def wait_until_gone(terms: WaitTerms, deleted: Sequence[Object]) -> WaitResult:
    """Wait until none of these very objects exists any longer.

    It needs one read per object, and a watch only for those that still exist. An object that was recreated
    with the same name is another one. Result and errors as of :func:`wait_until_healthy`.

    Args:
        terms: of the wait.
        deleted: the objects, or only their metadata, from the time of their deletion.
    """
    wards = {}
    for existing in deleted:
        obj = terms.cluster.get(*address_of(existing))
        if obj is not None:
            judge = _judge_of_absence(existing["metadata"].get("uid"))
            wards[ref_of(existing)] = _Ward(existing["apiVersion"], ref_of(existing), judge, judge(obj), obj)
    return _wait(terms, terms.watcher or Watcher(terms.cluster), wards, {})


def _judge_of_absence(uid: str | None) -> Judge:
    def judge(obj: Object | None) -> Health:
        if obj is None or obj["metadata"].get("uid") != uid:
            return current("it is gone")
        if obj["metadata"].get("deletionTimestamp"):
            return assess_health(obj)
        return progressing("NotDeleted", "its deletion was not requested")

    return judge


def wait_until_established(terms: WaitTerms, crds: Sequence[Object]) -> WaitResult:
    """Wait until the API server serves every version of these CustomResourceDefinitions that it should.

    Discovery lists a kind only once its definition is established. No event announces that, so this wait does
    use the clock. Definitions are too large to watch them all for two conditions: one is read only while its
    kind stays unserved, to fail at once if its names are taken. Nothing is reported meanwhile. Result and
    errors as of :func:`wait_until_healthy`.
    """
    waiting = {ref_of(crd): crd for crd in crds}
    states: dict[Ref, Health] = {}
    look_at = time.monotonic() + NOT_SERVED_LOOK_SECONDS
    pause = FIRST_SERVED_POLL_SECONDS
    while True:
        waiting = {ref: crd for ref, crd in waiting.items() if not _is_served(terms.cluster, crd)}
        now = time.monotonic()
        if waiting and now >= look_at:
            look_at = now + NOT_SERVED_LOOK_SECONDS
            read = map_in_threads(lambda crd: terms.cluster.get(*address_of(crd)), waiting.values())
            for ref, live in zip(waiting, read, strict=True):
                health = assess_health(live) if live else failed("Missing", "it was deleted")
                if health.state != CURRENT:
                    states[ref] = health
        unhealthy = [
            UnhealthyObject(crd["apiVersion"], ref, states.get(ref, NOT_SERVED), crd)
            for ref, crd in waiting.items()
        ]
        ended = _ended([u.health for u in unhealthy], terms)
        if ended:
            return WaitResult(ended, _failed_first(unhealthy))
        time.sleep(max(0.0, min(pause, terms.deadline - now)))
        pause = min(2 * pause, SERVED_POLL_SECONDS)


def _is_served(cluster: Cluster, crd: Object) -> bool:
    """Whether the server serves every version that the definition declares, from this definition."""
    spec = crd["spec"]
    served = (
        cluster.resource(f"{spec['group']}/{version['name']}", spec["names"]["kind"])
        for version in spec["versions"]
        if version.get("served")
    )
    return all(one is not None and one.plural == spec["names"]["plural"] for one in served)


@dataclass
class _Ward:
    """One object of a wait: its last known state, and the time since which it is in that state.

    ``written`` means that its first known state is the answer to a write. ``version`` is the one in which it
    was seen, by default the object's own.
    """

    api_version: str
    ref: Ref
    judge: Judge
    health: Health
    object: Object | None
    epilogue: Epilogue | None = None
    written: bool = False
    version: int = 0
    since: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if self.object is not None and not self.version:
            self.version = parse_resource_version(self.object["metadata"].get("resourceVersion"))

    def changes_with(self, sighting: ObjectState) -> bool:
        """Record a sighting; whether it changes the object's health. Older sightings are ignored."""
        if sighting.version < self.version:
            return False
        self.version = sighting.version
        self.object = sighting.object or sighting.last or self.object
        health = self.judge(sighting.object)
        return self._changes_to((self._end() or health) if sighting.object is None else health)

    def changes_by_time(self, now: float) -> bool:
        """Turn a state that has lasted too long into its result; whether this changed the health."""
        if now < self.patience_ends():
            return False
        if self.health.settles_after is not None:
            return self._changes_to(current())
        ended = self._end() if self.health.reason == MISSING else None
        return self._changes_to(ended or failed(self.health.reason, self.health.message))

    def patience_ends(self) -> float:
        """The time when its present state counts as failed, or as current."""
        limit = self.health.fails_after if self.health.fails_after is not None else self.health.settles_after
        return float("inf") if limit is None else self.since + limit

    def _end(self) -> Health | None:
        return self.epilogue(self.object) if self.epilogue else None

    def _changes_to(self, health: Health) -> bool:
        before, self.health = self.health, health
        if (before.state, before.reason) != (health.state, health.reason):
            self.since = time.monotonic()
        return before != health


def _wait(terms: WaitTerms, watcher: Watcher, wards: dict[Ref, _Ward], pages: Pages) -> WaitResult:
    report = terms.on_change
    inbox: Inbox = SimpleQueue()
    trouble = ""
    for ward in wards.values():
        if ward.health.state != CURRENT:
            report(ward.ref, ward.health)
    look_at = time.monotonic() + REASON_SECONDS
    try:
        followed: set[WatchScope] | None = None
        while True:
            now = time.monotonic()
            for ward in wards.values():
                if ward.changes_by_time(now):
                    report(ward.ref, ward.health)
            ended = _ended([w.health for w in wards.values()], terms)
            if ended:
                seen = {ward.ref: ward.object for ward in wards.values() if ward.object is not None}
                written = {watch_scope(w.api_version, w.ref) for w in wards.values() if w.written}
                return WaitResult(ended, _unhealthy(wards), trouble, seen, written <= (followed or set()))
            if followed is None:
                followed = _follow(watcher, wards, inbox, pages)
            if now >= look_at:
                terms.look_into(_unhealthy(wards))
                look_at = time.monotonic() + LOOK_SECONDS
            soonest = min(w.patience_ends() for w in wards.values())
            for news in _news(inbox, max(0.0, min(NOTICE_SECONDS, terms.deadline - now, soonest - now))):
                if isinstance(news, WatchFailure):
                    if news.final:
                        raise news.error
                    trouble = str(news.error)
                    continue
                trouble = ""
                ward = wards[news.ref]
                if ward.changes_with(news):
                    report(ward.ref, ward.health)
    finally:
        watcher.leave(inbox)


def _follow(watcher: Watcher, wards: dict[Ref, _Ward], inbox: Inbox, pages: Pages) -> set[WatchScope]:
    """Follow objects that are not current, and those that we did not write: the others' work may change them.

    Returns:
        The scopes in which everything is followed now.
    """
    followed = set()
    scopes: dict[WatchScope, list[_Ward]] = {}
    for ward in wards.values():
        scopes.setdefault(watch_scope(ward.api_version, ward.ref), []).append(ward)
    for scope, members in scopes.items():
        # An operator reports the state of what was just written later.
        if any(w.health.state != CURRENT or not w.written or _has_state(w) for w in members):
            watcher.follow(scope, [w.ref for w in members], inbox, pages.get(scope))
            followed.add(scope)
    return followed


def _has_state(ward: _Ward) -> bool:
    return ward.object is not None and has_state(ward.object)


def _news(inbox: Inbox, seconds: float) -> list[WatchUpdate]:
    """All updates in the inbox; waits so many seconds for the first one."""
    try:
        updates = [inbox.get(timeout=seconds)] if seconds > 0 else []
    except Empty:
        return []
    while not inbox.empty():
        updates.append(inbox.get())
    return updates


def _ended(states: Sequence[Health], terms: WaitTerms) -> str:
    if all(s.state == CURRENT for s in states):
        return "healthy"
    if any(s.state == FAILED for s in states):
        return "failed"
    if terms.cancelled():
        return "cancelled"
    return "deadline" if time.monotonic() >= terms.deadline else ""


def _unhealthy(wards: dict[Ref, _Ward]) -> list[UnhealthyObject]:
    return _failed_first(
        [
            UnhealthyObject(w.api_version, w.ref, w.health, w.object)
            for w in wards.values()
            if w.health.state != CURRENT
        ]
    )


def _failed_first(unhealthy: list[UnhealthyObject]) -> list[UnhealthyObject]:
    return sorted(unhealthy, key=lambda u: u.health.state != FAILED)
