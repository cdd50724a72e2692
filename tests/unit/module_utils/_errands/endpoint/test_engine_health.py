# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an engine lives and is ready follows from its reports, its watches and the turns of its loop."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.endpoint.engine_health import (
    LONGEST_PAUSE,
    EngineHealth,
)


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def working_health() -> EngineHealth:
    """The health of an engine with seven errands and a lease."""
    health = EngineHealth()
    health.follow(lambda: 7, lambda: 30.0)
    return health


def test_an_engine_whose_loop_does_not_turn_is_dead() -> None:
    clock = Clock()
    health = EngineHealth(clock)
    turn = health.turns(lambda: False)
    clock.seconds = LONGEST_PAUSE
    assert health.death() == ""
    clock.seconds += 1
    assert health.death() == "the engine has not moved for 301 s"
    assert turn() is False
    assert health.death() == ""


@pytest.mark.parametrize(
    ("state", "text", "is_ready", "shown"),
    [
        ("watching", "7 errands", True, "watching: 7 errands"),
        ("standing by", "other holds the lease", True, "standing by: other holds the lease"),
        ("standing by", "it can't be had. This one retries", False, "standing by: it can't be had."),
        ("holding", "the lease", False, "holding: the lease"),
        ("waiting", "the cluster has not answered", False, "waiting: the cluster has not answered"),
        ("lost", "the lease", False, "lost: the lease"),
    ],
)
def test_an_engine_is_ready_if_it_works_or_can_take_over(
    state: str, text: str, is_ready: bool, shown: str
) -> None:
    health = working_health()
    assert health.readiness() == (False, "starting")
    health.note(state, text)
    assert health.readiness()[0] is is_ready
    assert health.readiness()[1].startswith(shown)


def test_reports_about_errands_change_nothing() -> None:
    health = working_health()
    health.note("watching", "7 errands")
    health.note("failed", "Errand shop/app: no")
    health.note("retrying", "watch Jobs: gone")
    assert health.readiness() == (True, "watching: 7 errands")


def test_an_engine_that_does_not_watch_a_kind_is_not_ready() -> None:
    health = working_health()
    health.note("watching", "7 errands")
    health.note_watches(["v1 Pod"])
    assert health.readiness() == (False, "these are not watched at the moment: v1 Pod")
    assert health.failing_watches == 1
    health.note_watches([])
    assert health.readiness()[0]


def test_a_working_engine_shows_the_errands_of_now_and_is_not_ready_once_its_lease_has_expired() -> None:
    errands, left = [7, 9], [0.5, 0.5, -12.0]
    health = EngineHealth()
    health.note("watching", "7 errands")
    health.follow(lambda: errands.pop(0), lambda: left.pop(0))
    assert health.readiness() == (True, "watching: 7 errands")
    assert health.readiness() == (True, "watching: 9 errands")
    is_ready, text = health.readiness()
    assert not is_ready
    assert text.startswith("its lease expired 12 s ago")
