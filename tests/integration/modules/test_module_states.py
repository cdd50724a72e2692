# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module is as well as its manager is (case 1), and what it waits for."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.eventually import eventually
from tests.support.module_driver import ModuleDriver
from tests.support.own_module import OwnModule, manager_object

from .conftest import CRD, by_hand, install, module_record, named

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

NEVER_NOW: dict[str, Any] = {
    "rules": [],
    "default": {"begin": "2099-01-01T00:00:00Z", "end": "2099-01-01T08:00:00Z"},
}
# A daily window would not do at night: one of which less than 20 minutes are left doesn't count.
NOW: dict[str, Any] = {
    "rules": [],
    "default": {"begin": "2000-01-01T00:00:00Z", "end": "2099-01-01T00:00:00Z"},
}


def state_in(api: LiveCluster, module: OwnModule, state: str) -> None:
    """Have the operator report a state of the module's configuration."""
    default = module.widget("default")
    api.patch(*named(default), {"status": {"state": state}}, subresource="status")


def replicas(api: LiveCluster, module: OwnModule, kind: str = "Deployment") -> int:
    manager = api.get("apps/v1", kind, module.manager[2], module.namespace)
    assert manager is not None
    return int(manager["spec"]["replicas"])


def scale_to_zero(api: LiveCluster, module: OwnModule, kind: str = "Deployment") -> None:
    """As ``kubectl scale`` does."""
    place = ("apps/v1", kind, module.manager[2], module.namespace)
    api.patch(*place, {"spec": {"replicas": 0}}, subresource="scale")


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_with_a_configuration_in_error_and_a_ready_operator_it_is_ready(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule, kind: str
) -> None:
    """Case 1, to a manager of either kind; scaled to 0 it is put back."""
    manager = {
        "group": "apps",
        "version": "v1",
        "kind": kind,
        "name": shop.manager[2],
        "namespace": shop.namespace,
    }
    install(
        driver, shop, objects=shop.objects("1.0.0", kind=kind), manager=manager, data=shop.widget("default")
    )
    state_in(api, shop, "Error")
    driver.manage(shop.name).unchanged()
    row = driver.info(shop.name).row
    assert (row["state"], row["configuration"]["state"]) == ("Ready", "Error")

    scale_to_zero(api, shop, kind)
    assert driver.info(shop.name).row["state"] == "Error"
    planned = driver.manage(shop.name, check=True).succeeded()
    assert (planned.changed, planned.all_writes) == (True, [])
    back = driver.manage(shop.name).succeeded()
    assert (back.changed, back.row["state"], replicas(api, shop, kind)) == (True, "Ready", 1)
    driver.manage(shop.name).unchanged()


def test_a_manager_whose_manifest_has_no_replicas_is_scaled_back_too(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    objects = plain.objects("1.0.0")
    del objects[-1]["spec"]["replicas"]
    install(driver, plain, objects=objects)
    scale_to_zero(api, plain)
    assert driver.manage(plain.name, check=True).succeeded().changed
    assert driver.manage(plain.name).succeeded().changed
    assert replicas(api, plain) == 1
    driver.manage(plain.name).unchanged()


def test_an_adoption_restores_a_manager_that_was_scaled_to_zero(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    objects = plain.objects("1.0.0")
    by_hand(api, objects)
    scale_to_zero(api, plain)
    plain.publish("1.0.0", objects)
    plain.offer("1.0.0")
    done = driver.manage(plain.name).succeeded()
    assert (done.row["action"], done.changed, replicas(api, plain)) == ("adopt", True, 1)
    driver.manage(plain.name).unchanged()


def test_a_manager_with_an_autoscaler_is_not_scaled_back(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    install(driver, plain)
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": plain.manager[2]}
    scaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "any", "namespace": plain.namespace},
        "spec": {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3},
    }
    api.create(scaler)
    scale_to_zero(api, plain)
    driver.manage(plain.name).succeeded()
    assert replicas(api, plain) == 0


def test_an_operator_that_is_not_well_is_an_error_and_mended_it_is_ready(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    unwell = plain.objects("1.0.0")
    # No node has this label, so no pod of it ever runs.
    unwell[-1]["spec"]["template"]["spec"]["nodeSelector"] = {"no": "such-node"}
    plain.publish("1.0.0", unwell)
    plain.offer("1.0.0")
    failed = driver.manage(plain.name, timeout=3)
    assert failed.row["state"] == "Error"
    assert plain.manager[2] in failed.message
    record = module_record(api, plain)["status"]
    (ready,) = record["conditions"]
    assert (record["state"], ready["status"], ready["reason"]) == ("Error", "False", "Error")
    assert driver.manage(plain.name, timeout=3).row["state"] == "Error"

    install(driver, plain)
    record = module_record(api, plain)["status"]
    (ready,) = record["conditions"]
    assert (record["state"], ready["status"]) == ("Ready", "True")


def test_an_adopted_operator_that_is_not_well_is_an_error(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    unwell = plain.objects("1.0.0")
    unwell[-1]["spec"]["template"]["spec"]["nodeSelector"] = {"no": "such-node"}
    by_hand(api, unwell)
    plain.publish("1.0.0", unwell)
    plain.offer("1.0.0")
    for _each in range(2):
        done = driver.manage(plain.name)
        assert (done.row["state"], done.writes) == ("Error", [])
        assert plain.manager[2] in done.message
    assert driver.info(plain.name).row["state"] == "Error"


def test_without_a_manager_all_of_the_manifest_has_to_be_well(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    second = manager_object(plain, "1.0.0", name="second")
    install(driver, plain, objects=[*plain.objects("1.0.0"), second], manager=None)
    driver.manage(plain.name).unchanged()
    selector = {"spec": {"template": {"spec": {"nodeSelector": {"no": "such-node"}}}}}
    api.patch("apps/v1", "Deployment", "second", plain.namespace, selector)
    eventually(lambda: driver.info(plain.name).row["state"] == "Error")


def test_a_definition_that_is_still_being_deleted_is_waited_for(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Applied meanwhile, it would take along what is made of it."""
    by_hand(api, shop.objects("1.0.0")[:2])
    old = shop.widget("old", finalizers=["modules.test/hold"])
    eventually(lambda: api.resource(f"{shop.group}/v1", "Widget"))
    api.create(old)
    api.delete(*CRD, shop.crds[0])
    shop.publish("1.0.0", data=shop.widget("default"))
    shop.offer("1.0.0")

    refused = driver.manage(shop.name, timeout=2)
    assert shop.crds[0] in refused.message
    assert "deleted" in refused.message
    assert (api.get(*CRD, shop.crds[0]) or {})["metadata"].get("deletionTimestamp")

    timer = threading.Timer(1.5, api.patch, (*named(old), {"metadata": {"finalizers": None}}))
    timer.start()
    assert driver.manage(shop.name).succeeded().row["state"] == "Ready"
    timer.join()
    crd = api.get(*CRD, shop.crds[0])
    assert crd is not None
    assert "deletionTimestamp" not in crd["metadata"]
    assert api.get(*named(shop.widget("default"))) is not None


def test_an_upgrade_that_renames_the_manager_has_the_old_one_gone_before_the_new_one_starts(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    install(driver, plain)
    extra = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "old", "namespace": plain.namespace},
    }
    install(driver, plain, "1.1.0", objects=[*plain.objects("1.1.0"), extra])
    manager = {
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
        "name": "new",
        "namespace": plain.namespace,
    }
    seen: list[bool] = []

    def look(call: Any) -> None:
        if call.verb == "apply" and call.kind == "Deployment" and not call.dry_run:
            seen.append(api.get(*plain.manager) is None)

    plain.publish("2.0.0", plain.objects("2.0.0", name="new"), manager=manager)
    plain.offer("2.0.0")
    done = driver.manage(plain.name, before=look).succeeded()
    assert (done.row["state"], seen) == ("Ready", [True])
    assert api.get(*plain.manager) is None
    # What it has no more goes once it is healthy.
    assert api.get("v1", "ConfigMap", "old", plain.namespace) is None
    assert module_record(api, plain)["status"]["manager"]["name"] == "new"
    driver.manage(plain.name).unchanged()


def test_a_version_that_requires_downtime_waits_for_its_window_and_what_runs_is_looked_after(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    plain.publish("1.0.0", requiresDowntime=True)
    plain.offer("1.0.0")
    # A first installation does not wait.
    assert driver.manage(plain.name, maintenance_policy=NEVER_NOW).succeeded().row["state"] == "Ready"
    plain.publish("2.0.0", requiresDowntime=True)
    plain.offer("2.0.0")

    waiting = driver.manage(plain.name, maintenance_policy=NEVER_NOW).succeeded()
    assert (waiting.row["state"], waiting.changed, waiting.writes) == ("Warning", False, [])
    assert "2099-01-01" in waiting.row["message"]
    assert _version(api, plain) == "1.0.0"
    driver.manage(plain.name, maintenance_policy=NEVER_NOW).unchanged()

    api.delete(*plain.manager)
    mended = driver.manage(plain.name, maintenance_policy=NEVER_NOW).succeeded()
    assert (mended.row["state"], mended.changed, _version(api, plain)) == ("Warning", True, "1.0.0")

    done = driver.manage(plain.name, maintenance_policy=NOW).succeeded()
    assert (done.row["state"], _version(api, plain)) == ("Ready", "2.0.0")
    # And without a policy it never waits.
    plain.publish("3.0.0", requiresDowntime=True)
    plain.offer("3.0.0")
    assert driver.manage(plain.name).succeeded().row["version"] == "3.0.0"


def _version(api: LiveCluster, module: OwnModule) -> str:
    manager: Object | None = api.get(*module.manager)
    assert manager is not None
    return str(manager["metadata"]["labels"]["app.kubernetes.io/version"])
