# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 8: bursts of 409, of 429 and 503; every tenth request reset; half of the answers delayed."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from .fault import CUT, LOST, NOTHING, RESET, Fault, Request, refusal, slow
from .world import World
from .writes import Counting, kind_of

pytestmark = [pytest.mark.control_plane, pytest.mark.usefixtures("perhaps_fenced")]

LONGEST_BURST = 3
"""How often in a row the same request is refused: more often would only take longer."""
SECONDS, SECONDS_FOR_A_FEW = 2.0, 0.3


class Dice:
    """Decides by a request's own name and how often it came: the same befalls it however all interleave."""

    def __init__(self, chance: random.Random) -> None:
        self._seed = chance.random()
        self._counting = Counting()

    def roll(self, request: Request) -> tuple[random.Random, int]:
        """What is left to chance for a request, and the how manyeth of its name it is."""
        name = self._counting.write(request)
        return random.Random(f"{self._seed} {name}"), name.occurrence


@pytest.mark.fault("the server is overloaded")
def test_overloaded(world: World, chance: random.Random) -> None:
    dice = Dice(chance)
    in_a_row: dict[str, int] = {}

    def script(request: Request) -> Fault:
        luck, _number = dice.roll(request)
        name = kind_of(request)
        if luck.random() < 0.3 and in_a_row.get(name, 0) < LONGEST_BURST:
            in_a_row[name] = in_a_row.get(name, 0) + 1
            return luck.choice([refusal(429, retry_after=1), refusal(429), refusal(503)])
        in_a_row[name] = 0
        return NOTHING

    world.shop.renew()
    world.deploy(script).succeeded()
    world.shop.assert_whole()


@pytest.mark.fault("requests break off")
def test_every_tenth_request_breaks_off(world: World, chance: random.Random) -> None:
    def script(request: Request) -> Fault:
        return NOTHING if request.number % 10 else chance.choice([RESET, LOST, CUT])

    world.shop.renew()
    world.deploy(script).succeeded()
    world.shop.assert_whole()


@pytest.mark.fault("answers are slow")
def test_half_of_the_answers_are_slow(world: World, chance: random.Random, whole: bool) -> None:
    dice = Dice(chance)

    def script(request: Request) -> Fault:
        luck, _number = dice.roll(request)
        late = luck.random() < 0.5 and not request.watches
        return slow(SECONDS if whole else SECONDS_FOR_A_FEW) if late else NOTHING

    world.shop.renew()
    world.deploy(script).succeeded()
    world.shop.assert_whole()


@pytest.mark.fault("conflicts come in bursts")
def test_conflicts_are_answers(world: World, chance: random.Random) -> None:
    """The server means what it says: a run may fail of it, with words, and the next one ends it well."""
    dice = Dice(chance)

    def script(request: Request) -> Fault:
        luck, number = dice.roll(request)
        return refusal(409) if request.writes and number <= 3 and luck.random() < 0.1 else NOTHING

    world.shop.renew()
    world.survives(script)


def test_another_client_writes_each_kind_before_a_migration_does(world: World) -> None:
    """Just before it does: so that its write is refused, as what it looked at has moved on."""
    meddled: set[str] = set()

    def meddle(request: Request) -> Callable[[], None]:
        def annotate() -> None:
            patch = {"metadata": {"annotations": {"somebody": str(request.number)}}}
            *_above, namespace, plural, name = request.path.split("/")
            kinds = {"ledgers": ("faults.kyma.local/v1", "Ledger"), "configmaps": ("v1", "ConfigMap")}
            world.api.patch(*kinds[plural], name, namespace, patch)

        return annotate

    def script(request: Request) -> Fault:
        of_migration = "%2F" in request.query and request.method == "PATCH" and request.writes
        if not of_migration or "kymainstallations" in request.path or kind_of(request) in meddled:
            return NOTHING
        meddled.add(kind_of(request))
        return Fault("somebody else was quicker", before=meddle(request))

    world.shop.renew()
    world.deploy(script).succeeded()
    world.shop.assert_whole()
    assert meddled


def test_a_failure_within_the_server_is_reported(world: World) -> None:
    """One that stays is told of, and the next run goes on from there."""

    def script(request: Request) -> Fault:
        return refusal(500) if request.writes and request.path.endswith("/configmaps/mail") else NOTHING

    world.shop.renew()
    outcome = world.deploy(script).failed()
    assert "an internal error" in outcome.text
    world.deploy().succeeded()
    world.shop.assert_whole()


def test_a_failing_dry_run_fails_the_plan_at_once(world: World) -> None:
    """What a dry run says is an answer at once: a plan must not wait for each object's webhook."""

    def script(request: Request) -> Fault:
        return (
            refusal(500)
            if "dryRun=All" in request.query and not request.path.endswith("reviews")
            else NOTHING
        )

    world.shop.renew()
    message = world.deploy(script).failed().text
    assert "an internal error" in message
    world.deploy().succeeded()
    world.shop.assert_whole()


@pytest.fixture(autouse=True)
def _deployed(world: World) -> None:
    if not world.shop.round:
        world.shop.renew()
        world.deploy().succeeded()
