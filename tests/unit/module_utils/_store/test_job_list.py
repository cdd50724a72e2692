# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of jobs in the three stages of the store, and what a flip of its switches would change."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    JobKey,
    JobType,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import (
    core_job,
    given_fields,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.recognition import (
    UnreadableJob,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    CURRENT_VERSION,
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import job_list
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import (
    counter_after,
    write_counter,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_list import (
    ListedJob,
    drift_line,
    dump,
    job_report,
    list_differences,
    listed_jobs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_state import JobState
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import (
    StoreSnapshot,
    read_snapshot,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    SourceOfTruth,
    StoreSwitches,
    UnknownJobs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.unknown_jobs import (
    adoptable_job,
    missing_jobs,
    unknown_jobs,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    namespace_named,
)

from tests.support.job_store import (
    create_definition,
    create_runtime,
    delete_runtime,
    job_of,
    patch_runtime,
    roll_out,
    store_cluster,
)

FIRST = StoreSwitches(SourceOfTruth.KUBERNETES, UnknownJobs.ADOPT)
SECOND = StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.ADOPT)
LAST = StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.IGNORE)
STAGES = (FIRST, SECOND, LAST)


@pytest.fixture
def cluster() -> MemoryCluster:
    return store_cluster(namespace_named("shop"))


def read(cluster: MemoryCluster, stage: StoreSwitches = FIRST) -> StoreSnapshot:
    return replace(read_snapshot(cluster), store=stage)


def reports(cluster: MemoryCluster, stage: StoreSwitches = FIRST) -> list[dict[str, Any]]:
    all_reports = [job_report(job) for job in listed_jobs(read(cluster, stage))]
    assert json.loads(json.dumps(all_reports)) == all_reports
    return all_reports


def names(cluster: MemoryCluster, stage: StoreSwitches = FIRST) -> list[str]:
    return [f"{one['type']} {one['name']}" for one in reports(cluster, stage)]


def only(cluster: MemoryCluster, stage: StoreSwitches = FIRST) -> ListedJob:
    [job] = listed_jobs(read(cluster, stage))
    return job


def count(cluster: MemoryCluster) -> tuple[int, int]:
    """What each of the tasks does that may write."""
    snapshot = read(cluster)
    before = snapshot.counter("shop")
    unknown = [job.uid for job in unknown_jobs(snapshot)]
    after = counter_after(before, unknown, missing_jobs(snapshot), snapshot.uids.get("shop", frozenset()))
    return write_counter(cluster, before, after).counts


def put_definition(cluster: MemoryCluster, job: CoreJob, spec: Object, **labels: str) -> Object:
    """A definition as somebody else has written it, or an older version of ours."""
    api_version, kind = DEFINITION_KINDS[job.type]
    meta = {"name": job.key.name, "namespace": job.key.namespace, "labels": labels}
    obj = {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}
    return cluster.create(obj)


# Case 2.


@pytest.mark.parametrize("type_", JobType)
def test_a_job_only_in_kubernetes_is_adoptable_and_counted_once(
    cluster: MemoryCluster, type_: JobType
) -> None:
    job = job_of("web", type_)
    create_runtime(cluster, job)
    for stage in (FIRST, SECOND):
        listed = only(cluster, stage)
        assert (listed.key, listed.type, listed.is_adoptable, listed.storage_version) == (
            job.key,
            type_,
            True,
            0,
        )
        assert listed.source is SourceOfTruth.KUBERNETES
        assert listed.fields["image"] == job.image
    assert count(cluster) == (1, 0)
    assert count(cluster) == (1, 0)
    create_runtime(cluster, job_of("other", type_))
    assert count(cluster) == (2, 0)


def test_a_job_that_comes_back_under_its_name_is_another_one(cluster: MemoryCluster) -> None:
    for expected in (1, 2):
        create_runtime(cluster, job_of("web"))
        assert count(cluster) == (expected, 0)
        delete_runtime(cluster, job_of("web"))
        assert count(cluster) == (expected, 0)


def test_an_unknown_job_is_hidden_and_counted_in_the_last_stage(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("unknown"))
    roll_out(cluster, job_of("web"))
    assert names(cluster, LAST) == ["continuous web"]
    assert count(cluster) == (1, 0)


def test_the_flip_to_storage_changes_no_list(cluster: MemoryCluster) -> None:
    for type_ in JobType:
        roll_out(cluster, job_of(f"stored-{type_}", type_))
        create_runtime(cluster, job_of(f"unknown-{type_}", type_))
        create_definition(cluster, job_of(f"missing-{type_}", type_))
    assert reports(cluster, FIRST) == reports(cluster, SECOND)
    assert len(reports(cluster)) == 9
    assert list_differences(read(cluster)) == []


def test_the_flip_is_refused_for_a_drifted_job(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("good"))
    roll_out(cluster, job_of("web", replicas=2))
    patch_runtime(cluster, job_of("web"), {"spec": {"replicas": 5}}, manager="kubectl")
    [line] = list_differences(read(cluster))
    assert line.startswith(
        "continuous job shop/web has drifted: Deployment shop/web: spec.replicas is 5, not 2 (kubectl at 20"
    )


def test_a_flip_to_ignore_names_the_jobs_that_it_would_hide(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("web"))
    create_runtime(cluster, job_of("unknown"))
    hidden = "continuous job shop/unknown would be hidden, as it has no definition."
    assert list_differences(read(cluster, SECOND), LAST) == [hidden]
    shown = "continuous job shop/unknown would be listed, although it has no definition."
    assert list_differences(read(cluster, LAST), SECOND) == [shown]
    assert list_differences(read(cluster, LAST), LAST) == []


def test_a_flip_is_refused_for_a_job_that_cannot_be_read(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("x" * 60))
    put_definition(cluster, job_of("bad"), {"image": {"odd": True}, "replicas": "many"})
    create_runtime(cluster, job_of("bad"))
    bad, long = list_differences(read(cluster))
    assert bad.startswith("ContinuousJob shop/bad can't be read: ")
    assert long.startswith(f"continuous job shop/{'x' * 60}: ")


# What is drifted is listed as it runs in the first stage, and by its definition in the others.


def test_a_drifted_job_is_listed_as_it_runs_in_the_first_stage_alone(cluster: MemoryCluster) -> None:
    job = job_of("web", replicas=2, emails="all", env={"A": "1"})
    roll_out(cluster, job)
    patch_runtime(cluster, job, {"spec": {"replicas": 5}}, manager="kubectl")
    first = only(cluster, FIRST)
    assert first.fields == {**given_fields(job), "replicas": 5}
    assert list(first.fields) == list(given_fields(job))
    assert first.source is SourceOfTruth.KUBERNETES
    for stage in (SECOND, LAST):
        listed = only(cluster, stage)
        assert (listed.fields, listed.source) == (given_fields(job), SourceOfTruth.STORAGE)
        assert [one.field for one in listed.drift] == ["spec.replicas"]
    assert first.drift == only(cluster, SECOND).drift


def test_an_unset_field_stays_unset_when_another_field_drifts(cluster: MemoryCluster) -> None:
    job = job_of("nightly", JobType.SCHEDULED, memory=None, schedule="@daily")
    roll_out(cluster, job)
    patch_runtime(cluster, job, {"spec": {"suspend": True}}, manager="kubectl")
    listed = only(cluster)
    assert listed.fields == {**given_fields(job), "suspend": True}
    assert listed.state is JobState.SUSPENDED


def test_a_drift_that_no_field_can_say_is_refused_by_a_flip_too(cluster: MemoryCluster) -> None:
    job = job_of("web")
    roll_out(cluster, job)
    other = {"spec": {"template": {"spec": {"schedulerName": "mine"}}}}
    patch_runtime(cluster, job, other, manager="kubectl")
    assert only(cluster).fields["pod"] == other["spec"]["template"]
    assert len(list_differences(read(cluster))) == 1


# Case 4.


def test_all_storage_versions_are_listed_alike(cluster: MemoryCluster) -> None:
    fields = {"image": "nginx:1", "command": "serve", "memory": "1Gi", "container": {"tty": True}}
    old = {"image": "nginx:1", "command": "serve", "resources": {"memory": "1Gi"}, "tty": True}
    put_definition(cluster, job_of("v1"), old, **{STORAGE_VERSION_LABEL: "1"})
    create_definition(cluster, core_job(JobKey("shop", "v2"), JobType.CONTINUOUS, fields))
    listed = reports(cluster)
    assert [(one["name"], one["storage_version"], one["fields"]) for one in listed] == [
        ("v1", 1, fields),
        ("v2", CURRENT_VERSION, fields),
    ]
    first, second = [{**one, "name": "", "storage_version": 0} for one in listed]
    assert first == second


def test_a_newer_version_is_read_only_and_left_out_of_a_dump(cluster: MemoryCluster) -> None:
    put_definition(cluster, job_of("new"), {"image": "nginx:1", "moon": 1}, **{STORAGE_VERSION_LABEL: "99"})
    roll_out(cluster, job_of("web"))
    new, web = reports(cluster)
    assert (new["storage_version"], new["read_only"], new["fields"]["image"]) == (99, True, "nginx:1")
    assert not web["read_only"]
    assert [one["name"] for one in dump(read(cluster))] == ["web"]


def test_a_corrupt_definition_hides_no_job(cluster: MemoryCluster) -> None:
    put_definition(cluster, job_of("bad"), {"image": {"odd": True}, "replicas": "many"})
    create_runtime(cluster, job_of("bad"))
    roll_out(cluster, job_of("web"))
    snapshot = read(cluster)
    assert len(snapshot.warnings) == 1
    bad, web = listed_jobs(snapshot)
    assert (bad.key.name, bad.is_adoptable, bad.is_readable, bad.fields) == ("bad", False, False, {})
    assert bad.message == snapshot.warnings[0]
    assert web.is_readable
    assert names(cluster, SECOND) == ["continuous web"]
    # It has a definition, so it is not only in Kubernetes.
    assert count(cluster) == (0, 0)
    assert [one["name"] for one in dump(snapshot)] == ["web"]


def test_a_job_that_cannot_be_compared_hides_no_other(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    roll_out(cluster, job_of("bad"))
    roll_out(cluster, job_of("web"))
    find = job_list.job_drift

    def fail(definition: Any, runtime: Any) -> Any:
        if definition.key.name == "bad":
            raise ValueError("odd\nthing")
        return find(definition, runtime)

    monkeypatch.setattr(job_list, "job_drift", fail)
    bad, web = listed_jobs(read(cluster))
    assert (bad.is_readable, bad.state, bad.message) == (False, JobState.UNKNOWN, "ValueError: odd thing")
    assert web.is_readable


def test_an_unknown_job_that_cannot_be_read_hides_no_other(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("x" * 60))
    create_runtime(cluster, job_of("web"))
    for stage in (FIRST, SECOND):
        web, long = reports(cluster, stage)
        assert (web["adoptable"], long["adoptable"], long["fields"]) == (True, False, {})
        assert long["message"]
    assert count(cluster) == (2, 0)


# Definitions without their job, and jobs whose definition is another's.


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("type_", JobType)
def test_a_definition_without_its_job_is_listed_in_every_stage_and_counted(
    cluster: MemoryCluster, stage: StoreSwitches, type_: JobType
) -> None:
    job = job_of("web", type_)
    roll_out(cluster, job, run=0)
    delete_runtime(cluster, job)
    listed = only(cluster, stage)
    assert (listed.state, listed.fields, listed.drift) == (JobState.MISSING, given_fields(job), ())
    assert count(cluster) == (0, 1)
    assert count(cluster) == (0, 1)


def test_a_one_off_job_that_has_run_is_finished_and_not_counted(cluster: MemoryCluster) -> None:
    job = job_of("once", JobType.ONE_OFF)
    roll_out(cluster, job, history=({"run": 1, "succeeded": True, "reason": "Completed"},))
    delete_runtime(cluster, job)
    for stage in STAGES:
        listed = only(cluster, stage)
        [run] = job_report(listed)["history"]
        assert (listed.state, run["state"], run["outcome"]) == (JobState.FINISHED, "succeeded", "Completed")
    assert count(cluster) == (0, 0)
    assert list_differences(read(cluster)) == []


def test_an_object_that_a_change_of_type_leaves_behind_is_no_job_of_its_own(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("web", JobType.SCHEDULED))
    create_definition(cluster, job_of("web", JobType.CONTINUOUS), replaces=JobType.SCHEDULED)
    for stage in STAGES:
        assert names(cluster, stage) == ["continuous web"]
    assert count(cluster) == (0, 0)
    cluster.delete(*DEFINITION_KINDS[JobType.SCHEDULED], "web", "shop")
    assert names(cluster) == ["continuous web"]
    assert count(cluster) == (0, 0)


def test_a_job_with_the_name_of_a_definition_of_another_type_cannot_be_adopted(
    cluster: MemoryCluster,
) -> None:
    roll_out(cluster, job_of("web", JobType.CONTINUOUS))
    create_runtime(cluster, job_of("web", JobType.SCHEDULED))
    for stage in (FIRST, SECOND):
        stored, unknown = listed_jobs(read(cluster, stage))
        assert (stored.type, stored.storage_version) == (JobType.CONTINUOUS, CURRENT_VERSION)
        assert (unknown.type, unknown.is_adoptable) == (JobType.SCHEDULED, False)
        assert unknown.message == "Its name is taken by a continuous job. Delete one of them."
    assert names(cluster, LAST) == ["continuous web"]
    assert count(cluster) == (1, 0)


def test_a_definition_that_a_filter_leaves_out_has_its_name_all_the_same(cluster: MemoryCluster) -> None:
    team = {"metadata": {"labels": {"team": "a"}}}
    create_definition(cluster, job_of("other", JobType.CONTINUOUS))
    create_runtime(cluster, job_of("other", JobType.SCHEDULED, workload=team))
    roll_out(cluster, job_of("web", JobType.SCHEDULED, workload=team))
    create_definition(cluster, job_of("web", JobType.CONTINUOUS), replaces=JobType.SCHEDULED)
    [listed] = listed_jobs(read_snapshot(cluster, label_selector="team=a"))
    assert (listed.key.name, listed.is_adoptable) == ("other", False)
    assert listed.message == "Its name is taken by a continuous job. Delete one of them."


def test_the_oldest_of_the_unknown_jobs_with_one_name_can_be_adopted(cluster: MemoryCluster) -> None:
    for type_, created in ((JobType.ONE_OFF, "2026-02"), (JobType.SCHEDULED, "2026-01")):
        [obj] = create_runtime(cluster, job_of("web", type_))
        delete_runtime(cluster, job_of("web", type_))
        cluster.seed({**obj, "metadata": {**obj["metadata"], "creationTimestamp": f"{created}-01T00:00:00Z"}})
    adoptability = {job.type: (job.is_adoptable, job.message) for job in listed_jobs(read(cluster))}
    assert adoptability == {
        JobType.ONE_OFF: (False, "Its name is taken by an older scheduled job. Delete one of them."),
        JobType.SCHEDULED: (True, ""),
    }
    snapshot = read(cluster)
    one_off, scheduled = (
        snapshot.runtime[JobKey("shop", "web"), one] for one in (JobType.ONE_OFF, JobType.SCHEDULED)
    )
    assert adoptable_job(snapshot, scheduled).schedule
    with pytest.raises(UnreadableJob):
        adoptable_job(snapshot, one_off)


def test_a_job_that_is_being_deleted_is_neither_adopted_nor_counted(cluster: MemoryCluster) -> None:
    [obj] = create_runtime(cluster, job_of("web", port=None))
    delete_runtime(cluster, job_of("web", port=None))
    deleting = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.org/hold"]}
    cluster.seed({**obj, "metadata": {**obj["metadata"], **deleting}})
    for stage in (FIRST, SECOND):
        listed = only(cluster, stage)
        assert (listed.state, listed.is_adoptable) == (JobState.DELETING, False)
    assert names(cluster, LAST) == []
    assert count(cluster) == (0, 0)


def test_a_definition_says_why_an_object_of_its_name_is_not_its_job(cluster: MemoryCluster) -> None:
    job = job_of("web", port=None)
    roll_out(cluster, job)
    owner = {"apiVersion": "example.org/v1", "kind": "Shop", "name": "main", "uid": "u", "controller": True}
    patch_runtime(cluster, job, {"metadata": {"ownerReferences": [owner]}})
    listed = only(cluster)
    assert (listed.state, listed.message) == (JobState.MISSING, "Shop main controls Deployment shop/web.")


# What people read.


def test_a_report_has_what_there_is_to_know(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("web"), message="no\nroom", reason="OutOfQuota")
    patch_runtime(cluster, job_of("web"), {"spec": {"replicas": 5}}, manager="kubectl\x1b[1m")
    [report] = reports(cluster, SECOND)
    assert {name: report[name] for name in ("namespace", "name", "type", "state", "source")} == {
        "namespace": "shop",
        "name": "web",
        "type": "continuous",
        "state": "starting",
        "source": "storage",
    }
    assert (report["adoptable"], report["outdated"], report["read_only"]) == (False, False, False)
    assert (report["message"], report["reason"]) == ("no room", "OutOfQuota")
    [drift] = report["drift"]
    assert drift.pop("time").startswith("20")
    assert drift == {
        "object": "Deployment shop/web",
        "field": "spec.replicas",
        "expected": 2,
        "actual": 5,
        "manager": "kubectl?[1m",
    }


def test_a_line_about_drift_is_a_line(cluster: MemoryCluster) -> None:
    job = job_of("web", command="serve")
    roll_out(cluster, job)
    command = ["/bin/sh", "-c", "--", "a\nb\x1b" + "c" * 500]
    container = {"name": "job", "image": "nginx:1", "command": command}
    patch_runtime(cluster, job, {"spec": {"template": {"spec": {"containers": [container]}}}})
    for one in only(cluster).drift:
        line = drift_line(one)
        assert line.isprintable()
        assert len(line) < 500


def test_a_service_that_is_gone_is_a_line(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("web"))
    cluster.delete("v1", "Service", "web", "shop")
    assert list_differences(read(cluster)) == [
        "continuous job shop/web has drifted: Service shop/web is absent, not present"
    ]
    assert "port" not in only(cluster).fields


# Dumps.


def test_a_dump_has_the_fields_of_all_jobs(cluster: MemoryCluster) -> None:
    jobs = [job_of("a", JobType.ONE_OFF), job_of("b", JobType.SCHEDULED), job_of("c", replicas=3)]
    for job in jobs:
        roll_out(cluster, job)
    assert dump(read_snapshot(cluster, ["shop"])) == [
        {"name": job.key.name, "type": str(job.type), **given_fields(job)} for job in jobs
    ]
    assert dump(read_snapshot(cluster))[0] == {
        "name": "a",
        "namespace": "shop",
        "type": "one-off",
        **given_fields(jobs[0]),
    }


def test_an_adoptable_job_is_dumped_as_it_would_be_adopted(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web"))
    snapshot = read_snapshot(cluster, ["shop"])
    [runtime] = snapshot.runtime.values()
    adopted = adoptable_job(snapshot, runtime)
    assert dump(snapshot) == [{"name": "web", "type": "continuous", **given_fields(adopted)}]


def test_a_definition_with_an_invalid_field_is_listed_with_the_reason_and_not_dumped(
    cluster: MemoryCluster,
) -> None:
    roll_out(cluster, job_of("good", JobType.SCHEDULED))
    create_definition(cluster, job_of("bad", JobType.SCHEDULED, schedule="nonsense"))
    bad, good = listed_jobs(read(cluster))
    assert (bad.key.name, bad.fields["schedule"], bad.is_readable) == ("bad", "nonsense", False)
    assert bad.message.startswith("Its definition is not valid: schedule is 'nonsense'")
    assert good.message == ""
    assert [one["name"] for one in dump(read(cluster))] == ["good"]
    assert any("schedule is 'nonsense'" in line for line in list_differences(read(cluster)))


def test_a_job_that_is_being_deleted_stops_no_flip(cluster: MemoryCluster) -> None:
    job = job_of("web", JobType.SCHEDULED)
    create_runtime(cluster, job)
    patch_runtime(cluster, job, {"metadata": {"finalizers": ["example.com/hold"]}})
    cluster.delete("batch/v1", "CronJob", "web", "shop")
    [listed] = listed_jobs(read(cluster))
    assert listed.state is JobState.DELETING
    assert list_differences(read(cluster)) == []
