# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Executes the steps of a decision."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .._cluster.cluster import API_VERSION, Cluster, Object
from .._cluster.errors import AlreadyExists, ClusterError, Conflict, ExecTimeout, Forbidden, Invalid, NotFound
from .._cluster.fields.json_patch import merge_patch_between
from .._custom_resources.events import EventNote, write_event
from .._errors import LifecycleError
from .._jobs.job_outcome import JobOutcome
from .._objects.apply.refusals import is_other_object
from .._text import one_line
from .errand_index import JOB, POD, ErrandIndex
from .errand_model import (
    FIELD_MANAGER,
    KIND,
    Errand,
    ErrandKey,
    ErrandPhase,
    ErrandStatus,
    errand_from,
    is_own_strategy,
    owner_reference,
    status_fields,
)
from .errand_reader import ErrandReader
from .errand_steps import (
    QUOTA_ANNOTATION,
    STOP_DEADLINE,
    AdoptPod,
    CollectOutput,
    CreateJob,
    DeleteJob,
    DisownStrategy,
    ReleaseHolders,
    RenewHold,
    RequestPod,
    SetStrategy,
    Step,
    StopJob,
    WriteStatus,
)
from .errand_view import ErrandView
from .holding_container import RELEASE_COMMAND, RENEW_COMMAND, RecordedOutput
from .open_errand_run import LONGEST_CAUSE, end_steps, running_holders
from .output_collector import OutputCollector
from .slow_namespaces import SlowNamespaces
from .status_change import is_news, write_status

JOB_REFUSED = "JobRefused"
TOUCH_SECONDS = 5.0
FRESH_SECONDS = 1.0
"""How long what the server has answered to a write of an errand counts as what the errand is now: less than a
pod takes from its creation to its end."""
COMPONENT = "kyma-lifecycle-errands"
"""Who reports Events."""


class Overtaken(Exception):
    """Another writer was quicker, so that the decision no longer holds."""


class StepExecution:
    """Executes steps. Each may be repeated.

    Args:
        cluster: the live one.
        index: of its errands; it gets the server's answers to writes.
        reader: the reader whose data the decisions use.
        on_news: called with the errand after each change of its status to report to others.
        slow: gets the errands of which a command ran out of time.
    """

    def __init__(
        self,
        cluster: Cluster,
        index: ErrandIndex,
        reader: ErrandReader,
        on_news: Callable[[Errand], None],
        slow: SlowNamespaces,
    ) -> None:
        self._cluster = cluster.with_field_manager(FIELD_MANAGER)
        self._index = index
        self._reader = reader
        self._collector = OutputCollector(self._cluster, index, slow, self._report)
        self._slow = slow
        self._on_news = on_news
        self._written: dict[ErrandKey, tuple[str, float]] = {}

    def do(self, view: ErrandView, step: Step) -> ErrandView:
        """Execute a step; return the errand as known after it.

        Raises:
            Overtaken: another writer was quicker; read again.
            ClusterError: the server does not answer, or refuses it; a retry is possible.
        """
        match step:
            case WriteStatus(status, event):
                return self._write_status(view, status, event)
            case CreateJob(job):
                return self._create_job(view, job)
            case CollectOutput(pod, output):
                return self._collect(view, pod, output)
            case ReleaseHolders(pod_name, containers):
                self._touch(view.errand.key, pod_name, containers, RELEASE_COMMAND)
            case RenewHold(pod_name, containers):
                self._touch(view.errand.key, pod_name, containers, RENEW_COMMAND)
                self._reader.record_renewal(view.errand)
            case SetStrategy(strategy):
                patch = {"spec": {"trigger": {"strategy": str(strategy)}}}
                return self._patch_errand(view, patch)
            case DisownStrategy():
                return self._disown_strategy(view)
            case AdoptPod(pod):
                self._adopt(view.errand, pod)
            case StopJob(name, uid):
                # The Job controller ends the active pods of a Job beyond its deadline, and retains the Job.
                self._patch_job(view.errand, name, uid, {"spec": {"activeDeadlineSeconds": STOP_DEADLINE}})
            case RequestPod(name, uid, mark):
                # The Job controller reconciles a Job that has changed.
                change = {"metadata": {"annotations": {QUOTA_ANNOTATION: mark}}}
                self._patch_job(view.errand, name, uid, change)
            case DeleteJob(name, uid):
                self._delete_job(view.errand, name, uid)
        return view

    def rehearsed(self, errand: Errand, step: Step) -> Step:
        """A step with what it will do, for check mode."""
        if isinstance(step, CollectOutput):
            return replace(step, surplus=self._collector.surplus(errand, step.output))
        return step

    def release_left(self, key: ErrandKey) -> None:
        """End the holding containers of a deleted errand, whose output is not read any more."""
        for pod in self._index.owned(POD, key):
            # It only saves the grace period of the pod, which the garbage collector deletes.
            with suppress(LifecycleError):
                self._touch(key, str(pod["metadata"]["name"]), running_holders(pod), RELEASE_COMMAND)

    def _write_status(self, view: ErrandView, status: ErrandStatus, event: EventNote | None) -> ErrandView:
        before = view.errand.status
        change = merge_patch_between(status_fields(before), status_fields(status))
        view = self._patch_errand(view, {"status": change}, subresource="status")
        if event:
            self._report(view.errand, event)
        if is_news(before, view.errand.status):
            self._on_news(view.errand)
        return view

    def _patch_errand(
        self,
        view: ErrandView,
        patch: Mapping[str, Any],
        *,
        metadata: Mapping[str, Any] | None = None,
        subresource: str = "",
    ) -> ErrandView:
        errand = view.errand
        meta = {"uid": errand.uid, "resourceVersion": errand.resource_version, **(metadata or {})}
        try:
            whole = {"metadata": meta, **patch}
            answer = self._cluster.patch(*errand.key.address, whole, subresource=subresource)
        except (Conflict, NotFound) as overtaken:
            raise Overtaken(str(overtaken)) from overtaken
        self._index.update_errand(answer)
        errand = errand_from(answer)
        self._written[errand.key] = (errand.resource_version, time.monotonic())
        return replace(view, errand=errand)

    def _disown_strategy(self, view: ErrandView) -> ErrandView:
        errand = view.errand
        live = self._cluster.get(*errand.key.address)
        entries = (live["metadata"].get("managedFields") or ()) if live else ()
        others = [entry for entry in entries if not is_own_strategy(entry)]
        return self._patch_errand(view, {}, metadata={"managedFields": others})

    def _refuse_stale(self, errand: Errand) -> None:
        """Refuse to create the Job of a run that another process may have finished and cleaned up."""
        version, write_time = self._written.pop(errand.key, ("", 0.0))
        if version == errand.resource_version and time.monotonic() - write_time < FRESH_SECONDS:
            return
        live = self._cluster.get(*errand.key.address)
        meta = live["metadata"] if live else {}
        if (meta.get("uid"), meta.get("resourceVersion")) != (errand.uid, errand.resource_version):
            raise Overtaken(f"{errand.key} has changed")

    def _create_job(self, view: ErrandView, job: Object) -> ErrandView:
        self._refuse_stale(view.errand)
        try:
            created = self._cluster.create(job)
        except AlreadyExists as overtaken:
            raise Overtaken(str(overtaken)) from overtaken
        except Forbidden as refusal:
            # A refusal by a quota or by rights: both may change, and the run is recorded already.
            message = f"its Job can't be created: {one_line(refusal.api_message)}"
            status_write = write_status(view, phase=ErrandPhase.WAITING, message=message)
            if status_write:
                self._write_status(view, status_write.status, status_write.event)
            raise
        except Invalid as refusal:
            run = view.errand.status.open_run
            message = f"the API server refuses its Job: {one_line(refusal.api_message)}"
            for step in end_steps(view, run, JobOutcome(False, JOB_REFUSED, message)) if run else ():
                view = self.do(view, step)
            raise Overtaken(message) from refusal
        self._index.put(JOB, created)
        return replace(view, job=created)

    def _collect(self, view: ErrandView, pod: Object, output: RecordedOutput) -> ErrandView:
        run = view.errand.status.open_run
        if run is None:
            raise Overtaken(f"{view.errand.key}: its run has ended")
        try:
            note = self._collector.collect(view.errand, pod, output)
        except ClusterError as error:
            # A refusal by a quota, by rights or by a node: retry until the output is no longer held.
            text = one_line(f"its output can't be collected yet, and is tried again: {error}", LONGEST_CAUSE)
            hindered = write_status(view, message=text)
            # The engine sees a write and retries at once: no write if only a port or a time in the message
            # differs.
            if hindered and _without_numbers(text) != _without_numbers(view.errand.status.message):
                with suppress(ClusterError):
                    self._write_status(view, hindered.status, None)
            raise
        status_write = write_status(view, run=replace(run, output=note))
        return view if status_write is None else self._write_status(view, status_write.status, None)

    def _touch(self, key: ErrandKey, pod: str, containers: tuple[str, ...], command: list[str]) -> None:
        namespace = key.namespace
        for container in containers:
            try:
                self._cluster.exec(pod, namespace, command, container=container, seconds=TOUCH_SECONDS)
            except ClusterError as error:
                if isinstance(error, ExecTimeout):
                    self._slow.add(key)
                # A container that has ended meanwhile needs no renewal; servers have many messages for that.
                if self._is_running(pod, namespace, container):
                    raise

    def _is_running(self, name: str, namespace: str, container: str) -> bool:
        pod = self._cluster.get(*POD, name, namespace)
        if pod is None:
            return False
        self._index.put(POD, pod)
        statuses = (pod.get("status") or {}).get("containerStatuses") or ()
        return any("running" in (one.get("state") or {}) for one in statuses if one["name"] == container)

    def _adopt(self, errand: Errand, pod: Object) -> None:
        meta = pod["metadata"]
        owners = [*(meta.get("ownerReferences") or ()), owner_reference(errand)]
        patch = {"metadata": {"resourceVersion": meta["resourceVersion"], "ownerReferences": owners}}
        try:
            answer = self._cluster.patch(*POD, meta["name"], errand.key.namespace, patch)
        except NotFound:
            return
        except Conflict as overtaken:
            live = self._cluster.get(*POD, meta["name"], errand.key.namespace)
            if live:
                self._index.put(POD, live)
            raise Overtaken(str(overtaken)) from overtaken
        self._index.put(POD, answer)

    def _patch_job(self, errand: Errand, name: str, uid: str, change: Object) -> None:
        patch = {**change, "metadata": {**change.get("metadata", {}), "uid": uid}}
        try:
            self._index.put(JOB, self._cluster.patch(*JOB, name, errand.key.namespace, patch))
        except (NotFound, Conflict, Invalid) as refusal:
            if isinstance(refusal, Invalid) and not is_other_object(refusal):
                raise
            # It is gone, and there may be another one with its name.
            self._index.discard(JOB, {"metadata": {"name": name, "namespace": errand.key.namespace}})

    def _delete_job(self, errand: Errand, name: str, uid: str) -> None:
        with suppress(Conflict):
            self._cluster.delete(*JOB, name, errand.key.namespace, uid=uid)
        self._index.discard(JOB, {"metadata": {"name": name, "namespace": errand.key.namespace}})

    def _report(self, errand: Errand, note: EventNote) -> None:
        run = errand.status.run
        about = {"apiVersion": API_VERSION, "kind": KIND, **errand.owner["metadata"]}
        occasion = f"{errand.generation}/{run.number if run else 0}"
        write_event(self._cluster, about, note, COMPONENT, occasion)


def _without_numbers(text: str) -> str:
    return re.sub(r"[0-9]+", "", text)
