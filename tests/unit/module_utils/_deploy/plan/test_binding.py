# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan is bound to, and what is told when that has changed."""

from __future__ import annotations

import base64
import json
from typing import Any

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._deploy.plan.binding import (
    deviations,
    differences_of_later_hop,
    input_differences,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import hold
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.driver import Deployer, config_map, deployer, deployment, only_reads, release, secret

CANARY = "canary-value"


def objects(level: str = "info") -> list[Object]:
    return [config_map("settings", level=level), deployment("loki"), secret("token", t=CANARY + level)]


def planning(version: str = "2.9", level: str = "info", **more: Any) -> Deployer:
    return deployer(release(version, {"logging": objects(level)}), plan_out="plan.json", **more)


def deployed() -> Deployer:
    someone = planning()
    assert someone.deploy()["state"] == "succeeded"
    return someone


def saw(someone: Deployer) -> dict[str, Any]:
    assert isinstance(someone.cluster, MemoryCluster)
    with only_reads(someone.cluster):
        return dict(someone.plan()["plan_inputs"])


def edit(someone: Deployer, kind: str, name: str, patch: dict[str, Any]) -> None:
    someone.cluster.with_field_manager("kubectl-edit").patch("v1", kind, name, "kyma-system", patch)


def upgrade(someone: Deployer, **more: Any) -> Deployer:
    return planning("2.10", "debug", cluster=someone.cluster, **more)


def test_an_empty_field_that_an_older_plan_lacks_is_no_difference() -> None:
    old = {"migration": {"a/b": {"verdict": "needed"}}}
    new = {"migration": {"a/b": {"verdict": "needed", "depends_on": [], "unverified": False}}}
    assert input_differences(old, new) == input_differences(new, old) == []
    new["migration"]["a/b"]["depends_on"] = ["c/d"]
    assert input_differences(old, new) == [
        "migration a/b depends_on: the plan has nothing, and now it is c/d"
    ]


def test_without_a_change_there_is_no_difference() -> None:
    someone = deployed()
    assert input_differences(saw(someone), saw(someone)) == []
    assert input_differences(saw(upgrade(someone)), saw(upgrade(someone))) == []
    first = planning()
    assert input_differences(saw(first), saw(first)) == []


def test_only_a_stored_plan_contains_its_inputs() -> None:
    someone = deployer(release("2.9", {"logging": objects()}))
    assert "plan_inputs" not in someone.plan()


def test_another_release_or_another_rendering() -> None:
    someone = deployed()
    differences = input_differences(
        saw(upgrade(someone)), saw(planning("2.10", "trace", cluster=someone.cluster))
    )
    assert "the release, its values, or the tools that render it are others" in differences
    assert "component logging content is not what it was" in differences


def test_another_deployment_meanwhile() -> None:
    someone = deployed()
    before = saw(upgrade(someone))
    upgrade(someone).deploy()
    differences = input_differences(before, saw(upgrade(someone)))
    assert "another run has deployed to the cluster since" in differences
    assert "component logging action: the plan has upgrade, and now it is unchanged" in differences


def test_a_hold_neither_counts_as_a_deployment_nor_lets_the_plan_through() -> None:
    for someone in (upgrade(deployed()), planning()):
        planned = someone.plan()
        someone.task(hold.DEFINITION, reason="the auditors are here")
        refused = someone.plan()
        assert refused["failed"]
        assert "the auditors are here" in refused["msg"]
        assert "the auditors are here" in someone.carry_out(planned)["msg"]
        someone.task(hold.DEFINITION, state="absent")
        assert input_differences(planned["plan_inputs"], saw(someone)) == []
        assert someone.carry_out(planned)["state"] == "succeeded"


def test_an_object_that_would_change_otherwise() -> None:
    someone = deployed()
    before = saw(upgrade(someone))
    edit(someone, "ConfigMap", "settings", {"data": {"level": "else"}})
    [difference] = input_differences(before, saw(upgrade(someone)))
    assert difference.startswith(
        "component logging object ConfigMap kyma-system/settings: the plan has change data.level ["
    )
    edit(someone, "ConfigMap", "settings", {"data": {"more": "x"}})
    edited = saw(upgrade(someone))
    edit(someone, "ConfigMap", "settings", {"data": {"level": "info"}})
    assert input_differences(edited, saw(upgrade(someone)))


def test_a_status_that_controllers_write_is_no_difference() -> None:
    someone = deployed()
    before = saw(upgrade(someone))
    someone.cluster.with_field_manager("controller").patch(
        "apps/v1",
        "Deployment",
        "loki",
        "kyma-system",
        {"status": {"observedGeneration": 7}},
        subresource="status",
    )
    assert input_differences(before, saw(upgrade(someone))) == []


def test_different_options_are_differences() -> None:
    someone = deployed()
    differences = input_differences(saw(upgrade(someone)), saw(upgrade(someone, force_conflicts=True)))
    assert differences == ["force_conflicts (kyma_force_conflicts) differs from the plan"]
    differences = input_differences(
        saw(upgrade(someone)), saw(upgrade(someone, migration_variables={"x": CANARY}))
    )
    assert differences == ["migration_variables (kyma_migration_variables) differs from the plan"]


def test_another_cluster_is_a_difference() -> None:
    differences = input_differences(saw(upgrade(deployed())), saw(upgrade(deployed())))
    assert "this is not the cluster that the plan was made for" in differences


def on_the_way(someone: Deployer, *, last: str = "trace", between: str = "debug") -> Deployer:
    """Somebody with 2.11 in mind, and 2.10 at hand."""
    newer = planning("2.11", last, cluster=someone.cluster, hops="auto")
    newer.materials.others = (release("2.10", {"logging": objects(between)}),)
    return newer


def test_a_way_is_bound_to_every_release_on_it() -> None:
    someone = deployed()
    before = saw(on_the_way(someone))
    assert input_differences(before, saw(on_the_way(someone))) == []
    assert input_differences(before, saw(on_the_way(someone, last="error"))) == [
        "hop to 2.11: the release, its values, or the tools that render it are others"
    ]


def test_a_later_hop_is_bound_to_its_release_and_options_and_not_to_its_objects() -> None:
    someone = deployed()
    code = {"migration code": "a digest"}
    before = saw(on_the_way(someone)) | code
    upgrade(someone).deploy()
    edit(someone, "ConfigMap", "settings", {"data": {"level": "else"}})
    turn = planning("2.11", "trace", cluster=someone.cluster)
    assert differences_of_later_hop(before, saw(turn) | code, "2.11") == []
    assert deviations(before, turn.plan()["plan"]) == []
    other = planning("2.11", "error", cluster=someone.cluster, force_conflicts=True)
    differences = differences_of_later_hop(before, saw(other) | {"migration code": "another"}, "2.11")
    assert sorted(differences) == [
        "force_conflicts (kyma_force_conflicts) differs from the plan",
        "the code of the migrations, or of this collection, is another",
        "the release, its values, or the tools that render it are others",
    ]


def test_a_later_hop_that_deviates_from_its_prediction_is_reported() -> None:
    someone = deployed()
    before = saw(on_the_way(someone))
    upgrade(someone).deploy()
    planning("2.11", "trace", cluster=someone.cluster, components=["logging"]).deploy()
    plan = planning("2.11", "trace", cluster=someone.cluster).plan()["plan"]
    [deviation] = deviations(before, plan)
    assert deviation == "component logging: the plan has upgrade, and now it is unchanged"


def test_no_secret_is_in_it() -> None:
    someone = deployed()
    edit(someone, "Secret", "token", {"data": {"t": "Y2FuYXJ5LXZhbHVlMg=="}})
    said = json.dumps([saw(someone), saw(upgrade(someone, migration_variables={"x": CANARY}))])
    assert CANARY not in said
    assert base64.b64encode(CANARY.encode()).decode()[:12] not in said
    assert '"Secret kyma-system/token": "change data.t"' in said


def test_only_the_first_of_many_differences_are_listed() -> None:
    differences = input_differences({str(number): number for number in range(1, 31)}, {})
    assert len(differences) == 11
    assert differences[-1] == "and 20 more"
