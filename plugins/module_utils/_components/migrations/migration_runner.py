# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The migrations of a deployment: their inputs, and their execution for a plan or a run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..._carrier.task import Task
from ..._cluster.cluster import Cluster
from ..._errors import LifecycleError
from ..._migrations import engine
from ..._migrations.migration_set import MigrationSet
from ..._migrations.results import CheckResult, EngineSettings, MigrationOutcome
from ..._migrations.verdicts import with_unplanned
from ..._progress import no_progress
from ..._result_codec import to_result
from ..._runs.records.run_record import begin_of
from ...migration import Component, Migration, Phase
from ..component_plan import MigrationPlan
from .migration_options import MigrationOptions

if TYPE_CHECKING:
    from ..._cluster.fence import LeaseHolding
    from ..._migrations.journal.journal_entry import Journal
from ..._runs.records.record_schema import DEPLOY


@dataclass(frozen=True)
class MigrationRunner:
    """The migrations that take part in a deployment, and their shared data.

    Attributes:
        migrations: without those that the user skips.
        setting: the shared data; its cluster is replaced by the one of the work.
        cancel_reasons: why migrations have cancelled the deployment, each naming the migration.
        problems: the user's requests that can't be fulfilled, each a sentence.
    """

    migrations: tuple[type[Migration], ...]
    setting: EngineSettings
    cancel_reasons: list[str] = field(default_factory=list)
    problems: tuple[str, ...] = ()

    @classmethod
    def from_task(cls, task: Task, migration_set: MigrationSet, options: MigrationOptions) -> MigrationRunner:
        """The migrations of a task."""
        cancel_reasons: list[str] = []
        setting = EngineSettings(
            cluster=task.cluster,
            components={},
            release="",
            progress=task.progress,
            variables=options.variables,
            cancelled=lambda: task.cancelled() or bool(cancel_reasons),
            cancel=cancel_reasons.append,
            grace=options.grace,
        )
        migrations = tuple(one for one in migration_set.migrations if one.id() not in options.skip)
        return cls(migrations, setting, cancel_reasons, tuple(_skip_problems(options.skip, migration_set)))

    @classmethod
    def load(cls, task: Task, options: MigrationOptions) -> MigrationRunner:
        """The migrations of a task that writes.

        Raises:
            LifecycleError: they have problems, so that none of them may run.
        """
        migration_set = task.materials.migrations()
        runner = cls.from_task(task, migration_set, options)
        problems = [*migration_set.problems, *runner.problems]
        if problems:
            raise LifecycleError("the migrations can't be used:\n- " + "\n- ".join(problems))
        return runner

    def bound_to_plan(self, record: Mapping[str, Any]) -> MigrationRunner:
        """The same, bound to their verdicts in the plan of a run; see :mod:`~.verdicts`."""
        begin = begin_of(record)
        predicted = begin.migrations
        if begin.action == DEPLOY:
            # Other runs have no plan of migrations.
            predicted = with_unplanned(predicted, self.migrations)
        return replace(self, setting=replace(self.setting, predicted=predicted))

    def with_journal(self, journal: Journal | None) -> MigrationRunner:
        """The same, with a journal of their writes, so that these can be undone."""
        return replace(self, setting=replace(self.setting, journal=journal))

    def with_intent_records(self, cluster: Cluster, record: Mapping[str, Any]) -> MigrationRunner:
        """The same; the record of their run names each one as running before its first write."""
        return replace(
            self,
            setting=replace(
                self.setting,
                before_run=partial(
                    _note_intent, cluster, record["metadata"]["name"], self.entry_count(record)
                ),
            ),
        )

    def with_lease(self, holding: LeaseHolding) -> MigrationRunner:
        """The same; each requires the lease before it runs, as that may take longer than the lease."""
        return replace(self, setting=replace(self.setting, before_run=partial(_hold, holding)))

    def entry_count(self, record: Mapping[str, Any]) -> int:
        """The number of components and migrations that the record of a run may list."""
        return len(begin_of(record).components) + len(self.migrations)

    def with_components(
        self, components: Mapping[str, Component], version: str, profile: str
    ) -> MigrationRunner:
        """The same, with components and their version as inputs of the migrations.

        Args:
            components: by name.
            version: of the release, or of the module, that contains them.
            profile: the profile, or empty.
        """
        setting = replace(self.setting, components=components, release=version, profile=profile)
        return replace(self, setting=setting)

    def ordered_groups(self, component: str, phase: Phase) -> list[list[type[Migration]]]:
        """The migrations of one component and phase, each after those that must run before it."""
        waiting = self._of(component, phase)
        turns: list[list[type[Migration]]] = []
        while waiting:
            left = {one.id() for one in waiting}
            turns.append([one for one in waiting if left.isdisjoint(one.after)])
            waiting = [one for one in waiting if not left.isdisjoint(one.after)]
        return turns

    def check_migrations(self, migrations: Sequence[type[Migration]], cluster: Cluster) -> list[CheckResult]:
        """The verdicts of some migrations, checked in parallel.

        Args:
            migrations: some of those that take part.
            cluster: the cluster that they read; one with shared reads if several may read the same.
        """
        return engine.check_migrations(
            migrations, replace(self.setting, cluster=cluster, progress=no_progress)
        )

    def migration(self, migration_id: str) -> type[Migration]:
        """The migration with this id, which must take part."""
        return next(one for one in self.migrations if one.id() == migration_id)

    def rehearse(self, overlay: Cluster, migration_id: str) -> str:
        """Run one migration on an overlay; returns its error, or an empty text."""
        outcomes = self.run_migrations([self.migration(migration_id)], overlay)
        return "; ".join(outcome["error"] for outcome in outcomes if outcome["fatal"])

    def run(self, component: str, phase: Phase) -> list[Mapping[str, Any]]:
        """Run the migrations of one component and phase; returns their results, as in a task's result."""
        return self.run_migrations(self._of(component, phase))

    def run_migrations(
        self, migrations: Sequence[type[Migration]], overlay: Cluster | None = None
    ) -> list[Mapping[str, Any]]:
        """Run migrations of one component and phase; on an overlay they are only rehearsed."""
        setting = self.setting
        if overlay is not None:
            setting = replace(setting, cluster=overlay, rehearsal=True, progress=no_progress)
        results: list[Mapping[str, Any]] = to_result(engine.run_migrations(migrations, setting))
        return results

    def is_cancelled(self) -> bool:
        """Whether a person or a migration has asked to stop."""
        return self.setting.cancelled()

    def take_cancel_reasons(self) -> list[str]:
        """These reasons, and reset the cancellation: a rehearsal continues, to find all blockers."""
        taken = list(self.cancel_reasons)
        self.cancel_reasons.clear()
        return taken

    def _of(self, component: str, phase: Phase) -> list[type[Migration]]:
        return [one for one in self.migrations if one.component == component and one.phase == phase]


def _skip_problems(skipped: Iterable[str], migration_set: MigrationSet) -> list[str]:
    names = sorted(one.id() for one in migration_set.migrations)
    return [
        f"{one} is to be skipped (skip_migrations), and there is no such migration;"
        f" there are {', '.join(names) or 'none at all'}"
        for one in sorted(skipped)
        # A migration that can't be loaded is a problem itself, and its id is unknown.
        if one not in names and not migration_set.problems
    ]


def migration_plan(result: CheckResult) -> MigrationPlan:
    """A verdict in the form of a plan."""
    return MigrationPlan(
        id=result.id,
        component=result.component,
        phase=result.phase,
        verdict=result.verdict or "blocked",
        evidence=result.evidence or result.error,
        seconds=result.seconds,
        slow=result.slow,
        requests=result.requests,
    )


def _note_intent(cluster: Cluster, run: str, among: int, intent: MigrationOutcome) -> None:
    # Imported here, because a plan with nothing to do writes no record.
    from ..._runs.records.runs import update_run_status

    update_run_status(cluster, run, {"migrations": {intent.id: to_result(intent)}}, among=among)


def _hold(holding: LeaseHolding, _intent: MigrationOutcome) -> None:
    holding.require_lease()


def select_migrations(
    runner: MigrationRunner, ids: Collection[str], component: str | None = None, phase: str | None = None
) -> list[type[Migration]]:
    """The migrations with these ids, or all; of one component, and of one phase. Those of ``pre`` are first.

    Raises:
        LifecycleError: an id has no migration.
    """
    names = [one.id() for one in runner.migrations]
    missing = [one for one in ids if one not in names]
    if missing:
        raise LifecycleError(
            f"there is no migration {', '.join(missing)}; there are {', '.join(names) or 'none at all'}"
        )
    selected = [
        one
        for one in runner.migrations
        if (not ids or one.id() in ids)
        and component in (None, one.component)
        and phase in (None, one.phase.value)
    ]
    return sorted(selected, key=lambda one: one.phase != Phase.PRE)
