# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases 3 to 6: two deployers at once, one that stands still, clocks that are off, a plan from before."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.fence_token import (
    REFUSED_AFTER_SECONDS,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE

from tests.support.audit import AuditLog
from tests.support.playbook_run import Outcome, Playbook
from tests.support.wrong_clock import wrong_clock

from . import world as worlds
from .fault import Fault, Once
from .proxy import Passage
from .shop import MIGRATIONS, given, migrations
from .world import PATIENCE, World

pytestmark = pytest.mark.control_plane

PAIRS, FEW = 20, 3
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{LIFECYCLE_NAMESPACE}/leases"
OFF_SECONDS = 600
LONGEST_UNTIL_TAKEN = PATIENCE["lease_seconds"] + REFUSED_AFTER_SECONDS + 20
"""Seconds until it is clear that its holder is gone, and can't write; and for what else is to be done, beside
three other processes with tests of faults."""

T = TypeVar("T", bound=Playbook)


class OffPlaybook(Playbook):
    """Runs the playbook by a clock that is off, like that of another machine.

    Attributes:
        seconds: how far.
    """

    seconds = 0

    @property
    def environment(self) -> Mapping[str, str]:
        """See Playbook."""
        return {**super().environment, "PYTHONPATH": wrong_clock(self.folder, self.seconds)}


class Pair:
    """Two deployers of one world."""

    def __init__(self, world: World, *playbooks: Playbook) -> None:
        self.world = world
        self.playbooks = playbooks

    def deploy(self, index: int, *arguments: str, **variables: Any) -> Outcome:
        """Have one of them deploy what the shop consists of now."""
        shop = self.world.shop
        words = ("-e", given(shop.round), *arguments)
        return self.playbooks[index].deploy(shop.folder, *words, **{**PATIENCE, **variables})

    def deploy_at_once(self) -> None:
        """Have both begin at the same instant: both finish, and one alone was at work."""
        world, start = self.world, threading.Barrier(2)
        world.proxy.forget()
        world.shop.renew()
        before = {run["metadata"]["name"] for run in self.runs()}

        def deploy(index: int) -> Outcome:
            start.wait()
            return self.deploy(index)

        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(deploy, (0, 1)))
        for outcome in outcomes:
            outcome.succeeded()
        world.shop.assert_whole()
        new = [run for run in self.runs() if run["metadata"]["name"] not in before]
        assert len(new) == 1, "\n".join(outcome.text for outcome in outcomes)
        self.assert_free()

    def runs(self) -> list[Any]:
        """The records of all runs."""
        served = self.world.api.resource("lifecycle.kyma-project.io/v1", "KymaRun")
        return list(self.world.shop.runs()) if served else []

    def assert_free(self) -> None:
        """Nobody has the lease, and no run has left a fence."""
        assert read_lease(self.world.api).holder == ""
        secrets = self.world.api.list("v1", "Secret", LIFECYCLE_NAMESPACE).items
        assert [one["metadata"]["name"] for one in secrets if one["type"].endswith("/fence")] == []


def playbook_of(world: World, folder: Path, kind: type[T]) -> T:
    """The playbook of another user of a world's kubeconfig."""
    made = kind(folder, world.kubeconfig, AuditLog(world.state / "audit.log"))
    made.migration("counted", migrations())
    return made


@pytest.fixture
def pair(world: World, tmp_path: Path) -> Iterator[Pair]:
    """The deployer of the world, and another one."""
    yield Pair(world, world.playbook, playbook_of(world, tmp_path, Playbook))
    world.proxy.pass_all()


@pytest.fixture
def new_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two deployers whose clocks are off, and a cluster that never had anything of ours."""
    world = worlds.create(tmp_path_factory.mktemp("cluster"), tmp_path_factory.mktemp("faults"))
    playbooks = []
    for sign in (-1, 1):
        one = playbook_of(world, tmp_path_factory.mktemp("off"), OffPlaybook)
        one.seconds = sign * OFF_SECONDS
        playbooks.append(one)
    yield Pair(world, *playbooks)
    world.close()


@pytest.mark.fault("two deployers start together")
def test_one_of_two_simultaneous_runs_works_and_both_finish(pair: Pair, *, whole: bool) -> None:
    for _number in range(PAIRS if whole else FEW):
        pair.deploy_at_once()


@pytest.mark.fault("the holder is paused")
@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("step", ["global-pre", "shop-post"])
def test_a_request_of_a_paused_holder_is_refused_after_the_takeover(pair: Pair, step: str) -> None:
    world = pair.world
    world.shop.renew()
    second: list[Outcome] = []

    def takeover() -> None:
        # The request is on its way, and its sender asleep, while another one takes over and finishes.
        world.processes.pause()
        try:
            second.append(pair.deploy(1))
        finally:
            world.processes.resume()

    late = Once(
        lambda one: one.writes and "/ledgers/" in one.path and f"%2F{step}&" in one.query,
        Fault("held up until another one has taken over", before=takeover),
    )
    first = world.deploy(late)
    assert late.struck is not None
    second[0].succeeded()
    assert "taking over (from " in second[0].text
    first.failed()
    assert "has lost the lease of the cluster, so it may write no more: " in first.text
    [passage] = [one for one in world.proxy.passages if one.request == late.struck]
    assert passage.status == 401
    world.shop.assert_whole()
    pair.assert_free()


def test_a_paused_holder_without_a_fence_stops_by_itself_after_the_takeover(
    pair: Pair,
) -> None:
    world = pair.world
    world.shop.renew()
    second: list[Outcome] = []
    late: list[Passage] = []

    def takeover() -> None:
        world.processes.pause()
        try:
            second.append(pair.deploy(1))
            late.extend(world.proxy.passages)
        finally:
            world.processes.resume()

    standing = Once(
        # The look before its first write: nothing is on its way.
        lambda one: not one.writes and "/ledgers/" in one.path and reaches(world, "shop-pre"),
        Fault("stands still until another one has taken over", before=takeover),
    )
    first = world.deploy(standing)
    assert standing.struck is not None
    second[0].succeeded()
    assert ["account" in run["status"]["lease"] for run in pair.runs()[:2]] == [False, False]
    first.failed()
    assert "has lost the lease of the cluster, so it may write no more: " in first.text
    assert "no time left" not in first.text
    written = [one for one in world.proxy.passages[len(late) :] if one.request.writes and one.status < 300]
    assert [str(one) for one in written] == []
    world.shop.assert_whole()
    pair.assert_free()


def reaches(world: World, step: str) -> bool:
    """Whether the migrations of this round before a step have taken effect, and none after it."""
    return [line.split()[1] for line in world.shop.lines()] == [*MIGRATIONS[: MIGRATIONS.index(step)]]


@pytest.mark.usefixtures("account")
def test_the_next_run_continues_where_a_killed_one_stopped(pair: Pair) -> None:
    world = pair.world
    world.shop.renew()
    killed = Once(
        lambda one: one.writes and one.path.endswith("/deployments/shop"),
        Fault("killed", before=world.processes.kill, reset_before=True),
    )
    assert world.deploy(killed).status != 0
    assert killed.struck is not None
    assert world.shop.lines() == [f"{world.shop.round} {step}" for step in ("global-pre", "shop-pre")]
    world.proxy.forget()
    # As by default: nobody is waited for who is at work.
    second = world.deploy(lease_wait=0).succeeded()
    assert moment(second, "shop: applying") - moment(second, "run: waiting") < LONGEST_UNTIL_TAKEN
    # What was read before its token was refused may be wrong.
    refused = moment(second, "the server refuses the tokens of the earlier holder") + REFUSED_AFTER_SECONDS
    assert moment(second, "run: outdated") > refused - 0.5
    writes = [one.request for one in world.proxy.passages if one.request.writes]
    assert [str(one) for one in writes if one.path.endswith("/configmaps/base")] == []
    ledger = [one.query for one in writes if "/ledgers/" in one.path]
    assert [step for step in MIGRATIONS if any(f"%2F{step}&" in one for one in ledger)] == [
        "shop-post",
        "global-post",
    ]
    world.shop.assert_whole()
    pair.assert_free()


def moment(outcome: Outcome, text: str) -> float:
    """When a text was first shown."""
    return next(when for when, line in outcome.lines if text in line)


@pytest.mark.fault("clocks are off")
def test_clocks_that_are_off_make_no_difference(new_pair: Pair) -> None:
    # By his clock her lease is twenty minutes old when he first sees it; and by hers his is not made yet.
    new_pair.deploy_at_once()
    [run] = new_pair.runs()
    started = datetime.fromisoformat(run["status"]["begin"]["startedAt"])
    assert abs((started - datetime.now(UTC)).total_seconds()) > OFF_SECONDS / 2


@pytest.mark.fault("the plan is older than the lease")
def test_a_plan_from_before_the_lease_is_created_again(pair: Pair) -> None:
    world = pair.world
    world.shop.renew()
    second: list[Outcome] = []
    before = {run["metadata"]["name"] for run in pair.runs()}
    slower = Once(
        lambda one: one.writes and one.path.startswith(LEASE),
        Fault("another one is quicker", before=lambda: second.append(pair.deploy(1))),
    )
    first = world.deploy(slower)
    assert slower.struck is not None
    second[0].succeeded()
    first.succeeded()
    assert "another run has changed this cluster since the plan was made: plan again" in first.text
    world.shop.assert_whole()
    # By name, as there may be as many as are kept.
    assert len({run["metadata"]["name"] for run in pair.runs()} - before) == 1
    pair.assert_free()
