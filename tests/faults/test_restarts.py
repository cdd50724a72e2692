# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 9: the API server restarted in the middle of a wave; etcd restarted."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from .control_plane import restart
from .fault import NOTHING, Fault, Request
from .world import World

pytestmark = [pytest.mark.control_plane, pytest.mark.usefixtures("perhaps_fenced")]


@pytest.mark.fault("the server restarts")
@pytest.mark.parametrize("place", ["/kymainventories/shop", "/ledgers/ledger", "/kymaruns/"])
@pytest.mark.parametrize("program", ["kube-apiserver", "etcd"])
def test_restarted_at_a_write(world: World, program: str, place: str) -> None:
    world.shop.renew()
    strike = _once(lambda: restart(world.state, program))

    def script(request: Request) -> Fault:
        # While it is away, the write is on its way.
        at = request.writes and place in request.path
        return Fault(f"{program} restarted", before=strike) if at else NOTHING

    world.deploy(script).succeeded()
    world.shop.assert_whole()


def _once(work: Callable[[], None]) -> Callable[[], None]:
    done = threading.Lock()

    def begin() -> None:
        if done.acquire(blocking=False):
            threading.Thread(target=work, daemon=True).start()

    return begin
