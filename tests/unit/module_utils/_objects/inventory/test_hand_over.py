# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are given up stay as they are, and are kubectl's."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    Cluster,
    Event,
    Object,
    Ref,
    manager_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Conflict,
    Forbidden,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.field_sets import from_fields_v1
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.error_responses import problem
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.apply_object import apply_object
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.hand_over import (
    TRIES,
    hand_over,
    released_metadata,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    InventoryEntry,
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.ownership.policy import (
    LAST_APPLIED,
    Policy,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

ANY = Ref("", "ConfigMap", "default", "a")


def entry(manager: str, operation: str, *names: str, **more: Any) -> dict[str, Any]:
    common = {"manager": manager, "operation": operation, "apiVersion": "v1", "time": "t"}
    fields = {"f:data": {f"f:{name}": {} for name in names}}
    return {**common, "fieldsType": "FieldsV1", "fieldsV1": fields, **more}


def released(*managers: dict[str, Any]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = released_metadata({"metadata": {"managedFields": [*managers]}})[
        "managedFields"
    ]
    return entries


def keys_of(manager: dict[str, Any]) -> set[str]:
    return {field[-1].removeprefix("f:") for field in from_fields_v1(manager["fieldsV1"])}


def config_map(**data: str) -> Object:
    meta = {"name": ANY.name, "namespace": ANY.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def applied(cluster: Cluster, obj: Object) -> InventoryEntry:
    return entry_of(apply_object(cluster, obj, Policy(), lambda _gone: None).object)


def managers_of(cluster: Cluster) -> set[str]:
    live = cluster.get("v1", "ConfigMap", ANY.name, ANY.namespace)
    assert live is not None
    return {one["manager"] for one in live["metadata"]["managedFields"]}


def is_patch(request: Request) -> bool:
    return request.verb == "patch"


def test_fields_that_we_applied_become_applied_by_kubectl() -> None:
    other = entry("some-controller", "Update", "b")
    kubectl, left = released(entry(FIELD_MANAGER, "Apply", "a"), other)

    assert kubectl == entry("kubectl", "Apply", "a")
    assert left == other


def test_released_fields_join_those_that_kubectl_applied() -> None:
    [kubectl] = released(entry("kubectl", "Apply", "a", time="k"), entry(FIELD_MANAGER, "Apply", "b"))

    assert (keys_of(kubectl), kubectl["time"]) == ({"a", "b"}, "k")


def test_fields_applied_in_another_version_than_by_kubectl_lose_their_owner() -> None:
    [kubectl] = released(
        entry("kubectl", "Apply", "a", apiVersion="v2"), entry(FIELD_MANAGER, "Apply", "b", apiVersion="v1")
    )

    assert (keys_of(kubectl), kubectl["apiVersion"]) == ({"a"}, "v2")


def test_fields_that_kubectl_edited_or_scaled_are_unchanged() -> None:
    scaled = entry("kubectl", "Apply", "a", subresource="scale")
    edited = entry("kubectl", "Update", "b")
    _kubectl, *left = released(scaled, edited, entry(FIELD_MANAGER, "Apply", "c"))

    assert left == [scaled, edited]


def test_a_plain_write_of_ours_is_kubectls_too() -> None:
    [kubectl] = released(entry(FIELD_MANAGER, "Update", "b"), entry(FIELD_MANAGER, "Apply", "a", time="u"))

    assert (keys_of(kubectl), kubectl["operation"], kubectl["time"]) == ({"a", "b"}, "Apply", "u")


def test_fields_of_migrations_and_of_our_subresource_writes_lose_their_owner() -> None:
    [kubectl] = released(
        entry(FIELD_MANAGER, "Apply", "a"),
        entry(manager_of("shop-1"), "Update", "b"),
        entry(FIELD_MANAGER, "Update", "c", subresource="status"),
    )

    assert keys_of(kubectl) == {"a"}


def test_an_object_that_we_created_under_another_name_becomes_kubectls() -> None:
    [kubectl] = released(entry(manager_of("default-configuration"), "Update", "a"))

    assert kubectl == entry("kubectl", "Apply", "a")


def test_a_subresource_of_ours_alone_is_nobodys() -> None:
    other = entry("some-controller", "Update", "b")

    assert released(entry(FIELD_MANAGER, "Update", "a", subresource="scale"), other) == [other]


def test_where_nothing_is_ours_nothing_changes() -> None:
    other = entry(f"{FIELD_MANAGER}s", "Update", "b")
    assert released_metadata({"metadata": {"managedFields": [other]}}) == {}
    assert released_metadata({"metadata": {}}) == {}


def test_kubectl_then_applies_without_a_conflict_and_removes_what_is_dropped() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1", b="1"))

    assert hand_over(cluster, [known]) == []

    after = cluster.with_field_manager("kubectl").apply(config_map(a="2"))
    assert after["data"] == {"a": "2"}
    assert managers_of(cluster) == {"kubectl"}


@pytest.mark.parametrize("others", [{}, {"b": "1"}])
def test_our_annotation_goes(others: dict[str, str]) -> None:
    cluster = MemoryCluster()
    container = {"name": "main", "image": "x", "env": [{"name": "A", "value": "1"}] * 2}
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a", "namespace": "default", "annotations": others},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [container]}},
        },
    }
    made = apply_object(cluster, obj, Policy(), lambda _gone: None).object
    assert LAST_APPLIED in made["metadata"]["annotations"]

    hand_over(cluster, [entry_of(made)])

    live = cluster.get("apps/v1", "Deployment", "a", "default")
    assert live is not None
    assert (live["metadata"].get("annotations") or {}) == others
    assert {one["manager"] for one in live["metadata"]["managedFields"]} == {"kubectl"}


def test_an_object_that_is_gone_or_was_recreated_is_left_alone() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1"))
    cluster.delete("v1", "ConfigMap", ANY.name, ANY.namespace)
    assert hand_over(cluster, [known]) == []
    applied(cluster, config_map(a="1"))
    assert hand_over(cluster, [known]) == []
    assert managers_of(cluster) == {FIELD_MANAGER}


def test_an_object_deleted_during_the_release_is_skipped() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1"))
    gone = problem("patch", ANY, 404, "NotFound", "gone")
    cluster.fail_when(is_patch, gone)

    assert hand_over(cluster, [known]) == []


def test_a_write_of_others_during_the_release_stays() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1"))

    def write_before(request: Request) -> bool:
        if is_patch(request):
            cluster.with_field_manager("other").apply(config_map(b="2"))
        return False

    cluster.fail_when(write_before, AssertionError("it only writes"))
    assert hand_over(cluster, [known]) == []
    assert managers_of(cluster) == {"kubectl", "other"}


def test_an_object_that_is_written_all_the_time_is_an_error() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1"))
    cluster.fail_when(is_patch, problem("patch", ANY, 409, "Conflict", "moved on"), times=TRIES)

    [error] = hand_over(cluster, [known])

    assert isinstance(error, Conflict)
    assert managers_of(cluster) == {FIELD_MANAGER}
    assert hand_over(cluster, [known]) == []
    assert managers_of(cluster) == {"kubectl"}


def test_a_refusal_of_one_object_stops_no_other() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1"))
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}}
    other = applied(cluster, {**role, "rules": []})
    cluster.fail_when(
        lambda request: is_patch(request) and request.ref == ANY,
        problem("patch", ANY, 403, "Forbidden", "no"),
    )

    [error] = hand_over(cluster, [known, other])

    assert isinstance(error, Forbidden)
    assert managers_of(cluster) == {FIELD_MANAGER}
    role_now = cluster.get(role["apiVersion"], "ClusterRole", "r")
    assert role_now is not None
    assert {one["manager"] for one in role_now["metadata"]["managedFields"]} == {"kubectl"}


def test_a_write_whose_answer_was_lost_counts() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1"))
    # As the live cluster ends it: it finds no write of ours, repeats it, and the version has moved on.
    cluster.fail_when(is_patch, problem("patch", ANY, 409, "Conflict", "moved on"), before=False)

    assert hand_over(cluster, [known]) == []
    assert managers_of(cluster) == {"kubectl"}


def test_a_server_that_is_gone_ends_it() -> None:
    cluster = MemoryCluster()
    known = applied(cluster, config_map(a="1"))
    cluster.fail_when(is_patch, Unreachable("away"))

    with pytest.raises(Unreachable):
        hand_over(cluster, [known])


def test_the_generation_stays() -> None:
    cluster = MemoryCluster()
    meta = {"name": "a", "namespace": "default"}
    obj = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": {"replicas": 1}}
    seen: list[Event] = []
    known = applied(cluster, obj)
    cluster.on_write(lambda _cluster, event: seen.append(event))

    hand_over(cluster, [known])

    assert [event.object["metadata"]["generation"] for event in seen] == [1]
