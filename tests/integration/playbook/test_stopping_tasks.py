# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that work on many objects, on a real API server: after SIGTERM none of them writes on.

The server answers slowly, so that each would write for many seconds.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.version_writer import VersionContent
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import (
    APPROVAL,
    Approval,
    approval_record,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.support.audit import AuditLog
from tests.support.distance import distant_kubeconfig
from tests.support.eventually import eventually
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule
from tests.support.playbook_run import (
    DELETING_PLAYBOOK,
    PLAYBOOK,
    UNDOING_PLAYBOOK,
    Outcome,
    Playbook,
    Running,
)
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

from .remote_host import inventory_elsewhere

pytestmark = pytest.mark.control_plane

MANY = 120
OBJECTS = 240
"""Of a component or a module: more than 16 at once are in the grace of a run."""
DELAY = 0.3
"""Seconds that each request takes longer."""
BEGUN = 6
"""After so many writes the task is stopped."""
GRACE = 3
"""Seconds for the active work of a run."""
IN_FLIGHT = 10.0
"""Seconds in which a request that was sent is answered, and the signal arrives, on a busy machine too."""
QUIET = 12.0
"""Seconds without a write after which the work counts as ended."""
SHOP = "shop"


@dataclass
class Stop:
    """Ends ansible-playbook once some objects of a kind are written, and watches what is written later.

    Attributes:
        resource: the kind, as the audit log names it.
        begun: after so many objects.
        writes: the time and the object of each write.
        signalled: when the signal was sent.
    """

    audit: AuditLog
    resource: str
    begun: int = BEGUN
    writes: list[tuple[float, str]] = field(default_factory=list)
    signalled: float = 0.0

    def __post_init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._position = self.audit.path.stat().st_size

    def watch(self, _line: str, running: Running) -> None:
        """Begin with the first line of the playbook."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._stop, args=(running.pid,), daemon=True)
            self._thread.start()

    def _stop(self, pid: int) -> None:
        while len(self.written) < self.begun:
            time.sleep(0.05)
            self._read()
        self.signalled = time.time()
        os.kill(pid, signal.SIGTERM)

    def _read(self) -> None:
        requests, self._position = self.audit.since(self._position)
        for one in requests:
            if one.persists and one.target.split()[0] == self.resource:
                self.writes.append((one.time, one.target))

    @property
    def written(self) -> set[str]:
        """The objects that were written."""
        return {name for _time, name in self.writes}

    def assert_ended(self, grace: float = 0.0, many: int = MANY) -> None:
        """Wait until nothing is written: the last write was within the grace, and objects are left."""
        end = time.monotonic() + QUIET
        while time.monotonic() < end:
            known = len(self.writes)
            time.sleep(0.5)
            self._read()
            if len(self.writes) > known:
                end = time.monotonic() + QUIET
        assert self.signalled, "it had ended before"
        latest = self.signalled + grace + IN_FLIGHT
        late = [at - self.signalled for at, _name in self.writes if at > latest]
        assert late == [], f"{len(late)} writes after the signal and the grace"
        assert self.begun <= len(self.written) < many


class World:
    """One cluster, and playbooks of an administrator.

    Attributes:
        fast: prepares what the tests stop.
    """

    def __init__(self, cluster: OwnCluster, folder: Path, slow: Path) -> None:
        self.cluster = cluster
        self.fast = Playbook(folder, cluster.kubeconfig, cluster.audit)
        self._slow = Playbook(folder, slow, cluster.audit)

    def create(self, *objects: Object) -> None:
        """Create objects at once."""
        map_in_threads(self.cluster.api.create, objects)

    def stop_task(
        self, resource: str, module: str, elsewhere: bool = False, begun: int = BEGUN, **options: Any
    ) -> tuple[Stop, Outcome]:
        """A playbook with one task, which is stopped."""
        (self.fast.folder / "own.yml").write_text(task(module, **options))
        more = inventory_elsewhere(self.fast.folder) if elsewhere else []
        return self.stop_book(resource, "own.yml", *more, begun=begun)

    def stop_book(self, resource: str, *arguments: str, begun: int = BEGUN) -> tuple[Stop, Outcome]:
        """A playbook that is stopped."""
        stop = Stop(self.cluster.audit, resource, begun)
        outcome = self._slow._recorded([*arguments], stop.watch)
        assert outcome.status != 0
        assert "Traceback" not in outcome.text
        return stop, outcome


def task(module: str, **options: Any) -> str:
    named = {"name": "Work", f"kyma.lifecycle.{module}": options}
    return json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": [named]}])


@pytest.fixture(scope="module")
def world(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("user")
    own_cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SHOP}})
    with distant_kubeconfig(own_cluster.kubeconfig, folder / "slow-kubeconfig", DELAY) as path:
        yield World(own_cluster, folder, path)


def cron_job(number: int) -> Object:
    pod = {"containers": [{"name": "main", "image": "busybox:1.37"}], "restartPolicy": "Never"}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": f"j{number:02}", "namespace": SHOP},
        "spec": {"schedule": "7 3 * * *", "jobTemplate": {"spec": {"template": {"spec": pod}}}},
    }


@pytest.fixture(scope="module")
def stopped_installation(world: World) -> Stop:
    stop, _outcome = world.stop_task("clusterroles", "job_store", begun=1)
    stop.assert_ended(many=100)
    return stop


@pytest.fixture(scope="module")
def store(world: World, stopped_installation: Stop) -> World:
    """A cluster with a job store, and jobs that it does not know."""
    assert stopped_installation
    world.fast.play(task("job_store")).succeeded()
    world.create(*map(cron_job, range(MANY)))
    return world


def test_the_installation_of_the_job_store(world: World, stopped_installation: Stop) -> None:
    crds = world.cluster.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items
    assert stopped_installation.signalled
    assert len(crds) < 5


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.night
def test_an_import(store: World, elsewhere: bool) -> None:
    stop, outcome = store.stop_task("scheduledjobs", "stored_job_import", elsewhere, namespaces=[SHOP])
    stop.assert_ended()
    assert "import: cancelled (stopped after" in outcome.text


def test_changes_of_jobs(store: World) -> None:
    fields = {"type": "scheduled", "image": "busybox:1", "schedule": "@daily"}
    jobs = [{"name": f"n{number:02}", **fields} for number in range(MANY)]
    stop, outcome = store.stop_task("scheduledjobs", "stored_job", namespace=SHOP, jobs=jobs)
    stop.assert_ended()
    assert f"of {MANY} jobs. Not done: {SHOP}/n" in outcome.text


@pytest.mark.night
def test_errands(world: World) -> None:
    world.fast.play(task("reconcile_errands")).succeeded()
    pod = {"containers": [{"name": "main", "image": "busybox:1.37"}], "restartPolicy": "Never"}
    errands = [
        {
            "apiVersion": "lifecycle.kyma-project.io/v1",
            "kind": "Errand",
            "metadata": {"name": f"e{number:02}", "namespace": SHOP},
            "spec": {"trigger": {"strategy": "once"}, "template": {"spec": {"template": {"spec": pod}}}},
        }
        for number in range(MANY)
    ]
    world.create(*errands)
    stop, outcome = world.stop_task("errands", "reconcile_errands", namespaces=[SHOP])
    stop.assert_ended()
    assert f"of {MANY} errands. Not done: Errand {SHOP}/e" in outcome.text


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.night
def test_versions_of_a_secret(world: World, elsewhere: bool) -> None:
    base = f"x{int(elsewhere)}"
    content = VersionContent(SHOP, base, {"a": "b"})
    world.create(*map(content.as_version, range(1, MANY + 1)))
    options = {"namespace": SHOP, "name": base, "state": "absent"}
    stop, outcome = world.stop_task("secrets", "versioned_secret", elsewhere, **options)
    stop.assert_ended()
    assert f"of {MANY} versions. Not done: {base}-v" in outcome.text


@pytest.mark.night
def test_approvals(world: World) -> None:
    world.cluster.api.apply(APPROVAL.definition)
    eventually(lambda: world.cluster.api.resource(API_VERSION, "KymaApproval") is not None)
    approvals = [Approval("rest", f"{number:064}", reason="fine", user="alice") for number in range(MANY)]
    world.create(*map(approval_record, approvals))
    stop, outcome = world.stop_task("kymaapprovals", "approval", ring="rest", state="absent")
    stop.assert_ended()
    assert f"of {MANY} approvals. Not done: " in outcome.text


@pytest.mark.night
def test_a_module(world: World) -> None:
    module = OwnModule("large", SHOP, world.fast.folder / "catalog", has_kinds=False)
    maps = [config_map(f"l{number:02}") for number in range(OBJECTS)]
    for one in maps:
        one["metadata"]["namespace"] = SHOP
    module.publish("1.0.0", [*maps, *module.objects("1.0.0")])
    module.offer("1.0.0")
    options = {"catalog": [str(module.folder)], "modules": [module.entry()], "grace": GRACE}
    stop, outcome = world.stop_task("configmaps", "module", **options)
    stop.assert_ended(GRACE, many=OBJECTS)
    reasons = [line for line in outcome.text.splitlines() if "] large: cancelled (" in line]
    assert reasons
    assert all(f" of {len(maps) + 2} objects are not applied" in reason for reason in reasons)


FILLS = f"""
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL, Migration, Phase, needed, not_needed
)


class Fills(Migration):
    \"\"\"Creates many objects.\"\"\"

    component = GLOBAL
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx):
        there = ctx.cluster.get("v1", "ConfigMap", "m00", "{SHOP}")
        return not_needed("they exist") if there else needed("there are none")

    def run(self, ctx):
        for number in range({MANY}):
            meta = {{"name": f"m{{number:02}}", "namespace": "{SHOP}"}}
            ctx.cluster.create({{"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}})
"""


def test_a_run_a_pruning_an_undo_and_a_deletion(world: World, small: SmallRelease) -> None:
    small.component("shop", *(config_map(f"c{number:02}") for number in range(OBJECTS)))
    given = ["-e", json.dumps({"kyma_release": str(small.folder), "kyma_grace": GRACE})]
    stop, _outcome = world.stop_book("configmaps", PLAYBOOK, *given)
    stop.assert_ended(GRACE, many=OBJECTS)
    run = world.cluster.api.list(API_VERSION, "KymaRun").items[-1]
    assert run["status"]["state"] == "cancelled"
    assert f"of {OBJECTS} objects are not applied" in run["status"]["components"]["shop"]["error"]
    world.fast.deploy(small.folder).succeeded()
    smaller = SmallRelease(small.folder.parent / "smaller").component("other", config_map("other"))
    options = {"kyma_release": str(smaller.folder), "kyma_grace": GRACE, "kyma_prune": True}
    stop, _outcome = world.stop_book("configmaps", PLAYBOOK, "-e", json.dumps(options))
    stop.assert_ended(GRACE, many=OBJECTS)
    pruned = world.cluster.api.list(API_VERSION, "KymaRun").items[-1]["status"]
    assert pruned["state"] == "cancelled"
    assert f"of {OBJECTS} objects are still there" in pruned["components"]["shop"]["error"]
    world.fast.migration("fills", FILLS)
    done = world.fast.deploy(small.folder).succeeded()
    undo = {"kyma_undo_run": done.run["run"], "kyma_grace": GRACE}
    stop, _outcome = world.stop_book("configmaps", UNDOING_PLAYBOOK, "-e", json.dumps(undo))
    stop.assert_ended(GRACE)
    stop, _outcome = world.stop_book("configmaps", DELETING_PLAYBOOK, "-e", f"kyma_grace={GRACE}")
    stop.assert_ended(GRACE, many=OBJECTS)
    world.fast.delete().succeeded()
    assert world.cluster.api.get("v1", "Namespace", NAMESPACE) is None
