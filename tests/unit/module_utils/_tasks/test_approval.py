# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task ``approval``: a ring is approved once, replaced and withdrawn, and nothing else is written."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import (
    APPROVAL,
    Approval,
    approval_record,
    read_approvals,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import approval
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, deployer, only_reads, release

DIGEST, EARLIER = "ab" * 32, "cd" * 32
PARAMS: dict[str, Any] = {
    "ring": "rest",
    "release_digest": DIGEST,
    "reason": "see CHG-1",
    "clusters": ["a", "b"],
}


@pytest.fixture
def someone() -> Deployer:
    cluster = MemoryCluster()
    cluster.apply(APPROVAL.definition)
    return deployer(release("2.9", {}), cluster=cluster)


def approve(someone: Deployer, **params: Any) -> dict[str, Any]:
    return someone.task(approval.DEFINITION, **{**PARAMS, **params})


def withdraw(someone: Deployer, **params: Any) -> dict[str, Any]:
    return someone.task(approval.DEFINITION, state="absent", **{"ring": "rest", **params})


def add(someone: Deployer, approved: Approval) -> Approval:
    """An approval that is in the cluster already."""
    someone.cluster.create(approval_record(approved))
    return approved


def test_a_ring_is_approved(someone: Deployer) -> None:
    result = approve(someone, until="2999-01-01", by="alice")
    assert result["changed"]
    [approved] = read_approvals(someone.cluster)
    assert to_result(approved) == result["approval"]
    assert (approved.ring, approved.release_digest, approved.clusters) == ("rest", DIGEST, ("a", "b"))
    assert (approved.by, approved.until) == ("alice", "2999-01-01T00:00:00Z")
    assert approved.at
    assert result["msg"] == str(approved)


@pytest.mark.parametrize("until", ["", "2999-01-01"])
def test_a_second_task_of_any_person_changes_nothing(someone: Deployer, until: str) -> None:
    first = approve(someone, until=until, reason="see CHG-1,\nand the chat", by="alice")
    assert isinstance(someone.cluster, MemoryCluster)
    with only_reads(someone.cluster):
        second = approve(someone, until=until, reason="see CHG-1,\nand the chat", by="bob", clusters=["c"])
    assert not second["changed"]
    assert second["approval"] == first["approval"]


@pytest.mark.parametrize(
    "change", [{"release_digest": EARLIER}, {"reason": "see CHG-2"}, {"until": "2999-01-02"}]
)
def test_another_release_reason_or_end_replaces_the_approval(
    someone: Deployer, change: dict[str, str]
) -> None:
    first = approve(someone)
    second = approve(someone, **change)
    assert (second["changed"], second["removed"]) == (True, [first["approval"]])
    [approved] = read_approvals(someone.cluster)
    assert to_result(approved) == second["approval"] != first["approval"]


def test_approvals_that_are_worthless_are_deleted_and_those_of_other_rings_stay(someone: Deployer) -> None:
    other = add(someone, Approval("early", EARLIER, "see CHG-0"))
    add(someone, Approval("rest", EARLIER, "see CHG-0"))
    add(someone, Approval("rest", DIGEST, "see CHG-1", until="2001-01-01T00:00:00Z"))
    assert len(approve(someone)["removed"]) == 2
    assert [one.ring for one in read_approvals(someone.cluster)] == ["early", "rest"]
    assert other.ring == "early"
    # One that was left behind by a task that was cut off.
    add(someone, Approval("rest", EARLIER, "see CHG-0"))
    again = approve(someone)
    assert (again["changed"], len(again["removed"])) == (True, 1)
    assert not approve(someone)["changed"]


def test_the_new_approval_is_written_before_the_others_are_deleted(someone: Deployer) -> None:
    approve(someone)

    def stop(_cluster: Cluster, event: Any) -> None:
        seen.append(event.type)

    seen: list[str] = []
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.on_write(stop)
    approve(someone, reason="see CHG-2")
    assert seen == ["ADDED", "DELETED"]


def test_an_approval_is_withdrawn_once(someone: Deployer) -> None:
    approved = approve(someone)
    gone = withdraw(someone)
    assert (gone["changed"], gone["approval"], gone["removed"]) == (True, None, [approved["approval"]])
    assert gone["msg"] == f"withdrawn: {approved['msg']}"
    assert read_approvals(someone.cluster) == []
    again = withdraw(someone)
    assert (again["changed"], again["msg"]) == (False, "ring rest is not approved")


def test_only_the_approval_of_the_named_release_and_ring_is_withdrawn(someone: Deployer) -> None:
    approve(someone)
    assert not withdraw(someone, release_digest=EARLIER)["changed"]
    assert not withdraw(someone, ring="early")["changed"]
    assert withdraw(someone, release_digest=DIGEST)["changed"]


def test_check_mode_answers_the_same_and_writes_nothing(someone: Deployer) -> None:
    assert isinstance(someone.cluster, MemoryCluster)
    with only_reads(someone.cluster):
        result = approve(someone, check_mode=True)
    assert (result["changed"], result["approval"]["reason"]) == (True, "see CHG-1")
    approve(someone)
    with only_reads(someone.cluster):
        gone = withdraw(someone, check_mode=True)
    assert (gone["changed"], gone["approval"]) == (True, None)


def test_the_diff_has_what_is_written_and_what_is_deleted(someone: Deployer) -> None:
    [first] = approve(someone)["diff"]
    assert (first["before"], "ring: rest" in first["after"]) == ("", True)
    assert approve(someone)["diff"] == []
    new, old = approve(someone, reason="see CHG-2")["diff"]
    assert "see CHG-2" in new["after"]
    assert (old["before"].replace(" ", ""), old["after"]) == (first["after"].replace(" ", ""), "")


@pytest.mark.parametrize("change", [{"reason": ""}, {"release_digest": ""}, {"until": "2001-01-01"}])
def test_an_invalid_approval_is_refused_and_the_earlier_one_stays(
    someone: Deployer, change: dict[str, str]
) -> None:
    before = approve(someone)["approval"]
    assert approve(someone, **change)["failed"]
    assert to_result(read_approvals(someone.cluster)) == [before]


def test_a_cluster_without_the_definition_names_the_file_that_installs_it() -> None:
    someone = deployer(release("2.9", {}), cluster=MemoryCluster())
    result = approve(someone)
    assert result["failed"]
    assert "can apply roles/kyma/files/definitions of" in result["msg"]
    gone = withdraw(someone)
    assert (gone["changed"], gone["msg"]) == (False, "ring rest is not approved")


def test_an_account_that_may_not_write_approvals_is_refused(someone: Deployer) -> None:
    assert isinstance(someone.cluster, MemoryCluster)
    refusal = Forbidden("create Approval", status=403, api_message="approvals is forbidden")
    someone.cluster.fail_when(lambda request: request.ref.kind == "KymaApproval" and request.writes, refusal)
    result = approve(someone)
    assert result["failed"]
    assert "approvals is forbidden" in result["msg"]
    assert "ClusterRole kyma-lifecycle-approver" in result["msg"]
    assert read_approvals(someone.cluster) == []
