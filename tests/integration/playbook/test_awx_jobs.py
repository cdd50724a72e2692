# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On two nodes of AWX: a gate job with all hosts, and sliced jobs that begin by what it passes on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.runs import read_runs

from tests.support.audit import writes
from tests.support.extent import IS_FULL
from tests.support.many_clusters import new_clusters
from tests.support.own_cluster import OwnCluster
from tests.support.runner_nodes import Job, JobResult, Node, new_node
from tests.support.small_release import SmallRelease, config_map

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

IMPORT = "- ansible.builtin.import_playbook: kyma.lifecycle.{}"
SLICES = ("east", "west")
RINGS = {"canary": ["north"], "rest": list(SLICES)}


class Fleet:
    """Clusters in rings, and two nodes.

    Attributes:
        clusters: by the names of their hosts.
        release: what is deployed.
    """

    def __init__(self, clusters: Mapping[str, OwnCluster], release: SmallRelease, folder: Path) -> None:
        self.clusters = clusters
        self.release = release
        self._folder = folder
        self._stack = ExitStack()
        self.nodes = [self._stack.enter_context(new_node(name)) for name in ("node-one", "node-two")]

    def close(self) -> None:
        """Remove the nodes."""
        self._stack.close()

    def gate(self, **options: Any) -> JobResult:
        """Decide, in a job with all hosts."""
        rings = {ring: [one for one in hosts if one in self.clusters] for ring, hosts in RINGS.items()}
        rings = {ring: hosts for ring, hosts in rings.items() if hosts}
        job = self._job("rollout_gate", [*self.clusters], rings, kyma_rings=[*rings], **options)
        return self.nodes[0].run(job)

    def deploy(self, gate: Mapping[str, Any], *hosts: str, **options: Any) -> dict[str, JobResult]:
        """Deploy to each host in a separate job, side by side, as slices of one job."""
        jobs = [self._job("deploy_kyma", [host], {}, kyma_gate_required=True, **options) for host in hosts]
        for job in jobs:
            (job.project / "gate.json").write_text(json.dumps(gate))

        def run(node: Node, job: Job) -> JobResult:
            return node.run(job, "-e", "@gate.json")

        with ThreadPoolExecutor() as threads:
            return dict(zip(hosts, threads.map(run, self.nodes, jobs), strict=True))

    def _job(
        self, book: str, hosts: Sequence[str], groups: Mapping[str, Sequence[str]], **options: Any
    ) -> Job:
        folder = self._folder / f"job-{len(list(self._folder.iterdir()))}"
        known = {
            host: {
                "kyma_kubeconfig": f"{{{{ inventory_dir }}}}/../{host}.kubeconfig",
                "kyma_release": "releases/small",
            }
            for host in hosts
        }
        job = Job(folder, known, options, groups).play(IMPORT.format(book))
        shutil.copytree(self.release.folder, job.project / "releases" / "small")
        for host in hosts:
            shutil.copy(self.clusters[host].kubeconfig, folder / f"{host}.kubeconfig")
        return job


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, small: SmallRelease) -> Iterator[Fleet]:
    """Two clusters in one ring; where everything is tried, another one in a ring before."""
    names = [*(RINGS["canary"] if IS_FULL else ()), *SLICES]
    with new_clusters(tmp_path_factory.mktemp("clusters"), *names) as clusters:
        small.component("one", config_map("one", v="1"))
        made = Fleet(clusters, small, tmp_path_factory.mktemp("jobs"))
        yield made
        made.close()


def started_by(cluster: OwnCluster) -> list[str]:
    return [run["status"]["begin"]["startedBy"] for run in read_runs(cluster.api)]


def test_sliced_jobs_begin_by_a_gate_that_was_decided_for_all_and_not_by_an_old_one(fleet: Fleet) -> None:
    if IS_FULL:
        first = fleet.gate().succeeded().artifacts
        assert first["kyma_gate"]["hosts"] == dict.fromkeys(RINGS["canary"], "canary")
        for result in fleet.deploy(first, *SLICES).values():
            assert result.status == "failed"
            assert "it only names north" in result.text
        fleet.deploy(first, *RINGS["canary"])["north"].succeeded()
    gate = fleet.gate().succeeded().artifacts
    assert gate["kyma_gate"]["hosts"] == dict.fromkeys(SLICES, "rest")
    for result in fleet.deploy(gate, *SLICES).values():
        result.succeeded()
    nodes = [f"uid-54321@{name}" for name in ("node-one", "node-two")]
    assert [started_by(fleet.clusters[name]) for name in SLICES] == [[node] for node in nodes]
    rollout = {"ring": "rest", "releaseDigest": gate["kyma_gate"]["release_digest"]}
    for name in SLICES:
        assert [run["status"]["begin"]["rollout"] for run in read_runs(fleet.clusters[name].api)] == [rollout]
    # The gate was for what is deployed now.
    fleet.release.write("one", config_map("one", v="2"))
    with ExitStack() as stack:
        logs = [stack.enter_context(fleet.clusters[name].audit.recorded()) for name in SLICES]
        results = fleet.deploy(gate, *SLICES, kyma_gate_max_age="1s")
    for result in results.values():
        assert result.status == "failed"
        assert "it was decided for another release" in result.text
        assert "and gate_max_age (kyma_gate_max_age) is 1s" in result.text
    assert [writes(log) for log in logs] == [[], []]
