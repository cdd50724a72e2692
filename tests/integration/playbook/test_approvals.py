# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module ``approval`` on a real API server, by accounts with the shipped roles alone.

The approver's account writes approvals and nothing else. The deployer's account reads them, and is refused.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._result_codec import to_result
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.approvals import read_approvals
from ansible_collections.kyma.lifecycle.plugins.modules import approval

from tests.support.accounts import HOME, ROLES, bind, deployer_of, playbook_of
from tests.support.kubectl import kubectl
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.single_rights import SingleRight, is_granted
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = pytest.mark.control_plane

APPROVE, UNTIL, WITHDRAW = yaml.safe_load(approval.EXAMPLES)
APPROVALS = "kymaapprovals.lifecycle.kyma-project.io"
WRITES = ("create", "update", "patch", "delete", "deletecollection")


@pytest.fixture(scope="module")
def approver(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """An account that has the shipped role of approvers, and nothing else."""
    own_cluster.api.apply(yaml.safe_load((ROLES / "approver.yaml").read_text()))
    bind(own_cluster, "kyma-lifecycle-approver", "approver")
    return playbook_of(own_cluster, tmp_path_factory.mktemp("approver"), "approver")


@pytest.fixture(scope="module")
def deployer(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """An account that has the shipped role of deployers, and rights for the release."""
    return deployer_of(own_cluster, tmp_path_factory.mktemp("deployer"))


@pytest.fixture(scope="module")
def definition(own_cluster: OwnCluster) -> None:
    """The definition of approvals, as an administrator applies it."""
    kubectl(own_cluster.kubeconfig, "apply", "-f", str(ROLES.parent / "definitions"))
    wait = f"wait --for=condition=Established --timeout=30s crd/{APPROVALS}"
    kubectl(own_cluster.kubeconfig, *wait.split())


def play(playbook: Playbook, *tasks: dict[str, Any], **keywords: Any) -> Outcome:
    book = [{"hosts": "localhost", "gather_facts": False, "tasks": list(tasks), **keywords}]
    return playbook.play(json.dumps(book))


def may(cluster: OwnCluster, account: str, verb: str, resource: str) -> bool:
    name, _dot, group = resource.partition(".")
    right = SingleRight(verb, group, name)
    return is_granted(cluster.api, f"system:serviceaccount:{HOME}:{account}", right)


def test_without_the_definition_an_approval_names_the_file_that_installs_it(
    approver: Playbook,
) -> None:
    assert "can apply roles/kyma/files/definitions of" in play(approver, APPROVE).failed().text


@pytest.mark.usefixtures("definition")
def test_the_examples_work_by_the_account_of_an_approver(approver: Playbook, own_cluster: OwnCluster) -> None:
    # In the background it is the module that works, and otherwise the action plugin.
    tasks = [APPROVE, {**APPROVE, "async": 60, "poll": 1}, UNTIL, {**UNTIL, "async": 60, "poll": 1}]
    outcome = play(approver, *tasks).succeeded()
    assert [one["changed"] for one in outcome.results] == [True, False, True, False]
    first, second, third, fourth = (one["approval"] for one in outcome.results)
    assert first == second
    assert (first["user"], first["by"]) == (f"system:serviceaccount:{HOME}:approver", "alice")
    assert first["clusters"] == ["localhost"]
    assert third == fourth
    [approved] = read_approvals(own_cluster.api)
    assert to_result(approved) == third
    record = own_cluster.api.get("lifecycle.kyma-project.io/v1", "KymaApproval", approved.name)
    assert record
    assert record["metadata"]["creationTimestamp"] == third["at"]
    assert third["user"] in kubectl(own_cluster.kubeconfig, "get", "kyap")


@pytest.mark.usefixtures("definition")
def test_check_mode_shows_an_approval_and_writes_nothing(approver: Playbook) -> None:
    outcome = play(approver, APPROVE, WITHDRAW, check_mode=True, diff=True).succeeded()
    assert [one["changed"] for one in outcome.results] == [True, True]
    assert [str(one) for one in outcome.requests if one.persists] == []
    assert "see CHG-1234" in outcome.text


def test_an_approver_writes_nothing_else(approver: Playbook, own_cluster: OwnCluster) -> None:
    hold = {"kyma.lifecycle.hold": {"reason": "lunch"}}
    assert "forbidden" in play(approver, hold).failed().text
    kinds = ("installations", "runs", "inventories", "modules", "journalentries", "holds")
    others = [f"kyma{kind}.lifecycle.kyma-project.io" for kind in kinds]
    others += ["configmaps", "secrets", "leases.coordination.k8s.io", "namespaces"]
    others += ["customresourcedefinitions.apiextensions.k8s.io", "clusterroles.rbac.authorization.k8s.io"]
    for resource in others:
        assert not may(own_cluster, "approver", "create", resource), resource
        assert not may(own_cluster, "approver", "get", resource), resource
    # An approval is replaced, so the time of its creation is the time of all of its content.
    assert not any(may(own_cluster, "approver", verb, APPROVALS) for verb in ("update", "patch"))
    assert all(may(own_cluster, "approver", verb, APPROVALS) for verb in ("list", "create", "delete"))


@pytest.mark.usefixtures("definition")
def test_a_deployer_reads_approvals_and_is_refused_to_write_them(
    approver: Playbook, deployer: Playbook, own_cluster: OwnCluster
) -> None:
    play(approver, APPROVE).succeeded()
    before = read_approvals(own_cluster.api)
    for refused in play(deployer, UNTIL, WITHDRAW, ignore_errors=True).results:
        assert "forbidden" in refused["msg"]
        assert "The ClusterRole kyma-lifecycle-approver grants this right" in refused["msg"]
    assert read_approvals(own_cluster.api) == before
    assert not any(may(own_cluster, "pipeline", verb, APPROVALS) for verb in WRITES)
    assert kubectl(deployer.folder / "kubeconfig", "get", "kyap", "-o", "name").split() == [
        f"kymaapproval.lifecycle.kyma-project.io/{before[0].name}"
    ]


@pytest.mark.usefixtures("definition")
def test_a_ring_is_deployed_only_after_an_approver_has_approved_it(
    approver: Playbook, deployer: Playbook, own_cluster: OwnCluster, small: SmallRelease
) -> None:
    small.component("shop", config_map("shop"))
    inventory = deployer.folder / "fleet.ini"
    inventory.write_text("[canary]\nlive\n")
    deployer.settings["ANSIBLE_INVENTORY"] = str(inventory)
    rings = {"kyma_rings": ["canary"], "kyma_ring_approve": ["canary"], "kyma_release": str(small.folder)}
    stated = {"kyma_ring": "canary", "kyma_reason": "see CHG-1"}
    deploy, approve = (
        f"- import_playbook: kyma.lifecycle.{name}" for name in ("deploy_kyma", "approve_ring")
    )

    waiting = deployer.play(deploy, **rings).succeeded()
    digest = next(one["release_digest"] for one in waiting.results if "rings" in one)
    assert "no approval for this release (kyma_ring_approve)" in waiting.text
    assert f"-e kyma_ring=canary -e kyma_release_digest={digest}" in waiting.text
    assert "forbidden" in deployer.play(approve, **rings, **stated).failed().text
    assert own_cluster.api.get("v1", "ConfigMap", "shop", NAMESPACE) is None

    connection = str(approver.folder / "kubeconfig")
    approved = deployer.play(approve, **rings, **stated, kyma_approver_kubeconfig=connection).succeeded()
    assert f"is approved for the release {digest[:12]}" in approved.text
    deployer.play(deploy, **rings).succeeded()
    assert own_cluster.api.get("v1", "ConfigMap", "shop", NAMESPACE)
