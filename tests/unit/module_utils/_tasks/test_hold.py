# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``hold``, on the in-memory cluster."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import read_hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import hold, run
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._carrier.arguments import validate
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, deployer, only_reads, release

END = "2999-01-01T00:00:00Z"
EXPIRED = {"spec": {"reason": "an audit", "until": "2001-01-01T00:00:00Z"}}


@pytest.fixture
def someone() -> Deployer:
    return deployer(release("2.9", {}), cluster=MemoryCluster())


def hold_of(someone: Deployer) -> Hold:
    current = read_hold(someone.cluster)
    assert current is not None
    return current


def held(someone: Deployer, **params: Any) -> dict[str, Any]:
    return someone.task(hold.DEFINITION, **{"reason": "an audit", **params})


def test_a_cluster_without_a_release_can_be_held(someone: Deployer) -> None:
    result = held(someone, until="2999-01-01")
    assert result["changed"]
    assert (result["hold"]["reason"], result["hold"]["until"]) == ("an audit", END)
    assert hold_of(someone) == Hold(**result["hold"])
    assert result["msg"] == str(hold_of(someone))


@pytest.mark.parametrize("until", ["", "2999-01-01"])
def test_a_second_task_changes_nothing(someone: Deployer, until: str) -> None:
    first = held(someone, until=until, reason="an audit,\nsee the ticket")
    assert isinstance(someone.cluster, MemoryCluster)
    with only_reads(someone.cluster):
        second = held(someone, until=until, reason="an audit,\nsee the ticket")
    assert not second["changed"]
    assert second["hold"] == first["hold"]


@pytest.mark.parametrize("change", [{"reason": "a fire"}, {"until": ""}, {"until": "2999-01-02"}])
def test_another_reason_or_end_replaces_the_hold(someone: Deployer, change: dict[str, str]) -> None:
    held(someone, until=END)
    assert held(someone, **{"until": END, **change})["changed"]
    assert hold_of(someone).reason == change.get("reason", "an audit")
    assert hold_of(someone).until != END or "until" not in change


def test_a_hold_that_has_ended_by_itself_begins_again(someone: Deployer) -> None:
    held(someone)
    someone.cluster.patch(API_VERSION, "KymaHold", "kyma", None, EXPIRED)
    assert held(someone)["changed"]
    assert hold_of(someone).until == ""


def test_no_field_of_an_earlier_hold_stays(someone: Deployer) -> None:
    held(someone)
    # By a person, whose field an apply by another manager would leave.
    by_hand = someone.cluster.with_field_manager("kubectl-patch")
    by_hand.patch(API_VERSION, "KymaHold", "kyma", None, {"spec": {"until": END}})
    assert held(someone)["changed"]
    assert hold_of(someone).until == ""
    assert not held(someone)["changed"]


def test_a_hold_is_ended_once(someone: Deployer) -> None:
    before = held(someone)["msg"]
    ended = someone.task(hold.DEFINITION, state="absent")
    assert (ended["changed"], ended["hold"], ended["msg"]) == (
        True,
        None,
        f"ended the hold; before, {before}",
    )
    assert read_hold(someone.cluster) is None
    again = someone.task(hold.DEFINITION, state="absent")
    assert (again["changed"], again["hold"], again["msg"]) == (False, None, "the cluster is not held")


def test_check_mode_answers_the_same_and_writes_nothing(someone: Deployer) -> None:
    assert isinstance(someone.cluster, MemoryCluster)
    with only_reads(someone.cluster):
        result = held(someone, check_mode=True)
    assert (result["changed"], result["hold"]["reason"]) == (True, "an audit")
    held(someone)
    with only_reads(someone.cluster):
        result = someone.task(hold.DEFINITION, check_mode=True, state="absent")
    assert (result["changed"], result["hold"]) == (True, None)


def test_the_diff_has_the_hold_before_and_after(someone: Deployer) -> None:
    first = held(someone)["diff"]
    assert "spec" not in first["before"]
    assert "kind: KymaHold\n" in first["after"]
    assert "reason: an audit\n" in first["after"]
    same = held(someone)["diff"]
    assert same["before"] == same["after"] == first["after"]
    gone = someone.task(hold.DEFINITION, state="absent")["diff"]
    assert (gone["before"], gone["after"]) == (first["after"], first["before"])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"reason": "an audit", "until": "yesterday"}, "until is yesterday"),
        ({"reason": ""}, "reason is empty"),
    ],
)
def test_an_invalid_hold_is_refused(someone: Deployer, options: dict[str, str], problem: str) -> None:
    result = held(someone, **options)
    assert result["failed"]
    assert problem in result["msg"]
    assert read_hold(someone.cluster) is None


@pytest.mark.parametrize("state", ["present", "absent"])
def test_an_account_that_may_not_hold_is_refused_with_the_role_that_may(
    someone: Deployer, state: str
) -> None:
    held(someone)
    assert isinstance(someone.cluster, MemoryCluster)
    refusal = Forbidden("patch KymaHold kyma", status=403, api_message="kymaholds is forbidden")
    someone.cluster.fail_when(lambda request: request.ref.kind == "KymaHold" and request.writes, refusal)
    result = held(someone, state=state, reason="a fire")
    assert result["failed"]
    assert "ClusterRole kyma-lifecycle-holder grants" in result["msg"]


def test_a_hold_needs_no_right_to_read_another_record(someone: Deployer) -> None:
    held(someone)
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.requests.clear()
    held(someone, reason="a fire")
    someone.task(hold.DEFINITION, state="absent")
    assert {one.ref.kind for one in someone.cluster.requests} == {"KymaHold"}


def test_a_reason_is_required_to_hold_and_not_to_end() -> None:
    assert not validate(hold.DEFINITION, {"state": "absent"}, "kyma.lifecycle.hold").problem
    problem = validate(hold.DEFINITION, {}, "kyma.lifecycle.hold").problem
    assert problem == "state is present but all of the following are missing: reason"


def test_a_run_has_no_states_of_a_hold() -> None:
    assert run.DEFINITION.argument_spec["state"]["choices"] == ["started", "finished", "noted", "cancelled"]
    assert "until" not in run.DEFINITION.argument_spec
