# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which version of a module runs is what counts, and it never goes down (cases 7 and 10)."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.module_driver import ModuleDriver
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule, manager_object

from .conftest import MODULE, by_hand, install, module_record, own_module

pytestmark = pytest.mark.control_plane


def image(api: LiveCluster, place: tuple[str, str, str, str]) -> str:
    manager = api.get(*place)
    assert manager is not None
    return str(manager["spec"]["template"]["spec"]["containers"][0]["image"]).rpartition(":")[2]


def resource_versions(api: LiveCluster, module: OwnModule) -> list[Any]:
    """Of all that a module consists of."""
    kinds = (module.manager[:2], module.account[:2])
    objects = [obj for kind in kinds for obj in api.list(*kind, module.namespace).items]
    return [
        (obj["metadata"]["name"], obj["metadata"].get("generation"), obj["spec"])
        for obj in objects
        if "spec" in obj
    ]


def test_an_older_version_than_the_one_that_runs_is_refused_and_nothing_is_changed(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """Case 7: 2.0 was installed by hand, the channel offers 1.0."""
    by_hand(api, plain.objects("2.0.0"))
    plain.publish("1.0.0")
    plain.publish("2.0.0")
    plain.offer("1.0.0")
    before = resource_versions(api, plain)

    refused = driver.manage(plain.name)

    assert "2.0.0" in refused.message
    assert "1.0.0" in refused.message
    assert "install it again" in refused.message
    assert (refused.row["state"], refused.changed, refused.writes) == ("Error", False, [])
    assert resource_versions(api, plain) == before


def test_a_downgrade_is_refused_if_the_older_manager_has_another_name(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """Case 7: a template of 2.0 knows the manager that runs, that of 1.0 does not."""
    by_hand(api, plain.objects("2.0.0"))
    plain.publish("2.0.0")
    plain.publish("1.0.0", plain.objects("1.0.0", name="old-manager"), manager=_manager(plain, "old-manager"))
    plain.offer("1.0.0")
    refused = driver.manage(plain.name)
    assert "2.0.0" in refused.message
    assert (refused.changed, refused.writes) == (False, [])
    assert api.get("apps/v1", "Deployment", "old-manager", plain.namespace) is None


def test_a_downgrade_is_refused_if_only_a_label_names_the_module_of_the_manager(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """Case 7: no template names this manager."""
    manager = manager_object(plain, "2.0.0", name="unheard-of")
    manager["metadata"]["labels"]["kyma-project.io/module"] = plain.name
    by_hand(api, [plain.objects("2.0.0")[0], manager])
    plain.publish("1.0.0")
    plain.offer("1.0.0")
    refused = driver.manage(plain.name)
    assert "2.0.0" in refused.message
    assert (refused.changed, refused.writes) == (False, [])


def _manager(module: OwnModule, name: str, kind: str = "Deployment") -> dict[str, str]:
    return {"group": "apps", "version": "v1", "kind": kind, "name": name, "namespace": module.namespace}


def test_upgrade_refused_downgrade_and_upgrade(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """Case 7."""
    for version in ("1.0.0", "2.0.0", "3.0.0"):
        plain.publish(version)
    plain.offer("1.0.0")
    assert driver.manage(plain.name).succeeded().changed
    plain.offer("2.0.0")
    planned = driver.manage(plain.name, check=True).succeeded()
    assert (planned.changed, planned.all_writes, planned.row["action"]) == (True, [], "upgrade")
    upgraded = driver.manage(plain.name).succeeded()
    assert (upgraded.changed, image(api, plain.manager)) == (True, "2.0.0")
    predicted = {(change["kind"], change["name"]) for change in planned.row["changes"]}
    assert predicted == {("Deployment", plain.manager[2])}
    driver.manage(plain.name).unchanged()

    plain.offer("1.0.0")
    refused = driver.manage(plain.name)
    assert (refused.row["state"], refused.writes, image(api, plain.manager)) == ("Error", [], "2.0.0")
    assert module_record(api, plain)["status"]["state"] == "Error"

    plain.offer("3.0.0")
    assert driver.manage(plain.name).succeeded().row["state"] == "Ready"
    assert image(api, plain.manager) == "3.0.0"
    assert module_record(api, plain)["status"]["version"] == "3.0.0"


def test_a_downgrade_is_refused_after_it_was_unmanaged_and_managed_again(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """Case 7."""
    plain.publish("1.0.0")
    install(driver, plain, "2.0.0")
    driver.manage(plain.entry(state="unmanaged")).succeeded()
    plain.offer("1.0.0")
    refused = driver.manage(plain.name)
    assert "2.0.0" in refused.message
    assert (refused.writes, image(api, plain.manager)) == ([], "2.0.0")


@pytest.mark.parametrize(("label", "tag"), [("main", "PR-58"), ("", "PR-58"), ("main", "latest")])
def test_an_unknown_version_is_refused_until_the_user_says_it(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, label: str, tag: str
) -> None:
    """Case 7."""
    by_hand(api, plain.objects("1.0.0", label=label, tag=tag))
    plain.publish("1.0.0")
    plain.offer("1.0.0")
    refused = driver.manage(plain.name)
    assert tag in refused.message
    assert "running_version" in refused.message
    assert (refused.row["state"], refused.changed, refused.writes) == ("Error", False, [])
    assert driver.info(plain.name).row["state"] == "Error"
    if label == "main" and tag == "PR-58":
        said = driver.manage(plain.entry(running_version="0.9.0")).succeeded()
        assert (said.row["state"], said.row["action"]) == ("Ready", "upgrade")


def test_a_label_that_is_no_version_is_passed_over_for_the_tag(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    objects = plain.objects("1.5.0", label="main")
    by_hand(api, objects)
    plain.publish("1.5.0", objects)
    plain.offer("1.5.0")
    assert driver.manage(plain.name).succeeded().row["action"] == "adopt"


def test_without_a_version_in_labels_the_record_counts_while_its_manager_is_unchanged(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    for version in ("1.0.0", "2.0.0"):
        plain.publish(version, plain.objects(version, label="", tag=f"main-{version[0]}"))
    plain.offer("1.0.0")
    driver.manage(plain.name).succeeded()
    driver.manage(plain.name).unchanged()
    plain.offer("2.0.0")
    assert driver.manage(plain.name).succeeded().row["action"] == "upgrade"
    # Another one in its place says nothing.
    api.delete(*plain.manager)
    by_hand(api, [plain.objects("9.9.9", label="", tag="main-9")[-1]])
    refused = driver.manage(plain.name)
    assert "main-9" in refused.message
    assert (refused.changed, refused.writes) == (False, [])


def test_a_variant_of_a_version_is_no_earlier_one_and_a_pre_release_is(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    install(driver, plain, "1.53.0")
    install(driver, plain, "1.53.0-experimental")
    assert image(api, plain.manager) == "1.53.0-experimental"
    plain.publish("1.53.0-rc1")
    plain.offer("1.53.0-rc1")
    assert "1.53.0-rc1 is older" in driver.manage(plain.name).message


def test_an_unknown_name_is_an_error_of_its_module_and_the_others_proceed(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, own_cluster: OwnCluster
) -> None:
    """Case 10."""
    cart = own_module(driver, own_cluster.api, "cart")
    till = own_module(driver, own_cluster.api, "till")
    for module in (plain, cart, till):
        module.publish("1.0.0")
        module.offer("1.0.0")

    done = driver.manage(
        plain.entry(channel="fats"), cart.name, till.entry(version="7.7.7"), {"name": "nothing-like-it"}
    )

    message = done.message
    assert f"module {plain.name}: it has no channel fats" in message
    assert "regular (1.0.0)" in message
    assert f"module {till.name}: the catalog has no version 7.7.7. Versions: 1.0.0" in message
    assert "nothing-like-it: it is not in the catalog" in message
    assert cart.name in message.partition("nothing-like-it: it is not in the catalog")[2]
    assert {name: row["state"] for name, row in done.rows.items()} == {
        plain.name: "Error",
        cart.name: "Ready",
        till.name: "Error",
        "nothing-like-it": "Error",
    }
    assert api.get(*cart.manager) is not None
    assert api.get(*plain.manager) is None
    assert module_record(api, plain)["status"]["state"] == "Error"

    mended = driver.manage(plain.name, cart.name, till.entry(version="1.0.0")).succeeded()
    assert {row["state"] for row in mended.rows.values()} == {"Ready"}
    assert module_record(api, plain)["status"]["state"] == "Ready"
    assert "message" not in module_record(api, plain)["status"]


def test_a_channel_that_vanished_leaves_what_runs_and_says_so(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """Case 10, of a module that runs."""
    install(driver, plain)
    plain.offer()
    gone = driver.manage(plain.name)
    assert "it has no channel regular" in gone.message
    assert (gone.row["state"], gone.writes) == ("Error", [])
    assert image(api, plain.manager) == "1.0.0"


@pytest.mark.parametrize("text", ["{", "kind: Deployment\n", ""])
def test_a_manifest_that_can_not_be_read_is_an_error_of_its_module_and_others_go_on(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, own_cluster: OwnCluster, text: str
) -> None:
    cart = own_module(driver, own_cluster.api, "cart")
    plain.publish("1.0.0").write_text(text)
    plain.offer("1.0.0")
    cart.publish("1.0.0")
    cart.offer("1.0.0")
    done = driver.manage(plain.name, cart.name)
    assert plain.name in done.message
    assert (done.state(plain.name), done.state(cart.name)) == ("Error", "Ready")
    assert api.get(*plain.manager) is None


def test_a_manifest_that_does_not_exist_is_an_error_and_so_is_none_at_all(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    plain.publish("1.0.0", resources=[])
    plain.offer("1.0.0")
    without = driver.manage(plain.name)
    assert "Set manifest to a file or a URL" in without.message
    assert without.row["state"] == "Error"
    path = plain.publish("1.0.0", resources=[])
    missing = driver.manage(plain.entry(manifest=str(path.with_name("missing.yaml"))))
    assert "missing.yaml" in missing.message
    taken = driver.manage(plain.entry(manifest=str(path))).succeeded()
    assert taken.row["state"] == "Ready"
    driver.manage(plain.entry(manifest=str(path))).unchanged()
    assert api.get(*MODULE, plain.name) is not None


def test_a_check_before_the_first_write_sees_what_was_installed_meanwhile(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """Somebody upgrades it by hand between the plan and the run's first write: it does not go down."""
    plain.publish("3.0.0")
    install(driver, plain, "1.0.0")
    plain.publish("2.0.0")
    plain.offer("2.0.0")
    newer: list[Object] = []

    def upgrade_by_hand(call: Any) -> None:
        if call.writes and not newer:
            newer.append(plain.objects("3.0.0")[-1])
            by_hand(api, newer)

    done = driver.manage(plain.name, before=upgrade_by_hand)
    assert image(api, plain.manager) == "3.0.0"
    assert "3.0.0" in done.message
