# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manages the modules of a cluster: checks all, and works on those that differ from the request."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain

from .._carrier.task import Result, Task
from .._cluster.cluster import GROUP
from .._components.migrations.migration_runner import MigrationRunner
from .._components.needs import waves_by_needs
from .._errors import LifecycleError
from .._klm.klm_marks import taking_from_klm
from .._module_catalog.documents import SourcedDocument
from .._objects.access.review import demand
from .._objects.access.rights import Right, write_rights
from .._objects.inventory.inventory import refreshed_inventory
from .._objects.inventory.live_objects import read_metadata
from .._objects.inventory.owner_kinds import MODULE
from .._runs.active_run import ActiveRun, Beginning, new_run
from .._runs.cancellation import Grace
from .._runs.lease.own_lease import run_with_own_lease
from .._runs.outcomes import FAILED, NOT_STARTED, SUCCEEDED, ComponentOutcome
from .._runs.records.cluster_hold import ClusterHeld, hold_problem
from .._runs.records.definitions import RecordKinds, are_installed, install_definitions
from .._runs.records.inventories import read_inventories, write_inventory
from .._runs.records.journal_records import journal_of
from .._runs.records.modules import ERROR, MANAGED, Deploying, ModuleRecord, ModuleStatus, write_module_record
from .._runs.records.record_schema import MODULES
from .._runs.records.runs import new_run_name, read_run
from .._threads import map_in_threads
from ._klm_work.klm_reading import KlmReader
from ._klm_work.klm_rehearsal import needs_klm_work, rehearse_on_klm, unchanged_record
from ._klm_work.klm_wave import KlmWave
from .decision import DELETE, INSTALL, LOOKED_AFTER, UNMANAGE, UPGRADE
from .module_context import ModuleContext
from .module_health import explain_skipped, module_health
from .module_plan import MissingManifests, ModulePlanner
from .module_record import desired_record, installed_record, recorded_as_running
from .module_request import ModulesRequest, request_problems
from .module_results import run_result
from .module_rights import module_rights
from .module_work import ModuleOutcome, ModuleWork
from .observed_modules import observe_modules
from .planned_module import PlannedModule


def manage_modules(task: Task, request: ModulesRequest, kinds: RecordKinds) -> Result:
    """Manage the modules that a user names; in check mode on an overlay that is discarded.

    Raises:
        LifecycleError: the request is invalid, or the cluster does not answer.
    """
    problems = request_problems(request)
    if problems:
        raise LifecycleError("\n".join(problems))
    request = replace(request, policy=taking_from_klm(request.policy))
    name = new_run_name()
    runs: list[_ModuleRun] = []

    def work(leased: Task) -> Result:
        runs.append(_ModuleRun(leased, request, kinds, name))
        return runs[-1].work()

    try:
        if task.check_mode:
            return work(task)
        return run_with_own_lease(task, name, work, lambda: write_rights(runs[-1].rights))
    except MissingManifests as missing:
        links = list(missing.links)
        return {"failed": True, "changed": False, "missing_manifests": links, "msg": str(missing)}


class _ModuleRun:
    """One run over the modules of a cluster."""

    def __init__(self, task: Task, request: ModulesRequest, kinds: RecordKinds, name: str) -> None:
        self._task = task
        self._request = request
        self._kinds = kinds
        self._name = name
        self._runner = MigrationRunner.load(task, request.migrations)
        self._observed = observe_modules(
            task.cluster,
            [SourcedDocument(*one) for one in task.materials.modules.documents()],
            reads_cluster_catalog=request.reads_cluster_catalog,
            names=[name for one in request.modules for name in (one.name, *one.needs)],
            ignores_klm=request.is_klm_gone,
        )
        self._planner = ModulePlanner(task, request, self._observed, self._runner)
        self._working: list[PlannedModule] = []
        self._outcomes: dict[str, ModuleOutcome] = {}

    @cached_property
    def rights(self) -> set[Right]:
        """The rights that the run needs, once it is planned."""
        inventories = [*self._observed.inventories.values(), *self._observed.others]
        cluster, kinds = self._task.cluster, self._kinds
        installed = are_installed(cluster, self._observed.installation, kinds)
        return module_rights(cluster, self._working, kinds, inventories, are_installed=installed)

    def work(self) -> Result:
        """Plan, and apply the plan; the result of the task."""
        held = hold_problem(self._observed.hold, datetime.now(UTC))
        planned = self._planner.plan()
        self._working = [one for one in planned if self._needs_work(one)]
        run: ActiveRun | None = None
        warnings: list[str] = [held] if held else []
        if self._task.check_mode:
            self._rehearse()
        elif self._working:
            if held:
                raise ClusterHeld(held)
            demand(self._task.cluster, self.rights, "run")
            run = self._work_on()
            warnings = run.end([one.outcome for one in self._outcomes.values()])
        for one in planned:
            if one.name not in self._outcomes:
                self._outcomes[one.name] = self._report(one)
        warnings += self._task.materials.modules.warnings()
        ended = [(_as_followed(one, self._outcomes[one.name]), self._outcomes[one.name]) for one in planned]
        changes = [change for one, _done in ended for change in one.changes]
        if self._task.check_mode:
            later = self._planner.changes.take()
            changes += [change for change in later if change.ref.group != GROUP]
        result = run_result(self._task, ended, run, warnings, changes)
        result["summary"] += self._observed.klm.notes(
            self._request, self._observed.records, datetime.now(UTC)
        )
        return result

    def _work_on(self) -> ActiveRun:
        """Do the work, as a run with a record."""
        task, installation = self._task, self._observed.installation
        install_definitions(task.cluster, installation, self._kinds)
        run = new_run(
            task,
            self._name,
            MODULES,
            Beginning(installation, replace(installation, definitions=self._kinds.hash)),
            [one.name for one in self._working],
            deadline=self._request.deadline,
        )
        run.begin()
        record = read_run(task.cluster, self._name)
        runner = self._runner.with_journal(journal_of(task.cluster, record))
        # KLM applies the objects of its modules, so its clients have no right to list autoscalers.
        applies = any(one.outlook.klm is None for one in self._working)
        context = replace(
            self._planner.context(task.cluster, runner.with_intent_records(task.cluster, record)),
            autoscaled=self._planner.autoscaled if applies else frozenset(),
            run=self._name,
            progress=task.progress,
            cancelled=run.cancellation,
            out_of_grace=Grace(run.cancellation, self._request.grace),
            running_version=self._planner.outlooks.running_version_now,
        )
        for wave in self._waves():
            self._work_on_wave(wave, context, run)
        with suppress(LifecycleError):
            # Without these records the next run reads more; this run is done.
            self._note_observations()
        return run

    def _note_observations(self) -> None:
        """Record objects as controllers have left them, so that the next run compares less."""
        cluster, worked_on = self._task.cluster, [one.name for one in self._working]
        inventories = read_inventories(cluster, worked_on, owner_kind=MODULE).values()
        live = read_metadata(cluster, inventories)
        for before in inventories:
            now = refreshed_inventory(before, live, self._request.policy.interactive_managers)
            if now != before:
                write_inventory(cluster, now)

    def _needs_work(self, planned: PlannedModule) -> bool:
        if planned.outlook.klm is not None:
            return needs_klm_work(planned, waits=self._request.wait)
        return _needs_work(planned)

    def _waves(self) -> list[list[PlannedModule]]:
        """The modules in order: each after those that it needs; deletions last, in reverse order."""
        remaining = {one.name: one for one in self._working if one.decision.action in LOOKED_AFTER}
        leaving = {one.name: one for one in self._working if one.name not in remaining}
        forwards = waves_by_needs({name: _needs(one) for name, one in remaining.items()})
        backwards = reversed(waves_by_needs({name: _needs(one) for name, one in leaving.items()}))
        return [
            *([remaining[name] for name in wave] for wave in forwards),
            *([leaving[name] for name in wave] for wave in backwards),
        ]

    def _work_on_wave(self, wave: Sequence[PlannedModule], context: ModuleContext, run: ActiveRun) -> None:
        def work(group: Sequence[PlannedModule]) -> Sequence[ModuleOutcome]:
            cancelled = f"the run was cancelled by {run.cancellation.reason()}" if run.cancellation() else ""
            reasons = [cancelled or self._reason_not_to_start(one) for one in group]
            started = [one for one, reason in zip(group, reasons, strict=True) if not reason]
            done = [_not_started(one, why) for one, why in zip(group, reasons, strict=True) if why]
            done += self._work_together(started, context)
            for one in done:
                context.progress(one.outcome.name, one.outcome.state, one.outcome.error)
                run.note(one.outcome)
            return done

        for group in map_in_threads(work, _groups(wave), self._request.workers):
            self._outcomes |= {one.outcome.name: one for one in group}

    def _work_together(
        self, group: Sequence[PlannedModule], context: ModuleContext
    ) -> Sequence[ModuleOutcome]:
        """Work on one module of ours, or on all of a wave that Kyma's lifecycle manager (KLM) has."""
        if all(one.step is None for one in group):
            return [ModuleWork(context, one).run() for one in group]
        return KlmWave(context, KlmReader(context.cluster, self._observed), group).run()

    def _reason_not_to_start(self, planned: PlannedModule) -> str:
        if planned.decision.action in LOOKED_AFTER:
            missing = [name for name in _needs(planned) if not self._is_well(name)]
            advice = "Install it first, or remove it from needs"
            return f"it needs {', '.join(missing)}, which is not ready. {advice}" if missing else ""
        if planned.decision.action == DELETE:
            users = [name for name in self._users_of(planned.name) if not self._is_gone(name)]
            return f"{', '.join(users)} needs it, and is still there" if users else ""
        return ""

    def _is_well(self, name: str) -> bool:
        if name in self._outcomes:
            return self._outcomes[name].outcome.state == SUCCEEDED
        return bool(self._observed.managers.get(name)) or name in self._observed.inventories

    def _users_of(self, name: str) -> Collection[str]:
        """The managed modules that need a module."""
        records = self._observed.records.values()
        return [one.name for one in records if one.is_managed and name in one.needs]

    def _is_gone(self, name: str) -> bool:
        done = self._outcomes.get(name)
        return done is not None and (done.record is None or not done.record.is_managed)

    def _rehearse(self) -> None:
        """The outcome of the modules that a run would work on; deletions are rehearsed on the overlay."""
        context = self._planner.rehearsing_context(self._planner.overlay)
        for planned in chain.from_iterable(self._waves()):
            reason = self._reason_not_to_start(planned)
            done = _not_started(planned, reason) if reason else self._rehearse_one(planned, context)
            self._outcomes[planned.name] = done

    def _rehearse_one(self, planned: PlannedModule, context: ModuleContext) -> ModuleOutcome:
        if planned.step is None:
            return ModuleWork(context, planned).rehearse()
        return rehearse_on_klm(context, self._task.cluster, self._observed.klm.kyma, planned)

    def _report(self, planned: PlannedModule) -> ModuleOutcome:
        """Report the state of an unchanged module, if its record differs."""
        facts = planned.outlook.facts
        state, message = self._state_of(planned)
        outcome = ComponentOutcome(
            planned.name,
            FAILED if state == ERROR else SUCCEEDED,
            error=message if state == ERROR else "",
            component_version=facts.running,
            owner_kind=MODULE,
            warnings=planned.decision.notes,
        )
        status = ModuleStatus(state, message)
        record = facts.record
        if planned.outlook.klm is not None:
            record = unchanged_record(planned)
        elif facts.desired_state == MANAGED and not facts.other_owner:
            record = desired_record(record or ModuleRecord(planned.name), planned)
            if planned.decision.action in LOOKED_AFTER and not planned.problem:
                if state != ERROR and planned.decision.action in (INSTALL, UPGRADE):
                    # All objects of that version exist: a run that was cut off has not recorded it.
                    record = installed_record(self._task.cluster, record, planned)
                else:
                    record = recorded_as_running(record, planned)
                if state != ERROR:
                    record = replace(record, deploying=Deploying())
        if record is None:
            # A module that is neither requested nor managed needs no record.
            return ModuleOutcome(outcome, ModuleRecord(planned.name, status=status))
        record = replace(record, status=status)
        if not self._task.check_mode and record != facts.record:
            install_definitions(self._task.cluster, self._observed.installation, self._kinds)
            record = write_module_record(self._task.cluster, record)
        return ModuleOutcome(outcome, record)

    def _state_of(self, planned: PlannedModule) -> tuple[str, str]:
        """The reported state of an unchanged module, and why."""
        decision = planned.decision
        if planned.problem:
            return ERROR, planned.problem
        if planned.step is not None:
            return planned.step.state, planned.step.message
        if decision.action not in LOOKED_AFTER and not decision.is_skipped:
            return decision.state, decision.message
        health = module_health(
            self._task.cluster,
            planned.version,
            planned.outlook,
            planned.before,
            lambda: self._planner.autoscaled,
        )
        if decision.is_skipped:
            return decision.state, explain_skipped(health, decision.message)
        return (decision.state, decision.message) if health.is_ready else (ERROR, health.reason)


def _not_started(planned: PlannedModule, reason: str) -> ModuleOutcome:
    """The outcome of a module on which the run does not work."""
    outcome = ComponentOutcome(planned.name, NOT_STARTED, error=reason, owner_kind=MODULE)
    return ModuleOutcome(outcome, planned.outlook.facts.record, follows_plan=False)


def _as_followed(planned: PlannedModule, done: ModuleOutcome) -> PlannedModule:
    """The plan for a module, without changes that were no part of the work on it."""
    return planned if done.follows_plan else replace(planned, plan=None, removals=(), configuration=None)


def _groups(wave: Sequence[PlannedModule]) -> list[list[PlannedModule]]:
    """The modules of a wave by how they are worked on: those of KLM together, and each other one alone."""
    of_klm = [one for one in wave if one.step is not None]
    return [*([one] for one in wave if one.step is None), *([of_klm] if of_klm else [])]


def _needs(planned: PlannedModule) -> Sequence[str]:
    record = planned.outlook.facts.record
    return planned.request.needs if planned.request else record.needs if record else ()


def _needs_work(planned: PlannedModule) -> bool:
    """Whether a run works on a module of ours."""
    decision = planned.decision
    if decision.action in (UNMANAGE, DELETE):
        return True
    if decision.action not in LOOKED_AFTER or planned.problem:
        return False
    return (
        planned.changes_objects
        or planned.is_adopted_as_it_is
        or decision.takes_back
        or planned.configuration is not None
    )
