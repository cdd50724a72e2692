# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes that fail, that are killed between any two calls, or that others make at the same time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    JobKey,
    JobType,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import given_fields
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    KINDS_OF,
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_change import (
    Action,
    JobChanger,
    OnFailure,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.pod_refusals import pod_refusals
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
    namespace_named,
)

from tests.support.extent import cases, sample
from tests.support.hooked_cluster import HookedCluster, Killed, kill_at
from tests.support.job_store import create_runtime, job_of
from tests.support.job_store import store_cluster as new_cluster

ONE_OFF, SCHEDULED, CONTINUOUS = JobType.ONE_OFF, JobType.SCHEDULED, JobType.CONTINUOUS
KEY = JobKey("shop", "web")
QUOTA = api_error(
    "create it", 403, {"reason": "Forbidden", "message": 'pods "x" is forbidden: exceeded quota: small'}
)
DENIED = api_error("create it", 400, {"reason": "BadRequest", "message": "admission webhook denied it"})


@pytest.fixture
def cluster() -> MemoryCluster:
    return new_cluster(namespace_named("shop"))


def changer(cluster: Cluster, **options: Any) -> JobChanger:
    return JobChanger(cluster, read_snapshot(cluster), timeout=1, **options)


def hooked_changer(cluster: HookedCluster) -> JobChanger:
    """A changer whose snapshot was read before the hooks begin."""
    return JobChanger(cluster, read_snapshot(cluster._inner), timeout=1)


def objects(cluster: Cluster) -> tuple[list[Object], list[Object]]:
    """The definitions and the runtime objects of the name."""

    def existing(kinds: list[tuple[str, str]]) -> list[Object]:
        answers = [cluster.get(*kind, KEY.name, KEY.namespace) for kind in kinds]
        return [obj for obj in answers if obj]

    return existing([*DEFINITION_KINDS.values()]), existing(
        [kind for some in KINDS_OF.values() for kind in some]
    )


def end_state(cluster: Cluster) -> Object:
    """All of the job that does not depend on when and how often it was written."""
    definitions, runtime = objects(cluster)
    statuses = [one["status"] for one in definitions]
    return {
        "definitions": [(one["kind"], one["spec"], one["metadata"]["labels"]) for one in definitions],
        "runtime": [normal_form(one) for one in runtime],
        "run": [one["run"] for one in statuses],
        "objects": [[(o["kind"], o["digest"]) for o in one["objects"]] for one in statuses],
        "ready": [[c["status"] for c in one["conditions"]] for one in statuses],
        "defaults": [one["defaults"] for one in statuses],
    }


Change = Callable[[JobChanger], object]
CHANGES: dict[str, tuple[list[CoreJob], Change]] = {
    "a new one-off job": ([], lambda one: one.present(job_of("web", ONE_OFF))),
    "a new continuous job": ([], lambda one: one.present(job_of("web"))),
    "another image": ([job_of("web")], lambda one: one.present(job_of("web", image="nginx:2", port=None))),
    "another command of a one-off job": (
        [job_of("web", ONE_OFF)],
        lambda one: one.present(job_of("web", ONE_OFF, command="false")),
    ),
    "another selector": (
        [job_of("web")],
        lambda one: one.present(
            job_of(
                "web",
                workload={"spec": {"selector": {"matchLabels": {"app": "web"}}}},
                pod={"metadata": {"labels": {"app": "web"}}},
            )
        ),
    ),
    "suspended": ([job_of("web", SCHEDULED)], lambda one: one.suspended(KEY)),
    "scheduled to continuous": ([job_of("web", SCHEDULED)], lambda one: one.present(job_of("web"))),
    "continuous to scheduled": ([job_of("web")], lambda one: one.present(job_of("web", SCHEDULED))),
    "one-off to continuous": ([job_of("web", ONE_OFF)], lambda one: one.present(job_of("web"))),
    "continuous to one-off": ([job_of("web")], lambda one: one.present(job_of("web", ONE_OFF))),
    "absent": ([job_of("web")], lambda one: one.absent(KEY)),
    "restarted one-off job": ([job_of("web", ONE_OFF)], lambda one: one.restarted(KEY)),
}


@pytest.mark.parametrize("is_after", cases([True], [False]), ids=cases(["after"], ["before"]))
@pytest.mark.parametrize("is_by_hand", [False, True], ids=["stored", "by hand"])
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_that_is_killed_at_any_call_ends_the_same_when_it_is_run_again(
    name: str, *, is_by_hand: bool, is_after: bool
) -> None:
    """Case 8. "After" a call leaves what "before" the next one leaves."""
    jobs, change = CHANGES[name]

    def started() -> MemoryCluster:
        cluster = new_cluster(namespace_named("shop"))
        for job in jobs:
            if is_by_hand:
                create_runtime(cluster, job)
            else:
                changer(cluster).present(job)
        return cluster

    whole = HookedCluster(started())
    change(hooked_changer(whole))
    calls = len(whole.calls)
    expected = end_state(whole)
    for last in sample(range(1, calls + 1), 7):
        cluster = started()

        def look(_number: int, _call: Call, cluster: MemoryCluster = cluster) -> None:
            definitions, runtime = objects(cluster)
            assert name == "absent" or not jobs or definitions or runtime

        def killed_after(number: int, call: Call, last: int = last) -> None:
            look(number, call)
            kill_at(last)(number, call)

        hooks = {"after": killed_after} if is_after else {"before": kill_at(last), "after": look}
        with pytest.raises(Killed):
            change(changer(HookedCluster(cluster, **hooks)))
        change(changer(HookedCluster(cluster, after=look)))
        assert end_state(cluster) == expected, f"killed at call {last} of {calls}: {whole.calls[last - 1]}"


def test_another_type_leaves_nothing_of_the_old_one(cluster: MemoryCluster) -> None:
    for job in (job_of("web", SCHEDULED), job_of("web"), job_of("web", ONE_OFF), job_of("web", SCHEDULED)):
        report = changer(cluster).present(job)
        assert report.changed
        definitions, runtime = objects(cluster)
        assert [one["kind"] for one in definitions] == [DEFINITION_KINDS[job.type][1]]
        assert "replaces" not in definitions[0]["spec"]
        assert [normal_form(one) for one in runtime] == [normal_form(one) for one in runtime_objects(job)]


@pytest.mark.parametrize("type_", [SCHEDULED, ONE_OFF])
def test_a_killed_change_of_type_can_be_followed_by_another_one(type_: JobType) -> None:
    desired = job_of("web", type_)
    for last in range(1, 100):
        cluster = new_cluster(namespace_named("shop"))
        changer(cluster).present(job_of("web", SCHEDULED))

        try:
            hooked_changer(HookedCluster(cluster, after=kill_at(last))).present(job_of("web"))
        except Killed:
            changer(cluster).present(desired)
            definitions, runtime = objects(cluster)
            assert [one["kind"] for one in definitions] == [DEFINITION_KINDS[type_][1]]
            assert [normal_form(one) for one in runtime] == [
                normal_form(one) for one in runtime_objects(desired)
            ]
        else:
            assert last > 5
            return


def test_a_definition_that_was_made_of_what_runs_outlives_a_rollback(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web", SCHEDULED))
    refuse(cluster, "Deployment", QUOTA)
    report = changer(cluster).present(job_of("web"))
    assert (report.action, report.changed) == (Action.REFUSED, True)
    definitions, runtime = objects(cluster)
    assert [one["kind"] for one in definitions + runtime] == ["ScheduledJob", "CronJob"]


def refuse(cluster: MemoryCluster, kind: str, error: Exception, verb: str = "create") -> None:
    def matches(request: Request) -> bool:
        return request.verb == verb and request.ref.kind == kind

    cluster.fail_when(matches, error)


def allow(cluster: MemoryCluster) -> None:
    cluster._test.faults.clear()


@pytest.mark.parametrize("on_failure", OnFailure)
@pytest.mark.parametrize(
    ("type_", "kind"), [(ONE_OFF, "Job"), (CONTINUOUS, "Deployment"), (CONTINUOUS, "Service")]
)
def test_a_refused_new_job_is_rolled_back_or_its_definition_stays(
    cluster: MemoryCluster, on_failure: OnFailure, type_: JobType, kind: str
) -> None:
    """Case 7."""
    job = job_of("web", type_)
    refuse(cluster, kind, QUOTA)
    report = changer(cluster, on_failure=on_failure).present(job)
    assert (report.action, report.reason) == (Action.REFUSED, "OutOfQuota")
    assert "exceeded quota" in report.message
    definitions, runtime = objects(cluster)
    if on_failure is OnFailure.ROLLBACK:
        assert (definitions, runtime, report.changed, report.after) == ([], [], False, None)
    else:
        status = definitions[0]["status"]
        assert (status["reason"], status["conditions"][0]["status"]) == ("OutOfQuota", "False")
        assert report.changed
    allow(cluster)
    assert changer(cluster).present(job).changed
    definitions, runtime = objects(cluster)
    assert [normal_form(one) for one in runtime] == [normal_form(one) for one in runtime_objects(job)]
    assert (definitions[0]["status"]["reason"], definitions[0]["status"]["message"]) == ("", "")


@pytest.mark.parametrize("on_failure", OnFailure)
def test_a_refused_change_is_rolled_back_or_its_definition_stays(
    cluster: MemoryCluster, on_failure: OnFailure
) -> None:
    job, new = job_of("web"), job_of("web", image="nginx:2")
    changer(cluster).present(job)
    before = objects(cluster)[1]
    refuse(cluster, "Deployment", DENIED, "patch")
    report = changer(cluster, on_failure=on_failure).present(new)
    assert (report.action, report.reason) == (Action.REFUSED, "BadRequest")
    definitions, runtime = objects(cluster)
    assert runtime == before
    assert definitions[0]["spec"]["image"] == ("nginx:1" if on_failure is OnFailure.ROLLBACK else "nginx:2")
    allow(cluster)
    assert changer(cluster).present(new).action is Action.UPDATED


def test_a_refused_change_of_type_leaves_the_old_job(cluster: MemoryCluster) -> None:
    changer(cluster).present(job_of("web", SCHEDULED))
    before = end_state(cluster)
    refuse(cluster, "Service", QUOTA)
    assert changer(cluster).present(job_of("web")).action is Action.REFUSED
    assert end_state(cluster) == before


def test_a_deployment_that_was_deleted_to_be_replaced_is_restored(cluster: MemoryCluster) -> None:
    changer(cluster).present(job_of("web"))
    before = end_state(cluster)
    failed = []

    def refuse_once(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("create", "Deployment") and not failed:
            failed.append(call)
            raise DENIED

    labels = {"app": "web"}
    workload = {"spec": {"selector": {"matchLabels": labels}}}
    job = job_of("web", workload=workload, pod={"metadata": {"labels": labels}})
    hooked = HookedCluster(cluster, before=refuse_once)
    report = changer(hooked).present(job)
    assert (report.action, len(failed)) == (Action.REFUSED, 1)
    assert end_state(cluster) == before


def test_a_deployment_that_was_changed_before_its_service_is_refused_is_as_before(
    cluster: MemoryCluster,
) -> None:
    changer(cluster).present(job_of("web"))
    before = end_state(cluster)
    refuse(cluster, "Service", DENIED, "patch")
    report = changer(cluster).present(job_of("web", port=9090))
    assert (report.action, report.changed) == (Action.REFUSED, False)
    assert end_state(cluster) == before


@pytest.mark.parametrize("has_ended", [True, False])
def test_a_rollback_runs_no_one_off_job_again_that_has_ended(
    cluster: MemoryCluster, *, has_ended: bool
) -> None:
    changer(cluster).present(job_of("web", ONE_OFF))
    if has_ended:
        status = {"conditions": [{"type": "Complete", "status": "True"}]}
        cluster.patch("batch/v1", "Job", "web", "shop", {"status": status}, subresource="status")
    failed = []

    def refuse_once(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("create", "Job") and not failed:
            failed.append(call)
            raise DENIED

    hooked = HookedCluster(cluster, before=refuse_once)
    assert changer(hooked).present(job_of("web", ONE_OFF, command="false")).action is Action.REFUSED
    definitions, runtime = objects(cluster)
    assert (definitions[0]["spec"]["command"], len(runtime)) == ("true", 0 if has_ended else 1)


def test_a_service_of_others_is_not_overwritten(cluster: MemoryCluster) -> None:
    spec = {"selector": {"app": "other"}, "ports": [{"port": 1}]}
    cluster.seed(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": spec,
        }
    )
    report = changer(cluster).present(job_of("web"))
    assert report.action is Action.REFUSED
    definitions, runtime = objects(cluster)
    assert (definitions, [one["spec"] for one in runtime]) == ([], [spec])


def test_an_unknown_field_and_a_change_of_others_meanwhile_survive(cluster: MemoryCluster) -> None:
    changer(cluster).present(job_of("web", env={"A": "1"}))
    stale = changer(cluster)
    other = {"spec": {"colour": "blue", "logs": {"level": "all"}}}
    cluster.patch(*DEFINITION_KINDS[CONTINUOUS], "web", "shop", other)
    changer(cluster).present(job_of("web", env={"A": "2"}, logs={"stdout": "/log"}))
    assert stale.suspended(KEY).action is Action.SUSPENDED
    [definition] = objects(cluster)[0]
    spec = definition["spec"]
    assert (spec["colour"], spec["env"], spec["suspend"]) == ("blue", {"A": "2"}, True)
    assert spec["logs"] == {"level": "all", "stdout": "/log"}


def test_two_writers_at_once_lose_no_field(cluster: MemoryCluster) -> None:
    changer(cluster).present(job_of("web"))
    writers = [Thread(target=changer(cluster).suspended, args=(KEY,))]
    strangers = [
        Thread(
            target=cluster.patch,
            args=(*DEFINITION_KINDS[CONTINUOUS], "web", "shop", {"spec": {f"field{number}": number}}),
        )
        for number in range(10)
    ]
    for thread in [*strangers[:5], *writers, *strangers[5:]]:
        thread.start()
    for thread in [*writers, *strangers]:
        thread.join()
    [definition] = objects(cluster)[0]
    assert definition["spec"]["suspend"] is True
    assert {f"field{number}" for number in range(10)} <= definition["spec"].keys()


def test_concurrent_writers_of_one_job_end_with_the_job_of_one_of_them(cluster: MemoryCluster) -> None:
    jobs = [job_of("web", image=f"nginx:{number}", env={"N": str(number)}) for number in range(2, 5)]
    changers = [changer(cluster) for _job in jobs]
    threads = [
        Thread(target=lambda one=one, job=job: one.present(job))
        for one, job in zip(changers, jobs, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    snapshot = read_snapshot(cluster)
    stored = snapshot.definitions[KEY].job
    assert given_fields(stored) in [given_fields(job) for job in jobs]
    runtime = objects(cluster)[1]
    assert [normal_form(one) for one in runtime] == [normal_form(one) for one in runtime_objects(stored)]


def test_the_runtime_is_read_after_the_definition_that_decides_a_change(cluster: MemoryCluster) -> None:
    """Others may write both between the two reads: then the definition has changed, and the write says so."""
    changer(cluster).present(job_of("web", image="nginx:2"))
    read: list[str] = []

    def conflict_once(_number: int, call: Call) -> None:
        if call.writes and not read:
            changer(cluster).present(job_of("web", image="nginx:3"))
            read.append("")
        elif call.verb == "list" and read:
            read.append(call.kind)

    hooked_changer(HookedCluster(cluster, before=conflict_once)).present(job_of("web", image="nginx:4"))
    kinds = read[1:]
    assert max(map(kinds.index, (kind for _version, kind in DEFINITION_KINDS.values()))) < min(
        map(kinds.index, (kind for some in KINDS_OF.values() for _version, kind in some))
    )


def problems(cluster: MemoryCluster) -> Mapping[JobKey, str]:
    return {key: one.message for key, one in pod_refusals(cluster, read_snapshot(cluster)).items()}


def test_pods_that_a_quota_refuses_are_reported(cluster: MemoryCluster) -> None:
    """Case 7."""
    message = 'pods "web-x" is forbidden: exceeded quota: small, requested: cpu=500m'
    changer(cluster).present(job_of("web"))
    assert problems(cluster).get(KEY, "") == ""
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}
    cluster.patch(
        "apps/v1", "Deployment", "web", "shop", {"status": {"conditions": [failure]}}, subresource="status"
    )
    assert problems(cluster).get(KEY, "") == message
    changer(cluster).present(job_of("once", ONE_OFF))
    once = cluster.get("batch/v1", "Job", "once", "shop")
    assert once
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "once.1", "namespace": "shop"},
            "involvedObject": {"kind": "Job", "name": "once", "uid": once["metadata"]["uid"]},
            "reason": "FailedCreate",
            "message": message,
        }
    )
    assert problems(cluster).get(JobKey("shop", "once"), "") == message
    cluster.patch("batch/v1", "Job", "once", "shop", {"status": {"active": 1}}, subresource="status")
    assert problems(cluster).get(JobKey("shop", "once"), "") == ""


@pytest.mark.parametrize("failed", [0, 1])
def test_a_refusal_before_the_end_of_an_earlier_pod_does_not_count(
    cluster: MemoryCluster, failed: int
) -> None:
    """A Job without a pod may wait before its next attempt."""
    changer(cluster).present(job_of("once", ONE_OFF, retry=3))
    snapshot = read_snapshot(cluster)
    [(place, runtime)] = snapshot.runtime.items()
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "once.1", "namespace": "shop"},
        "involvedObject": {"kind": "Job", "name": "once", "uid": runtime.uid},
        "reason": "FailedCreate",
        "message": "denied",
        "lastTimestamp": "2026-11-26T10:00:10Z",
    }
    cluster.create(event)
    written = [
        {"time": "2026-11-26T10:00:00Z", "fieldsV1": {"f:spec": {}}},
        {"time": "2026-11-26T10:00:20Z", "fieldsV1": {"f:status": {}}, "subresource": "status"},
    ]
    main = {**runtime.main, "status": {"failed": failed}}
    main["metadata"] = {**main["metadata"], "managedFields": written}
    snapshot = replace(snapshot, runtime={place: replace(runtime, main=main)})
    assert bool(pod_refusals(cluster, snapshot)) is not bool(failed)


def changed_before_the_way_back(cluster: MemoryCluster, kind: tuple[str, str], change: Object) -> Cluster:
    """The cluster. Another user changes an object after our change of it and before our rollback."""
    patches: list[Call] = []

    def meanwhile(_number: int, call: Call) -> None:
        if (call.verb, call.kind) != ("patch", kind[1]):
            return
        patches.append(call)
        if len(patches) == 2:
            cluster.with_field_manager("kubectl-edit").patch(*kind, "web", "shop", change)

    return HookedCluster(cluster, before=meanwhile)


def test_a_rollback_overwrites_nothing_that_others_have_changed_meanwhile(cluster: MemoryCluster) -> None:
    changer(cluster).present(job_of("web"))
    refuse(cluster, "Service", DENIED, "patch")
    change = {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}}
    watched = changed_before_the_way_back(cluster, ("apps/v1", "Deployment"), change)
    report = changer(watched).present(job_of("web", port=9090))
    assert report.action is Action.REFUSED
    assert "The change could not be rolled back: others have changed Deployment shop/web" in report.message
    [deployment] = [one for one in objects(cluster)[1] if one["kind"] == "Deployment"]
    assert deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == 5


def test_a_rollback_overwrites_no_definition_that_others_have_written_meanwhile(
    cluster: MemoryCluster,
) -> None:
    changer(cluster).present(job_of("web"))
    refuse(cluster, "Service", DENIED, "patch")
    change = {"spec": {"image": "nginx:3"}}
    watched = changed_before_the_way_back(cluster, DEFINITION_KINDS[CONTINUOUS], change)
    report = changer(watched).present(job_of("web", port=9090))
    assert "others have changed ContinuousJob shop/web" in report.message
    assert objects(cluster)[0][0]["spec"]["image"] == "nginx:3"


def test_problems_of_quotas_take_one_list_for_any_number_of_runs(cluster: MemoryCluster) -> None:
    for number in range(5):
        job = job_of(f"job-{number}", SCHEDULED)
        changer(cluster).present(job)
        changer(cluster).restarted(job.key)
    for run in cluster.list("batch/v1", "Job", "shop").items:
        meta = run["metadata"]
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": meta["name"], "namespace": "shop"},
            "involvedObject": {"kind": "Job", "name": meta["name"], "uid": meta["uid"]},
            "reason": "FailedCreate",
            "message": "exceeded quota: small",
        }
        cluster.seed(event)
    snapshot = read_snapshot(cluster)
    before = len(cluster.requests)
    refusals = pod_refusals(cluster, snapshot)
    assert len(refusals) == 5
    assert [one.verb for one in cluster.requests[before:]] == ["list"]
