# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that move to another component, and components that move to another namespace."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry

from tests.support.driver import Deployer, config_map, deployer_after, job, release
from tests.unit.module_utils._deploy.plan.test_planning import drift_of

STAYS = {"a": [config_map("a")], "b": [config_map("b")]}


def with_one_in(component: str, version: str, moving: dict[str, Any]) -> Any:
    """A release of two components, with an object in one of them."""
    return release(
        version,
        {name: [*objects, moving] if name == component else objects for name, objects in STAYS.items()},
    )


def moved(manager: str) -> tuple[Deployer, dict[str, Any]]:
    """An object with an addition that was told, and the plan to move it from a to b."""
    someone = deployer_after(with_one_in("a", "2.9", config_map("c", x="1")))
    someone.cluster.with_field_manager(manager).patch(
        "v1", "ConfigMap", "c", "kyma-system", {"data": {"extra": "1"}}
    )
    assert drift_of(someone.deploy(), "a") == [("data.extra", manager, "kept")]
    someone.materials.given = with_one_in("b", "2.10", config_map("c", x="1"))
    return someone, someone.plan()


@pytest.mark.parametrize("manager", ["kubectl-client-side-apply", "kubectl-edit"])
def test_an_addition_stays_with_an_object_that_moves_and_is_not_reported_again(manager: str) -> None:
    someone, planned = moved(manager)
    assert drift_of(planned, "b") == []
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert someone.cluster.get("v1", "ConfigMap", "c", "kyma-system")["data"] == {"x": "1", "extra": "1"}


def test_a_finished_job_that_moves_is_not_run_again() -> None:
    setup = job("setup")
    setup["spec"]["ttlSecondsAfterFinished"] = 0
    someone = deployer_after(with_one_in("a", "2.9", setup))
    someone.cluster.delete("batch/v1", "Job", "setup", "kyma-system")
    someone.materials.given = with_one_in("b", "2.10", setup)
    assert someone.deploy()["state"] == "succeeded"
    assert someone.cluster.get("batch/v1", "Job", "setup", "kyma-system") is None
    assert not someone.plan()["plan"]["needed"]


@pytest.mark.parametrize(
    "later", [{"b": "ns1", "a": "ns2"}, {"d": "ns1", "a": "ns2"}], ids=["swapped", "in place of another"]
)
def test_a_component_that_moves_to_a_namespace_of_another_is_deployed_there(later: dict[str, str]) -> None:
    def of(version: str, places: dict[str, str]) -> Any:
        return release(
            version, {n: (ComponentEntry(n, place), [config_map(n)]) for n, place in places.items()}
        )

    someone = deployer_after(of("2.9", {"a": "ns1", "b": "ns2"}))
    someone.materials.given = of("2.10", later)
    assert someone.deploy()["state"] == "succeeded"
    namespaces = {
        o["metadata"]["name"]: o["metadata"]["namespace"]
        for o in someone.cluster.list("v1", "ConfigMap").items
    }
    assert {name: namespaces[name] for name in later} == later
