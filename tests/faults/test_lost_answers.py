# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 2: a write that succeeds and whose answer is lost."""

from __future__ import annotations

import pytest

from .fault import LOST, NOTHING, Fault, Request
from .world import World

pytestmark = pytest.mark.control_plane


def test_nothing_befalls_it(world: World) -> None:
    world.shop.renew()
    world.deploy().succeeded()
    world.shop.assert_whole()
    world.shop.assert_recorded()
    print(world.proxy.sequence)


@pytest.mark.fault("an answer is lost")
@pytest.mark.parametrize("fenced", [False, True])
def test_every_write(world: World, request: pytest.FixtureRequest, fenced: bool) -> None:
    """Each of them is done, and each time its answer is lost, once."""
    if fenced:
        request.getfixturevalue("account")
    seen: set[str] = set()

    def script(request: Request) -> Fault:
        if not request.writes or str(request) in seen:
            return NOTHING
        seen.add(str(request))
        return LOST

    world.shop.renew()
    world.deploy(script).succeeded()
    assert fenced == any("/serviceaccounts/deployer/token" in one for one in seen)
    world.shop.assert_whole()
    world.shop.assert_recorded()
