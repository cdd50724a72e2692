# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose writes are journaled, with each object before and after the write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from ..._cluster.cluster import Cluster, ExecResult, Object, Patch, Ref, group_of
from ..._cluster.errors import ApiError, ClusterError, Conflict, KindNotServed, Unreachable, may_have_acted
from ..._cluster.fence import LeaseLost
from ..._cluster.wrapper import Call, ClusterWrapper, T
from ..._deep_copy import deep_copy
from .intended_writes import (
    as_merge_patch,
    expected_after_apply,
    expected_after_patch,
    is_same_resource_version,
    resource_version_of,
    with_name,
    with_preconditions,
)
from .journal_entry import STATUS, Journal, JournalEntry, with_sequence

TRIES = 10
"""How often a write is tried if others change the object between the read and the write."""

_NEVER_RESTORED = ("managedFields", "selfLink")
"""Metadata that undo does not restore: field managers, and a field of old servers."""

_REFUSALS = (ApiError, KindNotServed, LeaseLost, Unreachable)
"""Errors that say whether a write may have taken effect. Other errors may follow a lost attempt."""

_OF_THE_OBJECT = ("", STATUS)
"""Subresources whose answer is the object. The answer of others, such as scale, is another object."""


@dataclass(frozen=True)
class Writer:
    """The migration that writes through a journal.

    Attributes:
        migration: the migration's id.
        irreversible: why what it writes can't be undone, or empty.
        irreversible_kinds: the kinds that this applies to; if empty, all.
    """

    migration: str
    irreversible: str = ""
    irreversible_kinds: Sequence[str] = ()

    def irreversible_of(self, kind: str) -> str:
        """Why a write to an object of a kind can't be undone, or empty."""
        concerned = not self.irreversible_kinds or kind in self.irreversible_kinds
        return self.irreversible if concerned else ""


class JournalingCluster(ClusterWrapper):
    """A cluster that records each write in a journal before it takes effect, and its result after it.

    It reads each object before it writes it. Each write has the uid and resourceVersion as preconditions, so
    it fails if others have written in between. It then reads and tries again, up to a limit. Dry runs on the
    server are not journaled.
    """

    def __init__(self, inner: Cluster, journal: Journal, writer: Writer) -> None:
        super().__init__(inner)
        self._journal = journal
        self._writer = writer

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.writes:
            raise AssertionError(f"{call.verb} is a write that isn't journaled")
        return ask()

    def apply(self, obj: Object, *, force: bool = False, dry_run: bool = False) -> Object:
        """See Cluster."""
        if dry_run:
            return self._inner.apply(obj, force=force, dry_run=True)
        return self._write_change(
            self._entry("apply", obj["apiVersion"], obj["kind"], obj["metadata"]),
            foretell=lambda before: expected_after_apply(before, obj) if before else deep_copy(obj),
            write=lambda before: self._inner.apply(with_preconditions(obj, before), force=force),
        )

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """See Cluster."""
        if dry_run:
            return self._inner.create(obj, dry_run=True)
        named = with_name(obj)
        return self._write_change(
            self._entry("create", obj["apiVersion"], obj["kind"], named["metadata"]),
            foretell=lambda _before: deep_copy(named),
            write=lambda _before: self._inner.create(named),
        )

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
        """See Cluster."""

        def write(before: Object | None, *, rehearsed: bool = False) -> Object:
            if isinstance(patch, Mapping):
                merge: Mapping[str, Any] | None = patch
            else:
                is_versioned = subresource in _OF_THE_OBJECT and resource_version_of(before)
                merge = as_merge_patch(patch, before) if is_versioned else None
            bound = patch if merge is None else with_preconditions(merge, before)
            return self._inner.patch(
                api_version, kind, name, namespace, bound, subresource=subresource, dry_run=rehearsed
            )

        if dry_run:
            return write(None, rehearsed=True)
        entry = self._entry("patch", api_version, kind, {"name": name, "namespace": namespace})
        return self._write_change(
            replace(entry, subresource=subresource),
            foretell=lambda before: expected_after_patch(before, patch) if before else None,
            write=write,
            rehearse=lambda: write(None, rehearsed=True),
        )

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        dry_run: bool = False,
        **how: Any,
    ) -> bool:
        """See Cluster."""

        def deletes(before: Object | None, *, rehearsed: bool = False) -> bool:
            meta = before["metadata"] if before else {}
            seen = {"uid": meta.get("uid"), "resource_version": meta.get("resourceVersion")}
            bound = {**seen, **{key: value for key, value in how.items() if value is not None}}
            return self._inner.delete(api_version, kind, name, namespace, dry_run=rehearsed, **bound)

        if dry_run:
            return deletes(None, rehearsed=True)
        entry = self._entry("delete", api_version, kind, {"name": name, "namespace": namespace})
        return self._journal_write(
            entry,
            lambda _before: None,
            deletes,
            lambda _before, _answer: None,
            rehearse=lambda: deletes(None, rehearsed=True),
        )

    def exec(self, name: str, namespace: str, command: Sequence[str], **how: Any) -> ExecResult:
        """See Cluster. Only the pod is journaled, because the command may have secrets."""
        entry = self._entry("exec", "v1", "Pod", {"name": name, "namespace": namespace})
        entry = self._journal.record_intent(with_sequence(entry))
        answer = self._inner.exec(name, namespace, command, **how)
        self._settle(replace(entry, is_settled=True))
        return answer

    def _entry(self, verb: str, api_version: str, kind: str, meta: Mapping[str, Any]) -> JournalEntry:
        resource = self._inner.resource(api_version, kind)
        namespace = "" if resource and not resource.namespaced else meta.get("namespace") or ""
        ref = Ref(group_of(api_version), kind, namespace, meta.get("name") or "")
        writer = self._writer
        irreversible = writer.irreversible_of(kind)
        return JournalEntry(writer.migration, verb, api_version, ref, None, None, irreversible=irreversible)

    def _write_change(
        self,
        entry: JournalEntry,
        foretell: Callable[[Object | None], Object | None],
        write: Callable[[Object | None], Object],
        rehearse: Callable[[], Object] | None = None,
    ) -> Object:
        def became(before: Object | None, answer: Object) -> Object | None:
            if entry.subresource in _OF_THE_OBJECT:
                return answer
            live = self._read(entry)
            if live is None or resource_version_of(live) == resource_version_of(answer):
                return live or before
            # A controller has written before this read. Its changes must not count as the migration's.
            return _without_version(foretell(before))

        return self._journal_write(entry, foretell, write, became, rehearse)

    def _journal_write(
        self,
        entry: JournalEntry,
        foretell: Callable[[Object | None], Object | None],
        write: Callable[[Object | None], T],
        became: Callable[[Object | None, T], Object | None],
        rehearse: Callable[[], T] | None = None,
    ) -> T:
        for attempt in range(1, TRIES + 1):
            before = self._read(entry)
            if before is None and rehearse:
                # There is nothing to change. The server reports that with its own message.
                answer = rehearse()
                if not answer:
                    return answer
                # Another client has created it meanwhile.
                continue
            if before is not None and entry.verb == "create":
                # It can't be created: the server reports that too.
                return write(None)
            intent = self._journal.record_intent(
                replace(with_sequence(entry), before=_restorable(before), after=_restorable(foretell(before)))
            )
            # The last try has no preconditions: writes of others must not fail the migration for ever.
            bound = attempt < TRIES
            try:
                answer = write(before if bound else _without_version(before))
            except _REFUSALS as refusal:
                if may_have_acted(refusal):
                    raise
                self._withdraw(intent)
                if isinstance(refusal, Conflict) and bound and self._has_moved(entry, before):
                    continue
                raise
            # Without preconditions the answer also has what others have written since the read.
            known = bound or before is None
            after = became(before, answer) if known else _without_version(foretell(before))
            # A deletion returns False if another client has deleted the object before.
            changed = (
                answer if entry.verb == "delete" else not (before and is_same_resource_version(before, after))
            )
            if changed:
                self._settle(replace(intent, after=_restorable(after), is_settled=True))
            else:
                self._withdraw(intent)
            return answer
        raise ClusterError(f"{entry.verb} {entry.ref}: others make it and take it away all the time")

    def _read(self, entry: JournalEntry) -> Object | None:
        ref = entry.ref
        return self._inner.get(*ref.in_version(entry.api_version))

    def _has_moved(self, entry: JournalEntry, before: Object | None) -> bool:
        now = self._read(entry)
        return resource_version_of(now) != resource_version_of(before)

    def _settle(self, entry: JournalEntry) -> None:
        # The intent is recorded, which is enough: a migration must not fail after its write has succeeded.
        with suppress(ClusterError):
            self._journal.record_result(entry)

    def _withdraw(self, entry: JournalEntry) -> None:
        with suppress(ClusterError):
            self._journal.discard_intent(entry)


def _without(obj: Object, *names: str) -> Object:
    """A shallow copy of the object without some of its metadata."""
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key not in names}}


def _without_version(obj: Object | None) -> Object | None:
    """The object without resourceVersion, because it may never have existed in this state."""
    return _without(obj, "resourceVersion") if obj is not None else None


def _restorable(obj: Object | None) -> Object | None:
    return _without(obj, *_NEVER_RESTORED) if obj is not None else None
