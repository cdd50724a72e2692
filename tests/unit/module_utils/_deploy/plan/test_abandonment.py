# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Giving up half an upgrade, and two deployments that begin at the same time: on the in-memory cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import API_VERSION, Ref
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.installation import (
    INSTALLATION_NAME,
    Installation,
    StaleInstallation,
    read_installation,
    write_installation,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import (
    read_inventories,
    write_inventory,
)
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

from tests.support.driver import (
    Deployer,
    config_map,
    deployer,
    deployer_after,
    deployment,
    healthy_cluster,
    job,
    release,
)


def kyma(version: str, *, broken: bool = False) -> Release:
    """A component that changes with each release, one that has a Job, and one that may not start."""
    return release(
        version,
        {
            "logging": [config_map("settings", v=version), job("setup", f"setup:{version}")],
            "steady": [config_map("steady", v="always")],
            "monitoring": [deployment("prometheus", "broken" if broken else f"prometheus:{version}")],
        },
    )


class Grows(Migration):
    """Runs with 2.10."""

    component = "logging"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        done = ctx.cluster.get("v1", "ConfigMap", "grown", "default")
        return not_needed("done") if done or ctx.release != "2.10" else needed("not done")

    def run(self, ctx: Context) -> None:
        meta = {"name": "grown", "namespace": "default"}
        ctx.cluster.apply({**config_map("", done="yes"), "metadata": meta})


def halfway() -> MemoryCluster:
    """A cluster with 2.9 and half of 2.10."""
    someone = deployer_after(kyma("2.9"))
    assert isinstance(someone.cluster, MemoryCluster)
    upgrade = deployer(kyma("2.10", broken=True), Grows, cluster=someone.cluster)
    assert upgrade.deploy()["state"] == "failed"
    return someone.cluster


def versions(someone: Deployer) -> tuple[str, str]:
    installation = someone.installation()
    return installation.version, installation.target


def test_only_the_target_may_be_deployed() -> None:
    cluster = halfway()
    for version in ("2.9", "2.10.1", "2.11"):
        refused = deployer(kyma(version), cluster=cluster).plan()
        assert "the deployment of 2.10 has begun and has not ended" in refused["msg"]
        assert "abandon=true (kyma_abandon)" in refused["msg"]
    someone = deployer(kyma("2.10"), cluster=cluster)
    assert someone.deploy()["state"] == "succeeded"
    assert versions(someone) == ("2.10", "2.10")


def test_the_plan_says_whether_migrations_forbid_to_give_up() -> None:
    mended = deployer(kyma("2.10.1"), cluster=halfway())
    assert "before 2.10.1, as migration logging/grows has begun to write" in mended.plan()["msg"]

    cluster = deployer_after(kyma("2.9")).cluster
    assert deployer(kyma("2.10", broken=True), cluster=cluster).deploy()["state"] == "failed"
    refused = deployer(kyma("2.10.1"), cluster=cluster).plan()
    assert "none of its migrations has begun to write" in refused["msg"]
    assert deployer(kyma("2.10.1"), cluster=cluster, abandon=True).deploy()["state"] == "succeeded"


def test_the_target_is_the_same_however_its_version_is_written() -> None:
    cluster = halfway()
    going_on = deployer(kyma("2.10.0", broken=True), cluster=cluster)
    planned = going_on.plan()
    assert planned["plan"]["stays"] == []
    assert going_on.carry_out(planned)["state"] == "failed"
    assert versions(going_on) == ("2.9", "2.10.0")
    stays = deployer(kyma("2.9"), cluster=cluster, abandon=True).plan()["plan"]["stays"]
    assert "component logging has moved to 2.10.0" in stays
    assert any(one.startswith("migration logging/grows ran in ") for one in stays)
    someone = deployer(kyma("2.10"), cluster=cluster)
    assert someone.deploy()["state"] == "succeeded"
    assert versions(someone) == ("2.10", "2.10")


def test_an_abandonment_lists_what_stays_and_returns_to_the_earlier_release() -> None:
    someone = deployer(kyma("2.9"), cluster=halfway(), abandon=True)
    planned = someone.plan()
    stays = planned["plan"]["stays"]
    assert "component logging has moved to 2.10" in stays
    assert "component monitoring has begun and is incomplete" in stays
    assert any(one.startswith("migration logging/grows ran in ") for one in stays)
    assert "component logging: 1 object was deleted and recreated" in stays
    assert any("abandons  component logging has moved to 2.10" in line for line in planned["summary"])
    actions = {one["name"]: one["action"] for one in planned["plan"]["components"]}
    assert actions["logging"] == "downgrade"
    assert actions["steady"] == "unchanged"
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert versions(someone) == ("2.9", "2.9")
    assert deployer(kyma("2.9"), cluster=someone.cluster).plan()["plan"]["needed"] is False


def test_giving_it_up_allows_no_other_way_than_that_of_versions() -> None:
    cluster = halfway()
    refused = deployer(kyma("2.11"), cluster=cluster, abandon=True).plan()
    assert "deploy 2.10 first" in refused["msg"]
    refused = deployer(kyma("2.8"), cluster=cluster, abandon=True).plan()
    assert "downgrades are never safe" in refused["msg"]
    fixed = deployer(kyma("2.10.1"), cluster=cluster, abandon=True)
    assert fixed.deploy()["state"] == "succeeded"
    assert versions(fixed) == ("2.10.1", "2.10.1")


def test_a_downgrade_is_refused_in_spite_of_all_flags() -> None:
    someone = deployer_after(kyma("2.10"))
    older = deployer(kyma("2.9"), cluster=someone.cluster, abandon=True, force_conflicts=True)
    refused = older.plan()
    assert refused["msg"].count("\n- ") == 1
    assert "2.9 is older than 2.10" in refused["msg"]


def test_of_two_first_deployments_one_is_refused() -> None:
    one = deployer(kyma("2.9"))
    other = deployer(kyma("2.9"), cluster=one.cluster)
    first, second = one.plan(), other.plan()
    assert one.carry_out(first)["state"] == "succeeded"
    refused = other.carry_out(second)
    assert refused["failed"]
    assert "another deployment has begun" in refused["msg"]


@pytest.mark.parametrize("deployed", [False, True])
def test_a_plan_for_one_cluster_does_not_begin_on_another(*, deployed: bool) -> None:
    someone = deployer(kyma("2.9"))
    if deployed:
        someone.deploy()
        someone.materials.given = kyma("2.10")
    planned = someone.plan()
    other = healthy_cluster()
    someone.cluster = other
    refused = someone.carry_out(planned)
    assert "this is not the one that the plan was made for" in refused["msg"]
    assert not [one for one in other.requests if one.writes]


def test_a_plan_reads_the_identity_of_the_cluster_only_without_a_recorded_run() -> None:
    cluster = healthy_cluster()
    someone = deployer(kyma("2.9"), cluster=cluster)
    identity = Ref("", "Namespace", "", "kube-system")
    someone.deploy()
    assert [one.ref for one in cluster.requests].count(identity) == 2
    cluster.requests.clear()
    someone.deploy()
    someone.materials.given = kyma("2.10")
    someone.deploy()
    assert identity not in [one.ref for one in cluster.requests]


def test_a_user_without_the_right_to_identify_the_cluster_may_deploy() -> None:
    cluster = healthy_cluster()
    someone = deployer(kyma("2.9"), cluster=cluster)
    refusal = Forbidden("get", status=403, api_message="you may not")
    cluster.fail_when(lambda one: one.ref.name == "kube-system", refusal)
    assert someone.deploy()["state"] == "succeeded"


def test_a_record_that_must_not_be_there_yet_is_not_taken_over() -> None:
    someone = deployer_after(kyma("2.9"))
    with pytest.raises(StaleInstallation):
        write_installation(someone.cluster, Installation(target="2.10"))
    assert versions(someone)[1] == "2.9"


def test_a_record_that_was_deleted_since_is_not_made_by_what_was_read_of_it() -> None:
    someone = deployer_after(kyma("2.9"))
    seen = read_installation(someone.cluster)
    someone.cluster.delete(API_VERSION, "KymaInstallation", INSTALLATION_NAME)
    with pytest.raises(StaleInstallation):
        write_installation(someone.cluster, replace(seen, target="2.10"))
    assert read_installation(someone.cluster) == Installation()


def test_a_plan_is_bound_to_what_the_components_consisted_of() -> None:
    someone = deployer_after(kyma("2.9"))
    upgrade = deployer(kyma("2.10"), cluster=someone.cluster)
    planned = upgrade.plan()
    [logging] = [one for name, one in read_inventories(someone.cluster).items() if name == "logging"]
    write_inventory(someone.cluster, replace(logging, digest="something else"))
    refused = upgrade.carry_out(planned)
    assert "another deployment has begun" in refused["msg"]
    assert versions(someone) == ("2.9", "2.9")
