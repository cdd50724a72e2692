# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 15: disk full or a read-only temporary directory on the controller."""

from __future__ import annotations

import pytest

from .fault import NOTHING, Fault, Request
from .world import World

pytestmark = pytest.mark.control_plane

PLACES = ("/kymainstallations/", "/kymainventories/base", "/ledgers/ledger", "/configmaps/mail", "/kymaruns/")


@pytest.mark.fault("the controller's disk is full")
@pytest.mark.parametrize("place", PLACES)
def test_full_in_the_middle(world: World, place: str) -> None:
    world.shop.renew()
    full: list[int] = []

    def script(request: Request) -> Fault:
        if full or not request.writes or place not in request.path:
            return NOTHING
        full.append(request.number)
        return Fault("the disk is full", before=world.processes.fill_disk)

    outcome = world.deploy(script)
    assert full
    assert "Traceback" not in outcome.text
    assert world.processes.have_ended()
    world.deploy().succeeded()
    world.shop.assert_whole()


@pytest.mark.fault("the controller's disk is read-only")
def test_nothing_can_be_written(world: World) -> None:
    """Then nothing is begun either."""
    world.shop.renew()
    nowhere = world.playbook.folder / "nowhere"
    nowhere.write_text("a file where a folder should be")
    settings = world.playbook.folder / "ansible.cfg"
    settings.write_text(f"[defaults]\nlocal_tmp = {nowhere}/tmp\nremote_tmp = {nowhere}/tmp\n")
    try:
        outcome = world.deploy()
    finally:
        settings.unlink()
    assert outcome.status != 0
    assert [str(one.request) for one in world.proxy.passages if one.request.writes] == []
    world.deploy().succeeded()
    world.shop.assert_whole()
