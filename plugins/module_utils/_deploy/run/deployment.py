# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys a wave of components."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

from ..._carrier.task import Result, Task
from ..._cluster.cluster import API_VERSION, Cluster
from ..._cluster.kinds import NAMESPACE_KIND, Kind, defined_kinds, is_of_kind
from ..._components.component_crds import narrow_component
from ..._components.component_run import ComponentRun
from ..._components.migrations.migration_runner import MigrationRunner
from ..._components.selection import MOVED
from ..._components.work_context import WorkContext
from ..._errors import LifecycleError
from ..._objects.health.watcher import Watcher
from ..._objects.inventory.inventory import Inventory
from ..._objects.inventory.live_objects import read_autoscaled, scope_of
from ..._objects.ownership.autoscaling import Target
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
from ..desired.stages import needs_problems, waves_of
from ..desired.unchanged_components import read_release
from .part_of_run import work_for_run

_HAS_ENDED = {
    FAILED: "failed",
    CANCELLED: "was cancelled",
    NOT_STARTED: "was not started",
}
"""What became of a component, by its state."""
_UNENDED = "has not ended"


@dataclass(frozen=True)
class _Deployment:
    """The work on some components of a release, wave after wave.

    Attributes:
        task: that works, under the lease.
        options: for the work.
        run: that it is a part of, or an empty one.
        desired: the release.
        migrations: those of the release.
        context: what the work on all components shares.
    """

    task: Task
    options: ComponentOptions
    run: ActiveRun
    desired: DesiredRelease
    migrations: MigrationRunner
    context: WorkContext
    _outcomes: dict[str, ComponentOutcome] = field(default_factory=dict)

    def work(self) -> list[ComponentOutcome]:
        """Work on every component that may start, and report those that may not."""
        self._forget_the_release()
        entries = [entry for entry in self.desired.entries.values() if entry.name in self.options.names]
        with self.run.recording_beside():
            for prerequisites, phase in ((True, "prerequisites"), (False, "components")):
                waves = waves_of([entry for entry in entries if entry.prerequisite is prerequisites])
                if waves:
                    self._work_on(waves, phase)
        self._narrow()
        return list(self._outcomes.values())

    def _forget_the_release(self) -> None:
        """Outside of a run: record that the cluster no longer has all of its release as it was rendered."""
        known = self.context.inventories
        same = all(
            known[n].digest == self.desired.components[n].digest for n in self.options.names if n in known
        )
        if self.run.name or same:
            return
        before = read_installation(self.task.cluster)
        after = replace(before, digest="")
        if before.release_digest != self.task.materials.release_digest():
            after = replace(after, release_digest="", release_since="")
        if after != before:
            write_installation(self.task.cluster, after)

    @property
    def cancelled_by(self) -> str:
        """Who or what cancelled the deployment, with the reason; mostly empty."""
        return "; ".join(self.migrations.cancel_reasons) or self.run.cancellation.reason()

    def _work_on(self, waves: list[tuple[str, ...]], phase: str) -> None:
        started = time.monotonic()
        for wave in waves:
            for outcome in map_in_threads(self._one, wave, self.options.workers):
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
        if not run.name or run.facts.alone or unfinished or self.context.cancelled():
            return
        wide = {name: entry.get("wide") for name, entry in run.components.items()}
        for name in [name for name in self.desired.components if wide.get(name)]:
            ended = narrow_component(self.context, self.desired.components[name], wide[name] or ())
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
            version = self.desired.components[name].listed.component_version
            outcome = ComponentOutcome(name, NOT_STARTED, error=why, component_version=version)
        else:
            outcome = ComponentRun(self.context, self.desired.components[name]).run()
        self.run.note(outcome, cancelled_by="; ".join(self.migrations.cancel_reasons))
        return outcome

    def _why_not(self, name: str) -> str:
        if self.context.cancelled():
            return f"the run was cancelled by {self.cancelled_by}"
        states = self.run.states
        for needed in self.desired.entries[name].needs:
            if states.get(needed, SUCCEEDED) != SUCCEEDED:
                return f"it needs {needed}, which {_HAS_ENDED.get(states[needed], _UNENDED)}"
        for earlier, state in states.items():
            entry = self.desired.entries.get(earlier)
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


class _Observed(NamedTuple):
    """What is read before a deployment."""

    inventories: dict[str, Inventory]
    autoscaled: frozenset[Target]


def _observe(cluster: Cluster) -> _Observed:
    return _Observed(*call_in_threads(lambda: read_inventories(cluster), lambda: read_autoscaled(cluster)))


def _deployment_of(
    task: Task, options: ComponentOptions, record: Mapping[str, Any], observed: _Observed
) -> _Deployment:
    """Prepare the deployment.

    Raises:
        LifecycleError: the release or its migrations have problems, or the cluster does not answer.
    """
    run = ActiveRun(task, record)
    task = replace(task, cancelled=run.cancellation)
    cluster = task.cluster
    inventories, autoscaled = observed
    release, unchanged = read_release(task.materials, inventories)
    digest = rendering_digest(task.materials.fingerprint(), release.profile)
    desired = desired_release(release, scope_of(cluster), unchanged)
    _refuse_bad_names(options.names, desired)
    migrations = MigrationRunner.load(task, options.migrations).bound_to_plan(record)
    run.migration_count = len(migrations.migrations)
    actions = recorded_actions(record)
    if actions is None:
        taking_part = [one for name, one in desired.components.items() if name in options.names]
        actions = component_actions(taking_part, inventories, digest)
    migrations = with_release(migrations, desired.components, release, actions)
    migrations = migrations.with_journal(journal_of(cluster, record))
    if run.name:
        migrations = migrations.with_intent_records(cluster, record)
    elif task.tenure:
        migrations = migrations.with_lease(task.tenure)
    unchanged_only = {name: MOVED for name, one in desired.components.items() if one.is_unchanged}
    context = WorkContext(
        cluster=cluster,
        policy=options.policy,
        migrate=migrations.run,
        inventories=inventories,
        watcher=Watcher(cluster),
        autoscaled=desired.autoscaled | autoscaled,
        is_recorded=bool(run.name) or cluster.resource(API_VERSION, "KymaInventory") is not None,
        version=release.version,
        digest=digest,
        providers=desired.providers,
        run=run.name,
        progress=task.progress,
        cancelled=migrations.is_cancelled,
        out_of_grace=Grace(migrations.is_cancelled, options.grace),
        timeout=options.timeout,
        new_kinds=_new_kinds(run.facts.components if run.name else list(desired.components), desired),
        new_namespaces=_namespaces(desired),
        selection=run.facts.selection if run.name else unchanged_only,
        planned=run.facts.takings if run.name else None,
        count=_counter(run),
    )
    return _Deployment(task, options, run, desired, migrations, context)


def _refuse_bad_names(names: Sequence[str], desired: DesiredRelease) -> None:
    unknown = [name for name in names if name not in desired.components]
    problems = [f"the release has no component {name}" for name in unknown]
    problems += [*desired.problems, *needs_problems(list(desired.entries.values()))]
    if problems:
        known = ", ".join(desired.components)
        raise LifecycleError("; ".join(problems) + (f" (it has {known})" if unknown else ""))


def _new_kinds(names: Sequence[str], desired: DesiredRelease) -> dict[tuple[str, str], Kind]:
    """The kinds that some components define."""
    components = [desired.components[name] for name in names if name in desired.components]
    return {key: kind for one in components for key, kind in defined_kinds(one.objects).items()}


def _namespaces(desired: DesiredRelease) -> frozenset[str]:
    """The namespaces of the release."""
    refs = (ref for component in desired.components.values() for ref in component.refs)
    return frozenset(ref.name for ref in refs if is_of_kind(ref, NAMESPACE_KIND))


def _counter(run: ActiveRun) -> Callable[[], str]:
    """Counts the components of the run that have ended, including those of earlier tasks."""
    total = len(run.facts.components)
    numbers = count(run.ended_count + 1)
    return lambda: f", {min(next(numbers), total)} of {total} components" if total > 1 else ""


def deploy_components(task: Task, options: ComponentOptions) -> Result:
    """Deploy components; as part of a run, the outcome of each is recorded there."""

    observed: list[_Observed] = []

    def work(working: Task, record: Mapping[str, Any]) -> Result:
        working = working if record else _in_profile(working)
        read = observed[0] if observed else _observe(working.cluster)
        return _deploy_under_lease(working, options, record, read)

    # Nobody else writes these during a run.
    def observe() -> None:
        observed.append(_observe(task.cluster))

    return work_for_run(task, options.run, work, kind="component", has_migrations=True, beside=observe)


def _in_profile(task: Task) -> Task:
    """The task outside of a run with the release in the profile of the cluster, or in another allowed one."""
    installation = read_installation(task.cluster)
    profile = chosen_profile(task.params["profile"] or "", installation)
    if problem := profile_problem(installation, profile, is_allowed=task.params["change_profile"]):
        raise LifecycleError(problem)
    return replace(task, materials=task.materials.for_profile(profile))


def _deploy_under_lease(
    task: Task, options: ComponentOptions, record: Mapping[str, Any], observed: _Observed
) -> Result:
    deployment = _deployment_of(task, options, record, observed)
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
