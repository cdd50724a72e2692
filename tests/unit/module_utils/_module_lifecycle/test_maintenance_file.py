# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Policy files of Kyma's lifecycle manager, and everything that is wrong with one."""

from __future__ import annotations

import json
from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.maintenance_file import (
    MaintenancePolicyError,
    parse_policy,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.maintenance_policy import (
    MaintenancePolicy,
    WeeklyWindow,
    Window,
)

from tests.support.real_modules import real_modules

SATURDAY = {"days": ["Sat"], "begin": "21:00:00+00:00", "end": "23:00:00Z"}


def refused(policy: Any) -> str:
    with pytest.raises(MaintenancePolicyError) as caught:
        parse_policy(policy, "policy.json")
    return str(caught.value)


def test_a_real_policy() -> None:
    text = (real_modules() / "samples" / "maintenance-policy.json").read_text()
    policy = parse_policy(json.loads(text), "policy.json")
    assert policy.default == WeeklyWindow(frozenset({5}), time(21, tzinfo=UTC), time(23, tzinfo=UTC))
    assert len(policy.rules) == 5
    assert policy.rules[0].windows == (
        WeeklyWindow(frozenset(range(7)), time(1, tzinfo=UTC), time(1, tzinfo=UTC)),
    )
    assert [
        {field: pattern.pattern for field, pattern in rule.match.items()} for rule in policy.rules[:2]
    ] == [
        {"plan": "trial|free"},
        {"region": "europe|eu-|uksouth"},
    ]
    assert "\u2502us" in policy.rules[3].match["region"].pattern


def test_time_zones_single_windows_and_keys_in_other_letters() -> None:
    once = {"begin": "2026-11-28T20:00:00+02:00", "end": "2026-11-29T00:00:00Z"}
    rule = {"match": {"globalAccountId": "a", "PlatformRegion": "b", "plan": ""}, "windows": [once]}
    policy = parse_policy({"rules": [rule], "comment": "x"}, "policy.json")
    two = timezone(timedelta(hours=2))
    assert policy.rules[0].windows == (
        Window(datetime(2026, 11, 28, 20, tzinfo=two), datetime(2026, 11, 29, tzinfo=UTC)),
    )
    assert [*policy.rules[0].match] == ["globalAccountID", "platformRegion"]
    assert policy.default is None


def test_a_rule_without_a_match_or_a_window_is_valid() -> None:
    assert parse_policy({}, "policy.json") == MaintenancePolicy()
    parse_policy({"rules": [{}, {"match": {"plan": "trial"}}, {"match": {}, "windows": []}]}, "policy.json")


@pytest.mark.parametrize(
    ("policy", "fault"),
    [
        ([], "the policy: it is no mapping"),
        ({"rules": {}}, "rules: it is no list"),
        ({"rules": ["a"]}, "rules[0]: it is no mapping"),
        ({"rules": [{"windows": "a"}]}, "rules[0].windows: it is no list"),
        ({"rules": [{"windows": ["a"]}]}, "rules[0].windows[0]: it is no mapping"),
        ({"rules": [{"match": "a"}]}, "rules[0].match: it is no mapping"),
        (
            {"rules": [{"match": {"regoin": "a"}}]},
            "rules[0].match: the field 'regoin' is none of globalAccountID, plan, region, platformRegion",
        ),
        ({"rules": [{"match": {"plan": 1}}]}, "rules[0].match.plan: 1 is no regular expression"),
        ({"rules": [{"match": {"plan": "("}}]}, "rules[0].match.plan: '(' is no regular expression: "),
        ({"rules": [{"match": {"plan": "[[:alpha:]]"}}]}, "rules[0].match.plan: '[[:alpha:]]' is no"),
        ({"default": {**SATURDAY, "days": "Sat"}}, "default.days: it is no list"),
        (
            {"default": {**SATURDAY, "days": ["Saturday"]}},
            "default: the day 'Saturday' is none of Mon, Tue, Wed, Thu, Fri, Sat, Sun",
        ),
        ({"default": {**SATURDAY, "begin": "21:00:00"}}, "default.begin: '21:00:00' is not a time with a"),
        ({"default": {**SATURDAY, "end": 3600}}, "default.end: 3600 is not a time with a time zone, such as"),
        ({"default": {**SATURDAY, "end": "2026-11-28T20:00:00Z"}}, "default.end: '2026-11-28T20:00:00Z' is"),
        ({"default": {**SATURDAY, "end": "21:19:59Z"}}, "default: it ends less than 20 minutes after its"),
        ({"default": {"begin": "21:00:00Z", "end": "2026-11-28T20:00:00Z"}}, "default.begin: '21:00:00Z' is"),
        (
            {"default": {"begin": "2026-11-28T20:00:00Z", "end": "2026-11-28T19:00:00Z"}},
            "default: it ends less than 20 minutes after its begin",
        ),
    ],
)
def test_a_fault_is_named_with_its_place(policy: Any, fault: str) -> None:
    lines = [line.removeprefix("- ") for line in refused(policy).splitlines()]
    assert any(line.startswith(f"policy.json: {fault}") for line in lines)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    message = refused({"rules": [{"match": {"plan": "("}}, {"windows": [{}]}], "default": 1})
    assert message.startswith("the maintenance policy can't be used for 4 reasons:\n- policy.json: rules[0]")
