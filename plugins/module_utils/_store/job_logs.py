# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The logs of jobs: of containers that failed, and of runs while they last."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import ClusterError, Forbidden
from .._cluster.owner_references import controller_of
from .._job_models.core_job import JobKey, JobType
from .._jobs.job_outcome import JobOutcome, has_ended, job_outcome, pod_of
from .._jobs.pod_logs import ContainerLog, LogFollower, failed_container, last_lines
from .._loose_json import fields_at, mapping_of
from .._progress import Progress
from .changes.job_restarts import JOB
from .snapshot import RuntimeJob

LOOK_SECONDS = 1.0
"""How often the log of a run is read."""


class JobLogs:
    """The logs of some jobs.

    Args:
        cluster: the live one.
        jobs: as they are after the changes.
        progress: gets each line of a run that is followed.
    """

    def __init__(self, cluster: Cluster, jobs: Iterable[RuntimeJob], progress: Progress) -> None:
        self._cluster = cluster
        self._jobs = {one.key: one for one in jobs}
        self._progress = progress
        self._objects: dict[tuple[str, str, str], list[Object]] = {}

    def failures(self) -> dict[JobKey, ContainerLog]:
        """The last lines of each job whose container failed, by job."""
        logs: dict[JobKey, ContainerLog] = {}
        for key, runtime in self._jobs.items():
            try:
                pod = self._failed_pod(runtime)
            except ClusterError as error:
                logs[key] = ContainerLog("", "", problem=str(error))
                continue
            if pod:
                logs[key] = last_lines(self._cluster, pod, failed_container(pod), tuple)
        return logs

    def follow(
        self, keys: Iterable[JobKey], seconds: float, cancelled: Callable[[], bool]
    ) -> dict[JobKey, JobOutcome | None]:
        """Show the logs of the last runs of some jobs until all have ended.

        Args:
            keys: of one-off jobs, and of scheduled ones.
            seconds: how long to wait.
            cancelled: ends it.

        Returns:
            How they ended, None for one that has not.
        """
        runs = [
            _Run(key, job, LogFollower(self._cluster, self._progress, str(key)))
            for key in keys
            if (job := self._job_of(self._jobs[key]))
        ]
        deadline = time.monotonic() + seconds
        while True:
            is_last = cancelled() or time.monotonic() >= deadline
            for run in runs:
                if run.outcome is None:
                    self._look(run, is_last=is_last)
            if is_last or all(run.outcome for run in runs):
                return {run.key: run.outcome for run in runs}
            time.sleep(LOOK_SECONDS)

    def _look(self, run: _Run, *, is_last: bool) -> None:
        """Show what is new of a run, and find out whether it has ended."""
        meta = run.job["metadata"]
        try:
            job = self._cluster.get(*JOB, meta["name"], meta["namespace"])
            own = self._pods_of(run)
        except ClusterError:
            # The next look reads it again.
            return
        is_over = job is None or job["metadata"]["uid"] != meta["uid"] or has_ended(job)
        for pod in own:
            run.follower.look(pod, is_end=is_over or is_last)
        if is_over:
            run.outcome = job_outcome(job, own)[1]

    def _pods_of(self, run: _Run) -> list[Object]:
        meta = run.job["metadata"]
        selector = f"job-name={meta['name']}"
        try:
            pods = self._cluster.list("v1", "Pod", meta["namespace"], label_selector=selector).items
        except Forbidden as refusal:
            run.follower.hide(refusal.api_message)
            return []
        return [pod for pod in pods if controller_of(pod).get("uid") == meta["uid"]]

    def _failed_pod(self, runtime: RuntimeJob) -> Object | None:
        """The newest pod of a job that failed; None if the job works."""
        if runtime.type is JobType.CONTINUOUS:
            labels = fields_at(runtime.main, "spec", "selector", "matchLabels")
            pods = [
                pod
                for pod in self._listed("v1", "Pod", runtime.key.namespace)
                if labels.items() <= mapping_of(pod["metadata"].get("labels")).items()
                and not pod["metadata"].get("deletionTimestamp")
                and failed_container(pod)
            ]
            return max(pods, key=_age, default=None)
        job = self._job_of(runtime)
        if job is None:
            return None
        pod = pod_of(job, self._listed("v1", "Pod", runtime.key.namespace))
        return pod if pod and failed_container(pod) else None

    def _job_of(self, runtime: RuntimeJob) -> Object | None:
        """The Job of the last run of a job."""
        if runtime.type is JobType.ONE_OFF:
            return runtime.main
        jobs = self._listed(*JOB, runtime.key.namespace)
        return max(
            (job for job in jobs if controller_of(job).get("uid") == runtime.uid), key=_age, default=None
        )

    def _listed(self, api_version: str, kind: str, namespace: str) -> list[Object]:
        scope = (api_version, kind, namespace)
        if scope not in self._objects:
            self._objects[scope] = self._cluster.list(*scope).items
        return self._objects[scope]


@dataclass
class _Run:
    """A run that is followed.

    Attributes:
        key: of its job.
        job: its Job.
        follower: of its log.
        outcome: how it ended; None before that.
    """

    key: JobKey
    job: Object
    follower: LogFollower
    outcome: JobOutcome | None = None


def _age(obj: Mapping[str, Any]) -> tuple[str, str]:
    """The older an object is, the smaller."""
    return str(obj["metadata"].get("creationTimestamp")), obj["metadata"]["name"]
