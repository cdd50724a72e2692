# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes of undoing what migrations have written: plain values, and no value of any field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._cluster.cluster import Ref
from .journal_entry import JournalEntry

RESTORED = "restored"
RECREATED = "recreated"
DELETED = "deleted"
AS_BEFORE = "as_before"
CHANGED_SINCE = "changed_since"
IRREVERSIBLE = "irreversible"
REFUSED = "refused"
FAILED = "failed"


@dataclass(frozen=True)
class UndoneObject:
    """What came of undoing what was written to one object.

    Attributes:
        ref: what names it.
        migrations: ids of those that wrote it.
        state: ``restored``, ``recreated`` or ``deleted``, which are changes; ``as_before`` where there was
            nothing to do; ``changed_since`` where all of it was changed by others since; ``irreversible``
            where the migration says so; ``refused`` where the API server says so; ``failed`` where it could
            not be tried to the end, so that it may be tried again.
        fields: paths of what went back.
        retained: paths of what was changed since the migration, and stays.
        lost: what does not come back with an object that was made anew, in words.
        reason: why something of it is not as before, or empty.
        entries: those that are taken back for good.
    """

    ref: Ref
    migrations: tuple[str, ...]
    state: str
    fields: tuple[str, ...] = ()
    retained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    reason: str = ""
    entries: tuple[JournalEntry, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether it was written."""
        return self.state in (RESTORED, RECREATED, DELETED) or bool(self.fields)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left of what migrations wrote."""
        return self.state in (RESTORED, RECREATED, DELETED, AS_BEFORE) and not (self.retained or self.reason)

    def as_result(self) -> dict[str, Any]:
        """As it stands in a task's result and in a record: paths, and no values."""
        return {
            "kind": self.ref.kind,
            "group": self.ref.group,
            "namespace": self.ref.namespace,
            "name": self.ref.name,
            "migrations": list(self.migrations),
            "state": self.state,
            "fields": list(self.fields),
            "kept": list(self.retained),
            "lost": list(self.lost),
            "reason": self.reason,
        }

    def __str__(self) -> str:
        retained = ", ".join(self.retained)
        words = {
            RESTORED: f"as before ({', '.join(self.fields)})",
            RECREATED: f"recreated, without {', '.join(self.lost)}",
            DELETED: "deleted, because it did not exist before",
            AS_BEFORE: "already as before",
            CHANGED_SINCE: "stays, because it has changed since" + (f" ({retained})" if retained else ""),
            IRREVERSIBLE: "can't be undone",
            REFUSED: "not undone, as the API server refuses it",
            FAILED: "not undone",
        }
        told = words[self.state]
        if self.fields and self.state != RESTORED:
            told = f"{words[RESTORED]}, all else {told}"
        if retained and self.state != CHANGED_SINCE:
            told += f"; changed since, so it stays: {retained}"
        return f"{self.ref}: {told}" + (f": {self.reason}" if self.reason else "")


@dataclass(frozen=True)
class UndoReport:
    """What came of undoing.

    Attributes:
        objects: in the order in which they were restored.
    """

    objects: tuple[UndoneObject, ...] = ()

    @property
    def is_changed(self) -> bool:
        """Whether anything was written."""
        return any(one.is_changed for one in self.objects)

    @property
    def is_complete(self) -> bool:
        """Whether all is as it was before."""
        return all(one.is_complete for one in self.objects)

    def of(self, migration: str) -> UndoReport:
        """What concerns one migration."""
        return UndoReport(tuple(one for one in self.objects if migration in one.migrations))
