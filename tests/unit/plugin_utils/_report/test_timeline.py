# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars are where the work was, and as long as it took."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.cluster_state import STATES, ClusterState
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import (
    ClusterReport,
    RunReport,
    Work,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.timeline import (
    axis_text,
    duration_text,
    fleet_timeline,
    run_timeline,
    ticks_of,
    tone,
)

from tests.support.report_samples import (
    large_run,
    migration,
    moment,
    read_cluster,
    recorded,
    row,
    run,
    small_run,
)

PARTS = {"wait": 5.0, "post": 1.0, "apply": 3.0, "pre": 1.0}
RUN = RunReport(
    seconds=20.0,
    work=(
        Work("phase", "global post", "succeeded", 1.0, start=19.0),
        Work("component", "logging", "succeeded", 10.0, start=5.0, parts=PARTS),
        Work("migration", "logging/grow", "done", 1.0, start=5.0, component="logging"),
        Work("migration", "logging/idle", "not needed", 0.1, start=5.0, component="logging"),
        Work("phase", "global pre", "succeeded", 5.0, start=0.0),
        Work("component", "broken", "failed", 0.0, start=8.0),
    ),
)


def test_lanes_are_in_the_order_of_the_run_with_migrations_below_their_component() -> None:
    timeline = run_timeline(RUN)
    assert [(lane.label, lane.is_nested) for lane in timeline.lanes] == [
        ("global pre", False),
        ("logging", False),
        ("logging/grow", True),
        ("broken", False),
        ("global post", False),
    ]
    assert timeline.hidden == 1


def test_bars_are_in_proportion_and_parts_follow_each_other() -> None:
    lanes = {lane.label: lane for lane in run_timeline(RUN).lanes}
    assert [(one.style, one.x, one.width) for one in lanes["logging"].bars] == [
        ("kind-component", 25.0, 50.0),
        ("part-pre", 25.0, 5.0),
        ("part-apply", 30.0, 15.0),
        ("part-wait", 45.0, 25.0),
        ("part-post", 70.0, 5.0),
    ]
    assert [(one.style, one.x, one.width) for one in lanes["broken"].bars] == [("tone-bad", 40.0, 0.0)]


def test_parts_never_leave_the_bar_of_their_component() -> None:
    long = Work("component", "logging", "succeeded", 4.0, start=0.0, parts=PARTS)
    (lane,) = run_timeline(RunReport(seconds=4.0, work=(long,))).lanes
    whole, *parts = lane.bars
    assert sum(one.width for one in parts) == pytest.approx(whole.width)


def test_the_time_between_tasks_has_no_bar() -> None:
    other = Work("phase", "other", "succeeded", 1.0)
    timeline = run_timeline(replace(RUN, work=(*RUN.work, other)))
    assert (timeline.lanes[-1].kind, timeline.lanes[-1].bars) == ("time between tasks", ())
    assert timeline.lanes[-1].duration == "1.00 s"


def test_the_plan_and_the_lease_stand_before_the_run_and_the_axis_ends_with_its_seconds() -> None:
    # As a run records it: its start is cut to whole seconds, and the plan was made a minute before.
    rows = [
        row("plan", "plan", -60.0, 2.0),
        row("phase", "lease", 0.4, 0.5),
        row("phase", "begin", 0.9, 0.6),
        row("phase", "components", 1.6, 5.0),
        row("phase", "end", 6.7, 0.4),
        row("phase", "other", None, 0.2),
    ]
    (shown,) = read_cluster("live", [recorded(run(seconds=8.7, durations=rows))]).runs
    timeline = run_timeline(shown)
    bars = {lane.label: [(one.x, one.width) for one in lane.bars] for lane in timeline.lanes}
    seconds = {name: [tuple(round(8.7 * x / 100, 2) for x in one) for one in bars[name]] for name in bars}
    assert timeline.seconds == pytest.approx(8.7)
    assert seconds == {
        "plan": [(0.0, 2.0)],
        "lease": [(2.0, 0.5)],
        "begin": [(2.5, 0.6)],
        "components": [(3.2, 5.0)],
        "end": [(8.3, 0.4)],
        "other": [],
    }
    assert sum(one.seconds for one in shown.work) == pytest.approx(shown.seconds)


def test_a_phase_of_several_tasks_does_not_overlap_the_phases_between_them() -> None:
    rows = [
        {**row("phase", "components", 0.0, 6.0), "finished_at": moment(9.0)},
        row("phase", "global pre", 2.0, 1.0),
        row("phase", "prune", 5.0, 2.0),
        row("phase", "end", 9.0, 1.0),
    ]
    (shown,) = read_cluster("live", [recorded(run(seconds=10.0, durations=rows))]).runs
    first = run_timeline(shown).lanes[0]
    assert [(one.x, one.width) for one in first.bars] == [(0.0, 20.0), (30.0, 20.0), (70.0, 20.0)]


def test_definitions_are_narrowed_at_the_end_of_a_component_not_when_it_was_healthy() -> None:
    parts = {"apply": 3.0, "wait": 5.0, "narrow": 1.0}
    work = Work("component", "logging", "succeeded", 9.0, start=0.0, finish=20.0, parts=parts)
    (lane,) = run_timeline(RunReport(seconds=20.0, work=(work,))).lanes
    assert [(one.style, one.x, one.width) for one in lane.bars] == [
        ("kind-component", 0.0, 40.0),
        ("kind-component", 95.0, 5.0),
        ("part-apply", 0.0, 15.0),
        ("part-wait", 15.0, 25.0),
        ("part-narrow", 95.0, 5.0),
    ]


def test_the_part_in_which_a_component_failed_has_the_colour_of_the_failure() -> None:
    parts = {"pre": 0.0, "apply": 3.0, "wait": 5.0, "post": 0.0}
    for state, colour in (("failed", "tone-bad"), ("cancelled", "tone-warning"), ("running", "tone-busy")):
        work = Work("component", "logging", state, 8.0, start=0.0, parts=parts)
        (lane,) = run_timeline(RunReport(seconds=8.0, work=(work,))).lanes
        assert [one.style for one in lane.bars] == [colour, "part-apply"]


def test_a_component_that_never_started_has_no_bar() -> None:
    (lane,) = run_timeline(RunReport(work=(Work("component", "logging", "not started"),))).lanes
    assert (lane.state, lane.bars, lane.duration) == ("not started", (), "")


@pytest.mark.parametrize("state", [*STATES, "of a later version"])
def test_bars_of_a_cluster_have_the_colour_of_the_word_beside_them_or_none(state: str) -> None:
    runs = (RunReport(state="succeeded", seconds=1.0), RunReport(state=state, seconds=1.0))
    ends = ClusterState("live", state=state), ClusterState("other", state="succeeded")
    clusters = [ClusterReport(ends[0], runs=runs), ClusterReport(ends[1])]
    lane = fleet_timeline(clusters).lanes[0]
    neutral = "tone-good" if state == "succeeded" else "tone-neutral"
    assert [one.style for one in lane.bars] == [neutral, f"tone-{tone(state)}"]
    expected = {"succeeded": "good", "failed": "bad", "held": "warning", "unreachable": "warning"}
    assert tone(state) == expected.get(state, tone(state))
    assert (tone(state) == "good") == (state == "succeeded")


def test_lanes_that_never_started_come_last() -> None:
    (shown,) = read_cluster("live", [recorded(large_run())]).runs
    timeline = run_timeline(shown)
    assert [lane.label for lane in timeline.lanes if lane.state == "not started"] == [
        lane.label for lane in timeline.lanes[-5:]
    ]


def test_work_without_a_recorded_start_has_no_bar_and_comes_last() -> None:
    unknown = Work("component", "search", "succeeded", 2.0)
    timeline = run_timeline(replace(RUN, work=(unknown, *RUN.work)))
    last = timeline.lanes[-1]
    assert (last.label, last.bars, last.duration) == ("search", (), "2.00 s")


def test_no_bar_leaves_the_axis() -> None:
    cluster = read_cluster("live", [recorded(large_run())])
    bars = [one for lane in run_timeline(cluster.runs[0]).lanes for one in lane.bars]
    assert len(bars) > 100
    assert all(one.x >= 0 and one.x + one.width <= 100.001 for one in bars)


def test_a_run_that_took_no_time_has_a_timeline() -> None:
    empty = RunReport(work=(Work("phase", "global pre", "succeeded", 0.0, start=0.0),))
    (lane,) = run_timeline(empty).lanes
    assert [(one.x, one.width) for one in lane.bars] == [(0.0, 0.0)]
    assert run_timeline(RunReport()).lanes == ()


def test_clusters_share_an_axis_of_real_time() -> None:
    clusters = [read_cluster(name, [recorded(small_run(start))]) for name, start in (("a", 0), ("b", 20))]
    timeline = fleet_timeline(clusters)
    assert timeline.seconds == 60.0
    assert timeline.is_real_time
    assert [(lane.bars[0].x, lane.bars[0].width) for lane in timeline.lanes] == [
        (0.0, 66.6667),
        (33.3333, 66.6667),
    ]


def test_the_bar_of_a_run_begins_with_its_plan_and_ends_before_the_next_run() -> None:
    # The record of a run begins after its plan, here of 30 and of 20 seconds, and its seconds include both.
    first = {**small_run(30), "name": "first", "seconds": 70.0}
    second = {**small_run(90), "name": "second", "seconds": 60.4}
    timeline = fleet_timeline([read_cluster("live", [recorded(first, second)])])
    (lane,) = timeline.lanes
    assert timeline.seconds == pytest.approx(130.4)
    assert [(one.x, one.width) for one in lane.bars] == [(0.0, 53.681), (53.681, 46.319)]


def test_runs_of_different_days_start_together_and_the_timeline_says_so() -> None:
    clusters = [read_cluster(name, [recorded(small_run(start))]) for name, start in (("a", 0), ("b", 86400))]
    timeline = fleet_timeline(clusters)
    assert not timeline.is_real_time
    assert [(lane.bars[0].x, lane.bars[0].width) for lane in timeline.lanes] == [(0.0, 100.0)] * 2


@pytest.mark.parametrize("seconds", [0.001, 0.3, 1.0, 7.9, 59.0, 61.0, 400.0, 3599.0, 40000.0, 900000.0])
def test_ticks_are_few_and_stay_on_the_axis(seconds: float) -> None:
    ticks = list(ticks_of(seconds))
    assert 1 <= len(ticks) <= 5
    assert ticks[0].label == "0"
    assert all(0 <= tick.x <= 100 for tick in ticks)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 s"),
        (0.04, "0.04 s"),
        (12.34, "12.3 s"),
        (99.96, "1 min 40 s"),
        (133, "2 min 13 s"),
        (3599.7, "1 h 00 min"),
        (3930, "1 h 06 min"),
    ],
)
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_the_axis_has_the_unit_that_fits_its_step() -> None:
    texts = [axis_text(*pair) for pair in ((0, 5), (0.4, 0.2), (20, 10), (90, 30), (5400, 1800))]
    assert texts == ["0", "0.4 s", "20 s", "1:30 min", "1:30 h"]


def test_a_migration_that_had_nothing_to_do_has_a_lane_only_if_it_was_slow() -> None:
    rows = [
        row("component", "logging", 0.0, 5.0),
        row("migration", "logging/a", 0.0, 0.02, "not_needed"),
        row("migration", "logging/b", 0.0, 3.0, "not_needed"),
    ]
    migrations = [migration(f"logging/{name}", "logging", state="not_needed") for name in "ab"]
    cluster = read_cluster("live", [recorded(run(seconds=5.0, durations=rows, migrations=migrations))])
    timeline = run_timeline(cluster.runs[0])
    assert [lane.label for lane in timeline.lanes] == ["logging", "logging/b"]
    assert timeline.hidden == 1
