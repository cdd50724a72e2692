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
from typing import Annotated

from ..._cluster.cluster import Object, Ref
from ..._field_notes import SPEC, in_metadata, in_spec, in_status, whole_part
from ..._timestamp import timestamp

STATUS = "status"


@dataclass(frozen=True)
class JournalEntry:
    """One write in the journal.

    The object after the write is the intended one until the write is settled. The sequence is unique for each
    write of a process: later is larger. It is by the clock of the writing host, so it does not order writes
    of several; see :func:`newest_first`.
    """

    migration: Annotated[str, in_spec("The id of the migration.")]
    verb: Annotated[str, in_spec("What was written.", enum=["apply", "create", "patch", "delete", "exec"])]
    api_version: Annotated[str, in_spec("The version in which the object was written.")]
    ref: Annotated[Ref, whole_part(SPEC)]
    before: Object | None = None
    after: Object | None = None
    is_settled: Annotated[
        bool, in_spec("Whether the write is known to have taken effect.", name="settled")
    ] = False
    sequence: Annotated[
        int, in_spec("Microseconds since 1970 by the clock of the host that wrote.", format="int64")
    ] = 0
    at: Annotated[str, in_spec("When it was written.", format="date-time")] = ""
    by: Annotated[str, in_spec("Who ran the migration, as in `alice@bastion`.")] = ""
    run: Annotated[str, in_spec("The name of the run.")] = ""
    subresource: Annotated[str, in_spec("The subresource that was written, or empty.")] = ""
    irreversible: Annotated[str, in_spec("Why the write cannot be undone, or empty.")] = ""
    undone_at: Annotated[str, in_status("When the write was undone.", format="date-time")] = ""
    undone_by: Annotated[str, in_status("Who has undone the write.")] = ""
    name: Annotated[str, in_metadata()] = ""
    uid: Annotated[str, in_metadata()] = ""
    resource_version: Annotated[str, in_metadata()] = ""
    created: Annotated[str, in_metadata("creationTimestamp")] = ""


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
