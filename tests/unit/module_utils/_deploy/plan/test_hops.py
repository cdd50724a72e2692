# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The way over several releases, and plans of it: on the in-memory cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.hops import find_hops
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.driver import (
    Deployer,
    FakeMaterials,
    config_map,
    crd,
    custom,
    deployer,
    deployment,
    healthy_cluster,
    memory,
    only_reads,
    release,
)


@dataclass(frozen=True)
class Stop:
    version: str
    upgrades_from: tuple[str, ...] = ()


def way(desired: str, at_hand: str, version: str, target: str = "") -> str | None:
    stops = [Stop(one) for one in at_hand.split()]
    hops = find_hops(Stop(desired), stops, version, target or version)
    return None if hops is None else " ".join(stop.version for stop in hops)


@pytest.mark.parametrize(
    ("desired", "at_hand", "version", "target", "expected"),
    [
        ("2.11", "2.9 2.10 2.11", "", "", "2.11"),
        ("2.10", "2.9 2.10 2.11", "2.9", "", "2.10"),
        ("2.11", "2.9 2.10 2.11", "2.9", "", "2.10 2.11"),
        ("2.12", "2.11 2.9 2.10", "2.9", "", "2.10 2.11 2.12"),
        ("2.11", "2.10 2.10.4 2.10.2", "2.9", "", "2.10.4 2.11"),
        ("2.11", "2.10 2.10.1-rc1", "2.9", "", "2.10 2.11"),
        ("2.11", "2.10-rc1 2.10-rc2", "2.9", "", "2.10-rc2 2.11"),
        ("2.12", "2.10 2.10.1-rc1 2.11-rc1", "2.9", "", "2.10 2.11-rc1 2.12"),
        ("2.11-rc1", "2.10 2.10.1-rc1", "2.9", "", "2.10 2.11-rc1"),
        ("2.11", "2.10-rc1 2.10", "2.9", "2.10-rc1", "2.10-rc1 2.11"),
        ("2.11", "2.9 2.10", "2.9", "2.10", "2.10 2.11"),
        ("2.11", "2.9 2.10.0", "2.9", "2.10", "2.10.0 2.11"),
        ("2.11", "2.10+b 2.10+a", "2.9", "2.10+a", "2.10+a 2.11"),
        ("2.11", "2.9 2.10", "", "2.9", "2.9 2.10 2.11"),
        ("2.11", "2.9 2.10", "2.10", "2.11", "2.11"),
        ("2.11", "2.9", "2.9", "", None),
        ("2.12", "2.10", "2.9", "", None),
        ("2.9", "2.8 2.9 2.10", "2.10", "", None),
        ("2.11", "2.9", "2.9", "2.10", None),
    ],
)
def test_the_way(desired: str, at_hand: str, version: str, target: str, expected: str | None) -> None:
    assert way(desired, at_hand, version, target) == expected


def test_the_way_follows_the_versions_that_a_release_may_follow() -> None:
    stops = [Stop("2.10"), Stop("2.11", ("2.9",))]
    hops = find_hops(Stop("2.12"), stops, "2.9", "2.9")
    assert hops
    assert [stop.version for stop in hops] == ["2.11", "2.12"]


def kyma(version: str, **more: Any) -> Release:
    """Each release changes the same object; the one of 2.10 brings a kind, and 2.11 has one of it."""
    objects = [config_map("settings", v=version), deployment("loki")]
    later = version != "2.9"
    return release(
        version,
        {"logging": objects, **({"gateway": [custom("Gateway", "kyma", host=version)]} if later else {})},
        crds=[crd("Gateway")] if later else [],
        **more,
    )


class FollowsTen(Migration):
    """It is only needed once 2.10 is there, and makes way for 2.11."""

    component = "logging"
    phase = Phase.PRE
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        if ctx.cluster.get("v1", "ConfigMap", "made-way", "default"):
            return not_needed("it has run")
        settings = ctx.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
        return (
            needed("it is 2.10")
            if settings and settings["data"] == {"v": "2.10"}
            else not_needed("it is not")
        )

    def run(self, ctx: Context) -> None:
        meta = {"name": "made-way", "namespace": "default"}
        ctx.cluster.apply({**config_map("", done="yes"), "metadata": meta})


def on_2_9(*others: Release, desired: Release | None = None) -> Deployer:
    """Somebody with 2.9 in the cluster who wants 2.11, with other releases at hand."""
    cluster = healthy_cluster()
    assert deployer(kyma("2.9"), cluster=cluster).deploy()["state"] == "succeeded"
    materials = FakeMaterials(desired or kyma("2.11"), (FollowsTen,), others=others)
    return Deployer(cluster, materials, {"hops": "auto"})


def changed(planned: Result | dict[str, Any]) -> dict[str, list[str]]:
    return {
        one["name"]: [f"{change['action']} {change['kind']}" for change in one["changes"]]
        for one in planned["components"]
        if one["changes"]
    }


def test_the_first_hop_is_exact_and_the_rest_is_provisional() -> None:
    someone = on_2_9(kyma("2.9"), kyma("2.10"))
    with only_reads(memory(someone)):
        planned = someone.plan(check_mode=True)
    plan = planned["plan"]
    assert (plan["previous"], plan["version"]) == ("2.9", "2.10")
    assert plan["hops"] == [{"release": "2.10", "profile": "none"}, {"profile": "none"}]
    assert changed(plan) == {
        "foundation": ["create CustomResourceDefinition"],
        "logging": ["change ConfigMap"],
        "gateway": ["create Gateway"],
    }
    [later] = plan["later"]
    assert later["blockers"] == []
    assert (later["previous"], later["version"]) == ("2.10", "2.11")
    assert changed(later) == {"logging": ["change ConfigMap"], "gateway": ["change Gateway"]}
    assert [one["verdict"] for one in plan["migrations"]] == ["not_needed"]
    assert [one["verdict"] for one in later["migrations"]] == ["needed"]
    titles = [line for line in planned["summary"] if not line.startswith(" ")]
    assert titles == [
        "Kyma 2.9 → 2.10, hop 1 of 2, exact:",
        "Plan of hop 1: 2 to create, 1 to change, 0 to delete, 0 migrations",
        "Kyma 2.10 → 2.11, hop 2 of 2, provisional: planned again when it is its turn:",
        "Plan of hop 2: 1 to create, 2 to change, 0 to delete, 1 migration",
    ]
    assert any("(2.11, provisional)" in one["after_header"] for one in planned["diff"])


def test_each_hop_is_a_run_and_the_provisional_plan_was_right() -> None:
    someone = on_2_9(kyma("2.10"))
    planned = someone.plan()
    someone.materials.given = kyma("2.10")
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.installation().version == "2.10"
    someone.materials.given, someone.materials.others = kyma("2.11"), ()
    second = someone.plan()
    assert changed(second["plan"]) == changed(planned["plan"]["later"][0])
    assert someone.carry_out(second)["state"] == "succeeded"
    assert someone.installation().version == "2.11"


def test_objects_that_a_hop_prunes_are_not_pruned_by_later_hops() -> None:
    claim: Object = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    first = {"logging": [config_map("settings"), config_map("old")], "kiali": [config_map("kiali")]}
    someone = deployer(release("2.9", {**first, "jaeger": [config_map("jaeger"), claim]}), prune=True)
    assert someone.deploy()["state"] == "succeeded"
    later, last = (release(v, {"logging": [config_map("settings", v=v)]}) for v in ("2.10", "2.11"))
    someone.options["hops"], someone.materials.given, someone.materials.others = "auto", last, (later,)
    planned = someone.plan()["plan"]
    assert {one["name"]: one["action"] for one in planned["components"]} == {
        "foundation": "unchanged",
        "logging": "upgrade",
        "kiali": "delete",
        "jaeger": "delete",
    }
    [second] = planned["later"]
    assert changed(second) == {"logging": ["change ConfigMap"]}
    assert {one["name"]: (one["action"], one["objects"]) for one in second["components"]} == {
        "foundation": ("unchanged", 1),
        "logging": ("upgrade", 1),
        "jaeger": ("orphaned", 1),
    }
    assert second["prune"] == []


def test_a_way_that_has_a_gap_is_refused_and_names_what_is_at_hand() -> None:
    refused = on_2_9(kyma("2.9")).plan()
    assert "deploy 2.10 first" in refused["msg"]
    assert "hops=auto (kyma_hops) finds no path: the available releases are 2.9" in refused["msg"]


def test_a_possible_blocker_of_a_later_hop_is_reported_and_does_not_block_the_first() -> None:
    bad = release("2.11", {"logging": [{**config_map("settings"), "kind": "Nonsense"}]})
    planned = on_2_9(kyma("2.10"), desired=bad).plan()
    assert not planned.get("failed")
    assert any(line.startswith("  blocked?  logging: ") for line in planned["summary"])


def test_a_blocked_first_hop_blocks_all() -> None:
    bad = release("2.10", {"logging": [{**config_map("settings"), "kind": "Nonsense"}]})
    assert "Kyma 2.10 can't be deployed now" in on_2_9(bad).plan()["msg"]


def test_without_a_gap_there_is_one_hop() -> None:
    someone = on_2_9(kyma("2.9"), desired=kyma("2.10"))
    someone.materials.classes = ()
    plan = someone.plan()["plan"]
    assert plan["hops"] == [{"profile": "none"}]
    assert plan["later"] == []
    assert someone.deploy()["state"] == "succeeded"
    someone.materials.read.clear()
    assert someone.plan()["plan"]["needed"] is False
    assert someone.materials.read == []


def test_of_an_orphan_only_what_no_other_component_has_is_left_for_a_later_hop() -> None:
    team: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    moved = config_map("moved")
    logging, jaeger = [config_map("settings")], [config_map("jaeger"), team]
    first = {"logging": logging, "kiali": [config_map("kiali"), moved], "jaeger": jaeger}
    someone = deployer(release("2.9", first), prune=True)
    assert someone.deploy()["state"] == "succeeded"
    later = release("2.10", {"logging": [*logging, moved]})
    last = release("2.11", {"logging": [*logging, moved], "jaeger": jaeger})
    someone.options["hops"], someone.materials.given, someone.materials.others = "auto", last, (later,)
    [second] = someone.plan()["plan"]["later"]
    # Jaeger is not mistaken for a component that is there as a whole.
    assert {one["name"]: one["action"] for one in second["components"]} == {
        "foundation": "unchanged",
        "logging": "unchanged",
        "jaeger": "resume",
    }
