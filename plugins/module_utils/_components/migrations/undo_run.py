# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``migration`` with ``state=undone``: undoes the writes of migrations, by their journal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Any

from ..._carrier.task import Result, Task
from ..._cluster.cluster import API_VERSION, Cluster
from ..._dry_run.dry_run_cluster import DryRunCluster
from ..._errors import LifecycleError
from ..._migrations import engine
from ..._migrations.journal.journal_entry import JournalEntry, newest_first
from ..._migrations.journal.undo import undo_writes
from ..._migrations.journal.undo_report import FAILED, UndoneObject
from ..._migrations.results import DONE, WARNED, MigrationOutcome
from ..._objects.access.review import demand, known_resources
from ..._objects.access.rights import Right, write_rights
from ..._objects.apply.diff import diff_of
from ..._progress import Step, no_progress
from ..._result_codec import to_result
from ..._runs.lease.lease_rights import lease_rights
from ..._runs.lease.own_lease import run_with_own_lease
from ..._runs.open_run import is_open
from ..._runs.records.cluster_hold import require_no_hold
from ..._runs.records.definitions import RecordKinds
from ..._runs.records.hold_records import read_hold
from ..._runs.records.installation import read_installation
from ..._runs.records.journal_records import read_journal, with_secrets
from ..._runs.records.record_rights import records_rights, undo_rights
from ..._runs.records.record_writer import current_user
from ..._runs.records.run_record import begin_of
from ..._runs.records.runs import new_run_name, read_run, read_runs
from ..._runs.records.undone_migrations import (
    UndoneMigration,
    record_undone,
    recorded_undo_of,
    runs_of_migration,
    undo_state,
)
from ..._timestamp import timestamp
from ...migration import Migration
from .inhabited_objects import contents_describer, retention_rights
from .migration_runner import MigrationRunner

AskMigrations = Callable[[Task], MigrationRunner]
"""Returns the shipped migrations, for the components that they belong to."""


@dataclass(frozen=True)
class UndoRequest:
    """The migrations that a user wants to undo.

    Attributes:
        ids: of migrations; empty means all.
        component: the component of the migrations, or None for all components.
        run: only the writes of this run, or empty.
        force: overwrite later changes.
    """

    ids: tuple[str, ...] = ()
    component: str | None = None
    run: str = ""
    force: bool = False


def undo_migrations(task: Task, request: UndoRequest, shipped: AskMigrations, kinds: RecordKinds) -> Result:
    """Undo migrations by id, of a component, or of a whole run; in check mode on an overlay.

    Args:
        task: the task.
        request: what to undo.
        shipped: the shipped migrations; called only if some of them may have an undo method.
        kinds: the kinds of its records.
    """
    if task.check_mode:
        return _undo(task, request, shipped, kinds)
    return run_with_own_lease(
        task,
        f"undo-{new_run_name()}",
        lambda leased: _undo(leased, request, shipped, kinds),
        lambda: _writing_rights(task.cluster, request, kinds),
    )


def _writing_rights(cluster: Cluster, request: UndoRequest, kinds: RecordKinds) -> set[Right]:
    """The rights that the writes of an undo need."""
    journal = _select_entries(read_journal(cluster, request.run), request)
    return write_rights(
        records_rights(kinds, are_installed=True) | undo_rights(journal, known_resources(cluster))
    )


def _undo(task: Task, request: UndoRequest, shipped: AskMigrations, kinds: RecordKinds) -> Result:
    if not task.check_mode:
        _require_no_run(task.cluster)
    if request.run:
        read_run(task.cluster, request.run)
    journal = _select_entries(read_journal(task.cluster, request.run), request)
    still = [one for one in journal if not one.undone_at]
    if still:
        needed = (
            records_rights(kinds, are_installed=True)
            | lease_rights()
            | undo_rights(still, known_resources(task.cluster))
        )
        if not request.force:
            needed |= retention_rights(task.cluster, still)
        demand(task.cluster, needed, "undoing")
    undoing = UndoRun(task, journal, shipped, force=request.force)
    overlay = DryRunCluster(task.cluster) if task.check_mode or task.diff else None
    undone = undoing.work(overlay) if overlay else ()
    diff = (
        [diff_of(change.before, change.after, status=change.status) for change in overlay.changes()]
        if overlay
        else []
    )
    if not task.check_mode:
        undone = undoing.work(None)
    return _result(undone, undoing, diff if task.diff else [], _unknown(request, journal))


def _require_no_run(cluster: Cluster) -> None:
    """Raise LifecycleError if the cluster is held, or its last run has not ended."""
    installation = read_installation(cluster)
    require_no_hold(read_hold(cluster))
    run = cluster.get(API_VERSION, "KymaRun", installation.last_run) if installation.last_run else None
    if run is None or not is_open(run):
        return
    begin = begin_of(run)
    raise LifecycleError(
        f"the run {installation.last_run}, begun by {begin.started_by} at {begin.started_at}, has"
        " not ended: let it end first, or end it by `cancel_kyma -e kyma_cancel_end=true` if its process "
        "is gone"
    )


def _select_entries(entries: Sequence[JournalEntry], request: UndoRequest) -> list[JournalEntry]:
    return [
        one
        for one in entries
        if (not request.ids or one.migration in request.ids)
        and request.component in (None, one.migration.partition("/")[0])
    ]


def _unknown(request: UndoRequest, journal: Sequence[JournalEntry]) -> list[str]:
    """The requested ids that the journal does not contain."""
    known = {one.migration for one in journal}
    return [one for one in request.ids if one not in known]


class UndoRun:
    """The undo of the writes in a journal.

    Args:
        task: the task.
        journal: the writes to undo, and those of the same migrations that were undone before.
        shipped: the shipped migrations.
        force: overwrite later changes.
        written: all recorded writes of these migrations, if the journal is only a part of them.

    Attributes:
        ids: the migrations in the journal, the newest first.
        warnings: messages for the user.
    """

    def __init__(
        self,
        task: Task,
        journal: Sequence[JournalEntry],
        shipped: AskMigrations,
        *,
        force: bool,
        written: Sequence[JournalEntry] = (),
    ) -> None:
        self._task = task
        self._force = force
        self._journal = journal
        self._written = written or journal
        self._runs = {run["metadata"]["name"]: run for run in read_runs(task.cluster)} if journal else {}
        self.ids = list(dict.fromkeys(one.migration for one in newest_first(journal)))
        self.warnings: list[str] = []
        self._runner = self._ask_migrations(shipped) if journal else None

    def work(self, overlay: DryRunCluster | None) -> Sequence[UndoneMigration]:
        """Undo the remaining writes; on an overlay nothing is stored."""
        cluster = overlay or self._task.cluster
        at, by = timestamp(), current_user()
        still = with_secrets(self._task.cluster, [one for one in self._journal if not one.undone_at])
        total = len({one.ref for one in still})
        on_undone = (lambda _one: None) if overlay else partial(self._report_undone, count(1), total)
        objects = undo_writes(
            cluster,
            still,
            force=self._force,
            report=on_undone,
            cancelled=self._task.cancelled,
            inhabited=contents_describer(cluster),
        )
        own = {outcome.id: outcome for outcome in self._own_undo(overlay)}
        undone = [self._of(one, still, objects, own.get(one), at, by) for one in self.ids]
        if overlay is None:
            news = [
                one for one in undone if one.changed or one.state != self.recorded_undo(one.id).get("state")
            ]
            record_undone(self._task.cluster, objects, news, self._written, at, by)
        return undone

    def recorded_undo(self, migration: str) -> Mapping[str, Any]:
        """The record of an earlier undo of the migration."""
        return recorded_undo_of(self._runs, self._written, migration)

    def _of(
        self,
        migration: str,
        entries: Sequence[JournalEntry],
        undone: Sequence[UndoneObject],
        outcome: MigrationOutcome | None,
        at: str,
        by: str,
    ) -> UndoneMigration:
        objects = tuple(one for one in undone if migration in one.migrations)
        before = self.recorded_undo(migration)
        own_undo = outcome.state if outcome else str(before.get("ownUndo", ""))
        error = outcome.error if outcome else ""
        changed = any(one.is_changed for one in objects) or outcome is not None
        state = undo_state(objects, error)
        same = not changed and before and before.get("state") == state
        return UndoneMigration(
            migration,
            runs_of_migration(entries, migration) or runs_of_migration(self._journal, migration)[:1],
            state,
            at=str(before["at"]) if same else at,
            by=str(before["by"]) if same else by,
            objects=objects,
            own_undo=own_undo,
            error=error,
            changed=changed,
        )

    def _own_undo(self, overlay: Cluster | None) -> Sequence[MigrationOutcome]:
        """Call the undo methods of shipped migrations, unless they have already succeeded."""
        if self._runner is None:
            return ()
        classes = {one.id(): one for one in self._runner.migrations}
        migrations: list[type[Migration]] = [
            classes[one]
            for one in reversed(self.ids)
            if one in classes
            and classes[one].has_own_undo()
            and self.recorded_undo(one).get("ownUndo") not in (DONE, WARNED)
        ]
        setting = self._runner.setting
        if overlay is not None:
            setting = replace(setting, cluster=overlay, rehearsal=True, progress=no_progress)
        return engine.run_own_undo(migrations, setting)

    def _ask_migrations(self, shipped: AskMigrations) -> MigrationRunner | None:
        """The existing migrations; without them the journal is enough."""
        migration_set = self._task.materials.migrations()
        if migration_set.problems:
            problems = "; ".join(migration_set.problems)
            self.warnings.append(
                f"migrations can't be loaded, so none of them undoes anything itself: {problems}"
            )
            return None
        if not any(one.id() in self.ids and one.has_own_undo() for one in migration_set.migrations):
            return None
        return shipped(self._task)

    def _report_undone(self, numbers: Iterator[int], total: int, undone: UndoneObject) -> None:
        self._task.progress(", ".join(undone.migrations), undone.state, str(undone))
        self._task.progress("undo", "restoring", "", Step(done=next(numbers), total=total))


def _result(
    undone: Sequence[UndoneMigration], undoing: UndoRun, diff: list[dict[str, str]], unknown: Sequence[str]
) -> Result:
    staying = [f"{one.id}: {obj}" for one in undone for obj in one.objects if not obj.is_complete]
    failed = [one for one in undone if one.state == FAILED]
    result: Result = {
        "changed": any(one.changed for one in undone),
        "undone": to_result(undone),
        "warnings": [
            *undoing.warnings,
            *dict.fromkeys(staying),
            *(f"{one}: the journal has nothing of it, so there is nothing to undo" for one in unknown),
        ],
        "diff": diff,
        "summary": _summary(undone, undoing) or ["nothing to undo"],
    }
    result["msg"] = "\n".join(result["summary"])
    if failed:
        failures = [f"{one.id}: {one.error}" for one in failed if one.error]
        failures += [f"{one.id}: {obj}" for one in failed for obj in one.objects if obj.state == FAILED]
        result["failed"] = True
        result["msg"] = "\n".join(
            [
                "not everything could be undone; correct what fails, and run this again:",
                *dict.fromkeys(failures),
            ]
        )
    return result


def _summary(undone: Sequence[UndoneMigration], undoing: UndoRun) -> list[str]:
    lines = []
    for migration in undone:
        before = undoing.recorded_undo(migration.id)
        if not migration.changed and before:
            when = f"by {before.get('by')} on {before.get('at')}"
            lines.append(f"{migration.id}: {_how_far(migration.state)} {when} already")
        else:
            lines.append(f"{migration.id}: {_how_far(migration.state)}")
        lines += [f"  {obj}" for obj in migration.objects]
    return lines


def _how_far(state: str) -> str:
    return {"undone": "undone", "partly": "undone in part"}.get(state, "not undone")
