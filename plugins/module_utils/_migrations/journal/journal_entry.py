# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of the writes of migrations: what each object was before, and what it became."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock

from ..._cluster.cluster import Object, Ref
from ..._cluster.timestamp import timestamp

STATUS = "status"


@dataclass(frozen=True)
class JournalEntry:
    """One write, as it is remembered.

    Attributes:
        migration: who wrote: the id of a migration.
        verb: ``apply``, ``create``, ``patch``, ``delete`` or ``exec``.
        api_version: the version in which it was written.
        ref: what names the object.
        before: the object before the write; None where there was none.
        after: what it became; None where it went. Where the write isn't settled, what it was meant to be.
        settled: whether the write is known to have taken effect. Where it isn't, it may have or not.
        sequence: microseconds since 1970, and different for each write of a process: later is larger. It is
            by the clock of whoever wrote, so it orders no writes of several; see :func:`newest_first`.
        at: when, RFC 3339.
        by: who, as in ``alice@bastion``.
        run: the run that it was a part of, or empty.
        subresource: of the object, which was written, or empty.
        irreversible: why it can't be undone, or empty.
        undone_at, undone_by: when and by whom it was undone, or empty.
        name, uid, resource_version: of its record, or empty where it has none.
        created: when its record was made, by the API server's clock (RFC 3339), or empty where it has none.
    """

    migration: str
    verb: str
    api_version: str
    ref: Ref
    before: Object | None
    after: Object | None
    is_settled: bool = False
    sequence: int = 0
    at: str = ""
    by: str = ""
    run: str = ""
    subresource: str = ""
    irreversible: str = ""
    undone_at: str = ""
    undone_by: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""
    created: str = ""


class Journal(ABC):
    """Where entries are kept. All methods may be called from several threads at once."""

    @abstractmethod
    def record_intent(self, entry: JournalEntry) -> JournalEntry:
        """Keep what is about to be written; answers with the entry as it is kept.

        Raises:
            ClusterError: it can't be kept, so that the write must not be made.
        """

    @abstractmethod
    def record_result(self, entry: JournalEntry) -> None:
        """Keep what a write has made of the object."""

    @abstractmethod
    def discard_intent(self, entry: JournalEntry) -> None:
        """Forget a write that has changed nothing."""


class JournalInMemory(Journal):
    """A journal that lives as long as its process: for tests.

    Attributes:
        entries: those that are kept, the oldest first.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: dict[int, JournalEntry] = {}

    @property
    def entries(self) -> list[JournalEntry]:
        """What is kept, the oldest first."""
        with self._lock:
            return list(self._kept.values())

    def record_intent(self, entry: JournalEntry) -> JournalEntry:
        """See Journal."""
        with self._lock:
            self._kept[entry.sequence] = entry
        return entry

    def record_result(self, entry: JournalEntry) -> None:
        """See Journal."""
        self.record_intent(entry)

    def discard_intent(self, entry: JournalEntry) -> None:
        """See Journal."""
        with self._lock:
            self._kept.pop(entry.sequence, None)


class _Sequence:
    """Numbers for writes: microseconds since 1970, or one more than the last where that is larger."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = Lock()

    def next(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last


_SEQUENCE = _Sequence()


def with_sequence(entry: JournalEntry) -> JournalEntry:
    """The entry with its number and its moment."""
    now = timestamp()
    return replace(entry, sequence=_SEQUENCE.next(), at=now)


def newest_first(entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """The entries, the newest first.

    By the API server's clock, as those of the hosts that wrote may differ by any time. It counts in whole
    seconds; within one, mostly a single process has written.
    """
    return sorted(entries, key=lambda one: (one.created, one.sequence), reverse=True)
