# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much of a cluster's records the tasks of a run read: they are the largest answers that they get."""

from __future__ import annotations

from collections.abc import Collection
from types import ModuleType

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Cluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run import run_end as finished
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.run import run_start as started
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import FOUNDATION, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import run
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, config_map, deployer, deployment, release

ALL = "all"
NAMESPACE = "kyma-system"
Reads = list[tuple[str, ...] | str]


def kyma(logging: str = "1") -> Release:
    """Two components, of which one may change."""
    components = {"logging": [deployment("logging", logging)], "tracing": [config_map("tracing")]}
    return release("2.9", components)


def recorded_reads(task: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Reads:
    """The components whose inventories a task reads from now on."""
    reads: Reads = []

    def recording(cluster: Cluster, components: Collection[str] = ()) -> dict[str, Inventory]:
        reads.append(tuple(sorted(components)) or ALL)
        return read_inventories(cluster, components)

    monkeypatch.setattr(task, "read_inventories", recording)
    return reads


def deployed() -> Deployer:
    """Somebody who has deployed the first release."""
    someone = deployer(kyma())
    assert someone.deploy()["state"] == "succeeded"
    return someone


def upgrading() -> Deployer:
    """The same, who now has the release in which one component is another one."""
    someone = deployed()
    someone.materials.given = kyma("2")
    return someone


def touch(someone: Deployer, component: str, **spec: str) -> None:
    """Write an inventory."""
    content = {"metadata": {"annotations": {"example.com/seen": "yes"}}, "spec": spec}
    someone.cluster.patch(API_VERSION, "KymaInventory", component, None, content)


def test_a_run_begins_without_reading_the_inventories_that_its_plan_has_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    someone = upgrading()
    planned = someone.plan()["plan"]
    reads = recorded_reads(started, monkeypatch)
    assert someone.task(run.DEFINITION, state="started", plan=planned)["run"]
    assert reads == []


def test_a_write_that_is_no_deployment_does_not_keep_a_run_from_beginning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    someone = upgrading()
    planned = someone.plan()["plan"]
    touch(someone, "tracing")
    reads = recorded_reads(started, monkeypatch)
    assert someone.task(run.DEFINITION, state="started", plan=planned)["run"]
    assert reads == [ALL]


def test_a_component_that_was_deployed_since_the_plan_keeps_a_run_from_beginning() -> None:
    someone = upgrading()
    planned = someone.plan()["plan"]
    touch(someone, "tracing", digest="another")
    refused = someone.task(run.DEFINITION, state="started", plan=planned)
    assert "another deployment has begun" in refused["msg"]


def test_the_first_run_on_a_cluster_reads_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    someone = deployer(kyma())
    planned = someone.plan()["plan"]
    assert planned["versions"] == ""
    reads = recorded_reads(started, monkeypatch)
    assert someone.task(run.DEFINITION, state="started", plan=planned)["run"]
    assert reads == [ALL]


def test_at_its_end_a_run_reads_the_inventories_of_what_it_has_worked_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finished, "JUST_NOW", 0.0)
    reads = recorded_reads(finished, monkeypatch)
    someone = upgrading()
    assert someone.deploy()["state"] == "succeeded"
    assert reads == [(FOUNDATION, "logging", "tracing"), ("logging",)]


def test_at_its_end_a_run_does_not_look_again_at_what_was_watched_until_just_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finished, "JUST_NOW", 60.0)
    reads = recorded_reads(finished, monkeypatch)
    someone = upgrading()
    assert someone.deploy()["state"] == "succeeded"
    # What is well by being there is not watched: of it the server's answers are all that is known.
    assert reads == [(FOUNDATION, "tracing")]
    assert someone.record()["status"]["components"]["logging"]["seen"] > 0


@pytest.mark.parametrize("component", ["logging", "global"])
def test_a_change_by_a_post_migration_just_now_is_no_drift(component: str) -> None:
    class Hurries(Migration):
        """Lets the pods of a Deployment count as soon as they are ready."""

        phase = Phase.POST
        keep = "for tests"

        def check(self, ctx: Context) -> Verdict:
            live = ctx.cluster.get("apps/v1", "Deployment", "logging", NAMESPACE)
            waits = live is not None and "minReadySeconds" in live["spec"]
            return needed("they wait") if waits else not_needed("they count at once")

        def run(self, ctx: Context) -> None:
            at_once = {"spec": {"minReadySeconds": None}}
            ctx.cluster.patch("apps/v1", "Deployment", "logging", NAMESPACE, at_once)

    Hurries.component = component
    someone = deployer(release("2.9", {"logging": [deployment("logging", minReadySeconds=5)]}), Hurries)
    assert someone.deploy()["state"] == "succeeded"
    assert not someone.deploy()["plan"]["needed"]


def test_inventories_are_found_by_their_component() -> None:
    cluster = deployed().cluster
    assert list(read_inventories(cluster, ["tracing"])) == ["tracing"]
    assert sorted(read_inventories(cluster, ["tracing", "logging"])) == ["logging", "tracing"]
    assert sorted(read_inventories(cluster)) == [FOUNDATION, "logging", "tracing"]


def test_observations_of_a_wait_are_recorded_with_the_component_and_not_again_at_the_end() -> None:
    someone = upgrading()
    cluster = someone.cluster
    assert isinstance(cluster, MemoryCluster)
    cluster.requests.clear()
    assert someone.deploy()["state"] == "succeeded"
    writes = [one for one in cluster.requests if one.writes and one.ref.kind == "KymaInventory"]
    assert [one.ref.name for one in writes] == ["logging"] * 2
