# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What migrations have changed outside of the components, for whoever deletes these."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from ..._carrier.task import Task
from ..._cluster.cluster import Cluster, Ref
from ..._cluster.timestamp import interval_until_now
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
from .undo_retention import retention_rights
from .undo_run import AskMigrations, UndoRun

MIGRATIONS = "past migrations"
"""What undoing migrations is called among components: a name that none can have, as these have no spaces."""
_UNDOABLE = (RESTORED, RECREATED, DELETED)


class PastMigrations:
    """What migrations have written outside of components that are deleted, and was not undone.

    Args:
        task: that deletes.
        cluster: live or an overlay.
        named: the objects that components consist of.
        components: whose migrations are meant; None for all.
        shipped: answers with the migrations that there are now, some of which undo their own way.
        force: whether to give up what could be undone.

    Attributes:
        is_undoable: whether the journal has to stay, as anything of it can be undone and nobody forces it.
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
        """What undoing it takes."""
        rights = undo_rights(self._entries, known_resources(self._cluster))
        return rights | retention_rights(self._cluster, self._entries)

    def undo(self, begin: Callable[[], None]) -> ComponentOutcome | None:
        """Undo it, as long as all components are there; only describe it where nothing of it can be undone.

        Args:
            begin: called before the first write.
        """
        if not any(one.state in _UNDOABLE for one in self._leftovers()):
            return self.describe()

        started = time.monotonic()
        begin()
        undoing = UndoRun(self._task, self._entries, self._shipped, force=False, written=self._journal)
        found = undoing.work(self._cluster if isinstance(self._cluster, DryRunCluster) else None)
        objects = list({obj.ref: obj for one in found for obj in one.objects}.values())
        errors = [f"{one.id}: {one.error}" for one in found if one.error]
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
        """What stays as migrations have left it, in words; None where nothing does."""
        found = self._leftovers()
        self.is_undoable = any(one.state in _UNDOABLE for one in found) and not self._force
        told = [_describe_leftover(one) for one in found]
        if self.is_undoable:
            told.append(
                "undo_migrations=true (kyma_undo_migrations) undoes that; force=true (kyma_delete_force)"
                " forgets how it was before"
            )
        return ComponentOutcome(MIGRATIONS, outcomes.SUCCEEDED, warnings=tuple(told)) if told else None

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
        """What is still as migrations have left it, found out by rehearsing to undo it."""
        if not self._entries:
            return []
        entries = with_secrets(self._cluster, self._entries)
        report = undo_writes(DryRunCluster(self._cluster), entries, sleep=lambda _seconds: None)
        return [one for one in report.objects if one.state in (*_UNDOABLE, IRREVERSIBLE, REFUSED)]


def _describe_leftover(one: UndoneObject) -> str:
    """That something stays as migrations have left it, in a sentence."""
    by = ", ".join(one.migrations)
    if one.state == DELETED:
        return f"{one.ref}: the migration {by} created it, and it stays"
    if one.state == RECREATED:
        return f"{one.ref}: the migration {by} has deleted it, and it stays deleted"
    if one.state == RESTORED:
        return f"{one.ref}: it stays as the migration {by} has changed it ({', '.join(one.fields)})"
    return f"{one.ref}: it stays as the migration {by} has changed it: {one.reason}"
