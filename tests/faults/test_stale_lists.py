# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Case 7: a list that is stale after one's own write."""

from __future__ import annotations

import random
import time

import pytest

from .fault import NOTHING, Fault, Request
from .world import World

pytestmark = [pytest.mark.control_plane, pytest.mark.usefixtures("perhaps_fenced")]

LAG = 1.5
"""Seconds that lists stay behind."""


class Lagging:
    """Answers a list as it was answered before, for a while after each write."""

    def __init__(self) -> None:
        self.stale = 0
        self._last_write = 0.0
        self._known: dict[str, tuple[str, bytes]] = {}

    def __call__(self, request: Request) -> Fault:
        """What befalls a request."""
        if request.writes:
            self._last_write = time.monotonic()
        whole = str(request)
        if request.method != "GET" or "limit=" not in request.query:
            return NOTHING
        known = self._known.get(whole)
        if known and time.monotonic() - self._last_write < LAG:
            self.stale += 1
            return Fault("answered as it was before", answer=200, body=known[1])
        return Fault(heard=lambda body: self._keep(whole, body))

    def _keep(self, whole: str, body: bytes) -> None:
        self._known[whole] = (whole, body)


@pytest.mark.fault("lists are stale")
def test_lists_stay_behind(world: World, chance: random.Random) -> None:
    del chance
    lagging = Lagging()
    # What is remembered of lists is from before this deployment, too.
    for _time in range(2):
        world.shop.renew()
        world.survives(lagging)
    assert lagging.stale
