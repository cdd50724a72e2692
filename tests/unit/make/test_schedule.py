# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which step starts next."""

from __future__ import annotations

import pytest

from tests.make.outcome import Outcome
from tests.make.schedule import Schedule
from tests.make.steps import GROUPS, STEPS, Step


def step(name: str, *needs: str, after: tuple[str, ...] = (), lanes: int = 1, uses: str = "") -> Step:
    return Step(name, "", Outcome, needs, after, lanes, frozenset(uses.split()))


def start_all(schedule: Schedule) -> list[str]:
    """Start what can start; return the names."""
    started = []
    while found := schedule.next():
        schedule.start(found)
        started.append(found.name)
    return started


def end(schedule: Schedule, name: str, succeeded: bool = True) -> list[str]:
    """End a step; return the names of those that start then."""
    [found] = [one for one in schedule.steps if one.name == name]
    schedule.end(found, succeeded)
    return start_all(schedule)


def test_as_many_steps_as_lanes_run_in_the_order_of_the_list() -> None:
    schedule = Schedule([step("a"), step("b"), step("c")])
    assert start_all(schedule) == ["a", "b"]
    assert end(schedule, "b") == ["c"]
    assert [one.name for one in schedule.running] == ["a", "c"]
    assert end(schedule, "a") == []
    assert not schedule.is_done
    assert end(schedule, "c") == []
    assert schedule.is_done


def test_a_step_waits_for_what_it_needs_and_for_what_it_comes_after() -> None:
    schedule = Schedule([step("tests", "setup", after=("build",)), step("setup"), step("build", "setup")])
    assert start_all(schedule) == ["setup"]
    assert end(schedule, "setup") == ["build"]
    assert end(schedule, "build", succeeded=False) == ["tests"]


def test_what_needs_a_failed_step_is_blocked_and_keeps_no_lane_waiting() -> None:
    needy = step("tests", "build", lanes=2)
    schedule = Schedule([step("build"), step("long"), needy])
    assert start_all(schedule) == ["build", "long"]
    schedule.end(schedule.steps[0], succeeded=False)
    assert schedule.next() == needy
    assert schedule.blocker(needy) == "build"
    schedule.end(needy, succeeded=False)
    assert end(schedule, "long") == []
    assert schedule.is_done


def test_a_step_that_is_not_of_this_run_is_not_waited_for() -> None:
    assert start_all(Schedule([step("tests", "setup", after=("build",))])) == ["tests"]


def test_a_wide_step_waits_for_all_lanes_while_narrow_ones_pass() -> None:
    schedule = Schedule([step("a"), step("wide", lanes=2), step("b"), step("c")])
    assert start_all(schedule) == ["a", "b"]
    assert end(schedule, "a") == ["c"]
    assert end(schedule, "b") == []
    assert end(schedule, "c") == ["wide"]


def test_a_step_wider_than_the_run_takes_all_of_it() -> None:
    assert start_all(Schedule([step("wide", lanes=5)], lanes=1)) == ["wide"]


def test_what_two_steps_use_is_used_by_one_at_a_time() -> None:
    schedule = Schedule([step("a", uses="copy"), step("b", uses="copy engine"), step("c", uses="engine")])
    assert start_all(schedule) == ["a", "c"]
    assert end(schedule, "a") == []
    assert end(schedule, "c") == ["b"]


@pytest.mark.parametrize("group", GROUPS)
def test_each_group_comes_to_its_end(group: str) -> None:
    """No step waits for itself, or for one that waits for it."""
    schedule = Schedule([STEPS[name] for name in GROUPS[group]])
    running = start_all(schedule)
    seen = []
    while running:
        name = running.pop()
        seen.append(name)
        running += end(schedule, name)
    assert schedule.is_done
    assert sorted(seen) == sorted(GROUPS[group])
