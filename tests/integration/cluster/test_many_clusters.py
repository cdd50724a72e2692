# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters on one etcd know nothing of each other, and their Deployments get a status."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.health.status import assess_health

from tests.support.audit import writes
from tests.support.deployment_controllers import DEPLOYMENT, DeploymentControllers, deployment_controllers
from tests.support.eventually import eventually
from tests.support.many_clusters import new_clusters
from tests.support.own_cluster import OwnCluster
from tests.support.small_release import deployment

pytestmark = pytest.mark.control_plane

Pair = dict[str, OwnCluster]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two clusters."""
    with new_clusters(tmp_path_factory.mktemp("clusters"), "one", "two") as clusters:
        yield clusters


@pytest.fixture(scope="module")
def controllers(pair: Pair) -> Iterator[DeploymentControllers]:
    """What writes the status of their Deployments."""
    with deployment_controllers(pair) as working:
        yield working


def written(cluster: OwnCluster, name: str, **options: Any) -> Object:
    """A Deployment with this name, once its status is that of its spec."""
    applied = deployment(name, **options)
    applied["metadata"]["namespace"] = "default"
    cluster.api.apply(applied)

    def look() -> Object | None:
        live = cluster.api.get(*DEPLOYMENT, name, "default")
        assert live
        is_observed = live.get("status", {}).get("observedGeneration") == live["metadata"]["generation"]
        return live if is_observed else None

    return eventually(look)


def test_one_cluster_and_its_audit_log_have_nothing_of_another(pair: Pair) -> None:
    config_map: Object = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "own", "namespace": "default"},
    }
    with pair["one"].audit.recorded() as of_one, pair["two"].audit.recorded() as of_two:
        pair["one"].api.create(config_map)
    assert pair["one"].api.get("v1", "ConfigMap", "own", "default")
    assert pair["two"].api.get("v1", "ConfigMap", "own", "default") is None
    assert len(writes(of_one)) == 1
    assert writes(of_two) == []


def test_a_deployment_becomes_available_whenever_its_spec_is_new(
    pair: Pair, controllers: DeploymentControllers
) -> None:
    assert controllers
    for image in ("example.com/old", "example.com/new"):
        assert assess_health(written(pair["two"], "fine", image=image)).state == "current"


def test_a_deployment_of_a_failing_cluster_fails_until_it_is_mended(
    pair: Pair, controllers: DeploymentControllers
) -> None:
    controllers.failing.add("one")
    assert assess_health(written(pair["one"], "broken")).state == "failed"
    controllers.failing.discard("one")
    controllers.report("one", is_available=True)
    assert assess_health(written(pair["one"], "broken")).state == "current"


def test_a_deployment_whose_pods_die_stays_unavailable(
    pair: Pair, controllers: DeploymentControllers
) -> None:
    written(pair["two"], "dying")
    controllers.report("two", is_available=False)
    written(pair["two"], "later")
    assert assess_health(written(pair["two"], "dying")).state == "progressing"
