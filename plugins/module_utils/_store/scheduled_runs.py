# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last and the next run of scheduled jobs, and why a run that was due has not started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from .._cluster.cluster import Cluster, Object
from .._cluster.errors import Forbidden
from .._job_models.core_job import JobKey, JobType
from .._job_models.due_times import CLUSTER_ZONE, UnknownDueTimes, due_times
from .._loose_json import fields_at, mapping_of, mappings_in, text_of
from .._text import one_line
from .pod_refusals import event_time
from .snapshot import StoreSnapshot

NOT_KNOWN = "not known"
_GRACE = timedelta(seconds=60)
"""How long the controller may take to start a run that is due."""


@dataclass(frozen=True)
class ScheduledRuns:
    """When a scheduled job runs.

    Attributes:
        time_zone: of the schedule.
        last_run, last_success: when the last run was due, and when the last one ended that succeeded; empty
            for never.
        next_run: when the next one is due; empty if there is none, or if it is not known.
        missed_run: when the last run was due that has not started; empty if it has.
        why_missed: why it has not started, or ``not known``; empty if it has.
        problem: why the times of the schedule are not known; empty if they are.
    """

    time_zone: str = ""
    last_run: str = ""
    last_success: str = ""
    next_run: str = ""
    missed_run: str = ""
    why_missed: str = ""
    problem: str = ""


def scheduled_runs(cluster: Cluster, snapshot: StoreSnapshot) -> dict[JobKey, ScheduledRuns]:
    """By job, when the scheduled jobs of a snapshot run.

    It reads Events only if a run has not started, and its CronJob does not say why: by one list of all
    namespaces, or one for each that was asked for. Events live an hour by default.

    Args:
        cluster: that the snapshot was read from. Its clock counts.
        snapshot: of the jobs.

    Raises:
        ClusterError: the cluster does not answer.
    """
    jobs = [one for one in snapshot.runtime.values() if one.type is JobType.SCHEDULED and not one.is_deleting]
    if not jobs:
        return {}
    now = datetime.fromisoformat(cluster.server_time())
    runs = {one.key: runs_of_cron_job(one.main, now) for one in jobs}
    silent = [one for one in jobs if runs[one.key].why_missed.startswith(NOT_KNOWN)]
    if silent:
        missed = {one.key: runs[one.key].missed_run for one in silent}
        keys = {one.uid: one.key for one in silent}
        words = _words_of_events(cluster, keys, missed, is_everywhere=not snapshot.namespaces)
        runs |= {key: replace(runs[key], why_missed=text) for key, text in words.items()}
    return runs


def runs_of_cron_job(cron_job: Mapping[str, Any], now: datetime) -> ScheduledRuns:
    """When a CronJob runs, as it says itself. Pure.

    Args:
        cron_job: the object.
        now: by the cluster's clock.
    """
    spec, status = mapping_of(cron_job.get("spec")), mapping_of(cron_job.get("status"))
    schedule, zone = text_of(spec.get("schedule")), text_of(spec.get("timeZone"))
    last = text_of(status.get("lastScheduleTime"))
    runs = ScheduledRuns(zone or CLUSTER_ZONE, last, text_of(status.get("lastSuccessfulTime")))
    try:
        due, following = due_times(schedule, zone, now)
        if due and due > now - _GRACE:
            # That one may still start. The one before it may have been missed.
            due = due_times(schedule, zone, now - _GRACE)[0]
    except UnknownDueTimes as error:
        return replace(runs, problem=str(error))
    if spec.get("suspend") is not True and following:
        runs = replace(runs, next_run=following.isoformat())
    since = last or text_of(fields_at(cron_job, "metadata").get("creationTimestamp"))
    if due is None or not since or due <= datetime.fromisoformat(since):
        return runs
    return replace(runs, missed_run=due.isoformat(), why_missed=_why_missed(spec, status, now - due))


def _why_missed(spec: Mapping[str, Any], status: Mapping[str, Any], late: timedelta) -> str:
    if spec.get("suspend") is True:
        return "the job is suspended"
    active = [text_of(one.get("name")) for one in mappings_in(status.get("active"))]
    if active and spec.get("concurrencyPolicy") == "Forbid":
        return one_line(f"the run {active[0]} is not over, and its concurrencyPolicy is Forbid")
    deadline = spec.get("startingDeadlineSeconds")
    if isinstance(deadline, int) and late > timedelta(seconds=deadline):
        return f"{NOT_KNOWN}; Kubernetes starts it at most {deadline} seconds late (startingDeadlineSeconds)"
    return NOT_KNOWN


def _words_of_events(
    cluster: Cluster, jobs: Mapping[str, JobKey], missed: Mapping[JobKey, str], is_everywhere: bool
) -> dict[JobKey, str]:
    """By job, the words of its newest Event since the missed run that says why it has not started.

    Args:
        cluster: where to read.
        jobs: by the uid of their CronJob.
        missed: by job, the time of the missed run.
        is_everywhere: whether one list of all namespaces is read.
    """
    words: dict[JobKey, tuple[str, str]] = {}
    for namespace in (None,) if is_everywhere else sorted({key.namespace for key in jobs.values()}):
        try:
            events = cluster.list(
                "v1", "Event", namespace, field_selector="involvedObject.kind=CronJob"
            ).items
        except Forbidden:
            words |= {
                key: ("", f"{NOT_KNOWN}, without the right to list Events")
                for key in jobs.values()
                if namespace in (None, key.namespace)
            }
            continue
        for key, at, text in _reasons(events, jobs):
            due = datetime.fromisoformat(missed[key]).astimezone(UTC).isoformat()
            if (not at or at >= due[: len(at)]) and at >= words.get(key, ("", ""))[0]:
                words[key] = (at, text)
    return {key: text for key, (_at, text) in words.items()}


def _reasons(events: Iterable[Object], keys: Mapping[str, JobKey]) -> Iterable[tuple[JobKey, str, str]]:
    for event in events:
        key = keys.get(text_of(mapping_of(event.get("involvedObject")).get("uid")))
        if key and (event.get("type") == "Warning" or event.get("reason") == "JobAlreadyActive"):
            reason, message = text_of(event.get("reason")), text_of(event.get("message"))
            yield key, event_time(event), one_line(f"{reason}: {message}")
