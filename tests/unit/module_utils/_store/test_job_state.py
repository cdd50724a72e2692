# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a job stands: what runs, what has drifted, and what is outdated."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models import defaults
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import CoreJob, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.drift import DriftedField
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import core_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.runtime_objects import (
    runtime_objects,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
    StoredDefinition,
    definition_object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.stored_status import (
    RUN,
    StoredStatus,
    WrittenObject,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_outcome import JobOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import job_state
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_state import (
    JobState,
    definition_state,
    is_missing,
    is_outdated,
    job_drift,
    run_outcome,
    runtime_state,
    with_runs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import RuntimeJob, read_snapshot
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.job_store import (
    create_definition,
    create_runtime,
    delete_runtime,
    job_of,
    note_status,
    patch_runtime,
    roll_out,
    store_cluster,
)


@pytest.fixture
def cluster() -> MemoryCluster:
    return store_cluster()


def read(cluster: MemoryCluster, job: CoreJob) -> tuple[StoredDefinition, RuntimeJob | None]:
    snapshot = read_snapshot(cluster)
    assert snapshot.warnings == ()
    definition = snapshot.definitions[job.key]
    return definition, snapshot.runtime_of(definition)


def drift(cluster: MemoryCluster, job: CoreJob) -> tuple[DriftedField, ...]:
    definition, runtime = read(cluster, job)
    assert runtime is not None
    return job_drift(definition, runtime)


@pytest.mark.parametrize("type_", JobType)
def test_a_job_that_was_rolled_out_has_not_drifted(cluster: MemoryCluster, type_: JobType) -> None:
    job = job_of("web", type_, env={"A": "1"}, mount={"claim": "data", "path": "/data"})
    roll_out(cluster, job)
    assert drift(cluster, job) == ()
    assert not is_outdated(read(cluster, job)[0])
    # Its resourceVersion moves, and none of its fields.
    patch_runtime(cluster, job, {"status": {"observedGeneration": 7}}, "kube-controller-manager")
    assert drift(cluster, job) == ()


def test_a_deployment_that_was_scaled_by_hand_has_drifted(cluster: MemoryCluster) -> None:
    job = job_of("web", replicas=2)
    roll_out(cluster, job)
    patch_runtime(cluster, job, {"spec": {"replicas": 5}}, manager="kubectl")
    [field] = drift(cluster, job)
    assert str(field.ref) == "Deployment shop/web"
    assert (field.field, field.expected, field.actual, field.manager) == ("spec.replicas", 2, 5, "kubectl")
    patch_runtime(cluster, job, {"spec": {"replicas": 2}})
    assert drift(cluster, job) == ()


def test_the_churn_of_a_status_is_no_drift(cluster: MemoryCluster) -> None:
    job = job_of("web")
    roll_out(cluster, job)
    before = read(cluster, job)[1]
    patch_runtime(cluster, job, {"status": {"replicas": 2, "readyReplicas": 1}}, "kube-controller-manager")
    after = read(cluster, job)[1]
    assert before is not None
    assert after is not None
    assert before.main["metadata"]["resourceVersion"] != after.main["metadata"]["resourceVersion"]
    assert drift(cluster, job) == ()


def test_a_number_of_replicas_that_an_autoscaler_sets_is_no_drift(cluster: MemoryCluster) -> None:
    job = job_of("web")
    roll_out(cluster, job)
    patch_runtime(cluster, job, {"spec": {"replicas": 7}}, "kube-controller-manager")
    definition, runtime = read(cluster, job)
    assert runtime is not None
    for entry in runtime.main["metadata"]["managedFields"]:
        if entry["manager"] == "kube-controller-manager":
            entry["subresource"] = "scale"
    assert job_drift(definition, runtime) == ()


def test_a_service_that_is_gone_is_a_drift(cluster: MemoryCluster) -> None:
    job = job_of("web", port=80)
    roll_out(cluster, job)
    cluster.delete("v1", "Service", "web", "shop")
    [absence] = drift(cluster, job)
    assert (str(absence.ref), absence.field, absence.expected, absence.actual) == (
        "Service shop/web",
        "",
        "present",
        "absent",
    )


def test_a_service_of_another_owner_is_no_drift(cluster: MemoryCluster) -> None:
    job = job_of("web", port=None)
    [main] = roll_out(cluster, job)
    spec = {"selector": main["spec"]["selector"]["matchLabels"], "ports": [{"port": 80}]}
    meta = {"name": "web", "namespace": "shop"}
    cluster.create({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
    assert drift(cluster, job) == ()


@pytest.fixture
def new_defaults(monkeypatch: pytest.MonkeyPatch) -> int:
    newest = defaults.CURRENT_DEFAULTS + 1
    table = {**defaults.DEFAULTS[defaults.CURRENT_DEFAULTS], "memory": "1Gi"}
    monkeypatch.setattr(defaults, "DEFAULTS", MappingProxyType({**defaults.DEFAULTS, newest: table}))
    monkeypatch.setattr(job_state, "CURRENT_DEFAULTS", newest)
    return newest


def memory(obj: Object) -> Any:
    return obj["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]["memory"]


def test_a_new_default_makes_jobs_outdated_and_lets_none_drift(
    cluster: MemoryCluster, request: pytest.FixtureRequest
) -> None:
    job, own = job_of("web", memory=None), job_of("own", memory="2Gi")
    roll_out(cluster, job)
    roll_out(cluster, own)
    newest = request.getfixturevalue("new_defaults")
    # Its resourceVersion moves, so that the fields are compared.
    patch_runtime(cluster, job, {"status": {"observedGeneration": 7}}, "kube-controller-manager")
    definition = read(cluster, job)[0]
    assert is_outdated(definition)
    assert drift(cluster, job) == ()
    assert memory(runtime_objects(definition.job, definition.release)[0]) == "512Mi"
    assert memory(runtime_objects(definition.job, newest)[0]) == "1Gi"
    assert not is_outdated(read(cluster, own)[0])


def test_a_change_that_was_not_rolled_out_is_outdated_and_no_drift(cluster: MemoryCluster) -> None:
    job = job_of("web", image="nginx:1", port=None)
    roll_out(cluster, job)
    definition = read(cluster, job)[0]
    changed = core_job(job.key, job.type, {"image": "nginx:2", "command": "serve", "replicas": 2, "port": 80})
    obj = definition_object(changed, definition.obj)
    kind = DEFINITION_KINDS[job.type]
    cluster.patch(*kind, "web", "shop", {"spec": obj["spec"]})
    assert drift(cluster, job) == ()
    assert is_outdated(read(cluster, job)[0])
    patch_runtime(cluster, job, {"spec": {"replicas": 9}}, manager="kubectl-scale")
    assert [(one.field, one.manager) for one in drift(cluster, job)] == [("spec.replicas", "kubectl-scale")]


def test_a_definition_that_was_never_rolled_out_is_not_outdated(cluster: MemoryCluster) -> None:
    job = job_of("web")
    create_definition(cluster, job)
    create_runtime(cluster, job)
    assert not is_outdated(read(cluster, job)[0])
    assert drift(cluster, job) == ()


def test_a_job_that_was_never_rolled_out_is_not_outdated_by_a_new_default(
    cluster: MemoryCluster, request: pytest.FixtureRequest
) -> None:
    job = job_of("web", memory=None)
    create_definition(cluster, job)
    note_status(cluster, job, create_runtime(cluster, job), objects=())
    request.getfixturevalue("new_defaults")
    definition = read(cluster, job)[0]
    assert definition.status.defaults
    assert not is_outdated(definition)


def test_a_job_that_was_never_rolled_out_drifts_from_its_desired_objects(cluster: MemoryCluster) -> None:
    job = job_of("web")
    create_definition(cluster, job)
    create_runtime(cluster, job)
    cluster.delete("v1", "Service", "web", "shop")
    assert [str(one.ref) for one in drift(cluster, job)] == ["Service shop/web"]


@pytest.mark.parametrize("type_", JobType)
def test_a_definition_without_its_job_is_missing(cluster: MemoryCluster, type_: JobType) -> None:
    job = job_of("web", type_)
    create_definition(cluster, job)
    definition, runtime = read(cluster, job)
    assert is_missing(definition, runtime)
    assert definition_state(definition) is JobState.MISSING


@pytest.mark.parametrize(
    ("runs", "state"),
    [
        ([{"run": 2, "succeeded": False}], "failed"),
        ([{"run": 2, "succeeded": True}, {"run": 1, "succeeded": False}], "finished"),
        # How the last one ended is not known.
        ([{"run": 1, "succeeded": False}], "finished"),
        ([], "finished"),
    ],
)
def test_a_one_off_job_that_has_run_is_not_missing(
    cluster: MemoryCluster, runs: list[Object], state: str
) -> None:
    job = job_of("once", JobType.ONE_OFF)
    roll_out(cluster, job, run=2, history=tuple(runs))
    delete_runtime(cluster, job)
    definition, runtime = read(cluster, job)
    assert runtime is None
    assert not is_missing(definition, runtime)
    assert definition_state(definition) == state


def condition(type_: str, **more: str) -> Object:
    return {"type": type_, "status": "True", **more}


AVAILABLE = {
    "observedGeneration": 1,
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 2,
    "availableReplicas": 2,
    "conditions": [condition("Available")],
}
STUCK = {
    "observedGeneration": 1,
    "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}],
}
STATES: list[tuple[JobType, Object, Object, str]] = [
    (JobType.ONE_OFF, {}, {}, "starting"),
    (JobType.ONE_OFF, {}, {"active": 1, "ready": 1}, "running"),
    (JobType.ONE_OFF, {"suspend": True}, {}, "suspended"),
    (JobType.ONE_OFF, {}, {"conditions": [condition("Complete")]}, "finished"),
    (JobType.ONE_OFF, {}, {"conditions": [condition("Failed")]}, "failed"),
    (JobType.ONE_OFF, {}, {"conditions": [{"type": "Failed", "status": "False"}]}, "starting"),
    (JobType.ONE_OFF, {"suspend": True}, {"conditions": [condition("Complete")]}, "finished"),
    (JobType.SCHEDULED, {}, {}, "scheduled"),
    (JobType.SCHEDULED, {"suspend": True}, {}, "suspended"),
    (JobType.SCHEDULED, {}, {"active": [{"name": "web-1"}]}, "running"),
    (JobType.CONTINUOUS, {"replicas": 2}, {}, "starting"),
    (JobType.CONTINUOUS, {"replicas": 2}, AVAILABLE, "running"),
    (JobType.CONTINUOUS, {"replicas": 2}, STUCK, "failed"),
    (JobType.CONTINUOUS, {"replicas": 0}, {}, "suspended"),
    (JobType.CONTINUOUS, {"replicas": 2}, "odd", "starting"),
]


def runtime_of(type_: JobType, spec: object, status: object, **meta: Any) -> RuntimeJob:
    kind = {JobType.ONE_OFF: "Job", JobType.SCHEDULED: "CronJob", JobType.CONTINUOUS: "Deployment"}[type_]
    metadata = {"name": "web", "namespace": "shop", "generation": 1, **meta}
    api_version = "apps/v1" if type_ is JobType.CONTINUOUS else "batch/v1"
    main = {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec, "status": status}
    return RuntimeJob(type_, main)


@pytest.mark.parametrize(("type_", "spec", "status", "state"), STATES)
def test_the_state_of_what_runs(type_: JobType, spec: Object, status: Object, state: str) -> None:
    assert runtime_state(runtime_of(type_, spec, status)) == state


def test_a_job_that_is_being_deleted_is_in_no_other_state() -> None:
    runtime = runtime_of(JobType.SCHEDULED, {}, {}, deletionTimestamp="2026-01-01T00:00:00Z")
    assert runtime.is_deleting
    assert runtime_state(runtime) is JobState.DELETING


def test_the_outcome_of_a_one_off_job_is_that_of_its_job() -> None:
    times = {"startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:00:09Z"}
    done = runtime_of(JobType.ONE_OFF, {}, {"conditions": [condition("Complete")], **times})
    outcome = run_outcome(done)
    assert outcome == JobOutcome(
        True, "Completed", exit_code=0, started="2026-01-01T00:00:00Z", finished="2026-01-01T00:00:09Z"
    )
    assert outcome.seconds == 9
    end = condition(
        "Failed",
        reason="BackoffLimitExceeded",
        message="too many\nretries",
        lastTransitionTime="2026-01-02T00:00:00Z",
    )
    assert run_outcome(runtime_of(JobType.ONE_OFF, {}, {"conditions": [end]})) == JobOutcome(
        False, "BackoffLimitExceeded", "too many retries", finished="2026-01-02T00:00:00Z"
    )
    assert run_outcome(runtime_of(JobType.ONE_OFF, {}, {})) is None
    assert run_outcome(runtime_of(JobType.CONTINUOUS, {}, {"conditions": [condition("Complete")]})) is None


COMPLETE = {"conditions": [condition("Complete")]}


def test_runs_are_numbered_and_their_ends_are_recorded() -> None:
    first = runtime_of(JobType.ONE_OFF, {}, {}, uid="a")
    status = with_runs(StoredStatus(), first)
    assert (status.run, status.history) == (1, ())
    status = replace(status, objects=(WrittenObject(RUN, "web", "a"),))
    assert with_runs(status, first) == status
    status = with_runs(status, runtime_of(JobType.ONE_OFF, {}, COMPLETE, uid="a"))
    assert [(one["run"], one["succeeded"]) for one in status.history] == [(1, True)]

    # Its Job is gone, and then there is another one.
    assert with_runs(status, None) == status
    failed = JobOutcome(False, "BackoffLimitExceeded")
    status = with_runs(status, runtime_of(JobType.ONE_OFF, {}, {}, uid="b"), failed)
    assert (status.run, [(one["run"], one["succeeded"]) for one in status.history]) == (2, [(1, False)])


def test_a_run_that_ended_before_it_was_recorded_is_the_first() -> None:
    status = with_runs(StoredStatus(), None, JobOutcome(True, "Completed"))
    assert (status.run, [one["run"] for one in status.history]) == (1, [1])


def test_other_types_have_no_runs() -> None:
    for type_ in (JobType.SCHEDULED, JobType.CONTINUOUS):
        assert with_runs(StoredStatus(), runtime_of(type_, {}, COMPLETE)) == StoredStatus()
