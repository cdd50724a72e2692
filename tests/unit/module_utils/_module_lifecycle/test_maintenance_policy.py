# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which window is open or next: by the first rule that matches, by days of the begin, with time left."""

from __future__ import annotations

import json
import re
from datetime import datetime, time, timedelta, timezone

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.maintenance_file import (
    parse_policy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.maintenance_policy import (
    SHORTEST,
    AnyWindow,
    MaintenancePolicy,
    PolicyRule,
    WeeklyWindow,
    Window,
    find_window,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.extent import examples
from tests.support.real_modules import real_modules

MINUTE = timedelta(minutes=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def weekly(begin: str, end: str, *days: int) -> WeeklyWindow:
    return WeeklyWindow(frozenset(days), time.fromisoformat(begin), time.fromisoformat(end))


def once(begin: str, end: str) -> Window:
    return Window(at(begin), at(end))


def next_window(window: AnyWindow, now: str) -> str:
    return str(find_window(MaintenancePolicy(default=window), {}, at(now)))


SATURDAY_NIGHT = weekly("21:00:00+00:00", "00:00:00+00:00", 5)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        # 2026-11-28 is a Saturday.
        ("2026-11-25T12:00:00Z", "2026-11-28T21:00:00Z to 2026-11-29T00:00:00Z"),
        ("2026-11-28T20:59:59Z", "2026-11-28T21:00:00Z to 2026-11-29T00:00:00Z"),
        ("2026-11-28T23:40:00Z", "2026-11-28T21:00:00Z to 2026-11-29T00:00:00Z"),
        ("2026-11-28T23:40:01Z", "2026-12-05T21:00:00Z to 2026-12-06T00:00:00Z"),
        ("2026-11-29T00:00:00Z", "2026-12-05T21:00:00Z to 2026-12-06T00:00:00Z"),
        ("2026-11-29T01:30:00+02:00", "2026-11-28T21:00:00Z to 2026-11-29T00:00:00Z"),
    ],
)
def test_a_window_on_some_days_of_the_week(now: str, expected: str) -> None:
    assert next_window(SATURDAY_NIGHT, now) == expected


@pytest.mark.parametrize(
    ("window", "now", "expected"),
    [
        # It began yesterday, and the day of the week is its begin's.
        (weekly("21:00:00Z", "04:00:00Z", 5), "2026-11-29T03:00:00Z", "2026-11-28T21:00:00Z to"),
        # As long as a day.
        (
            weekly("01:00:00Z", "01:00:00Z", 6),
            "2026-11-30T00:30:00Z",
            "2026-11-29T01:00:00Z to 2026-11-30T01",
        ),
        # Saturday in its own time zone, and Friday in ours.
        (weekly("01:00:00+09:00", "04:00:00+09:00", 5), "2026-11-25T00:00:00Z", "2026-11-27T16:00:00Z to"),
        # Begin and end in different time zones.
        (
            weekly("23:00:00Z", "02:00:00+02:00", 5),
            "2026-11-25T00:00:00Z",
            "2026-11-28T23:00:00Z to 2026-11-29T00",
        ),
        (
            once("2026-11-28T20:00:00Z", "2026-11-28T22:00:00Z"),
            "2026-11-01T00:00:00Z",
            "2026-11-28T20:00:00Z",
        ),
        (
            once("2026-11-28T20:00:00Z", "2026-11-28T22:00:00Z"),
            "2026-11-28T21:40:00Z",
            "2026-11-28T20:00:00Z",
        ),
        (once("2026-11-28T20:00:00Z", "2026-11-28T22:00:00Z"), "2026-11-28T21:41:00Z", "None"),
    ],
)
def test_the_day_is_that_of_the_begin_and_time_has_to_be_left(
    window: AnyWindow, now: str, expected: str
) -> None:
    assert next_window(window, now).startswith(expected)


def test_a_window_is_open_from_its_begin_as_long_as_time_is_left() -> None:
    window = once("2026-11-28T20:00:00Z", "2026-11-28T22:00:00Z")
    moments = ("19:59:59", "20:00:00", "21:40:00", "21:40:01", "23:00:00")
    assert [window.is_open(at(f"2026-11-28T{one}Z")) for one in moments] == [False, True, True, False, False]


REAL_CASES = [
    ({"plan": "trial"}, "2026-11-25T01:00:00Z"),
    (
        {"kyma-project.io/broker-plan-name": "free", "kyma-project.io/region": "eu-de-1"},
        "2026-11-25T01:00:00Z",
    ),
    ({"kyma-project.io/region": "westeurope"}, "2026-11-28T21:00:00Z to 2026-11-29T00"),
    ({"region": "japaneast"}, "2026-11-28T14:00:00Z"),
    ({"region": "us-east1"}, "2026-11-29T14:00:00Z"),
    ({"region": "me-central1"}, "2026-11-27T17:00:00Z"),
    ({"region": "", "plan": "azure"}, "2026-11-28T21:00:00Z to 2026-11-28T23"),
    ({}, "2026-11-28T21:00:00Z to 2026-11-28T23"),
    # The real file has a character there that looks like the one between alternatives.
    ({"region": "central"}, "2026-11-28T21:00:00Z to 2026-11-28T23"),
]


@pytest.mark.parametrize(("labels", "expected"), REAL_CASES)
def test_a_real_policy_by_the_labels_of_a_cluster(labels: dict[str, str], expected: str) -> None:
    text = (real_modules() / "samples" / "maintenance-policy.json").read_text()
    policy = parse_policy(json.loads(text), "policy.json")
    assert str(find_window(policy, labels, NOW)).startswith(expected)


def rule(match: dict[str, str], *windows: AnyWindow) -> PolicyRule:
    return PolicyRule({field: re.compile(pattern) for field, pattern in match.items()}, windows)


PAST, SOON, LATER = (once(f"20{year}-11-28T20:00:00Z", f"20{year}-11-28T22:00:00Z") for year in (20, 27, 28))
NOW = at("2026-11-25T12:00:00Z")


def test_the_first_rule_counts_of_which_any_field_matches() -> None:
    policy = MaintenancePolicy(
        (rule({}, PAST), rule({"plan": "^x$", "region": "eu"}, SOON), rule({"plan": "."}, LATER)),
        SATURDAY_NIGHT,
    )
    assert find_window(policy, {"plan": "x"}, NOW) == SOON
    assert find_window(policy, {"plan": "xx", "region": "neu"}, NOW) == SOON
    assert find_window(policy, {"plan": "xx"}, NOW) == LATER
    assert str(find_window(policy, {}, NOW)).startswith("2026-11-28T21")


def test_a_field_without_a_label_never_matches() -> None:
    policy = MaintenancePolicy((rule({"plan": ".*"}, LATER),), SOON)
    assert find_window(policy, {"plan": ""}, NOW) == find_window(policy, {}, NOW) == SOON


def test_of_several_windows_the_earliest_counts_and_without_one_the_default() -> None:
    assert (
        find_window(MaintenancePolicy((rule({"plan": "x"}, LATER, PAST, SOON),)), {"plan": "x"}, NOW) == SOON
    )
    spent = (rule({"plan": "x"}, PAST), rule({"plan": "x"}, LATER))
    assert find_window(MaintenancePolicy(spent, SOON), {"plan": "x"}, NOW) == SOON
    assert find_window(MaintenancePolicy(spent), {"plan": "x"}, NOW) is None
    assert find_window(MaintenancePolicy(), {}, NOW) is None


zones = st.integers(-12 * 4, 14 * 4).map(lambda quarters: timezone(timedelta(minutes=15 * quarters)))
times = st.builds(time, st.integers(0, 23), st.sampled_from([0, 1, 20, 30, 59]), tzinfo=zones)
windows = st.builds(WeeklyWindow, st.frozensets(st.integers(0, 6), min_size=1), times, times).filter(
    lambda window: window.on(NOW.date()).end - window.on(NOW.date()).begin >= SHORTEST
)
moments = st.builds(
    lambda minutes, zone: (NOW + minutes * MINUTE).astimezone(zone), st.integers(0, 60 * 24 * 28), zones
)


def may_begin(window: WeeklyWindow, now: datetime) -> bool:
    """Whether an upgrade may begin, found out by trying every minute before as the window's begin."""
    local = now.astimezone(window.begin.tzinfo).replace(second=0)
    for minutes in range(60 * 24 * 3):
        begin = local - minutes * MINUTE
        if begin.timetz() == window.begin and begin.weekday() in window.days:
            end = begin.astimezone(window.end.tzinfo).replace(hour=window.end.hour, minute=window.end.minute)
            days = [end + timedelta(days=offset) for offset in range(-2, 4)]
            # The end is on the same date as the begin, each in its own time zone, or one day after it.
            same = next(day for day in days if day.date() == begin.date())
            end = same if same > begin else same + timedelta(days=1)
            if end - now >= SHORTEST:
                return True
    return False


@settings(max_examples=examples(60), deadline=None)
@given(windows, moments)
def test_a_found_window_is_open_when_trying_every_minute_says_so(window: WeeklyWindow, now: datetime) -> None:
    result = find_window(MaintenancePolicy(default=window), {}, now)
    assert result is not None
    assert result.end - max(result.begin, now) >= SHORTEST
    assert result.is_open(now) == may_begin(window, now)
    assert result.begin.weekday() in window.days
    assert result.begin.timetz() == window.begin
    assert timedelta(0) < result.end - result.begin


@settings(max_examples=examples(60), deadline=None)
@given(windows, moments)
def test_no_window_is_skipped(window: WeeklyWindow, now: datetime) -> None:
    policy = MaintenancePolicy(default=window)
    result = find_window(policy, {}, now)
    assert result is not None
    # Until it begins, it stays the next one.
    for part in range(1, 5):
        between = now + (result.begin - now) * part / 4
        if between > now:
            assert find_window(policy, {}, between) == result
    assert result.begin - now <= timedelta(days=7)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(windows, min_size=1, max_size=4), moments)
def test_several_windows_give_the_earliest_of_each(several: list[WeeklyWindow], now: datetime) -> None:
    together = find_window(MaintenancePolicy((rule({"plan": "x"}, *several),)), {"plan": "x"}, now)
    alone = [find_window(MaintenancePolicy(default=window), {}, now) for window in several]
    assert together is not None
    assert together.begin == min(window.begin for window in alone if window)
