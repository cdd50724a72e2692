# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that is no part of a run: it gets the lease with its first write, and gives it back at its end."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result, Task, TaskDefinition
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, WriteTerms
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations import attempt, engine
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import lease_session as working
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import own_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.acquisition import (
    AcquiredLease,
    Acquisition,
    LeaseHeld,
    LeaseRequest,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_NAME,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
    Holder,
    acquisition_spec,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.own_lease import run_with_own_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.definitions import (
    install_definitions,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import write_hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import Installation
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component, hold, migration
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import Clock, WatchedClock
from tests.support.driver import Deployer, FakeMaterials, config_map, content_of, memory, only_reads, release
from tests.unit.module_utils._components.migrations.test_undo_run import migrated, size
from tests.unit.module_utils._components.migrations.test_verdicts import kyma, seeded, variant

NAMES = [f"map-{number}" for number in range(20)]
OPTIONS = {"lease_wait": 0.0, "lease_seconds": 45, "service_account": "deployer"}


def task(cluster: MemoryCluster, **options: object) -> Task:
    materials = FakeMaterials(release("2.9", {}), ())
    return Task({**OPTIONS, **options}, cluster, materials, lambda *_report: None, lambda: False)


def write(working: Task, *names: str) -> Result:
    """Write some ConfigMaps side by side; what comes of it."""

    def one(name: str) -> str:
        obj = config_map(name)
        try:
            working.cluster.apply({**obj, "metadata": {**obj["metadata"], "namespace": "default"}})
        except LifecycleError as error:
            return str(error)
        return read_lease(working.cluster).holder

    return {"seen": map_in_threads(one, names)}


def test_a_task_that_writes_nothing_takes_no_lease() -> None:
    cluster = MemoryCluster()
    assert run_with_own_lease(task(cluster), "one", write) == {"seen": []}
    assert [one for one in cluster.requests if one.ref.kind == LEASE_OBJECT_KIND] == []


def test_the_first_write_gets_it_for_all_and_it_is_given_back() -> None:
    cluster = MemoryCluster()
    holders = set(run_with_own_lease(task(cluster), "one", lambda working: write(working, *NAMES))["seen"])
    assert len(holders) == 1
    assert holders.pop().startswith("one ")
    lease = read_lease(cluster)
    assert (lease.holder, lease.epoch) == ("", 1)


def test_terms_that_were_made_before_it_hold_under_it() -> None:
    seconds_left: list[float] = []

    class Telling(MemoryCluster):
        def apply(self, obj: Object, **how: Any) -> Object:
            if obj["kind"] == "ConfigMap" and self._terms:
                seconds_left.append(self._terms.seconds_left())
            return super().apply(obj, **how)

    def work(working: Task) -> Result:
        bound = working.cluster.with_write_terms(WriteTerms(lambda: 3.5))
        return write(replace(working, cluster=bound.with_field_manager("ours")), "a", "b")

    run_with_own_lease(task(Telling()), "one", work)
    assert seconds_left == [3.5, 3.5]


@pytest.mark.parametrize("is_fenced", [True, False])
def test_only_a_task_that_names_its_rights_is_warned_of_a_missing_fence(is_fenced: bool) -> None:
    seen: list[tuple[str, ...]] = []
    asking = replace(task(MemoryCluster()), progress=lambda *report: seen.append(report))
    run_with_own_lease(
        asking, "one", lambda working: write(working, "a"), (lambda: ()) if is_fenced else None
    )
    assert [state for _subject, state, _detail in seen] == ["notice"] * is_fenced


def test_reads_end_with_the_lease_from_the_first_write_on() -> None:
    bound: list[bool] = []

    class Telling(MemoryCluster):
        def get(self, *ref: Any) -> Object | None:
            if ref[1] == "ConfigMap":
                bound.append(self._terms is not None)
            return super().get(*ref)

    def work(working: Task) -> Result:
        for _time in range(2):
            working.cluster.get("v1", "ConfigMap", "a", "default")
            write(working, "a")
        return {}

    run_with_own_lease(task(Telling()), "one", work)
    assert bound == [False, True]


def test_the_lease_is_released_after_a_failure() -> None:
    cluster = MemoryCluster()

    def work(working: Task) -> Result:
        write(working, "a")
        raise LifecycleError("it fails")

    with pytest.raises(LifecycleError, match="it fails"):
        run_with_own_lease(task(cluster), "one", work)
    assert (read_lease(cluster).holder, read_lease(cluster).epoch) == ("", 1)


def test_all_writing_threads_learn_from_one_attempt_that_another_run_holds_the_lease(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[str] = []

    def held(_task: Task, run: str, *_more: object) -> AcquiredLease:
        runs.append(run)
        time.sleep(0.1)
        raise LeaseHeld("somebody is at work")

    monkeypatch.setattr(own_lease, "acquire_lease", held)
    cluster = MemoryCluster()
    result = run_with_own_lease(task(cluster), "one", lambda working: write(working, *NAMES))
    assert (result["seen"], runs) == (["somebody is at work"] * len(NAMES), ["one"])
    assert [one for one in cluster.requests if one.writes] == []


def test_everything_is_read_again_after_another_run_held_the_lease() -> None:
    cluster = MemoryCluster()
    claim = LeaseRequest(Holder("other"), 1, 0, "")
    other = Acquisition(cluster, claim, lambda *_report: None, lambda: False).acquire()
    looks: list[bool] = []

    def work(working: Task) -> Result:
        looks.append(working.cluster.get("v1", "ConfigMap", "theirs", "default") is not None)
        if len(looks) == 1:
            obj = config_map("theirs")
            other.cluster.apply({**obj, "metadata": {**obj["metadata"], "namespace": "default"}})
        return write(working, "a")

    [holder] = run_with_own_lease(task(cluster), "one", work)["seen"]
    assert looks == [False, True]
    assert holder.startswith("one ")


@pytest.mark.parametrize(
    ("definition", "options"),
    [
        (component.DEFINITION, {"names": ["logging"]}),
        (component.DEFINITION, {"names": ["logging"], "state": "pruned"}),
        (migration.DEFINITION, {"ids": ["logging/grows-volumes"]}),
    ],
)
def test_where_the_cluster_is_held_nothing_is_written(
    definition: TaskDefinition, options: dict[str, Any]
) -> None:
    someone = migrated()
    old = kyma()
    someone.materials.given = replace(
        old, content={**old.content, "logging": content_of([config_map("new")])}
    )
    memory(someone).patch("v1", "ConfigMap", "volume", "default", {"data": {"size": "10"}})
    if options.get("state") == "pruned":
        assert not someone.task(component.DEFINITION, names=["logging"]).get("failed")
    someone.task(hold.DEFINITION, reason="an audit")
    with only_reads(memory(someone)):
        refused = someone.task(definition, **options)
    assert (refused["failed"], refused["state"]) == (True, "held")
    assert "the cluster is held by " in refused["msg"]
    assert "an audit" in refused["msg"]
    someone.task(hold.DEFINITION, state="absent")
    assert someone.task(definition, **options)["changed"]


def test_a_hold_that_came_while_one_waited_counts() -> None:
    cluster = MemoryCluster()
    install_definitions(cluster, Installation(), RECORD_KINDS)
    Acquisition(
        cluster, LeaseRequest(Holder("other"), 1, 0, ""), lambda *_report: None, lambda: False
    ).acquire()

    def hold_while_waiting(_subject: str, state: str, _detail: str = "") -> None:
        if state == "waiting":
            write_hold(cluster, Hold(reason="an audit"))

    waiting = replace(task(cluster), progress=hold_while_waiting)
    seen = run_with_own_lease(waiting, "one", lambda working: write(working, *NAMES))["seen"]
    assert [one.partition(" (")[0] for one in seen] == ["the cluster is held: an audit"] * len(NAMES)
    assert cluster.list("v1", "ConfigMap").items == []
    assert read_lease(cluster).holder == ""


def killed_while_it_had_the_lease(someone: Deployer) -> None:
    """Leave the lease as somebody who was killed leaves it."""
    spec = acquisition_spec(read_lease(someone.cluster), Holder("killed"), 1, datetime.now(UTC))
    someone.cluster.patch(
        LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE_NAME, LIFECYCLE_NAMESPACE, {"spec": spec}
    )


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which leases expire: whoever waits for that lets the time pass."""
    fake = Clock()
    monkeypatch.setattr(working, "boot_clock", fake.monotonic)
    monkeypatch.setattr(working, "time", fake)
    return fake


SHORT_LEASES = {"lease_seconds": 1}


@pytest.mark.parametrize(
    ("definition", "options"),
    [
        (migration.DEFINITION, {"ids": ["logging/grows-volumes"]}),
        (component.DEFINITION, {"names": ["logging"]}),
    ],
)
def test_a_migration_has_all_of_its_time_after_the_lease_was_taken_over(
    definition: TaskDefinition,
    options: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watched = WatchedClock()
    monkeypatch.setattr(working, "boot_clock", watched.monotonic)
    for module in (working, attempt, engine):
        monkeypatch.setattr(module, "time", watched)
    someone = migrated(variant(timeout=0.5))
    memory(someone).seed(seeded("volume", size="10"))
    killed_while_it_had_the_lease(someone)
    ran = someone.task(definition, **options, **SHORT_LEASES)
    assert not ran.get("failed"), ran["msg"]
    assert size(someone) == "30"
    assert [one["state"] for one in ran["migrations"]] == ["done"]


def test_a_migration_that_is_not_needed_takes_no_lease() -> None:
    someone = migrated()
    killed_while_it_had_the_lease(someone)
    with only_reads(memory(someone)):
        ran = someone.task(migration.DEFINITION, ids=["logging/grows-volumes"])
    assert [one["state"] for one in ran["migrations"]] == ["not_needed"]
