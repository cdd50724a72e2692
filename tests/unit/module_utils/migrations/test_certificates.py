# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``certificates/adopt-gateway`` on the in-memory cluster."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Conflict
from ansible_collections.kyma.lifecycle.plugins.module_utils._dry_run.dry_run_cluster import (
    DryRunCluster,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.results import MigrationOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component
from ansible_collections.kyma.lifecycle.plugins.module_utils.migrations.certificates import AdoptGateway
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.gateways import OWNERSHIP, gateway, gateway_crd
from tests.support.hooked_cluster import Killed
from tests.support.migrations import setting

CERTIFICATES = {"certificates": Component("certificates", "istio-system")}


def adopted(cluster: Any, **more: Any) -> MigrationOutcome:
    [outcome] = run_migrations([AdoptGateway], setting(cluster, **{"components": CERTIFICATES, **more}))
    return outcome


def annotations_of(cluster: MemoryCluster, version: str = "v1alpha3") -> dict[str, str]:
    live = cluster.get(f"networking.istio.io/{version}", "Gateway", "kyma-gateway", "kyma-system")
    assert live
    annotations: dict[str, str] = live["metadata"].get("annotations") or {}
    return annotations


@pytest.mark.parametrize("version", ["v1alpha3", "v1beta1", "v1"])
def test_an_orphaned_gateway_is_adopted_once(version: str) -> None:
    cluster = MemoryCluster(gateway_crd("networking.istio.io", version), gateway(version, mine="kept"))
    outcome = adopted(cluster)
    assert (outcome.state, outcome.error) == ("done", "")
    assert "meta.helm.sh/release-name=certificates" in outcome.evidence
    assert annotations_of(cluster, version) == {"mine": "kept", **OWNERSHIP}
    cluster.requests.clear()
    assert adopted(cluster).state == "not_needed"
    assert [one.verb for one in cluster.requests] == ["get"]


def test_the_annotations_of_another_release_are_taken_over() -> None:
    cluster = MemoryCluster(gateway_crd(), gateway(**{**OWNERSHIP, "meta.helm.sh/release-name": "gateway"}))
    outcome = adopted(cluster)
    assert outcome.state == "done"
    assert "release-namespace" not in outcome.evidence
    assert annotations_of(cluster) == OWNERSHIP


def test_a_fresh_install_needs_nothing() -> None:
    for cluster in (MemoryCluster(), MemoryCluster(gateway_crd())):
        cluster.requests.clear()
        outcome = adopted(cluster)
        assert outcome.state == "not_needed"
        assert outcome.requests <= 1
        assert not [one for one in cluster.requests if one.writes]


@pytest.mark.parametrize("known_by", ["objects", "refs"])
def test_a_gateway_that_a_component_contains_costs_no_request(known_by: str) -> None:
    cluster = MemoryCluster(gateway_crd(), gateway())
    cluster.requests.clear()
    refs = frozenset([Ref("networking.istio.io", "Gateway", "kyma-system", "kyma-gateway")])
    if known_by == "objects":
        owner = Component("istio-resources", "kyma-system", (gateway("v1beta1"),))
    else:
        owner = Component("istio-resources", "kyma-system", (), refs)
    [result] = check_migrations(
        [AdoptGateway], setting(cluster, components={**CERTIFICATES, "istio-resources": owner})
    )
    assert (result.verdict, result.requests) == ("not_needed", 0)
    assert result.evidence == "the component istio-resources contains Gateway kyma-system/kyma-gateway"
    assert cluster.requests == []


def test_a_conflict_is_looked_at_again() -> None:
    cluster = MemoryCluster(gateway_crd(), gateway())
    conflict = Conflict("x", status=409, reason="Conflict", api_message="the object has been modified")
    cluster.fail_when(lambda one: one.verb == "patch", conflict, times=1)
    assert adopted(cluster).state == "done"


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("call", [1, 2, 3, 4])
def test_killed_at_any_call_and_run_again_it_gets_there(call: int, before: bool) -> None:
    cluster = MemoryCluster(gateway_crd(), gateway())
    cluster.fail_at(call, Killed(), before=before)
    assert adopted(cluster).state == "failed"
    assert adopted(cluster).state in ("done", "not_needed")
    assert annotations_of(cluster) == OWNERSHIP


def test_a_rehearsal_writes_nothing() -> None:
    cluster = MemoryCluster(gateway_crd(), gateway())
    overlay = DryRunCluster(cluster)
    assert adopted(overlay, rehearsal=True).state == "done"
    [change] = overlay.changes()
    assert change.after
    assert change.after["metadata"]["annotations"] == OWNERSHIP
    assert annotations_of(cluster) == {}
