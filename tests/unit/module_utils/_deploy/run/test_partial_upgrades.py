# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Of an upgraded component a run writes what the plan has looked at, and that is all that it takes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._release.model import ComponentEntry, Release
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.records.inventories import read_inventories
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

from tests.support.driver import Deployer, config_map, crd, custom, deployer, deployment, job, release, secret
from tests.unit.module_utils._deploy.desired.test_unchanged_components import WAYS, deployed
from tests.unit.module_utils._deploy.plan.test_planning import edit

NAMESPACE = "kyma-system"
OTHER = {"other": [config_map("other")]}


def app(version: str, *objects: Object) -> Release:
    """A release whose component ``app`` is another one in each version."""
    return release(version, {"app": [*objects, config_map("app", version=version)], **OTHER})


def upgraded(someone: Deployer, after: Release, **options: Any) -> None:
    someone.materials.given = after
    someone.options = options
    assert someone.deploy()["state"] == "succeeded"


def data_of(someone: Deployer, name: str) -> Any:
    config_map = someone.cluster.get("v1", "ConfigMap", name, NAMESPACE)
    assert config_map is not None
    return config_map["data"]


def secrets(value: str) -> tuple[Object, Object]:
    """One that stays, and one with a value of its own in each version."""
    return secret("stays", password="always"), secret("changed", password=value)


@WAYS
def test_changed_and_drifted_objects_are_written(way: dict[str, str]) -> None:
    someone = deployed(
        app("2.9", deployment("kept"), *secrets("1"), config_map("moved", a="1"), config_map("old"))
    )
    edit(someone, "v1", "ConfigMap", "moved", {"data": {"a": "9"}})
    assert isinstance(someone.cluster, MemoryCluster)
    start = len(someone.cluster.requests)
    after = app("2.10", deployment("kept"), *secrets("2"), config_map("moved", a="1"), config_map("new"))
    upgraded(someone, after, **way)
    assert {
        f"{one.verb} {one.ref.kind} {one.ref.name}"
        for one in someone.cluster.requests[start:]
        if one.writes and one.ref and one.ref.namespace == NAMESPACE
    } == {
        "apply ConfigMap app",
        "apply ConfigMap moved",
        "apply ConfigMap new",
        "apply Secret changed",
        "delete ConfigMap old",
    }
    assert len(read_inventories(someone.cluster)["app"].refs) == 6
    assert not someone.plan()["plan"]["needed"]


def test_an_unchanged_object_has_to_be_healthy_as_well() -> None:
    someone = deployed(app("2.9", deployment("kept")))
    stuck = {
        "type": "Progressing",
        "status": "False",
        "reason": "ProgressDeadlineExceeded",
        "message": "stuck",
    }
    status = {"status": {"conditions": [stuck], "availableReplicas": 0}}
    someone.cluster.patch("apps/v1", "Deployment", "kept", NAMESPACE, status, subresource="status")
    someone.materials.given = app("2.10", deployment("kept"))
    result = someone.deploy()
    assert result["failed"]
    assert f"Deployment {NAMESPACE}/kept: stuck" in str(result)


class DropsKey(Migration):
    """Takes a key out with 2.10."""

    component = "app"
    phase = Phase.POST
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        settings = ctx.cluster.get("v1", "ConfigMap", "settings", NAMESPACE)
        if ctx.release == "2.10" and settings and "gone" in settings["data"]:
            return needed("the key is there")
        return not_needed("the key is not there")

    def run(self, ctx: Context) -> None:
        ctx.cluster.patch("v1", "ConfigMap", "settings", NAMESPACE, {"data": {"gone": None}})


def test_a_way_back_writes_all_that_its_plan_shows() -> None:
    def make(version: str, image: str) -> Release:
        mine = [config_map("settings", gone="1"), config_map("app", version=version)]
        return release(version, {"app": mine, "other": [deployment("other", image)]})

    someone = deployed(make("2.9", "nginx"), DropsKey)
    someone.materials.given = make("2.10", "broken")
    assert someone.deploy()["failed"]
    assert data_of(someone, "settings") == {}
    upgraded(someone, make("2.9", "nginx"), abandon=True)
    assert data_of(someone, "settings") == {"gone": "1"}


def thing(*fields: str) -> Object:
    """A definition whose server drops all other fields."""
    made = crd("Thing")
    spec = {"type": "object", "properties": {name: {"type": "string"} for name in fields}}
    made["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = {
        "type": "object",
        "properties": {"spec": spec},
    }
    return made


def spec_of_thing(someone: Deployer) -> Any:
    thing = someone.cluster.get("example.com/v1", "Thing", "one", NAMESPACE)
    assert thing is not None
    return thing["spec"]


def with_definition_in(place: str, version: str, *fields: str, image: str = "nginx") -> Release:
    ours = [custom("Thing", "one", a="1", b="2"), config_map("app", version=version)]
    first = ComponentEntry("first", NAMESPACE, prerequisite=True)
    if place == "app":
        return release(version, {"app": [thing(*fields), *ours], **OTHER})
    if place == "another component":
        return release(version, {"first": (first, [thing(*fields)]), "app": ours})
    return release(
        version, {"first": (first, [deployment("first", image)]), "app": ours}, crds=[thing(*fields)]
    )


@pytest.mark.parametrize("place", ["app", "another component", "the release's definitions"])
def test_a_field_arrives_whose_definition_comes_later(place: str) -> None:
    someone = deployed(with_definition_in(place, "2.9", "a"))
    upgraded(someone, with_definition_in(place, "2.10", "a", "b"))
    assert spec_of_thing(someone) == {"a": "1", "b": "2"}


def test_a_field_arrives_whose_definition_came_with_a_run_that_failed() -> None:
    place = "the release's definitions"
    someone = deployed(with_definition_in(place, "2.9", "a"))
    someone.materials.given = with_definition_in(place, "2.10", "a", "b", image="broken")
    assert someone.deploy()["failed"]
    upgraded(someone, with_definition_in(place, "2.10", "a", "b"))
    assert spec_of_thing(someone) == {"a": "1", "b": "2"}


@pytest.mark.parametrize("option", ["takeover", "force_conflicts"])
def test_a_field_that_others_have_taken_is_taken_back_on_request(option: str) -> None:
    someone = deployed(app("2.9", config_map("settings", a="1")))
    others = someone.cluster.with_field_manager("helm")
    others.patch("v1", "ConfigMap", "settings", NAMESPACE, {"data": {"a": "theirs"}})
    assert someone.deploy()["plan"]["needed"] is False
    upgraded(someone, app("2.10", config_map("settings", a="1")), **{option: True})
    assert data_of(someone, "settings") == {"a": "1"}


def test_a_field_that_others_have_added_during_a_run_is_removed_on_request() -> None:
    someone = deployer(app("2.9", config_map("settings", a="1")))
    assert isinstance(someone.cluster, MemoryCluster)
    added: list[str] = []

    def add(cluster: Any, event: Any) -> None:
        if event.object["metadata"]["name"] == "settings" and not added:
            added.append("extra")
            controller = cluster.with_field_manager("some-controller")
            controller.patch("v1", "ConfigMap", "settings", NAMESPACE, {"data": {"extra": "1"}})

    someone.cluster.on_write(add)
    assert someone.deploy()["state"] == "succeeded"
    assert data_of(someone, "settings") == {"a": "1", "extra": "1"}
    upgraded(someone, app("2.10", config_map("settings", a="1")), strict_drift=True)
    assert data_of(someone, "settings") == {"a": "1"}


def test_a_job_that_stays_from_now_on_is_missed_when_it_is_gone() -> None:
    def passing(name: str) -> Object:
        made = job(name)
        return {**made, "spec": {**made["spec"], "ttlSecondsAfterFinished": 5}}

    someone = deployed(app("2.9", passing("one"), passing("two")))
    upgraded(someone, app("2.10", passing("one"), job("two")))
    someone.cluster.delete("batch/v1", "Job", "two", NAMESPACE)
    assert someone.plan()["plan"]["needed"]
