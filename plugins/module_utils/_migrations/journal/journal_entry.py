# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Journal entries of migrations: each written object before and after the write."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from threading import Lock

from ..._cluster.cluster import Object, Ref
from ..._timestamp import timestamp

STATUS = "status"


@dataclass(frozen=True)
class JournalEntry:
    """One write in the journal.

    Attributes:
        migration: id of the migration that wrote.
        verb: ``apply``, ``create``, ``patch``, ``delete`` or ``exec``.
        api_version: the version in which it was written.
        ref: the reference of the object.
        before: the object before the write; None if it did not exist.
        after: the object after the write; None if it was deleted. The intended one if not settled.
        is_settled: whether the write is known to have taken effect. If not, its effect is unknown.
        sequence: microseconds since 1970, unique for each write of a process: later is larger. It is by the
            clock of the writing host, so it does not order writes of several; see :func:`newest_first`.
        at: the time of the write, RFC 3339.
        by: the user, as in ``alice@bastion``.
        run: the name of its run, or empty.
        subresource: the written subresource of the object, or empty.
        irreversible: why it can't be undone, or empty.
        undone_at, undone_by: when and by whom it was undone, or empty.
        name, uid, resource_version: of its record, or empty if it has none.
        created: when its record was created, by the API server's clock (RFC 3339), or empty if it has none.
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
    """A store of entries. All methods may be called from several threads at once."""

    @abstractmethod
    def record_intent(self, entry: JournalEntry) -> JournalEntry:
        """Record a write before it is sent. Returns the entry as recorded.

        Raises:
            ClusterError: it can't be recorded, so the write must not be sent.
        """

    @abstractmethod
    def record_result(self, entry: JournalEntry) -> None:
        """Record the object after the write."""

    @abstractmethod
    def discard_intent(self, entry: JournalEntry) -> None:
        """Delete the entry of a write that has changed nothing."""


class JournalInMemory(Journal):
    """A journal that lives as long as its process: for tests.

    Attributes:
        entries: all recorded entries, the oldest first.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_sequence: dict[int, JournalEntry] = {}

    @property
    def entries(self) -> list[JournalEntry]:
        """All recorded entries, the oldest first."""
        with self._lock:
            return list(self._by_sequence.values())

    def record_intent(self, entry: JournalEntry) -> JournalEntry:
        """See Journal."""
        with self._lock:
            self._by_sequence[entry.sequence] = entry
        return entry

    def record_result(self, entry: JournalEntry) -> None:
        """See Journal."""
        self.record_intent(entry)

    def discard_intent(self, entry: JournalEntry) -> None:
        """See Journal."""
        with self._lock:
            self._by_sequence.pop(entry.sequence, None)


class _Sequence:
    """Numbers for writes: microseconds since 1970, or the last number plus one if that is larger."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = Lock()

    def next(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last


_SEQUENCE = _Sequence()


def with_sequence(entry: JournalEntry) -> JournalEntry:
    """The entry with its sequence number and its time."""
    now = timestamp()
    return replace(entry, sequence=_SEQUENCE.next(), at=now)


def newest_first(entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """The entries, the newest first.

    The order is by the API server's clock, because the clocks of hosts may differ by any time. Its unit is a
    second. Within one second, usually a single process has written.
    """
    return sorted(entries, key=lambda one: (one.created, one.sequence), reverse=True)
