# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module is deleted once nothing lives that it manages (cases 2 and 3)."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.eventually import eventually
from tests.support.module_driver import ModuleDriver
from tests.support.own_module import OwnModule, definition

from .conftest import CRD, assert_gone, assert_whole, install, module_record, named

pytestmark = pytest.mark.control_plane

HOLD = "modules.test/hold"


def release(api: LiveCluster, obj: Object) -> None:
    """Take the finalizer off."""
    api.patch(*named(obj), {"metadata": {"finalizers": None}})


def test_users_resources_block_and_when_the_last_is_gone_all_goes(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 2."""
    install(driver, shop)
    api.create(shop.widget("mine"))
    api.create(shop.widget("yours"))

    blocked = driver.manage(shop.absent())

    assert blocked.row["state"] == "Deleting"
    assert "mine" in blocked.message
    assert "yours" in blocked.message
    assert blocked.changed
    assert_whole(api, shop)
    record = module_record(api, shop)
    assert record["status"]["state"] == "Deleting"
    assert any("mine" in line for line in record["status"]["blockers"])

    api.delete(*named(shop.widget("mine")))
    still = driver.manage(shop.absent())
    assert not still.changed
    assert "yours" in still.message
    assert "mine" not in still.message
    assert_whole(api, shop)

    api.delete(*named(shop.widget("yours")))
    gone = driver.manage(shop.absent()).succeeded()
    assert gone.changed
    assert_gone(api, shop)
    driver.manage(shop.absent()).unchanged()


def test_a_module_that_the_list_lacks_is_deleted_by_its_recorded_policy(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """The whole list: it is removed though neither the list nor the catalog has it any more."""
    install(driver, shop)
    shop.withdraw("1.0.0")
    shop.offer()

    refused = driver.manage(exclusive=True)
    assert "kyma_modules_empty" in refused.message
    assert_whole(api, shop)

    planned = driver.manage(exclusive=True, allow_empty=True, check=True).succeeded()
    assert (planned.changed, planned.all_writes) == (True, [])
    assert f"{shop.name} 1.0.0" in "\n".join(planned.result["summary"])
    assert_whole(api, shop)

    assert driver.manage(exclusive=True, allow_empty=True).succeeded().changed
    assert_gone(api, shop)


def test_an_instance_of_a_second_definition_that_is_cluster_scoped_blocks(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 3."""
    install(driver, shop)
    api.create(shop.site("only"))
    assert "only" in driver.manage(shop.absent()).message
    assert_whole(api, shop)


def test_an_instance_in_another_namespace_blocks(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 3."""
    install(driver, shop)
    api.create(shop.widget("far", "default"))
    assert "default/far" in driver.manage(shop.absent()).message
    assert_whole(api, shop)


@pytest.fixture
def foreign_kind(api: LiveCluster, shop: OwnModule) -> Iterator[Object]:
    """A definition that another one brought: of it v2 is served, and v1 no longer."""
    crd = definition(f"other.{shop.group}", "Gadget", "Namespaced", "v2", "v1")
    crd["spec"]["versions"][1]["served"] = False
    api.apply(crd)
    api.list(f"other.{shop.group}/v2", "Gadget")
    yield crd
    api.delete(*CRD, crd["metadata"]["name"])


def test_an_associated_kind_blocks_though_its_version_is_no_longer_served(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule, foreign_kind: Object
) -> None:
    """Case 3."""
    group = foreign_kind["spec"]["group"]
    install(driver, shop, associatedResources=[{"group": group, "version": "v1", "kind": "Gadget"}])
    gadget = {
        "apiVersion": f"{group}/v2",
        "kind": "Gadget",
        "metadata": {"name": "old", "namespace": "default"},
        "spec": {},
    }
    api.create(gadget)
    assert "default/old" in driver.manage(shop.absent()).message
    assert_whole(api, shop)

    api.delete(*named(gadget))
    driver.manage(shop.absent()).succeeded()
    assert_gone(api, shop)
    assert api.get(*CRD, foreign_kind["metadata"]["name"]) is not None


def test_the_manifests_own_instance_is_waited_for_and_operator_and_rbac_stay_meanwhile(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 3."""
    own = shop.widget("own")
    install(driver, shop, objects=[*shop.objects("1.0.0"), own])
    api.patch(*named(own), {"metadata": {"finalizers": [HOLD]}})

    held = driver.manage(shop.absent(), timeout=2)

    assert HOLD in held.message
    assert "own" in held.message
    assert_whole(api, shop)
    live = api.get(*named(own))
    assert live is not None
    assert live["metadata"]["deletionTimestamp"]
    assert live["metadata"]["finalizers"] == [HOLD]

    release(api, own)
    driver.manage(shop.absent()).succeeded()
    assert_gone(api, shop)


def test_the_default_configuration_blocks_nothing_and_goes_first(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    own, default = shop.widget("own"), shop.widget("default")
    install(driver, shop, objects=[*shop.objects("1.0.0"), own], data=default)

    done = driver.manage(shop.absent()).succeeded()

    deleted = [write for write in done.writes if write.startswith("delete Widget")]
    assert deleted == ["delete Widget default", "delete Widget own"]
    of_definitions = [number for number, write in enumerate(done.writes) if write.startswith("delete Custom")]
    others = [number for number, write in enumerate(done.writes) if write.startswith("delete Deployment")]
    assert done.writes.index("delete Widget own") < min(others)
    assert max(others) < min(of_definitions)
    assert_gone(api, shop)


def test_the_default_configuration_is_waited_for_until_its_operator_lets_it_go(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    default = shop.widget("default")
    install(driver, shop, data=default)
    api.patch(*named(default), {"metadata": {"finalizers": [HOLD]}})
    timer = threading.Timer(3.0, release, (api, default))
    timer.start()
    driver.manage(shop.absent()).succeeded()
    timer.join()
    assert_gone(api, shop)


def test_a_configuration_that_the_user_made_in_place_of_the_default_one_blocks(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    default = shop.widget("default")
    install(driver, shop, data=default)
    api.delete(*named(default))
    api.create(default)
    assert "default" in driver.manage(shop.absent()).message
    assert api.get(*named(default)) is not None
    assert_whole(api, shop)


def test_after_its_patience_a_blocked_deletion_is_a_warning_and_without_waiting_no_failure(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    install(driver, shop)
    api.create(shop.widget("mine"))

    going_on = driver.manage(shop.absent(), wait=False).succeeded()
    assert going_on.row["state"] == "Deleting"
    assert "mine" in "\n".join(going_on.result["warnings"])
    late = driver.manage(shop.absent(), wait=False, patience=0.001).succeeded()
    assert late.row["state"] == "Warning"
    assert "mine" in driver.manage(shop.absent(), patience=0.001).message
    assert module_record(api, shop)["status"]["state"] == "Warning"
    assert_whole(api, shop)


def test_delete_resources_deletes_the_users_while_the_operator_runs_and_takes_no_finalizer_off(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    install(driver, shop)
    held, free = shop.widget("held", finalizers=[HOLD]), shop.site("free")
    api.create(held)
    api.create(free)

    planned = driver.manage(shop.absent(delete_resources=True), check=True).succeeded()
    assert planned.all_writes == []
    output = str(planned.result)
    assert "held" in output
    assert "free" in output

    first = driver.manage(shop.absent(delete_resources=True), timeout=2)
    assert HOLD in first.message
    assert api.get(*named(free)) is None
    live = api.get(*named(held))
    assert live is not None
    assert live["metadata"]["finalizers"] == [HOLD]
    assert_whole(api, shop)

    release(api, held)
    eventually(lambda: api.get(*named(held)) is None)
    driver.manage(shop.absent(delete_resources=True)).succeeded()
    assert_gone(api, shop)


def test_a_check_of_a_deletion_says_what_blocks_and_writes_nothing(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    install(driver, shop)
    api.create(shop.widget("mine"))
    blocked = driver.manage(shop.absent(), check=True)
    assert "mine" in blocked.message
    assert blocked.all_writes == []
    assert (blocked.changed, blocked.row["state"]) == (True, "Deleting")
    assert "deletionSince" not in module_record(api, shop)["spec"]

    api.delete(*named(shop.widget("mine")))
    planned = driver.manage(shop.absent(), check=True).succeeded()
    assert (planned.changed, planned.all_writes) == (True, [])
    assert {one["before_header"].split()[0] for one in planned.result["diff"]} >= {"Deployment"}
    assert_whole(api, shop)


def test_a_deletion_maintains_the_operator_and_reports_if_it_does_not_run(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """What the manifest brings may be created all the same: it is exempt from the denial."""
    own = shop.widget("own")
    install(driver, shop, objects=[*shop.objects("1.0.0"), own])
    api.create(shop.widget("mine"))
    assert "does not run" not in driver.manage(shop.absent()).message
    assert api.get(*named(own)) is None

    api.patch(*shop.manager, {"spec": {"replicas": 0}}, subresource="scale")
    back = driver.manage(shop.absent())
    assert (back.changed, "does not run" in back.message) == (True, False)
    assert (api.get(*shop.manager) or {})["spec"]["replicas"] == 1

    unwell = shop.objects("2.0.0")
    unwell[-1]["spec"]["template"]["spec"]["nodeSelector"] = {"no": "such-node"}
    shop.publish("2.0.0", [*unwell, own])
    shop.offer("2.0.0")
    done = driver.manage(shop.absent(), timeout=3)
    assert "mine" in done.message
    assert "its operator, which has to let go of them, does not run" in done.message
    assert "forbidden" not in done.message.lower()
