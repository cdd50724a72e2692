# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scheduled job says its last and its next run, and why one has not started."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.scheduled_runs import (
    NOT_KNOWN,
    ScheduledRuns,
    runs_of_cron_job,
    scheduled_runs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import RuntimeJob, StoreSnapshot
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

NOW = datetime(2026, 11, 25, 10, 30, 20, tzinfo=UTC)


def cron_job(last: str = "2026-11-25T03:00:00Z", status: Object | None = None, **spec: Any) -> Object:
    return {
        "metadata": {"creationTimestamp": "2026-11-01T00:00:00Z"},
        "spec": {"schedule": "0 3 * * *", **spec},
        "status": {"lastScheduleTime": last, **(status or {})},
    }


def test_a_job_that_runs_on_time() -> None:
    status = {"lastSuccessfulTime": "2026-11-25T03:02:00Z"}
    assert runs_of_cron_job(cron_job(status=status), NOW) == ScheduledRuns(
        "UTC", "2026-11-25T03:00:00Z", "2026-11-25T03:02:00Z", "2026-11-26T03:00:00+00:00"
    )


def test_a_job_that_is_new_has_missed_nothing() -> None:
    obj = cron_job(last="")
    obj["metadata"]["creationTimestamp"] = "2026-11-25T04:00:00Z"
    assert runs_of_cron_job(obj, NOW).missed_run == ""


def test_a_run_may_start_a_minute_late() -> None:
    just_due = cron_job(last="2026-11-24T10:30:00Z", schedule="30 10 * * *")
    assert runs_of_cron_job(just_due, NOW).missed_run == ""
    assert runs_of_cron_job(just_due, NOW.replace(minute=32)).missed_run == "2026-11-25T10:30:00+00:00"


def test_a_job_of_each_minute_has_missed_the_run_before_the_one_that_may_still_start() -> None:
    each_minute = {"schedule": "* * * * *"}
    assert (
        runs_of_cron_job(cron_job("2026-11-25T09:00:00Z", **each_minute), NOW).missed_run
        == "2026-11-25T10:29:00+00:00"
    )
    assert runs_of_cron_job(cron_job("2026-11-25T10:29:00Z", **each_minute), NOW).missed_run == ""


@pytest.mark.parametrize(
    ("spec", "status", "why"),
    [
        ({"suspend": True}, {}, "the job is suspended"),
        (
            {"concurrencyPolicy": "Forbid"},
            {"active": [{"name": "backup-1"}]},
            "the run backup-1 is not over, and its concurrencyPolicy is Forbid",
        ),
        ({"concurrencyPolicy": "Allow"}, {"active": [{"name": "backup-1"}]}, NOT_KNOWN),
        ({}, {}, NOT_KNOWN),
        (
            {"startingDeadlineSeconds": 30},
            {},
            "not known; Kubernetes starts it at most 30 seconds late (startingDeadlineSeconds)",
        ),
        ({"startingDeadlineSeconds": 86400}, {}, NOT_KNOWN),
    ],
)
def test_why_a_run_has_not_started(spec: Object, status: Object, why: str) -> None:
    runs = runs_of_cron_job(cron_job("2026-11-23T03:00:00Z", status, **spec), NOW)
    assert (runs.missed_run, runs.why_missed) == ("2026-11-25T03:00:00+00:00", why)
    assert bool(runs.next_run) is not bool(spec.get("suspend"))


def test_a_schedule_that_can_not_be_computed_still_has_its_last_run() -> None:
    runs = runs_of_cron_job(cron_job(schedule="@every 1h"), NOW)
    assert runs.problem.startswith("the schedule @every 1h has no times of the day")
    assert (runs.last_run, runs.next_run, runs.missed_run) == ("2026-11-25T03:00:00Z", "", "")


class ClusterOfJanuary(MemoryCluster):
    """A cluster with a clock of its own."""

    def server_time(self) -> str:
        return "2026-01-05T00:00:00Z"


def event(number: int, uid: str, reason: str, at: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"event-{number}", "namespace": "shop"},
        "involvedObject": {"kind": "CronJob", "uid": uid},
        "type": "Normal" if reason == "SuccessfulDelete" else "Warning",
        "reason": reason,
        "message": f"message {number}",
        "lastTimestamp": at,
    }


def late_jobs(*names: str, is_everywhere: bool = True) -> StoreSnapshot:
    """Scheduled jobs that should have run on 2026-01-02."""
    jobs = {}
    for name in names:
        main = cron_job("2026-01-01T03:00:00Z", schedule="0 3 2 1 *", timeZone="Europe/Berlin")
        main["metadata"] |= {"namespace": name, "name": "backup", "uid": name}
        jobs[JobKey(name, "backup"), JobType.SCHEDULED] = RuntimeJob(JobType.SCHEDULED, main)
    return StoreSnapshot(runtime=jobs, namespaces=() if is_everywhere else names)


def test_the_newest_event_since_the_missed_run_says_why() -> None:
    cluster = ClusterOfJanuary()
    for number, (uid, reason, at) in enumerate(
        [
            ("shop", "FailedCreate", "2026-01-02T01:59:59Z"),
            ("shop", "FailedCreate", "2026-01-02T02:00:01Z"),
            ("shop", "SuccessfulDelete", "2026-01-02T02:00:02Z"),
            ("cart", "FailedCreate", "2026-01-02T02:00:03Z"),
        ]
    ):
        cluster.seed(event(number, uid, reason, at))
    runs = scheduled_runs(cluster, late_jobs("shop"))[JobKey("shop", "backup")]
    assert (runs.missed_run, runs.why_missed) == ("2026-01-02T03:00:00+01:00", "FailedCreate: message 1")


def test_an_event_from_before_the_missed_run_does_not_say_why() -> None:
    cluster = ClusterOfJanuary()
    cluster.seed(event(1, "shop", "FailedCreate", "2026-01-02T01:59:59Z"))
    assert scheduled_runs(cluster, late_jobs("shop"))[JobKey("shop", "backup")].why_missed == NOT_KNOWN


@pytest.mark.parametrize(("is_everywhere", "count"), [(True, 1), (False, 2)])
def test_events_are_listed_once_or_once_for_each_namespace(is_everywhere: bool, count: int) -> None:
    cluster = ClusterOfJanuary()
    scheduled_runs(cluster, late_jobs("shop", "cart", is_everywhere=is_everywhere))
    assert len(cluster.requests) == count


def test_no_events_are_listed_without_a_missed_run() -> None:
    cluster = ClusterOfJanuary()
    assert scheduled_runs(cluster, late_jobs()) == {}
    assert cluster.requests == []
