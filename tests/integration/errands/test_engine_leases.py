# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lease of engines of errands on an API server: a leader with a wrong clock, and one that stood still."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_engine import LEASE
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_API_VERSION,
    LEASE_OBJECT_KIND,
    LIFECYCLE_NAMESPACE,
)

from tests.support.audit import Request
from tests.support.extent import cases
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.processes import descendants
from tests.support.started_engine import (
    ENGINE_USER,
    SHOP,
    StartedEngine,
    config_map,
    errand,
    kubeconfig_of_engine,
    prepare_for_engine,
)
from tests.support.wrong_clock import wrong_clock

pytestmark = pytest.mark.control_plane

LEASE_SECONDS = 6
WATCHING, STANDING_BY = "errands engine: watching (", "errands engine: standing by (errands-"
Start = Callable[..., StartedEngine]


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A cluster with the account of the example's engine."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        prepare_for_engine(cluster)
        yield cluster


@pytest.fixture
def start(own_cluster: OwnCluster, tmp_path: Path) -> Iterator[Start]:
    """Starts an engine, as the example's account or by another kubeconfig."""
    account, started = kubeconfig_of_engine(own_cluster, tmp_path), list[StartedEngine]()

    def new_engine(kubeconfig: str = account) -> StartedEngine:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(StartedEngine(folder, kubeconfig, kyma_errand_lease_seconds=LEASE_SECONDS))
        return started[-1]

    yield new_engine
    for one in started:
        one.close()


def processes_of(engine: StartedEngine) -> list[int]:
    return [engine.process.pid, *descendants(engine.process.pid)]


def signal_all(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def count_started(*engines: StartedEngine) -> int:
    """How many runs engines have started."""
    return sum(one.text.count(": started (") for one in engines)


def renewed_at(cluster: OwnCluster) -> datetime:
    """When the lease was renewed, by the clock of its holder."""
    lease: Any = cluster.api.get(LEASE_API_VERSION, LEASE_OBJECT_KIND, LEASE, LIFECYCLE_NAMESPACE)
    return datetime.fromisoformat(lease["spec"]["renewTime"])


@pytest.mark.parametrize("seconds", cases([-600], [600]))
def test_a_leader_with_a_wrong_clock_keeps_the_lease_until_it_is_killed(
    own_cluster: OwnCluster, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    late = "early" if seconds < 0 else "late"
    with monkeypatch.context() as patch:
        patch.setenv("PYTHONPATH", wrong_clock(tmp_path, seconds))
        leader = start()
        leader.until(WATCHING)
    standby = start()
    standby.until(STANDING_BY)
    time.sleep(2 * LEASE_SECONDS)
    off = (renewed_at(own_cluster) - datetime.now(UTC)).total_seconds()
    assert abs(off - seconds) < LEASE_SECONDS
    own_cluster.api.create(errand(f"{late}-first"))
    leader.until(f"Errand {SHOP}/{late}-first: succeeded")
    assert WATCHING not in standby.text

    leader.kill()
    killed = time.monotonic()
    own_cluster.api.create(errand(f"{late}-second"))
    standby.until(WATCHING, 30)
    # By its own clock, and not by the time in the lease.
    assert 2 < time.monotonic() - killed < 20
    standby.until(f"Errand {SHOP}/{late}-second: succeeded")
    assert count_started(leader, standby) == 2


def test_an_engine_that_stood_still_until_its_lease_had_run_out_writes_no_more(
    own_cluster: OwnCluster, start: Start
) -> None:
    """The first one works as an administrator, so that the audit log tells the two apart."""
    first = start(str(own_cluster.kubeconfig))
    first.until(WATCHING)
    second = start()
    second.until(STANDING_BY)
    own_cluster.api.apply(config_map("still", "1"))
    own_cluster.api.create(errand("still", config="still"))
    first.until(f"Errand {SHOP}/still: succeeded")
    firsts, seconds = processes_of(first), processes_of(second)
    try:
        signal_all(firsts, signal.SIGSTOP)
        second.until(WATCHING, 30)
        # The first one sees a change as soon as it wakes up, and nobody else reacts to it meanwhile.
        signal_all(seconds, signal.SIGSTOP)
        with own_cluster.audit.recorded() as requests:
            own_cluster.api.apply(config_map("still", "2"), force=True)
            signal_all(firsts, signal.SIGCONT)
            first.until("errands engine: lost (", LEASE_SECONDS)
        assert [str(one) for one in requests if is_late_write(one)] == []
        signal_all(seconds, signal.SIGCONT)
        second.until(f"Errand {SHOP}/still: succeeded", 30)
    finally:
        signal_all([*firsts, *seconds], signal.SIGCONT)
    assert count_started(first, second) == 2


def is_late_write(request: Request) -> bool:
    """Whether the first engine has written anything, after its lease had run out."""
    is_of_test = request.target == f"configmaps {SHOP}/still"
    is_accepted = request.persists and request.status < 300
    return is_accepted and not is_of_test and request.user != ENGINE_USER
