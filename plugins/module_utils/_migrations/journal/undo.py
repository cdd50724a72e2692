# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Undo the writes of migrations from their journal: newest first, one object at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ..._cluster.cluster import Cluster, Object, Ref
from ..._cluster.errors import ClusterError, Conflict, Invalid, NotFound
from ..._cluster.exact_patch import patch_exactly
from ..._cluster.fields.json_patch import merge_patch_between
from ..._cluster.own_objects import own_object_problem
from ..._redaction import Redactor
from ..._text import one_line
from .journal_entry import STATUS, JournalEntry, newest_first
from .recreation import object_to_recreate, without_vanished_owners
from .restoration import RevertResult, WritableState, revert_write, top_of, writable_state
from .served_kind import ServedKind, find_served_kind
from .undo_report import (
    AS_BEFORE,
    CHANGED_SINCE,
    DELETED,
    FAILED,
    IRREVERSIBLE,
    RECREATED,
    REFUSED,
    RESTORED,
    UndoneObject,
)

TRIES = 5
"""How often an object is read again if other clients write it at the same time."""
SECONDS_TO_GO = 30.0
"""Seconds to wait for the deletion of an object that must be recreated."""
POLL_SECONDS = 0.2


def undo_writes(
    cluster: Cluster,
    entries: Iterable[JournalEntry],
    *,
    force: bool = False,
    sleep: Callable[[float], None] = time.sleep,
    report: Callable[[UndoneObject], None] = lambda _one: None,
    cancelled: Callable[[], bool] = lambda: False,
    inhabited: Callable[[Object], str] = lambda _live: "",
) -> list[UndoneObject]:
    """Undo writes: each field that still has the migration's value gets its earlier value.

    Returns the result of each object, in the order in which they were restored.

    Writes have the object's uid and resourceVersion as preconditions. Fields that were changed since are
    reported and stay. An error of one object is reported too, and the others are restored nevertheless.

    Args:
        cluster: any cluster: the live one, an overlay for a rehearsal, one in memory.
        entries: entries of the journal; those that are already undone are skipped.
        force: also overwrite what was changed since.
        sleep: waits that many seconds.
        report: called with each object once it is done.
        cancelled: whether to stop; called before each object.
        inhabited: returns why an object must not be deleted without ``force`` (what would be deleted with
            it), or empty.
    """
    done: list[UndoneObject] = []
    for ref, written in _by_object(entries):
        stays = (lambda _live: "") if force else inhabited
        restoration = _Restoration(cluster, ref, written, force=force, sleep=sleep, inhabited=stays)
        undone_object = restoration.left("it was cancelled before") if cancelled() else restoration.through()
        report(undone_object)
        done.append(undone_object)
    return done


def _by_object(entries: Iterable[JournalEntry]) -> Iterator[tuple[Ref, list[JournalEntry]]]:
    """The entries that are not undone yet, by object. Objects and their entries are newest first."""
    newest = newest_first(one for one in entries if not one.undone_at)
    for ref in dict.fromkeys(one.ref for one in newest):
        yield ref, [one for one in newest if one.ref == ref]


@dataclass
class _Findings:
    """Findings about the entries of one object."""

    taken: list[JournalEntry] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    retained: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    irreversible: list[str] = field(default_factory=list)


class _Restoration:
    """The restoration of one object."""

    def __init__(
        self,
        cluster: Cluster,
        ref: Ref,
        entries: Sequence[JournalEntry],
        *,
        force: bool,
        sleep: Callable[[float], None],
        inhabited: Callable[[Object], str],
    ) -> None:
        self._cluster = cluster
        self._ref = ref
        self._entries = entries
        self._force = force
        self._sleep = sleep
        self._inhabited = inhabited
        self._redactor = Redactor()
        for entry in entries:
            for obj in (entry.before, entry.after):
                if obj is not None:
                    self._redactor.note(obj)
        self._lost: tuple[str, ...] = ()

    def through(self) -> UndoneObject:
        """Restore it as far as possible."""
        # No migration may write these, but others may write journals.
        if problem := own_object_problem(self._ref):
            return self._result(REFUSED, reason=problem)
        try:
            served = find_served_kind(self._cluster, self._entries[0].api_version, self._ref.kind)
            if served is None:
                return self._without_kind()
            for attempt in range(1, TRIES + 1):
                try:
                    return self._try(served)
                except (Conflict, NotFound):
                    # Another client has written it in between: decide again what to restore.
                    if attempt == TRIES:
                        raise
            raise AssertionError("the last try returns or raises")
        except Invalid as refusal:
            return self._result(REFUSED, reason=str(refusal))
        except ClusterError as error:
            return self._result(FAILED, reason=str(error))

    def left(self, why: str) -> UndoneObject:
        """Do not restore it, and report the reason."""
        return self._result(FAILED, reason=why)

    def _without_kind(self) -> UndoneObject:
        was_there = any(entry.before is not None for entry in self._entries)
        if not was_there:
            return self._result(AS_BEFORE, entries=tuple(self._entries))
        reason = f"the cluster does not serve {self._ref.kind} any more, so it is gone"
        return self._result(CHANGED_SINCE, reason=reason)

    def _try(self, served: ServedKind) -> UndoneObject:
        ref = self._ref
        live = self._cluster.get(*ref.in_version(served.api_version))
        if live is not None and live["metadata"].get("deletionTimestamp"):
            held = ", ".join(live["metadata"].get("finalizers") or ()) or "none"
            return self._result(FAILED, reason=f"it is being deleted (finalizers: {held}); undo again then")
        status = self._writes_status()
        before = writable_state(live, status=status)
        after, findings = self._decide(before, served)
        if after == before:
            return self._unchanged_result(findings)
        if live is None:
            self._create(served, after.content or {})
            return self._result(RECREATED, replace(findings, fields=[]))
        if after.content is None:
            if why := self._inhabited(live):
                return self._retained_result(findings, why)
            self._delete(served, live)
            return self._result(DELETED, replace(findings, fields=[]))
        return self._patch(served, live, before, after, findings)

    def _writes_status(self) -> bool:
        return any(entry.subresource == STATUS for entry in self._entries)

    def _decide(self, live: WritableState, served: ServedKind) -> tuple[WritableState, _Findings]:
        """Revert the entries, newest first. Returns the desired object, and the findings."""
        findings = _Findings()
        state = live
        taken: list[tuple[JournalEntry, RevertResult]] = []
        for entry in self._entries:
            if entry.verb == "exec":
                findings.irreversible.append("a command was run in it: what that has done is not known")
                continue
            if entry.before is None and entry.after is None:
                findings.reasons.append("the journal no longer has what was written")
                continue
            restored = revert_write(entry, state, served.shapes, force=self._force)
            if entry.irreversible and restored.state != state:
                findings.irreversible.append(_irreversible_text(entry, restored.fields))
                continue
            state = restored.state
            taken.append((entry, restored))
        for entry, restored in net_reverts(taken):
            findings.fields += restored.fields
            findings.retained += restored.retained
            if restored.reason:
                findings.reasons.append(restored.reason)
            if restored.is_complete:
                findings.taken.append(entry)
        return state, findings

    def _unchanged_result(self, findings: _Findings) -> UndoneObject:
        if findings.irreversible:
            return self._result(IRREVERSIBLE, replace(findings, fields=[]))
        if findings.retained or findings.reasons:
            return self._result(CHANGED_SINCE, replace(findings, fields=[]))
        return self._result(AS_BEFORE, replace(findings, fields=[]))

    def _retained_result(self, findings: _Findings, why: str) -> UndoneObject:
        return self._result(CHANGED_SINCE, replace(findings, fields=[], taken=[]), reason=why)

    def _delete(self, served: ServedKind, live: Object) -> None:
        meta = live["metadata"]
        self._cluster.delete(
            *self._ref.in_version(served.api_version),
            uid=meta.get("uid"),
            resource_version=meta.get("resourceVersion"),
        )

    def _create(self, served: ServedKind, content: Object) -> None:
        obj, lost = object_to_recreate(served.api_version, self._ref, content)
        obj, owners = without_vanished_owners(self._cluster, obj)
        self._lost = (*lost, *owners)
        self._cluster.create(obj)

    def _patch(
        self,
        served: ServedKind,
        live: Object,
        before: WritableState,
        after: WritableState,
        findings: _Findings,
    ) -> UndoneObject:
        content = after.content or {}
        try:
            self._write(live, before.content or {}, content)
            return self._result(RESTORED, findings)
        except Invalid:
            if not after.recreated:
                return self._in_portions(served, before, findings)
        if why := self._inhabited(live):
            return self._retained_result(findings, why)
        # It was replaced, and an update can't restore the earlier object.
        self._delete(served, live)
        self._wait_until_gone(served)
        self._create(served, content)
        return self._result(RECREATED, replace(findings, fields=[]))

    def _write(self, live: Object, before: Object, after: Object) -> None:
        # Content without labels and annotations has no metadata, and the binding would replace the patch that
        # removes them. With an empty map on both sides, the patch names each field.
        patch = merge_patch_between({"metadata": {}, **before}, {"metadata": {}, **after})
        parts = {STATUS: {STATUS: patch.pop(STATUS)}} if STATUS in patch and self._writes_status() else {}
        if patch:
            parts = {"": patch, **parts}
        for subresource, part in parts.items():
            live = patch_exactly(self._cluster, live, part, subresource)

    def _in_portions(self, served: ServedKind, before: WritableState, findings: _Findings) -> UndoneObject:
        """Write top-level fields one by one, because the server refuses all of them together."""
        ref, refused = self._ref, dict[str, Invalid]()
        desired = self._decide(before, served)[0].content or {}
        for name in dict.fromkeys((*(before.content or {}), *desired)):
            live = self._cluster.get(*ref.in_version(served.api_version))
            now = writable_state(live, status=self._writes_status())
            if live is None or now.content is None:
                continue
            desired = self._decide(now, served)[0].content or {}
            part = {key: value for key, value in now.content.items() if key != name}
            part |= {name: desired[name]} if name in desired else {}
            try:
                self._write(live, now.content, part)
            except Invalid as refusal:
                refused[name] = refusal
        fields = [path for path in findings.fields if top_of(path) not in refused]
        if not refused:
            return self._result(RESTORED, findings)
        reason = "; ".join(dict.fromkeys(map(str, refused.values())))
        return self._result(REFUSED, replace(findings, taken=[], fields=fields), reason=reason)

    def _wait_until_gone(self, served: ServedKind) -> None:
        end = time.monotonic() + SECONDS_TO_GO
        ref = self._ref
        while self._cluster.get(*ref.in_version(served.api_version)):
            if time.monotonic() >= end:
                raise ClusterError(f"{ref} was to be recreated, and its deletion has not ended yet")
            self._sleep(POLL_SECONDS)

    def _result(
        self,
        state: str,
        findings: _Findings | None = None,
        *,
        reason: str = "",
        entries: tuple[JournalEntry, ...] = (),
    ) -> UndoneObject:
        findings = findings or _Findings()
        reasons = dict.fromkeys(filter(None, (reason, *findings.irreversible, *findings.reasons)))
        return UndoneObject(
            ref=self._ref,
            migrations=tuple(dict.fromkeys(entry.migration for entry in self._entries)),
            state=state,
            fields=tuple(dict.fromkeys(findings.fields)),
            retained=tuple(dict.fromkeys(findings.retained)),
            lost=self._lost,
            reason=self._redactor.clean("; ".join(reasons)),
            entries=entries or tuple(findings.taken),
        )


def net_reverts(
    taken: Sequence[tuple[JournalEntry, RevertResult]],
) -> Iterator[tuple[JournalEntry, RevertResult]]:
    """Reverted writes, newest first, without fields that already are as before an earlier one of them.

    So the effect of an earlier undo that could not be recorded does not count as a change by others.
    """
    already_reverted: set[str] = set()
    whole = False
    net = []
    for entry, restored in reversed(taken):
        retained = () if whole else tuple(path for path in restored.retained if path not in already_reverted)
        net.append((entry, replace(restored, retained=retained, reason="" if whole else restored.reason)))
        already_reverted |= set(restored.already_reverted)
        whole = whole or restored.whole
    return reversed(net)


def _irreversible_text(entry: JournalEntry, fields: Sequence[str]) -> str:
    return one_line(f"{entry.irreversible.rstrip('.')} ({', '.join(fields)})")
