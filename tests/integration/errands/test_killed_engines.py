# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines that are killed at random while many errands and stored jobs change: nothing runs twice or is lost.

kwok plays the pods.
"""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._threads import map_in_threads

from tests.support.eventually import eventually
from tests.support.extent import IS_FULL
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.runs_of_errands import assert_once, have_settled
from tests.support.started_engine import (
    SHOP,
    StartedEngine,
    config_map,
    errand,
    kubeconfig_of_engine,
    prepare_for_engine,
)
from tests.support.store_user import User

pytestmark = pytest.mark.control_plane

SEED = os.environ.get("SEED") or str(secrets.randbelow(10**6))
LEASE_SECONDS = 6
PATIENCE_SECONDS = 900.0


@dataclass(frozen=True)
class Trial:
    """How much is tried.

    Attributes:
        errands: that run again when their ConfigMap changes.
        jobs: in the job store, in ten namespaces.
        changes: of ConfigMaps and of stored jobs, in turn.
        kills: of engines.
    """

    errands: int
    jobs: int
    changes: int
    kills: int

    @property
    def errand_names(self) -> list[str]:
        return [f"errand-{number}" for number in range(self.errands)]


TRIAL = Trial(300, 1000, 3000, 10) if IS_FULL else Trial(20, 20, 100, 1)


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster with the account of the example's engine."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        prepare_for_engine(cluster)
        yield cluster


class Engines:
    """Two engines, of which one works while the other stands by.

    Args:
        folder: for their files.
        kubeconfig: of the account of engines.
    """

    def __init__(self, folder: Path, kubeconfig: str) -> None:
        self._folder = folder
        self._kubeconfig = kubeconfig
        self._started: list[StartedEngine] = []
        self._running = [self._start(), self._start()]
        eventually(lambda: "errands engine: watching (" in self.text)

    def kill_one(self, chance: random.Random) -> None:
        """Kill one of the two at once, and start another."""
        self._running.pop(chance.randrange(2)).kill()
        self._running.append(self._start())

    @property
    def text(self) -> str:
        """What all of them have printed."""
        return "\n".join(one.text for one in self._started)

    def close(self) -> None:
        for one in self._running:
            one.close()

    def _start(self) -> StartedEngine:
        folder = self._folder / str(len(self._started))
        folder.mkdir()
        engine = StartedEngine(folder, self._kubeconfig, kyma_errand_lease_seconds=LEASE_SECONDS)
        self._started.append(engine)
        return engine


class JobStore:
    """The stored jobs of the trial, in ten namespaces."""

    def __init__(self, cluster: OwnCluster) -> None:
        spaces = [f"tenant-{number}" for number in range(10)]
        for name in spaces:
            cluster.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self._users = [User(str(cluster.kubeconfig), name, cluster.api) for name in spaces]
        self._users[0].store().succeeded()

    def load(self) -> None:
        """Store all jobs."""
        for user in self._users:
            user.jobs(jobs=[_job(number, 0) for number in range(TRIAL.jobs // 10)]).succeeded()

    def change(self, number: int) -> None:
        """Change one job of one namespace: the numbers differ in all but the image."""
        user = self._users[number % 10]
        user.jobs(jobs=[_job(number // 10 % (TRIAL.jobs // 10), number)]).succeeded()

    def drifted(self) -> list[Object]:
        """The jobs whose runtime objects differ from their definitions."""
        return [one for user in self._users for one in user.listed().values() if one["state"] == "drifted"]

    def count(self) -> int:
        return sum(len(user.listed()) for user in self._users)


def _job(number: int, version: int) -> Object:
    return {
        "name": f"job-{number}",
        "type": "scheduled",
        "image": f"busybox:1.{version}",
        "command": "true",
        "schedule": "0 3 1 1 *",
    }


def test_killed_engines_run_each_errand_once_per_change_and_lose_none(
    own_cluster: OwnCluster, tmp_path: Path
) -> None:
    print(f"SEED={SEED}")
    chance = random.Random(SEED)
    api, store = own_cluster.api, JobStore(own_cluster)
    store.load()
    map_in_threads(lambda name: api.create(config_map(name, "0")), TRIAL.errand_names)
    engines = Engines(tmp_path, kubeconfig_of_engine(own_cluster, tmp_path))
    with own_cluster.audit.recorded() as requests:
        map_in_threads(lambda name: api.create(errand(name, config=name)), TRIAL.errand_names)
        for turn in _in_turns(range(1, TRIAL.changes + 1), TRIAL.kills + 1):
            changing = threading.Thread(target=_change, args=(own_cluster, store, turn, chance))
            changing.start()
            if turn[-1] != TRIAL.changes:
                time.sleep(chance.uniform(0.5, 4))
                engines.kill_one(chance)
            changing.join()
        eventually(have_settled(own_cluster.api, SHOP), PATIENCE_SECONDS)
    engines.close()
    assert "Traceback" not in engines.text
    assert_once(own_cluster.api, requests, SHOP, TRIAL.errand_names)
    assert (store.count(), store.drifted()) == (TRIAL.jobs, [])


def _in_turns(numbers: Sequence[int], turns: int) -> list[Sequence[int]]:
    size = -(-len(numbers) // turns)
    return [numbers[start : start + size] for start in range(0, len(numbers), size)]


def _change(cluster: OwnCluster, store: JobStore, numbers: Sequence[int], chance: random.Random) -> None:
    """Change a stored job for each third number, and the ConfigMap of an errand for each other one."""
    names = {number: chance.choice(TRIAL.errand_names) for number in numbers}
    for number in numbers:
        if number % 3:
            cluster.api.apply(config_map(names[number], str(number)), force=True)
        else:
            store.change(number // 3)
