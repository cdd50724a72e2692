# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks of the job store on the in-memory cluster: what they write, refuse and answer."""

from __future__ import annotations

import threading
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Unreachable, api_error
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.kinds import CRD_KIND
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deep_copy import deep_copy
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import given_fields
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Progress, Step, no_progress
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import job_import, job_logs, pod_refusals
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.snapshot import read_snapshot
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.store_kinds import (
    INSTALL_COMMAND,
    MANAGER_ROLE,
    STORE_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import (
    SourceOfTruth,
    StoreSwitches,
    UnknownJobs,
    read_switches,
    write_switches,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.unknown_jobs import adoptable_job
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    job_store,
    stored_job,
    stored_job_import,
    stored_job_info,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.job_store import (
    create_runtime,
    ensure_namespace,
    job_of,
    note_status,
    patch_runtime,
    roll_out,
    store_cluster,
)
from tests.support.played_jobs import ContainerRun, PlayedJobs
from tests.support.single_rights import LimitedCluster, single_rights
from tests.support.task_call import call_task, to

FORBIDDEN = api_error("do it", 403, {"reason": "Forbidden", "message": "you may not do it"})
MISSING = ("delete", "deployments")
"""A verb and a resource of a right that some users lack."""
WEB: dict[str, Any] = {"name": "web", "type": "continuous", "image": "nginx:1", "port": 8080}
BACKUP: dict[str, Any] = {"name": "backup", "type": "scheduled", "image": "busybox:1", "schedule": "@daily"}


def call(
    cluster: Cluster,
    definition: TaskDefinition = stored_job.DEFINITION,
    *,
    check: bool = False,
    diff: bool = False,
    stops_after: int = 1000,
    progress: Progress = no_progress,
    **options: Any,
) -> Result:
    checks: list[int] = []

    def cancelled() -> bool:
        checks.append(1)
        return len(checks) > stops_after

    return call_task(
        definition, options, to(cluster), progress=progress, cancelled=cancelled, check=check, diff=diff
    )


def establish(cluster: Cluster, event: Event) -> None:
    """What the API server does once it serves a definition."""
    obj = event.object
    if obj["kind"] == CRD_KIND[1] and event.type != "DELETED" and "conditions" not in obj.get("status", {}):
        conditions = [{"type": "Established", "status": "True"}, {"type": "NamesAccepted", "status": "True"}]
        status = {"conditions": conditions, "acceptedNames": obj["spec"]["names"]}
        cluster.patch(*CRD_KIND, obj["metadata"]["name"], None, {"status": status}, subresource="status")


@pytest.fixture(autouse=True)
def no_wait_for_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    """No controller acts on this cluster."""
    monkeypatch.setattr(pod_refusals, "PODS_SECONDS", 0.0)


@pytest.fixture
def empty() -> MemoryCluster:
    """A cluster without the job store."""
    cluster = MemoryCluster()
    cluster.on_write(establish)
    ensure_namespace(cluster, "shop")
    return cluster


@pytest.fixture
def cluster() -> MemoryCluster:
    """A cluster with the job store."""
    cluster = store_cluster()
    ensure_namespace(cluster, "shop")
    cluster.requests.clear()
    return cluster


def writes(cluster: MemoryCluster) -> list[Request]:
    return [one for one in cluster.requests if one.writes]


def definition_of(cluster: MemoryCluster, name: str, type_: JobType = JobType.CONTINUOUS) -> Object | None:
    return cluster.get(*DEFINITION_KINDS[type_], name, "shop")


def actions(result: Result) -> dict[str, str]:
    return {one["name"]: one["action"] for one in result["jobs"]}


# The store and its switches.


def test_the_store_is_installed_once(empty: MemoryCluster) -> None:
    rehearsed = call(empty, job_store.DEFINITION, check=True)
    assert (rehearsed["changed"], rehearsed["definition_installed"]) == (True, True)
    assert empty.resource(*DEFINITION_KINDS[JobType.ONE_OFF]) is None
    done = call(empty, job_store.DEFINITION)
    assert (done["changed"], done["definition_installed"]) == (True, True), done
    again = call(empty, job_store.DEFINITION)
    assert (again["changed"], again["definition_installed"]) == (False, False)
    assert (again["source_of_truth"], again["unknown_jobs"]) == ("kubernetes", "adopt")


def test_the_switches_can_be_set_by_the_call_that_installs_the_store(empty: MemoryCluster) -> None:
    call(empty, job_store.DEFINITION, source_of_truth="storage")
    assert read_switches(empty) == StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.ADOPT)


def test_without_the_rights_to_install_it_the_task_says_which(empty: MemoryCluster) -> None:
    empty.fail_when(lambda request: request.verb == "apply", FORBIDDEN)
    failed = call(empty, job_store.DEFINITION)
    assert failed["failed"]
    assert "customresourcedefinitions" in failed["msg"]


def test_a_flip_shows_its_diff_and_is_done_once(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("web"))
    cluster.requests.clear()
    options = {"source_of_truth": "storage", "diff": True}
    rehearsed = call(cluster, job_store.DEFINITION, check=True, **options)
    assert rehearsed["changed"]
    assert rehearsed["differences"] == []
    (diff,) = rehearsed["diff"]
    assert ("kubernetes" in diff["before"], "storage" in diff["after"]) == (True, True)
    assert read_switches(cluster).source_of_truth == "kubernetes"
    assert call(cluster, job_store.DEFINITION, **options)["changed"]
    assert read_switches(cluster) == StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.ADOPT)
    again = call(cluster, job_store.DEFINITION, **options)
    assert (again["changed"], again["diff"]) == (False, [])


def test_a_flip_is_refused_while_a_job_has_drifted_unless_it_is_forced(cluster: MemoryCluster) -> None:
    web = job_of("web")
    roll_out(cluster, web)
    patch_runtime(cluster, web, {"spec": {"replicas": 5}}, "kubectl-scale")
    refused = call(cluster, job_store.DEFINITION, source_of_truth="storage")
    assert refused["failed"]
    (line,) = refused["differences"]
    assert f"- {line}" in refused["msg"]
    assert "shop/web" in line
    assert read_switches(cluster).source_of_truth == "kubernetes"
    forced = call(cluster, job_store.DEFINITION, source_of_truth="storage", force=True)
    assert (forced.get("failed"), forced["differences"]) == (None, [line])
    assert read_switches(cluster).source_of_truth == "storage"


def test_unknown_jobs_are_not_hidden_before_they_are_imported(cluster: MemoryCluster) -> None:
    write_switches(cluster, StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.ADOPT))
    create_runtime(cluster, job_of("by-hand"))
    refused = call(cluster, job_store.DEFINITION, unknown_jobs="ignore")
    assert "shop/by-hand would be hidden" in refused["msg"]
    call(cluster, stored_job_import.DEFINITION)
    assert call(cluster, job_store.DEFINITION, unknown_jobs="ignore")["changed"]


# One job, or some.


def test_a_job_is_created_then_up_to_date_then_updated_then_deleted(cluster: MemoryCluster) -> None:
    job = {**WEB, "namespace": "shop"}
    rehearsed = call(cluster, check=True, diff=True, **job)
    assert (rehearsed["changed"], actions(rehearsed)) == (True, {"web": "created"})
    assert (rehearsed["diff"][0]["before"], "nginx:1" in rehearsed["diff"][0]["after"]) == ("", True)
    assert writes(cluster) == []
    created = call(cluster, **job)
    assert (created["changed"], actions(created)) == (True, {"web": "created"}), created
    assert definition_of(cluster, "web")
    assert cluster.get("apps/v1", "Deployment", "web", "shop")
    assert cluster.get("v1", "Service", "web", "shop")
    cluster.requests.clear()
    same = call(cluster, diff=True, **job)
    assert (same["changed"], same["lines"], same["diff"]) == (False, ["shop/web: up to date"], [])
    assert writes(cluster) == []
    newer = {**job, "image": "nginx:2"}
    planned = call(cluster, check=True, diff=True, **newer)
    assert actions(planned) == {"web": "updated"}
    assert "nginx:1" in planned["diff"][0]["before"]
    assert writes(cluster) == []
    assert call(cluster, **newer)["lines"][0].startswith("shop/web: updated")
    deleted = call(cluster, name="web", namespace="shop", state="absent", diff=True)
    assert actions(deleted) == {"web": "deleted"}
    assert deleted["diff"][0]["after"] == ""
    assert definition_of(cluster, "web") is None
    assert cluster.get("apps/v1", "Deployment", "web", "shop") is None


def test_a_job_is_suspended_and_resumed(cluster: MemoryCluster) -> None:
    call(cluster, namespace="shop", **BACKUP)
    assert actions(call(cluster, name="backup", namespace="shop", state="suspended")) == {
        "backup": "suspended"
    }
    live = cluster.get("batch/v1", "CronJob", "backup", "shop")
    assert live is not None
    assert live["spec"]["suspend"] is True
    call(cluster, namespace="shop", suspend=False, **BACKUP)
    live = cluster.get("batch/v1", "CronJob", "backup", "shop")
    assert live is not None
    assert not live["spec"].get("suspend")


def test_a_continuous_job_is_restarted(cluster: MemoryCluster) -> None:
    call(cluster, namespace="shop", **WEB)
    restarted = call(cluster, name="web", namespace="shop", state="restarted")
    assert (restarted["changed"], actions(restarted)) == (True, {"web": "restarted"})


def test_all_that_is_wrong_is_refused_at_once_and_nothing_is_written(cluster: MemoryCluster) -> None:
    jobs = [WEB, {**WEB, "name": "other"}, {**WEB, "name": "other"}, {**BACKUP, "schedule": "never"}, {}]
    jobs += [{**WEB, "name": "bad", "imgae": "x", "port": 0}]
    failed = call(cluster, namespace="shop", jobs=jobs)
    assert failed["failed"]
    assert failed["msg"].startswith("the jobs are refused, and nothing was written:\n")
    for part in (
        "- shop/other: the list has this name 2 times",
        "- shop/backup: schedule",
        "- job 5 of the list: name",
        "- shop/bad: imgae",
        "- shop/bad: port",
    ):
        assert part in failed["msg"]
    assert cluster.requests == []


@pytest.mark.parametrize("namespace", [123, ["shop"]])
def test_a_namespace_is_a_string(cluster: MemoryCluster, namespace: object) -> None:
    failed = call(cluster, jobs=[{**WEB, "namespace": namespace}])
    assert failed["msg"].endswith(f"namespace is {namespace!r}, and must be a string")


@pytest.mark.parametrize(
    ("service", "port", "is_refused"),
    [
        ({"spec": {"ports": [{"port": 80}]}}, None, False),
        ({"metadata": {"labels": None}, "spec": {"selector": {"other": "pods"}}}, 8080, True),
        ({"metadata": {"labels": None}}, 8080, False),
        ({"spec": {"sessionAffinity": "ClientIP"}}, 8080, False),
    ],
)
def test_a_service_must_be_found_again(
    cluster: MemoryCluster, service: Object, port: int | None, is_refused: bool
) -> None:
    job = {**WEB, "port": port, "namespace": "shop", "service": service}
    done = call(cluster, jobs=[job])
    if is_refused:
        assert "as the store would not find the Service again" in done["msg"]
        assert cluster.get("v1", "Service", "web", "shop") is None
    else:
        assert not done.get("failed"), done
        assert not call(cluster, jobs=[job])["changed"]


def test_rights_are_asked_for_once_before_the_first_write_and_not_without_one(cluster: MemoryCluster) -> None:
    limited = LimitedCluster(cluster, single_rights(MANAGER_ROLE["rules"]))
    options: dict[str, Any] = {"namespace": "shop", "jobs": [WEB, BACKUP]}
    for check, reviews in ((True, 1), (False, 2), (False, 2)):
        assert not call(limited, check=check, **options).get("failed")
        assert limited.reviews == reviews


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_missing_right_is_named_before_anything_is_written(
    cluster: MemoryCluster, state: str, check: bool
) -> None:
    call(cluster, namespace="shop", jobs=[WEB])
    cluster.requests.clear()
    rights = [one for one in single_rights(MANAGER_ROLE["rules"]) if (one.verb, one.resource) != MISSING]
    jobs = [{**WEB, "image": "nginx:2"}, BACKUP] if state == "present" else [{"name": "web"}]
    refused = call(LimitedCluster(cluster, rights), check=check, namespace="shop", jobs=jobs, state=state)
    assert refused["msg"].startswith("the user lacks rights that this change of jobs needs:")
    assert "delete deployments.apps in shop\n" in refused["msg"]
    assert [one for one in cluster.requests if one.writes] == []


def test_a_job_of_another_type_needs_no_such_right(cluster: MemoryCluster) -> None:
    call(cluster, namespace="shop", jobs=[WEB])
    rights = [one for one in single_rights(MANAGER_ROLE["rules"]) if (one.verb, one.resource) != MISSING]
    limited = LimitedCluster(cluster, rights)
    assert not call(limited, namespace="shop", jobs=[BACKUP]).get("failed")
    assert call(limited, namespace="shop", jobs=[BACKUP], prune=True)["failed"]


def test_each_job_needs_a_namespace(cluster: MemoryCluster) -> None:
    failed = call(cluster, jobs=[{**WEB, "namespace": "shop"}, BACKUP])
    assert failed["msg"].endswith(
        "- (no namespace)/backup: namespace is not set; set it for the task or for the job"
    )


def test_no_job_runs_where_the_accounts_of_runs_are(cluster: MemoryCluster) -> None:
    failed = call(cluster, jobs=[{**WEB, "namespace": "kyma-lifecycle"}])
    assert "web: namespace is kyma-lifecycle, which has the accounts and tokens of runs" in failed["msg"]
    assert cluster.get("apps/v1", "Deployment", "web", "kyma-lifecycle") is None
    assert not call(cluster, state="absent", name="web", namespace="kyma-lifecycle").get("failed")


def test_the_options_of_one_job_are_its_fields(cluster: MemoryCluster) -> None:
    options = {"health_check": {"path": "/healthz"}, "mount": {"claim": "data"}, "logs": {"stdout": "/l"}}
    done = call(cluster, namespace="shop", command="serve", timeout=None, env={"LEVEL": 1}, **WEB, **options)
    assert done["changed"], done
    (listed,) = call(cluster, stored_job_info.DEFINITION, namespaces=["shop"])["jobs"]
    assert listed["fields"]["health_check"] == {"path": "/healthz"}
    assert listed["fields"]["mount"]["claim"] == "data"
    assert listed["fields"]["env"] == {"LEVEL": "1"}
    assert "timeout" not in listed["fields"]


def test_no_limit_of_time_may_be_said_of_a_run(cluster: MemoryCluster) -> None:
    assert call(cluster, namespace="shop", timeout=0, **BACKUP)["changed"]


def test_without_the_store_nothing_is_written(empty: MemoryCluster) -> None:
    refused = call(empty, namespace="shop", **WEB)
    assert refused["msg"] == (
        f"the cluster has no job store, and nothing was written. Install it:\n{INSTALL_COMMAND}"
    )
    rehearsed = call(empty, check=True, namespace="shop", **WEB)
    assert actions(rehearsed) == {"web": "created"}
    kinds = "OneOffJob, ScheduledJob, ContinuousJob, JobCounter, JobStore"
    assert rehearsed["warnings"][0] == (
        f"the cluster does not serve {kinds} of the job store. Install it:\n{INSTALL_COMMAND}"
    )


KINDS = ["OneOffJob", "ScheduledJob", "ContinuousJob", "JobCounter", "JobStore"]


def lose(cluster: MemoryCluster, kind: str) -> None:
    """Delete a definition of the store, which deletes all objects of the kind."""
    (crd,) = [one for one in STORE_KINDS.definitions if one["spec"]["names"]["kind"] == kind]
    cluster.delete("apiextensions.k8s.io/v1", "CustomResourceDefinition", crd["metadata"]["name"])
    cluster.requests.clear()


@pytest.fixture
def installed(empty: MemoryCluster) -> MemoryCluster:
    """A cluster in which the task has installed the job store."""
    call(empty, job_store.DEFINITION)
    return empty


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stage", list(UnknownJobs))
@pytest.mark.parametrize(
    ("definition", "options"),
    [
        (stored_job_info.DEFINITION, {}),
        (stored_job_import.DEFINITION, {}),
        (stored_job.DEFINITION, {**WEB, "namespace": "shop"}),
        (stored_job.DEFINITION, {"name": "web", "namespace": "shop", "state": "absent"}),
    ],
)
def test_a_missing_definition_of_an_installed_store_is_an_error_with_the_next_step(
    installed: MemoryCluster,
    kind: str,
    stage: UnknownJobs,
    definition: TaskDefinition,
    options: dict[str, Any],
) -> None:
    call(installed, namespace="shop", **WEB)
    write_switches(installed, StoreSwitches(SourceOfTruth.STORAGE, stage))
    lose(installed, kind)
    failed = call(installed, definition, **options)
    assert failed["failed"]
    assert f"the API server does not serve {kind}, and what was stored as such is lost" in failed["msg"]
    assert failed["msg"].endswith(f"\n{INSTALL_COMMAND}\nansible-playbook kyma.lifecycle.import_jobs")
    assert writes(installed) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_next_step_brings_a_missing_definition_back(installed: MemoryCluster, kind: str) -> None:
    call(installed, namespace="shop", **WEB)
    lose(installed, kind)
    rehearsed = call(installed, job_store.DEFINITION, check=True)
    done = call(installed, job_store.DEFINITION)
    assert done == rehearsed
    assert (done["changed"], done["definition_installed"]) == (True, True)
    assert f"did not serve {kind}" in done["warnings"][0]
    assert not call(installed, job_store.DEFINITION)["changed"]
    assert not call(installed, stored_job_import.DEFINITION).get("failed")
    (listed,) = call(installed, stored_job_info.DEFINITION)["jobs"]
    assert (listed["name"], listed["storage_version"]) == ("web", 2)


def test_a_flip_is_judged_by_complete_lists(installed: MemoryCluster) -> None:
    call(installed, namespace="shop", **WEB)
    write_switches(installed, StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.ADOPT))
    lose(installed, "ContinuousJob")
    refused = call(installed, job_store.DEFINITION, unknown_jobs="ignore")
    assert (refused["changed"], refused["definition_installed"]) == (True, True)
    assert "The switches stay.\n- continuous job shop/web would be hidden" in refused["msg"]
    assert read_switches(installed).unknown_jobs is UnknownJobs.ADOPT


def test_hidden_jobs_are_named(cluster: MemoryCluster) -> None:
    call(cluster, namespace="shop", **WEB)
    create_runtime(cluster, job_of("by-hand"))
    create_runtime(cluster, job_of("nightly", JobType.SCHEDULED, namespace="cart"))
    create_runtime(cluster, job_of("web", JobType.ONE_OFF))
    assert call(cluster, stored_job_info.DEFINITION)["hidden"] == []
    write_switches(cluster, StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.IGNORE))
    info = call(cluster, stored_job_info.DEFINITION)
    assert [one["name"] for one in info["jobs"]] == ["web"]
    assert (info["adoptable"], info["hidden"]) == ([], ["cart/nightly", "shop/by-hand", "shop/web"])
    of_one = call(cluster, stored_job_info.DEFINITION, namespaces=["shop"], names=["by-hand"])
    assert (of_one["jobs"], of_one["hidden"]) == ([], ["shop/by-hand"])
    call(cluster, stored_job_import.DEFINITION, namespaces=["cart"])
    assert call(cluster, stored_job_info.DEFINITION, namespaces=["cart"])["hidden"] == []


def test_a_list_is_loaded_with_a_line_for_each_job(cluster: MemoryCluster) -> None:
    call(cluster, namespace="shop", **WEB)
    loaded = call(cluster, namespace="shop", jobs=[BACKUP, WEB])
    assert loaded["lines"][0].startswith("shop/backup: created")
    assert loaded["lines"][1] == "shop/web: up to date"


def test_pruning_deletes_stored_jobs_alone(cluster: MemoryCluster) -> None:
    call(cluster, namespace="shop", jobs=[WEB, BACKUP])
    create_runtime(cluster, job_of("by-hand"))
    options = {"namespace": "shop", "jobs": [WEB]}
    assert actions(call(cluster, **options)) == {"web": "unchanged"}
    assert definition_of(cluster, "backup", JobType.SCHEDULED)
    pruned = call(cluster, prune=True, **options)
    assert actions(pruned) == {"web": "unchanged", "backup": "deleted"}
    assert "shop/by-hand is not pruned, as it has no definition" in pruned["warnings"]
    assert cluster.get("apps/v1", "Deployment", "by-hand", "shop")
    assert cluster.get("batch/v1", "CronJob", "backup", "shop") is None


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"jobs": []}, "would delete all stored jobs"),
        ({"jobs": [WEB], "state": "absent"}, "state=present"),
        (WEB, "needs jobs"),
    ],
)
def test_pruning_by_mistake_is_refused(cluster: MemoryCluster, options: dict[str, Any], part: str) -> None:
    assert part in call(cluster, namespace="shop", prune=True, **options)["msg"]
    assert cluster.requests == []


def test_a_job_that_fails_stops_no_other_one(cluster: MemoryCluster) -> None:
    cluster.fail_when(lambda one: one.ref.kind == "Deployment" and one.verb == "create", FORBIDDEN)
    failed = call(cluster, namespace="shop", jobs=[WEB, BACKUP])
    assert actions(failed) == {"web": "refused", "backup": "created"}
    assert failed["msg"].startswith("1 of 2 jobs failed; all others are done:\n- shop/web: refused: ")
    assert "you may not do it" in failed["msg"]
    assert definition_of(cluster, "web") is None
    cluster.requests.clear()


def test_a_definition_is_kept_if_that_is_asked_for(cluster: MemoryCluster) -> None:
    cluster.fail_when(lambda one: one.ref.kind == "Deployment" and one.verb == "create", FORBIDDEN, times=1)
    assert call(cluster, namespace="shop", on_failure="keep", **WEB)["failed"]
    assert definition_of(cluster, "web")
    assert not call(cluster, namespace="shop", on_failure="keep", **WEB).get("failed")


def test_a_cluster_that_does_not_answer_ends_the_task(cluster: MemoryCluster) -> None:
    cluster.fail_when(lambda one: one.writes, Unreachable("no answer"))
    failed = call(cluster, namespace="shop", jobs=[WEB, BACKUP])
    assert failed["msg"] == "no answer"


def test_a_cancellation_lets_a_job_finish_and_leaves_the_rest(cluster: MemoryCluster) -> None:
    stopped = call(cluster, stops_after=1, namespace="shop", jobs=[WEB, BACKUP])
    assert stopped["failed"]
    assert actions(stopped) == {"web": "created"}
    assert stopped["msg"] == ("stopped after 1 of 2 jobs. Not done: shop/backup. Run it again to do the rest")
    assert stopped["not_done"] == ["shop/backup"]


def test_a_job_only_in_kubernetes_is_adopted_and_counted_once(cluster: MemoryCluster, tmp_path: Path) -> None:
    create_runtime(cluster, job_of("web", replicas=None))
    metrics = tmp_path / "jobs.prom"
    job = {**WEB, "command": "serve", "namespace": "shop", "metrics_file": str(metrics)}
    assert call(cluster, check=True, **job)["counters"][0]["only_in_kubernetes"] == 1
    assert not metrics.exists()
    for _time in range(2):
        done = call(cluster, **job)
        assert done["counters"] == [{"namespace": "shop", "only_in_kubernetes": 1, "only_in_storage": 0}]
    assert 'jobs_only_in_kubernetes_total{namespace="shop"} 1\n' in metrics.read_text()
    assert definition_of(cluster, "web")


def test_a_load_that_adopts_shows_its_diff(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web", replicas=None))
    (listed,) = call(cluster, stored_job_info.DEFINITION, dump=True)["dump"]
    for check in (True, False):
        done = call(cluster, check=check, diff=True, jobs=[listed])
        (diff,) = done["diff"]
        assert (diff["before"], "kind: ContinuousJob" in diff["after"]) == ("", True)
        assert "image: nginx:1" in diff["after"]
        assert done["changed"]
    assert call(cluster, diff=True, jobs=[listed])["diff"] == []


def test_a_load_that_adopts_and_changes_shows_both(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web", replicas=None))
    (listed,) = call(cluster, stored_job_info.DEFINITION, dump=True)["dump"]
    for check in (True, False):
        adopted, changed = call(cluster, check=check, diff=True, jobs=[{**listed, "image": "nginx:2"}])[
            "diff"
        ]
        assert (adopted["before"], adopted["after"]) == ("", changed["before"])
        assert "nginx:1" in changed["before"]
        assert "nginx:2" in changed["after"]


def test_a_job_that_is_adopted_and_deleted_at_once_shows_only_the_deletion(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web"))
    (diff,) = call(cluster, name="web", namespace="shop", state="absent", diff=True)["diff"]
    assert ("nginx:1" in diff["before"], diff["after"]) == (True, "")


def test_a_deployment_that_is_deleted_and_created_again_is_replaced(cluster: MemoryCluster) -> None:
    call(cluster, namespace="shop", **WEB)
    labels = {"app": "web"}
    mappings = {
        "workload": {"spec": {"selector": {"matchLabels": labels}}},
        "pod": {"metadata": {"labels": labels}},
    }
    job = {**WEB, "namespace": "shop", **mappings}
    rehearsed = call(cluster, check=True, **job)
    assert rehearsed["lines"] == [
        "shop/web: replaced: definition updated; Deployment shop/web replaced; Service shop/web updated"
    ]
    assert actions(rehearsed) == {"web": "replaced"}
    assert call(cluster, **job) == rehearsed
    assert actions(call(cluster, **job)) == {"web": "unchanged"}


def test_a_deployment_whose_deletion_others_have_begun_is_replaced(cluster: MemoryCluster) -> None:
    job = {**WEB, "namespace": "shop"}
    call(cluster, **job)
    patch_runtime(cluster, job_of("web"), {"metadata": {"finalizers": ["example.org/hold"]}})
    cluster.delete("apps/v1", "Deployment", "web", "shop")
    assert actions(call(cluster, check=True, **job)) == {"web": "replaced"}
    let_go = {"metadata": {"finalizers": None}}
    timer = threading.Timer(0.3, patch_runtime, [cluster, job_of("web"), let_go])
    timer.start()
    assert actions(call(cluster, **job)) == {"web": "replaced"}
    timer.join()


def test_a_refusal_that_can_not_be_marked_stops_no_other_job(cluster: MemoryCluster) -> None:
    failed = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "denied"}
    status = {"observedGeneration": 1, "conditions": [failed]}

    def refuse_pods(_cluster: Cluster, event: Event) -> None:
        if event.object["kind"] == "Deployment" and event.type == "ADDED":
            patch_runtime(cluster, job_of("web"), {"status": status})
        if event.object["kind"] == "ContinuousJob" and "status" in event.object:
            cluster.fail_when(
                lambda request: request.ref.kind == "ContinuousJob" and request.writes, FORBIDDEN
            )

    cluster.on_write(refuse_pods)
    done = call(cluster, namespace="shop", jobs=[WEB, BACKUP], on_failure="keep")
    assert (actions(done), done["changed"]) == ({"web": "refused", "backup": "created"}, True)
    assert "denied. Its status could not be written: " in done["msg"]


def test_a_new_job_whose_service_account_is_missing_keeps_its_definition(cluster: MemoryCluster) -> None:
    """As in a namespace that is restored before its ServiceAccounts."""
    words = 'pods "web-" is forbidden: error looking up service account shop/a: serviceaccount "a" not found'
    failed = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": words}

    def refuse_pods(_cluster: Cluster, event: Event) -> None:
        if event.object["kind"] == "Deployment" and "status" not in event.object:
            generation = event.object["metadata"]["generation"]
            status = {"observedGeneration": generation, "conditions": [failed]}
            patch_runtime(cluster, job_of("web"), {"status": status})

    cluster.on_write(refuse_pods)
    done = call(cluster, namespace="shop", jobs=[{**WEB, "pod": {"spec": {"serviceAccountName": "a"}}}])
    assert (actions(done), done["changed"]) == ({"web": "refused"}, True)
    assert f"{words}. The definition stays; run this again when the cause is gone" in done["msg"]
    definition = cluster.get(*DEFINITION_KINDS[JobType.CONTINUOUS], "web", "shop")
    assert definition
    assert definition["status"]["reason"] == "PodsRefused"


def test_no_change_of_others_is_rolled_back_with_one_whose_pods_are_refused(cluster: MemoryCluster) -> None:
    job, changed = {**WEB, "namespace": "shop"}, {**WEB, "namespace": "shop", "image": "nginx:2"}
    call(cluster, **job)
    failed = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "denied"}

    def scale_and_refuse(_cluster: Cluster, event: Event) -> None:
        obj = event.object
        if obj["kind"] == "Deployment" and "nginx:2" in str(obj) and obj["spec"].get("replicas") == 1:
            patch_runtime(cluster, job_of("web"), {"spec": {"replicas": 7}})
            status = {"observedGeneration": 9, "conditions": [failed]}
            patch_runtime(cluster, job_of("web"), {"status": status})

    cluster.on_write(scale_and_refuse)
    refused = call(cluster, **changed)
    assert "others have changed Deployment shop/web meanwhile" in refused["msg"]
    live = cluster.get("apps/v1", "Deployment", "web", "shop")
    assert live
    assert live["spec"]["replicas"] == 7


def test_metrics_that_can_not_be_written_are_a_warning(cluster: MemoryCluster, tmp_path: Path) -> None:
    path = tmp_path / "none" / "jobs.prom"
    rehearsed = call(cluster, check=True, namespace="shop", metrics_file=str(path), **WEB)
    assert any(f"cannot write metrics_file {path}" in one for one in rehearsed["warnings"])
    done = call(cluster, namespace="shop", metrics_file=str(path), **WEB)
    assert done["changed"]
    assert f"cannot write metrics_file {path}: No such file or directory" in done["warnings"]


@pytest.mark.parametrize(
    ("definition", "role"),
    [
        (stored_job_import.DEFINITION, "kyma-lifecycle-job-store"),
        (stored_job_info.DEFINITION, "view"),
    ],
)
def test_a_refused_list_names_the_missing_role(
    cluster: MemoryCluster, definition: TaskDefinition, role: str
) -> None:
    cluster.fail_when(lambda one: one.verb == "list", FORBIDDEN)
    everywhere = call(cluster, definition)["msg"]
    assert "you may not do it" in everywhere
    assert role in everywhere
    assert "set namespaces" in everywhere
    assert "set namespaces" not in call(cluster, definition, namespaces=["shop"])["msg"]


# What there is.


def test_the_list_counts_adoptable_and_drifted_jobs(cluster: MemoryCluster) -> None:
    web = job_of("web")
    roll_out(cluster, web)
    roll_out(cluster, job_of("quiet"))
    create_runtime(cluster, job_of("by-hand", JobType.SCHEDULED))
    patch_runtime(cluster, web, {"spec": {"replicas": 5}}, "kubectl-scale")
    cluster.requests.clear()
    info = call(cluster, stored_job_info.DEFINITION)
    assert [one["name"] for one in info["jobs"]] == ["by-hand", "quiet", "web"]
    assert info["adoptable"] == ["shop/by-hand"]
    assert info["counts"] == {"jobs": 3, "adoptable": 1, "drifted": 1, "outdated": 0, "read_only": 0}
    (drifted,) = call(cluster, stored_job_info.DEFINITION, drift=True)["jobs"]
    (drift,) = drifted["drift"]
    assert (drift["field"], drift["actual"], drift["manager"]) == ("spec.replicas", 5, "kubectl-scale")
    named = call(cluster, stored_job_info.DEFINITION, names=["quiet"], dump=True)
    assert [one["name"] for one in named["jobs"]] == ["quiet"]
    assert [one["name"] for one in named["dump"]] == ["quiet"]
    assert writes(cluster) == []


@pytest.mark.parametrize("namespaces", [[], ["shop"]])
def test_loading_a_dump_changes_nothing(cluster: MemoryCluster, namespaces: list[str]) -> None:
    jobs = [{**WEB, "namespace": "shop", "env": {"A": "b"}}, {**BACKUP, "namespace": "shop", "retry": 2}]
    call(cluster, jobs=jobs)
    dumped = call(cluster, stored_job_info.DEFINITION, namespaces=namespaces, dump=True)["dump"]
    assert len(dumped) == 2
    text = yaml.safe_dump(dumped)
    loaded = call(cluster, namespace="shop", jobs=yaml.safe_load(text), prune=True)
    assert (loaded["changed"], len(loaded["lines"])) == (False, 2), loaded
    assert "dump" not in call(cluster, stored_job_info.DEFINITION)


# The import.


def runtime_versions(cluster: MemoryCluster) -> dict[str, str]:
    kinds = (("batch/v1", "Job"), ("batch/v1", "CronJob"), ("apps/v1", "Deployment"), ("v1", "Service"))
    objects = [obj for kind in kinds for obj in cluster.list(*kind).items]
    return {obj["metadata"]["uid"]: obj["metadata"]["resourceVersion"] for obj in objects}


def test_an_import_writes_definitions_alone_and_nothing_the_second_time(
    cluster: MemoryCluster, tmp_path: Path
) -> None:
    for type_ in JobType:
        create_runtime(cluster, job_of(f"a-{type_}", type_))
    before = runtime_versions(cluster)
    metrics = tmp_path / "jobs.prom"
    cluster.requests.clear()
    rehearsed = call(cluster, stored_job_import.DEFINITION, check=True, diff=True)
    assert (rehearsed["changed"], len(rehearsed["diff"])) == (True, 3)
    assert writes(cluster) == []
    done = call(cluster, stored_job_import.DEFINITION, metrics_file=str(metrics))
    assert done["imported"] == rehearsed["imported"]
    assert done["imported"] == ["shop/a-continuous", "shop/a-one-off", "shop/a-scheduled"]
    assert done["lines"] == [f"{one}: imported" for one in done["imported"]]
    assert len(writes(cluster)) == 2 * 3 + 1
    assert runtime_versions(cluster) == before
    assert 'jobs_only_in_kubernetes_total{namespace="shop"} 3\n' in metrics.read_text()
    cluster.requests.clear()
    again = call(cluster, stored_job_import.DEFINITION)
    assert (again["changed"], again["unchanged"], again["lines"]) == (False, 3, [])
    assert again["counters"] == done["counters"]
    assert writes(cluster) == []
    counts = call(cluster, stored_job_info.DEFINITION)["counts"]
    assert counts == {"jobs": 3, "adoptable": 0, "drifted": 0, "outdated": 0, "read_only": 0}


def test_a_one_off_job_that_was_imported_does_not_run_again(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("once", JobType.ONE_OFF))
    call(cluster, stored_job_import.DEFINITION)
    cluster.delete("batch/v1", "Job", "once", "shop")
    (listed,) = call(cluster, stored_job_info.DEFINITION)["jobs"]
    assert listed["state"] == "finished"
    job = {"name": listed["name"], "type": listed["type"], **listed["fields"]}
    assert actions(call(cluster, namespace="shop", jobs=[job])) == {"once": "unchanged"}


def test_an_import_reports_at_once_and_recognizes_no_job_after_a_stop(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    recognized: list[str] = []
    monkeypatch.setattr(
        job_import,
        "adoptable_job",
        lambda snapshot, runtime: (recognized.append(runtime.key.name), adoptable_job(snapshot, runtime))[1],
    )
    for number in range(40):
        create_runtime(cluster, job_of(f"job-{number}"))
    before = len(cluster.requests)
    reports: list[tuple[str, str, Step | None]] = []

    def note(subject: str, state: str, _detail: str = "", step: Step | None = None) -> None:
        assert reports or len(cluster.requests) == before
        reports.append((subject, state, step))

    # The first check is that of the counter.
    stopped = call(cluster, stored_job_import.DEFINITION, stops_after=6, progress=note)
    assert len(recognized) == len(stopped["imported"]) == 5
    assert stopped["msg"].startswith("stopped after 5 of 40 definitions. Not done: shop/job-")
    assert reports[0] == ("import", "reading jobs", Step(is_announced=True))


def test_an_import_that_was_stopped_goes_on(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web"))
    cluster.fail_when(
        lambda one: one.verb == "patch" and one.ref.kind == "ContinuousJob", Unreachable("gone"), times=1
    )
    assert call(cluster, stored_job_import.DEFINITION)["msg"] == "gone"
    assert call(cluster, stored_job_import.DEFINITION)["imported"] == ["shop/web"]
    assert not call(cluster, stored_job_import.DEFINITION)["changed"]
    (definition,) = read_snapshot(cluster).definitions.values()
    assert len(definition.status.objects) == 2


def test_a_job_that_cannot_be_imported_is_a_line_and_stops_no_other(cluster: MemoryCluster) -> None:
    name = "n" * 60
    create_runtime(cluster, job_of(name))
    create_runtime(cluster, job_of("web"))
    done = call(cluster, stored_job_import.DEFINITION)
    assert not done.get("failed")
    assert done["imported"] == ["shop/web"]
    (line,) = done["unreadable"]
    assert name in line
    assert line in done["lines"]


@pytest.mark.parametrize(
    "spec",
    [
        None,
        7,
        {},
        {"template": "text"},
        {"template": {"spec": []}},
        {"template": {"spec": {"containers": "text"}}},
        {"template": {"spec": {"containers": [1, None]}}},
        {"template": {"spec": {"containers": [{"env": {"A": 1}, "volumeMounts": 7}]}}},
    ],
    ids=str,
)
def test_an_object_of_any_shape_stops_no_import(cluster: MemoryCluster, spec: Any) -> None:
    meta = {"namespace": "shop", "labels": {"team": "a"}}
    for api_version, kind, own in (
        ("apps/v1", "Deployment", spec),
        ("batch/v1", "Job", spec),
        ("batch/v1", "CronJob", {"schedule": 5, "jobTemplate": {"spec": spec}}),
    ):
        name = {**meta, "name": f"odd-{kind.lower()}"}
        cluster.seed({"apiVersion": api_version, "kind": kind, "metadata": name, "spec": own})
    create_runtime(cluster, job_of("web"))
    done = call(cluster, stored_job_import.DEFINITION)
    assert not done.get("failed"), done
    assert "shop/web" in done["imported"]
    named = [one for one in (*done["imported"], *done["unreadable"]) if "odd-" in one]
    assert len(named) == 3, done


def test_a_refused_definition_is_a_line(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web"))
    create_runtime(cluster, job_of("backup", JobType.SCHEDULED))
    cluster.fail_when(lambda one: one.verb == "create" and one.ref.kind == "ContinuousJob", FORBIDDEN)
    done = call(cluster, stored_job_import.DEFINITION)
    assert done["imported"] == ["shop/backup"]
    assert "you may not do it" in done["unreadable"][0]


def test_an_import_takes_unknown_jobs_in_every_stage(cluster: MemoryCluster) -> None:
    write_switches(cluster, StoreSwitches(SourceOfTruth.STORAGE, UnknownJobs.IGNORE))
    create_runtime(cluster, job_of("web"))
    assert call(cluster, stored_job_info.DEFINITION)["jobs"] == []
    assert call(cluster, stored_job_import.DEFINITION)["imported"] == ["shop/web"]
    assert [one["name"] for one in call(cluster, stored_job_info.DEFINITION)["jobs"]] == ["web"]


def test_an_import_can_be_limited_to_namespaces_and_labels(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web"))
    create_runtime(cluster, job_of("web", namespace="cart"))
    labelled = {"metadata": {"labels": {"app": "shop"}}}
    create_runtime(cluster, job_of("chosen", workload=labelled))
    chosen = call(cluster, stored_job_import.DEFINITION, check=True, label_selectors=["app=shop"])
    assert chosen["imported"] == ["shop/chosen"]
    assert call(cluster, stored_job_import.DEFINITION, namespaces=["cart"])["imported"] == ["cart/web"]
    assert [one["namespace"] for one in call(cluster, stored_job_import.DEFINITION)["counters"]] == [
        "cart",
        "shop",
    ]


def test_old_definitions_are_rewritten_only_if_that_is_asked_for(cluster: MemoryCluster) -> None:
    web = job_of("web")
    live = roll_out(cluster, web)
    note_status(cluster, web, live)
    api_version, kind = DEFINITION_KINDS[JobType.CONTINUOUS]
    old = {
        "metadata": {"labels": {"lifecycle.kyma-project.io/storage-version": "1"}},
        "spec": {"resources": {"memory": "256Mi"}, "healthCheck": None, "stranger": {"a": 1}},
    }
    cluster.patch(api_version, kind, "web", "shop", old)
    cluster.requests.clear()
    assert not call(cluster, stored_job_import.DEFINITION)["changed"]
    assert call(cluster, stored_job_import.DEFINITION, check=True, rewrite=True)["rewritten"] == ["shop/web"]
    assert writes(cluster) == []
    done = call(cluster, stored_job_import.DEFINITION, rewrite=True, diff=True)
    assert (done["rewritten"], done["unchanged"], len(done["diff"])) == (["shop/web"], 0, 1)
    definition = definition_of(cluster, "web")
    assert definition is not None
    assert definition["metadata"]["labels"]["lifecycle.kyma-project.io/storage-version"] == "2"
    assert definition["spec"]["memory"] == "256Mi"
    assert "resources" not in definition["spec"]
    assert definition["spec"]["stranger"] == {"a": 1}
    assert not call(cluster, stored_job_import.DEFINITION, rewrite=True)["changed"]


TOOLFORGE_CRD: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "scheduledjobs.jobs-api.toolforge.org"},
    "spec": {
        "group": "jobs-api.toolforge.org",
        "scope": "Namespaced",
        "names": {"kind": "ScheduledJob", "plural": "scheduledjobs"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
                },
            }
        ],
    },
}


def test_custom_resources_of_toolforge_are_imported(cluster: MemoryCluster) -> None:
    cluster.seed(TOOLFORGE_CRD)
    spec = {"cmd": "./nightly.sh", "image": "tools/python:3.13", "schedule": "36 6 * * *", "retry": 1}
    for name, image in (("nightly", "tools/python:3.13"), ("corrupt", ["?"])):
        cluster.create(
            {
                "apiVersion": "jobs-api.toolforge.org/v1",
                "kind": "ScheduledJob",
                "metadata": {"name": name, "namespace": "shop"},
                "spec": {**spec, "image": image, "publish": name == "nightly", "expose": "x"},
            }
        )
    create_runtime(cluster, job_of("nightly", JobType.SCHEDULED, namespace="cart"))
    rehearsed = call(cluster, stored_job_import.DEFINITION, check=True)
    done = call(cluster, stored_job_import.DEFINITION)
    assert done["imported"] == rehearsed["imported"] == ["cart/nightly", "shop/nightly"]
    (line,) = done["unreadable"]
    assert "corrupt" in line
    (warning,) = done["warnings"]
    assert "shop/nightly: expose is not imported" in warning
    assert call(cluster, stored_job_import.DEFINITION)["counters"][-1]["only_in_storage"] == 0
    (listed,) = call(cluster, stored_job_info.DEFINITION, namespaces=["shop"])["jobs"]
    assert (listed["fields"]["schedule"], listed["fields"]["retry"]) == ("36 6 * * *", 1)
    assert listed["fields"]["publish"] is True
    assert (listed["state"], listed["reason"]) == ("missing", "NotRolledOut")
    assert not call(cluster, stored_job_import.DEFINITION)["changed"]
    loaded = call(
        cluster, namespace="shop", jobs=[{"name": "nightly", "type": "scheduled", **listed["fields"]}]
    )
    assert loaded["lines"][0].startswith("shop/nightly: ")
    assert cluster.get("batch/v1", "CronJob", "nightly", "shop")


def test_resources_of_toolforge_that_may_not_be_read_are_a_line(cluster: MemoryCluster) -> None:
    cluster.seed(TOOLFORGE_CRD)
    create_runtime(cluster, job_of("web"))
    cluster.fail_when(lambda one: one.ref.group == "jobs-api.toolforge.org", FORBIDDEN)
    done = call(cluster, stored_job_import.DEFINITION)
    assert done["imported"] == ["shop/web"]
    assert done["unreadable"] == ["ScheduledJob jobs-api.toolforge.org/v1: you may not do it"]


def test_resources_of_toolforge_of_one_name_are_one_job_and_one_line(cluster: MemoryCluster) -> None:
    other = deep_copy(TOOLFORGE_CRD)
    other["metadata"]["name"] = "continuousjobs.jobs-api.toolforge.org"
    other["spec"]["names"] = {"kind": "ContinuousJob", "plural": "continuousjobs"}
    cluster.seed(TOOLFORGE_CRD, other)
    for kind in ("ScheduledJob", "ContinuousJob"):
        cluster.create(
            {
                "apiVersion": "jobs-api.toolforge.org/v1",
                "kind": kind,
                "metadata": {"name": "nightly", "namespace": "shop"},
                "spec": {"cmd": "./run.sh", "image": "tools/python:3.13", "schedule": "36 6 * * *"},
            }
        )
    done = call(cluster, stored_job_import.DEFINITION)
    assert done["imported"] == ["shop/nightly"]
    (line,) = done["unreadable"]
    assert "Its name is taken by a scheduled job" in line


# Their documentation.


def test_all_values_of_results_are_documented(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("by-hand"))
    web = job_of("web")
    roll_out(cluster, web)
    patch_runtime(cluster, web, {"spec": {"replicas": 5}}, "kubectl-scale")
    for definition, options in (
        (stored_job_info.DEFINITION, {"dump": True}),
        (stored_job.DEFINITION, {**BACKUP, "namespace": "shop"}),
        (stored_job_import.DEFINITION, {}),
        (job_store.DEFINITION, {}),
    ):
        name = definition.function.__name__
        module = import_module(f"ansible_collections.kyma.lifecycle.plugins.modules.{name}")
        documented = yaml.safe_load(module.RETURN)
        documented.pop("not_done", None)
        result = call(cluster, definition, **options)
        assert result.keys() - {"changed", "warnings"} == documented.keys()
        for key, one in documented.items():
            for row in result[key] if isinstance(result[key], list) else [result[key]]:
                assert not one.get("contains") or row.keys() == one["contains"].keys()
            if name == "stored_job_info" and key == "jobs":
                (drift,) = (drift for row in result["jobs"] for drift in row["drift"])
                assert drift.keys() == one["contains"]["drift"]["contains"].keys()


# Quotas.

QUOTA = 'pods "web-1" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=0, limited: pods=0'


def failed_creation(kind: str, obj: Object) -> Object:
    """What the controller of a Job tells of a pod that was refused."""
    meta = obj["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{meta['name']}.1", "namespace": meta["namespace"]},
        "involvedObject": {"kind": kind, "name": meta["name"], "uid": meta["uid"]},
        "reason": "FailedCreate",
        "message": f"Error creating: {QUOTA}",
    }


def test_pods_that_a_quota_refuses_are_shown_with_the_job(cluster: MemoryCluster) -> None:
    web, once = job_of("web"), job_of("once", JobType.ONE_OFF)
    roll_out(cluster, web)
    (main,) = roll_out(cluster, once)
    failure = {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": QUOTA}
    patch_runtime(cluster, web, {"status": {"conditions": [failure]}}, "kube-controller-manager")
    cluster.create(failed_creation("Job", main))
    listed = call(cluster, stored_job_info.DEFINITION)["jobs"]
    assert [(one["reason"], QUOTA in one["message"]) for one in listed] == [("OutOfQuota", True)] * 2
    result = call(
        cluster, namespace="shop", jobs=[{"name": "once", "type": "one-off", **listed[0]["fields"]}]
    )
    assert result["jobs"][0]["reason"] == "OutOfQuota"
    assert result["lines"] == [f"shop/once: up to date: OutOfQuota: Error creating: {QUOTA}"]
    patch_runtime(cluster, once, {"status": {"active": 1}}, "kube-controller-manager")
    (listed_once, _web) = call(cluster, stored_job_info.DEFINITION)["jobs"]
    assert listed_once["reason"] == ""


def test_a_run_of_a_schedule_that_has_a_pod_by_now_is_not_out_of_quota(cluster: MemoryCluster) -> None:
    backup = job_of("backup", JobType.SCHEDULED)
    (main,) = roll_out(cluster, backup)
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "backup", "uid": main["metadata"]["uid"]}
    run = cluster.create(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": "backup-1",
                "namespace": "shop",
                "ownerReferences": [{**owner, "controller": True}],
            },
            "spec": main["spec"]["jobTemplate"]["spec"],
        }
    )
    active = [{"kind": "Job", "name": "backup-1", "uid": run["metadata"]["uid"]}]
    patch_runtime(cluster, backup, {"status": {"active": active}}, "kube-controller-manager")
    cluster.create(failed_creation("Job", run))
    (listed,) = call(cluster, stored_job_info.DEFINITION)["jobs"]
    assert listed["reason"] == "OutOfQuota"
    cluster.patch("batch/v1", "Job", "backup-1", "shop", {"status": {"active": 1}}, subresource="status")
    (listed,) = call(cluster, stored_job_info.DEFINITION)["jobs"]
    assert listed["reason"] == ""


def test_jobs_are_listed_without_the_right_to_read_events(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("once", JobType.ONE_OFF))
    cluster.fail_when(lambda one: one.ref.kind == "Event", FORBIDDEN)
    assert len(call(cluster, stored_job_info.DEFINITION)["jobs"]) == 1


def test_a_rewrite_lets_the_status_be_of_the_new_generation(cluster: MemoryCluster) -> None:
    job = job_of("web")
    roll_out(cluster, job)
    call(cluster, namespace="shop", jobs=[{"name": "web", "type": "continuous", **given_fields(job)}])
    kind = DEFINITION_KINDS[JobType.CONTINUOUS]
    old = {"metadata": {"labels": {STORAGE_VERSION_LABEL: "1"}}}
    cluster.patch(*kind, "web", "shop", old)
    assert call(cluster, stored_job_import.DEFINITION, rewrite=True)["rewritten"] == ["shop/web"]
    definition = definition_of(cluster, "web")
    assert definition
    assert definition["status"]["observedGeneration"] == definition["metadata"]["generation"]


def test_a_rewrite_keeps_the_type_that_a_definition_replaces(cluster: MemoryCluster) -> None:
    roll_out(cluster, job_of("web"))
    kind = DEFINITION_KINDS[JobType.CONTINUOUS]
    old = {"metadata": {"labels": {STORAGE_VERSION_LABEL: "1"}}, "spec": {"replaces": "scheduled"}}
    cluster.patch(*kind, "web", "shop", old)
    assert call(cluster, stored_job_import.DEFINITION, rewrite=True)["rewritten"] == ["shop/web"]
    definition = definition_of(cluster, "web")
    assert definition
    assert definition["metadata"]["labels"][STORAGE_VERSION_LABEL] == "2"
    assert definition["spec"]["replaces"] == "scheduled"


def test_an_import_of_some_labels_takes_no_name_of_a_job_with_others(cluster: MemoryCluster) -> None:
    create_runtime(cluster, job_of("web", JobType.SCHEDULED))
    create_runtime(cluster, job_of("web", JobType.CONTINUOUS))
    cluster.patch("apps/v1", "Deployment", "web", "shop", {"metadata": {"labels": {"app": "shop"}}})
    done = call(cluster, stored_job_import.DEFINITION, label_selectors=["app=shop"])
    assert done["imported"] == []
    [line] = done["unreadable"]
    assert "A scheduled job that the label selector leaves out has the same name" in line


# Logs.


def play_runs(cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch, exit_code: int | None) -> None:
    """Let the container of each run print a line, and end while the task waits."""
    played = PlayedJobs(cluster)
    played.runs["job"] = ContainerRun(exit_code)

    def tick(_seconds: float) -> None:
        for name in played.started:
            cluster.set_log(name, "shop", "disk full\n", "job")
        played.tick()

    monkeypatch.setattr(job_logs, "time", SimpleNamespace(monotonic=time.monotonic, sleep=tick))


def test_a_run_that_is_followed_and_fails_fails_the_task_with_its_log(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = {"type": "one-off", "image": "busybox:1", "name": "once", "namespace": "shop"}
    assert call(cluster, **{**BACKUP, "namespace": "shop"})["logs"] == []
    play_runs(cluster, monkeypatch, 3)
    logs = {"show_logs": True, "follow": True}
    restarted = {"name": "backup", "namespace": "shop", "state": "restarted"}
    for name, options in (("once", once), ("backup", restarted)):
        failed = call(cluster, **options, **logs)
        [log] = failed["logs"]
        assert (log["namespace"], log["name"], log["container"]) == ("shop", name, "job")
        assert (log["lines"], log["problem"], failed["jobs"][0]["changed"]) == (["disk full"], "", True)
        assert (
            f"shop/{name}: its run failed: ContainerFailed: Container job exited with code 3."
            in failed["msg"]
        )
        assert failed["msg"].endswith(f"The last lines of container job of Pod {log['pod']}:\n  disk full")
    # It runs no more, and stays as failed.
    shown: list[str] = []
    again = call(cluster, **once, show_logs=True, progress=lambda *line: shown.append(": ".join(line[:2])))
    assert shown[-2].startswith("shop/once: The last lines of container job of Pod once-")
    assert shown[-1] == "shop/once:   disk full"
    assert (again.get("failed"), again["changed"], again["logs"][0]["lines"]) == (None, False, ["disk full"])
    assert call(cluster, **once)["logs"] == []
    assert call(cluster, check=True, **once, **logs)["logs"] == []


def test_a_run_that_is_followed_and_succeeds_is_awaited(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_runs(cluster, monkeypatch, 0)
    jobs = [
        {"type": "one-off", "image": "busybox:1", "name": "once"},
        {"type": "one-off", "image": "busybox:1", "name": "later", "suspend": True},
        {**BACKUP},
        {**WEB},
    ]
    done = call(cluster, namespace="shop", jobs=jobs, show_logs=True, follow=True)
    assert (done.get("failed"), done["logs"], done["warnings"]) == (None, [], [])
    once = cluster.get("batch/v1", "Job", "once", "shop")
    assert once is not None
    assert once["status"]["succeeded"] == 1


def test_a_run_that_takes_longer_than_it_is_followed_is_a_warning(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    play_runs(cluster, monkeypatch, None)
    once = {"type": "one-off", "image": "busybox:1", "name": "once", "namespace": "shop"}
    done = call(cluster, **once, show_logs=True, follow=True, wait_timeout=0.05)
    assert done.get("failed") is None
    assert done["warnings"] == ["shop/once: its run did not end within 0.05 s. It continues in the cluster"]


def test_to_follow_logs_that_are_not_shown_is_refused(cluster: MemoryCluster) -> None:
    refused = call(cluster, **WEB, namespace="shop", follow=True)
    assert refused["msg"] == "follow shows logs, and show_logs is false. Set show_logs: true"
    assert writes(cluster) == []
