# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which release a cluster has, by its files, and since when: for rollouts over several clusters."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster import cluster as cluster_module
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.held_lease import read_lease
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import (
    LEASE_NAME,
    LIFECYCLE_NAMESPACE,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.cluster_hold import Hold
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.hold_records import (
    read_hold,
    write_hold,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    basis_in,
    read_installation,
    write_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import approval, component, plan, run
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.clock import let_leases_expire
from tests.support.driver import Deployer, config_map, deployer, deployment, only_reads, release

NINE = release("2.9", {"a": [config_map("a", x="1")], "b": [config_map("b")]})
TEN = release("2.10", {"a": [config_map("a", x="2")], "b": [config_map("b")]})
BROKEN_TEN = release("2.10", {"a": [deployment("a", "broken:1")], "b": [config_map("b")]})


@pytest.fixture(autouse=True)
def server_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster's clock moves on by an hour at each look, and is not the clock of this machine."""
    hours = count(1)
    monkeypatch.setattr(cluster_module, "timestamp", lambda: f"2001-01-01T{next(hours):02}:00:00Z")


def seen(someone: Deployer) -> tuple[str, str]:
    installed = someone.installation()
    return installed.release_digest, installed.release_since


def rollout(someone: Deployer, **options: object) -> Result:
    return someone.task(plan.DEFINITION, rollout=True, **options)


def given(someone: Deployer, to: Release) -> Deployer:
    someone.materials.given = to
    return someone


def test_a_run_that_succeeds_records_the_release_and_when_by_the_clock_of_the_cluster() -> None:
    someone = deployer(NINE)
    someone.deploy()
    assert seen(someone) == (NINE.release_digest, "2001-01-01T01:00:00Z")
    assert someone.record()["status"]["begin"]["releaseDigest"] == NINE.release_digest
    info = someone.run_info()
    assert info["runs"][0]["release_digest"] == NINE.release_digest
    assert info["installation"]["release_digest"] == NINE.release_digest
    assert info["installation"]["release_since"] == "2001-01-01T01:00:00Z"


def test_repairs_and_other_values_of_the_same_release_do_not_move_its_time() -> None:
    someone = deployer(NINE)
    someone.deploy()
    before = seen(someone)
    someone.cluster.delete("v1", "ConfigMap", "a", "kyma-system")
    assert someone.deploy()["state"] == "succeeded"
    other_values = release("2.9", {"a": [config_map("a", x="5")], "b": [config_map("b")]}, profile="small")
    given(someone, replace(other_values, release_digest=NINE.release_digest))
    someone.options = {"change_profile": True}
    assert someone.deploy()["state"] == "succeeded"
    assert len(someone.run_info()["runs"]) == 3
    assert seen(someone) == before


def test_a_repair_that_fails_does_not_move_it_either() -> None:
    both = release("2.9", {"a": [deployment("a")], "b": [config_map("b")]})
    someone = deployer(both)
    someone.deploy()
    before = seen(someone)
    someone.cluster.patch("v1", "ConfigMap", "b", "kyma-system", {"data": {"x": "y"}})
    someone.cluster.delete("apps/v1", "Deployment", "a", "kyma-system")
    broken = replace(BROKEN_TEN, version="2.9", release_digest=both.release_digest)
    assert given(someone, broken).deploy()["state"] == "failed"
    assert seen(someone) == before
    assert given(someone, both).deploy()["state"] == "succeeded"
    assert seen(someone) == before


def test_another_release_counts_from_its_success_and_the_old_one_ends_with_the_beginning() -> None:
    someone = deployer(NINE)
    someone.deploy()
    assert given(someone, BROKEN_TEN).deploy()["state"] == "failed"
    assert seen(someone) == ("", "")
    assert someone.deploy()["state"] == "failed"
    mended = replace(TEN, release_digest=BROKEN_TEN.release_digest)
    assert given(someone, mended).deploy()["state"] == "succeeded"
    digest, since = seen(someone)
    assert digest == BROKEN_TEN.release_digest
    assert since == rollout(someone)["rollout"]["since"] > "2001-01-01T01:00:00Z"


def test_each_hop_has_the_digest_of_its_own_release() -> None:
    eight = release("2.8", {"a": [config_map("a")]})
    someone = deployer(eight)
    someone.deploy()
    given(someone, TEN).materials.others = (NINE,)
    someone.options["hops"] = "auto"
    planned = rollout(someone)
    assert planned["rollout"]["release_digest"] == TEN.release_digest
    assert planned["plan"]["release_digest"] == NINE.release_digest
    assert [one["release_digest"] for one in planned["plan"]["later"]] == [TEN.release_digest]
    given(someone, NINE).materials.others = ()
    someone.deploy()
    assert seen(someone)[0] == NINE.release_digest
    given(someone, TEN).deploy()
    digests = [one["release_digest"] for one in someone.run_info()["runs"]]
    assert sorted(digests) == sorted([eight.release_digest, NINE.release_digest, TEN.release_digest])
    assert seen(someone)[0] == TEN.release_digest


def test_components_alone_claim_no_release() -> None:
    someone = deployer(NINE)
    someone.deploy()
    before = seen(someone)
    someone.options["components"] = ["a"]
    someone.cluster.delete("v1", "ConfigMap", "a", "kyma-system")
    assert someone.deploy()["state"] == "succeeded"
    assert seen(someone) == before
    assert given(someone, TEN).deploy()["state"] == "succeeded"
    assert seen(someone) == ("", "")
    assert someone.installation().version == "2.9"


def test_a_component_of_another_release_outside_of_a_run_ends_the_release_too() -> None:
    someone = deployer(NINE)
    someone.deploy()
    before = seen(someone)
    other_values = release("2.9", {"a": [config_map("a", x="5")], "b": [config_map("b")]})
    for same in (NINE, replace(other_values, release_digest=NINE.release_digest)):
        given(someone, same).task(component.DEFINITION, names=["a"])
        assert seen(someone) == before
    assert someone.installation().digest == ""
    given(someone, TEN).task(component.DEFINITION, names=["a"])
    assert seen(someone) == ("", "")


def test_a_deletion_ends_the_release() -> None:
    someone = deployer(NINE)
    someone.deploy()
    someone.delete()
    assert someone.installation().version == ""
    assert seen(someone) == ("", "")


def test_a_plan_with_nothing_to_do_reads_no_release_unless_a_rollout_wants_its_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    someone = deployer(NINE)
    someone.deploy()
    with only_reads(someone.cluster) as requests:
        planned = rollout(someone)
    assert planned["plan"]["release_digest"] == NINE.release_digest
    reads = len(requests)
    with only_reads(someone.cluster) as requests:
        monkeypatch.delattr(type(someone.materials), "release_digest")
        someone.materials.unreadable = True
        planned = someone.plan()
    assert not planned["plan"]["needed"]
    assert planned["plan"]["release_digest"] == ""
    assert "rollout" not in planned
    # The record of the last run, and the approvals.
    assert reads == len(requests) + 2


def test_a_rollout_knows_what_each_cluster_has() -> None:
    someone = deployer(NINE)
    empty = rollout(someone)["rollout"]
    assert (empty["installed_digest"], empty["since"], empty["run"]) == ("", "", {})
    assert empty["release_digest"] == NINE.release_digest
    someone.deploy()
    facts = rollout(given(someone, TEN))["rollout"]
    assert facts == {
        "release_digest": TEN.release_digest,
        "installed_digest": NINE.release_digest,
        "since": "2001-01-01T02:00:00Z",
        "run": {
            "name": someone.installation().last_run,
            "state": "succeeded",
            "release_digest": NINE.release_digest,
        },
        "now": "2001-01-01T03:00:00Z",
        "healthy_since": "",
        "approvals": [],
        "approvals_problem": "",
        "begun": {"release_digest": "", "ring": ""},
    }


def test_a_rollout_knows_the_approvals_of_a_cluster() -> None:
    someone = deployer(NINE)
    assert rollout(someone)["rollout"]["approvals_problem"] == "the cluster has no definition of approvals"
    someone.deploy()
    options = {"ring": "rest", "release_digest": "ab" * 32, "reason": "CHG-1", "clusters": ["a", "b"]}
    approved = someone.task(approval.DEFINITION, **options)["approval"]
    facts = rollout(someone)["rollout"]
    assert (facts["approvals"], facts["approvals_problem"]) == ([approved], "")
    refusal = Forbidden("list Approval", status=403, api_message="approvals is forbidden")
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.fail_when(lambda request: request.ref.kind == "KymaApproval", refusal)
    planned = rollout(someone)
    assert not planned.get("failed")
    assert planned["rollout"]["approvals"] == []
    assert "approvals is forbidden" in planned["rollout"]["approvals_problem"]


def test_a_plan_without_rings_reads_no_approvals() -> None:
    someone = deployer(NINE)
    someone.deploy()
    assert isinstance(someone.cluster, MemoryCluster)
    someone.cluster.requests.clear()
    someone.plan()
    kinds = {request.ref.kind for request in someone.cluster.requests}
    assert kinds
    assert "KymaApproval" not in kinds


def test_a_rollout_knows_of_runs_that_are_at_work_or_lost() -> None:
    someone = deployer(NINE)
    begun = someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    assert rollout(someone)["rollout"]["run"]["state"] == "running"
    lease = read_lease(someone.cluster)
    assert lease.holder
    lease_of_runs = ("coordination.k8s.io/v1", "Lease", LEASE_NAME, LIFECYCLE_NAMESPACE)
    assert someone.cluster.delete(*lease_of_runs)
    facts = rollout(someone)["rollout"]["run"]
    assert (facts["name"], facts["state"]) == (begun["run"], "lost")


def test_a_plan_that_is_blocked_or_held_has_the_facts_too() -> None:
    someone = deployer(NINE)
    someone.deploy()
    facts = rollout(given(someone, release("2.12", {})))
    assert facts["blockers"]
    assert facts["rollout"]["installed_digest"] == NINE.release_digest
    write_hold(someone.cluster, Hold(by="me", reason="a feast"))
    held = rollout(given(someone, TEN))
    assert held["state"] == "held"
    assert held["rollout"]["release_digest"] == TEN.release_digest
    assert held["rollout"]["installed_digest"] == NINE.release_digest


def unrecorded() -> Deployer:
    """A cluster that was deployed before there were release digests."""
    someone = deployer(NINE)
    someone.deploy()
    installed = someone.installation()
    write_installation(someone.cluster, replace(installed, release_digest="", release_since=""))
    assert seen(someone) == ("", "")
    return someone


def test_a_cluster_that_has_the_release_already_is_adopted_under_the_lease() -> None:
    someone = unrecorded()
    epoch, before = read_lease(someone.cluster).epoch, someone.installation()
    planned = rollout(someone)
    start = len(someone.cluster.requests)
    answer = someone.task(run.DEFINITION, state="noted", plan=planned["plan"], adopt=True)
    assert not answer["changed"]
    assert "adopted" in answer["msg"]
    digest, since = seen(someone)
    assert digest == NINE.release_digest
    assert since.startswith("2001-01-01")
    after = replace(someone.installation(), release_digest="", release_since="")
    assert after == replace(before, resource_version=after.resource_version)
    lease = read_lease(someone.cluster)
    assert (lease.holder, lease.epoch) == ("", epoch + 1)
    writes = [one.ref.kind for one in someone.cluster.requests[start:] if one.writes]
    assert set(writes) == {"KymaInstallation", "Lease"}
    assert writes.count("KymaInstallation") == 1
    assert not rollout(someone)["plan"]["needed"]
    assert len(someone.run_info()["runs"]) == 1


def test_only_a_rollout_adopts_and_never_in_check_mode() -> None:
    someone = unrecorded()
    planned = rollout(someone)
    someone.task(run.DEFINITION, state="noted", plan=planned["plan"])
    with only_reads(someone.cluster):
        someone.task(run.DEFINITION, state="noted", plan=planned["plan"], adopt=True, check_mode=True)
    assert seen(someone) == ("", "")


def test_a_release_that_is_not_deployed_is_not_adopted() -> None:
    someone = unrecorded()
    for plans in (someone.plan, lambda: rollout(given(someone, TEN))):
        with only_reads(someone.cluster):
            refused = someone.task(run.DEFINITION, state="noted", plan=plans()["plan"], adopt=True)
        assert refused["failed"]
        assert "can't be adopted" in refused["msg"]


def test_a_cluster_that_another_run_has_changed_since_is_not_adopted() -> None:
    someone = unrecorded()
    planned = rollout(someone)
    given(someone, TEN).deploy()
    answer = someone.task(run.DEFINITION, state="noted", plan=planned["plan"], adopt=True)
    assert answer["msg"] == "another deployment has begun since the plan was made"
    assert seen(someone)[0] == TEN.release_digest


def test_a_cluster_on_which_a_run_is_at_work_is_not_adopted(monkeypatch: pytest.MonkeyPatch) -> None:
    someone = unrecorded()
    planned = rollout(someone)
    someone.cluster.delete("v1", "ConfigMap", "a", "kyma-system")
    someone.task(run.DEFINITION, state="started", plan=someone.plan()["plan"])
    let_leases_expire(monkeypatch)
    answer = someone.task(run.DEFINITION, state="noted", plan=planned["plan"], adopt=True)
    assert answer["msg"] == "another deployment has begun since the plan was made"
    assert seen(someone) == ("", "")


def test_a_held_cluster_that_has_the_release_is_adopted_as_nothing_is_deployed() -> None:
    someone = unrecorded()
    write_hold(someone.cluster, Hold(by="me", reason="a feast"))
    planned = rollout(someone)
    assert not planned["plan"]["needed"]
    answer = someone.task(run.DEFINITION, state="noted", plan=planned["plan"], adopt=True)
    assert not answer.get("failed"), answer
    assert seen(someone)[0] == NINE.release_digest
    assert read_hold(someone.cluster) is not None


def test_an_adoption_is_no_deployment_for_plans_from_before_it() -> None:
    someone = unrecorded()

    def basis() -> str:
        installation = read_installation(someone.cluster)
        return basis_in(someone.cluster, installation, read_inventories(someone.cluster).values())

    before = basis()
    planned = rollout(someone)
    someone.task(run.DEFINITION, state="noted", plan=planned["plan"], adopt=True)
    assert seen(someone)[0]
    assert basis() == before


WITHOUT_DIGEST = {"status": {"begin": {"releaseDigest": None}}}


def test_a_record_without_a_digest_is_of_a_run_without_a_release() -> None:
    someone = deployer(NINE)
    someone.deploy()
    name = someone.installation().last_run
    someone.cluster.patch(API_VERSION, "KymaRun", name, None, WITHOUT_DIGEST, subresource="status")
    assert rollout(someone)["rollout"]["run"] == {"name": name, "state": "succeeded", "release_digest": ""}
    assert someone.run_info()["runs"][0]["release_digest"] == ""
    someone.cluster.delete(API_VERSION, "KymaRun", name)
    assert rollout(someone)["rollout"]["run"] == {}
