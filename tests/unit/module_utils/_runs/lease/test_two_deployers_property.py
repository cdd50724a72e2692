# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""However the tasks of two deployers interleave, and wherever one of them dies, the records stay true.

Between two of its tasks a deployer looks like one that is gone to whoever wants its lease: so here they take
it from each other, too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import lease_session as working
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_run, read_runs
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.driver import Deployer, config_map, deployer, healthy_cluster, release
from tests.support.extent import examples
from tests.support.hooked_cluster import Killed

SECONDS = 30.0
"""More than any task of these releases takes, as no time passes where somebody waits for a lease."""
MOST_TASKS = 7
"""Of one deployment of these releases, at most."""


class Clock:
    """Of all deployers: it moves when one of them sleeps."""

    def __init__(self) -> None:
        self._now = time.monotonic()

    def now(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds


@dataclass
class Actor:
    """A deployer in a thread of its own, which does one task whenever it is its turn."""

    deployer: Deployer
    killed: bool = False
    over: bool = False
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    waits: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    thread: threading.Thread | None = None

    def start(self) -> None:
        self.deployer.before = self._await_turn
        self.thread = threading.Thread(target=self._work, daemon=True)
        self.thread.start()
        assert self.waits.acquire(timeout=SECONDS)

    def step(self) -> None:
        """Do the next task, if there is one: it writes nothing once somebody else has its lease."""
        if self.over:
            return
        cluster = self.deployer.cluster
        assert isinstance(cluster, MemoryCluster)
        lost, before = has_lost(self), len(cluster.requests)
        self.turn.release()
        assert self.waits.acquire(timeout=SECONDS)
        if lost:
            assert not [one for one in cluster.requests[before:] if one.writes and one.ref.kind != "Lease"]

    def kill(self) -> None:
        self.killed = True
        self.step()

    def _await_turn(self, _task: str) -> None:
        self.waits.release()
        assert self.turn.acquire(timeout=SECONDS)
        if self.killed:
            raise Killed

    def _work(self) -> None:
        try:
            self.deployer.deploy()
        except Killed:
            pass
        finally:
            self.over = True
            self.waits.release()


def release_of(number: int) -> Release:
    """Both want the same version, of other content, with a component of their own."""
    common = [config_map("common", deployer=str(number))]
    return release("1.0", {"base": common, f"own-{number}": [config_map(f"own-{number}", a="b")]})


def running(cluster: MemoryCluster) -> list[str]:
    runs = read_runs(cluster)
    return [run["metadata"]["name"] for run in runs if run.get("status", {}).get("state") == "running"]


def began(actor: Actor) -> list[str]:
    return [one["run"] for one in actor.deployer.results if one.get("run") and "durations" not in one]


def has_lost(actor: Actor) -> bool:
    """Whether somebody else has got the lease since an actor's run has begun."""
    cluster, run = actor.deployer.cluster, began(actor)
    return bool(run) and read_run(cluster, run[-1])["status"]["lease"]["epoch"] != read_lease(cluster).epoch


@given(
    turns=st.lists(st.integers(0, 1), max_size=2 * MOST_TASKS),
    dies=st.sampled_from([None, 0, 1]),
    last=st.integers(0, 1),
)
@settings(max_examples=examples(25), deadline=None)
def test_records_stay_true(turns: Sequence[int], dies: int | None, last: int) -> None:
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(working, "boot_clock", clock.now)
        patch.setattr(working, "time", clock)
        _records_stay_true(turns, dies, last)


def _records_stay_true(turns: Sequence[int], dies: int | None, last: int) -> None:
    cluster = healthy_cluster()
    actors = [Actor(deployer(release_of(number), cluster=cluster)) for number in (0, 1)]
    for actor in actors:
        actor.start()
    for number in turns:
        actors[number].step()
        assert len(running(cluster)) <= 1
    if dies is not None:
        actors[dies].kill()
    for actor in actors:
        while not actor.over:
            actor.step()
            assert len(running(cluster)) <= 1
    newest = actors[0].deployer.installation()
    states = {run["metadata"]["name"]: run["status"]["state"] for run in read_runs(cluster)}
    # Who is still said to be at work is the newest, and was killed.
    assert set(running(cluster)) <= ({newest.last_run} if dies is not None else set())
    assert (newest.version == "1.0") == ("succeeded" in states.values())
    assert all(name in states for actor in actors for name in began(actor))
    _the_next_one_ends_it_well(cluster, last)


def _the_next_one_ends_it_well(cluster: MemoryCluster, number: int) -> None:
    next_one = deployer(release_of(number), cluster=cluster, prune=True)
    result = next_one.deploy()
    assert not result.get("failed"), result
    assert running(cluster) == []
    assert next_one.installation().version == "1.0"
    common = cluster.get("v1", "ConfigMap", "common", "kyma-system")
    assert common
    assert common["data"] == {"deployer": str(number)}
    assert cluster.get("v1", "ConfigMap", f"own-{number}", "kyma-system")
    assert cluster.get("v1", "ConfigMap", f"own-{1 - number}", "kyma-system") is None
    assert f"own-{1 - number}" not in read_inventories(cluster)
    assert not next_one.plan()["plan"]["needed"]
