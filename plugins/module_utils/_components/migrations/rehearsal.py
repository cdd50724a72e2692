# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearses migrations: their verdicts, and their predicted writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..._cluster.cluster import Cluster, manager_of
from ..._dry_run.dry_run_cluster import DryRunCluster
from ..._migrations.results import CheckResult
from ..._migrations.shared_reads import SharedReads
from ..._runs.records.runs import read_runs
from ...migration import Phase
from ..component_plan import UNVERIFIED, Blocker, MigrationPlan
from ..rehearsed_changes import RehearsedChanges
from .migration_notes import with_irreversible_note, with_neighbours, with_undo_notes, with_unverified
from .migration_runner import MigrationRunner, migration_plan
from .neighbours import RecordedReads, Writes, neighbours_of, unequal_writes


class MigrationRehearsal:
    """The rehearsal of the migrations of one deployment.

    Args:
        cluster: the live one.
        overlay: the overlay of the rehearsal, over the live one.
        runner: the migrations that take part; None if they may not run.
        changes: those of the overlay.

    Attributes:
        verdicts: the data about each migration so far.
    """

    def __init__(
        self,
        cluster: Cluster,
        overlay: DryRunCluster,
        runner: MigrationRunner | None,
        changes: RehearsedChanges,
    ) -> None:
        self._overlay = overlay
        self._runner = runner
        self._changes = changes
        # A rehearsed migration reads for itself: it may meet a conflict, and must then see the present state.
        self._checked = RecordedReads(overlay.reading_from(SharedReads(cluster)), changes.includes)
        self.verdicts: list[MigrationPlan] = []

    @property
    def needed(self) -> list[MigrationPlan]:
        """The migrations that are needed so far."""
        return [verdict for verdict in self.verdicts if verdict.verdict == "needed"]

    def rehearse(self, component: str, phase: Phase) -> list[Mapping[str, Any]]:
        """Rehearse the migrations of one component and phase: whether each writes, and its blockers."""
        runner = self._runner
        if runner is None:
            return []
        return [
            self._rehearse(runner, result)
            for turn in runner.ordered_groups(component, phase)
            for result in runner.check_migrations(turn, self._checked)
        ]

    def compare_neighbours(self, applied: Writes) -> list[Blocker]:
        """Name the components of a wave on which its verdicts depend; returns a blocker for unequal writes.

        Args:
            applied: the changes of the objects of each of its components.
        """
        own = [one for one in self.verdicts if one.component in applied]
        written: Writes = {
            name: [write for one in own if one.component == name for write in one.writes] + [*changes]
            for name, changes in applied.items()
        }
        neighbours = neighbours_of(own, self._checked.reads, written)
        self.verdicts = [with_neighbours(one, neighbours.get(one.id, {})) for one in self.verdicts]
        return list(unequal_writes(written))

    def verdicts_with_history(self, cluster: Cluster) -> tuple[MigrationPlan, ...]:
        """The verdicts; those of needed migrations with data from the records of runs.

        Raises:
            ClusterError: the records can't be read.
        """
        return tuple(with_undo_notes(self.verdicts, read_runs(cluster)) if self.needed else self.verdicts)

    def _rehearse(self, runner: MigrationRunner, result: CheckResult) -> Mapping[str, Any]:
        unverified = self._checked.unverified.get(manager_of(result.id))
        verdict = with_unverified(migration_plan(result), unverified)
        problems = [f"migration {verdict.id}: {verdict.evidence}"] if result.fatal and not unverified else []
        # Taken at once, as a cancelled deployment would end every later rehearsal.
        reasons = runner.take_cancel_reasons()
        if verdict.verdict == "needed" and not problems and not reasons:
            error = runner.rehearse(self._overlay, verdict.id)
            problems += [f"migration {verdict.id}, rehearsed: {error}"] if error else []
            reasons += runner.take_cancel_reasons()
            verdict = replace(verdict, writes=self._changes.take())
            verdict = with_irreversible_note(verdict, runner.migration(verdict.id))
        problems += [f"the deployment would be cancelled by {reason}" for reason in reasons]
        self.verdicts.append(verdict)
        return {
            "id": verdict.id,
            "phase": verdict.phase,
            "fatal": bool(problems),
            "wrote": verdict.verdict == "needed",
            "may_write": verdict.verdict in ("needed", UNVERIFIED),
            "blockers": [Blocker(result.component, problem) for problem in problems],
        }
