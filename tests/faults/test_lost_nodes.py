# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two nodes of AWX: one is lost in the middle of a run, or stands still until the other takes over."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.support.eventually import eventually
from tests.support.runner_nodes import Job, JobResult, Node, new_node

from .fault import Fault, Once
from .processes import Processes
from .proxy import Passage, Script
from .shop import migrations
from .world import World

pytestmark = pytest.mark.control_plane

DEPLOY = "- ansible.builtin.import_playbook: kyma.lifecycle.deploy_kyma"
OWNER = "uid-54321@{}"
LEASE_SECONDS = 10


@dataclass
class Nodes:
    """Two nodes that run the same job on one cluster.

    Attributes:
        world: with the cluster.
        one: reaches it by the proxy.
        two: reaches it directly.
    """

    world: World
    one: Node
    two: Node
    folder: Path

    def deploy(self, node: Node, script: Script | None = None) -> JobResult:
        """Have a node deploy what the shop consists of now, while a script plays."""
        if script:
            self.world.proxy.play(script)
        return node.run(self._job(node))

    def new_runs(self, before: set[str]) -> list[tuple[str, str]]:
        """Who started each run that there was not before, and its state; oldest first."""
        new = [run for run in self.world.shop.runs() if run["metadata"]["name"] not in before]
        return [(run["status"]["begin"]["startedBy"], run["status"]["state"]) for run in reversed(new)]

    def names(self) -> set[str]:
        """The names of all runs."""
        served = self.world.api.resource("lifecycle.kyma-project.io/v1", "KymaRun")
        return {run["metadata"]["name"] for run in self.world.shop.runs()} if served else set()

    def _job(self, node: Node) -> Job:
        shop = self.world.shop
        host = {"kyma_kubeconfig": "{{ inventory_dir }}/../kubeconfig", "kyma_release": "releases/shop"}
        options = {"kyma_lease_seconds": LEASE_SECONDS, "kyma_migration_variables": {"round": shop.round}}
        job = Job(self.folder / f"{node.name}-{shop.round}", {"shop": host}, options).play(DEPLOY)
        shutil.copytree(shop.folder, job.project / "releases" / "shop")
        (job.project / "kyma_migrations").mkdir()
        (job.project / "kyma_migrations" / "counted.py").write_text(migrations())
        config = yaml.safe_load(self.world.kubeconfig.read_text())
        if node is self.two:
            config["clusters"][0]["cluster"]["server"] = self.world.server
        (job.folder / "kubeconfig").write_text(yaml.safe_dump(config))
        return job


@pytest.fixture
def nodes(world: World, tmp_path: Path) -> Iterator[Nodes]:
    """Two nodes; none of their processes is left behind."""
    with new_node("node-one") as one, new_node("node-two") as two:
        yield Nodes(world, one, two, tmp_path)
        for node in (one, two):
            Processes(node.mark).kill()
        world.proxy.pass_all()


@pytest.mark.fault("an execution node is lost")
def test_the_same_job_on_another_node_continues_after_a_node_is_killed(nodes: Nodes) -> None:
    world, before = nodes.world, nodes.names()
    world.shop.renew()
    killed = Once(
        lambda one: one.writes and one.path.endswith("/deployments/shop"),
        Fault("its node is lost", before=Processes(nodes.one.mark).kill, reset_before=True),
    )
    first = nodes.deploy(nodes.one, killed)
    assert killed.struck is not None
    assert first.status == ""
    assert world.shop.lines() == [f"{world.shop.round} {step}" for step in ("global-pre", "shop-pre")]
    world.proxy.forget()
    second = nodes.deploy(nodes.two).succeeded()
    assert re.search(r"run: taking over \(from \S+ of uid-54321@node-one \(process", second.text)
    world.shop.assert_whole()
    assert nodes.new_runs(before) == [
        (OWNER.format("node-one"), "cancelled"),
        (OWNER.format("node-two"), "succeeded"),
    ]


# `make some-faults` pauses a holder in test_two_deployers.py.
@pytest.mark.usefixtures("account")
def test_a_node_that_wakes_up_after_the_takeover_writes_nothing(nodes: Nodes) -> None:
    world, processes = nodes.world, Processes(nodes.one.mark)
    world.shop.renew()
    second: list[Future[JobResult]] = []
    before: list[Passage] = []

    def takeover() -> None:
        processes.pause()
        try:
            second.append(pool.submit(nodes.deploy, nodes.two))
            # It is in the middle of its run.
            eventually(lambda: second[0].done() or len(world.shop.lines()) > 1, 120)
            assert not second[0].done(), second[0].result().text
            before.extend(world.proxy.passages)
        finally:
            processes.resume()

    late = Once(
        lambda one: one.writes and "/ledgers/" in one.path and "%2Fshop-pre&" in one.query,
        Fault("held up until another node has taken over", before=takeover),
    )
    with ThreadPoolExecutor(1) as pool:
        first = nodes.deploy(nodes.one, late)
        second[0].result().succeeded()
    assert first.status == "failed"
    assert "has lost the lease of the cluster, so it may write no more: " in first.text
    # It has none.
    assert "home directory" not in first.text
    # The node that has taken over does not use the proxy.
    writes = [one for one in world.proxy.passages[len(before) :] if one.request.writes]
    assert [one.status for one in writes if one.request == late.struck] == [401]
    assert [str(one) for one in writes if one.status < 400] == []
    world.shop.assert_whole()
