# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The logs of stored jobs whose Jobs are played: what is shown while runs last, and after they failed."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    KINDS_OF,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.pod_logs import ContainerLog
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import job_logs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.changes.job_restarts import run_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_logs import JobLogs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot

from tests.support.job_store import job_of, roll_out, store_cluster
from tests.support.played_jobs import ContainerRun, PlayedJobs

FORBIDDEN = api_error("do it", 403, {"reason": "Forbidden", "message": "you may not do it"})
PASSWORD = "hunter2222"
KEY = JobKey("shop", "backup")
SECRET: Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "login", "namespace": "shop"},
    "data": {"password": base64.b64encode(PASSWORD.encode()).decode()},
}
READS: Object = {"envFrom": [{"secretRef": {"name": "login"}}]}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes when a test says so."""
    monkeypatch.setattr(job_logs, "LOOK_SECONDS", 0.0)


class Store:
    """A store with one job that reads a Secret, and whose container prints it."""

    def __init__(self, type_: JobType) -> None:
        self.cluster = store_cluster(SECRET)
        self.played = PlayedJobs(self.cluster)
        self.shown: list[str] = []
        command = ["sh", "-c", "true"]
        roll_out(self.cluster, job_of("backup", type_, image="busybox:1", command=command, container=READS))
        self.text = f"login {PASSWORD}\nworking\n"

    def pods(self) -> list[Object]:
        return self.cluster.list("v1", "Pod", "shop").items

    def tick(self) -> None:
        """Let containers start, print and end."""
        self.played.tick()
        for name in self.played.started:
            self.cluster.set_log(name, "shop", self.text, "job")

    def logs(self) -> JobLogs:
        def show(subject: str, state: str, *_rest: object) -> None:
            self.shown.append(f"{subject}: {state}")

        return JobLogs(self.cluster, read_snapshot(self.cluster, ["shop"]).runtime.values(), show)

    def follow(self, ticks: int, events: dict[int, Callable[[], None]] | None = None) -> Any:
        """Follow the job for some ticks, with an event at some of them; return how it ended."""
        count = 0

        def cancelled() -> bool:
            nonlocal count
            count += 1
            (events or {}).get(count, lambda: None)()
            self.tick()
            return count > ticks

        return self.logs().follow([KEY], 600, cancelled)[KEY]

    def end(self, exit_code: int) -> None:
        self.played.runs["job"] = ContainerRun(exit_code)


def test_a_one_off_job_is_followed_until_it_ends_and_each_line_is_shown_once() -> None:
    store = Store(JobType.ONE_OFF)
    outcome = store.follow(20, {5: lambda: store.end(0)})
    assert outcome.is_success
    assert store.shown == ["shop/backup job: | login ***", "shop/backup job: | working"]
    assert store.logs().failures() == {}


def test_a_run_that_fails_says_how_and_its_last_lines_are_masked() -> None:
    store = Store(JobType.ONE_OFF)
    outcome = store.follow(20, {5: lambda: store.end(3)})
    assert (outcome.is_success, outcome.exit_code) == (False, 3)
    [pod] = store.pods()
    log = ContainerLog(pod["metadata"]["name"], "job", ("login ***", "working"))
    assert store.logs().failures() == {KEY: log}


def test_a_run_that_does_not_end_is_followed_until_it_is_cancelled() -> None:
    store = Store(JobType.ONE_OFF)
    store.text += "login hunte\n"
    assert store.follow(5) is None
    assert [line.partition("| ")[2] for line in store.shown] == ["login ***", "working", "login ***"]


def test_a_run_whose_job_is_deleted_has_ended() -> None:
    store = Store(JobType.ONE_OFF)

    def delete() -> None:
        store.cluster.delete(*KINDS_OF[JobType.ONE_OFF][0], "backup", "shop")

    assert store.follow(20, {5: delete}).reason == "RunLost"


def test_the_newest_run_of_a_scheduled_job_is_followed_and_its_failure_shown() -> None:
    store = Store(JobType.SCHEDULED)
    cron_job = store.cluster.get(*KINDS_OF[JobType.SCHEDULED][0], "backup", "shop")
    assert cron_job is not None
    store.end(3)
    store.cluster.create(run_of(cron_job, 1))
    for _tick in range(4):
        store.tick()
    store.played.runs.clear()
    store.cluster.create(run_of(cron_job, 2))
    outcome = store.follow(20, {5: lambda: store.end(0)})
    assert (outcome.is_success, len(store.shown)) == (True, 2)
    assert len(store.pods()) == 2
    # The run before it failed.
    assert store.logs().failures() == {}
    store.end(3)
    store.cluster.create(run_of(cron_job, 3))
    assert not store.follow(20).is_success
    failures = store.logs().failures()
    assert failures.keys() == {KEY}
    log = failures[KEY]
    assert (log.pod.startswith("backup-3-"), log.lines) == (True, ("login ***", "working"))


def test_a_container_of_a_continuous_job_that_crashes_again_and_again_shows_its_last_lines() -> None:
    store = Store(JobType.CONTINUOUS)
    [deployment] = store.cluster.list("apps/v1", "Deployment", "shop").items
    labels = deployment["spec"]["selector"]["matchLabels"]
    ended = {"terminated": {"exitCode": 1, "startedAt": "2100-01-01T00:00:00Z"}}
    waiting = {"name": "job", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended}
    works = {"name": "job", "state": {"running": {}}, "lastState": ended}
    for name, own, status in (("web-1", labels, works), ("web-2", labels, waiting), ("web-3", {}, waiting)):
        meta = {"name": name, "namespace": "shop", "labels": own}
        spec = deployment["spec"]["template"]["spec"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
        store.cluster.seed({**pod, "status": {"containerStatuses": [status]}})
        store.cluster.set_log(name, "shop", store.text, "job")
    assert store.logs().failures() == {KEY: ContainerLog("web-2", "job", ("login ***", "working"))}


@pytest.mark.parametrize(
    ("verb", "kind", "why"),
    [
        ("logs", "Pod", "the right to get pods/log in shop is missing"),
        ("get", "Secret", "the right to get secrets in shop is missing"),
        ("list", "Pod", "you may not do it"),
    ],
)
def test_without_a_right_it_says_which_is_missing(verb: str, kind: str, why: str) -> None:
    store = Store(JobType.ONE_OFF)
    store.end(3)
    for _tick in range(4):
        store.tick()
    store.cluster.fail_when(lambda one: (one.verb, one.ref.kind) == (verb, kind), FORBIDDEN)
    failures = store.logs().failures()
    assert failures.keys() == {KEY}
    log = failures[KEY]
    assert log.lines == ()
    assert why in log.message()


@pytest.mark.parametrize(("verb", "kind"), [("logs", "Pod"), ("get", "Secret"), ("list", "Pod")])
def test_without_a_right_a_run_is_awaited_and_it_says_once_why_nothing_is_shown(verb: str, kind: str) -> None:
    store = Store(JobType.ONE_OFF)
    store.cluster.fail_when(lambda one: (one.verb, one.ref.kind) == (verb, kind), FORBIDDEN)
    assert store.follow(20, {5: lambda: store.end(0)}).is_success
    [line] = store.shown
    assert line.startswith("shop/backup: its log is not shown: ")
