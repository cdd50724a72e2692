# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Secret is left alone only where an apply of it would change nothing."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError
from ansible_collections.kyma.lifecycle.plugins.module_utils._components.unchanged_secrets import (
    is_applied,
    objects_to_apply,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory_entry import (
    entry_of,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

SECRET: Object = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {
        "name": "login",
        "namespace": "default",
        "labels": {"app": "web"},
        "annotations": {"example.com/note": "x"},
    },
    "type": "Opaque",
    "immutable": True,
    "data": {"user": "YQ==", "password": "Yg=="},
}
MARKS = {"labels": {"f:app": {}}, "annotations": {"f:example.com/note": {}}}
FIELDS: dict[str, Any] = {
    "f:data": {"f:user": {}, "f:password": {}},
    "f:immutable": {},
    "f:type": {},
    "f:metadata": {f"f:{key}": names for key, names in MARKS.items()},
}


def applied() -> Object:
    """What a server has of it, with what others have added."""
    live = deepcopy(SECRET)
    live["data"]["token"] = "Yw=="
    live["metadata"] |= {
        "uid": "u1",
        "resourceVersion": "7",
        "labels": {"app": "web", "theirs": "1"},
        "managedFields": [
            {"manager": "kyma-lifecycle", "operation": "Apply", "apiVersion": "v1", "fieldsV1": FIELDS},
            {"manager": "injector", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {}}},
        ],
    }
    return live


def changed(place: Object, *path: str | int, to: Any) -> Object:
    """The same with another value at a place of it, or none."""
    copy: Any = deepcopy(place)
    *parents, last = path
    inner = copy
    for step in parents:
        inner = inner[step]
    if to is None:
        del inner[last]
    else:
        inner[last] = to
    return copy


def test_an_applied_secret_is_unchanged_despite_additions_of_others() -> None:
    assert is_applied(SECRET, applied())


MANAGED = ("metadata", "managedFields")


@pytest.mark.parametrize(
    ("secret", "live"),
    [
        (changed(SECRET, "data", "password", to="Yw=="), applied()),
        (changed(SECRET, "data", "more", to="Yw=="), applied()),
        (changed(SECRET, "data", "user", to=None), applied()),
        (changed(SECRET, "data", "token", to="Yw=="), applied()),
        (changed(SECRET, "data", to=None), applied()),
        (changed(SECRET, "data", to={}), applied()),
        (changed(SECRET, "type", to="example.com/other"), applied()),
        (changed(SECRET, "type", to=None), applied()),
        (changed(SECRET, "immutable", to=False), applied()),
        (changed(SECRET, "metadata", "labels", "app", to="other"), applied()),
        (changed(SECRET, "metadata", "labels", to=None), applied()),
        (changed(SECRET, "metadata", "annotations", "more", to="x"), applied()),
        (changed(SECRET, "metadata", "finalizers", to=["example.com/x"]), applied()),
        (changed(SECRET, "metadata", "ownerReferences", to=[]), applied()),
        (changed(SECRET, "unknown", to="x"), applied()),
        (SECRET, changed(applied(), "data", "password", to="Yw==")),
        (SECRET, changed(applied(), "data", "password", to=None)),
        (SECRET, changed(applied(), "data", to=None)),
        (SECRET, changed(applied(), "metadata", "labels", "app", to="other")),
        (SECRET, changed(applied(), "metadata", "labels", to=None)),
        (SECRET, changed(applied(), *MANAGED, to=None)),
        (SECRET, changed(applied(), *MANAGED, 0, "manager", to="kubectl")),
        (SECRET, changed(applied(), *MANAGED, 0, "operation", to="Update")),
        (SECRET, changed(applied(), *MANAGED, 0, "apiVersion", to="v2")),
        (SECRET, changed(applied(), *MANAGED, 0, "fieldsV1", "f:data", "f:password", to=None)),
        (SECRET, changed(applied(), *MANAGED, 0, "fieldsV1", "f:data", "f:more", to={})),
        (SECRET, changed(applied(), *MANAGED, 1, "manager", to="kyma-lifecycle")),
        (changed(SECRET, "unknown", to="x"), changed(applied(), *MANAGED, 0, "fieldsV1", to=None)),
    ],
)
def test_the_server_is_asked_where_an_apply_may_change_anything(secret: Object, live: Object) -> None:
    assert not is_applied(secret, live)


def cluster_with(secret: Object) -> tuple[MemoryCluster, Inventory]:
    """A cluster to which it was applied, and what is remembered of that."""
    cluster = MemoryCluster()
    cluster.apply(secret)
    live = cluster.get("v1", "Secret", "login", "default")
    assert live is not None
    return cluster, Inventory("web", digest="d", entries=(entry_of(live),))


def test_only_secrets_that_were_not_applied_are_applied() -> None:
    cluster, inventory = cluster_with(SECRET)
    more = changed(SECRET, "metadata", "name", to="more")
    assert objects_to_apply(cluster, inventory, [SECRET, more], frozenset()) == [more]


def of_us(inventory: Inventory, **change: Any) -> Inventory:
    return Inventory("web", digest="d", entries=tuple(one._replace(**change) for one in inventory.entries))


@pytest.mark.parametrize(
    "forget",
    [
        lambda inventory: of_us(inventory, uid=""),
        lambda inventory: of_us(inventory, dropped=True),
        lambda _inventory: Inventory("web", digest="d"),
    ],
)
def test_a_secret_without_a_complete_entry_is_applied(forget: Callable[[Inventory], Inventory]) -> None:
    cluster, inventory = cluster_with(SECRET)
    assert objects_to_apply(cluster, forget(inventory), [SECRET], frozenset()) == [SECRET]


def test_a_secret_that_others_wrote_is_applied_without_a_read() -> None:
    cluster, inventory = cluster_with(SECRET)
    cluster.requests.clear()
    assert objects_to_apply(cluster, inventory, [SECRET], frozenset([ref_of(SECRET)])) == [SECRET]
    assert list(cluster.requests) == []


def test_a_secret_that_is_missing_or_unreadable_is_applied() -> None:
    cluster, inventory = cluster_with(SECRET)
    cluster.delete("v1", "Secret", "login", "default")
    assert objects_to_apply(cluster, inventory, [SECRET], frozenset()) == [SECRET]
    cluster.fail_when(
        lambda one: one.verb == "get", ApiError("get it", status=403, reason="Forbidden", api_message="no")
    )
    assert objects_to_apply(cluster, inventory, [SECRET], frozenset()) == [SECRET]
