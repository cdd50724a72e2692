# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``component`` with ``state=absent``: delete components, or everything that was ever deployed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

from ..._carrier.task import Result, Task
from ..._cluster.cluster import API_VERSION, Cluster, Object, ref_of
from ..._components.component_removal import ComponentRemoval, remove_components
from ..._components.migrations.undo_leftovers import MIGRATIONS, PastMigrations
from ..._components.removal_gate import PlannedRemovals, RemovalGate
from ..._dry_run.dry_run_cluster import DryRunCluster
from ..._objects.access.review import demand, known_resources
from ..._objects.access.rights import Right, write_rights
from ..._objects.apply.apply_rights import delete_rights
from ..._objects.apply.diff import diff_of
from ..._objects.health.watcher import Watcher
from ..._objects.inventory.inventory_entry import InventoryEntry, entry_of
from ..._objects.prune.contained_objects import ContainedObjects
from ..._objects.prune.prune_decision import RemovalDecision
from ..._objects.prune.removal import Terms, remove_objects
from ..._result_codec import to_result
from ..._runs.active_run import Beginning, new_run
from ..._runs.cancellation import Grace
from ..._runs.durations import render_durations
from ..._runs.lease.acquisition import delete_lease
from ..._runs.lease.lease_rights import lease_deletion_rights, lease_rights
from ..._runs.lease.own_lease import run_with_own_lease
from ..._runs.outcomes import NOT_STARTED, SUCCEEDED, ComponentOutcome, removal_outcome
from ..._runs.records.cluster_hold import ClusterHeld
from ..._runs.records.definitions import RecordKinds
from ..._runs.records.installation import Installation, read_installation, write_installation
from ..._runs.records.inventories import read_inventories
from ..._runs.records.journal_records import read_journal
from ..._runs.records.record_rights import records_deletion_rights, records_rights, undo_rights
from ..._runs.records.record_schema import DELETE
from ..._runs.records.runs import new_run_name
from ..._runs.wait_progress import with_reports
from ..component_options import ComponentOptions
from ..desired.release_migrations import named_or_deployed_migrations
from .deletion_order import phase_of
from .deletion_summary import deletion_message, deletion_summary
from .planned_deletion import EVERYTHING, PlannedDeletion, plan_deletion

# Other entries among the components have names with spaces, which no component can have.
RECORDS = "own records"
"""The name of the deletion of our own records among the components."""
RESOURCES = "custom resources"
"""The name of the deletion of other people's custom resources among the components."""
DELETING = "deleting"
ADVICE = (
    "Delete them first, or have them deleted while it still runs: force=true (kyma_delete_force);"
    " then run the playbook again"
)


def delete_components(task: Task, options: ComponentOptions, kinds: RecordKinds) -> Result:
    """Delete components; in check mode on an overlay that is discarded."""
    run = new_run_name()
    if task.check_mode:
        return _deleted(task, options, kinds, run)
    result = run_with_own_lease(
        task,
        run,
        lambda leased: _deleted(leased, options, kinds, run),
        lambda: _rights(task.cluster, options, kinds),
    )
    forgotten = {"name": RECORDS, "state": SUCCEEDED}.items()
    if any(forgotten <= one.items() for one in result["components"]) or _is_nothing_recorded(
        task.cluster, options
    ):
        delete_lease(task.cluster)
    return result


def _is_nothing_recorded(cluster: Cluster, options: ComponentOptions) -> bool:
    return EVERYTHING in options.names and cluster.resource(API_VERSION, "KymaInstallation") is None


def _rights(cluster: Cluster, options: ComponentOptions, kinds: RecordKinds) -> set[Right]:
    """The rights that the writes of a deletion need."""
    rights = records_rights(kinds, are_installed=True) | records_deletion_rights(kinds)
    for name, inventory in read_inventories(cluster).items():
        for entry in inventory.entries if {name, EVERYTHING} & set(options.names) else ():
            rights |= delete_rights(entry.api_version, entry.ref, known_resources(cluster))
    if options.undo_migrations:
        rights |= undo_rights(read_journal(cluster), known_resources(cluster))
    return write_rights(rights)


def _deleted(task: Task, options: ComponentOptions, kinds: RecordKinds, run: str) -> Result:
    overlay = DryRunCluster(task.cluster) if task.check_mode else None
    planned = plan_deletion(overlay or task.cluster, options.names)
    if planned.held and not task.check_mode:
        raise ClusterHeld(planned.held)
    deletion = _Deletion(task, options, kinds, run, overlay or task.cluster, planned)
    outcomes = deletion.work()
    not_ended = deletion.run.end(outcomes)
    failed = [outcome for outcome in outcomes if outcome.state != SUCCEEDED]
    staying = [warning for outcome in outcomes for warning in outcome.warnings]
    ended = deletion.run.as_result(outcomes)
    table = render_durations(ended["durations"]) if ended["run"] else []
    result: Result = {
        **ended,
        "changed": any(one.deleted or one.changed for one in outcomes) or deletion.has_forgotten,
        "components": to_result(outcomes),
        "migrations": [],
        "warnings": [*([planned.held] if planned.held else []), *not_ended, *staying],
        "summary": [
            *deletion_summary(outcomes, ended["seconds"], rehearsed=task.check_mode),
            *(f"  note: {one}" for one in sorted(deletion.forced)),
            *table,
        ],
    }
    if overlay and task.diff:
        result["diff"] = [diff_of(change.before, change.after) for change in overlay.changes()]
    message = deletion_message(outcomes, deletion.run.cancelled_by)
    return {**result, **({"failed": True} if failed else {}), **({"msg": message} if message else {})}


def _progress_detail(outcome: ComponentOutcome) -> str:
    return outcome.error.partition("\n")[0] or f"{outcome.deleted} objects in {outcome.seconds:.1f} s"


class _Deletion:
    """The deletion of components, wave after wave, and of our own records once nothing else is left.

    Attributes:
        run: its record.
        has_forgotten: whether records were changed although no object existed any more.
        forced: a sentence about each namespace that is deleted with what others have in it.
    """

    def __init__(
        self,
        task: Task,
        options: ComponentOptions,
        kinds: RecordKinds,
        run: str,
        cluster: Cluster,
        planned: PlannedDeletion,
    ) -> None:
        self._task, self._options, self._kinds, self._cluster = task, options, kinds, cluster
        self._planned = planned
        self._everything = EVERYTHING in options.names
        self._outcomes: dict[str, ComponentOutcome] = {}
        self.forced: list[str] = []
        self.has_forgotten = False
        self.run = new_run(
            task,
            run,
            DELETE,
            Beginning(planned.installation, replace(planned.installation, digest="")),
            planned.names,
            order=planned.order,
            deadline=options.deadline,
        )
        self._inhabitants = ContainedObjects(
            cluster, lambda _ref: options.force, report=lambda _ref, text: self.forced.append(text)
        )
        self._gate = RemovalGate(
            cluster,
            PlannedRemovals(
                planned.objects,
                planned.names,
                planned.inventories,
                planned.others,
                is_needed=planned.is_needed,
                advice=ADVICE,
                force=options.force,
            ),
            waits=not task.check_mode,
        )
        self._terms = Terms(
            cluster,
            cancelled=Grace(self.run.cancellation, options.grace),
            retain=self._retain,
            watcher=Watcher(cluster),
            force=options.force,
        )
        self._migrations = PastMigrations(
            task,
            cluster,
            named={entry.ref for one in planned.inventories.values() for entry in one.entries},
            components=None if self._everything else options.names,
            shipped=lambda task: named_or_deployed_migrations(task, options.migrations),
            force=options.force,
        )

    def work(self) -> list[ComponentOutcome]:
        """Delete everything that may be deleted, and report what may not."""
        planned = self._planned
        if planned.waves:
            # Not for an overlay: reviews are sent to the server only.
            demand(self._task.cluster, self._rights(), "deletion")
        self._announce()
        if self._options.undo_migrations and not self.run.cancellation():
            undone = self._migrations.undo(self.run.begin)
            if undone:
                self._outcomes[MIGRATIONS] = undone
                self.run.note(undone)
        self._gate.look()
        if self._options.force and not self.run.cancellation():
            self._delete_resources()
        for number, wave in enumerate(planned.waves, 1):
            started = time.monotonic()
            later, objects = list(chain.from_iterable(planned.waves[number:])), planned.objects
            outcomes = self._delete(
                {name: (*objects[name], *self._gate.resources_of_later(name, later)) for name in wave}
            )
            phase = phase_of(planned.inventories[wave[0]])
            self.run.note_phase(phase, {one.state for one in outcomes}, time.monotonic() - started)
        all_gone = all(one.state == SUCCEEDED for one in self._outcomes.values())
        staying = self._migrations.describe() if all_gone and MIGRATIONS not in self._outcomes else None
        if staying:
            self._outcomes[MIGRATIONS] = staying
        if self._everything and all_gone:
            self._end()
        return list(self._outcomes.values())

    def _rights(self) -> set[Right]:
        """The rights that the deletion needs, as far as they are known beforehand."""
        rights = records_rights(self._kinds, are_installed=True) | lease_rights()
        if self._everything:
            rights |= records_deletion_rights(self._kinds) | lease_deletion_rights()
        for entry in chain.from_iterable(self._planned.objects.values()):
            rights |= delete_rights(entry.api_version, entry.ref, known_resources(self._cluster))
            rights |= self._inhabitants.rights(entry)
        rights |= self._gate.rights()
        if self._options.undo_migrations:
            rights |= self._migrations.rights()
        return rights

    def _announce(self) -> None:
        if self._planned.waves:
            objects = sum(len(entries) for entries in self._planned.objects.values())
            order = "; ".join(", ".join(wave) for wave in self._planned.waves)
            self._task.progress("deletion", "starting", f"{objects} objects, in this order: {order}")

    def _delete_resources(self) -> None:
        """Delete other people's resources of our kinds while their finalizers' controllers run."""
        foreign = self._gate.foreign_resources()
        if foreign:
            named = frozenset(obj["metadata"]["uid"] for obj in foreign)
            terms = replace(self._terms, approved=named)
            self._delete({RESOURCES: list(map(entry_of, foreign))}, terms)

    def _delete(
        self, objects: Mapping[str, Sequence[InventoryEntry]], terms: Terms | None = None
    ) -> list[ComponentOutcome]:
        """Delete the objects of some components concurrently, and record the outcome of each."""
        ended: dict[str, ComponentOutcome] = {}
        removals = {
            name: ComponentRemoval(entries, whole=True, others=self._planned.entries_of_others(name))
            for name, entries in objects.items()
        }

        def note_end(name: str) -> None:
            removal = removals[name]
            if not removal.is_over:
                return
            outcome = ended[name] = removal.outcome(name, NOT_STARTED)
            self._task.progress(name, outcome.state, _progress_detail(outcome))
            self.run.note(outcome)

        remove_components(
            removals,
            terms or self._terms,
            inventories={} if self._task.check_mode else self._planned.inventories,
            timeout=self._options.timeout,
            workers=self._options.workers,
            progress=self._task.progress,
            state=DELETING,
            refusal_of=self._why_not,
            gate=self._gate,
            after_round=note_end,
        )
        self.has_forgotten |= any(one.has_forgotten for one in removals.values())
        outcomes = {name: ended[name] for name in objects}
        self._outcomes |= outcomes
        return list(outcomes.values())

    def _why_not(self, name: str) -> str:
        if self.run.cancellation():
            return f"the deletion was cancelled by {self.run.cancellation.reason()}"
        undoing = self._outcomes.get(MIGRATIONS)
        if undoing is not None and undoing.state != SUCCEEDED:
            return "what migrations have changed could not be undone"
        if refusal := self._gate.refusal(name):
            return refusal
        for other, outcome in self._outcomes.items():
            if outcome.state != SUCCEEDED and self._planned.needs(other, name):
                return f"{other} may need it, which is not gone ({outcome.state})"
        return ""

    def _retain(self, entry: InventoryEntry, live: Object) -> RemovalDecision | None:
        """What to do with an object instead of deleting it; the run begins before the first deletion."""
        decision = self._inhabitants.retain(entry, live)
        if decision is None:
            self.run.begin()
        return decision

    def _end(self) -> None:
        """Delete our own records once everything that they describe is deleted."""
        warned = any(outcome.warnings for outcome in self._outcomes.values())
        if self._planned.others or (warned and self._is_anything_left()):
            self._note_that_nothing_is_deployed()
            return
        # Before the deletion of the record as well: until then observers see how the run ended.
        self.run.end(list(self._outcomes.values()))
        installed = (*self._kinds.definitions, self._kinds.viewers)
        records = [InventoryEntry(obj["apiVersion"], ref_of(obj)) for obj in installed]
        # None of these belong to anybody else.
        terms = replace(
            self._terms,
            deadline=time.monotonic() + self._options.timeout,
            retain=lambda _entry, _live: None,
            own=True,
        )
        reporting = with_reports(terms, self._task.progress, RECORDS, DELETING, self._options.timeout)
        removal = remove_objects(reporting, records)
        if removal.deleted or removal.errors:
            self._outcomes[RECORDS] = removal_outcome(RECORDS, removal)

    def _is_anything_left(self) -> bool:
        return self._task.check_mode or self._migrations.is_undoable or bool(read_inventories(self._cluster))

    def _note_that_nothing_is_deployed(self) -> None:
        installation = read_installation(self._cluster)
        if (installation.version or installation.target) and not self._task.check_mode:
            self.has_forgotten = True
            write_installation(
                self._cluster,
                Installation(
                    last_run=installation.last_run,
                    resource_version=installation.resource_version,
                    uid=installation.uid,
                    conditions=installation.conditions,
                ),
            )
