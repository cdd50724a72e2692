# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the lease and the fence cost a run, counted in requests: one more of them fails here."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import lease_session as working
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease.lease import LIFECYCLE_NAMESPACE
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, config_map, deployer, healthy_cluster, release

ACCOUNT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "d", "namespace": LIFECYCLE_NAMESPACE},
}
KINDS = ("Lease", "Secret", "ServiceAccount")
LEASE = {"get Lease": 1, "patch Lease": 3}
"""Tried by the plan; looked at when the run begins, beside all else that is; then taken, and given back."""
FENCE = {"get ServiceAccount": 1, "create Secret": 1, "delete Secret": 1}
"""And a review of its rights, which the cluster in memory does not serve."""


def changed(cluster: MemoryCluster, **options: str) -> Deployer:
    """Somebody with one changed component of three, on a cluster that has the lease of an earlier run."""
    made = {name: [config_map(name, v="1")] for name in ("one", "two", "three")}
    first = deployer(release("2.9", made), cluster=cluster, **options)
    assert not first.deploy().get("failed")
    made["two"] = [config_map("two", v="2")]
    again = replace(first, materials=deployer(release("2.9", made)).materials)
    cluster.requests.clear()
    return again


def spent(cluster: MemoryCluster) -> Counter[str]:
    """The requests for the lease and the fence."""
    return Counter(f"{one.verb} {one.ref.kind}" for one in cluster.requests if one.ref.kind in KINDS)


def test_a_run_takes_its_lease_and_gives_it_back_and_no_more() -> None:
    cluster = healthy_cluster()
    result = changed(cluster, service_account="").deploy()
    assert (result["state"], spent(cluster)) == ("succeeded", LEASE)


def test_a_missing_account_costs_one_request() -> None:
    cluster = healthy_cluster()
    changed(cluster, service_account="d").deploy()
    assert spent(cluster) == {**LEASE, "get ServiceAccount": 1}


def test_a_fence_takes_a_secret_and_a_token_for_each_task_that_writes() -> None:
    cluster = healthy_cluster(ACCOUNT)
    changed(cluster, service_account="d").deploy()
    tokens = {"token ServiceAccount": 3}
    assert spent(cluster) == {**LEASE, **FENCE, **tokens}


def test_a_plan_without_work_knows_of_no_lease() -> None:
    cluster = healthy_cluster(ACCOUNT)
    someone = changed(cluster, service_account="d")
    someone.deploy()
    cluster.requests.clear()
    someone.deploy()
    assert [one for one in cluster.requests if one.ref.kind in KINDS or one.writes] == []


def test_a_task_on_another_machine_asks_whether_the_lease_is_still_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = healthy_cluster()
    someone = changed(cluster, service_account="")
    machines = iter(range(99))
    monkeypatch.setattr(working, "boot_clock_id", lambda: f"boot {next(machines)}")
    someone.deploy()
    # By the component's task and by the one that ends the run.
    assert spent(cluster) == {**LEASE, "patch Lease": LEASE["patch Lease"] + 2}
