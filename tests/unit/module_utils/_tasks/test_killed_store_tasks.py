# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of the job store that are killed right before or after any of their writes, and run again.

What each must show: the second call succeeds and ends like a call that was not killed; no job is without a
definition and what runs at once; no object counts twice; a third call changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call
from ansible_collections.kyma.lifecycle.plugins.module_utils._custom_resources.storage_version import (
    STORAGE_VERSION_LABEL,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.job_fields import given_fields
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.runtime.normal_form import (
    normal_form,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.storage.definition import (
    DEFINITION_KINDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import pod_refusals
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.counters import COUNTER_KIND
from ansible_collections.kyma.lifecycle.plugins.module_utils._store.switches import JOB_STORE
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    job_store,
    stored_job,
    stored_job_import,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.extent import IS_FULL, cases
from tests.support.hooked_cluster import HookedCluster, Killed
from tests.support.job_store import (
    create_runtime,
    ensure_namespace,
    job_of,
    patch_runtime,
    roll_out,
    store_cluster,
)
from tests.support.task_call import call_task, to

RUNTIME = (("batch/v1", "Job"), ("batch/v1", "CronJob"), ("apps/v1", "Deployment"), ("v1", "Service"))


@pytest.fixture(autouse=True)
def no_wait_for_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    """No controller acts on this cluster."""
    monkeypatch.setattr(pod_refusals, "PODS_SECONDS", 0.0)


def call(cluster: Cluster, definition: TaskDefinition, options: dict[str, Any]) -> Result:
    return call_task(definition, options, to(cluster))


def cluster_with_jobs() -> MemoryCluster:
    """Stored jobs, old ones, drifted ones, and jobs that are only in Kubernetes."""
    cluster = store_cluster()
    ensure_namespace(cluster, "shop")
    for job in (job_of("web"), job_of("nightly", JobType.SCHEDULED), job_of("once", JobType.ONE_OFF)):
        roll_out(cluster, job)
    for type_ in JobType:
        create_runtime(cluster, job_of(f"by-hand-{type_}", type_))
    patch_runtime(cluster, job_of("web"), {"spec": {"replicas": 5}}, "kubectl-scale")
    old = {
        "metadata": {"labels": {STORAGE_VERSION_LABEL: "1"}},
        "spec": {"stranger": {"a": 1}},
    }
    cluster.patch(*DEFINITION_KINDS[JobType.SCHEDULED], "nightly", "shop", old)
    return cluster


def entry(name: str, type_: JobType, **fields: Any) -> dict[str, Any]:
    return {"name": name, "type": str(type_), **given_fields(job_of(name, type_, **fields))}


LOADED = [
    entry("web", JobType.SCHEDULED),
    entry("nightly", JobType.CONTINUOUS),
    entry("new", JobType.CONTINUOUS),
    entry("by-hand-continuous", JobType.CONTINUOUS, image="nginx:2"),
    entry("by-hand-one-off", JobType.ONE_OFF, command="false"),
]
SCENARIOS: dict[str, tuple[TaskDefinition, dict[str, Any]]] = {
    "load and prune": (stored_job.DEFINITION, {"namespace": "shop", "jobs": LOADED, "prune": True}),
    "delete": (
        stored_job.DEFINITION,
        {
            "namespace": "shop",
            "jobs": [{"name": "web"}, {"name": "once"}, {"name": "by-hand-continuous"}],
            "state": "absent",
        },
    ),
    "import and rewrite": (stored_job_import.DEFINITION, {"rewrite": True}),
    "flip": (job_store.DEFINITION, {"source_of_truth": "storage", "force": True}),
}


def end_state(cluster: MemoryCluster) -> list[Object]:
    """What counts of all objects: definitions with their rollouts, what runs, counters and switches."""
    state = [normal_form(obj) for kind in RUNTIME for obj in cluster.list(*kind).items]
    for kind in DEFINITION_KINDS.values():
        for obj in cluster.list(*kind).items:
            status = obj.get("status") or {}
            known = [(one["kind"], one["digest"]) for one in status.get("objects") or ()]
            version = obj["metadata"]["labels"][STORAGE_VERSION_LABEL]
            state.append({"name": obj["metadata"]["name"], "kind": obj["kind"], "spec": obj["spec"]})
            state.append({"version": version, "known": known, "run": status.get("run")})
    for obj in cluster.list(*COUNTER_KIND).items:
        # A call that is killed may leave a definition without its job, which the next one counts.
        state.append({"counted": obj["spec"]["onlyInKubernetes"]})
    return state + [obj["spec"] for obj in cluster.list(*JOB_STORE.address).items]


def names(cluster: MemoryCluster, *kinds: tuple[str, str]) -> set[str]:
    return {obj["metadata"]["name"] for kind in kinds for obj in cluster.list(*kind).items}


def killer(last: int, *, is_after: bool) -> dict[str, Callable[[int, Call], None]]:
    """Hooks that kill a task right before or after its write of a number."""
    writes: list[Call] = []

    def kill(_number: int, call: Call) -> None:
        if call.writes:
            writes.append(call)
            if len(writes) == last:
                raise Killed

    return {"after" if is_after else "before": kill}


@pytest.mark.parametrize("is_after", cases([True], [False]), ids=cases(["after"], ["before"]))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_task_that_is_killed_at_any_write_ends_the_same_when_it_is_run_again(
    scenario: str, *, is_after: bool
) -> None:
    definition, options = SCENARIOS[scenario]
    whole = cluster_with_jobs()
    hooked = HookedCluster(whole)
    assert not call(hooked, definition, options).get("failed")
    expected, writes = end_state(whole), sum(one.writes for one in hooked.calls)
    jobs = names(cluster_with_jobs(), *RUNTIME)
    for last in range(1, writes + 1, 1 if IS_FULL else 4):
        cluster = cluster_with_jobs()
        try:
            call(HookedCluster(cluster, **killer(last, is_after=is_after)), definition, options)
        except Killed:
            pass
        else:
            # A write that the cluster refuses has no effect to be killed after.
            assert is_after
            assert last > writes // 2
            break
        if options.get("state") != "absent" and not options.get("prune"):
            assert names(cluster, *RUNTIME) >= jobs
        again = call(cluster, definition, options)
        assert not again.get("failed"), (last, again)
        assert end_state(cluster) == expected, f"killed at write {last} of {writes}"
        assert not call(cluster, definition, options)["changed"]
