# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Changes of single jobs: what is created, changed in place, replaced, left alone, restarted and deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import DryRunCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import (
    CoreJob,
    JobKey,
    JobType,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import given_fields
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    RESTARTED_AT,
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.probe_commands import SHELL
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    JOB_LABEL,
    KINDS_OF,
    STORE,
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
    StoredDefinition,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_change import (
    Action,
    ChangeReport,
    JobChanger,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_import import import_jobs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_list import listed_jobs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    StoreSwitches,
    UnknownJobs,
    write_switches,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    namespace_named,
)

from tests.support.hooked_cluster import HookedCluster
from tests.support.job_store import (
    create_definition,
    create_runtime,
    delete_runtime,
    job_of,
    patch_runtime,
    roll_out,
)
from tests.support.job_store import store_cluster as new_cluster

ONE_OFF, SCHEDULED, CONTINUOUS = JobType.ONE_OFF, JobType.SCHEDULED, JobType.CONTINUOUS
FORBIDDEN = api_error("create", 403, {"reason": "Forbidden", "message": "not here"})
FINISHED = {
    "status": {
        "conditions": [{"type": "Complete", "status": "True"}],
        "startTime": "2026-11-01T00:00:00Z",
        "completionTime": "2026-11-01T00:01:00Z",
    }
}


@pytest.fixture
def cluster() -> MemoryCluster:
    return new_cluster(namespace_named("shop"))


def changer(cluster: Cluster, **options: Any) -> JobChanger:
    return JobChanger(cluster, read_snapshot(cluster), timeout=1, **options)


def present(cluster: MemoryCluster, job: CoreJob, **options: Any) -> ChangeReport:
    return changer(cluster, **options).present(job)


def live(cluster: MemoryCluster, job: CoreJob) -> list[Object]:
    """The runtime objects of a job."""
    answers = [cluster.get(*kind, job.key.name, job.key.namespace) for kind in KINDS_OF[job.type]]
    return [obj for obj in answers if obj]


def forms(objects: list[Object]) -> list[Object]:
    return [normal_form(obj) for obj in objects]


def uids(objects: list[Object]) -> list[str]:
    return [obj["metadata"]["uid"] for obj in objects]


def definition(cluster: MemoryCluster, job: CoreJob) -> StoredDefinition:
    return read_snapshot(cluster).definitions[job.key]


def finish(cluster: MemoryCluster, job: CoreJob) -> None:
    patch_runtime(cluster, job, FINISHED, "kube-controller-manager")


@pytest.mark.parametrize("type_", JobType)
def test_a_new_job_is_created(cluster: MemoryCluster, type_: JobType) -> None:
    job = job_of("web", type_)
    report = present(cluster, job)
    assert (report.action, report.changed) == (Action.CREATED, True)
    assert (report.before, report.after) == (None, {"type": str(type_), **given_fields(job)})
    assert forms(live(cluster, job)) == forms(runtime_objects(job))
    [listed] = listed_jobs(read_snapshot(cluster))
    assert (listed.fields, listed.drift, listed.is_outdated) == (given_fields(job), (), False)
    status = definition(cluster, job).status
    assert [one["status"] for one in status.conditions if one["type"] == "Ready"] == ["True"]


@pytest.mark.parametrize("type_", JobType)
def test_the_same_job_is_up_to_date(cluster: MemoryCluster, type_: JobType) -> None:
    job = job_of("web", type_)
    present(cluster, job)
    second_changer = changer(cluster)
    cluster.requests.clear()
    assert second_changer.present(job).action is Action.UNCHANGED
    assert cluster.requests == []


def test_a_health_check_that_an_earlier_release_has_rolled_out_stays(cluster: MemoryCluster) -> None:
    """It had another form of the same command."""
    job = job_of("web", port=None, health_check={"script": "true"})
    patch = {name: {"exec": {"command": [*SHELL, "true"]}} for name in ("startupProbe", "livenessProbe")}
    roll_out(cluster, job_of("web", port=None, health_check={"script": "true"}, container=patch))
    cluster.patch(*DEFINITION_KINDS[CONTINUOUS], "web", "shop", {"spec": {"container": None}})
    before = live(cluster, job)
    [listed] = listed_jobs(read_snapshot(cluster))
    assert (listed.fields, listed.drift, listed.is_outdated) == (given_fields(job), (), False)
    assert present(cluster, job).action is Action.UNCHANGED
    assert live(cluster, job) == before


@pytest.mark.parametrize("type_", JobType)
def test_deleted_runtime_objects_are_rebuilt_equal(cluster: MemoryCluster, type_: JobType) -> None:
    """Case 1."""
    job = job_of("web", type_, env={"A": "1"}, mount={"claim": "files"}, memory="1Gi")
    present(cluster, job)
    assert given_fields(definition(cluster, job).job) == given_fields(job)
    before = live(cluster, job)
    delete_runtime(cluster, job)
    if type_ is ONE_OFF:
        assert present(cluster, job).action is Action.UNCHANGED
        assert live(cluster, job) == []
        assert changer(cluster).restarted(job.key).action is Action.RESTARTED
    else:
        assert present(cluster, job).action is Action.UPDATED
    assert forms(live(cluster, job)) == forms(before)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda one: one.present(job_of("web", port=80)), id="unchanged"),
        pytest.param(lambda one: one.present(job_of("new", port=80)), id="new"),
        pytest.param(lambda one: one.present(job_of("web", image="nginx:2", port=80)), id="another image"),
        pytest.param(lambda one: one.present(job_of("web", port=None)), id="no port"),
        pytest.param(lambda one: one.present(job_of("web", SCHEDULED)), id="another type"),
        pytest.param(lambda one: one.present(job_of("daily", ONE_OFF)), id="another type of a scheduled one"),
        pytest.param(lambda one: one.present(job_of("once", ONE_OFF, image="busybox:2")), id="another run"),
        pytest.param(lambda one: one.absent(JobKey("shop", "web")), id="absent"),
        *(
            pytest.param(lambda one, name=name: one.suspended(JobKey("shop", name)), id=f"suspended {name}")
            for name in ("web", "daily", "once")
        ),
        *(
            pytest.param(lambda one, name=name: one.restarted(JobKey("shop", name)), id=f"restarted {name}")
            for name in ("web", "daily", "once")
        ),
    ],
)
def test_a_rehearsal_reports_what_the_change_does(
    cluster: MemoryCluster, change: Callable[[JobChanger], ChangeReport]
) -> None:
    for job in (job_of("web", port=80), job_of("daily", SCHEDULED), job_of("once", ONE_OFF)):
        present(cluster, job)
    cluster.requests.clear()
    rehearsed = change(changer(DryRunCluster(cluster)))
    assert not [one for one in cluster.requests if one.writes]
    assert change(changer(cluster)) == rehearsed


def test_a_rehearsal_is_refused_as_the_change_would_be(cluster: MemoryCluster) -> None:
    cluster.fail_when(lambda request: (request.verb, request.ref.kind) == ("create", "Deployment"), FORBIDDEN)
    rehearsed = changer(DryRunCluster(cluster)).present(job_of("web"))
    assert rehearsed.reason == "Forbidden"
    assert changer(cluster).present(job_of("web")) == rehearsed


def test_a_definition_of_another_type_that_others_create_meanwhile_counts(cluster: MemoryCluster) -> None:
    """The change goes on from theirs, as if it had been there before."""
    theirs = job_of("web", SCHEDULED)

    def create_theirs(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("create", DEFINITION_KINDS[CONTINUOUS][1]) and not others:
            others.append(create_definition(cluster, theirs))

    others: list[Object] = []
    hooked = HookedCluster(cluster, before=create_theirs)
    report = JobChanger(hooked, read_snapshot(cluster)).present(job_of("web"))
    assert (report.action, report.reason) == (Action.CREATED, "")
    snapshot = read_snapshot(cluster)
    assert [one.type for one in snapshot.definitions.values()] == [CONTINUOUS]
    assert (snapshot.replaced, snapshot.surplus) == ({}, {})


def test_a_deployment_that_comes_back_loses_the_service_that_it_no_longer_has(cluster: MemoryCluster) -> None:
    job = job_of("web", port=80)
    present(cluster, job)
    main, _service = live(cluster, job)
    cluster.delete(main["apiVersion"], main["kind"], "web", "shop")
    without_port = job_of("web", port=None)
    present(cluster, without_port)
    assert [one["kind"] for one in live(cluster, job)] == ["Deployment"]
    assert present(cluster, without_port).action is Action.UNCHANGED


def test_a_change_is_made_in_place(cluster: MemoryCluster) -> None:
    present(cluster, job_of("web"))
    before = live(cluster, job_of("web"))
    job = job_of("web", image="nginx:2", env={"A": "1"}, port=9090)
    assert present(cluster, job).action is Action.UPDATED
    assert forms(live(cluster, job)) == forms(runtime_objects(job))
    assert uids(live(cluster, job)) == uids(before)


def test_a_job_without_its_port_has_no_service(cluster: MemoryCluster) -> None:
    present(cluster, job_of("web"))
    job = job_of("web", port=None)
    present(cluster, job)
    assert [obj["kind"] for obj in live(cluster, job)] == ["Deployment"]


def test_a_one_off_job_is_replaced_and_runs_again_if_its_fields_change(cluster: MemoryCluster) -> None:
    present(cluster, job_of("once", ONE_OFF))
    before = live(cluster, job_of("once", ONE_OFF))
    job = job_of("once", ONE_OFF, image="busybox:2")
    assert present(cluster, job).action is Action.UPDATED
    after = live(cluster, job)
    assert uids(after) != uids(before)
    assert forms(after) == forms(runtime_objects(job))


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_finished_one_off_job_runs_again_only_for_fields_that_matter(
    cluster: MemoryCluster, is_gone: bool
) -> None:
    job = job_of("once", ONE_OFF)
    present(cluster, job)
    finish(cluster, job)
    before = live(cluster, job)
    assert present(cluster, job).action is Action.UNCHANGED
    if is_gone:
        delete_runtime(cluster, job)
    present(cluster, job_of("once", ONE_OFF, emails="all", retry=3))
    assert uids(live(cluster, job)) == ([] if is_gone else uids(before))
    new = job_of("once", ONE_OFF, emails="all", retry=3, command="false")
    assert present(cluster, new).changed
    [after] = live(cluster, job)
    assert after["metadata"]["uid"] not in uids(before)
    status = definition(cluster, job).status
    assert (status.run, [(one["run"], one["succeeded"]) for one in status.history]) == (2, [(1, True)])


def test_a_finished_one_off_job_runs_again_for_a_field_that_could_be_changed_in_place(
    cluster: MemoryCluster,
) -> None:
    present(cluster, job_of("once", ONE_OFF))
    finish(cluster, job_of("once", ONE_OFF))
    [before] = live(cluster, job_of("once", ONE_OFF))
    job = job_of("once", ONE_OFF, timeout=60)
    assert present(cluster, job).changed
    [after] = live(cluster, job)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


def test_a_job_whose_status_does_not_say_what_ran_runs_again_only_if_it_changes(
    cluster: MemoryCluster,
) -> None:
    job = job_of("once", ONE_OFF)
    roll_out(cluster, job)
    delete_runtime(cluster, job)
    assert not present(cluster, job).changed
    assert live(cluster, job) == []
    assert present(cluster, job_of("once", ONE_OFF, command="false")).changed
    assert len(live(cluster, job)) == 1


def test_one_changer_reads_again_what_it_has_changed(cluster: MemoryCluster) -> None:
    job = job_of("web")
    one = changer(cluster)
    changes = (one.present, one.present, lambda _job: one.absent(job.key), lambda _job: one.absent(job.key))
    actions = [change(job).action for change in changes]
    assert actions == [Action.CREATED, Action.UNCHANGED, Action.DELETED, Action.UNCHANGED]


def test_a_job_without_its_namespace_is_refused() -> None:
    report = present(new_cluster(namespace_named("cart")), job_of("web", ONE_OFF))
    assert (report.action, report.changed) == (Action.REFUSED, False)
    assert report.message == "namespace shop does not exist. Create it first"


def test_an_object_that_a_finalizer_holds_is_named(cluster: MemoryCluster) -> None:
    job = job_of("once", ONE_OFF)
    present(cluster, job)
    patch_runtime(cluster, job, {"metadata": {"finalizers": ["example.com/hold"]}})
    impatient_changer = JobChanger(cluster, read_snapshot(cluster), timeout=0.1)
    report = impatient_changer.present(job_of("once", ONE_OFF, command="false"))
    assert (report.action, report.changed) == (Action.REFUSED, True)
    assert "Job shop/once still exists" in report.message
    assert report.message.endswith("By then: definition updated")


def test_an_absent_job_waits_for_a_service_whose_deployment_others_have_deleted(
    cluster: MemoryCluster,
) -> None:
    job = job_of("web")
    present(cluster, job)
    cluster.delete("apps/v1", "Deployment", "web", "shop")
    cluster.patch("v1", "Service", "web", "shop", {"metadata": {"finalizers": ["example.com/hold"]}})
    report = JobChanger(cluster, read_snapshot(cluster), timeout=0.1).absent(job.key)
    assert (report.action, "Service shop/web still exists" in report.message) == (Action.REFUSED, True)
    assert read_snapshot(cluster).definitions
    cluster.patch("v1", "Service", "web", "shop", {"metadata": {"finalizers": None}})
    assert changer(cluster).absent(job.key).action is Action.DELETED
    assert not read_snapshot(cluster).definitions


def test_an_adopted_job_that_has_finished_does_not_run_again_for_its_emails(cluster: MemoryCluster) -> None:
    job = job_of("once", ONE_OFF)
    create_runtime(cluster, job)
    finish(cluster, job)
    before = live(cluster, job)
    adopted = listed_jobs(read_snapshot(cluster))[0].fields
    report = present(cluster, job_of("once", ONE_OFF, **{**adopted, "retry": 2, "emails": "all"}))
    assert (report.action, uids(live(cluster, job))) == (Action.UPDATED, uids(before))


def test_drift_is_put_back(cluster: MemoryCluster) -> None:
    job = job_of("web")
    present(cluster, job)
    patch_runtime(cluster, job, {"spec": {"replicas": 5}})
    assert present(cluster, job).action is Action.UPDATED
    assert forms(live(cluster, job)) == forms(runtime_objects(job))
    assert present(cluster, job).action is Action.UNCHANGED


def test_labels_of_others_and_scaled_replicas_stay(cluster: MemoryCluster) -> None:
    job = job_of("web")
    present(cluster, job)
    patch_runtime(cluster, job, {"metadata": {"annotations": {"team": "blue"}}})
    [deployment, _service] = live(cluster, job)
    fields = [*deployment["metadata"]["managedFields"]]
    fields.append(
        {
            "manager": "kube-controller-manager",
            "operation": "Update",
            "apiVersion": "apps/v1",
            "subresource": "scale",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:spec": {"f:replicas": {}}},
        }
    )
    for one in fields[:-1]:
        one.get("fieldsV1", {}).get("f:spec", {}).pop("f:replicas", None)
    scaled = {**deployment, "spec": {**deployment["spec"], "replicas": 7}}
    scaled["metadata"] = {**deployment["metadata"], "managedFields": fields}
    cluster.delete("apps/v1", "Deployment", "web", "shop")
    cluster.seed(scaled)
    assert present(cluster, job_of("web", image="nginx:2")).changed
    [deployment, _service] = live(cluster, job)
    assert deployment["spec"]["replicas"] == 7
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == "nginx:2"
    assert deployment["metadata"]["annotations"] == {"team": "blue"}
    changer(cluster).suspended(job.key)
    assert live(cluster, job)[0]["spec"]["replicas"] == 0


def test_a_selector_that_changes_replaces_the_deployment(cluster: MemoryCluster) -> None:
    present(cluster, job_of("web"))
    before = live(cluster, job_of("web"))
    labels = {"app": "web"}
    workload = {"spec": {"selector": {"matchLabels": labels}}}
    job = job_of("web", workload=workload, pod={"metadata": {"labels": labels}})
    assert present(cluster, job).action is Action.REPLACED
    after = live(cluster, job)
    assert forms(after) == forms(runtime_objects(job))
    assert (after[0]["metadata"]["uid"] != uids(before)[0], uids(after)[1:]) == (True, uids(before)[1:])


@pytest.mark.parametrize("type_", JobType)
def test_a_job_is_suspended_and_goes_on(cluster: MemoryCluster, type_: JobType) -> None:
    job = job_of("web", type_)
    present(cluster, job)
    assert changer(cluster).suspended(job.key).action is Action.SUSPENDED
    suspended = job_of("web", type_, suspend=True)
    assert forms(live(cluster, job)) == forms(runtime_objects(suspended))
    assert given_fields(definition(cluster, job).job) == given_fields(suspended)
    assert changer(cluster).suspended(job.key).action is Action.UNCHANGED
    assert changer(cluster).suspended(job.key, False).action is Action.UPDATED
    assert forms(live(cluster, job)) == forms(runtime_objects(job))


def test_a_continuous_job_is_restarted_without_drift(cluster: MemoryCluster) -> None:
    job = job_of("web")
    present(cluster, job)
    assert changer(cluster).restarted(job.key).action is Action.RESTARTED
    template = live(cluster, job)[0]["spec"]["template"]
    assert RESTARTED_AT in template["metadata"]["annotations"]
    assert present(cluster, job).action is Action.UNCHANGED
    present(cluster, job_of("web", image="nginx:2"))
    assert live(cluster, job)[0]["spec"]["template"]["metadata"] == template["metadata"]


def test_a_scheduled_job_is_run_now_instead_of_what_still_runs(cluster: MemoryCluster) -> None:
    job = job_of("nightly", SCHEDULED)
    present(cluster, job)
    for _time in range(2):
        assert changer(cluster).restarted(job.key).action is Action.RESTARTED
    [run] = cluster.list("batch/v1", "Job", "shop").items
    [cron_job] = live(cluster, job)
    owner = run["metadata"]["ownerReferences"][0]
    assert (owner["uid"], owner["controller"]) == (cron_job["metadata"]["uid"], True)
    assert run["metadata"]["name"].startswith("nightly-")
    assert run["metadata"]["annotations"] == {"cronjob.kubernetes.io/instantiate": "manual"}
    assert run["spec"] == cron_job["spec"]["jobTemplate"]["spec"]
    assert len(listed_jobs(read_snapshot(cluster))) == 1


def test_a_one_off_job_is_restarted_once_more(cluster: MemoryCluster) -> None:
    job = job_of("once", ONE_OFF)
    present(cluster, job)
    before = live(cluster, job)
    assert changer(cluster).restarted(job.key).action is Action.RESTARTED
    after = live(cluster, job)
    assert (forms(after), uids(after) != uids(before)) == (forms(before), True)
    assert present(cluster, job).action is Action.UNCHANGED


@pytest.mark.parametrize("type_", JobType)
def test_an_absent_job_leaves_nothing(cluster: MemoryCluster, type_: JobType) -> None:
    job = job_of("web", type_)
    present(cluster, job)
    report = changer(cluster).absent(job.key)
    assert (report.action, report.after) == (Action.DELETED, None)
    assert live(cluster, job) == []
    assert not read_snapshot(cluster).definitions
    assert changer(cluster).absent(job.key).action is Action.UNCHANGED


def test_a_service_whose_deployment_others_have_deleted_is_taken_over_or_deleted(
    cluster: MemoryCluster,
) -> None:
    job = job_of("web")
    present(cluster, job)
    cluster.delete("apps/v1", "Deployment", "web", "shop")
    assert present(cluster, job).changed
    assert forms(live(cluster, job)) == forms(runtime_objects(job))
    cluster.delete("apps/v1", "Deployment", "web", "shop")
    assert changer(cluster).absent(job.key).action is Action.DELETED
    assert live(cluster, job) == []


@pytest.mark.parametrize("type_", JobType)
def test_a_job_made_by_hand_is_adopted_and_then_changed(cluster: MemoryCluster, type_: JobType) -> None:
    create_runtime(cluster, job_of("web", type_))
    job = job_of("web", type_, image="other:1")
    report = present(cluster, job)
    assert report.action is Action.UPDATED
    assert report.before
    assert report.before["image"] == job_of("web", type_).image
    assert forms(live(cluster, job)) == forms(runtime_objects(job))


def test_a_job_of_another_type_that_is_unknown_becomes_the_job(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web", SCHEDULED))
    assert present(cluster, job_of("web")).changed
    assert live(cluster, job_of("web", SCHEDULED)) == []
    assert len(live(cluster, job_of("web"))) == 2


def test_an_unknown_job_is_not_adopted_where_it_is_ignored(cluster: MemoryCluster) -> None:
    write_switches(cluster, StoreSwitches(unknown_jobs=UnknownJobs.IGNORE))
    create_runtime(cluster, job_of("web"))
    for change in (changer(cluster).restarted, changer(cluster).suspended):
        assert change(job_of("web").key).action is Action.REFUSED
    assert present(cluster, job_of("web", SCHEDULED)).action is Action.REFUSED
    assert not read_snapshot(cluster).definitions
    assert present(cluster, job_of("web", image="nginx:2")).action is Action.CREATED


def test_a_definition_of_a_newer_version_is_refused(cluster: MemoryCluster) -> None:
    job = job_of("web")
    create_definition(cluster, job)
    label = {"metadata": {"labels": {STORAGE_VERSION_LABEL: "99"}}}
    cluster.patch(*DEFINITION_KINDS[CONTINUOUS], "web", "shop", label)
    cluster.requests.clear()
    job_changer = changer(cluster)
    for report in (job_changer.present(job), job_changer.absent(job.key), job_changer.restarted(job.key)):
        assert report.action is Action.REFUSED
        assert "99" in report.message
    assert not [one for one in cluster.requests if one.writes]


def test_a_job_that_has_a_controller_is_refused(cluster: MemoryCluster) -> None:
    [job] = runtime_objects(job_of("once", ONE_OFF))
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "x", "uid": "1", "controller": True}
    job["metadata"]["ownerReferences"] = [owner]
    cluster.seed(job)
    job_changer = changer(cluster)
    key = job_of("once").key
    for report in (
        job_changer.present(job_of("once", ONE_OFF)),
        job_changer.absent(key),
        job_changer.restarted(key),
    ):
        assert report.action is Action.REFUSED
        assert "CronJob x" in report.message


def test_a_job_that_does_not_exist_can_be_neither_restarted_nor_suspended(cluster: MemoryCluster) -> None:
    for change in (changer(cluster).restarted, changer(cluster).suspended):
        report = change(job_of("web").key)
        assert (report.action, report.message) == (Action.REFUSED, "There is no job shop/web.")


def test_a_change_that_a_mapping_hides_is_a_warning(cluster: MemoryCluster) -> None:
    ports = [{"name": "http", "port": 80, "targetPort": 80}]
    hiding = {"service": {"spec": {"ports": ports}}, "container": {"ports": [{"containerPort": 80}]}}
    job = job_of("web", **hiding)
    present(cluster, job)
    assert present(cluster, job).warnings == ()
    [warning] = present(cluster, job_of("web", port=81, **hiding)).warnings
    assert warning == (
        "job shop/web: the new port has no effect, as its fields in the form of Kubernetes set the same."
    )


SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"selector": {JOB_LABEL: "web"}, "ports": [{"port": 80}]},
}


def test_a_service_that_others_have_made_for_a_job_stays(cluster: MemoryCluster) -> None:
    job = job_of("web", port=None)
    present(cluster, job)
    cluster.with_field_manager("kubectl-expose").create(SERVICE)
    assert present(cluster, job).action is Action.UNCHANGED
    JobChanger(cluster, read_snapshot(cluster)).suspended(job.key)
    JobChanger(cluster, read_snapshot(cluster)).absent(job.key)
    assert cluster.get("v1", "Service", "web", "shop")
    assert cluster.get("apps/v1", "Deployment", "web", "shop") is None


def test_a_default_that_is_written_down_runs_no_one_off_job_again(cluster: MemoryCluster) -> None:
    present(cluster, job_of("once", ONE_OFF))
    delete_runtime(cluster, job_of("once", ONE_OFF))
    present(cluster, job_of("once", ONE_OFF, memory="0.5Gi", env={}))
    assert live(cluster, job_of("once", ONE_OFF)) == []


def test_an_imported_job_that_is_gone_does_not_run_again_for_the_same_fields(cluster: MemoryCluster) -> None:
    job = job_of("once", ONE_OFF)
    create_runtime(cluster, job)
    finish(cluster, job)
    import_jobs(cluster, read_snapshot(cluster), rewrite=False)
    delete_runtime(cluster, job)
    present(cluster, job)
    assert live(cluster, job) == []


def test_a_suspended_one_off_job_has_not_run(cluster: MemoryCluster) -> None:
    job = job_of("once", ONE_OFF, suspend=True)
    present(cluster, job)
    delete_runtime(cluster, job)
    assert definition(cluster, job).status.run == 0
    present(cluster, job_of("once", ONE_OFF))
    assert definition(cluster, job).status.run == 1
    assert len(live(cluster, job)) == 1


@pytest.mark.parametrize("type_", [ONE_OFF, CONTINUOUS])
def test_a_suspended_job_is_not_restarted(cluster: MemoryCluster, type_: JobType) -> None:
    job = job_of("web", type_, suspend=True)
    present(cluster, job)
    report = JobChanger(cluster, read_snapshot(cluster)).restarted(job.key)
    assert (report.action, report.changed) == (Action.REFUSED, False)
    assert "It is suspended, so nothing would run" in report.message


def test_a_scheduled_job_without_its_cron_job_is_rolled_out_and_run(cluster: MemoryCluster) -> None:
    job = job_of("web", SCHEDULED)
    present(cluster, job)
    delete_runtime(cluster, job)
    assert JobChanger(cluster, read_snapshot(cluster)).restarted(job.key).action is Action.RESTARTED
    [run] = cluster.list("batch/v1", "Job", "shop").items
    assert run["metadata"]["annotations"]["cronjob.kubernetes.io/instantiate"] == "manual"


def test_an_object_that_others_create_after_a_change_of_type_is_theirs(cluster: MemoryCluster) -> None:
    """The last write of the change was lost: the definition still names the one that it replaced."""
    new = job_of("web", CONTINUOUS)
    create_definition(cluster, new, replaces=SCHEDULED)
    create_runtime(cluster, new)
    create_runtime(cluster, job_of("web", SCHEDULED))
    present(cluster, new)
    assert definition(cluster, new).replaces is None
    assert cluster.get("batch/v1", "CronJob", "web", "shop")


def test_a_name_with_two_definitions_is_refused(cluster: MemoryCluster) -> None:
    present(cluster, job_of("web", SCHEDULED))
    create_definition(cluster, job_of("web", CONTINUOUS))
    for type_ in (SCHEDULED, CONTINUOUS):
        report = present(cluster, job_of("web", type_, image="nginx:2"))
        assert (report.action, report.changed) == (Action.REFUSED, False)
        assert "has the same name, and only" in report.message
        assert {"ContinuousJob shop/web", "ScheduledJob shop/web"} <= {
            " ".join(pair) for pair in zip(report.message.split(), report.message.split()[1:], strict=False)
        }


def test_a_webhook_that_changes_what_we_write_is_no_drift(cluster: MemoryCluster) -> None:
    job = job_of("web")
    present(cluster, job)
    # What a webhook adds to our request belongs to our field manager.
    patch_runtime(cluster, job, {"spec": {"template": {"spec": {"priorityClassName": "low"}}}}, STORE)
    [listed] = listed_jobs(read_snapshot(cluster))
    assert listed.drift == ()
    assert present(cluster, job).action is Action.UNCHANGED
    patch_runtime(cluster, job, {"spec": {"template": {"spec": {"priorityClassName": "high"}}}})
    [listed] = listed_jobs(read_snapshot(cluster))
    assert [one.field for one in listed.drift] == ["spec.template.spec.priorityClassName"]


def test_a_restart_that_is_refused_keeps_how_the_last_run_ended(cluster: MemoryCluster) -> None:
    job = job_of("once", ONE_OFF)
    present(cluster, job)
    finish(cluster, job)
    denied = api_error("create it", 400, {"reason": "BadRequest", "message": "no"})
    cluster.fail_when(lambda request: (request.verb, request.ref.kind) == ("create", "Job"), denied)
    report = JobChanger(cluster, read_snapshot(cluster)).restarted(job.key)
    assert (report.action, report.changed) == (Action.REFUSED, True)
    status = definition(cluster, job).status
    assert (status.run, [(one["run"], one["succeeded"]) for one in status.history]) == (1, [(1, True)])


def patches_of(cluster: MemoryCluster, job: CoreJob) -> Object:
    """The merge patch by which a change reaches the main object."""
    hooked = HookedCluster(cluster)
    assert JobChanger(hooked, read_snapshot(cluster)).present(job).action is Action.UPDATED
    [patch] = [one.patch for one in hooked.calls if (one.verb, one.kind) == ("patch", "Deployment")]
    assert isinstance(patch, dict)
    return dict(patch["spec"])


def test_defaults_of_a_value_that_goes_are_taken_away_with_it(cluster: MemoryCluster) -> None:
    present(cluster, job_of("web", pod={"spec": {"serviceAccountName": "shop"}}))
    # As the API server sets them.
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}
    defaults = {"spec": {"strategy": rolling, "template": {"spec": {"serviceAccount": "shop"}}}}
    patch_runtime(cluster, job_of("web"), defaults, "kube-apiserver")
    recreate = {"strategy": {"type": "Recreate"}}
    patch = patches_of(cluster, job_of("web", workload={"spec": recreate}))
    assert patch["strategy"] == {"type": "Recreate", "rollingUpdate": None}
    assert patch["template"]["spec"] == {"serviceAccountName": None, "serviceAccount": None}
