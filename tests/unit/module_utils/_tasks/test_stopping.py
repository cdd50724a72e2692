# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every task that works on many objects can be stopped between two of them, and says how far it is.

A new task must be in one of these tables, by what it does.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils import _batch, _tasks
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobType
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import VersionContent
from ansible_collections.kyma.lifecycle.plugins.module_utils._progress import Step
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import (
    APPROVAL,
    Approval,
    approval_record,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._store import pod_refusals
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import (
    approval,
    errand,
    job_store,
    migration,
    reconcile_errands,
    stored_job,
    stored_job_import,
    versioned_secret,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, config_map, deployer, release
from tests.support.job_store import create_runtime, ensure_namespace, job_of, store_cluster
from tests.support.memory_modules import CATALOG, User, manifest, user
from tests.support.played_errands import PlayedErrands, errand_object

MANY = 60
IN_WORK = 20
"""More objects than this are not written after the stop: each thread completes one."""


@dataclass
class Stopped:
    """A task that is stopped at its first write of a kind.

    Attributes:
        kind: of the objects that it works on.
        steps: that it has reported with a count.
    """

    kind: str
    someone: Deployer
    steps: list[Step] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.someone.cluster.requests.clear()
        self.someone.cancelled = lambda: bool(self.written)
        self.someone.progress = self._progress

    def _progress(self, subject: str, state: str, detail: str = "", step: Step | None = None) -> None:
        self.steps += [step] if step and step.total else []
        self.printed.append(f"{subject}: {state} ({detail})")

    @property
    def written(self) -> set[str]:
        """The objects that it has written."""
        requests = list(self.someone.cluster.requests)
        return {str(one.ref) for one in requests if one.writes and one.ref.kind == self.kind}


def stopped_import() -> tuple[Stopped, Result]:
    cluster = store_cluster()
    for number in range(MANY):
        create_runtime(cluster, job_of(f"j{number:02}", JobType.CONTINUOUS))
    it = Stopped("ContinuousJob", deployer(release("2.9", {}), cluster=cluster))
    return it, it.someone.task(stored_job_import.DEFINITION)


def stopped_jobs() -> tuple[Stopped, Result]:
    cluster = store_cluster()
    ensure_namespace(cluster, "shop")
    jobs = [
        {"name": f"j{number:02}", "type": "continuous", "image": "nginx:1", "port": 8080}
        for number in range(MANY)
    ]
    it = Stopped("ContinuousJob", deployer(release("2.9", {}), cluster=cluster))
    return it, it.someone.task(stored_job.DEFINITION, jobs=jobs, namespace="shop")


def stopped_errands() -> tuple[Stopped, Result]:
    played = PlayedErrands()
    for number in range(MANY):
        played.create(errand_object(f"e{number:02}"))
    it = Stopped("Job", deployer(release("2.9", {}), cluster=played.cluster))
    return it, it.someone.task(reconcile_errands.DEFINITION)


def versions() -> list[Object]:
    return [VersionContent("default", "x", {"a": "b"}).as_version(number) for number in range(1, MANY + 1)]


def stopped_deletion_of_versions() -> tuple[Stopped, Result]:
    it = Stopped("Secret", deployer(release("2.9", {}), cluster=MemoryCluster(*versions())))
    result = it.someone.task(versioned_secret.DEFINITION, namespace="default", name="x", state="absent")
    return it, result


def stopped_pruning_of_versions() -> tuple[Stopped, Result]:
    it = Stopped("Secret", deployer(release("2.9", {}), cluster=MemoryCluster(*versions())))
    given = {"namespace": "default", "name": "x", "keep": 1, "data": {"a": "new"}}
    return it, it.someone.task(versioned_secret.DEFINITION, **given)


def stopped_approval() -> tuple[Stopped, Result]:
    cluster = MemoryCluster()
    cluster.apply(APPROVAL.definition)
    for number in range(MANY):
        one = Approval("rest", f"{number:064}", reason="it is fine", user="alice")
        cluster.create(approval_record(one))
    it = Stopped("KymaApproval", deployer(release("2.9", {}), cluster=cluster))
    return it, it.someone.task(approval.DEFINITION, ring="rest", state="absent")


def stopped_installation() -> tuple[Stopped, Result]:
    it = Stopped("ClusterRole", deployer(release("2.9", {}), cluster=MemoryCluster()))
    return it, it.someone.task(job_store.DEFINITION)


def stopped_errand() -> tuple[Stopped, Result]:
    it = Stopped("ClusterRole", deployer(release("2.9", {}), cluster=MemoryCluster()))
    spec = errand_object("e")["spec"]
    return it, it.someone.task(
        errand.DEFINITION, namespace="default", name="e", template=spec["template"], wait=False
    )


def maps(count: int) -> list[Object]:
    return [config_map(f"c{number:02}") for number in range(count)]


def stopped_deployment() -> tuple[Stopped, Result]:
    it = Stopped("ConfigMap", deployer(release("2.9", {"shop": maps(MANY)}), grace=0))
    it.someone.deploy()
    return it, next(one for one in it.someone.results if "components" in one and "plan" not in one)


def with_maps() -> Deployer:
    someone = deployer(release("2.9", {"shop": maps(MANY)}), grace=0)
    assert someone.deploy()["state"] == "succeeded"
    return someone


def stopped_deletion() -> tuple[Stopped, Result]:
    it = Stopped("ConfigMap", with_maps())
    return it, it.someone.delete()


def stopped_prune() -> tuple[Stopped, Result]:
    someone = with_maps()
    someone.materials.given = release("2.10", {"shop": maps(1)})
    someone.results.clear()
    it = Stopped("ConfigMap", someone)
    it.someone.cancelled = lambda: any(
        one.writes and one.verb == "delete" and one.ref.kind == "ConfigMap"
        for one in list(someone.cluster.requests)
    )
    someone.deploy()
    pruned = [one for one in someone.results if "components" in one and "plan" not in one]
    return it, pruned[-1]


class Fills(Migration):
    """Creates many objects."""

    component = GLOBAL
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        there = ctx.cluster.get("v1", "ConfigMap", "m00", "default")
        return not_needed("they exist") if there else needed("there are none")

    def run(self, ctx: Context) -> None:
        for number in range(MANY):
            obj = config_map(f"m{number:02}")
            ctx.cluster.create({**obj, "metadata": {**obj["metadata"], "namespace": "default"}})


def stopped_undo() -> tuple[Stopped, Result]:
    someone = deployer(release("2.9", {}), Fills)
    assert someone.deploy()["state"] == "succeeded"
    it = Stopped("ConfigMap", someone)
    return it, someone.task(migration.DEFINITION, state="undone", ids=[Fills.id()])


def module_user() -> User:
    """A user of a module with many objects."""
    objects = [*manifest("1.0.0"), *maps(MANY)]
    manifests = {**CATALOG["manifests"], "https://example.com/nats-1.0.0.yaml": yaml.safe_dump_all(objects)}
    someone = user()
    someone.materials.catalog = {**CATALOG, "manifests": manifests}
    return someone


def stopped_module() -> tuple[Stopped, Result]:
    it = Stopped("ConfigMap", module_user())
    return it, it.someone.manage(grace=0)


def stopped_giving_up() -> tuple[Stopped, Result]:
    someone = module_user()
    assert not someone.manage().get("failed")
    it = Stopped("ConfigMap", someone)
    return it, someone.manage(state="unmanaged", grace=0)


WRITES_MANY: dict[str, list[Callable[[], tuple[Stopped, Result]]]] = {
    "approval": [stopped_approval],
    "component": [stopped_deployment, stopped_deletion, stopped_prune],
    "errand": [stopped_errand],
    "job_store": [stopped_installation],
    "migration": [stopped_undo],
    "module": [stopped_module, stopped_giving_up],
    "reconcile_errands": [stopped_errands],
    "stored_job": [stopped_jobs],
    "stored_job_import": [stopped_import],
    "versioned_secret": [stopped_deletion_of_versions, stopped_pruning_of_versions],
}
"""By task: calls of it that are stopped."""
WRITES_ONE = {"hold", "run"}
"""Tasks that write one record, after the definitions of records if these are missing."""
READS = {"plan"}
"""Tasks that write nothing, besides those that are called info."""


def test_every_task_is_in_a_table() -> None:
    """One that works on many objects needs a call here that is stopped."""
    names = {one.name for one in pkgutil.iter_modules(_tasks.__path__) if not one.ispkg}
    tasks = {name for name in names if hasattr(import_module(f"{_tasks.__name__}.{name}"), "DEFINITION")}
    reads = {name for name in tasks if name.endswith("_info")} | READS
    assert tasks == reads | WRITES_ONE | set(WRITES_MANY)


@pytest.fixture(autouse=True)
def _reports_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_batch, "REPORT_SECONDS", 0.0)
    monkeypatch.setattr(pod_refusals, "PODS_SECONDS", 0.0)


@pytest.mark.parametrize("call", [call for calls in WRITES_MANY.values() for call in calls])
def test_a_stopped_task_writes_no_further_object_and_says_what_is_left(
    call: Callable[[], tuple[Stopped, Result]],
) -> None:
    it, result = call()
    assert 1 <= len(it.written) <= IN_WORK, sorted(it.written)
    assert result["failed"] or result["state"] == "cancelled", result
    if "not_done" in result:
        assert f"stopped after {len(it.written)} of " in result["msg"] or result["msg"].startswith("stopped")
        assert "Run it again to do the rest" in result["msg"]
    else:
        # The record of a run, or of an undo, has the state of each object or component.
        assert "cancelled" in result["msg"] or "stopped after" in result["msg"]


@pytest.mark.parametrize("call", [call for calls in WRITES_MANY.values() for call in calls])
def test_a_task_reports_how_many_objects_are_done(call: Callable[[], tuple[Stopped, Result]]) -> None:
    it, _result = call()
    assert [step for step in it.steps if step.total > 1], it.printed
