# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 11: a migration edited after it ran."""

from __future__ import annotations

import pytest

from .fault import NOTHING, Fault, Request
from .shop import migrations
from .world import World

pytestmark = pytest.mark.control_plane


def _edit(world: World) -> None:
    world.playbook.migration("counted", migrations().replace("a mark.", "a mark, and a good impression."))


@pytest.fixture(autouse=True)
def _as_before(world: World) -> None:
    world.playbook.migration("counted", migrations())
    world.shop.renew()


def test_after_a_deployment_that_succeeded(world: World) -> None:
    world.deploy().succeeded()
    _edit(world)
    assert world.deploy().succeeded().recap["changed"] == 0
    world.shop.assert_whole()


@pytest.mark.fault("a migration was edited")
def test_between_a_run_that_was_killed_and_the_next(world: World) -> None:
    def script(request: Request) -> Fault:
        at = request.writes and "/configmaps/mail" in request.path
        return Fault("killed", before=world.processes.kill, reset_before=True) if at else NOTHING

    world.deploy(script)
    _edit(world)
    world.deploy().succeeded()
    world.shop.assert_whole()
