# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes one job: first its definition, then its runtime objects, and last the status."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import partial

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ApiError, ClusterError, Conflict, NotFound, Unreachable
from .._errors import LifecycleError
from .._job_models.core_job import CoreJob, JobKey, JobType
from .._job_models.job_fields import core_job, given_fields
from .._job_models.runtime.run_identity import run_identity
from .._job_models.runtime.runtime_objects import DEPLOYMENT, JOB, STORE
from .._job_models.storage.definition import StoredDefinition
from .._job_models.storage.stored_status import RUN, WrittenObject
from .._objects.access.review import MissingRights
from .._progress import Progress, no_progress
from .._text import one_line
from .changes.change_report import Action, ChangeReport, OnFailure
from .changes.change_steps import (
    DeleteRuntime,
    Goal,
    Step,
    WriteDefinitionStatus,
    WriteRuntime,
    desired_objects,
    ended_run_step,
    is_preparation,
    next_step,
    next_step_to_absence,
    orphan_step,
    refusal,
    rolled_out_release,
)
from .changes.deletion_wait import DeletionWait
from .changes.descriptions import fields_after, fields_before, hidden_field_warnings, step_note
from .changes.job_restarts import restart_pods, start_job_now
from .changes.job_view import JobView, view_of
from .changes.rollback import roll_back
from .changes.statuses import failed_status
from .changes.step_writer import RuntimeRefused, StaleView, StepWriter
from .job_state import ACCOUNT_MARK, OUT_OF_QUOTA, QUOTA_MARK
from .pod_refusals import PodRefusal
from .snapshot import StoreSnapshot, read_snapshot

__all__ = ["Action", "ChangeReport", "JobChanger", "OnFailure"]

MOST_ATTEMPTS = 10
"""How often a change is decided again because others change the same job."""


class JobChangeRefusal(LifecycleError):
    """A job may not be changed."""


@dataclass
class _Change:
    """A change that is in progress.

    Attributes:
        key: of the job.
        first: the state of the job before the change.
        view: its current state.
        base: the state that a rollback restores; None before the part to undo begins.
        created: the uids of the runtime objects that it has created.
        notes: the completed actions, in clauses.
        is_changed: whether anything but a status was written.
        is_started: whether what creates pods was written.
    """

    key: JobKey
    first: JobView
    view: JobView
    base: JobView | None = None
    created: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    is_changed: bool = False
    is_started: bool = False


class JobChanger:
    """Changes jobs one at a time.

    Args:
        cluster: where to write.
        snapshot: the state of the jobs. It reads again what others change meanwhile.
        on_failure: what happens to a change whose runtime objects the API server refuses.
        timeout: seconds to wait until a deleted object is gone.
        progress: where to report such a wait.
        cancelled: whether to end such a wait.
    """

    def __init__(
        self,
        cluster: Cluster,
        snapshot: StoreSnapshot,
        *,
        on_failure: OnFailure = OnFailure.ROLLBACK,
        timeout: float = 120.0,
        progress: Progress = no_progress,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._cluster = cluster.with_field_manager(STORE)
        self._snapshot = snapshot
        self._on_failure = on_failure
        self._wait = DeletionWait(timeout, progress, cancelled)
        self._writer = StepWriter(self._cluster, self._wait)
        self._changed: set[JobKey] = set()
        self._done: dict[JobKey, _Change] = {}
        self._confirming: dict[str, StoreSnapshot] = {}

    def present(self, job: CoreJob) -> ChangeReport:
        """Roll out a job as its user means it: its definition and its runtime objects.

        Raises:
            ClusterError: the cluster does not answer, or refuses the definition.
        """

        def goal(view: JobView) -> Goal:
            old = view.definition.job if view.definition else view.adoptable
            return Goal(job, is_run_changed=old is not None and run_identity(old) != run_identity(job))

        return self._change(job.key, goal, Action.UPDATED)

    def suspended(self, key: JobKey, suspended: bool = True) -> ChangeReport:
        """Suspend a job or let it continue; all else of its definition stays.

        Raises:
            ClusterError: the cluster does not answer, or refuses the definition.
        """

        def goal(view: JobView) -> Goal:
            job, release = _existing_job(view), rolled_out_release(view)
            fields = {**given_fields(job), "suspend": suspended or None}
            return Goal(core_job(job.key, job.type, fields, release), release=release)

        return self._change(key, goal, Action.SUSPENDED if suspended else Action.UPDATED)

    def restarted(self, key: JobKey) -> ChangeReport:
        """Run a job now: a one-off job again, a scheduled one outside its schedule, others with new pods.

        Raises:
            ClusterError: the cluster does not answer, or refuses the definition.
        """
        return self._change(key, _unchanged_goal, Action.RESTARTED)

    def absent(self, key: JobKey) -> ChangeReport:
        """Delete the job of a name, of any type.

        Raises:
            ClusterError: the cluster does not answer, or refuses a deletion.
        """

        def work(change: _Change) -> None:
            _refuse(refusal(change.view))
            self._take(change, next_step_to_absence)
            while change.view.surplus:
                change.view = view_of(self._fresh_snapshot(key), key)
                self._take(change, next_step_to_absence)

        return self._reported(key, Action.DELETED, work)

    def refuse_pods(self, report: ChangeReport, refusal: PodRefusal) -> ChangeReport:
        """Roll a change back whose pods Kubernetes refuses, or mark its definition; the new report.

        Args:
            report: on the change, the last one of its job.
            refusal: of the pods. Nothing is done about those of a job that was not changed.

        Raises:
            ClusterError: the cluster does not answer.
        """
        change = self._done[report.key]
        ours = change.view
        change.view = view_of(self._fresh_snapshot(report.key), report.key)
        message = f"{refusal.message}. Kubernetes creates them when the cause is gone."
        if change.base is not None:
            message = self._handle_refusal(change, ours, refusal.reason, refusal.message)
        return replace(
            report,
            action=Action.REFUSED,
            changed=change.is_changed,
            after=fields_after(change.view),
            message=message,
            reason=refusal.reason,
        )

    def _change(self, key: JobKey, goal: Callable[[JobView], Goal], action: Action) -> ChangeReport:
        is_run_changed = False

        def work(change: _Change) -> None:
            nonlocal is_run_changed
            desired = goal(change.view)
            is_run_changed |= desired.is_run_changed
            desired = replace(desired, is_run_changed=is_run_changed)
            _refuse(refusal(change.view, desired.job.type))
            if action is Action.RESTARTED:
                self._restart(change, desired)
            self._take(change, lambda view: next_step(view, desired))

        return self._reported(key, action, work)

    def _reported(self, key: JobKey, action: Action, work: Callable[[_Change], None]) -> ChangeReport:
        snapshot = self._fresh_snapshot(key) if key in self._changed else self._snapshot
        view = view_of(snapshot, key)
        change = _Change(key, view, view)
        reason, message = "", ""
        try:
            self._repeat(change, work)
        except RuntimeRefused as refused:
            error = refused.error
            reason = OUT_OF_QUOTA if QUOTA_MARK in error.api_message else error.reason or type(error).__name__
            change.view = refused.view
            message = self._handle_refusal(change, refused.view, reason, one_line(error))
        except JobChangeRefusal as refusal:
            reason, message = "Refused", str(refusal)
        except (MissingRights, Unreachable):
            raise
        except LifecycleError as failure:
            done = f". By then: {'; '.join(change.notes)}" if change.notes else ""
            reason, message = "Failed", f"{one_line(failure).rstrip('.')}{done}"
            if isinstance(failure, NotFound) and failure.api_message.startswith("namespaces "):
                message = f"namespace {key.namespace} does not exist. Create it first"
        if change.is_changed:
            self._changed.add(key)
        self._done[key] = change
        return ChangeReport(
            key,
            Action.REFUSED if reason else self._action(change, action),
            change.is_changed,
            fields_before(change.first),
            fields_after(change.view),
            bool(change.first.adoptable and not change.first.definition and change.view.definition),
            message or "; ".join(change.notes),
            reason,
            hidden_field_warnings(change.first, change.view),
            change.is_started,
        )

    def _repeat(self, change: _Change, work: Callable[[_Change], None]) -> None:
        """Execute a change; if others change the same job, decide it again from the state at that time."""
        taken, refused = "", ""
        for attempt in range(1, MOST_ATTEMPTS + 1):
            try:
                while orphan := orphan_step(change.view, change.created):
                    change.view = self._writer.write(change.view, orphan)
                work(change)
                return
            except JobChangeRefusal as error:
                # What was read while others changed the job may not fit together.
                if attempt == MOST_ATTEMPTS or refused == str(error):
                    raise
                refused = str(error)
                change.view = view_of(self._confirming_snapshot(change), change.key)
                continue
            except StaleView as error:
                if error.refused and taken == str(error):
                    # It exists again, and is still no object of the job.
                    raise error.refused from None
                if attempt == MOST_ATTEMPTS:
                    raise ClusterError(
                        f"job {change.key}: others have changed it {MOST_ATTEMPTS} times meanwhile: {error}."
                        " Find out who does, and run this again."
                    ) from None
                taken = str(error) if error.refused else ""
            time.sleep(random.uniform(0, 0.02 * attempt))
            before, change.view = change.view, view_of(self._fresh_snapshot(change.key), change.key)
            if _is_same(before.definition, change.view.definition):
                vanished = _vanished_run(before, change.view, change.created)
                change.view = replace(change.view, ended=before.ended, vanished=vanished)

    def _take(self, change: _Change, decide: Callable[[JobView], Step | None]) -> None:
        while step := decide(change.view):
            if change.base is None and not is_preparation(change.view, step):
                change.base = change.view
            before, change.view = change.view, self._writer.write(change.view, step)
            is_repeated = isinstance(step, WriteRuntime) and change.view.written is before.written
            is_replaced = False
            if isinstance(step, WriteRuntime) and not is_repeated:
                uid = change.view.written[step.desired["kind"]].uid
                # One that can't be changed in place was deleted and created again.
                is_replaced = step.live is not None and step.live["metadata"]["uid"] != uid
                change.is_started |= step.desired["kind"] in (DEPLOYMENT, JOB)
                change.created |= {uid} if is_replaced or step.live is None else set()
            if not is_repeated and not isinstance(step, WriteDefinitionStatus):
                change.is_changed = True
                change.notes.append(step_note(step, is_replaced=is_replaced))

    def _restart(self, change: _Change, goal: Goal) -> None:
        """Run a job that is rolled out; roll out one that is not, so that it runs."""
        definition = change.view.definition
        if definition is None:
            self._take(change, lambda view: next_step(view, goal) if view.definition is None else None)
            definition = change.view.definition
        if definition is None:
            raise AssertionError
        runtime = change.view.runtime.get(definition.type)
        if "restarted" in change.notes:
            return
        if definition.job.suspend and definition.type is not JobType.SCHEDULED:
            raise JobChangeRefusal(
                "It is suspended, so nothing would run. Resume it: state present, suspend false."
            )
        if definition.type is JobType.ONE_OFF:
            if runtime:
                step = DeleteRuntime(definition.type, runtime.main)
                self._take(change, lambda view: step if definition.type in view.runtime else None)
                self._take(change, ended_run_step)
            main = desired_objects(change.view, definition, goal)[0]
            run = WriteRuntime(definition.type, main)
            self._take(change, lambda view: None if definition.type in view.runtime else run)
        else:
            if runtime is None or runtime.is_deleting:
                if definition.type is JobType.CONTINUOUS:
                    # The pods of a new Deployment are new.
                    return
                self._take(change, lambda view: next_step(view, goal))
            self._run_again(change.view, definition.type, change.view.runtime[definition.type].main)
        change.is_changed = change.is_started = True
        change.notes.append("restarted")

    def _run_again(self, view: JobView, type_: JobType, main: Object) -> None:
        try:
            if type_ is JobType.SCHEDULED:
                start_job_now(self._cluster, main, self._wait)
            else:
                restart_pods(self._cluster, main)
        except (Conflict, NotFound) as error:
            raise StaleView(str(error)) from error
        except ApiError as error:
            raise RuntimeRefused(view, error) from error

    def _handle_refusal(self, change: _Change, ours: JobView, reason: str, message: str) -> str:
        """Roll a change back, or mark it; return a message.

        Args:
            change: that was refused, with the current state of the job.
            ours: the state of the job as the change left it.
            reason, message: of the refusal.
        """
        is_new = not (change.first.definition or change.first.runtime)
        # A restored namespace may get its ServiceAccounts later than its jobs.
        is_kept = is_new and ACCOUNT_MARK in message
        if self._on_failure is OnFailure.ROLLBACK and not is_kept:
            try:
                self._repeat(change, partial(self._roll_back, ours=ours))
            except LifecycleError as failure:
                return f"{message}. The change could not be rolled back: {one_line(failure)}"
            was, now = change.first, change.view
            change.is_changed = (
                bool(was.definition) is not bool(now.definition)
                or was.runtime.keys() != now.runtime.keys()
                or fields_before(was) != fields_after(now)
            )
            return f"{message}. The change was rolled back: the job is as it was before."
        definition = change.view.definition
        if definition:
            status = failed_status(definition, reason, message)
            try:
                change.view = self._writer.write(change.view, WriteDefinitionStatus(definition, status))
            except (ApiError, StaleView) as error:
                message += f". Its status could not be written: {one_line(error)}"
        return f"{message}. The definition stays; run this again when the cause is gone."

    def _roll_back(self, change: _Change, ours: JobView) -> None:
        base = change.base = change.base or change.view
        for view in roll_back(self._writer, base, ours, change.view, change.created):
            change.view = view

    def _confirming_snapshot(self, change: _Change) -> StoreSnapshot:
        """The current state, read once for all refused jobs of a namespace that were not changed."""
        key = change.key
        if change.notes or key in self._changed:
            return self._fresh_snapshot(key)
        if key.namespace not in self._confirming:
            self._confirming[key.namespace] = self._fresh_snapshot(key)
        return self._confirming[key.namespace]

    def _fresh_snapshot(self, key: JobKey) -> StoreSnapshot:
        return read_snapshot(self._cluster, (key.namespace,), is_to_change=True)

    @staticmethod
    def _action(change: _Change, action: Action) -> Action:
        if not change.is_changed:
            return Action.UNCHANGED
        if action is not Action.UPDATED:
            return action
        if not change.first.definition and not change.first.adoptable:
            return Action.CREATED
        deployments = (one.runtime.get(JobType.CONTINUOUS) for one in (change.first, change.view))
        return Action.REPLACED if len({one.uid for one in deployments if one}) > 1 else action


def _is_same(one: StoredDefinition | None, other: StoredDefinition | None) -> bool:
    """Whether two definitions are one object, read at two times."""
    return bool(one and other and one.obj["metadata"].get("uid") == other.obj["metadata"].get("uid"))


def _vanished_run(before: JobView, now: JobView, created: Collection[str]) -> WrittenObject | None:
    """The Job of a run that a change has started and that is gone, for example by its time to live."""
    started = before.vanished or before.written.get(JOB)
    if started is None or started.uid not in created or JobType.ONE_OFF in now.runtime:
        return None
    recorded = now.definition.status.known(RUN) if now.definition else None
    return None if recorded and recorded.uid == started.uid else started


def _unchanged_goal(view: JobView) -> Goal:
    return Goal(_existing_job(view), release=rolled_out_release(view))


def _existing_job(view: JobView) -> CoreJob:
    if view.definition:
        return view.definition.job
    if view.adoptable:
        return view.adoptable
    _refuse(view.unreadable or view.adoption_problem)
    _refuse(next(iter(view.excluded.values()), f"There is no job {view.key}."))
    raise AssertionError


def _refuse(problem: str) -> None:
    if problem:
        raise JobChangeRefusal(one_line(problem))
