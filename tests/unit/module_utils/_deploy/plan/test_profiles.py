# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan takes the profile that the cluster has, and changes it only if the user allows that."""

from __future__ import annotations

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._carrier.task import Result
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._tasks import component

from tests.support.driver import Deployer, FakeMaterials, config_map, healthy_cluster, release

PROFILES = ("", "production", "evaluation")


def of_charts(version: str) -> dict[str, Release]:
    """A release in each of its profiles."""
    return {
        one: release(
            version, {"shop": [config_map("settings", size=one or "plain", version=version)]}, profile=one
        )
        for one in PROFILES
    }


class MaterialsOfCharts(FakeMaterials):
    """A release whose fingerprint does not depend on its profile."""

    def fingerprint(self) -> str:
        return f"fingerprint of {self.given.version}"


def user(deployed: str = "", **options: object) -> Deployer:
    """A user with a cluster in a profile, who no longer names this profile."""
    releases = of_charts("2.9")
    materials = MaterialsOfCharts(releases[deployed], profiles=releases)
    someone = Deployer(healthy_cluster(), materials, {"profile": deployed})
    assert someone.deploy()["state"] == "succeeded"
    someone.options = dict(options)
    return someone


def upgrading(someone: Deployer) -> Deployer:
    someone.materials.profiles = of_charts("2.10")
    someone.materials.given = someone.materials.profiles[""]
    return someone


def size(someone: Deployer) -> str:
    settings = someone.cluster.get("v1", "ConfigMap", "settings", "kyma-system")
    assert settings
    return str(settings["data"]["size"])


def title(planned: Result) -> str:
    return str(planned["summary"][0])


def test_an_upgrade_takes_the_deployed_profile() -> None:
    someone = upgrading(user("production"))
    assert title(someone.plan()) == "Kyma 2.9 → 2.10 (deployed profile production):"
    assert someone.deploy()["state"] == "succeeded"
    assert size(someone) == "production"
    assert someone.installation().profile == "production"


def test_nothing_to_do_reads_no_release_if_the_profile_is_not_named() -> None:
    someone = user("production")
    someone.materials.unreadable = True
    planned = someone.plan()
    assert not planned["plan"]["needed"]
    assert title(planned).startswith("Kyma 2.9 (deployed profile production): nothing to do")


@pytest.mark.parametrize(("profile", "shown"), [("none", "none"), ("evaluation", "evaluation")])
def test_another_profile_needs_a_word(profile: str, shown: str) -> None:
    someone = upgrading(user("production", profile=profile))
    refused = someone.plan()
    assert f"profile production → {shown}: the cluster has profile production" in refused["msg"]
    someone.options["change_profile"] = True
    planned = someone.plan()
    assert title(planned) == f"Kyma 2.9 → 2.10 (profile production → {shown}):"
    assert planned["plan"]["previous_profile"] == "production"
    assert someone.deploy()["state"] == "succeeded"
    assert size(someone) == (profile if profile != "none" else "plain")


def test_a_profile_for_a_cluster_without_one_needs_a_word_too() -> None:
    someone = user()
    someone.options = {"profile": "production"}
    assert "profile none → production: the cluster has no profile" in someone.plan()["msg"]


def test_a_change_without_effect_on_objects_is_recorded() -> None:
    someone = user("production", profile="evaluation", change_profile=True)
    same = {
        one: release("2.9", {"shop": [config_map("settings", size="production")]}, profile=one)
        for one in PROFILES
    }
    someone.materials.profiles = same
    assert title(someone.plan()) == "Kyma 2.9 (profile production → evaluation):"
    assert someone.deploy()["state"] == "succeeded"
    assert someone.installation().profile == "evaluation"
    assert not someone.plan()["plan"]["needed"]


def test_after_a_deletion_any_profile_is_that_of_a_new_cluster() -> None:
    someone = user("production")
    someone.delete()
    someone.options = {"profile": "evaluation"}
    assert title(someone.plan()) == "Kyma 2.9 (evaluation):"


def test_a_component_outside_of_a_run_has_the_deployed_profile_too() -> None:
    someone = user("production")
    assert not someone.task(component.DEFINITION, names=["shop"]).get("failed")
    assert size(someone) == "production"
    refused = someone.task(component.DEFINITION, names=["shop"], profile="none")
    assert "profile production → none: " in refused["msg"]
    allowed = someone.task(component.DEFINITION, names=["shop"], profile="none", change_profile=True)
    assert not allowed.get("failed")
    assert size(someone) == "plain"
    assert someone.installation().profile == "production"


def test_a_task_of_a_run_has_the_profile_of_the_run() -> None:
    someone = upgrading(user("production"))
    planned = someone.plan()
    someone.materials.given = someone.materials.profiles[""]
    assert someone.carry_out(planned)["state"] == "succeeded"
    assert size(someone) == "production"
    someone = upgrading(user("production"))
    planned = someone.plan()
    someone.options = {"profile": "evaluation"}
    someone.carry_out(planned)
    assert any("its profile" in str(one.get("msg")) for one in someone.results)
    assert size(someone) == "production"
