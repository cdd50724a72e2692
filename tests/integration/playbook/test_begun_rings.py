# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A ring begins when its gate lets a run begin. A deployment by hand begins none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_runs

from tests.support.many_clusters import new_clusters
from tests.support.own_cluster import OwnCluster
from tests.support.ring_fleet import RingFleet
from tests.support.small_release import NAMESPACE, SmallRelease, config_map

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

RINGS = {"canary": ["one"], "rest": ["fixed", "other"]}
ADDED = "added"


@pytest.fixture
def fleet(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Iterator[RingFleet]:
    names = [host for hosts in RINGS.values() for host in hosts]
    with new_clusters(tmp_path_factory.mktemp("clusters"), *names, ADDED) as clusters:
        yield RingFleet(tmp_path, clusters, {ring: [*hosts] for ring, hosts in RINGS.items()})


def write_release(small: SmallRelease, version: str) -> None:
    (small.folder / "release.yaml").write_text(f"version: '{version}'\n")
    small.write("one", config_map("one", v=version))


def rollouts(cluster: OwnCluster) -> list[Any]:
    """What the records of its runs name as their rollout, the newest first."""
    return [run["status"]["begin"].get("rollout") for run in read_runs(cluster.api)]


def drift(cluster: OwnCluster) -> None:
    """Let there be something to deploy."""
    cluster.api.delete("v1", "ConfigMap", "one", NAMESPACE)


def test_a_ring_has_begun_only_by_its_gate_and_stays_begun(fleet: RingFleet, small: SmallRelease) -> None:
    small.component("one")
    write_release(small, "1.0")
    fleet.call(small.folder, rings=list(RINGS)).ended(0)
    fleet.call(small.folder, rings=list(RINGS)).ended(0)
    write_release(small, "1.1")
    by_hand = fleet.call(small.folder, "--limit", "fixed").ended(0)
    assert by_hand.written == {"fixed"}

    fleet.variables = {"kyma_rings": list(RINGS)}
    assert fleet.call(small.folder).ended(0).written == {"one"}
    fleet.rings["canary"].append(ADDED)
    # The hotfix has not begun the ring, so it waits for the canary that was added.
    assert fleet.call(small.folder).ended(0).written == {ADDED}

    rest = fleet.call(small.folder).ended(0)
    assert (rest.written, rest.rings) == ({"other"}, {"canary": "done", "rest": "done"})
    reference = {"ring": "rest", "releaseDigest": rest.rollout["release_digest"]}
    first_of = {name: rollouts(cluster)[0] for name, cluster in fleet.clusters.items()}
    canary = {**reference, "ring": "canary"}
    assert first_of == {"one": canary, ADDED: canary, "fixed": None, "other": reference}

    # Later runs by hand, and a history without the run, leave it begun.
    other = fleet.clusters["other"]
    drift(other)
    assert fleet.call(small.folder, "--limit", "other", rings="none").ended(0).written == {"other"}
    for run in read_runs(other.api)[1:]:
        other.api.delete(API_VERSION, "KymaRun", run["metadata"]["name"])
    assert rollouts(other) == [None]
    for name in (ADDED, "other"):
        drift(fleet.clusters[name])
    assert fleet.call(small.folder).ended(0).written == {ADDED, "other"}
