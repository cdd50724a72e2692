# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys a wave of components."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from ..._carrier.task import Result, Task
from ..._cluster.cluster import API_VERSION
from ..._cluster.kinds import NAMESPACE_KIND, Kind, defined_kinds, is_of_kind
from ..._components.component_context import ComponentContext, ContentSource, KnownState, RunAdditions
from ..._components.component_crds import narrow_component
from ..._components.component_run import ComponentRun
from ..._components.migrations.migration_runner import MigrationRunner
from ..._components.selection import MOVED
from ..._errors import LifecycleError
from ..._objects.health.watcher import Watcher
from ..._objects.inventory.live_objects import read_autoscaled, scope_of
from ..._objects.ownership.findings import describe_findings
from ..._release.model import rendering_digest
from ..._result_codec import to_result
from ..._runs.active_run import ActiveRun
from ..._runs.cancellation import Grace
from ..._runs.outcomes import (
    CANCELLED,
    FAILED,
    NOT_STARTED,
    SUCCEEDED,
    ComponentOutcome,
    duration_of,
    global_phase,
)
from ..._runs.records.installation import read_installation, write_installation
from ..._runs.records.inventories import read_inventories
from ..._runs.records.journal_records import journal_of
from ..._runs.run_failures import outcome_problems, task_failures
from ..._threads import call_in_threads, map_in_threads
from ...migration import Phase
from ..component_options import ComponentOptions
from ..desired.desired_release import DesiredRelease, desired_release
from ..desired.release_migrations import component_actions, recorded_actions, with_release
from ..desired.release_profile import chosen_profile, profile_problem
from ..desired.unchanged_components import read_release
from ..desired.waves import needs_problems, waves_of
from .part_of_run import work_for_run

_HAS_ENDED = {
    FAILED: "failed",
    CANCELLED: "was cancelled",
    NOT_STARTED: "was not started",
}
"""What became of a component, by its state."""
_UNENDED = "has not ended"


class _Deployment:
    """The work on some components of a release, wave after wave."""

    def __init__(
        self,
        task: Task,
        options: ComponentOptions,
        record: Mapping[str, Any],
        known: KnownState,
    ) -> None:
        self._options = options
        self._names = options.names
        self.run = run = ActiveRun(task, record)
        self._task = task = replace(task, cancelled=run.cancellation)
        release, unchanged = read_release(task.materials, known.inventories)
        digest = rendering_digest(task.materials.fingerprint(), release.profile)
        self._desired = desired_release(release, scope_of(task.cluster), unchanged)
        self._refuse_bad_names(self._desired)
        migrating = MigrationRunner.load(task, options.migrations).bound_to_plan(record)
        run.migration_count = len(migrating.migrations)
        journal = journal_of(task.cluster, record)
        actions = recorded_actions(record)
        if actions is None:
            taking_part = [one for name, one in self._desired.components.items() if name in self._names]
            actions = component_actions(taking_part, known.inventories, digest)
        migrating = with_release(migrating, self._desired.components, release, actions).with_journal(journal)
        if run.name:
            migrating = migrating.with_intent_records(task.cluster, record)
        elif task.tenure:
            migrating = migrating.with_lease(task.tenure)
        self._migrating = migrating
        recorded = bool(run.name) or task.cluster.resource(API_VERSION, "KymaInventory") is not None
        self._place = ComponentContext(
            cluster=task.cluster,
            policy=options.policy,
            migrate=self._migrating.run,
            progress=task.progress,
            cancelled=self._migrating.is_cancelled,
            out_of_grace=Grace(self._migrating.is_cancelled, options.grace),
            timeout=options.timeout,
            watcher=Watcher(task.cluster),
            known=replace(
                known, autoscaled=self._desired.autoscaled | known.autoscaled, is_recorded=recorded
            ),
            source=ContentSource(release.version, digest),
            additions=RunAdditions(self._new_kinds(), self._namespaces()),
            planned=run.facts.takings if run.name else None,
            selection=self._selection(),
            providers=self._desired.providers,
            run=run.name,
            count=self._counter(),
        )
        self._outcomes: dict[str, ComponentOutcome] = {}

    def _counter(self) -> Callable[[], str]:
        """Counts the components of the run that have ended, including those of earlier tasks."""
        total = len(self.run.facts.components)
        numbers = count(self.run.ended_count + 1)
        return lambda: f", {min(next(numbers), total)} of {total} components" if total > 1 else ""

    def _new_kinds(self) -> dict[tuple[str, str], Kind]:
        """The kinds that this run installed: outside of a run, all that the release defines."""
        begun = self.run.facts.components if self.run.name else self._desired.components
        defined: dict[tuple[str, str], Kind] = {}
        for name in begun or ():
            component = self._desired.components.get(name)
            defined |= defined_kinds(component.objects if component else ())
        return defined

    def _selection(self) -> Mapping[str, str]:
        """The objects of each component that are read and applied, as the plan of the run decided."""
        if self.run.name:
            return self.run.facts.selection
        return {name: MOVED for name, one in self._desired.components.items() if one.is_unchanged}

    def _namespaces(self) -> frozenset[str]:
        """The namespaces of the release."""
        refs = (ref for component in self._desired.components.values() for ref in component.refs)
        return frozenset(ref.name for ref in refs if is_of_kind(ref, NAMESPACE_KIND))

    def work(self) -> list[ComponentOutcome]:
        """Work on every component that may start, and report those that may not."""
        self._forget_the_release()
        entries = [entry for entry in self._desired.entries.values() if entry.name in self._names]
        for prerequisites, phase in ((True, "prerequisites"), (False, "components")):
            waves = waves_of([entry for entry in entries if entry.prerequisite is prerequisites])
            if waves:
                self._work_on(waves, phase)
        self._narrow()
        return list(self._outcomes.values())

    def _forget_the_release(self) -> None:
        """Outside of a run: record that the cluster no longer has all of its release as it was rendered."""
        known = self._place.known.inventories
        same = all(known[n].digest == self._desired.components[n].digest for n in self._names if n in known)
        if self.run.name or same:
            return
        before = read_installation(self._task.cluster)
        after = replace(before, digest="")
        if before.release_digest != self._task.materials.release_digest():
            after = replace(after, release_digest="", release_since="")
        if after != before:
            write_installation(self._task.cluster, after)

    @property
    def cancelled_by(self) -> str:
        """Who or what cancelled the deployment, with the reason; mostly empty."""
        return "; ".join(self._migrating.cancel_reasons) or self.run.cancellation.reason()

    def _work_on(self, waves: list[tuple[str, ...]], phase: str) -> None:
        started = time.monotonic()
        for wave in waves:
            for outcome in map_in_threads(self._one, wave, self._options.workers):
                self._outcomes[outcome.name] = outcome
        states = {self._outcomes[name].state for wave in waves for name in wave}
        self.run.note_phase(phase, states, time.monotonic() - started)

    def _narrow(self) -> None:
        """Remove old versions from definitions, once everything in the run is healthy without them.

        Outside of a run of the whole release they stay: others may need them, and the next such run removes
        them.
        """
        run, states = self.run, self.run.states
        unfinished = any(states.get(name) != SUCCEEDED for name in run.facts.components)
        if not run.name or run.facts.alone or unfinished or self._place.cancelled():
            return
        wide = {name: entry.get("wide") for name, entry in run.components.items()}
        for name in [name for name in self._desired.components if wide.get(name)]:
            ended = narrow_component(self._place, self._desired.components[name], wide[name] or ())
            begun = self._outcomes.get(name)
            if begun is not None:
                phases = {**begun.phases, **ended.phases}
                seconds = begun.seconds + ended.seconds
                ended = replace(
                    begun,
                    state=ended.state,
                    error=ended.error,
                    seconds=seconds,
                    finished_at=ended.finished_at,
                    phases=phases,
                )
            self._outcomes[name] = ended
            result = to_result(ended)
            run.note_entries({name: {key: result[key] for key in ("state", "error", "phases")}})

    def _one(self, name: str) -> ComponentOutcome:
        why = self._why_not(name)
        if why:
            version = self._desired.components[name].listed.component_version
            outcome = ComponentOutcome(name, NOT_STARTED, error=why, component_version=version)
        else:
            outcome = ComponentRun(self._place, self._desired.components[name]).run()
        cancelled = self.cancelled_by if self._migrating.cancel_reasons else ""
        self.run.note(outcome, cancelled_by=cancelled)
        return outcome

    def _why_not(self, name: str) -> str:
        if self._place.cancelled():
            return f"the run was cancelled by {self.cancelled_by}"
        states = self.run.states
        for needed in self._desired.entries[name].needs:
            if states.get(needed, SUCCEEDED) != SUCCEEDED:
                return f"it needs {needed}, which {_HAS_ENDED.get(states[needed], _UNENDED)}"
        for earlier, state in states.items():
            entry = self._desired.entries.get(earlier)
            if entry and entry.prerequisite and state != SUCCEEDED:
                return f"the prerequisite {earlier} {_HAS_ENDED.get(state, _UNENDED)}"
        return self._why_not_by_global_migrations()

    def _why_not_by_global_migrations(self) -> str:
        before = global_phase(Phase.PRE)
        state = self.run.phase(before).get("state", "")
        if state == FAILED:
            return "a global migration failed"
        if not state and before in self.run.facts.phases:
            return "the global migrations before it did not end"
        return ""

    def _refuse_bad_names(self, desired: DesiredRelease) -> None:
        unknown = [name for name in self._names if name not in desired.components]
        problems = [f"the release has no component {name}" for name in unknown]
        problems += [*desired.problems, *needs_problems(list(desired.entries.values()))]
        if problems:
            known = ", ".join(desired.components)
            raise LifecycleError("; ".join(problems) + (f" (it has {known})" if unknown else ""))


def deploy_components(task: Task, options: ComponentOptions) -> Result:
    """Deploy components; as part of a run, the outcome of each is recorded there."""

    def work(working: Task, record: Mapping[str, Any]) -> Result:
        working = working if record else _in_profile(working)
        return _deploy_under_lease(working, options, record, _known(working))

    return work_for_run(task, options.run, work, kind="component", has_migrations=True)


def _in_profile(task: Task) -> Task:
    """The task outside of a run with the release in the profile of the cluster, or in another allowed one."""
    installation = read_installation(task.cluster)
    profile = chosen_profile(task.params["profile"] or "", installation)
    if problem := profile_problem(installation, profile, is_allowed=task.params["change_profile"]):
        raise LifecycleError(problem)
    return replace(task, materials=task.materials.for_profile(profile))


def _known(task: Task) -> KnownState:
    """The records of all components, and the targets of the cluster's own autoscalers."""
    return KnownState(
        *call_in_threads(lambda: read_inventories(task.cluster), lambda: read_autoscaled(task.cluster))
    )


def _deploy_under_lease(
    task: Task, options: ComponentOptions, record: Mapping[str, Any], known: KnownState
) -> Result:
    deployment = _Deployment(task, options, record, known)
    outcomes = deployment.work()
    cancelled_by = deployment.cancelled_by
    waiting = [one for one in outcomes if one.state == NOT_STARTED]
    if cancelled_by and waiting:
        # A user who interrupts Ansible sees no result.
        task.progress(", ".join(one.name for one in waiting), NOT_STARTED, waiting[0].error)
    ended = deployment.run.end_if_cancelled(cancelled_by)
    problems = outcome_problems(outcomes)
    result: Result = {
        **ended,
        "changed": any(_has_changed(outcome) for outcome in outcomes),
        "components": to_result(outcomes),
        "migrations": [dict(migration) for outcome in outcomes for migration in outcome.migrations],
        "durations": _durations(outcomes),
        "warnings": [*ended.get("warnings", ()), *_warnings(outcomes, planned=bool(options.run))],
    }
    if problems or cancelled_by:
        cancelled = [f"cancelled by {cancelled_by}"] if cancelled_by else []
        result["msg"] = "\n".join([*cancelled, *problems])
        if options.run:
            result["failures"] = task_failures(outcomes, cancelled_by)
        # In a run, the cause of what was not started is a failure elsewhere.
        result["failed"] = not options.run or any(one.state in (FAILED, CANCELLED) for one in outcomes)
    return result


def _warnings(outcomes: list[ComponentOutcome], *, planned: bool) -> list[str]:
    """Warnings for a person; the plan of a run has already reported changes by others to objects."""
    return [
        f"{outcome.name}: {warning}"
        for outcome in outcomes
        for warning in (*outcome.warnings, *([] if planned else describe_findings(outcome.findings)))
    ]


def _has_changed(outcome: ComponentOutcome) -> bool:
    objects = outcome.created + outcome.changed + outcome.replaced
    return objects > 0 or any(migration["wrote"] for migration in outcome.migrations)


def _durations(outcomes: list[ComponentOutcome]) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    for outcome in outcomes:
        rows += [duration_of("migration", one["id"], one) for one in outcome.migrations]
        rows.append(duration_of("component", outcome.name, to_result(outcome)))
    return rows
