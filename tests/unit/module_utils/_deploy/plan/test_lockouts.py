# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that let the API server refuse what each run requests."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.lockouts import (
    RunNeeds,
    assumed_partner,
    lockouts,
    new_lockouts,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.run_requests import (
    ACCESS_REVIEWS,
    LEASES,
    NEW_NAMESPACE_LABELS,
    RECORDS,
    requests_of_runs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

REQUESTS = requests_of_runs(RECORD_KINDS, NEW_NAMESPACE_LABELS)
OURS = "lifecycle.kyma-project.io"
ALL = {ACCESS_REVIEWS, RECORDS, LEASES}


def rule(groups: str, resources: str, **more: Any) -> dict[str, Any]:
    return {
        "operations": ["*"],
        "apiGroups": [groups],
        "apiVersions": ["*"],
        "resources": [resources],
        **more,
    }


EVERYTHING = rule("*", "*")


def configuration(*rules: dict[str, Any], name: str = "guard.x.io", **webhook: Any) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "guard"},
        "webhooks": [{"name": name, "rules": list(rules), **webhook}],
    }


NEEDS = RunNeeds(REQUESTS)


def concerned(*objects: Object, labels: dict[str, str] | None = None) -> set[str]:
    needs = RunNeeds(requests_of_runs(RECORD_KINDS, labels or NEW_NAMESPACE_LABELS))
    results = lockouts({ref_of(one): one for one in objects}, needs)
    return {what for what in ALL for one in results if what in one.effect}


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (EVERYTHING, ALL),
        (rule("*", "*/*"), ALL),
        (rule("", "*"), set()),
        (rule("apps", "deployments"), set()),
        (rule("*", "pods/*"), set()),
        (rule("*", "*/status"), {RECORDS}),
        (rule(OURS, "kymaruns/status"), {RECORDS}),
        (rule(OURS, "kymainventories/status"), set()),
        (rule("*", "leases/*"), {LEASES}),
        (rule("coordination.k8s.io", "leases", apiVersions=["v1"]), {LEASES}),
        (rule("coordination.k8s.io", "leases", apiVersions=["v1beta1"]), set()),
        (rule("coordination.k8s.io", "*", scope="Cluster"), set()),
        (rule("authorization.k8s.io", "*", scope="Namespaced"), set()),
        (rule("*", "*", scope="Namespaced"), {LEASES}),
        (rule("*", "*", scope=None), ALL),
        (rule("*", "*", scope="Cluster"), {ACCESS_REVIEWS, RECORDS}),
        (rule("*", "*", operations=["DELETE"]), {RECORDS, LEASES}),
        (rule("*", "*", operations=["CONNECT"]), set()),
        (rule("authorization.k8s.io", "selfsubjectaccessreviews", operations=["CREATE"]), {ACCESS_REVIEWS}),
        (rule(OURS, "kymainventories"), {RECORDS}),
        (rule(OURS, "errands"), set()),
    ],
)
def test_rules_scope_and_operations(one: dict[str, Any], what: set[str]) -> None:
    assert concerned(configuration(one)) == what
    assert concerned(configuration(rule("", "pods"), one, failurePolicy="Fail")) == what
    assert concerned(configuration(one, failurePolicy="Ignore")) == set()


OWNED = {"key": f"{OURS}/owner", "operator": "Exists"}
NOT_OURS = {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn"}]}
NOT_OURS["matchExpressions"][0]["values"] = ["kyma-lifecycle", "kube-system"]


@pytest.mark.parametrize(
    ("webhook", "what"),
    [
        # Objects without a namespace are never excluded by a selector of namespaces.
        ({"namespaceSelector": NOT_OURS}, {ACCESS_REVIEWS, RECORDS}),
        ({"namespaceSelector": {"matchLabels": {"guarded": "yes"}}}, {ACCESS_REVIEWS, RECORDS}),
        ({"namespaceSelector": {}}, ALL),
        ({"objectSelector": {"matchLabels": {"guarded": "yes"}}}, set()),
        ({"objectSelector": {"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}}, ALL),
        ({"objectSelector": {"matchExpressions": [OWNED]}}, {RECORDS}),
        ({"objectSelector": {"matchLabels": {OWNED["key"]: "shop"}}}, {RECORDS}),
        ({"objectSelector": {"matchExpressions": [{**OWNED, "operator": "NotIn", "values": ["x"]}]}}, ALL),
        # What an expression in CEL yields is for the server to say: no condition excludes a request here.
        ({"matchConditions": [{"expression": r"'\\?' == '?'"}]}, ALL),
        ({"matchConditions": [{"expression": "'z' in object.kind"}]}, ALL),
        ({"matchConditions": [{"expression": f"request.resource.group != '{OURS}'"}]}, ALL),
        ({"matchConditions": [{"expression": "false"}]}, ALL),
        (
            {"matchConditions": [{"expression": "false"}], "objectSelector": {"matchLabels": {"a": "b"}}},
            set(),
        ),
    ],
)
def test_selectors_and_conditions(webhook: dict[str, Any], what: set[str]) -> None:
    assert concerned(configuration(EVERYTHING, **webhook)) == what


def test_a_label_of_the_namespace_of_leases_counts() -> None:
    guarded = configuration(EVERYTHING, namespaceSelector={"matchLabels": {"guarded": "yes"}})
    assert concerned(guarded, labels={"guarded": "yes"}) == ALL


def change(before: Object | None, after: Object | None) -> ObjectChange:
    return ObjectChange(ref_of(before or after or {}), before, after)


def test_only_what_is_added_or_changed_and_not_allowed_counts_as_new() -> None:
    wide, narrow = configuration(EVERYTHING), configuration(rule("", "pods"))
    signed = configuration(EVERYTHING, clientConfig={"caBundle": "abc"})
    labelled = {**wide, "metadata": {"name": "guard", "labels": {"a": "b"}}}
    open_one = configuration(EVERYTHING, failurePolicy="Ignore")

    def names(before: Object | None, after: Object | None, *allowed: str) -> list[str]:
        changes = [change(before, after)]
        return [one.name for one in new_lockouts(changes, {}, NEEDS, allowed)]

    for before in (None, narrow, open_one, configuration(EVERYTHING, name="other.x.io")):
        assert names(before, wide) == ["guard.x.io"], before
    for before, after in ((wide, labelled), (signed, configuration(EVERYTHING, clientConfig={}))):
        assert names(before, after) == []
    assert names(wide, None) == names(wide, narrow) == names(None, wide, "guard.x.io") == []
    assert names(None, wide, "guard") == ["guard.x.io"]


ADMISSION = {"apiVersion": "admissionregistration.k8s.io/v1"}
PODS = [rule("", "pods")]


def policy(*rules: dict[str, Any], kind: str = "Validating", name: str = "guard", **spec: Any) -> Object:
    given = {k: v for k, v in spec.items() if k[0].islower() and k not in CONSTRAINTS}
    constraints = {"resourceRules": list(rules), **{k: v for k, v in spec.items() if k in CONSTRAINTS}}
    kinds = {**ADMISSION, "kind": f"{kind}AdmissionPolicy"}
    return {**kinds, "metadata": {"name": name}, "spec": {"matchConstraints": constraints, **given}}


CONSTRAINTS = ("excludeResourceRules", "namespaceSelector", "objectSelector", "matchPolicy")


def binding(*actions: str, kind: str = "Validating", of: str = "guard", **resources: Any) -> Object:
    spec: Object = {"policyName": of, **({"matchResources": resources} if resources else {})}
    spec |= {"validationActions": list(actions or ("Deny",))} if kind == "Validating" else {}
    return {**ADMISSION, "kind": f"{kind}AdmissionPolicyBinding", "metadata": {"name": "bound"}, "spec": spec}


JUDGED = {RECORDS, LEASES}
"""The server asks no policy about access reviews."""
PARAMETER = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}


@pytest.mark.parametrize(
    ("judging", "what"),
    [
        ([policy(EVERYTHING), binding()], JUDGED),
        ([policy(EVERYTHING, failurePolicy="Ignore"), binding()], JUDGED),
        ([policy(EVERYTHING), binding("Warn", "Deny")], JUDGED),
        ([policy(EVERYTHING, matchConditions=[{"expression": "false"}]), binding()], JUDGED),
        ([policy(EVERYTHING, kind="Mutating"), binding(kind="Mutating")], JUDGED),
        ([policy(EVERYTHING, kind="Mutating", failurePolicy="Ignore"), binding(kind="Mutating")], JUDGED),
        # Without a binding, or with that of another policy, it does nothing.
        ([policy(EVERYTHING)], set()),
        ([binding()], set()),
        ([policy(EVERYTHING), binding(of="other")], set()),
        ([policy(EVERYTHING), binding(kind="Mutating")], set()),
        ([policy(EVERYTHING), binding("Warn", "Audit")], set()),
        # Where something that it needs is missing, the server denies whatever the actions are.
        ([policy(EVERYTHING, **PARAMETER), binding("Audit")], JUDGED),
        ([policy(EVERYTHING, failurePolicy="Ignore", **PARAMETER), binding("Audit")], set()),
        ([policy(EVERYTHING, failurePolicy="Ignore", **PARAMETER), binding()], JUDGED),
        ([policy(EVERYTHING, auditAnnotations=[{"key": "a"}]), binding("Audit")], JUDGED),
        # Both have to match.
        ([policy(*PODS), binding()], set()),
        ([policy(EVERYTHING), binding(resourceRules=PODS)], set()),
        ([policy(EVERYTHING), binding(resourceRules=[rule("*", "leases")])], {LEASES}),
        ([policy(rule("*", "leases")), binding(resourceRules=[rule("*", "kymaruns")])], set()),
        ([policy(EVERYTHING), binding(namespaceSelector=NOT_OURS)], {RECORDS}),
        ([policy(EVERYTHING, namespaceSelector=NOT_OURS), binding()], {RECORDS}),
        ([policy(EVERYTHING, objectSelector={"matchLabels": {"a": "b"}}), binding()], set()),
        # Rules that exclude.
        ([policy(EVERYTHING, excludeResourceRules=[rule(OURS, "*")]), binding()], {LEASES}),
        ([policy(EVERYTHING), binding(excludeResourceRules=[rule("*", "*")])], set()),
        ([policy(EVERYTHING, excludeResourceRules=PODS), binding()], JUDGED),
        # Names: that of the Lease is known, those of records are not.
        ([policy(rule("*", "leases", resourceNames=["deployment"])), binding()], {LEASES}),
        ([policy(rule("*", "leases", resourceNames=["other"])), binding()], set()),
        ([policy(rule(OURS, "*", resourceNames=["other"])), binding()], {RECORDS}),
        ([policy(EVERYTHING, excludeResourceRules=[rule("*", "*", resourceNames=["a"])]), binding()], JUDGED),
        (
            [
                policy(EVERYTHING, excludeResourceRules=[rule("*", "*", resourceNames=["deployment"])]),
                binding(),
            ],
            {RECORDS},
        ),
    ],
)
def test_policies_count_with_a_binding_that_denies(judging: list[Object], what: set[str]) -> None:
    assert concerned(*judging) == what


def names_of_new(live: list[Object], *changes: tuple[Object | None, Object | None]) -> list[str]:
    made = [change(before, after) for before, after in changes]
    needs = RunNeeds(REQUESTS, "ci", ["deployers"], server_groups=["", "coordination.k8s.io"])
    return [one.name for one in new_lockouts(made, {ref_of(one): one for one in live}, needs, ["allowed"])]


def test_the_other_part_of_a_policy_may_be_in_the_cluster_already() -> None:
    whole, part = policy(EVERYTHING), binding()
    assert names_of_new([part], (None, whole)) == ["guard"]
    assert names_of_new([whole], (None, part)) == ["guard"]
    assert names_of_new([], (None, whole)) == []
    assert names_of_new([whole], (binding("Audit"), part)) == ["guard"]
    assert names_of_new([part], (policy(*PODS), whole)) == ["guard"]
    assert names_of_new([], (whole, whole), (part, part)) == []
    assert names_of_new([part], (whole, None)) == []
    named = policy(EVERYTHING, name="allowed")
    assert names_of_new([], (None, named), (None, binding(of="allowed"))) == []


def test_a_part_that_can_t_be_read_is_assumed_to_be_the_worst() -> None:
    for one in (policy(EVERYTHING), binding()):
        assert names_of_new([assumed_partner(one)], (None, one)) == ["guard"]
    narrow = binding(resourceRules=PODS)
    assert names_of_new([assumed_partner(narrow)], (None, narrow)) == []
    level = priority_level("slow")
    assert names_of_new([assumed_partner(level)], (None, level)) == ["slow"]


def quota(namespace: str, name: str = "small") -> Object:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": {"pods": "1"}}}


def test_a_quota_in_our_namespace_counts() -> None:
    assert names_of_new([], (None, quota("kyma-lifecycle"))) == ["small"]
    assert names_of_new([], (None, quota("kyma-system"))) == []
    assert names_of_new([], (None, quota("kyma-lifecycle", "allowed"))) == []


FLOW = {"apiVersion": "flowcontrol.apiserver.k8s.io/v1"}


def flow_schema(*subjects: dict[str, Any], level: str = "slow") -> Object:
    spec = {"priorityLevelConfiguration": {"name": level}, "rules": [{"subjects": list(subjects)}]}
    return {**FLOW, "kind": "FlowSchema", "metadata": {"name": "flow"}, "spec": spec}


def priority_level(name: str) -> Object:
    return {
        **FLOW,
        "kind": "PriorityLevelConfiguration",
        "metadata": {"name": name},
        "spec": {"type": "Limited"},
    }


def subject(kind: str, name: str, **more: str) -> dict[str, Any]:
    return {"kind": kind, kind[0].lower() + kind[1:]: {"name": name, **more}}


@pytest.mark.parametrize(
    ("one", "is_ours"),
    [
        (subject("User", "ci"), True),
        (subject("User", "*"), True),
        (subject("User", "alice"), False),
        (subject("User", "system:serviceaccount:kyma-lifecycle:deployer"), True),
        (subject("Group", "deployers"), True),
        (subject("Group", "system:authenticated"), True),
        (subject("Group", "system:serviceaccounts"), True),
        (subject("Group", "system:nodes"), False),
        (subject("ServiceAccount", "deployer", namespace="kyma-lifecycle"), True),
        (subject("ServiceAccount", "*", namespace="shop"), False),
    ],
)
def test_flow_control_counts_if_it_matches_the_account_that_runs(one: dict[str, Any], is_ours: bool) -> None:
    schema, level = flow_schema(subject("User", "alice"), one), priority_level("slow")
    assert names_of_new([], (None, schema)) == ["flow"] * is_ours
    assert names_of_new([schema], (None, level)) == ["slow"] * is_ours
    assert names_of_new([flow_schema(one, level="other")], (None, level)) == []


def test_the_account_that_runs_may_be_a_service_account() -> None:
    needs = RunNeeds((), "system:serviceaccount:shop:ci", ["system:serviceaccounts:shop"])
    for name, count in (("ci", 1), ("*", 1), ("other", 0)):
        schema = flow_schema(subject("ServiceAccount", name, namespace="shop"))
        assert len(lockouts({ref_of(schema): schema}, needs)) == count
    # Its name is unknown.
    schema = flow_schema(subject("User", "alice"))
    assert len(lockouts({ref_of(schema): schema}, RunNeeds(()))) == 1


def api_service(name: str, **service: Any) -> Object:
    version, _dot, group = name.partition(".")
    spec = {"group": group, "version": version, **service}
    kinds = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    return {**kinds, "metadata": {"name": name}, "spec": spec}


def test_an_api_service_of_a_group_that_the_server_serves_itself_counts() -> None:
    behind = {"service": {"name": "nowhere", "namespace": "default"}}
    lease, core = "v1.coordination.k8s.io", "v1."
    assert names_of_new([], (None, api_service(lease, **behind))) == [lease]
    assert names_of_new([], (api_service(lease), api_service(lease, **behind))) == [lease]
    assert names_of_new([], (None, api_service(core, **behind))) == [core]
    assert names_of_new([], (None, api_service(lease))) == []
    assert names_of_new([], (None, api_service("v1beta1.metrics.k8s.io", **behind))) == []
    signed = api_service(lease, caBundle="abc", **behind)
    assert names_of_new([], (api_service(lease, **behind), signed)) == []
