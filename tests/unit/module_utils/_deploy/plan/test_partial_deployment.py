# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Some components alone, on the in-memory cluster."""

from __future__ import annotations

from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.partial_deployment import (
    partial_deployment_problems,
    partial_deployment_warnings,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.inventory.inventory import Inventory
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    GLOBAL,
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.driver import (
    Deployer,
    config_map,
    deployer,
    deployer_after,
    deployment,
    memory,
    only_reads,
    release,
)


def kyma(version: str = "2.9", logging: str = "info") -> Release:
    return release(
        version,
        {
            "istio": (ComponentEntry("istio", "kyma-system", prerequisite=True), [deployment("istiod")]),
            "logging": [config_map("settings", level=logging)],
            "telemetry": (
                ComponentEntry("telemetry", "kyma-system", needs=("logging",)),
                [config_map("pipelines", v=version)],
            ),
            "monitoring": [config_map("rules", v=version)],
        },
    )


def marks(component: str, phase: Phase, seen: list[str]) -> type[Migration]:
    """A migration that notes each of its runs, and is needed again and again."""

    def check(_self: Migration, ctx: Context) -> Verdict:
        done = ctx.cluster.get("v1", "ConfigMap", f"{component}-{phase.value}", "default")
        return not_needed("it was done") if done else needed("it was not done")

    def work(self_: Migration, ctx: Context) -> None:
        if not ctx.rehearsal:
            seen.append(self_.id())
        meta = {"name": f"{component}-{phase.value}", "namespace": "default"}
        ctx.cluster.apply({**config_map("", done="yes"), "metadata": meta})

    body = {"component": component, "phase": phase, "name": phase.value, "keep": "for tests"}
    return type("Marks", (Migration,), {**body, "check": check, "run": work})


def data(someone: Deployer, name: str) -> Any:
    config_map = someone.cluster.get("v1", "ConfigMap", name, "kyma-system")
    return config_map and config_map["data"]


def blockers(alone: list[str], **deployed: str) -> list[str]:
    inventories = {name: Inventory(name, digest=digest) for name, digest in deployed.items()}
    return partial_deployment_problems(kyma().components, alone, inventories)


def test_unknown_names_are_refused_with_those_that_are_near() -> None:
    [blocker] = blockers(["loging"], istio="x")
    assert "no component loging" in blocker
    assert "did you mean logging?" in blocker
    [blocker] = blockers(["xyz"], istio="x")
    assert "istio or logging or telemetry or monitoring" in blocker


def test_components_alone_take_no_hops_and_a_request_for_both_is_refused() -> None:
    someone = deployer_after(kyma("2.9"))
    someone.materials.given, someone.materials.others = kyma("2.12"), (kyma("2.10"), kyma("2.11"))
    someone.options = {"components": ["logging"], "hops": "auto"}
    [blocker] = someone.plan()["blockers"]
    assert blocker == (
        "2.12 can't follow 2.9 directly, as upgrades go one minor version at a time: deploy 2.10, then 2.11"
        " as whole releases first, as components (kyma_components) alone take no hops"
    )
    someone.options = {"hops": "auto"}
    assert someone.plan()["plan"]["version"] == "2.10"


def test_components_alone_need_deployed_needs() -> None:
    assert blockers([]) == []
    assert blockers(["telemetry"], istio="x", logging="x") == []
    assert blockers(["telemetry", "logging", "istio"]) == []
    [blocker] = blockers(["telemetry", "monitoring"], logging="x")
    assert "telemetry, monitoring need istio, which is not deployed" in blocker
    [blocker] = blockers(["telemetry"], istio="x", logging="")
    assert "telemetry needs logging, which is not deployed completely" in blocker


def test_only_another_version_is_warned_of() -> None:
    assert partial_deployment_warnings(["logging"], "2.9", "2.9.0") == ()
    [warning] = partial_deployment_warnings(["logging"], "2.9", "2.10")
    assert "downgrade of them" in warning


def test_only_they_and_the_global_migrations_run_and_the_version_stays() -> None:
    deployer(kyma()).deploy()
    someone = deployer_after(kyma())
    ran: list[str] = []
    every = [marks(name, phase, ran) for name in (GLOBAL, "logging", "monitoring") for phase in Phase]
    newer = deployer(kyma("2.10", logging="debug"), *every, cluster=memory(someone), components=["logging"])
    planned = newer.plan()
    assert planned["plan"]["alone"] == ["logging"]
    assert "Kyma 2.10, logging alone:" in planned["summary"][0]
    assert "downgrade of them" in planned["warnings"][0]
    assert [one["name"] for one in planned["plan"]["components"]] == ["foundation", "logging"]
    ended = newer.carry_out(planned)
    assert ended["state"] == "succeeded"
    assert ran == ["global/pre", "logging/pre", "logging/post", "global/post"]
    assert data(newer, "settings") == {"level": "debug"}
    assert data(newer, "rules") == {"v": "2.9"}
    installation = newer.installation()
    assert (installation.version, installation.target, installation.digest) == ("2.9", "2.9", "")
    assert set(installation.components) == {"foundation", "istio", "logging", "telemetry", "monitoring"}


def test_unchanged_components_alone_need_no_run() -> None:
    someone = deployer_after(kyma())
    again = deployer(kyma(), cluster=memory(someone), components=["logging"])
    with only_reads(memory(someone)):
        assert again.plan()["plan"]["needed"] is False
    assert again.materials.read == []
    newer = deployer(kyma("2.10"), cluster=memory(someone), components=["logging"])
    assert newer.plan()["plan"]["needed"] is False


def test_unknown_names_are_refused_even_with_nothing_to_do() -> None:
    someone = deployer_after(kyma())
    planned = deployer(kyma(), cluster=memory(someone), components=["nothing"]).plan()
    assert planned["failed"]
    assert "no component nothing" in planned["msg"]


def test_the_same_release_leaves_the_cluster_with_all_of_it() -> None:
    someone = deployer_after(kyma())
    someone.cluster.with_field_manager("kubectl-edit").patch(
        "v1", "ConfigMap", "settings", "kyma-system", {"data": {"level": "wrong"}}
    )
    alone = deployer(kyma(), cluster=memory(someone), components=["logging"])
    assert alone.deploy()["state"] == "succeeded"
    assert data(alone, "settings") == {"level": "info"}
    whole = deployer(kyma(), cluster=memory(someone))
    assert whole.plan()["plan"]["needed"] is False
    assert whole.materials.read == []


def test_a_component_that_was_upgraded_alone_is_newer_than_the_release_of_the_cluster() -> None:
    someone = deployer_after(kyma())
    deployer(kyma("2.10", "debug"), cluster=memory(someone), components=["logging"]).deploy()
    refused = deployer(kyma(), cluster=memory(someone)).plan()
    assert refused["failed"]
    assert "logging: it was deployed from 2.10, so 2.9 would be a downgrade" in refused["msg"]
    back = deployer(kyma(), cluster=memory(someone), abandon=True)
    planned = back.plan()
    [logging] = [one for one in planned["plan"]["components"] if one["name"] == "logging"]
    assert logging["action"] == "downgrade"
    assert back.carry_out(planned)["state"] == "succeeded"
    assert data(back, "settings") == {"level": "info"}


def test_the_first_of_a_cluster_may_be_some_components() -> None:
    someone = deployer(kyma(), components=["istio", "logging"])
    assert someone.deploy()["state"] == "succeeded"
    installation = someone.installation()
    assert (installation.version, installation.target) == ("", "")
    whole = deployer(kyma(), cluster=memory(someone))
    planned = whole.plan()
    actions = {one["name"]: one["action"] for one in planned["plan"]["components"]}
    assert actions == {
        "foundation": "unchanged",
        "istio": "unchanged",
        "logging": "unchanged",
        "telemetry": "install",
        "monitoring": "install",
    }
    assert whole.carry_out(planned)["state"] == "succeeded"
    assert whole.installation().version == "2.9"
