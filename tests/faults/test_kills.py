# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 1: SIGKILL before, during and after every write of a record and of a migration, one run per write."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import pytest

from .fault import NOTHING, Fault, Request
from .proxy import Script
from .world import World
from .writes import Counting, Write, writes_of

pytestmark = pytest.mark.control_plane

MOMENTS = ("before", "during", "after")
"""It never arrives; it takes effect, and nobody hears of it; or whoever made it ends just when he hears."""
VICTIMS = ("the machine", "the writer")
"""Everything at once, as where the power fails; or only the process that writes, as where memory runs out."""
LEASE_SECONDS = 6
"""The shortest there is: each run but the first waits for the lease of the one that was killed."""
WRITES_OF_BEGIN = 12
"""At most, the end of the record of whoever was killed included."""
FEW = 2
"""Of the writes, at each of the moments, where no more are wanted."""


@dataclass(frozen=True)
class Kill:
    """One run: which write, when, and who dies of it.

    Attributes:
        again_at: before which write of the next run it dies as well, from 1 on; 0 for none.
    """

    write: Write
    moment: str
    victim: str
    again_at: int = 0

    def __str__(self) -> str:
        again = f", and again before write {self.again_at} of the next run" if self.again_at else ""
        return f"{self.victim} killed {self.moment} {self.write}{again}"


@pytest.fixture(scope="module")
def writes(shared_world: World) -> Sequence[Write]:
    """The writes of a deployment that nothing befalls, upgrading one that is there."""
    return _writes_of_an_upgrade(shared_world)


@pytest.mark.fault("killed at a write")
@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_at_every_write(
    world: World, writes: Sequence[Write], moment: str, chance: random.Random, whole: bool
) -> None:
    kills = [Kill(write, moment, chance.choice(VICTIMS)) for write in writes]
    _all_survived(world, kills if whole else chance.sample(kills, FEW))


@pytest.mark.usefixtures("account")
def test_killed_at_every_write_that_only_a_fence_needs(
    world: World, writes: Sequence[Write], chance: random.Random, whole: bool
) -> None:
    world.shop.renew()
    world.deploy().succeeded()
    kills = _kills_at(set(writes_of(world.proxy.passages)) - set(writes), chance)
    assert {"POST", "DELETE"} <= {kill.write.what.split()[0] for kill in kills}
    _all_survived(world, kills if whole else chance.sample(kills, 1))


def test_killed_at_every_write_that_only_a_first_deployment_makes(
    world: World, writes: Sequence[Write], chance: random.Random, whole: bool
) -> None:
    world.forget_runs()
    world.shop.renew()
    world.deploy().succeeded()
    kills = _kills_at(set(writes_of(world.proxy.passages)) - set(writes), chance)
    assert any("customresourcedefinitions" in kill.write.what for kill in kills)
    _all_survived(world, kills if whole else chance.sample(kills, 1), world.forget_runs)


def test_killed_again_while_going_on_after_being_killed(
    world: World, chance: random.Random, whole: bool
) -> None:
    # The fixture may have seen an old run's record being deleted: after a first deployment there is none.
    writes = _writes_of_an_upgrade(world)
    kills = [
        Kill(chance.choice(writes), chance.choice(MOMENTS), "the machine", again_at=number)
        for number in range(1, WRITES_OF_BEGIN + 1)
    ]
    _all_survived(world, kills if whole else chance.sample(kills, 1))


def _writes_of_an_upgrade(world: World) -> list[Write]:
    for _time in range(2):
        world.proxy.forget()
        world.shop.renew()
        world.deploy().succeeded()
        world.shop.assert_whole()
    return list(writes_of(world.proxy.passages))


def _kills_at(writes: Collection[Write], chance: random.Random) -> list[Kill]:
    """One kill at each moment of each of these writes."""
    return [
        Kill(write, moment, chance.choice(VICTIMS)) for write in sorted(writes, key=str) for moment in MOMENTS
    ]


def _all_survived(world: World, kills: Collection[Kill], before: Callable[[], None] = lambda: None) -> None:
    failures = []
    for kill in kills:
        before()
        try:
            _killed_and_run_again(world, kill)
        except AssertionError as failure:
            failures.append(f"{kill}:\n{world.proxy.sequence}\n{failure}")
    assert failures == [], "\n\n".join(failures)


def _killed_and_run_again(world: World, kill: Kill) -> None:
    world.proxy.forget()
    world.shop.renew()
    killer = Killer(kill, world)
    known = {run["metadata"]["name"] for run in world.shop.runs()}
    outcome = world.deploy(killer.script, lease_seconds=LEASE_SECONDS)
    assert killer.has_struck, "the write was not made"
    # Where only one process was killed, the others have told of it, and have ended.
    assert world.processes.have_ended(), "a process of the killed deployment is still at work"
    if kill.victim == "the machine":
        assert outcome.status != 0
    written = {_component_of(passage.request) for passage in world.proxy.passages if passage.status}
    if kill.again_at:
        world.deploy(_killed_at(world, kill.again_at), lease_seconds=LEASE_SECONDS)
    world.deploy(lease_seconds=LEASE_SECONDS).succeeded()
    world.shop.assert_whole()
    if not kill.again_at:
        denied = _said_to_be_not_started(world, known)
        assert denied & written == set(), "the record says less than happened"


def _component_of(request: Request) -> str:
    """The component whose object this writes, by the name of the object."""
    return request.path.rpartition("/")[2] if request.writes and "/configmaps/" in request.path else ""


def _said_to_be_not_started(world: World, known: Collection[str]) -> set[str]:
    """The components that newer runs than the known ones never started, by their records."""
    statuses = [run["status"] for run in world.shop.runs() if run["metadata"]["name"] not in known]
    assert all(status["state"] != "running" for status in statuses)
    return {
        name
        for status in statuses
        if status["state"] != "succeeded"
        for name, one in (status.get("components") or {}).items()
        if one["state"] == "not started"
    }


def _killed_at(world: World, number: int) -> Script:
    """Kills the machine before the write of that number, from 1 on."""
    left = itertools.count(number, -1)

    def decide(request: Request) -> Fault:
        if not request.writes or next(left) != 1:
            return NOTHING
        return Fault(f"killed again before {request}", before=world.processes.kill, reset_before=True)

    return decide


class Killer:
    """Kills whoever makes a certain write."""

    def __init__(self, kill: Kill, world: World) -> None:
        self.has_struck = False
        self._kill = kill
        self._world = world
        self._counting = Counting()

    @property
    def script(self) -> Script:
        """What befalls each request."""
        return self._decide

    def _decide(self, request: Request) -> Fault:
        if not request.writes or self._counting.write(request) != self._kill.write or self.has_struck:
            return NOTHING
        self.has_struck = True
        strike = self._strike(request)
        name = str(self._kill)
        if self._kill.moment == "before":
            return Fault(name, before=strike, reset_before=True)
        if self._kill.moment == "during":
            return Fault(name, after=strike, reset_after=True)
        return Fault(name, after=lambda: threading.Timer(0.002, strike).start())

    def _strike(self, request: Request) -> Callable[[], None]:
        if self._kill.victim == "the machine":
            return self._world.processes.kill
        return lambda: self._world.processes.kill_peer(request.peer)
