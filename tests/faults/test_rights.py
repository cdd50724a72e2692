# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 13: rights or the token withdrawn in the middle."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from .fault import NOTHING, Fault, Request
from .proxy import Script
from .world import World

pytestmark = pytest.mark.control_plane

PLACES = ("/kymainventories/base", "/ledgers/ledger", "/configmaps/mail", "/kymaruns/")


@pytest.fixture(autouse=True)
def _given_back(world: World) -> Iterator[None]:
    world.shop.renew()
    yield
    world.give_rights()
    world.give_token()


@pytest.mark.fault("rights are withdrawn")
def test_rights(world: World, chance: random.Random) -> None:
    place = chance.choice(PLACES)
    outcome = world.deploy(_at(place, world, "rights"))
    outcome.failed()
    assert "is forbidden" in outcome.text or "cannot" in outcome.text
    world.give_rights()
    world.deploy().succeeded()
    world.shop.assert_whole()


@pytest.mark.fault("the token is withdrawn")
def test_token(world: World, chance: random.Random) -> None:
    place = chance.choice(PLACES)
    outcome = world.deploy(_at(place, world, "token"))
    outcome.failed()
    world.give_rights()
    world.give_token()
    world.deploy().succeeded()
    world.shop.assert_whole()


def _at(place: str, world: World, what: str) -> Script:
    gone: list[int] = []

    def script(request: Request) -> Fault:
        if gone or not request.writes or place not in request.path:
            return NOTHING
        gone.append(request.number)
        take = world.take_rights if what == "rights" else world.take_token
        return Fault(f"{what} withdrawn", before=take)

    return script
