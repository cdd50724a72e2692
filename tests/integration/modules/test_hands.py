# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the collection takes over, gives up (cases 6 and 8), and puts back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER, Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.cluster.paths import BIN
from tests.support.module_driver import ModuleDriver
from tests.support.needs import skip
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule

from .conftest import MODULE, Kubectl, assert_gone, assert_whole, by_hand, install, module_record, named

pytestmark = pytest.mark.control_plane


@pytest.fixture
def kubectl(own_cluster: OwnCluster) -> Kubectl:
    """The real kubectl, on the cluster of whole runs."""
    if not (BIN / "kubectl").exists():
        skip("The program kubectl is missing. Build it: make build")
    return Kubectl(str(own_cluster.kubeconfig))


def versions(api: LiveCluster, objects: list[Object]) -> dict[str, Any]:
    """uid and resourceVersion of each, but for what controllers write the status of."""
    result = {}
    for obj in objects:
        live = api.get(*named(obj))
        assert live is not None
        meta = live["metadata"]
        result[f"{obj['kind']} {meta['name']}"] = (
            meta["uid"],
            meta["generation"] if "generation" in meta else meta["resourceVersion"],
            [
                (one["manager"], one.get("time"))
                for one in meta.get("managedFields") or ()
                if not one.get("subresource")
            ],
        )
    return result


def test_a_module_installed_by_hand_in_the_same_version_is_adopted_without_a_write(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, kubectl: Kubectl
) -> None:
    """Case 8."""
    objects = plain.objects("1.0.0")
    manifest = plain.publish("1.0.0", objects)
    plain.offer("1.0.0")
    kubectl.install(manifest)
    before = versions(api, objects)
    assert driver.info(plain.name).row["state"] == "Installed"

    planned = driver.manage(plain.name, check=True).succeeded()
    adopted = driver.manage(plain.name).succeeded()

    for done in (planned, adopted):
        assert (done.row["action"], done.row["state"], done.changed, done.writes) == (
            "adopt",
            "Ready",
            False,
            [],
        )
    assert versions(api, objects) == before
    driver.manage(plain.name).unchanged()
    assert driver.info(plain.name).row["managed"]
    # It is ours from now on, until the end.
    driver.manage(plain.absent()).succeeded()
    assert_gone(api, plain)


def test_kubectl_applies_an_unmanaged_module_without_a_conflict(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, kubectl: Kubectl, tmp_path: Path
) -> None:
    """Case 8: another image by ``kubectl apply --server-side``; our labels and our field manager are gone."""
    install(driver, plain)
    objects = plain.objects("1.0.0")
    given_up = driver.manage(plain.entry(state="unmanaged")).succeeded()
    assert (given_up.row["state"], given_up.changed) == ("Unmanaged", True)
    for obj in objects:
        live = api.get(*named(obj))
        assert live is not None
        assert FIELD_MANAGER not in {one["manager"] for one in live["metadata"].get("managedFields") or ()}
        assert FIELD_MANAGER not in str(live["metadata"].get("labels"))
    newer = plain.objects("1.0.1")
    (tmp_path / "newer.yaml").write_text(yaml.safe_dump_all(newer))
    kubectl("apply", "--server-side", "-f", tmp_path / "newer.yaml")

    assert module_record(api, plain)["spec"]["state"] == "unmanaged"
    again = driver.manage(plain.entry(state="unmanaged")).succeeded()
    assert (again.changed, again.writes) == (False, [])
    # Only reported: a whole list without it leaves it, too.
    driver.manage(exclusive=True, allow_empty=True).succeeded()
    assert_whole(api, plain)
    row = driver.info(plain.name).row
    assert (row["managed"], row["running"], row["state"]) == (False, "1.0.1", "Unmanaged")


def test_ignored_and_removed_it_stays_and_is_no_longer_reconciled(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    """Case 6: a manual upgrade is not reverted."""
    shop.publish("1.0.0", data=shop.widget("default"))
    shop.offer("1.0.0")
    driver.manage(shop.entry(policy="ignore")).succeeded()
    before = versions(api, shop.objects("1.0.0")[2:3])
    planned = driver.manage(exclusive=True, allow_empty=True, check=True).succeeded()
    assert (planned.changed, planned.all_writes) == (True, [])

    left = driver.manage(exclusive=True, allow_empty=True).succeeded()

    assert left.row["state"] == "Unmanaged"
    assert {write.split()[0] for write in left.writes if "ValidatingAdmission" not in write} == {"patch"}
    assert versions(api, shop.objects("1.0.0")[2:3]).keys() == before.keys()
    assert_whole(api, shop)
    assert api.get(*named(shop.widget("default"))) is not None

    by_hand(api, [shop.objects("1.7.0")[-1]])
    for modules in ([], [shop.absent()]):
        done = driver.manage(*modules, exclusive=True, allow_empty=True).succeeded()
        assert (done.changed, done.writes) == (False, [])
    manager = api.get(*shop.manager)
    assert manager is not None
    assert manager["metadata"]["labels"]["app.kubernetes.io/version"] == "1.7.0"


def test_the_policy_ignore_can_remove_the_operator_once_no_configuration_lives(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    shop.publish("1.0.0", data=shop.widget("default"))
    shop.offer("1.0.0")
    driver.manage(shop.entry(policy="ignore")).succeeded()
    entry = shop.absent(policy="ignore")
    blocked = driver.manage(entry, ignore_removes_operator=True)
    assert "default" in blocked.message
    assert_whole(api, shop)
    assert api.get(*named(shop.widget("default"))) is not None
    api.delete(*named(shop.widget("default")))
    driver.manage(entry, ignore_removes_operator=True).succeeded()
    assert_gone(api, shop)


def test_drift_is_put_back_and_so_is_an_operator_that_was_removed(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    install(driver, plain)
    manager = api.get(*plain.manager)
    assert manager is not None
    uid = manager["metadata"]["uid"]
    container = {"name": "manager", "image": "somewhere.else/x:1"}
    writer = api.with_field_manager("kubectl-edit")
    writer.apply({**_bare(manager), "spec": {**_bare(plain.objects("1.0.0")[-1])["spec"]}}, force=True)
    writer.patch(
        *plain.manager, [{"op": "replace", "path": "/spec/template/spec/containers/0", "value": container}]
    )

    planned = driver.manage(plain.name, check=True).succeeded()
    assert (planned.changed, planned.all_writes) == (True, [])
    done = driver.manage(plain.name).succeeded()
    assert (done.changed, done.row["state"]) == (True, "Ready")
    assert "somewhere.else" not in str((api.get(*plain.manager) or {})["spec"])
    driver.manage(plain.name).unchanged()

    api.delete(*plain.manager)
    assert driver.manage(plain.name).succeeded().changed
    put_back = api.get(*plain.manager)
    assert put_back is not None
    assert put_back["metadata"]["uid"] != uid
    driver.manage(plain.name).unchanged()


def _bare(obj: Object) -> Object:
    meta = {key: obj["metadata"][key] for key in ("name", "namespace")}
    return {"apiVersion": obj["apiVersion"], "kind": obj["kind"], "metadata": meta, "spec": obj.get("spec")}


def test_a_module_with_the_skip_label_is_left_alone_except_for_its_deletion(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    install(driver, plain)
    mark = {"operator.kyma-project.io/skip-reconciliation": "true"}
    api.patch(*MODULE, plain.name, None, {"metadata": {"labels": mark}})
    api.delete(*plain.manager)
    plain.publish("2.0.0")
    plain.offer("2.0.0")
    for entry in (plain.entry(), plain.entry(state="unmanaged")):
        left = driver.manage(entry).succeeded()
        assert (left.changed, left.writes) == (False, [])
        assert "skip-reconciliation" in left.row["message"]
    assert api.get(*plain.manager) is None
    driver.manage(plain.absent()).succeeded()
    assert_gone(api, plain)


def test_a_module_installed_by_hand_is_not_deleted_before_it_was_managed(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    by_hand(api, plain.objects("1.0.0"))
    plain.publish("1.0.0", plain.objects("1.0.0"))
    plain.offer("1.0.0")
    refused = driver.manage(plain.absent())
    assert "installed by hand" in refused.message
    assert (refused.changed, refused.writes) == (False, [])
    assert_whole(api, plain)


def test_an_adopted_module_is_upgraded_and_its_drift_is_restored(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, kubectl: Kubectl
) -> None:
    """Fields of it belong to kubectl until then."""
    kubectl.install(plain.publish("1.0.0"))
    plain.offer("1.0.0")
    driver.manage(plain.name).succeeded()
    kubectl(
        "set",
        "image",
        "-n",
        plain.namespace,
        f"deployment/{plain.manager[2]}",
        "manager=somewhere.else/x:1.0.0",
    )
    assert driver.manage(plain.name).succeeded().changed
    assert "somewhere.else" not in str((api.get(*plain.manager) or {})["spec"])
    driver.manage(plain.name).unchanged()
    install(driver, plain, "2.0.0")
    manager = api.get(*plain.manager)
    assert manager is not None
    assert manager["metadata"]["labels"]["app.kubernetes.io/version"] == "2.0.0"
    driver.manage(plain.name).unchanged()


def test_an_older_one_that_was_installed_by_hand_is_upgraded_and_what_it_drops_goes(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, kubectl: Kubectl
) -> None:
    place = {"name": "only-in-1.0", "namespace": plain.namespace}
    dropped = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place}
    kubectl.install(plain.publish("1.0.0", [*plain.objects("1.0.0"), dropped]))
    install(driver, plain, "2.0.0")
    assert api.get(*named(dropped)) is None
    driver.manage(plain.name).unchanged()


def test_an_operator_that_no_catalog_has_is_named_and_goes_only_by_its_own_user(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    legacy = plain.objects("0.9.0", name="legacy")
    legacy[-1]["metadata"]["labels"]["kyma-project.io/module"] = plain.name
    by_hand(api, legacy)
    plain.publish("1.0.0")
    plain.offer("1.0.0")
    refused = driver.manage(plain.name).result
    assert refused["failed"]
    assert f"Deployment {plain.namespace}/legacy" in refused["msg"]
    assert api.get(*plain.manager) is None
    api.delete("apps/v1", "Deployment", "legacy", plain.namespace)
    install(driver, plain)
    assert [one["metadata"]["name"] for one in api.list("apps/v1", "Deployment", plain.namespace).items] == [
        plain.manager[2]
    ]
    driver.manage(plain.name).unchanged()


def test_objects_of_two_modules_stay_when_one_of_them_is_deleted(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule
) -> None:
    install(driver, shop)
    other = OwnModule("other", shop.namespace, driver.catalog)
    shared = [obj for obj in shop.objects("1.0.0") if obj["kind"] != "Deployment"]
    other.publish("1.0.0", [*shared, *other.objects("1.0.0")[2:]])
    other.offer("1.0.0")
    driver.manage(other.name).succeeded()
    driver.manage(other.absent()).succeeded()
    assert api.get(*other.manager) is None
    assert_whole(api, shop)
    driver.manage(shop.name).succeeded()
