# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Other users write and delete objects between two steps of a change: nothing is lost or left over."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey, JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.changes.change_report import (
    Action,
    ChangeReport,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_change import JobChanger
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.job_import import import_jobs
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    SourceOfTruth,
    StoreSwitches,
    UnknownJobs,
    write_switches,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    namespace_named,
)

from tests.support.hooked_cluster import HookedCluster
from tests.support.job_store import create_definition, create_runtime, delete_runtime, job_of, patch_runtime
from tests.support.job_store import store_cluster as new_cluster

ONE_OFF, SCHEDULED, CONTINUOUS = JobType
WEB = JobKey("shop", "web")
WEB_KIND = DEFINITION_KINDS[CONTINUOUS]
DEPLOYMENT = ("apps/v1", "Deployment")
FORBIDDEN = api_error("write it", 403, {"reason": "Forbidden", "message": "not here"})


@pytest.fixture
def cluster() -> MemoryCluster:
    return new_cluster(namespace_named("shop"))


def changer(cluster: MemoryCluster | HookedCluster, read: MemoryCluster) -> JobChanger:
    return JobChanger(cluster, read_snapshot(read), timeout=1)


def once_at(verb: str, kind: str, act: Callable[[], object]) -> Callable[[int, Call], None]:
    """What others do at the first call of a kind."""
    done: list[object] = []

    def hook(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == (verb, kind) and not done:
            done.append(act())

    return hook


@pytest.mark.parametrize("unknown", UnknownJobs)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda one: one.suspended(WEB), id="suspended"),
        pytest.param(lambda one: one.present(job_of("web", image="nginx:2")), id="present"),
    ],
)
def test_a_job_that_others_delete_halfway_leaves_nothing_without_a_definition(
    cluster: MemoryCluster, unknown: UnknownJobs, change: Callable[[JobChanger], ChangeReport]
) -> None:
    changer(cluster, cluster).present(job_of("web"))
    write_switches(cluster, StoreSwitches(SourceOfTruth.STORAGE, unknown))
    done: list[str] = []

    def delete(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("patch", "Deployment") and not done:
            done.append("runtime")
            delete_runtime(cluster, job_of("web"))
        elif (call.verb, call.kind) == ("patch", WEB_KIND[1]) and done == ["runtime"]:
            done.append("definition")
            cluster.delete(*WEB_KIND, *reversed(WEB))

    change(changer(HookedCluster(cluster, before=delete), cluster))
    assert done == ["runtime", "definition"]
    existences = [cluster.get(*kind, *reversed(WEB)) is not None for kind in (DEPLOYMENT, WEB_KIND)]
    assert existences[0] is existences[1]


def test_an_import_makes_no_definition_of_a_job_that_others_delete_while_it_reads(
    cluster: MemoryCluster,
) -> None:
    changer(cluster, cluster).present(job_of("web"))
    hook = once_at("list", WEB_KIND[1], lambda: changer(cluster, cluster).absent(WEB))
    hooked = HookedCluster(cluster, before=hook)
    snapshot = read_snapshot(hooked)
    assert snapshot.runtime
    report = import_jobs(hooked, snapshot, rewrite=False)
    assert (report.imported, report.counters) == ((), {})
    assert cluster.get(*WEB_KIND, *reversed(WEB)) is None


def test_a_job_made_by_hand_that_others_delete_meanwhile_does_not_come_back(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web"))
    job_changer = changer(cluster, cluster)
    delete_runtime(cluster, job_of("web"))
    assert job_changer.suspended(WEB).action is Action.REFUSED
    assert cluster.get(*DEPLOYMENT, *reversed(WEB)) is None


def test_a_run_that_has_ended_stays_in_the_history_if_others_write_meanwhile(cluster: MemoryCluster) -> None:
    job = job_of("web", ONE_OFF)
    changer(cluster, cluster).present(job)
    ended = {"conditions": [{"type": "Complete", "status": "True"}], "startTime": "2026-11-01T00:00:00Z"}
    patch_runtime(cluster, job, {"status": ended}, "kube-controller-manager")
    kind = DEFINITION_KINDS[ONE_OFF]
    note = {"metadata": {"annotations": {"note": "mine"}}}
    hook = once_at("patch", kind[1], lambda: cluster.patch(*kind, *reversed(WEB), note))
    assert changer(HookedCluster(cluster, before=hook), cluster).restarted(WEB).action is Action.RESTARTED
    status = read_snapshot(cluster).definitions[WEB].status
    assert (status.run, [one["run"] for one in status.history]) == (2, [1])


@pytest.mark.parametrize(
    ("change", "runs"),
    [
        pytest.param(lambda one: one.present(job_of("web", ONE_OFF)), 1, id="first"),
        pytest.param(lambda one: one.present(job_of("web", ONE_OFF, command="other")), 2, id="other command"),
        pytest.param(lambda one: one.restarted(WEB), 2, id="restarted"),
    ],
)
def test_a_job_that_is_gone_before_its_run_is_recorded_does_not_run_twice(
    cluster: MemoryCluster, change: Callable[[JobChanger], ChangeReport], runs: int
) -> None:
    job, kind = job_of("web", ONE_OFF), DEFINITION_KINDS[ONE_OFF]
    if runs > 1:
        changer(cluster, cluster).present(job)
    note = {"metadata": {"annotations": {"note": "mine"}}}
    created: list[str] = []

    def let_go(_number: int, call: Call) -> None:
        """Its time to live ends, and somebody writes the definition, so that the note is refused."""
        if (call.verb, call.kind) == ("create", "Job"):
            created.append(call.kind)
        elif (call.verb, call.kind) == ("patch", kind[1]) and created == ["Job"]:
            created.append("gone")
            delete_runtime(cluster, job)
            cluster.patch(*kind, *reversed(WEB), note)

    assert change(changer(HookedCluster(cluster, before=let_go), cluster)).changed
    assert created == ["Job", "gone"]
    recorded = read_snapshot(cluster).definitions[WEB]
    assert (recorded.status.run, cluster.get("batch/v1", "Job", *reversed(WEB))) == (runs, None)
    assert changer(cluster, cluster).present(recorded.job).action is Action.UNCHANGED


def test_a_rollback_says_that_others_have_deleted_the_definition(cluster: MemoryCluster) -> None:
    changer(cluster, cluster).present(job_of("web"))

    def refuse(_number: int, call: Call) -> None:
        if (call.verb, call.kind) == ("patch", "Deployment"):
            cluster.delete(*WEB_KIND, *reversed(WEB))
            raise FORBIDDEN

    report = changer(HookedCluster(cluster, before=refuse), cluster).present(job_of("web", image="nginx:2"))
    assert "could not be rolled back: others have deleted ContinuousJob shop/web" in report.message


def test_deleting_a_job_deletes_all_definitions_of_its_name(cluster: MemoryCluster) -> None:
    changer(cluster, cluster).present(job_of("web"))
    create_definition(cluster, job_of("web", SCHEDULED))
    assert changer(cluster, cluster).absent(WEB).action is Action.DELETED
    assert read_snapshot(cluster).definitions == {}


def test_many_refused_jobs_are_looked_at_once_more_together(cluster: MemoryCluster) -> None:
    job_changer = changer(cluster, cluster)
    cluster.requests.clear()
    for number in range(20):
        assert job_changer.restarted(JobKey("shop", f"none-{number}")).action is Action.REFUSED
    assert len(cluster.requests) < 15


def test_a_definition_that_its_creator_may_delete_again_is_not_written_by_others(
    cluster: MemoryCluster,
) -> None:
    """Two users create a job of two types at once, and a third one knows only one of both."""
    create_definition(cluster, job_of("web"))
    third = changer(cluster, cluster)
    create_definition(cluster, job_of("web", SCHEDULED))
    created = cluster.get(*WEB_KIND, *reversed(WEB))
    report = third.present(job_of("web", image="nginx:2"))
    assert report.action is Action.REFUSED
    assert "ScheduledJob shop/web has the same name" in report.message
    assert cluster.get(*WEB_KIND, *reversed(WEB)) == created


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda one: one.present(job_of("web")), id="another type"),
        pytest.param(lambda one: one.absent(WEB), id="absent"),
    ],
)
def test_objects_that_others_create_while_a_job_is_read_are_not_left(
    cluster: MemoryCluster, change: Callable[[JobChanger], ChangeReport]
) -> None:
    def create() -> None:
        changer(cluster, cluster).present(job_of("web", SCHEDULED))

    # The runtime objects are read before the definitions.
    hook = once_at("list", DEFINITION_KINDS[SCHEDULED][1], create)
    snapshot = read_snapshot(HookedCluster(cluster, before=hook))
    assert (snapshot.definitions[WEB].type, snapshot.runtime) == (SCHEDULED, {})
    assert change(JobChanger(cluster, snapshot, timeout=1)).changed
    assert cluster.get("batch/v1", "CronJob", *reversed(WEB)) is None
    assert cluster.get(*DEFINITION_KINDS[SCHEDULED], *reversed(WEB)) is None


def test_a_deployment_that_others_recreate_before_its_restart_is_not_restarted(
    cluster: MemoryCluster,
) -> None:
    changer(cluster, cluster).present(job_of("web"))

    def recreate() -> None:
        live = cluster.get(*DEPLOYMENT, *reversed(WEB))
        assert live is not None
        delete_runtime(cluster, job_of("web"))
        meta = {"name": WEB.name, "namespace": WEB.namespace}
        cluster.with_field_manager("somebody").create({**live, "metadata": meta})

    hook = once_at("patch", "Deployment", recreate)
    changer(HookedCluster(cluster, before=hook), cluster).restarted(WEB)
    live = cluster.get(*DEPLOYMENT, *reversed(WEB))
    assert live is not None
    assert "annotations" not in live["spec"]["template"]["metadata"]
