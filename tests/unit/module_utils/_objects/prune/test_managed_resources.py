# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lives of some kinds, and which kinds some objects manage."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import GROUP, Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ApiError,
    ApiUnavailable,
    ClusterError,
    Forbidden,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.managed_kinds import (
    managing_objects,
    operated_resources,
    read_managed_kinds,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.prune.managed_resources import (
    describe_living,
    living_resources,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import crd, custom
from tests.support.operators import operator_role
from tests.support.served_kinds import silent_api, with_versions

THING = ("example.com", "Thing")
NOW = datetime(2026, 11, 24, 12, 0, tzinfo=UTC)


def thing(name: str, namespace: str = "shop", kind: str = "Thing", **meta: Any) -> Object:
    obj = custom(kind, name)
    return {**obj, "metadata": {"name": name, "namespace": namespace, **meta}}


def names(objects: list[Object] | ClusterError) -> list[str]:
    assert isinstance(objects, list), objects
    return [str(ref_of(obj)) for obj in objects]


def test_living_resources_are_read_in_all_namespaces_and_any_served_version() -> None:
    cluster = MemoryCluster(crd("Thing"), crd("Other"), thing("a"), thing("b", "blog"))
    cluster.apply(with_versions(crd("Thing"), v1=False, v2=True))
    cluster.requests.clear()
    living = living_resources(cluster, [THING, ("example.com", "Other"), THING])
    assert names(living[THING]) == ["Thing blog/b", "Thing shop/a"]
    assert living["example.com", "Other"] == []
    assert [(one.verb, one.ref.kind) for one in cluster.requests] == [("list", "Other"), ("list", "Thing")]
    assert all("spec" not in obj for obj in living[THING])


@pytest.mark.parametrize("status", [403, 500])
def test_a_kind_that_can_t_be_read_is_no_kind_without_objects(status: int) -> None:
    cluster = MemoryCluster(crd("Thing"), crd("Other"), thing("a", kind="Other"))
    error = (Forbidden if status == 403 else ApiError)("list Thing", status=status)
    cluster.fail_when(lambda request: request.ref.kind == "Thing", error)
    living = living_resources(cluster, [THING, ("example.com", "Other")])
    assert living[THING] is error
    assert names(living["example.com", "Other"]) == ["Other shop/a"]


def test_a_kind_of_an_aggregated_api_that_is_down_is_no_kind_without_objects() -> None:
    living = living_resources(MemoryCluster(silent_api("example.com")), [THING])
    assert isinstance(living[THING], ApiUnavailable)


def test_a_definition_that_serves_no_version_hides_what_lives() -> None:
    cluster = MemoryCluster(crd("Thing"), thing("a"))
    cluster.apply(with_versions(crd("Thing"), v1=False))
    cluster.requests.clear()
    living = living_resources(cluster, [THING, ("example.com", "Nothing")])
    assert "CustomResourceDefinition things.example.com: the cluster serves Thing in no version" in str(
        living[THING]
    )
    # Without a definition there is nothing.
    assert living["example.com", "Nothing"] == []
    assert [(one.verb, one.ref.kind) for one in cluster.requests] == [("list", "CustomResourceDefinition")]


def test_living_resources_are_unknown_if_the_definitions_can_t_be_read() -> None:
    cluster = MemoryCluster()
    error = ApiError("list", status=500)
    cluster.fail_when(lambda _request: True, error)
    assert living_resources(cluster, [THING]) == {THING: error}


def test_living_resources_are_described_with_age_owner_and_finalizers() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1"}
    by_kubectl = {"manager": "kubectl", "operation": "Apply", "fieldsV1": {}}
    objects = [
        thing("c", creationTimestamp="2026-11-24T11:59:30Z", ownerReferences=[owner]),
        thing("a", creationTimestamp="2026-11-20T12:00:00Z", managedFields=[by_kubectl]),
        thing(
            "b",
            creationTimestamp="2026-11-24T09:00:00Z",
            deletionTimestamp="2026-11-24T11:55:00Z",
            finalizers=["example.com/guard"],
        ),
        thing("o", kind="Other"),
    ]
    assert describe_living(objects, NOW) == [
        "1 Other.example.com, 3 Thing.example.com",
        "Other shop/o",
        "Thing shop/a: 4 d old, written by kubectl",
        "Thing shop/b: 3 h old, being deleted for 5 min (finalizers: example.com/guard)",
        "Thing shop/c: 30 s old, owned by Deployment web",
        "finalizer example.com/guard holds 1 of 1 being deleted",
    ]


def test_a_description_of_many_resources_is_short() -> None:
    objects = [
        thing(
            f"{kind}-{number}\n\x1b[31m",
            kind=f"Kind{kind}",
            creationTimestamp="2026-11-20T12:00:00Z",
            deletionTimestamp="2026-11-24T11:00:00Z",
            finalizers=[f"example.com/{kind}-{number}\nx"],
        )
        for kind in range(40)
        for number in range(20)
    ]
    lines = describe_living(objects, NOW)
    assert len(lines) <= 40
    assert "and 30 more kinds" in lines[0]
    assert "and 790 more" in lines
    assert not [line for line in lines if not line.isprintable()]


@pytest.mark.parametrize(
    ("rule", "operated"),
    [
        (("example.com", "things/status", "update"), {("example.com", "things")}),
        (("example.com", "things/finalizers", "patch"), {("example.com", "things")}),
        (("example.com", "things/*", "*"), {("example.com", "things")}),
        (("example.com", "*/status", "update"), {("example.com", "*")}),
        # Who may read a status, or everything, is a person.
        (("example.com", "things/status", "get"), set()),
        (("example.com", "things", "*"), set()),
        (("example.com", "*", "*"), set()),
        (("example.com", "things/scale", "update"), set()),
        (("*", "*/status", "update"), set()),
    ],
)
def test_a_role_says_what_its_operator_manages(rule: tuple[str, str, str], operated: set[Any]) -> None:
    group, resource, verb = rule
    role = {"rules": [{"apiGroups": [group], "resources": ["pods", resource], "verbs": ["list", verb]}]}
    assert operated_resources(role) == operated
    assert operated_resources({**role, "aggregationRule": {"clusterRoleSelectors": []}}) == set()


def test_a_rule_without_resources_and_a_role_without_rules_manage_nothing() -> None:
    assert operated_resources({}) == operated_resources({"rules": None}) == set()
    assert operated_resources({"rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}) == set()


def test_an_owner_manages_what_it_defines_and_what_its_roles_operate() -> None:
    role = operator_role("op", "things", "widgets")
    local = {**operator_role("local", "others"), "kind": "Role"}
    local["metadata"] = {"name": "local", "namespace": "shop"}
    cluster = MemoryCluster(crd("Thing"), crd("Widget"), crd("Other"), crd("Own"), role, local)
    entries = [entry_of(obj) for obj in (role, local)]
    own = entry_of(crd("Own"))
    gone = InventoryEntry(role["apiVersion"], ref_of(operator_role("gone", "things")))
    known = ["things.example.com", "others.example.com", "owns.example.com", "vanished.example.com"]
    owners = {
        "operator": managing_objects([own], [*entries, gone], known),
        "definer": managing_objects([own], [], known),
        "other": managing_objects([], [gone], known),
        "named": managing_objects([], [], [], [("example.com", "Widget"), ("example.com", "Relic")]),
    }
    cluster.requests.clear()
    assert read_managed_kinds(cluster, owners)[0] == {
        # Of Widgets no inventory has the definition.
        "operator": {THING: "things", ("example.com", "Other"): "others", ("example.com", "Own"): "owns"},
        "definer": {("example.com", "Own"): "owns"},
        "other": {},
        # Objects of a kind that is not served may be stored.
        "named": {("example.com", "Widget"): "widgets", ("example.com", "Relic"): ""},
    }
    assert sorted(one.ref.kind for one in cluster.requests) == [
        "ClusterRole",
        "CustomResourceDefinition",
        "Role",
    ]


def test_no_owner_manages_kinds_of_kubernetes_or_of_this_collection() -> None:
    named = managing_objects([], [], [], [("", "Secret"), ("apps", "Deployment"), (GROUP, "KymaRun"), THING])
    assert named.associated == {THING}
    assert named.may_manage
    assert not managing_objects([], [], [], [("", "Secret")]).may_manage


def test_no_role_is_read_for_kinds_that_an_owner_defines() -> None:
    role = operator_role("op", "owns")
    cluster = MemoryCluster(crd("Own"), role)
    owner = managing_objects([entry_of(crd("Own"))], [entry_of(role)], ["owns.example.com"])
    cluster.requests.clear()
    assert read_managed_kinds(cluster, {"op": owner})[0] == {"op": {("example.com", "Own"): "owns"}}
    assert [one.ref.kind for one in cluster.requests] == ["CustomResourceDefinition"]
