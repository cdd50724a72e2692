# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What denies new objects of a module that is being deleted, and when that counts as in force."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import (
    FIELD_MANAGER,
    MANAGED_BY,
    Object,
    Ref,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    ClusterError,
    KindNotServed,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.error_responses import problem
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle import denial as denials
from ansible_collections.kyma.lifecycle.plugins.module_utils._module_lifecycle.denial import (
    API_VERSION,
    BINDING,
    POLICY,
    PROBE_NAMESPACE,
    REFUSALS,
    Denial,
    denial_objects,
    impose,
    lift,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
    Request,
)

from tests.support.denials import modules_denied

SHOP = Denial(
    "shop",
    "2026-03-01T10:00:00Z",
    frozenset({("b.test", "tables"), ("a.test", "shelves"), ("a.test", "carts")}),
    frozenset({Ref("a.test", "Cart", "ns", "first")}),
)


class Server(MemoryCluster):
    """One that refuses the dry run at the calls that it is given, and accepts it at others."""

    def __init__(self, refused: Iterator[bool], policy: str = SHOP.name) -> None:
        super().__init__()
        self.refused = refused
        self.policy = policy
        self.dry_runs: list[Object] = []

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        assert dry_run
        self.dry_runs.append(obj)
        if next(self.refused):
            by = f"ValidatingAdmissionPolicy '{self.policy}' with binding '{self.policy}' denied request: no"
            raise problem("create", Ref("", "ConfigMap", "", ""), 403, "Forbidden", by)
        return super().create(obj, dry_run=True)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(denials, "REFUSAL_PAUSE_SECONDS", 0.0)


def always(answer: bool) -> Iterator[bool]:
    while True:
        yield answer


def later() -> float:
    return time.monotonic() + 60


def spec_of(denial: Denial) -> dict[str, Any]:
    return dict(denial_objects(denial)[0]["spec"])


def test_kinds_are_denied_by_group_in_every_version() -> None:
    *kinds, probe = spec_of(SHOP)["matchConstraints"]["resourceRules"]

    assert [(rule["apiGroups"], rule["resources"]) for rule in kinds] == [
        (["a.test"], ["carts", "shelves"]),
        (["b.test"], ["tables"]),
    ]
    assert all(rule["apiVersions"] == ["*"] and rule["operations"] == ["CREATE"] for rule in kinds)
    assert (probe["resources"], len(probe["resourceNames"])) == (["configmaps"], 1)


def test_without_exempt_objects_there_is_no_condition() -> None:
    assert "matchConditions" in spec_of(SHOP)
    assert "matchConditions" not in spec_of(replace(SHOP, exempt=frozenset()))


def test_the_dry_run_is_of_what_the_policy_denies_and_of_no_older_policy() -> None:
    server = Server(always(True))
    impose(server, SHOP, deadline=later())
    impose(server, replace(SHOP, exempt=frozenset()), deadline=later())

    names = [one["metadata"]["name"] for one in server.dry_runs]
    assert names[0] == spec_of(SHOP)["matchConstraints"]["resourceRules"][-1]["resourceNames"][0]
    assert len(set(names)) == 2
    assert {one["metadata"]["namespace"] for one in server.dry_runs} == {PROBE_NAMESPACE}


def test_the_same_denial_again_changes_nothing() -> None:
    server = Server(always(True))
    impose(server, SHOP, deadline=later())
    before = server.get(API_VERSION, POLICY, SHOP.name)
    impose(server, SHOP, deadline=later())

    assert server.get(API_VERSION, POLICY, SHOP.name) == before


def test_a_denial_is_in_force_after_some_refusals_in_a_row() -> None:
    answers = [False, True, False, *[True] * REFUSALS]
    server = Server(iter(answers))

    impose(server, SHOP, deadline=later())

    assert len(server.dry_runs) == len(answers)


def test_a_denial_gives_up_at_its_deadline() -> None:
    with pytest.raises(ClusterError, match="did not take effect in time: the API server still"):
        impose(Server(always(False)), SHOP, deadline=time.monotonic())


def test_a_policy_that_was_deleted_meanwhile_is_reported() -> None:
    server = Server(always(False))
    server.on_write(lambda cluster, _event: cluster.delete(API_VERSION, POLICY, SHOP.name) and None)

    with pytest.raises(ClusterError, match="in time: it was deleted meanwhile"):
        impose(server, SHOP, deadline=time.monotonic())


def test_a_denial_ends_when_the_run_is_cancelled() -> None:
    with pytest.raises(ClusterError, match=f"cancelled before .*{SHOP.name} was in force"):
        impose(Server(always(False)), SHOP, deadline=later(), cancelled=lambda: True)


def test_a_refusal_by_something_else_is_no_proof() -> None:
    server = Server(always(True), policy="no-config-maps")

    with pytest.raises(ClusterError, match=r"something else refuses the dry run.*'no-config-maps'"):
        impose(server, SHOP, deadline=later())


def test_a_cluster_without_such_policies_has_to_be_upgraded() -> None:
    cluster = MemoryCluster()
    cluster.fail_at(1, KindNotServed(API_VERSION, POLICY))

    with pytest.raises(ClusterError, match=r"module shop was not deleted.*Upgrade the cluster"):
        impose(cluster, SHOP, deadline=later())


def test_the_binding_goes_first() -> None:
    server = Server(always(True))
    impose(server, SHOP, deadline=later())

    server.requests.clear()
    assert lift(server, "shop") == [BINDING, POLICY]

    assert [request.ref.kind for request in server.requests if request.writes] == [BINDING, POLICY]
    assert not lift(server, "shop")


def test_half_a_denial_is_one() -> None:
    server = Server(always(True))
    impose(server, SHOP, deadline=later())
    server.delete(API_VERSION, BINDING, SHOP.name)

    assert modules_denied(server) == {"shop"}
    assert lift(server, "shop") == [POLICY]
    assert modules_denied(server) == set()


def test_other_policies_are_no_denials() -> None:
    cluster = MemoryCluster()
    for name, labels in ((f"{SHOP.name}-of-others", {}), ("of-ours", {MANAGED_BY: FIELD_MANAGER})):
        cluster.seed(
            {"apiVersion": API_VERSION, "kind": POLICY, "metadata": {"name": name, "labels": labels}}
        )

    assert modules_denied(cluster) == set()


@pytest.mark.parametrize("kind", [POLICY, BINDING])
def test_a_policy_of_others_with_the_name_of_a_denial_stays(kind: str) -> None:
    cluster = MemoryCluster()
    theirs = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": SHOP.name, "labels": {"a": "b"}}}
    cluster.with_field_manager("kubectl").create(theirs)

    assert not lift(cluster, "shop")
    assert cluster.get(API_VERSION, kind, SHOP.name)


def test_a_cluster_without_such_policies_lifts_none() -> None:
    cluster = MemoryCluster()

    def deletes(request: Request) -> bool:
        return request.verb == "delete"

    cluster.fail_when(deletes, KindNotServed(API_VERSION, BINDING))

    assert not lift(cluster, "shop")
