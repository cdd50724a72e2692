# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A gate that was passed on lets those clusters begin that it names, with its release, for a while."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.model import ClusterFacts
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._rollout.passed_gate import (
    PassedGate,
    plan_by_gate,
)

NOW = datetime(2026, 11, 27, 8, 0, tzinfo=UTC)
DIGEST, OTHER = "ab" * 32, "cd" * 32
EAST = ClusterFacts("east", "planned", version="1.1", release_digest=DIGEST, now=NOW)


def named(*hosts: str) -> dict[str, str]:
    return dict.fromkeys(hosts, "rest")


def gate(**changes: Any) -> dict[str, Any]:
    known = {"release_digest": DIGEST, "version": "1.1", "hosts": named("east", "west")}
    return {**known, "at": "2026-11-27T07:00:00Z", **changes}


def refusal(verdict: object, max_age: object = "1h", *, has_serial: bool = False) -> str:
    return PassedGate(verdict, max_age, has_serial).refusal()


def reasons(verdict: object, cluster: ClusterFacts = EAST, max_age: object = "1h") -> list[str]:
    return list(PassedGate(verdict, max_age).reasons(cluster))


def test_a_cluster_that_it_names_begins() -> None:
    assert refusal(gate()) == ""
    assert reasons(gate()) == []


@pytest.mark.parametrize("given", [None, "", {}], ids=str)
def test_without_a_gate_nothing_begins(given: object) -> None:
    message = refusal(given)
    assert "there is no gate (kyma_gate)" in message
    assert "Run the playbook rollout_gate again" in message


@pytest.mark.parametrize(
    "given", ["open", ["east"], {"open": True}, gate(hosts="east"), gate(hosts=["east"])], ids=str
)
def test_a_value_that_is_no_gate_lets_nothing_begin(given: object) -> None:
    assert "which is no gate" in refusal(given)


def test_batches_by_number_are_refused_with_a_gate() -> None:
    assert "kyma_serial is set together with gate_required (kyma_gate_required)" in refusal(
        gate(), has_serial=True
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"release_digest": OTHER, "version": "1.0"},
            "another release: Kyma 1.0 with the digest cdcdcdcdcdcd, and Kyma 1.1 to deploy has the digest"
            " abababababab",
        ),
        ({"release_digest": ""}, "Kyma 1.1 with the digest none"),
        ({"hosts": {}}, "it names no cluster"),
        ({"hosts": named("a", "b", "c", "d")}, "it only names a, b, c and 1 more"),
        (
            {"at": "2026-11-27T06:59:59Z"},
            "decided at 2026-11-27T06:59:59Z, it is 2026-11-27T08:00:00Z by",
        ),
        ({"at": "2026-11-27T09:00:01Z"}, "gate_max_age (kyma_gate_max_age) is 1h"),
        ({"at": "soon"}, "its age is unknown"),
        ({"at": None}, "its age is unknown"),
    ],
)
def test_the_reason_why_a_gate_is_closed_is_named(changes: dict[str, Any], reason: str) -> None:
    [closed] = reasons(gate(**changes))
    assert reason in closed


def test_all_reasons_are_named_at_once() -> None:
    assert len(reasons(gate(release_digest=OTHER, hosts=named("west"), at=""))) == 3


def test_a_gate_does_not_let_an_unknown_release_begin() -> None:
    unknown = ClusterFacts("east", "planned", now=NOW)
    assert "another release" in reasons(gate(release_digest=""), unknown)[0]


def test_the_age_of_a_gate_counts_by_the_clock_of_the_cluster() -> None:
    slow = ClusterFacts("east", "planned", release_digest=DIGEST, now=NOW - timedelta(hours=2))
    assert reasons(gate(at="2026-11-27T06:10:00Z"), slow) == []
    assert "it is 2026-11-27T06:00:00Z by the clock" in reasons(gate(at="2026-11-27T07:30:00Z"), slow)[0]


@pytest.mark.parametrize(("max_age", "holds"), [("90m", True), (3599, False), ("59m", False), (3600, True)])
def test_a_gate_holds_as_long_as_the_user_says(max_age: object, holds: bool) -> None:
    assert (reasons(gate(), max_age=max_age) == []) is holds


@pytest.mark.parametrize("max_age", ["an hour", -1, None, True])
def test_an_age_that_cannot_be_meant_is_refused(max_age: object) -> None:
    assert "gate_max_age (kyma_gate_max_age) is " in refusal(gate(), max_age)


PLAN = {
    "changed": True,
    "plan": {"version": "1.1", "previous": "1.0", "needed": True},
    "rollout": {"release_digest": DIGEST, "now": "2026-11-27T08:00:00Z"},
    "seconds": 0.5,
    "summary": ["Plan"],
}


def test_a_plan_that_the_gate_lets_begin_stays_as_it_is() -> None:
    assert plan_by_gate(lambda: PLAN, PassedGate(gate(), "1h"), "east") is PLAN


def test_a_plan_that_the_gate_does_not_let_begin_is_refused() -> None:
    result = plan_by_gate(lambda: PLAN, PassedGate(gate(release_digest=OTHER), "1h"), "east")
    assert (result["failed"], result["changed"], result["state"]) == (True, False, "refused")
    assert result["failures"] == result["blockers"] == [result["msg"]]
    assert "and Kyma 1.1 to deploy has the digest abab" in result["msg"]
    assert (result["previous"], result["version"], result["seconds"]) == ("1.0", "1.1", 0.5)
    assert "plan" not in result
    assert "summary" not in result


@pytest.mark.parametrize(
    "result", [{"changed": False, "plan": {}}, {"failed": True, "state": "held"}], ids=str
)
def test_a_cluster_with_nothing_to_begin_needs_no_gate_for_it(result: dict[str, Any]) -> None:
    assert plan_by_gate(lambda: result, PassedGate(gate(hosts={}), "1h"), "east") is result


def test_without_a_gate_nothing_is_planned() -> None:
    result = plan_by_gate(lambda: pytest.fail("it is planned"), PassedGate(None, "1h"), "east")
    assert (result["failed"], result["state"]) == (True, "refused")


def test_a_plan_without_the_facts_of_a_rollout_does_not_begin() -> None:
    result = plan_by_gate(lambda: {**PLAN, "rollout": {}}, PassedGate(gate(), "1h"), "east")
    assert "the digest none" in result["msg"]
