# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases that bring what lets the API server refuse every later run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.accounts import deployer_of
from tests.support.audit import writes
from tests.support.extent import cases
from tests.support.own_cluster import OwnCluster
from tests.support.pasted_commands import paste
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]
ADMISSION = {"apiVersion": "admissionregistration.k8s.io/v1"}
FLOW = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1"}
NOWHERE = {"service": {"name": "nowhere", "namespace": NAMESPACE}}
IN_OUR_NAMESPACE = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kyma-lifecycle"}}}
NEVER = {"validations": [{"expression": "false", "message": "not today"}]}
NO_PARAMETER = {"name": "missing", "namespace": "default", "parameterNotFoundAction": "Deny"}


def rule(group: str, *resources: str) -> Object:
    operations = ["CREATE", "UPDATE"]
    return {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": operations,
        "resources": list(resources or "*"),
    }


OURS, LEASES = rule("lifecycle.kyma-project.io"), rule("coordination.k8s.io", "leases")


def webhook(condition: str) -> Object:
    """A webhook without a server."""
    given = {
        "name": "guard.example.com",
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "clientConfig": NOWHERE,
        "rules": [OURS],
        "matchConditions": [{"name": "condition", "expression": condition}],
    }
    return {
        **ADMISSION,
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "guard"},
        "webhooks": [given],
    }


def policy(rules: Object, kind: str = "Validating", **spec: Any) -> Object:
    constraints = {"matchConstraints": {"resourceRules": [rules]}}
    meta = {"kind": f"{kind}AdmissionPolicy", "metadata": {"name": "guard"}}
    return {**ADMISSION, **meta, "spec": {**constraints, **spec}}


def binding(action: str, kind: str = "Validating", **spec: Any) -> Object:
    actions = {"validationActions": [action]} if action else {}
    meta = {"kind": f"{kind}AdmissionPolicyBinding", "metadata": {"name": "guard-all"}}
    return {**ADMISSION, **meta, "spec": {"policyName": "guard", **actions, **spec}}


def mutation() -> Object:
    """A policy whose mutation fails."""
    label = "Object{metadata: Object.metadata{labels: Object.metadata.labels{a: object.spec.missing}}}"
    change = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": label}}
    return policy(OURS, "Mutating", reinvocationPolicy="Never", mutations=[change])


def quota() -> Object:
    hard = {"count/leases.coordination.k8s.io": "0"}
    meta = {"name": "small", "namespace": "kyma-lifecycle"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}


def api_service() -> Object:
    spec = {
        "group": "coordination.k8s.io",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 1,
        "insecureSkipTLSVerify": True,
        **NOWHERE,
    }
    meta = {"kind": "APIService", "metadata": {"name": "v1.coordination.k8s.io"}}
    return {"apiVersion": "apiregistration.k8s.io/v1", **meta, "spec": spec}


def priority_level() -> Object:
    nothing = {
        "nominalConcurrencyShares": 0,
        "lendablePercent": 0,
        "borrowingLimitPercent": 0,
        "limitResponse": {"type": "Reject"},
    }
    meta = {"kind": "PriorityLevelConfiguration", "metadata": {"name": "slow"}}
    return {**FLOW, **meta, "spec": {"type": "Limited", "limited": nothing}}


def flow_schema() -> Object:
    rules = {
        "subjects": [{"kind": "Group", "group": {"name": "system:authenticated"}}],
        "resourceRules": [
            {
                "verbs": ["*"],
                "apiGroups": ["coordination.k8s.io"],
                "resources": ["leases"],
                "namespaces": ["kyma-lifecycle"],
            }
        ],
    }
    spec = {"matchingPrecedence": 2, "priorityLevelConfiguration": {"name": "slow"}, "rules": [rules]}
    return {**FLOW, "kind": "FlowSchema", "metadata": {"name": "flow"}, "spec": spec}


CONFIGURATION = "validatingwebhookconfiguration guard"
PARAMETER = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}
DENIED = {
    "condition": ([webhook("'z' in object.kind")], "guard.example.com", CONFIGURATION),
    "escape": ([webhook(r"'\?' == '?'")], "guard.example.com", CONFIGURATION),
    "records": ([policy(OURS, **NEVER), binding("Deny")], "guard", "validatingadmissionpolicy guard"),
    "leases": (
        [policy(LEASES, **NEVER), binding("Deny", matchResources=IN_OUR_NAMESPACE)],
        "guard",
        "validatingadmissionpolicy guard",
    ),
    # The server denies it although the action is Audit.
    "parameter": (
        [
            policy(OURS, validations=[{"expression": "true"}], **PARAMETER),
            binding("Audit", paramRef=NO_PARAMETER),
        ],
        "guard",
        "validatingadmissionpolicy guard",
    ),
    "mutation": ([mutation(), binding("", "Mutating")], "guard", "mutatingadmissionpolicy guard"),
    "quota": ([quota()], "small", "resourcequota small --namespace kyma-lifecycle"),
}
"""What locks out, the name to allow, and what to delete then."""


@pytest.fixture(scope="module")
def playbook(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """Runs the playbook as an administrator, who may write all these kinds."""
    return Playbook(tmp_path_factory.mktemp("user"), own_cluster.kubeconfig, own_cluster.audit)


@pytest.fixture
def small(tmp_path: Path) -> SmallRelease:
    """A small release for one test."""
    return SmallRelease(tmp_path / "small")


@pytest.mark.parametrize(
    "case", cases(["condition"], ["leases", "quota", "escape", "records", "parameter", "mutation"])
)
def test_lockouts_need_a_word_and_a_denied_run_names_the_command_that_ends_it(
    small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, case: str
) -> None:
    objects, name, deleted = DENIED[case]
    small.component("shop", config_map("shop", tag="one"))
    playbook.deploy(small.folder).succeeded()

    small.write("shop", config_map("shop", tag="two"), *objects)
    message = playbook.deploy(small.folder).refused()
    assert "no run can write to the cluster" in message
    assert f"""-e '{{"kyma_allow_webhooks": ["{name}"]}}'""" in message

    try:
        # The run itself may be denied already.
        playbook.deploy(small.folder, allow_webhooks=[name], lease_seconds=15)
        own_cluster.api.delete("coordination.k8s.io/v1", "Lease", "deployment", "kyma-lifecycle")
        small.write("shop", config_map("shop", tag="three"))
        locked = playbook.deploy(small.folder).failed()
        assert "it continues" not in locked.text
        [message] = {str(one["msg"]) for one in locked.results if " delete " in str(one.get("msg"))}
        assert f" delete {deleted}" in message
        assert " deleted" in paste(message, "kubectl", playbook.environment, playbook.folder)
        playbook.deploy(small.folder).succeeded()
    finally:
        for one in objects:
            meta = one["metadata"]
            own_cluster.api.delete(one["apiVersion"], one["kind"], meta["name"], meta.get("namespace"))


def test_a_run_that_installs_the_definitions_asks_again_before_it_writes_anything_else(
    small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    definitions = own_cluster.api.list("apiextensions.k8s.io/v1", "CustomResourceDefinition").items
    for one in definitions:
        own_cluster.api.delete(one["apiVersion"], one["kind"], one["metadata"]["name"])
    for one in (policy(OURS, **NEVER), binding("Deny")):
        own_cluster.api.create(one)
    try:
        small.component("shop", config_map("shop", tag="one"))
        failed = playbook.deploy(small.folder).failed()
        assert not failed.planning.get("blockers")
        assert not [
            one for one in writes(failed.requests) if "/configmaps" in one or "/apis/lifecycle." in one
        ]
        [message] = {str(one["msg"]) for one in failed.results if " delete " in str(one.get("msg"))}
        assert '"guard" deleted' in paste(message, "kubectl", playbook.environment, playbook.folder)
        playbook.deploy(small.folder).succeeded()
    finally:
        for name in ("", "Binding"):
            kind = f"ValidatingAdmissionPolicy{name}"
            own_cluster.api.delete(ADMISSION["apiVersion"], kind, "guard-all" if name else "guard")


def test_an_existing_policy_that_denies_is_found_by_the_plan_also_without_the_right_to_read_it(
    small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, tmp_path: Path
) -> None:
    small.component("shop", config_map("shop", tag="one"))
    playbook.deploy(small.folder).succeeded()
    small.write("shop", config_map("shop", tag="two"))
    deployer = deployer_of(own_cluster, tmp_path)
    for one in (policy(LEASES, **NEVER), binding("Deny", matchResources=IN_OUR_NAMESPACE)):
        own_cluster.api.create(one)
    try:
        message = deployer.deploy(small.folder).refused()
        assert message.count(" delete validatingadmissionpolicy guard`") == 1
    finally:
        own_cluster.api.delete(ADMISSION["apiVersion"], "ValidatingAdmissionPolicyBinding", "guard-all")
        own_cluster.api.delete(ADMISSION["apiVersion"], "ValidatingAdmissionPolicy", "guard")


@pytest.mark.parametrize(
    ("objects", "names"),
    [
        ([api_service()], ["v1.coordination.k8s.io"]),
        ([priority_level(), flow_schema()], ["slow", "flow"]),
    ],
)
def test_releases_may_not_lead_our_requests_elsewhere_unless_it_is_allowed(
    small: SmallRelease, playbook: Playbook, objects: list[Object], names: list[str]
) -> None:
    small.component("shop", config_map("shop"), *objects)
    message = playbook.deploy(small.folder).refused()
    for name in names:
        assert f'"{name}"' in message.splitlines()[-1]
    assert playbook.deploy(small.folder, "--check", allow_webhooks=names).succeeded()


def test_objects_that_can_not_lock_out_need_no_word(small: SmallRelease, playbook: Playbook) -> None:
    metrics = api_service()
    metrics["metadata"]["name"] = "v1beta1.metrics.k8s.io"
    metrics["spec"] |= {"group": "metrics.k8s.io", "version": "v1beta1"}
    own = flow_schema()
    account = {"name": "operator", "namespace": NAMESPACE}
    own["spec"]["rules"][0]["subjects"] = [{"kind": "ServiceAccount", "serviceAccount": account}]
    other = quota()
    other["metadata"]["namespace"] = NAMESPACE
    audited = [policy(OURS, **NEVER), binding("Audit")]
    small.component("shop", config_map("shop"), metrics, priority_level(), own, other, *audited)
    playbook.deploy(small.folder, "--check").succeeded()


@pytest.mark.parametrize("first", cases([0], [1]))
def test_one_part_of_a_policy_may_be_in_the_cluster(
    small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, first: int
) -> None:
    parts = [policy(OURS, **NEVER), binding("Deny")]
    small.component("shop", config_map("shop"), parts[1 - first])
    # Alone it does nothing.
    playbook.deploy(small.folder, "--check").succeeded()
    there = own_cluster.api.create(parts[first])
    try:
        message = playbook.deploy(small.folder).refused()
        assert """-e '{"kyma_allow_webhooks": ["guard"]}'""" in message
    finally:
        own_cluster.api.delete(there["apiVersion"], there["kind"], there["metadata"]["name"])
