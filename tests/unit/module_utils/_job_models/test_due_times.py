# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Schedules are due when Kubernetes says so, whose rules are those of robfig/cron."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.due_times import (
    UnknownDueTimes,
    due_times,
)

NOW = datetime(2026, 11, 25, 10, 30, 20, tzinfo=UTC)
"""A Wednesday."""


def due(schedule: str, zone: str = "", now: datetime = NOW) -> tuple[str, str]:
    last, following = due_times(schedule, zone, now)
    return (last.isoformat() if last else "", following.isoformat() if following else "")


@pytest.mark.parametrize(
    ("schedule", "last", "following"),
    [
        ("*/5 * * * *", "2026-11-25T10:30:00", "2026-11-25T10:35:00"),
        ("30 10 * * *", "2026-11-25T10:30:00", "2026-11-26T10:30:00"),
        ("0 3 * * mon-fri", "2026-11-25T03:00:00", "2026-11-26T03:00:00"),
        ("0 3 ? * SUN", "2026-11-22T03:00:00", "2026-11-29T03:00:00"),
        ("@daily", "2026-11-25T00:00:00", "2026-11-26T00:00:00"),
        ("@weekly", "2026-11-22T00:00:00", "2026-11-29T00:00:00"),
        ("@yearly", "2026-01-01T00:00:00", "2027-01-01T00:00:00"),
        # Either day counts if both are given, and both if one is every day.
        ("0 0 1 * thu", "2026-11-19T00:00:00", "2026-11-26T00:00:00"),
        ("0 0 */1 * thu", "2026-11-19T00:00:00", "2026-11-26T00:00:00"),
        # A step begins at a value, and ends with the highest one: Sunday is no 7.
        ("0 0 * * 1/2", "2026-11-25T00:00:00", "2026-11-27T00:00:00"),
        ("5/20 10 * * *", "2026-11-25T10:25:00", "2026-11-25T10:45:00"),
        ("0 0 29 2 *", "2024-02-29T00:00:00", "2028-02-29T00:00:00"),
    ],
)
def test_when_a_schedule_is_due(schedule: str, last: str, following: str) -> None:
    assert due(schedule) == (f"{last}+00:00", f"{following}+00:00")


def test_a_sunday_is_not_in_a_step_that_ends_with_saturday() -> None:
    saturday = datetime(2026, 11, 28, 12, tzinfo=UTC)
    assert due("0 0 * * 1/2", now=saturday)[1] == "2026-11-30T00:00:00+00:00"


def test_a_time_zone_counts_also_where_clocks_change() -> None:
    assert due("17 3 * * *", "Europe/Berlin")[1] == "2026-11-26T03:17:00+01:00"
    before = datetime(2026, 3, 28, 12, tzinfo=UTC)
    # 02:30 is no time of the 29th, and Kubernetes leaves it out.
    assert due("30 2 * * *", "Europe/Berlin", before)[1] == "2026-03-30T02:30:00+02:00"


@pytest.mark.parametrize(
    ("schedule", "zone", "problem"),
    [
        ("* * * *", "", "schedule is '* * * *', which has 4 fields"),
        ("@every 5m", "", "the schedule @every 5m has no times of the day"),
        ("61 * * * *", "", "schedule is '61 * * * *'; its minute '61' is invalid"),
        ("0 0 31 2 *", "", "the schedule 0 0 31 2 * has no times: Bad day-of-month"),
        ("0 3 * * *", "Mars/Olympus", "the time zone Mars/Olympus is not known here"),
        ("0 3 * * *", "../etc", "the time zone ../etc is not known here"),
    ],
)
def test_a_schedule_that_can_not_be_computed_says_why(schedule: str, zone: str, problem: str) -> None:
    with pytest.raises(UnknownDueTimes) as raised:
        due(schedule, zone)
    assert str(raised.value).startswith(problem)


def test_without_the_library_the_times_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cronsim", None)
    with pytest.raises(UnknownDueTimes, match="the library cronsim is not installed"):
        due("@daily")


KUBERNETES_TIMES = """
*/15 * * * * | UTC | 2026-11-27T14:03 | 2026-11-27T14:15 2026-11-27T14:30 2026-11-27T14:45
5-50/15,7 3 * * * | UTC | 2026-11-27T14:03 | 2026-11-28T03:05 2026-11-28T03:07 2026-11-28T03:20
50/4 * * * * | UTC | 2026-11-27T14:03 | 2026-11-27T14:50 2026-11-27T14:54 2026-11-27T14:58
0 0 13 * fri | UTC | 2026-11-27T14:03 | 2026-12-04T00:00 2026-12-11T00:00 2026-12-13T00:00
0 0 */10 * mon | UTC | 2026-11-27T14:03 | 2026-11-30T00:00 2026-12-01T00:00 2026-12-07T00:00
0 0 */1 * mon | UTC | 2026-11-27T14:03 | 2026-11-30T00:00 2026-12-07T00:00 2026-12-14T00:00
0 0 ? * mon | UTC | 2026-11-27T14:03 | 2026-11-30T00:00 2026-12-07T00:00 2026-12-14T00:00
0 0 5,* * mon | UTC | 2026-11-27T14:03 | 2026-11-30T00:00 2026-12-07T00:00 2026-12-14T00:00
0 0 1 * */2 | UTC | 2026-11-27T14:03 | 2026-11-28T00:00 2026-11-29T00:00 2026-12-01T00:00
0 0 1 * 5/1 | UTC | 2026-11-27T14:03 | 2026-11-28T00:00 2026-12-01T00:00 2026-12-04T00:00
0 0 * * 3/3 | UTC | 2026-11-27T14:03 | 2026-11-28T00:00 2026-12-02T00:00 2026-12-05T00:00
0 0 * jan-MAR sun,Sat | UTC | 2026-11-27T14:03 | 2027-01-02T00:00 2027-01-03T00:00 2027-01-09T00:00
0 0 29 2 * | UTC | 2026-11-27T14:03 | 2028-02-29T00:00 2032-02-29T00:00 2036-02-29T00:00
0 0 1 */5 * | UTC | 2026-11-27T14:03 | 2027-01-01T00:00 2027-06-01T00:00 2027-11-01T00:00
0 5-5/2 * * * | UTC | 2026-11-27T14:03 | 2026-11-28T05:00 2026-11-29T05:00 2026-11-30T05:00
@hourly | UTC | 2026-11-27T14:03 | 2026-11-27T15:00 2026-11-27T16:00 2026-11-27T17:00
@weekly | UTC | 2026-11-27T14:03 | 2026-11-29T00:00 2026-12-06T00:00 2026-12-13T00:00
@monthly | UTC | 2026-11-27T14:03 | 2026-12-01T00:00 2027-01-01T00:00 2027-02-01T00:00
@yearly | UTC | 2026-11-27T14:03 | 2027-01-01T00:00 2028-01-01T00:00 2029-01-01T00:00
@midnight | Europe/Berlin | 2026-11-27T14:03 | 2026-11-27T23:00 2026-11-28T23:00 2026-11-29T23:00
30 2 * * * | Europe/Berlin | 2026-03-28T12:00 | 2026-03-30T00:30 2026-03-31T00:30 2026-04-01T00:30
30 2 * * * | Europe/Berlin | 2026-10-24T12:00 | 2026-10-25T00:30 2026-10-25T01:30 2026-10-26T01:30
*/30 * * * * | Europe/Berlin | 2026-10-25T00:10 | 2026-10-25T00:30 2026-10-25T01:00 2026-10-25T01:30
*/30 1-3 * * * | Europe/Berlin | 2026-03-29T00:10 | 2026-03-29T00:30 2026-03-29T01:00 2026-03-29T01:30
0 9 * * * | Asia/Kolkata | 2026-11-27T14:03 | 2026-11-28T03:30 2026-11-29T03:30 2026-11-30T03:30
0 0 * * * | Africa/Cairo | 2026-04-22T23:00 | 2026-04-24T21:00 2026-04-25T21:00 2026-04-26T21:00
30 1 * * * | Africa/Cairo | 2026-04-22T23:00 | 2026-04-22T23:30 2026-04-23T22:30 2026-04-24T22:30
0 0 * * * | Africa/Cairo | 2026-10-28T23:00 | 2026-10-29T22:00 2026-10-30T22:00 2026-10-31T22:00
"""
"""Schedules, time zones and starts, with the next times as github.com/robfig/cron/v3 v3.0.1 computes them."""


@pytest.mark.parametrize("line", KUBERNETES_TIMES.strip().splitlines())
def test_a_schedule_is_due_at_the_times_of_kubernetes(line: str) -> None:
    schedule, zone, start, times = (one.strip() for one in line.split("|"))
    moments = [datetime.fromisoformat(f"{one}Z") for one in times.split()]
    now = datetime.fromisoformat(f"{start}Z")
    for last, following in pairwise([None, *moments, None]):
        before, after = due_times(schedule, zone, now + timedelta(seconds=1))
        assert before
        assert after
        assert last in (None, before.astimezone(UTC))
        assert following in (None, after.astimezone(UTC))
        now = following or now
