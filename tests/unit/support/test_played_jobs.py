# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Played Jobs do what real ones do: their pods, conditions and holding containers, and how they end."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import errand_from
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.holding_container import (
    RELEASE_COMMAND,
    RENEW_COMMAND,
    job_with_output,
    read_command,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.played_errands import NAMESPACE, container, errand_object, one_file
from tests.support.played_jobs import JOB, POD, ContainerRun, PlayedJobs


def job(name: str = "a", **spec: Any) -> Object:
    """A Job with one container."""
    template = {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [container()]}}
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {"template": template, **spec}}


def held_job() -> Object:
    """A Job whose output is held for a minute."""
    return job_with_output(
        job(), errand_from(errand_object(output={**one_file(), "holdSeconds": 60})), "busybox"
    )


@pytest.fixture
def cluster() -> MemoryCluster:
    """An empty cluster."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    return MemoryCluster(namespace)


@pytest.fixture
def jobs(cluster: MemoryCluster) -> PlayedJobs:
    """Plays its Jobs; the container main ends with 0."""
    played = PlayedJobs(cluster)
    played.runs["main"] = ContainerRun()
    return played


def rest(jobs: PlayedJobs) -> None:
    """Let all come to rest."""
    while jobs.tick():
        pass


def pods(cluster: MemoryCluster) -> list[Object]:
    """All pods."""
    return cluster.list(*POD, NAMESPACE).items


def conditions(cluster: MemoryCluster, name: str = "a") -> dict[str, str]:
    """The conditions of a Job that are true, with their reasons."""
    job = cluster.get(*JOB, name, NAMESPACE)
    assert job is not None
    given = (job.get("status") or {}).get("conditions") or []
    return {one["type"]: one["reason"] for one in given if one["status"] == "True"}


def states(cluster: MemoryCluster) -> dict[str, str]:
    """The state of each container of the only pod."""
    [pod] = pods(cluster)
    return {one["name"]: next(iter(one["state"])) for one in pod["status"]["containerStatuses"]}


def test_a_job_gets_one_pod_that_is_found_by_its_uid(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    uid = cluster.create(job())["metadata"]["uid"]
    [pod] = pods(cluster)
    labels = pod["metadata"]["labels"]
    assert (labels["batch.kubernetes.io/controller-uid"], labels["job-name"], labels["x"]) == (uid, "a", "y")
    [owner] = pod["metadata"]["ownerReferences"]
    assert (owner["uid"], owner["controller"], pod["status"]["phase"]) == (uid, True, "Pending")
    rest(jobs)
    assert set(conditions(cluster)) == {"SuccessCriteriaMet", "Complete"}
    assert pods(cluster)[0]["status"]["phase"] == "Succeeded"
    assert "finalizers" not in pods(cluster)[0]["metadata"]


def test_a_failed_pod_fails_its_job_and_stays(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs["main"] = ContainerRun(3)
    cluster.create(job())
    rest(jobs)
    assert conditions(cluster)["Failed"] == "BackoffLimitExceeded"
    [pod] = pods(cluster)
    assert pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 3


def test_a_deleted_pod_fails_its_job_and_goes(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs.clear()
    cluster.create(job())
    rest(jobs)
    cluster.delete(*POD, pods(cluster)[0]["metadata"]["name"], NAMESPACE)
    assert "Failed" not in conditions(cluster)
    rest(jobs)
    assert (conditions(cluster)["Failed"], pods(cluster)) == ("BackoffLimitExceeded", [])


def test_a_deadline_fails_a_job_once_its_pod_has_ended(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs.clear()
    cluster.create(job(activeDeadlineSeconds=10))
    rest(jobs)
    assert conditions(cluster) == {}
    jobs.time.advance(11)
    rest(jobs)
    assert (conditions(cluster)["Failed"], pods(cluster)) == ("DeadlineExceeded", [])


def test_evicted_pods_are_played(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs.clear()
    for name, evict, stays in (("a", jobs.evict, 0), ("b", jobs.evict_by_node, 1)):
        cluster.create(job(name))
        rest(jobs)
        evict(pods(cluster)[-1])
        [disrupted] = pods(cluster)
        assert disrupted["status"]["conditions"][0]["type"] == "DisruptionTarget"
        rest(jobs)
        assert (conditions(cluster, name)["Failed"], len(pods(cluster))) == ("BackoffLimitExceeded", stays)


def test_a_suspended_job_has_no_pod_and_is_not_failed(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs.clear()
    cluster.create(job(suspend=True))
    assert (conditions(cluster), pods(cluster)) == ({"Suspended": "JobSuspended"}, [])
    cluster.patch(*JOB, "a", NAMESPACE, {"spec": {"suspend": False}})
    rest(jobs)
    assert (conditions(cluster), len(pods(cluster))) == ({}, 1)
    cluster.patch(*JOB, "a", NAMESPACE, {"spec": {"suspend": True}})
    rest(jobs)
    assert (set(conditions(cluster)), pods(cluster)) == ({"Suspended"}, [])
    jobs.runs["main"] = ContainerRun()
    cluster.patch(*JOB, "a", NAMESPACE, {"spec": {"suspend": False}})
    rest(jobs)
    assert "Complete" in conditions(cluster)


def test_pods_go_with_their_job_unless_something_else_owns_them(
    cluster: MemoryCluster, jobs: PlayedJobs
) -> None:
    jobs.runs.clear()
    cluster.create(job())
    rest(jobs)
    cluster.delete(*JOB, "a", NAMESPACE)
    assert len(pods(cluster)) == 1
    rest(jobs)
    assert pods(cluster) == []


def test_a_holding_container_is_read_until_it_is_released(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs["main"] = ContainerRun(137, {"output.json": b"{}"})
    cluster.create(held_job())
    name = pods(cluster)[0]["metadata"]["name"]
    with pytest.raises(ApiError, match="container not found"):
        cluster.exec(name, NAMESPACE, RELEASE_COMMAND, container="hold-main")
    rest(jobs)
    assert (states(cluster), conditions(cluster)) == ({"main": "terminated", "hold-main": "running"}, {})
    read = cluster.exec(name, NAMESPACE, read_command(["output.json"]), container="hold-main")
    assert (read.exit_code, read.stdout.partition(b"\n")[2]) == (0, b"{}")
    assert cluster.exec(name, NAMESPACE, read_command(["else"]), container="hold-main").exit_code == 10
    cluster.exec(name, NAMESPACE, RELEASE_COMMAND, container="hold-main")
    rest(jobs)
    assert "Failed" in conditions(cluster)


def test_a_holding_container_gives_up_after_its_time(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs["main"] = ContainerRun(0, {"output.json": b"{}"})
    cluster.create(held_job())
    rest(jobs)
    name = pods(cluster)[0]["metadata"]["name"]
    jobs.time.advance(50)
    cluster.exec(name, NAMESPACE, RENEW_COMMAND, container="hold-main")
    jobs.time.advance(50)
    rest(jobs)
    assert states(cluster)["hold-main"] == "running"
    jobs.time.advance(20)
    rest(jobs)
    # As measured: the Job fails although its own container has ended well.
    assert conditions(cluster)["Failed"] == "BackoffLimitExceeded"


def test_a_deleted_pod_can_be_read_for_a_moment(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    jobs.runs["main"] = ContainerRun(0, {"output.json": b"{}"})
    cluster.create(held_job())
    rest(jobs)
    name = pods(cluster)[0]["metadata"]["name"]
    cluster.delete(*POD, name, NAMESPACE)
    jobs.tick()
    assert cluster.exec(name, NAMESPACE, read_command(["output.json"]), container="hold-main").exit_code == 0
    rest(jobs)
    assert (pods(cluster), "Failed" in conditions(cluster)) == ([], True)


def test_calls_of_the_player_are_not_recorded(cluster: MemoryCluster, jobs: PlayedJobs) -> None:
    cluster.create(job())
    rest(jobs)
    assert [one.verb for one in cluster.requests] == ["create"]
