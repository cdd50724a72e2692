# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user may ask for each ring, and all that is refused together."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import Minimum, RingOptions
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.ring_options import (
    BadRings,
    read_duration,
    read_rings,
)

GROUPS = {
    "all": ["c1", "r1", "r2"],
    "ungrouped": [],
    "canary": ["c1"],
    "rest": ["r1", "r2"],
    "later": [],
    "europe": ["c1", "r1"],
}
HOSTS = GROUPS["all"]


def read(*rings: str, **options: Any) -> list[RingOptions]:
    return read_rings({"rings": [*rings] or ["canary", "rest"], **options}, GROUPS, HOSTS)


def problems(*rings: str, **options: Any) -> list[str]:
    with pytest.raises(BadRings) as caught:
        read(*rings, **options)
    return [problem.message for problem in caught.value.problems]


def test_rings_without_options_have_the_defaults() -> None:
    assert read() == [RingOptions("canary", ("c1",)), RingOptions("rest", ("r1", "r2"))]


def test_one_value_is_for_all_rings() -> None:
    assert [ring.soak for ring in read(ring_soak="30m")] == [1800, 1800]
    assert [ring.max_failures for ring in read(ring_max_failures="2")] == [2, 2]


def test_a_dictionary_has_a_value_for_some_rings() -> None:
    rings = read(
        ring_soak={"canary": "2h"},
        ring_minimum={"rest": "50%", "canary": 1},
        ring_max_failures={"rest": 1},
        ring_approve=["rest"],
        ring_parallel={"rest": 10},
        ring_not_before={"rest": "2026-11-28T06:00:00Z"},
        ring_check={"rest": "gate.sh"},
    )
    start = datetime(2026, 11, 28, 6, tzinfo=UTC)
    half = Minimum(50, is_percentage=True)
    assert rings == [
        RingOptions("canary", ("c1",), soak=7200),
        RingOptions("rest", ("r1", "r2"), 0, half, 1, True, 10, start, "gate.sh"),
    ]


@pytest.mark.parametrize("empty", [None, "", {}])
def test_an_empty_value_is_the_default(empty: object) -> None:
    options = (
        "ring_soak",
        "ring_minimum",
        "ring_max_failures",
        "ring_parallel",
        "ring_not_before",
        "ring_check",
    )
    assert read(ring_approve=empty, **dict.fromkeys(options, empty)) == read()


def test_names_may_be_given_as_a_text() -> None:
    rings = read_rings({"rings": "canary, rest", "ring_approve": "rest"}, GROUPS, HOSTS)
    assert [(ring.name, ring.is_approval_required) for ring in rings] == [("canary", False), ("rest", True)]


def test_a_group_without_hosts_may_be_a_ring() -> None:
    assert [ring.hosts for ring in read("canary", "later", "rest")] == [("c1",), (), ("r1", "r2")]


def test_a_ring_has_hosts_outside_of_the_limit() -> None:
    rings = read_rings({"rings": ["canary", "rest"]}, GROUPS, ["r2"])
    assert [ring.hosts for ring in rings] == [("c1",), ("r1", "r2")]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (0, 0),
        ("0", 0),
        ("0s", 0),
        ("90s", 90),
        (90, 90),
        ("30m", 1800),
        ("1h30m", 5400),
        ("1d", 86400),
        (0.5, 0.5),
    ],
)
def test_durations_are_read(value: object, seconds: float) -> None:
    assert read_duration(value) == seconds


@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 11, 28, 6, tzinfo=UTC),
        datetime(2026, 11, 28, 7, tzinfo=timezone(timedelta(hours=1))),
        "2026-11-28T06:00:00",
        "2026-11-28 07:00:00+01:00",
    ],
)
def test_times_are_read_also_as_yaml_has_them(value: object) -> None:
    (ring, _rest) = read(ring_not_before={"canary": value})
    assert ring.not_before == datetime(2026, 11, 28, 6, tzinfo=UTC)
    (ring, _rest) = read(ring_not_before={"canary": date(2026, 11, 28)})
    assert ring.not_before == datetime(2026, 11, 28, tzinfo=UTC)


@pytest.mark.parametrize("value", ["soon", "-5", -5, "1 h", True, [5]])
def test_a_bad_duration_is_refused_with_its_ring(value: object) -> None:
    assert problems(ring_soak={"canary": value}) == [
        f"kyma_ring_soak is {value!r} for the ring canary, and must be a number of seconds, or a duration"
        " such as 90s, 30m, 2h or 1d"
    ]


@pytest.mark.parametrize("value", ["half", 0, "0%", "101%", -1, "-50%", 1.5, True])
def test_a_bad_minimum_is_refused(value: object) -> None:
    assert problems(ring_minimum=value) == [
        f"kyma_ring_minimum is {value!r}, and must be a whole number from 1, or a percentage from 1% to 100%"
    ]


@pytest.mark.parametrize("option", ["ring_max_failures", "ring_parallel"])
@pytest.mark.parametrize("value", ["many", -1, 1.5, "50%", False])
def test_a_bad_number_is_refused(option: str, value: object) -> None:
    assert problems(**{option: value}) == [
        f"kyma_{option} is {value!r}, and must be a whole number, 0 or more"
    ]


@pytest.mark.parametrize("value", ["tomorrow", "25:00", 5, True])
def test_a_bad_time_is_refused(value: object) -> None:
    assert problems(ring_not_before={"rest": value}) == [
        f"kyma_ring_not_before is {value!r} for the ring rest, and must be a time such as"
        " 2026-11-22T06:00:00Z"
    ]


def test_a_check_that_is_no_text_is_refused() -> None:
    assert problems(ring_check={"rest": ["gate.sh"]}) == [
        "kyma_ring_check is ['gate.sh'] for the ring rest, and must be a path or a URL"
    ]


@pytest.mark.parametrize("value", [True, {"rest": True}, 5])
def test_rings_to_approve_that_are_no_list_are_refused(value: object) -> None:
    assert problems(ring_approve=value) == [f"kyma_ring_approve is {value!r}, and must be a list of rings"]


def test_a_minimum_that_a_ring_can_t_reach_is_refused() -> None:
    assert problems(ring_minimum=2) == ["kyma_ring_minimum is 2, but the ring canary has 1 cluster"]
    assert read("canary", "later", "rest", ring_minimum={"later": 2})


@pytest.mark.parametrize(
    "option",
    ["ring_soak", "ring_minimum", "ring_max_failures", "ring_parallel", "ring_not_before", "ring_check"],
)
def test_a_value_for_an_unknown_ring_is_refused(option: str) -> None:
    assert problems(**{option: {"production": 1}}) == [
        f"kyma_{option} names production, which is no ring. The rings are canary, rest"
    ]


def test_an_approval_of_an_unknown_ring_is_refused() -> None:
    assert problems(ring_approve=["production"]) == [
        "kyma_ring_approve names production, which is no ring. The rings are canary, rest"
    ]


def test_a_host_in_no_ring_is_refused_by_name() -> None:
    assert problems("canary") == [
        "kyma_rings has no ring for 2 hosts (r1, r2). Add the host to the group of a ring, or leave it out"
        " with --limit"
    ]
    assert read_rings({"rings": ["canary"]}, GROUPS, ["c1"])


def test_a_host_in_two_rings_is_refused_by_name() -> None:
    assert problems("canary", "rest", "europe") == [
        "kyma_rings has 1 host (c1) in the rings canary and europe, not in one",
        "kyma_rings has 1 host (r1) in the rings rest and europe, not in one",
    ]


def test_a_host_in_two_rings_is_refused_also_outside_of_the_limit() -> None:
    with pytest.raises(BadRings, match="c1"):
        read_rings({"rings": ["canary", "rest", "europe"]}, GROUPS, ["r2"])


def test_a_ring_that_is_no_group_is_refused() -> None:
    assert problems("canary", "rset", "rest") == [
        "kyma_rings names rset, which is no group of the inventory: did you mean rest?"
    ]


def test_a_ring_that_is_named_twice_is_refused() -> None:
    assert "kyma_rings names the ring rest twice" in problems("canary", "rest", "rest")


@pytest.mark.parametrize("value", [None, [], "", True])
def test_no_rings_are_refused(value: object) -> None:
    with pytest.raises(BadRings, match="kyma_rings is"):
        read_rings({"rings": value}, GROUPS, HOSTS)


def test_all_problems_are_reported_together() -> None:
    with pytest.raises(BadRings) as caught:
        read("canary", ring_soak="soon", ring_minimum=0, ring_parallel={"production": 1})
    assert str(caught.value).splitlines() == [
        "the rings can't be used for 4 reasons:",
        "- kyma_rings has no ring for 2 hosts (r1, r2). Add the host to the group of a ring, or leave it out"
        " with --limit",
        "- kyma_ring_soak is 'soon', and must be a number of seconds, or a duration such as 90s, 30m, 2h or"
        " 1d",
        "- kyma_ring_minimum is 0, and must be a whole number from 1, or a percentage from 1% to 100%",
        "- kyma_ring_parallel names production, which is no ring. The rings are canary",
    ]


def test_a_first_ring_without_hosts_is_refused() -> None:
    assert problems("later", "canary", "rest") == [
        "kyma_rings begins with later, a group without hosts in the inventory, so the next ring would get the"
        " release first. Add a host to the group, or leave it out of the rings"
    ]
