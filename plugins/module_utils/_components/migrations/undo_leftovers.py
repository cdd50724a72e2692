# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The changes by migrations outside of the components, for a deletion of these."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from ..._carrier.task import Task
from ..._cluster.cluster import Cluster, Ref
from ..._dry_run.dry_run_cluster import DryRunCluster
from ..._migrations.journal.journal_entry import JournalEntry
from ..._migrations.journal.undo import undo_writes
from ..._migrations.journal.undo_report import (
    DELETED,
    FAILED,
    IRREVERSIBLE,
    RECREATED,
    REFUSED,
    RESTORED,
    UndoneObject,
)
from ..._objects.access.review import known_resources
from ..._objects.access.rights import Right
from ..._runs import outcomes
from ..._runs.outcomes import ComponentOutcome
from ..._runs.records.journal_records import read_journal, with_secrets
from ..._runs.records.record_rights import undo_rights
from ..._timestamp import interval_until_now
from .inhabited_objects import retention_rights
from .undo_run import AskMigrations, UndoRun

MIGRATIONS = "past migrations"
"""The name of the undo of migrations among components: no component can have it, as it contains a space."""
_UNDOABLE = (RESTORED, RECREATED, DELETED)


class PastMigrations:
    """Writes of migrations outside of deleted components that were not undone.

    Args:
        task: the deleting task.
        cluster: live or an overlay.
        named: the objects of the components.
        components: the components of the migrations; None for all.
        shipped: returns the present migrations, some of which have an undo method.
        force: whether to give up writes that could be undone.

    Attributes:
        is_undoable: whether the journal has to stay, as a part of it can be undone and force is not set.
    """

    def __init__(
        self,
        task: Task,
        cluster: Cluster,
        named: Collection[Ref],
        components: Collection[str] | None,
        *,
        shipped: AskMigrations,
        force: bool,
    ) -> None:
        self._task = task
        self._cluster = cluster
        self._named = named
        self._components = components
        self._shipped = shipped
        self._force = force
        self.is_undoable = False

    def rights(self) -> set[Right]:
        """The rights that the undo needs."""
        rights = undo_rights(self._entries, known_resources(self._cluster))
        return rights | retention_rights(self._cluster, self._entries)

    def undo(self, begin: Callable[[], None]) -> ComponentOutcome | None:
        """Undo the writes while all components exist; only describe them if none can be undone.

        Args:
            begin: called before the first write.
        """
        if not any(one.state in _UNDOABLE for one in self._leftovers()):
            return self.describe()

        started = time.monotonic()
        begin()
        undoing = UndoRun(self._task, self._entries, self._shipped, force=False, written=self._journal)
        undone = undoing.work(self._cluster if isinstance(self._cluster, DryRunCluster) else None)
        objects = list({obj.ref: obj for one in undone for obj in one.objects}.values())
        errors = [f"{one.id}: {one.error}" for one in undone if one.error]
        errors += [str(obj) for obj in objects if obj.state == FAILED]
        seconds = time.monotonic() - started
        return ComponentOutcome(
            MIGRATIONS,
            outcomes.FAILED if errors else outcomes.SUCCEEDED,
            error="; ".join(errors),
            seconds=seconds,
            **interval_until_now(seconds),
            changed=sum(obj.is_changed for obj in objects),
            objects=len(objects),
            warnings=(
                *undoing.warnings,
                *(str(obj) for obj in objects if not obj.is_complete and obj.state != FAILED),
            ),
        )

    def describe(self) -> ComponentOutcome | None:
        """A description of the remaining changes by migrations; None if there are none."""
        leftovers = self._leftovers()
        self.is_undoable = any(one.state in _UNDOABLE for one in leftovers) and not self._force
        warnings = [_describe_leftover(one) for one in leftovers]
        if self.is_undoable:
            warnings.append(
                "undo_migrations=true (kyma_undo_migrations) undoes that; force=true (kyma_delete_force)"
                " forgets how it was before"
            )
        return (
            ComponentOutcome(MIGRATIONS, outcomes.SUCCEEDED, warnings=tuple(warnings)) if warnings else None
        )

    @cached_property
    def _journal(self) -> Sequence[JournalEntry]:
        return read_journal(self._cluster)

    @cached_property
    def _entries(self) -> Sequence[JournalEntry]:
        return [
            one
            for one in self._journal
            if not one.undone_at
            and one.ref not in self._named
            and (self._components is None or one.migration.partition("/")[0] in self._components)
        ]

    def _leftovers(self) -> list[UndoneObject]:
        """The remaining changes by migrations, found by a rehearsal of the undo."""
        if not self._entries:
            return []
        entries = with_secrets(self._cluster, self._entries)
        undone = undo_writes(DryRunCluster(self._cluster), entries, sleep=lambda _seconds: None)
        return [one for one in undone if one.state in (*_UNDOABLE, IRREVERSIBLE, REFUSED)]


def _describe_leftover(leftover: UndoneObject) -> str:
    """A sentence about one remaining change."""
    by = ", ".join(leftover.migrations)
    if leftover.state == DELETED:
        return f"{leftover.ref}: the migration {by} created it, and it stays"
    if leftover.state == RECREATED:
        return f"{leftover.ref}: the migration {by} has deleted it, and it stays deleted"
    if leftover.state == RESTORED:
        return f"{leftover.ref}: it stays as the migration {by} has changed it ({', '.join(leftover.fields)})"
    return f"{leftover.ref}: it stays as the migration {by} has changed it: {leftover.reason}"
