# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Macros are spread stably and evenly, and a schedule that Kubernetes would refuse has a problem."""

from __future__ import annotations

from collections import Counter

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.core_job import JobKey
from ansible_collections.kyma.lifecycle.plugins.module_utils._job_models.schedules import (
    resolved_schedule,
    schedule_problem,
)

MACROS = ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"]


def test_a_macro_never_changes_for_a_job() -> None:
    key = JobKey("shop", "report")
    assert {macro: resolved_schedule(macro, key) for macro in MACROS} == {
        "@hourly": "0 * * * *",
        "@daily": "0 7 * * *",
        "@midnight": "0 7 * * *",
        "@weekly": "0 7 * * 3",
        "@monthly": "0 7 3 * *",
        "@yearly": "0 7 3 3 *",
        "@annually": "0 7 3 3 *",
    }
    assert resolved_schedule("@daily", JobKey("shop", "other")) != "0 7 * * *"
    assert resolved_schedule("@daily", JobKey("other", "report")) != "0 7 * * *"


def test_macros_are_spread_over_all_values_and_days_that_each_month_has() -> None:
    keys = [JobKey(f"ns-{number % 50}", f"job-{number}") for number in range(10_000)]
    yearly = [resolved_schedule("@yearly", key) for key in keys]
    minutes, hours, days, months = (Counter(int(one.split()[place]) for one in yearly) for place in range(4))
    weekdays = Counter(int(resolved_schedule("@weekly", key).split()[4]) for key in keys)
    for counts, values in [
        (minutes, range(60)),
        (hours, range(24)),
        (days, range(1, 29)),
        (months, range(1, 13)),
        (weekdays, range(7)),
    ]:
        assert {*counts} == {*values}
        assert max(counts.values()) < 2 * min(counts.values())
    assert not any(map(schedule_problem, yearly))


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "0 0 1 1 0",
        "59 23 31 12 6",
        "*/5 1-5 1,15 JAN-jun mon-FRI",
        "5/15 8-18/2 ? * sun,3",
        "  1  2\t3 4 5 ",
        "@every 1h30m",
        "@every 1.5h",
    ],
)
def test_a_valid_schedule_is_used_unchanged(schedule: str) -> None:
    assert schedule_problem(schedule) == ""
    assert resolved_schedule(schedule, JobKey("shop", "report")) == schedule


def test_all_macros_are_valid() -> None:
    assert not any(map(schedule_problem, MACROS))


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("", "schedule is '', which has 0 fields; use five: minute, hour"),
        ("* * * *", "which has 4 fields"),
        ("0 * * * * *", "which has 6 fields"),
        ("CRON_TZ=UTC * * * * *", "which has 6 fields"),
        ("60 * * * *", "its minute '60' is invalid: use '*', or 0 to 59, with"),
        ("* 24 * * *", "its hour '24'"),
        ("* * 0 * *", "its day of the month '0' is invalid: use '*', or 1 to 31"),
        ("* * 32 * *", "its day of the month '32'"),
        ("* * * 13 *", "its month '13' is invalid: use '*', or 1 to 12 or jan to dec"),
        ("* * * 0 *", "its month '0'"),
        ("* * * * 7", "its day of the week '7' is invalid: use '*', or 0 to 6 or sun to sat"),
        ("* * * mon *", "its month 'mon'"),
        ("5-1 * * * *", "its minute '5-1'"),
        ("1-60 * * * *", "its minute '1-60'"),
        ("*/0 * * * *", "its minute '*/0'"),
        ("*/x * * * *", "its minute '*/x'"),
        ("1,,2 * * * *", "its minute '1,,2'"),
        ("-1 * * * *", "its minute '-1'"),
        ("*-5 * * * *", "its minute '*-5'"),
        ("1-2-3 * * * *", "its minute '1-2-3'"),
        ("\u0661 * * * *", "its minute '\u0661'"),
        ("9" * 5000 + " * * * *", "its minute '999"),
        ("*/" + "9" * 5000 + " * * * *", "its minute '*/999"),
        ("@dayly", "schedule is '@dayly'; use five cron fields, or one of @hourly, @daily"),
        ("@Daily", "use five cron fields, or one of"),
        ("@reboot", "use five cron fields, or one of"),
        ("@every", "use five cron fields, or one of"),
        ("@every day", "use five cron fields, or one of"),
        ("a\nb", "schedule is 'a b', which has 2 fields"),
    ],
)
def test_the_problem_of_a_schedule(schedule: str, expected: str) -> None:
    problem = schedule_problem(schedule)
    assert expected in problem
    assert len(problem) < 500
