# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at all jobs: what is a job, which definition counts, and how many requests it takes."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    MANAGED_BY,
    Object,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Forbidden,
    Invalid,
    api_error,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import errand_model
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.meter import MeteredCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import snapshot as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import (
    COUNTER_KIND,
    COUNTER_NAME,
    JobCounter,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import (
    StoreSnapshot,
    read_snapshot,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    SourceOfTruth,
    StoreSwitches,
    UnknownJobs,
    write_switches,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.job_store import (
    create_definition,
    create_runtime,
    job_of,
    roll_out,
    store_cluster,
)

KINDS = 9
"""Three of definitions, Job, CronJob, Deployment, Service, JobCounter and JobStore."""
OWNER = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "uid": "u", "controller": True}


@pytest.fixture
def cluster() -> MemoryCluster:
    return store_cluster()


def names(snapshot: StoreSnapshot) -> set[str]:
    return {str(key) for key, _type in snapshot.runtime}


def relabel(
    cluster: MemoryCluster, kind: tuple[str, str], name: str, namespace: str = "shop", **meta: Any
) -> None:
    cluster.patch(*kind, name, namespace, {"metadata": meta})


def test_500_jobs_in_50_namespaces_take_as_many_requests_as_there_are_kinds(cluster: MemoryCluster) -> None:
    types = list(JobType)
    for number in range(500):
        job = job_of(f"job-{number}", types[number % 3], f"tenant-{number % 50}")
        create_definition(cluster, job)
        create_runtime(cluster, job)
    metered = MeteredCluster(cluster)
    snapshot = read_snapshot(metered)
    assert (len(snapshot.definitions), len(snapshot.runtime)) == (500, 500)
    assert metered.meter.calls == {"list": KINDS - 1, "get": 1}


def test_a_cluster_without_the_definitions_has_its_jobs_all_the_same() -> None:
    cluster = MemoryCluster()
    create_runtime(cluster, job_of("web"))
    snapshot = read_snapshot(cluster)
    assert (names(snapshot), snapshot.definitions, snapshot.store) == ({"shop/web"}, {}, StoreSwitches())


def test_given_namespaces_are_read_alone(cluster: MemoryCluster) -> None:
    for namespace in ("a", "b", "c"):
        create_runtime(cluster, job_of("web", namespace=namespace))
    metered = MeteredCluster(cluster)
    snapshot = read_snapshot(metered, ["a", "b", "a"])
    assert (names(snapshot), snapshot.namespaces) == ({"a/web", "b/web"}, ("a", "b"))
    assert metered.meter.calls == {"list": 2 * (KINDS - 1), "get": 1}


def test_a_job_has_a_key_a_type_and_its_service(cluster: MemoryCluster) -> None:
    for type_ in JobType:
        create_runtime(cluster, job_of(type_.replace("-", ""), type_))
    snapshot = read_snapshot(cluster)
    types = {str(one.key): (one.type, one.service is not None) for one in snapshot.runtime.values()}
    assert types == {
        "shop/oneoff": (JobType.ONE_OFF, False),
        "shop/scheduled": (JobType.SCHEDULED, False),
        "shop/continuous": (JobType.CONTINUOUS, True),
    }
    assert all(one.uid and not one.is_deleting for one in snapshot.runtime.values())
    assert snapshot.uids == {"shop": {one.uid for one in snapshot.runtime.values()}}


def test_a_service_that_selects_other_pods_is_not_the_jobs(cluster: MemoryCluster) -> None:
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    template = {"metadata": {"labels": {"app": "web", "tier": "front"}}, "spec": {}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    meta = {"name": "web", "namespace": "shop"}
    cluster.seed({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
    for selector, is_own in (({"app": "web"}, True), ({"app": "other"}, False), (None, False)):
        cluster.delete("v1", "Service", "web", "shop")
        cluster.create({**service, "spec": {"selector": selector} if selector else {}})
        [runtime] = read_snapshot(cluster).runtime.values()
        assert (runtime.service is not None) == is_own, selector


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ({"ownerReferences": [OWNER]}, "CronJob nightly controls Job shop/once."),
        ({"labels": {errand_model.ERRAND_LABEL: "backup"}}, "Job shop/once belongs to an errand."),
        ({"labels": {MANAGED_BY: FIELD_MANAGER}}, "Job shop/once belongs to a component."),
    ],
)
def test_an_object_of_others_is_no_job(cluster: MemoryCluster, meta: Object, reason: str) -> None:
    create_runtime(cluster, job_of("once", JobType.ONE_OFF))
    relabel(cluster, ("batch/v1", "Job"), "once", **meta)
    snapshot = read_snapshot(cluster)
    assert snapshot.runtime == {}
    assert snapshot.excluded == {(JobKey("shop", "once"), JobType.ONE_OFF): reason}


def test_an_owner_that_is_no_controller_changes_nothing(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("once", JobType.ONE_OFF))
    relabel(cluster, ("batch/v1", "Job"), "once", ownerReferences=[{**OWNER, "controller": False}])
    assert names(read_snapshot(cluster)) == {"shop/once"}


def test_the_label_of_errands_is_theirs() -> None:
    assert module.ERRAND_LABEL == errand_model.ERRAND_LABEL


@pytest.mark.parametrize("namespace", ["kube-system", "kube-other", "kyma-lifecycle"])
def test_namespaces_of_the_system_have_no_jobs_unless_they_are_named(
    cluster: MemoryCluster, namespace: str
) -> None:
    create_runtime(cluster, job_of("web", namespace=namespace))
    assert names(read_snapshot(cluster)) == set()
    assert names(read_snapshot(cluster, [namespace])) == {f"{namespace}/web"}
    create_definition(cluster, job_of("web", namespace=namespace))
    assert names(read_snapshot(cluster)) == {f"{namespace}/web"}


def test_a_label_filter_leaves_jobs_and_their_definitions_out(cluster: MemoryCluster) -> None:
    team = {"metadata": {"labels": {"team": "a"}}}
    for name in ("stored", "foreign", "relabelled"):
        roll_out(cluster, job_of(name, workload=team if name == "stored" else None))
    relabel(cluster, ("apps/v1", "Deployment"), "relabelled", labels={"team": "a"})
    roll_out(cluster, job_of("moved", workload=team))
    relabel(cluster, ("apps/v1", "Deployment"), "moved", labels={"team": "b"})
    create_definition(cluster, job_of("missing", workload=team))
    create_definition(cluster, job_of("missing-foreign"))
    create_runtime(cluster, job_of("unknown", workload=team))
    create_runtime(cluster, job_of("unknown-foreign"))
    snapshot = read_snapshot(cluster, label_selector="team=a")
    assert names(snapshot) == {"shop/stored", "shop/relabelled", "shop/unknown"}
    assert {key.name for key in snapshot.definitions} == {"stored", "relabelled", "missing"}
    assert snapshot.uids == read_snapshot(cluster).uids
    assert {key.name for key in snapshot.left_out} == {"foreign", "moved", "missing-foreign"}
    everything = read_snapshot(cluster)
    assert (len(everything.definitions), everything.left_out) == (6, {})


def test_a_filter_that_cannot_be_read_is_refused_before_any_request(cluster: MemoryCluster) -> None:
    with pytest.raises(Invalid):
        read_snapshot(cluster, label_selector="team=(a")
    assert cluster.requests == []


@pytest.mark.parametrize(("old", "new"), [*permutations(JobType, 2)])
def test_a_definition_that_replaces_another_one_of_its_name_counts(
    cluster: MemoryCluster, old: JobType, new: JobType
) -> None:
    create_definition(cluster, job_of("web", old))
    create_definition(cluster, job_of("web", new), replaces=old)
    snapshot = read_snapshot(cluster)
    key = JobKey("shop", "web")
    assert snapshot.definitions[key].type is new
    assert snapshot.replaced[key].type is old
    assert snapshot.warnings == ()


def test_the_older_of_two_definitions_of_one_name_counts(cluster: MemoryCluster) -> None:
    for type_, created in ((JobType.CONTINUOUS, "2026-01-01"), (JobType.SCHEDULED, "2026-02-01")):
        obj = create_definition(cluster, job_of("web", type_))
        cluster.delete(*DEFINITION_KINDS[type_], "web", "shop")
        cluster.seed({**obj, "metadata": {**obj["metadata"], "creationTimestamp": f"{created}T00:00:00Z"}})
    snapshot = read_snapshot(cluster)
    assert snapshot.definitions[JobKey("shop", "web")].type is JobType.CONTINUOUS
    assert snapshot.replaced == {}
    assert snapshot.warnings == (
        "ContinuousJob shop/web and ScheduledJob shop/web have the same name, which only one job may have."
        " Only ContinuousJob shop/web counts. Delete one of them.",
    )


CORRUPT: dict[str, Object] = {
    "a text": {"spec": "web"},
    "a list": {"spec": ["web"]},
    "an image of numbers": {"spec": {"image": {"a": 1}, "replicas": "many", "env": 7}},
    "odd parts": {"spec": {"limits": [], "mount": 3, "healthCheck": "yes", "logs": 1, "pod": "no"}},
    "an odd mapping": {"spec": {"image": "nginx", "workload": {"spec": [1]}}},
    "an odd status": {"spec": {"image": "nginx"}, "status": {"objects": 5, "defaults": "x", "history": {}}},
    "an odd version": {"metadata": {"labels": {"lifecycle.kyma-project.io/storage-version": "three"}}},
}


@pytest.mark.parametrize("change", CORRUPT.values(), ids=CORRUPT)
def test_a_definition_that_cannot_be_read_never_hides_the_others(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch, change: Object
) -> None:
    create_definition(cluster, job_of("good"))
    good = create_definition(cluster, job_of("bad"))
    meta = {**good["metadata"], **change.get("metadata", {})}
    bad = {**deep_copy(good), **change, "metadata": meta}
    listed = MemoryCluster.list

    def list_with_bad(self: MemoryCluster, *args: Any, **options: Any) -> Any:
        page = listed(self, *args, **options)
        page.items[:] = [bad if one["metadata"]["name"] == "bad" else one for one in page.items]
        return page

    monkeypatch.setattr(MemoryCluster, "list", list_with_bad)
    snapshot = read_snapshot(cluster)
    assert JobKey("shop", "good") in snapshot.definitions
    assert len(snapshot.definitions) + len(snapshot.unreadable) == 2
    for one in snapshot.unreadable:
        assert one.key == JobKey("shop", "bad")
        assert snapshot.warnings == (f"ContinuousJob shop/bad can't be read: {one.problem}",)


def test_a_corrupt_definition_is_a_warning(cluster: MemoryCluster) -> None:
    obj = create_definition(cluster, job_of("bad"))
    cluster.delete(*DEFINITION_KINDS[JobType.CONTINUOUS], "bad", "shop")
    cluster.seed({**obj, "spec": {"image": {"odd": True}, "replicas": "many"}})
    snapshot = read_snapshot(cluster)
    assert [str(one.ref) for one in snapshot.unreadable] == ["ContinuousJob shop/bad"]
    assert len(snapshot.warnings) == 1


@pytest.mark.parametrize(
    "patch",
    [
        {"metadata": None},
        {"metadata": {"name": "other"}},
        {"kind": "DaemonSet"},
        {"metadata": "odd"},
        {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "deployment", "namespace": "kyma-lifecycle"},
        },
    ],
)
def test_a_definition_that_names_other_objects_cannot_be_read(cluster: MemoryCluster, patch: Object) -> None:
    create_definition(cluster, job_of("bad", workload=patch))
    create_definition(cluster, job_of("good"))
    snapshot = read_snapshot(cluster, label_selector="!team")
    assert [key.name for key in snapshot.definitions] == ["good"]
    problem = "spec changes name, namespace or kind of its Deployment"
    assert [one.problem for one in snapshot.unreadable] == [problem]


def test_switches_and_counters_are_read(cluster: MemoryCluster) -> None:
    switches = StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.IGNORE)
    write_switches(cluster, switches)
    meta = {"name": COUNTER_NAME, "namespace": "shop"}
    spec = {"onlyInKubernetes": 2, "uids": ["a", "b"]}
    cluster.seed({"apiVersion": COUNTER_KIND[0], "kind": COUNTER_KIND[1], "metadata": meta, "spec": spec})
    snapshot = read_snapshot(cluster)
    assert snapshot.store == switches
    assert (snapshot.counter("shop").counts, snapshot.counter("shop").uids) == ((2, 0), {"a", "b"})
    assert snapshot.counter("bank") == JobCounter("bank")


def test_a_user_without_the_right_to_read_the_switches_is_warned(cluster: MemoryCluster) -> None:
    write_switches(cluster, StoreSwitches(SourceOfTruth.STORAGE))
    forbidden = api_error("get JobStore job-store", 403, {"reason": "Forbidden", "message": "you may not"})
    cluster.fail_when(lambda request: request.ref.kind == "JobStore", forbidden)
    snapshot = read_snapshot(cluster)
    assert snapshot.store == StoreSwitches()
    assert snapshot.warnings == (
        "The switches of the job store are unknown, so their defaults count: "
        "get JobStore job-store: you may not",
    )


def test_a_list_that_fails_is_raised_as_nothing_is_known_without_it(cluster: MemoryCluster) -> None:
    cluster.fail_when(
        lambda request: request.ref.kind == "CronJob",
        api_error("list CronJobs", 403, {"reason": "Forbidden", "message": "you may not"}),
    )
    with pytest.raises(Forbidden):
        read_snapshot(cluster)
