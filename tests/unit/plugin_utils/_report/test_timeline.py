# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bars are where the work was, and as long as it took."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.model import RunReport, Work
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._report.timeline import (
    axis_text,
    duration_text,
    fleet_timeline,
    run_timeline,
    ticks_of,
)

from tests.support.report_samples import large_run, migration, read_cluster, recorded, row, run, small_run

PARTS = {"wait": 5.0, "post": 1.0, "apply": 3.0, "pre": 1.0}
RUN = RunReport(
    seconds=20.0,
    work=(
        Work("phase", "global post", "succeeded", 1.0, 19.0),
        Work("component", "logging", "succeeded", 10.0, 5.0, parts=PARTS),
        Work("migration", "logging/grow", "done", 1.0, 5.0, component="logging"),
        Work("migration", "logging/idle", "not needed", 0.1, 5.0, component="logging"),
        Work("phase", "global pre", "succeeded", 5.0, 0.0),
        Work("component", "broken", "failed", 0.0, 8.0),
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
    assert timeline.is_exact
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
    assert [(one.style, one.x, one.width) for one in lanes["broken"].bars] == [
        ("kind-component bad", 40.0, 0.0)
    ]


def test_parts_never_leave_the_bar_of_their_component() -> None:
    long = Work("component", "logging", "succeeded", 4.0, 0.0, parts=PARTS)
    (lane,) = run_timeline(RunReport(seconds=4.0, work=(long,))).lanes
    whole, *parts = lane.bars
    assert sum(one.width for one in parts) == pytest.approx(whole.width)


def test_the_time_between_tasks_begins_nowhere_and_all_else_is_still_exact() -> None:
    other = Work("phase", "other", "succeeded", 1.0)
    assert run_timeline(replace(RUN, work=(*RUN.work, other))).is_exact
    assert not run_timeline(replace(RUN, work=(*RUN.work, replace(other, name="begin")))).is_exact


def test_lanes_that_never_started_come_last_in_an_exact_timeline() -> None:
    (shown,) = read_cluster("live", [recorded(large_run())]).runs
    timeline = run_timeline(shown)
    assert timeline.is_exact
    assert [lane.label for lane in timeline.lanes if lane.state == "not started"] == [
        lane.label for lane in timeline.lanes[-5:]
    ]


def test_without_recorded_starts_phases_are_in_their_order_and_the_timeline_says_so() -> None:
    more = (Work("phase", "components", seconds=9.0), Work("phase", "prerequisites", seconds=2.0))
    work = tuple(replace(one, start=None) for one in (*RUN.work, *more))
    timeline = run_timeline(replace(RUN, work=work))
    assert not timeline.is_exact
    starts = {lane.label: lane.bars[0].x for lane in timeline.lanes}
    assert starts == {
        "global pre": 0.0,
        "prerequisites": 25.0,
        "components": 35.0,
        "logging": 25.0,
        "logging/grow": 25.0,
        "broken": 25.0,
        "global post": 95.0,
    }


@pytest.mark.parametrize("exact", [True, False])
def test_no_bar_leaves_the_axis(exact: bool) -> None:
    cluster = read_cluster("live", [recorded(large_run(exact))])
    bars = [one for lane in run_timeline(cluster.runs[0]).lanes for one in lane.bars]
    assert len(bars) > 100
    assert all(one.x >= 0 and one.x + one.width <= 100.001 for one in bars)


def test_a_run_that_took_no_time_has_a_timeline() -> None:
    empty = RunReport(work=(Work("phase", "global pre", "succeeded", 0.0, 0.0),))
    (lane,) = run_timeline(empty).lanes
    assert [(one.x, one.width) for one in lane.bars] == [(0.0, 0.0)]
    assert run_timeline(RunReport()).lanes == ()


def test_clusters_share_an_axis_of_real_time() -> None:
    clusters = [read_cluster(name, [recorded(small_run(start))]) for name, start in (("a", 0), ("b", 20))]
    timeline = fleet_timeline(clusters)
    assert timeline.seconds == 60.0
    assert timeline.is_exact
    assert [(lane.bars[0].x, lane.bars[0].width) for lane in timeline.lanes] == [
        (0.0, 66.6667),
        (33.3333, 66.6667),
    ]


def test_runs_of_different_days_start_together_and_the_timeline_says_so() -> None:
    clusters = [read_cluster(name, [recorded(small_run(start))]) for name, start in (("a", 0), ("b", 86400))]
    timeline = fleet_timeline(clusters)
    assert not timeline.is_exact
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
