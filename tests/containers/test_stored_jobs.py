# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stored jobs in real containers: what they do, how often they run, and that adopting them disturbs none."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect

from tests.support.containers import BUSYBOX, START_SECONDS, container, pod_spec
from tests.support.eventually import eventually
from tests.support.killed_store_user import is_killed
from tests.support.kubectl import kubectl
from tests.support.store_user import User

pytestmark = pytest.mark.containers

ON_NODE = {
    name: value
    for name, value in pod_spec().items()
    if name in ("nodeSelector", "tolerations", "terminationGracePeriodSeconds")
}
"""The fields of a pod's spec by which it runs in a real container."""
NEVER = "0 0 30 2 *"
"""A schedule of a day that never comes."""
SERVER = "while true; do echo served $WHAT | nc -l -p 8080; done"


def stored(name: str, type_: str, command: str, **fields: Any) -> dict[str, Any]:
    """A job of busybox that runs in a real container."""
    more = {"schedule": NEVER} if type_ == "scheduled" else {}
    common = {"name": name, "type": type_, "image": BUSYBOX, "command": command, "pod": {"spec": ON_NODE}}
    return {**common, **more, **fields}


@pytest.fixture
def user(kind_kubeconfig: str, namespace: str) -> User:
    """An administrator of kind, with the job store. Its definitions stay, as others may use them."""
    someone = User(kind_kubeconfig, namespace, connect({"kubeconfig": kind_kubeconfig}))
    someone.store().succeeded()
    return someone


def wait_for(user: User, **states: str) -> None:
    """Wait until jobs are in their states, by name."""

    def are_so() -> bool:
        listed = user.listed()
        return {name: listed[name]["state"] for name in states} == states

    eventually(are_so, START_SECONDS)


def pods(user: User) -> dict[str, Object]:
    """The pods of the namespace that are not being deleted, by uid."""
    objects = user.admin.list("v1", "Pod", user.namespace).items
    return {one["metadata"]["uid"]: one for one in objects if "deletionTimestamp" not in one["metadata"]}


def only_pod(user: User) -> Object:
    """The one pod of the namespace."""
    [pod] = pods(user).values()
    return pod


def log(user: User, pod: Object) -> str:
    return kubectl(user.kubeconfig, "logs", pod["metadata"]["name"], namespace=user.namespace)


def test_a_one_off_job_runs_once_and_again_on_request(user: User) -> None:
    job = stored("once", "one-off", "echo hello $NAME", env={"NAME": "shop"})
    user.jobs(jobs=[job]).succeeded()
    wait_for(user, once="finished")
    assert log(user, only_pod(user)) == "hello shop\n"
    first = set(pods(user))
    user.record_ends([job])
    assert set(pods(user)) == first

    # Its Job is gone: it has run.
    user.delete_runtime("once")
    eventually(lambda: not pods(user))
    user.jobs(jobs=[job]).unchanged()
    assert (pods(user), user.listed()["once"]["state"]) == ({}, "finished")

    user.jobs(name="once", state="restarted").succeeded()
    wait_for(user, once="finished")
    assert log(user, only_pod(user)) == "hello shop\n"
    history = user.listed()["once"]["history"]
    assert [(one["run"], one["state"]) for one in history] == [(2, "succeeded"), (1, "succeeded")]

    # Another command is another run.
    user.jobs(jobs=[{**job, "command": "echo bye"}]).succeeded()
    eventually(lambda: len(user.listed()["once"]["history"]) == 3, START_SECONDS)
    assert log(user, only_pod(user)) == "bye\n"


def test_a_one_off_job_that_fails_is_tried_again_or_runs_out_of_time(user: User) -> None:
    user.jobs(
        jobs=[
            stored("broken", "one-off", "exit 3", retry=1),
            stored("slow", "one-off", "sleep 60", timeout=2),
        ]
    ).succeeded()
    wait_for(user, broken="failed", slow="failed")
    listed = user.listed()
    assert [one["outcome"] for one in listed["broken"]["history"]] == ["BackoffLimitExceeded"]
    assert [one["outcome"] for one in listed["slow"]["history"]] == ["DeadlineExceeded"]
    tries = [one for one in pods(user).values() if one["metadata"]["labels"]["job-name"] == "broken"]
    assert len(tries) == 2


def served(user: User) -> str:
    """What the pod behind the Service of the job ``web`` answers; empty if there is not one pod."""
    kind, selector = ("discovery.k8s.io/v1", "EndpointSlice"), "kubernetes.io/service-name=web"
    [endpoint_slice] = user.admin.list(*kind, user.namespace, label_selector=selector).items
    endpoints = endpoint_slice.get("endpoints") or []
    if len(endpoints) != 1:
        return ""
    [endpoint] = endpoints
    assert [port["port"] for port in endpoint_slice["ports"]] == [8080]
    name, [address] = endpoint["targetRef"]["name"], endpoint["addresses"]
    command = ["sh", "-c", f"nc -w 2 {address} 8080 </dev/null"]
    return kubectl(user.kubeconfig, "exec", name, "--", *command, namespace=user.namespace)


def test_a_continuous_job_serves_its_port_until_it_is_suspended(user: User) -> None:
    job = stored("web", "continuous", SERVER, port=8080, env={"WHAT": "shop"}, logs={"stderr": "/tmp/err"})
    user.jobs(jobs=[{**job, "health_check": {"script": "test -e /tmp/err"}}]).succeeded()
    wait_for(user, web="running")
    eventually(lambda: served(user) == "served shop\n", START_SECONDS)
    first = set(pods(user))

    user.jobs(name="web", state="restarted").succeeded()
    eventually(lambda: pods(user) and first.isdisjoint(pods(user)), START_SECONDS)
    wait_for(user, web="running")

    user.jobs(jobs=[{**job, "env": {"WHAT": "bread"}}]).succeeded()
    eventually(lambda: served(user) == "served bread\n", START_SECONDS)

    user.jobs(name="web", state="suspended").succeeded()
    eventually(lambda: not pods(user), START_SECONDS)
    assert user.listed()["web"]["state"] == "suspended"
    user.jobs(jobs=[{**job, "suspend": False}]).succeeded()
    wait_for(user, web="running")
    user.jobs(name="web", state="absent").succeeded()
    eventually(lambda: not pods(user), START_SECONDS)
    assert (user.definitions(), user.runtime("web")) == ([], [])


def test_a_scheduled_job_runs_on_request(user: User) -> None:
    job = stored("backup", "scheduled", "echo saved")
    user.jobs(jobs=[job]).succeeded()
    assert pods(user) == {}
    user.jobs(name="backup", state="restarted").succeeded()

    def has_run() -> bool:
        return [one["status"]["phase"] for one in pods(user).values()] == ["Succeeded"]

    eventually(has_run, START_SECONDS)
    assert log(user, only_pod(user)) == "saved\n"
    user.jobs(jobs=[job]).succeeded()
    assert user.listed()["backup"]["drift"] == []
    assert len(pods(user)) == 1


def test_a_change_of_type_that_is_killed_after_any_write_ends_the_same(user: User) -> None:
    """Case 8, by SIGKILL: a Deployment whose pod runs, and no CronJob left."""
    write = 1
    while True:
        before, after = (
            stored(f"web-{write}", "scheduled", "true"),
            # The node has no room for so many pods with the default request.
            stored(f"web-{write}", "continuous", SERVER, port=8080, cpu="10m", memory="16Mi"),
        )
        user.jobs(jobs=[before]).succeeded()
        if not is_killed(user, after, write):
            break
        assert user.definitions()
        user.jobs(jobs=[after]).succeeded()
        write += 1
    assert write > 5
    names = [f"web-{number}" for number in range(1, write + 1)]
    for name in names:
        assert [one["kind"] for one in user.runtime(name)] == ["Deployment", "Service"]
    assert [one["kind"] for one in user.definitions()] == ["ContinuousJob"] * write
    wait_for(user, **dict.fromkeys(names, "running"))
    assert len(pods(user)) == write


def test_a_one_off_job_whose_user_is_killed_after_any_write_runs_once(user: User) -> None:
    write = 1
    while True:
        job = stored(f"once-{write}", "one-off", "echo hello")
        if not is_killed(user, job, write):
            break
        user.jobs(jobs=[job]).succeeded()
        write += 1
    names = [f"once-{number}" for number in range(1, write + 1)]
    wait_for(user, **dict.fromkeys(names, "finished"))
    assert write > 3
    runs = [one["metadata"]["labels"]["job-name"] for one in pods(user).values()]
    assert sorted(runs) == sorted(names)
    created = user.admin.list("v1", "Event", user.namespace, field_selector="reason=SuccessfulCreate").items
    assert len(created) == len(names)


def made_by_hand(kind: str, name: str, **spec: Any) -> Object:
    api = "apps/v1" if kind == "Deployment" else "batch/v1"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name}, "spec": spec}


def test_adopting_jobs_made_by_hand_disturbs_none_of_their_containers(user: User) -> None:
    sidecar, main = container("log", "sleep 1000"), container("web", SERVER)
    labels = {"app": "web"}
    always = {**pod_spec(main, sidecar), "restartPolicy": "Always"}
    once = {"metadata": {}, "spec": pod_spec(container("main", "echo hello"))}
    for obj in (
        made_by_hand(
            "Deployment",
            "web",
            selector={"matchLabels": labels},
            template={"metadata": {"labels": labels}, "spec": always},
        ),
        made_by_hand("CronJob", "backup", schedule=NEVER, jobTemplate={"spec": {"template": once}}),
        made_by_hand("Job", "once", template=once, backoffLimit=0),
    ):
        user.admin.create({**obj, "metadata": {**obj["metadata"], "namespace": user.namespace}})
    names = ("web", "backup", "once")
    wait_for(user, web="running", once="finished")
    before = pods(user)
    assert len(before) == 2

    assert user.imported().succeeded().counts == (3, 0)
    dumped = user.info(dump=True).result["dump"]
    assert sorted(one["name"] for one in dumped) == sorted(names)
    user.jobs(jobs=dumped).unchanged()
    user.imported().unchanged()
    after = pods(user)
    assert after.keys() == before.keys()
    assert not any(
        status["restartCount"] for one in after.values() for status in one["status"]["containerStatuses"]
    )

    # What is rebuilt from the store does the same.
    for name in ("web", "backup"):
        user.delete_runtime(name)
    user.jobs(jobs=dumped).succeeded()
    wait_for(user, web="running")
    user.jobs(name="backup", state="restarted").succeeded()

    def logs() -> list[str]:
        ended = [one for one in pods(user).values() if one["status"]["phase"] == "Succeeded"]
        return [log(user, one) for one in ended]

    eventually(lambda: logs() == ["hello\n", "hello\n"], START_SECONDS)


@pytest.mark.parametrize("on_failure", ["rollback", "keep"])
def test_a_quota_that_refuses_a_job_and_is_raised(user: User, on_failure: str) -> None:
    """Case 7."""
    job = stored("once", "one-off", "echo hello")
    user.set_quota({"count/jobs.batch": "0"})
    assert "exceeded quota" in user.jobs(jobs=[job], on_failure=on_failure).message
    assert len(user.definitions()) == (on_failure == "keep")
    user.set_quota({"count/jobs.batch": "1"})
    eventually(lambda: not user.jobs(jobs=[job]).result.get("failed"))
    wait_for(user, once="finished")
    assert log(user, only_pod(user)) == "hello\n"


def test_a_quota_that_refuses_the_pods_and_is_raised(user: User) -> None:
    """Case 7."""
    job = stored("once", "one-off", "echo hello")
    user.set_quota({"pods": "0"})
    user.jobs(jobs=[job]).succeeded()
    eventually(lambda: user.listed()["once"]["reason"] == "OutOfQuota")
    user.set_quota({"pods": "1"})
    user.jobs(name="once", state="restarted").succeeded()
    wait_for(user, once="finished")
    assert log(user, only_pod(user)) == "hello\n"
    user.record_ends([job])
    assert user.listed()["once"]["reason"] == ""
