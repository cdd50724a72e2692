# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which step starts next."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.make.outcome import Outcome
from tests.make.schedule import LANES, Schedule
from tests.make.steps import GROUPS, STEPS, TEST, Step


def step(name: str, *needs: str, after: tuple[str, ...] = (), lanes: int = 1, uses: str = "") -> Step:
    return Step(name, "", Outcome, needs, after, lanes, frozenset(uses.split()))


def start_all(schedule: Schedule) -> list[str]:
    """Start what can start; return the names."""
    started = []
    while ready := schedule.next():
        schedule.start(ready)
        started.append(ready.name)
    return started


def end(schedule: Schedule, name: str, succeeded: bool = True) -> list[str]:
    """End a step; return the names of those that start then."""
    [ended] = [one for one in schedule.steps if one.name == name]
    schedule.end(ended, succeeded)
    return start_all(schedule)


def test_one_step_per_lane_runs_in_the_order_of_the_list() -> None:
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


def test_a_step_that_needs_a_failed_one_is_blocked_and_occupies_no_lane() -> None:
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


def test_a_resource_of_two_steps_is_used_by_one_at_a_time() -> None:
    schedule = Schedule([step("a", uses="copy"), step("b", uses="copy engine"), step("c", uses="engine")])
    assert start_all(schedule) == ["a", "c"]
    assert end(schedule, "a") == []
    assert end(schedule, "c") == ["b"]


def test_a_step_that_waits_runs_beside_steps_that_compute() -> None:
    wide, first, second = (
        step("wide", lanes=2),
        step("first", lanes=0, uses="waiting"),
        step("second", lanes=0, uses="waiting"),
    )
    schedule = Schedule([wide, first, second, step("narrow")])
    assert start_all(schedule) == ["wide", "first"]
    assert end(schedule, "first") == ["second"]
    assert end(schedule, "wide") == ["narrow"]


def test_with_one_lane_each_step_runs_alone() -> None:
    schedule = Schedule([step("waits", lanes=0), step("wide", lanes=2), step("a")], lanes=1)
    assert start_all(schedule) == ["waits"]
    assert end(schedule, "waits") == ["wide"]
    assert end(schedule, "wide") == ["a"]


SECONDS = dict(
    [
        *[("setup", 22), ("build", 28), ("unit", 500), ("sanity", 414), ("kind", 550), ("unit-oldest", 413)],
        *[("types", 12), ("lint", 86), ("galaxy", 15), ("docs", 11), ("suites", 8), ("style", 1)],
        *[("yaml", 4), ("changelog", 15), ("integration", 1162), ("some-faults", 443)],
        ("molecule-default", 216),
    ]
)
"""What the steps of `make test` took on two cores, beside each other."""


def plan(seconds: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Run `make test` by a simulated clock; return when each step begins and ends."""
    schedule = Schedule([STEPS[name] for name in GROUPS[TEST]])
    now, times = 0.0, {}
    while not schedule.is_done:
        times |= {name: (now, now + seconds[name]) for name in start_all(schedule)}
        first = min(schedule.running, key=lambda one: times[one.name][1])
        now = times[first.name][1]
        schedule.end(first, True)
    return times


def beside(times: Mapping[str, tuple[float, float]], name: str) -> set[str]:
    begin, end = times[name]
    return {other for other, (start, stop) in times.items() if start < end and stop > begin} - {name}


def test_make_test_leaves_no_lane_free_before_its_longest_step() -> None:
    times = plan(SECONDS)
    begin = times["integration"][0]
    computed = sum(
        min(end, begin) - start for name, (start, end) in times.items() if STEPS[name].lanes and start < begin
    )
    assert computed > 0.95 * LANES * begin


def test_kind_and_the_steps_with_several_control_planes_never_meet() -> None:
    assert not beside(plan(SECONDS), "kind") & {"integration", "some-faults"}


def test_steps_without_a_cluster_run_during_a_first_build() -> None:
    times = plan({**SECONDS, "build": 600})
    assert beside(times, "build") >= {"sanity", "lint", "types", "suites"}
    assert times["types"][1] < times["build"][1]


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
