# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Webhooks without which no run could write."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.critical_webhooks import (
    ACCESS_REVIEWS,
    LEASES,
    NEW_NAMESPACE_LABELS,
    RECORDS,
    critical_webhooks,
    new_critical_webhooks,
    requests_of_runs,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.change import ObjectChange
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks.shared.record_kinds import RECORD_KINDS

REQUESTS = requests_of_runs(RECORD_KINDS)
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


def concerned(webhooks: Object, labels: dict[str, str] | None = None) -> set[str]:
    return {
        request.what
        for one in critical_webhooks(webhooks, REQUESTS, labels or NEW_NAMESPACE_LABELS)
        for request in one.requests
    }


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (EVERYTHING, ALL),
        (rule("*", "*/*"), ALL),
        (rule("", "*"), set()),
        (rule("apps", "deployments"), set()),
        (rule("*", "pods/*"), set()),
        (rule("*", "*/status"), set()),
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
        (rule(OURS, "inventories"), {RECORDS}),
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
        ({"matchConditions": [{"expression": "has(object.metadata.name)"}]}, ALL),
        # The server leaves empty fields of a request out.
        ({"matchConditions": [{"expression": "!has(request.subResource)"}]}, ALL),
        ({"matchConditions": [{"expression": "has(request.subResource)"}]}, set()),
        ({"matchConditions": [{"expression": "!has(request.namespace)"}]}, ALL - {LEASES}),
        # It refuses a request for which a condition reads such a field.
        ({"matchConditions": [{"expression": "request.namespace == 'shop'"}]}, ALL - {LEASES}),
        (
            {
                "matchConditions": [
                    {"expression": "has(request.namespace) && request.namespace.startsWith('shop-')"}
                ]
            },
            set(),
        ),
        ({"matchConditions": [{"expression": f"object.metadata.labels['{OURS}/run'] == 'r'"}]}, ALL),
        ({"matchConditions": [{"expression": "has(object.metadata.annotations)"}]}, {RECORDS, LEASES}),
        ({"matchConditions": [{"expression": f"request.resource.group != '{OURS}'"}]}, ALL - {RECORDS}),
        ({"matchConditions": [{"expression": "request.namespace != 'kyma-lifecycle'"}]}, ALL - {LEASES}),
        (
            {"matchConditions": [{"expression": "!request.resource.group.endsWith('.io')"}]},
            set(),
        ),
        ({"matchConditions": [{"expression": "request.userInfo.username != 'kubelet'"}]}, ALL),
        (
            {
                "matchConditions": [
                    {"expression": "request.userInfo.username != 'kubelet'"},
                    {"expression": "request.resource.resource != 'leases'"},
                ]
            },
            ALL - {LEASES},
        ),
    ],
)
def test_selectors_and_conditions(webhook: dict[str, Any], what: set[str]) -> None:
    assert concerned(configuration(EVERYTHING, **webhook)) == what


def test_a_label_of_the_namespace_of_leases_counts() -> None:
    guarded = configuration(EVERYTHING, namespaceSelector={"matchLabels": {"guarded": "yes"}})
    assert concerned(guarded, {"guarded": "yes"}) == ALL


def change(before: Object | None, after: Object | None) -> ObjectChange:
    return ObjectChange(ref_of(before or after or {}), before, after)


def test_only_what_is_added_or_changed_and_not_allowed_counts_as_new() -> None:
    wide, narrow = configuration(EVERYTHING), configuration(rule("", "pods"))
    signed = configuration(EVERYTHING, clientConfig={"caBundle": "abc"})
    labelled = {**wide, "metadata": {"name": "guard", "labels": {"a": "b"}}}
    open_one = configuration(EVERYTHING, failurePolicy="Ignore")

    def names(before: Object | None, after: Object | None, *allowed: str) -> list[str]:
        changes = [change(before, after)]
        return [one.name for one in new_critical_webhooks(changes, REQUESTS, {}, allowed)]

    for before in (None, narrow, open_one, configuration(EVERYTHING, name="other.x.io")):
        assert names(before, wide) == ["guard.x.io"], before
    for before, after in ((wide, labelled), (signed, configuration(EVERYTHING, clientConfig={}))):
        assert names(before, after) == []
    assert names(wide, None) == names(wide, narrow) == names(None, wide, "guard.x.io") == []
    assert names(None, wide, "guard") == ["guard.x.io"]
