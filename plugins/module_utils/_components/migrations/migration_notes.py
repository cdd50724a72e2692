# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages about migrations: irreversible writes, earlier undo, and verdicts that neighbours change: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..._cluster.cluster import Object, Ref
from ..._migrations.results import BLOCKED
from ..._runs.records.undone_migrations import last_undo_note
from ..._text import one_line
from ...migration import Migration
from ..component_plan import UNVERIFIED, MigrationPlan


def with_irreversible_note(plan: MigrationPlan, migration: type[Migration]) -> MigrationPlan:
    """The same plan, with a note about the writes that can't be undone."""
    why, kinds = migration.irreversible, migration.irreversible_kinds
    lasting = [write.ref for write in plan.writes if why and (not kinds or write.ref.kind in kinds)]
    if not lasting:
        return plan
    note = one_line(f"can't be undone: {', '.join(map(str, lasting))}: {why}")
    writes = tuple(replace(write, lasting=write.ref in lasting) for write in plan.writes)
    return replace(plan, writes=writes, notes=(*plan.notes, note))


def with_neighbours(plan: MigrationPlan, neighbours: Mapping[str, Ref]) -> MigrationPlan:
    """The same plan, provisional if its verdict depends on neighbours, given with an object that both use."""
    if not neighbours:
        return plan
    objects = ", ".join(f"{name} ({ref})" for name, ref in sorted(neighbours.items()))
    note = f"provisional, as it depends on what is deployed side by side and uses the same object: {objects}"
    return replace(plan, depends_on=tuple(sorted(neighbours)), notes=(*plan.notes, note))


def with_unverified(plan: MigrationPlan, ref: Ref | None) -> MigrationPlan:
    """The same plan, unverified if its check read the status of an object that the run changes before."""
    if ref is None:
        return plan
    note = f"unverified: its check reads the status of {ref}, which the run changes before"
    verdict = UNVERIFIED if plan.verdict == BLOCKED else plan.verdict
    return replace(plan, verdict=verdict, unverified=str(ref), notes=(*plan.notes, note))


def with_undo_notes(plans: Iterable[MigrationPlan], runs: Sequence[Object]) -> list[MigrationPlan]:
    """The same plans; those of needed migrations have a note when and by whom they were undone.

    Args:
        plans: the data about each migration.
        runs: the records of all runs, the newest first.
    """
    return [_with_undo_note(plan, runs) if plan.verdict == "needed" else plan for plan in plans]


def _with_undo_note(plan: MigrationPlan, runs: Sequence[Object]) -> MigrationPlan:
    note = last_undo_note(runs, plan.id)
    return replace(plan, notes=(*plan.notes, note)) if note else plan
