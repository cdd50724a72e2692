# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that remove themselves once they have finished: waited for, remembered, and not run again."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    Cluster,
    Event,
    Object,
    ref_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health import wait
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.wait import (
    WaitResult,
    WaitTerms,
    wait_until_healthy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.watcher import Watcher
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    MigrationError,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import FOREVER
from tests.support.driver import deployer, deployment, healthy_cluster, make_healthy, release

COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}
FAILED = {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}


def job(namespace: str = "ns", image: str = "i", ttl: int | None = 0) -> Object:
    """A Job that removes itself, unless it has no ``ttl``."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": image}]}}
    spec: Object = {"template": template}
    if ttl is not None:
        spec["ttlSecondsAfterFinished"] = ttl
    meta = {"name": "a", "namespace": namespace}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}


def config_map(namespace: str, **data: str) -> Object:
    meta = {"name": "other", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def event(cluster: MemoryCluster, reason: str) -> None:
    """What the Job's controller says of it."""
    live = cluster.get("batch/v1", "Job", "a", "ns")
    assert live
    involved = {"kind": "Job", "name": "a", "namespace": "ns", "uid": live["metadata"]["uid"]}
    meta = {"name": reason.lower(), "namespace": "ns"}
    content = {"involvedObject": involved, "reason": reason, "message": "it says so", "type": "Normal"}
    cluster.create({"apiVersion": "v1", "kind": "Event", "metadata": meta, **content})


def waited_for(monkeypatch: pytest.MonkeyPatch, how: str, ttl: int | None = 0) -> WaitResult:
    """A wait for a Job that goes: after its ``status`` was seen, before, or with an ``event`` alone."""
    monkeypatch.setattr(wait, "MISSING_FAILS_AFTER", 0.3)
    cluster = MemoryCluster()
    cluster.seed(config_map("ns"))
    answer = cluster.apply(job(ttl=ttl))

    def go() -> None:
        if how in ("Complete", "Failed"):
            status: dict[str, Any] = COMPLETE if how == "Complete" else FAILED
            cluster.patch("batch/v1", "Job", "a", "ns", {"status": status}, subresource="status")
        elif how:
            event(cluster, how)
        cluster.delete("batch/v1", "Job", "a", "ns")

    timer = threading.Timer(1.0 if how in ("Complete", "Failed") else 0.0, go)
    if how in ("Complete", "Failed"):
        timer.start()
    else:
        go()
    refs = [(answer["apiVersion"], ref_of(answer))]
    terms = WaitTerms(cluster, time.monotonic() + FOREVER, watcher=Watcher(cluster))
    return wait_until_healthy(terms, refs, objects=[answer])


@pytest.mark.parametrize("how", ["Complete", "Completed"])
def test_a_job_that_completed_is_healthy_although_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    assert waited_for(monkeypatch, how).is_healthy


@pytest.mark.parametrize("how", ["Failed", "BackoffLimitExceeded"])
def test_a_job_that_failed_is_unhealthy_although_it_is_gone(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    result = waited_for(monkeypatch, how)
    assert result.ended == "failed"
    assert result.unhealthy[0].health.reason == "BackoffLimitExceeded"


@pytest.mark.parametrize(("how", "ttl"), [("", 0), ("Completed", None)])
def test_a_job_that_a_user_deleted_is_missing(
    monkeypatch: pytest.MonkeyPatch, how: str, ttl: int | None
) -> None:
    result = waited_for(monkeypatch, how, ttl)
    assert result.ended == "failed"
    assert result.unhealthy[0].health.reason == "Missing"


def _release(version: str, image: str = "i", ttl: int | None = 0, **data: str) -> Any:
    return release(version, {"a": [job("kyma-system", image, ttl), config_map("kyma-system", **data)]})


def _gone(cluster: MemoryCluster) -> None:
    assert cluster.delete("batch/v1", "Job", "a", "kyma-system")


def _is_there(cluster: MemoryCluster) -> bool:
    return cluster.get("batch/v1", "Job", "a", "kyma-system") is not None


def test_a_finished_job_that_is_gone_is_not_recreated() -> None:
    cluster = healthy_cluster()
    someone = deployer(_release("1", x="1"), cluster=cluster)
    assert someone.deploy()["state"] == "succeeded"
    _gone(cluster)
    assert not someone.plan()["plan"]["needed"]
    # Nor with a component of which something else has changed.
    again = deployer(_release("1", x="2"), cluster=cluster)
    planned = again.plan()["plan"]
    [changed] = [one for one in planned["components"] if one["name"] == "a"]
    assert [change["kind"] for change in changed["changes"]] == ["ConfigMap"]
    assert again.deploy()["state"] == "succeeded"
    assert not _is_there(cluster)
    assert not again.plan()["plan"]["needed"]
    entries = {entry.ref.kind: entry for entry in read_inventories(cluster)["a"].entries}
    assert entries["Job"].finished
    assert not entries["ConfigMap"].finished


def _run_all_but(kind: str) -> MemoryCluster:
    """A cluster whose controllers leave one kind alone."""

    def react(cluster: Cluster, event: Event) -> None:
        if event.object["kind"] != kind:
            make_healthy(cluster, event)

    cluster = MemoryCluster()
    cluster.on_write(react)
    return cluster


def _goes_on_without_it(cluster: MemoryCluster) -> bool:
    """Whether a run after one that has failed does not make the Job anew, which has removed itself."""
    _gone(cluster)
    mended = release("1", {"a": [job("kyma-system"), config_map("kyma-system")]})
    assert deployer(mended, cluster=cluster).deploy()["state"] == "succeeded"
    return not _is_there(cluster)


def test_a_job_that_finished_before_its_component_failed_is_not_recreated() -> None:
    given = release("1", {"a": [job("kyma-system"), deployment("d")]})
    cluster = _run_all_but("Deployment")
    assert deployer(given, cluster=cluster, timeout=1).deploy()["failed"]
    assert _goes_on_without_it(cluster)


def test_a_job_that_finished_before_a_migration_failed_is_not_recreated() -> None:
    class Fails(Migration):
        """Fails when all is healthy."""

        component = "a"
        phase = Phase.POST
        keep = "for tests"

        def check(self, ctx: Context) -> Verdict:
            done = ctx.cluster.get("v1", "ConfigMap", "other", "kyma-system")
            return not_needed("it was done") if done else needed("it was not done yet")

        def run(self, ctx: Context) -> None:
            if not ctx.rehearsal:
                raise MigrationError("the disk is full; free some space")
            ctx.cluster.apply(config_map("kyma-system"))

    given = release("1", {"a": [job("kyma-system")]})
    cluster = healthy_cluster()
    assert deployer(given, Fails, cluster=cluster).deploy()["failed"]
    assert _goes_on_without_it(cluster)


def test_a_job_that_was_running_when_its_component_failed_is_not_finished() -> None:
    cluster = _run_all_but("Job")
    given = release("1", {"a": [job("kyma-system"), deployment("d", "broken")]})
    assert deployer(given, cluster=cluster).deploy()["failed"]
    assert not any(entry.finished for entry in read_inventories(cluster)["a"].entries)


def test_a_changed_job_runs_although_the_old_one_has_finished() -> None:
    cluster = healthy_cluster()
    assert deployer(_release("1"), cluster=cluster).deploy()["state"] == "succeeded"
    _gone(cluster)
    assert deployer(_release("1", image="new"), cluster=cluster).deploy()["state"] == "succeeded"
    assert _is_there(cluster)


def test_a_job_without_a_ttl_that_a_user_deleted_is_recreated() -> None:
    cluster = healthy_cluster()
    someone = deployer(_release("1", ttl=None), cluster=cluster)
    assert someone.deploy()["state"] == "succeeded"
    _gone(cluster)
    assert someone.plan()["plan"]["needed"]
    assert someone.deploy()["state"] == "succeeded"
    assert _is_there(cluster)
