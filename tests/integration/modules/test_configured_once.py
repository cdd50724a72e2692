# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The default configuration is made once, and a deletion that is taken back (cases 4 and 9)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.denials import modules_denied
from tests.support.eventually import eventually
from tests.support.module_driver import ModuleDriver
from tests.support.own_module import OwnModule

from .conftest import assert_gone, assert_whole, by_hand, install, module_record, named

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

HOLD = "modules.test/hold"


def hold(api: LiveCluster, obj: Object) -> None:
    """Put the operator's finalizer on an instance."""
    api.patch(*named(obj), {"metadata": {"finalizers": [HOLD]}})


def release(api: LiveCluster, obj: Object) -> None:
    api.patch(*named(obj), {"metadata": {"finalizers": None}})


def version_of(api: LiveCluster, module: OwnModule) -> str:
    manager = api.get(*module.manager)
    assert manager is not None
    return str(manager["metadata"]["labels"]["app.kubernetes.io/version"])


def test_a_configuration_that_the_user_has_deleted_is_not_created_again(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 4: also not after an upgrade or re-managing, and not where a template names it otherwise."""
    default = shop.widget("default")
    install(driver, shop, data=default)
    uid = (api.get(*named(default)) or {})["metadata"]["uid"]
    assert module_record(api, shop)["status"]["configuration"]["uid"] == uid
    driver.manage(shop.name).unchanged()

    api.delete(*named(default))
    driver.manage(shop.name).unchanged()
    install(driver, shop, "2.0.0", data=default)
    install(driver, shop, "3.0.0", data=shop.widget("other"))
    driver.manage(shop.entry(state="unmanaged")).succeeded()
    assert driver.manage(shop.name).succeeded().row["state"] == "Ready"
    api.delete(*shop.manager)
    assert driver.manage(shop.name).succeeded().changed
    assert api.list(default["apiVersion"], "Widget").items == []


def test_a_change_by_the_user_stays_with_any_later_template(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    default = shop.widget("default")
    install(driver, shop, data=default)
    api.patch(*named(default), {"spec": {"size": 7}})
    driver.manage(shop.name).unchanged()
    install(driver, shop, "2.0.0", data={**default, "spec": {"size": 3, "more": True}})
    live = api.get(*named(default))
    assert live is not None
    assert live["spec"] == {"size": 7}


def test_only_a_finished_deletion_forgets_it(api: LiveCluster, driver: ModuleDriver, shop: OwnModule) -> None:
    default = shop.widget("default")
    install(driver, shop, data=default)
    api.delete(*named(default))
    driver.manage(shop.absent()).succeeded()
    assert_gone(api, shop)
    install(driver, shop, data=default)
    assert api.get(*named(default)) is not None


def test_the_users_own_takes_its_place(api: LiveCluster, driver: ModuleDriver, shop: OwnModule) -> None:
    shop.publish("1.0.0", data=shop.widget("default"))
    shop.offer("1.0.0")
    mine = shop.widget("mine")
    driver.manage(shop.entry(configuration=mine)).succeeded()
    assert [one["metadata"]["name"] for one in api.list(mine["apiVersion"], "Widget").items] == ["mine"]
    driver.manage(shop.entry(configuration=mine)).unchanged()


@pytest.mark.parametrize("lives", [True, False])
def test_adopting_makes_none_where_an_instance_lives(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule, lives: bool
) -> None:
    objects = shop.objects("1.0.0")
    by_hand(api, objects)
    if lives:
        eventually(lambda: api.resource(f"{shop.group}/v1", "Widget"))
        api.create(shop.widget("elsewhere", "default"))
    shop.publish("1.0.0", objects, data=shop.widget("default"))
    shop.offer("1.0.0")
    adopted = driver.manage(shop.name).succeeded()
    assert (adopted.row["action"], adopted.changed) == ("adopt", not lives)
    assert (api.get(*named(shop.widget("default"))) is None) == lives
    if lives:
        api.delete(*named(shop.widget("elsewhere", "default")))
        driver.manage(shop.name).unchanged()
        assert api.get(*named(shop.widget("default"))) is None


def test_one_with_a_name_that_is_taken_is_the_users(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Installed beside an instance that outlived an earlier installation: it is not ours to delete."""
    default = shop.widget("default")
    by_hand(api, shop.objects("1.0.0")[:2])
    eventually(lambda: api.resource(f"{shop.group}/v1", "Widget"))
    api.create(default)
    install(driver, shop, data=default)
    assert "default" in driver.manage(shop.absent()).message
    assert api.get(*named(default)) is not None


def test_a_deletion_upgrades_the_operator_and_a_cancelled_one_makes_a_new_configuration(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 9."""
    default, mine = shop.widget("default"), shop.widget("mine")
    install(driver, shop, data=default)
    hold(api, default)
    api.create(mine)
    old_uid = (api.get(*named(default)) or {})["metadata"]["uid"]
    assert driver.manage(shop.absent()).row["state"] == "Deleting"
    since = module_record(api, shop)["spec"]["deletionSince"]

    shop.publish("2.0.0", data=default)
    shop.publish("3.0.0", data=default)
    shop.offer("2.0.0")
    upgraded = driver.manage(shop.absent())
    assert (upgraded.row["state"], upgraded.changed) == ("Deleting", True)
    assert version_of(api, shop) == "2.0.0"
    assert_whole(api, shop)
    record = module_record(api, shop)
    assert record["spec"]["deletionSince"] == since
    assert record["status"]["version"] == "2.0.0"

    # Put back, if somebody removes it meanwhile: whoever lets go of a resource has to run.
    api.delete(*shop.manager)
    assert driver.manage(shop.absent()).row["state"] == "Deleting"
    assert version_of(api, shop) == "2.0.0"
    with pytest.raises(Forbidden):
        api.create(shop.widget("new"))

    shop.offer(channels=[{"channel": "regular", "version": "2.0.0"}, {"channel": "fast", "version": "3.0.0"}])
    with _released_during_the_run(api, default):
        again = driver.manage(shop.entry(channel="fast")).succeeded()

    assert (again.row["state"], version_of(api, shop)) == ("Ready", "3.0.0")
    live = api.get(*named(default))
    assert live is not None
    assert live["metadata"]["uid"] != old_uid
    assert "deletionTimestamp" not in live["metadata"]
    record = module_record(api, shop)
    assert "deletionSince" not in record["spec"]
    assert record["status"]["configuration"]["uid"] == live["metadata"]["uid"]
    assert modules_denied(api) == frozenset()
    eventually(lambda: _is_creatable(api, shop.widget("new")))
    assert api.get(*named(mine)) is not None
    driver.manage(shop.entry(channel="fast")).unchanged()


@contextmanager
def _released_during_the_run(api: LiveCluster, obj: Object) -> Iterator[None]:
    """Let go of an instance some time after a run has begun, as its operator does."""
    timer = threading.Timer(1.0, release, (api, obj))
    timer.start()
    yield
    timer.join()


def _is_creatable(api: LiveCluster, obj: Object) -> bool:
    try:
        api.create(obj)
    except Forbidden:
        return False
    return True


def test_taken_back_before_the_default_configuration_was_asked_to_go_it_stays(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Without one of ours there is nothing to make anew: the user has deleted it before."""
    default = shop.widget("default")
    install(driver, shop, data=default)
    api.delete(*named(default))
    api.create(shop.widget("mine"))
    driver.manage(shop.absent(), wait=False).succeeded()
    assert driver.manage(shop.name).succeeded().row["state"] == "Ready"
    assert modules_denied(api) == frozenset()
    assert api.get(*named(default)) is None
    assert_whole(api, shop)
    driver.manage(shop.name).unchanged()


def test_the_check_of_taking_a_deletion_back_writes_nothing(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    install(driver, shop, data=shop.widget("default"))
    api.create(shop.widget("mine"))
    driver.manage(shop.absent(), wait=False).succeeded()
    planned = driver.manage(shop.name, check=True).succeeded()
    assert (planned.changed, planned.all_writes) == (True, [])
    assert modules_denied(api) == {shop.name}


def test_a_module_unmanaged_during_its_deletion_gets_a_new_configuration_once_managed(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    default = shop.widget("default")
    install(driver, shop, data=default)
    api.create(shop.site("mine"))
    driver.manage(shop.absent(), wait=False).succeeded()
    assert api.get(*named(default)) is None
    given_up = driver.manage(shop.entry(state="unmanaged")).succeeded()
    assert given_up.row["state"] == "Unmanaged"
    assert modules_denied(api) == frozenset()
    assert_whole(api, shop)
    eventually(lambda: _is_creatable(api, shop.site("another")))
    driver.manage(shop.name).succeeded()
    assert api.get(*named(default)) is not None
    driver.manage(shop.name).unchanged()
