# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 14: cancelled in the post phase; the next run resumes there."""

from __future__ import annotations

import signal

import pytest

from .fault import NOTHING, Fault, Request
from .world import World

pytestmark = [pytest.mark.control_plane, pytest.mark.usefixtures("perhaps_fenced")]


@pytest.mark.fault("cancelled in the post phase")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("step", ["shop-post", "global-post"])
def test_cancelled_at_a_post_migration(world: World, step: str, number: signal.Signals) -> None:
    world.shop.renew()
    struck: list[int] = []

    def script(request: Request) -> Fault:
        # Its first write.
        if struck or not request.writes or f"%2F{step}&" not in request.query:
            return NOTHING
        struck.append(request.number)
        return Fault(f"{number.name} to ansible-playbook", before=lambda: world.processes.signal_main(number))

    outcome = world.deploy(script)
    assert outcome.status != 0
    assert struck
    assert world.processes.have_ended(90.0)
    number_of_lines = len(world.shop.lines())
    assert number_of_lines >= (2 if step == "shop-post" else 3)

    world.proxy.forget()
    world.deploy().succeeded()
    world.shop.assert_whole()
    again = [str(one.request) for one in world.proxy.passages if one.request.writes]
    assert [one for one in again if "/configmaps/base" in one or "/configmaps/mail" in one] == []
    ledger = [one for one in again if "/ledgers/" in one]
    assert len(ledger) == 4 - number_of_lines
