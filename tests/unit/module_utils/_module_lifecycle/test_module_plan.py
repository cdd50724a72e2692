# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module's plan takes the steps of its run, in their order: in memory."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Invalid
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper, T
from ansible_collections.kyma.lifecycle.plugins.module_utils._objects.apply.diff import manifest_of
from ansible_collections.kyma.lifecycle.plugins.module_utils.migration import (
    Context,
    Migration,
    Phase,
    Verdict,
    needed,
    not_needed,
)

from tests.support.access_reviews import ReviewedCluster
from tests.support.driver import healthy_cluster, only_reads, release
from tests.support.memory_modules import CATALOG, NAMESPACE, ModuleMaterialsOfTest, User, manifest, user


def versions_of(definition: Object, *versions: str) -> Object:
    """The definition in some versions, stored in the first."""
    [one] = definition["spec"]["versions"]
    served = [{**one, "name": version, "storage": version == versions[0]} for version in versions]
    return {**definition, "spec": {**definition["spec"], "versions": served}}


def catalog_of(first: list[Object], second: list[Object]) -> dict[str, Any]:
    """The catalog with other manifests of both versions, and with their managers."""
    catalog = deepcopy(CATALOG)
    for (_place, template), objects in zip(catalog["documents"], (first, second), strict=True):
        spec = template["spec"]
        spec["manager"]["name"] = objects[1]["metadata"]["name"]
        catalog["manifests"][spec["resources"][0]["link"]] = yaml.safe_dump_all(objects)
    return catalog


def test_the_plan_shows_a_definition_as_it_is_after_it_loses_a_version() -> None:
    definition, *rest = manifest("1.0.0")
    catalog = catalog_of(
        [versions_of(definition, "v1alpha1", "v1"), *rest], [versions_of(definition, "v1"), *rest]
    )
    someone = User(healthy_cluster(), ModuleMaterialsOfTest(release("2.9", {}), catalog=catalog))
    assert not someone.manage(channel="regular").get("failed")
    diff = someone.manage(channel="fast", check_mode=True)["diff"]
    [planned] = [yaml.safe_load(one["after"]) for one in diff if one["after_header"].startswith("CustomRes")]
    assert not someone.manage(channel="fast").get("failed")
    live = someone.cluster.get(
        "apiextensions.k8s.io/v1", "CustomResourceDefinition", definition["metadata"]["name"]
    )
    assert live
    assert planned["spec"]["versions"] == live["spec"]["versions"]
    assert [one["name"] for one in live["spec"]["versions"]] == ["v1"]


def test_an_upgrade_that_cannot_rewrite_the_objects_of_a_definition_writes_nothing() -> None:
    definition, *rest = manifest("1.0.0")
    catalog = catalog_of(
        [versions_of(definition, "v1alpha1", "v1"), *rest], [versions_of(definition, "v1"), *rest]
    )
    cluster = healthy_cluster()
    someone = User(cluster, ModuleMaterialsOfTest(release("2.9", {}), catalog=catalog))
    assert not someone.manage(channel="regular").get("failed")
    plural = definition["spec"]["names"]["plural"]
    someone.cluster = ReviewedCluster(cluster, "list", plural)
    with only_reads(cluster):
        refused = someone.manage(channel="fast")
    assert refused["failed"]
    assert f"list {plural}." in refused["msg"]


class WaitsForTheOldManager(Migration):
    """Has work as long as the manager of the first version exists."""

    component = "nats"
    phase = Phase.POST
    keep = "for tests"

    def check(self, ctx: Context) -> Verdict:
        old = ctx.cluster.get("apps/v1", "Deployment", "nats", NAMESPACE)
        return needed("the old manager exists") if old else not_needed("the old manager is gone")

    def run(self, ctx: Context) -> None:
        ctx.cluster.delete("apps/v1", "Deployment", "nats", NAMESPACE)


def test_migrations_after_are_rehearsed_without_the_old_manager() -> None:
    definition, manager, settings = manifest("2.0.0")
    other = {**manager, "metadata": {**manager["metadata"], "name": "nats-operator"}}
    catalog = catalog_of(manifest("1.0.0"), [definition, other, settings])
    materials = ModuleMaterialsOfTest(release("2.9", {}), catalog=catalog)
    someone = User(healthy_cluster(), materials)
    assert not someone.manage(channel="regular").get("failed")
    materials.classes = (WaitsForTheOldManager,)
    diff = someone.manage(channel="fast", check_mode=True)["diff"]
    assert [one["after_header"] for one in diff if not one["after"]] == [
        f"Deployment {NAMESPACE}/nats (deleted)"
    ]
    ended = someone.manage(channel="fast")
    assert not ended.get("failed"), ended["msg"]
    assert [one["state"] for one in ended["migrations"]] == ["not_needed"]


class KeepsTheOldManager(ClusterWrapper):
    """A cluster with a webhook that refuses to delete the manager of the first version."""

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        if call.verb == "delete" and call.name == "nats":
            raise Invalid("delete Deployment nats", status=422, api_message="a webhook refuses it")
        return ask()


def test_an_upgrade_that_cannot_remove_the_old_manager_changes_no_object() -> None:
    definition, manager, settings = manifest("2.0.0")
    other = {**manager, "metadata": {**manager["metadata"], "name": "nats-operator"}}
    catalog = catalog_of(manifest("1.0.0"), [definition, other, settings])
    cluster = healthy_cluster()
    someone = User(cluster, ModuleMaterialsOfTest(release("2.9", {}), catalog=catalog))
    assert not someone.manage(channel="regular").get("failed")
    someone.cluster = KeepsTheOldManager(cluster)
    start = len(cluster.requests)
    for check_mode in (True, False):
        refused = someone.manage(channel="fast", check_mode=check_mode)
        assert refused["failed"], check_mode
        assert "a webhook refuses it" in refused["msg"]
    written = {one.ref.kind for one in cluster.requests[start:] if one.writes}
    assert written == {"Lease", "KymaModule"}, "only our own records"


def test_the_plan_shows_the_default_configuration_as_it_is_created() -> None:
    someone = user()
    diff = someone.manage(channel="regular", check_mode=True)["diff"]
    [planned] = [yaml.safe_load(one["after"]) for one in diff if one["after_header"].startswith("Nats ")]
    assert not someone.manage(channel="regular").get("failed")
    live = someone.cluster.get("example.com/v1", "Nats", "default", NAMESPACE)
    assert live
    assert planned == manifest_of(live)
