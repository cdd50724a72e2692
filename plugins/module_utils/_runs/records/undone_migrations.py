# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of undoing each migration, and recording it in the records of the migrations' runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._cluster.cluster import Cluster, Object
from ..._cluster.errors import NotFound
from ..._migrations.journal.journal_entry import JournalEntry, newest_first
from ..._migrations.journal.undo_report import FAILED, UndoneObject
from ..._result_codec import INTERNAL
from .journal_records import record_undone_entries
from .runs import update_run_status

UNDONE = "undone"
PARTLY = "partly"
"""How far a migration is undone; a third state is FAILED."""
THROUGH = "through"
"""In an undo note of a run's record: the newest entry of the run's journal at that time, by name."""


@dataclass(frozen=True)
class UndoneMigration:
    """The outcome of undoing one migration.

    Attributes:
        id: The migration's id.
        runs: The runs in which it wrote this, or else the newest.
        state: ``undone``, ``partly`` if a part of it stays, or ``failed`` if it may be tried again.
        at: When it was undone.
        by: By whom.
        objects: The objects that it wrote and that were not undone before.
        own_undo: The state of the migration's own undo method. Empty if it has none.
        error: Why that failed, or empty.
        changed: whether anything was written now.
    """

    id: str
    runs: tuple[str, ...]
    state: str
    at: str
    by: str
    objects: tuple[UndoneObject, ...] = ()
    own_undo: str = ""
    error: str = ""
    changed: bool = field(default=True, metadata=INTERNAL)

    def as_record(self) -> dict[str, Any]:
        """The form of a run's record."""
        record = {
            "state": self.state,
            "at": self.at,
            "by": self.by,
            "ownUndo": self.own_undo,
            "error": self.error,
        }
        return {**record, "objects": [str(one) for one in self.objects]}


def undo_state(objects: Iterable[UndoneObject], error: str) -> str:
    """How far a migration is undone."""
    objects = list(objects)
    if error or any(one.state == FAILED for one in objects):
        return FAILED
    return UNDONE if all(one.is_complete for one in objects) else PARTLY


def recorded_undo_of(
    runs: Mapping[str, Object], entries: Iterable[JournalEntry], migration: str
) -> Mapping[str, Any]:
    """What the newest run's record says of undoing a migration; empty if nobody tried since its last write.

    The migration may have written after that: outside of a deployment its writes are again in that run's
    journal.
    """
    newest = _written_by(entries, migration)[0]
    status = (runs.get(newest.run) or {}).get("status") or {}
    note: Mapping[str, Any] = (status.get("undone") or {}).get(migration) or {}
    return note if note.get(THROUGH) == newest.name else {}


def runs_of_migration(entries: Iterable[JournalEntry], migration: str) -> tuple[str, ...]:
    """The runs in which a migration has written, the newest first."""
    return tuple(dict.fromkeys(one.run for one in _written_by(entries, migration)))


def _written_by(entries: Iterable[JournalEntry], migration: str) -> list[JournalEntry]:
    return newest_first(one for one in entries if one.migration == migration)


def record_undone(
    cluster: Cluster,
    objects: Sequence[UndoneObject],
    migrations: Sequence[UndoneMigration],
    written: Sequence[JournalEntry],
    at: str,
    by: str,
) -> None:
    """Record what was undone: in each entry, and in the records of their runs.

    Args:
        cluster: that has the records.
        objects: the outcome of each.
        migrations: the outcome of each of them.
        written: all recorded writes of the migrations.
        at, by: when and by whom.

    Raises:
        ClusterError: it cannot be recorded.
    """
    record_undone_entries(cluster, [entry for one in objects for entry in one.entries], at, by)
    for migration in migrations:
        newest_ones = _written_by(written, migration.id)
        for run in migration.runs:
            newest = next(entry for entry in newest_ones if entry.run == run)
            note = {**migration.as_record(), THROUGH: newest.name}
            try:
                update_run_status(cluster, run, {"undone": {migration.id: note}}, among=len(migrations))
            except NotFound:
                # The run's record was deleted meanwhile, and the journal with it.
                continue


def newest_undoing(runs: Sequence[Object], migration: str) -> Mapping[str, Any]:
    """The note about undoing a migration after its last write in a run; empty if nobody tried.

    Args:
        runs: all that are recorded, the newest first.
        migration: its id.
    """
    for run in runs:
        status = run.get("status") or {}
        note: Mapping[str, Any] = (status.get("undone") or {}).get(migration) or {}
        if note or has_written(run, migration):
            return note
    return {}


def has_written(run: Object, migration: str) -> bool:
    """Whether a migration has written anything in a run, by the run's record."""
    outcome = ((run.get("status") or {}).get("migrations") or {}).get(migration) or {}
    return bool(outcome.get("wrote"))


def last_undo_note(runs: Sequence[Object], migration: str) -> str:
    """That a migration was undone after it last ran, for a person who reads that it is needed again.

    Args:
        runs: all that are recorded, the newest first.
        migration: its id.
    """
    note = newest_undoing(runs, migration)
    if not note:
        return ""
    what = "undone" if note.get("state") == UNDONE else "undone in part"
    return (
        f"it was {what} on {note.get('at')} by {note.get('by')}, so it is needed again; to leave it"
        f" out, list it in skip_migrations (kyma_skip_migrations)"
    )
