# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results of an undo of migrations: plain values, and no value of any field."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..._cluster.cluster import Ref
from ..._result_codec import INTERNAL, returned_as
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
    """The result of an undo for one object.

    Attributes:
        ref: its reference.
        migrations: The migrations that had written it.
        state: ``restored``, ``recreated`` or ``deleted``. ``as_before`` if there was nothing to do.
            ``changed_since`` if others have changed all of it. ``irreversible`` if the migration declares
            that. ``refused`` if the API server refuses it. ``failed`` if it could not be tried
            completely, so that it may be tried again.
        fields: Paths of the restored fields.
        retained: Paths of the fields that changed since then, and stay.
        lost: What a recreated object does not get back.
        reason: Why a part of it is not as before, or empty.
        entries: entries that are undone.
    """

    ref: Ref
    migrations: tuple[str, ...]
    state: str
    fields: tuple[str, ...] = ()
    retained: tuple[str, ...] = field(default=(), metadata=returned_as("kept"))
    lost: tuple[str, ...] = ()
    reason: str = ""
    entries: tuple[JournalEntry, ...] = field(default=(), metadata=INTERNAL)

    @property
    def is_changed(self) -> bool:
        """Whether the undo wrote it."""
        return self.state in (RESTORED, RECREATED, DELETED) or bool(self.fields)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left of the migrations' writes."""
        return self.state in (RESTORED, RECREATED, DELETED, AS_BEFORE) and not (self.retained or self.reason)

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
        text = words[self.state]
        if self.fields and self.state != RESTORED:
            text = f"{words[RESTORED]}, all else {text}"
        if retained and self.state != CHANGED_SINCE:
            text += f"; changed since, so it stays: {retained}"
        return f"{self.ref}: {text}" + (f": {self.reason}" if self.reason else "")
