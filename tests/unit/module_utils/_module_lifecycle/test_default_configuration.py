# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The default configuration of a module is created once."""

from __future__ import annotations

import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    Forbidden,
    Invalid,
    KindNotServed,
    Unreachable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.error_responses import problem
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import default_configuration
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.default_configuration import (
    create_configuration,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.driver import crd, custom

REF = Ref("example.com", "Cart", "ns", "default")
V1 = "example.com/v1"
SILENT = problem(
    "create", REF, 500, "InternalError", 'failed calling webhook "carts.example.com": connection refused'
)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_configuration, "RETRY_SECONDS", 0.0)


@pytest.fixture
def cluster() -> MemoryCluster:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns"}}
    return MemoryCluster(crd("Cart"), namespace)


def cart(**spec: int) -> Object:
    obj = custom("Cart", REF.name, **spec)
    return {**obj, "metadata": {**obj["metadata"], "namespace": REF.namespace}}


def later() -> float:
    return time.monotonic() + 60


def is_create(request: Request) -> bool:
    return request.verb == "create"


def test_a_default_configuration_is_created_without_server_side_apply(cluster: MemoryCluster) -> None:
    uid = create_configuration(cluster, cart(size=1), deadline=later())

    live = cluster.get(V1, "Cart", REF.name, REF.namespace)
    assert live is not None
    assert (live["metadata"]["uid"], live["spec"]) == (uid, {"size": 1})
    [entry] = live["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("kyma-lifecycle/default-configuration", "Update")


def test_the_configuration_of_an_interrupted_run_is_reused(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, KeyboardInterrupt(), before=False, times=1)
    with pytest.raises(KeyboardInterrupt):
        create_configuration(cluster, cart(size=1), deadline=later())
    # The template may have changed since, the user may have edited it, and the operator holds it.
    cluster.patch(V1, "Cart", REF.name, REF.namespace, {"metadata": {"finalizers": ["example.com/hold"]}})

    uid = create_configuration(cluster, cart(size=2), deadline=later())

    live = cluster.get(V1, "Cart", REF.name, REF.namespace)
    assert live is not None
    assert (live["metadata"]["uid"], live["spec"]) == (uid, {"size": 1})


def test_one_without_any_field_is_found_too(cluster: MemoryCluster) -> None:
    bare = {key: value for key, value in cart().items() if key != "spec"}
    first = create_configuration(cluster, bare, deadline=later())

    assert create_configuration(cluster, bare, deadline=later()) == first


def test_a_configuration_that_others_have_created_without_any_field_is_not_ours(
    cluster: MemoryCluster,
) -> None:
    bare = {key: value for key, value in cart().items() if key != "spec"}
    cluster.with_field_manager("kubectl").apply(bare)

    assert create_configuration(cluster, bare, deadline=later()) == ""


def test_a_configuration_that_the_user_has_created_is_not_ours(cluster: MemoryCluster) -> None:
    cluster.with_field_manager("kubectl-create").create(cart(size=3))

    assert create_configuration(cluster, cart(size=1), deadline=later()) == ""

    live = cluster.get(V1, "Cart", REF.name, REF.namespace)
    assert live is not None
    assert live["spec"] == {"size": 3}


def test_a_webhook_that_is_not_ready_is_waited_for(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, SILENT, times=3)

    assert create_configuration(cluster, cart(), deadline=later())


def test_a_kind_that_is_not_served_yet_is_waited_for(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, KindNotServed(V1, "Cart"), times=2)

    assert create_configuration(cluster, cart(), deadline=later())


def test_a_denial_that_was_lifted_just_now_is_waited_for(cluster: MemoryCluster) -> None:
    said = "ValidatingAdmissionPolicy 'kyma-lifecycle-deleting-shop' denied request"
    cluster.fail_when(is_create, problem("create", REF, 403, "Forbidden", said), times=2)

    assert create_configuration(cluster, cart(), deadline=later())


def test_a_create_that_another_policy_forbids_is_not_retried(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, problem("create", REF, 403, "Forbidden", "no carts here"))

    with pytest.raises(Forbidden, match="no carts here"):
        create_configuration(cluster, cart(), deadline=later())
    assert len(list(filter(is_create, cluster.requests))) == 1


def test_a_create_whose_answer_was_lost_is_made_once(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, Unreachable("lost"), before=False, times=1)

    uid = create_configuration(cluster, cart(), deadline=later())

    assert [item["metadata"]["uid"] for item in cluster.list(V1, "Cart").items] == [uid]


def test_a_webhook_that_never_gets_ready_is_named(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, SILENT)

    with pytest.raises(
        ClusterError, match=r'Cart ns/default could not be created in time.*"carts.example.com"'
    ):
        create_configuration(cluster, cart(), deadline=time.monotonic())


def test_a_cancelled_run_waits_for_nothing(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, SILENT)

    with pytest.raises(ClusterError, match="cancelled before Cart ns/default was created"):
        create_configuration(cluster, cart(), deadline=time.monotonic() + 5, cancelled=lambda: True)


def test_an_invalid_configuration_is_not_retried(cluster: MemoryCluster) -> None:
    cluster.fail_when(is_create, problem("create", REF, 422, "Invalid", "size is too large"))

    with pytest.raises(Invalid, match="size is too large"):
        create_configuration(cluster, cart(), deadline=later())
    assert len(list(filter(is_create, cluster.requests))) == 1


def test_a_configuration_that_is_being_deleted_is_waited_for(cluster: MemoryCluster) -> None:
    held = create_configuration(cluster, cart(), deadline=later())
    cluster.patch(V1, "Cart", REF.name, REF.namespace, {"metadata": {"finalizers": ["example.com/hold"]}})
    cluster.delete(V1, "Cart", REF.name, REF.namespace)
    with pytest.raises(ClusterError, match=r"still being deleted, held by example.com/hold"):
        create_configuration(cluster, cart(), deadline=time.monotonic())

    def let_go(request: Request) -> bool:
        if is_create(request) and cluster.get(V1, "Cart", REF.name, REF.namespace):
            patch = {"metadata": {"finalizers": None}}
            cluster.patch(V1, "Cart", REF.name, REF.namespace, patch)
        return False

    cluster.fail_when(let_go, AssertionError("it only lets go"))
    assert create_configuration(cluster, cart(), deadline=later()) not in ("", held)
