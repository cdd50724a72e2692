# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests on a real API server touch what is theirs alone, and leave nothing there; here one in memory."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Context
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing import real_api_server
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.real_api_server import (
    ForeignObject,
    RealApiServer,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.migration_testing import (
    Disproved,
    assert_migration,
)

from tests.support.gateways import gateway, gateway_crd
from tests.support.loki import storage_class
from tests.unit.plugin_utils._migration_testing import badly_written as bad
from tests.unit.plugin_utils._migration_testing.badly_written import AFTER, BEFORE, config_map


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_api_server, "SETTLING_SECONDS", 0.1)
    monkeypatch.setattr(real_api_server, "POLL_SECONDS", 0.001)


def objects_in(cluster: MemoryCluster) -> set[tuple[str, str]]:
    kinds = [
        ("v1", "Namespace"),
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("storage.k8s.io/v1", "StorageClass"),
    ]
    kinds.append(("apiextensions.k8s.io/v1", "CustomResourceDefinition"))
    return {(kind, obj["metadata"]["name"]) for at, kind in kinds for obj in cluster.list(at, kind).items}


def test_a_migration_is_proved_and_nothing_is_left() -> None:
    cluster = MemoryCluster(config_map("theirs") | {"metadata": {"name": "theirs", "namespace": "other"}})
    before = objects_in(cluster)
    server = RealApiServer(cluster)
    assert_migration(bad.MoveToken, BEFORE, AFTER, stays=BEFORE, server=server)
    with pytest.raises(Disproved, match="killed after call 3"):
        assert_migration(bad.ForgetsBeforeItKnows, BEFORE, AFTER, server=server)
    server.close()
    assert objects_in(cluster) == before


def test_kinds_of_their_own_come_and_go() -> None:
    cluster = MemoryCluster()
    before = objects_in(cluster)
    server = RealApiServer(cluster)
    held = server.hold([gateway(), storage_class(expands=True)], [gateway_crd()])
    assert held.get("networking.istio.io/v1beta1", "Gateway", "kyma-gateway", "kyma-system")
    assert objects_in(cluster) != before
    server.close()
    assert objects_in(cluster) == before


class WritesElsewhere(bad.MoveToken):
    """The token is in a Secret, and what is of others has changed."""

    def forget(self, ctx: Context, token: str) -> None:
        ctx.cluster.with_field_manager("kyma-lifecycle").apply(storage_class("theirs", expands=True))
        ctx.cluster.apply({**config_map("made"), "metadata": {"name": "made", "namespace": "default"}})
        super().forget(ctx, token)


def test_objects_that_a_migration_creates_elsewhere_are_deleted_at_the_end() -> None:
    cluster = MemoryCluster(storage_class("theirs", expands=False))
    before = objects_in(cluster)
    server = RealApiServer(cluster)
    with pytest.raises(Disproved, match="StorageClass theirs is there, and `after` does not have it"):
        assert_migration(WritesElsewhere, BEFORE, AFTER, server=server)
    server.close()
    assert objects_in(cluster) == before


@pytest.mark.parametrize(
    ("present", "reason"),
    [
        (config_map("theirs"), "the namespace shop exists on this API server, and no test has made it"),
        (storage_class(expands=True), "StorageClass fast exists on this API server"),
    ],
)
def test_a_foreign_object_is_refused(present: Object, reason: str) -> None:
    cluster = MemoryCluster(present)
    before = objects_in(cluster)
    server = RealApiServer(cluster)
    with pytest.raises(ForeignObject, match=reason):
        server.hold([storage_class(expands=True), *BEFORE])
    server.close()
    assert objects_in(cluster) == before


def test_a_namespace_that_is_not_theirs_is_refused_though_no_object_is_to_live_there_yet() -> None:
    cluster = MemoryCluster(config_map("theirs"))
    before = objects_in(cluster)
    server = RealApiServer(cluster)
    with pytest.raises(ForeignObject, match="the namespace shop exists on this API server"):
        server.hold([], namespaces=["shop"])
    server.close()
    assert objects_in(cluster) == before


def test_a_namespace_that_a_test_left_is_recreated() -> None:
    cluster = MemoryCluster()
    RealApiServer(cluster).hold([*BEFORE, config_map("left")])
    server = RealApiServer(cluster)
    server.hold(BEFORE)
    assert ("ConfigMap", "left") not in objects_in(cluster)


def test_finalizers_without_a_controller_do_not_block_a_deletion() -> None:
    cluster = MemoryCluster()
    server = RealApiServer(cluster)
    held_up = config_map("held-up")
    held_up["metadata"]["finalizers"] = ["acme.example/never"]
    server.hold([held_up])
    server.hold(BEFORE)
    assert ("ConfigMap", "held-up") not in objects_in(cluster)
