# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection's migrations make of the real releases."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import group_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.desired.desired_release import (
    desired_release,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.engine import (
    check_migrations,
    run_migrations,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.retirement import overdue_migrations
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ReleaseRequest
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import Component
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migrations.discovery import discover_migrations
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._release.loader import load_release

from tests.support.loki import CLAIM, claim, stateful_set, storage_class
from tests.support.migrations import setting

DATA = Path(os.environ.get("KYMA_TEST_DATA") or Path(__file__).resolve().parents[5] / "shared" / "data")
CLUSTER_WIDE = {"CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "PriorityClass", "Namespace"}


def components_of(version: str, profile: str) -> dict[str, Component]:
    folder = DATA / "kyma-releases" / version
    if not folder.is_dir():
        if os.environ.get("CI") == "true":
            pytest.fail(f"there are no real releases at {DATA}: set KYMA_TEST_DATA")
        pytest.skip(f"there are no real releases at {DATA}: set KYMA_TEST_DATA")
    release = load_release(ReleaseRequest(str(folder), profile=profile, version=version))
    desired = desired_release(release, lambda api, kind: bool(group_of(api)) or kind not in CLUSTER_WIDE)
    return {
        name: Component(name, component.namespace, component.objects)
        for name, component in desired.components.items()
    }


@pytest.mark.parametrize("version", ["2.9", "2.10", "2.11"])
@pytest.mark.parametrize(("profile", "verdict"), [("production", "needed"), ("evaluation", "not_needed")])
def test_only_production_keeps_lokis_data_in_a_volume(version: str, profile: str, verdict: str) -> None:
    cluster = MemoryCluster(storage_class(expands=True), stateful_set("10Gi"), claim("10Gi"))
    components = components_of(version, profile)
    verdicts = {
        result.id: (result.verdict, result.requests)
        for result in check_migrations(
            discover_migrations([], []).migrations, setting(cluster, components=components)
        )
    }
    assert verdicts["certificates/adopt-gateway"] == ("not_needed", 0)
    assert verdicts["logging/grow-loki-volume"][0] == verdict
    assert verdicts["logging/grow-loki-volume"][1] <= 2


def test_no_release_that_has_the_component_calls_its_migrations_overdue() -> None:
    migrations = discover_migrations([], []).migrations
    late = {
        version: [one.id() for one in overdue_migrations(migrations, f"2.{version}")]
        for version in range(7, 21)
    }
    assert {version for version, some in late.items() if some} == {17, 18, 19, 20}
    assert late[17] == ["logging/grow-loki-volume"]


def test_loki_of_2_9_takes_the_place_of_the_old_one() -> None:
    cluster = MemoryCluster(storage_class(expands=True), stateful_set("10Gi"), claim("10Gi"))
    components = components_of("2.9", "production")
    migrations = [m for m in discover_migrations([], []).migrations if m.component == "logging"]
    [outcome] = run_migrations(migrations, setting(cluster, components=components, rehearsal=True))
    assert outcome.error == ""
    grown = cluster.get("v1", "PersistentVolumeClaim", CLAIM, "kyma-system")
    assert grown
    assert grown["spec"]["resources"]["requests"]["storage"] == "30Gi"
    assert cluster.get("apps/v1", "StatefulSet", "logging-loki", "kyma-system") is None
