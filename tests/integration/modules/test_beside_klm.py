# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules beside Kyma's lifecycle manager (KLM): its Kyma resource, catalog and marks, and the rights."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.accounts import HOME, ROLES, binding_of, playbook_of
from tests.support.klm import APPLIER, LABEL, Klm
from tests.support.module_driver import ModuleDriver
from tests.support.own_cluster import OwnCluster
from tests.support.own_module import OwnModule

from .conftest import assert_gone, assert_whole, by_hand, install, own_module

pytestmark = pytest.mark.control_plane


@pytest.fixture
def klm(api: LiveCluster, driver: ModuleDriver) -> Klm:
    """KLM in the cluster; its definitions and namespace go with the modules."""
    del driver
    one = Klm(api)
    one.install()
    return one


def image(api: LiveCluster, module: OwnModule) -> str:
    """The image that the operator runs, without its registry."""
    live = api.get(*module.manager)
    assert live is not None
    return str(live["spec"]["template"]["spec"]["containers"][0]["image"]).rpartition("/")[2]


def publish(module: OwnModule, *versions: str) -> None:
    """Publish versions; the last one is in channel regular."""
    for version in versions:
        module.publish(version)
    module.offer(versions[-1])


def documents(folder: Path) -> list[Object]:
    return [yaml.safe_load(file.read_text()) for file in sorted(folder.glob("*.yaml"))]


@pytest.mark.parametrize("place", ["spec", "status"])
def test_a_module_that_the_kyma_resource_names_is_never_installed_here(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, klm: Klm, place: str
) -> None:
    """Also one that KLM has not reached yet, and with a takeover: KLM would write it back."""
    publish(plain, "1.0.0")
    klm.wants(*([plain.name] if place == "spec" else []))
    klm.reports(*([plain.name] if place == "status" else []))
    entries: list[dict[str, Any]] = [{}, {"channel": "regular"}, {"version": "1.0.0"}]
    for entry in entries:
        for options in ({}, {"check": True}, {"takeover": True}):
            refused = driver.manage(plain.entry(**entry), **options)
            assert "Kyma's lifecycle manager (KLM)" in refused.message
            assert (refused.row["action"], refused.row["state"]) == ("refuse", "Error")
            assert refused.writes == []
    assert api.get(*plain.manager) is None
    klm.wants()
    klm.reports()
    driver.manage(plain.name).succeeded()


def test_a_module_of_ours_that_klm_gets_too_is_neither_repaired_nor_deleted_until_it_is_given_up(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, klm: Klm
) -> None:
    install(driver, plain)
    publish(plain, "1.0.0", "2.0.0")
    klm.wants(plain.name)
    for options in ({"exclusive": True, "allow_empty": True}, {"takeover": True}):
        modules = [] if "exclusive" in options else [plain.name]
        refused = driver.manage(*modules, **options)
        assert "state: unmanaged" in refused.message
        assert refused.writes == []
    assert_whole(api, plain)
    driver.manage(plain.entry(state="unmanaged")).succeeded()
    driver.manage(plain.entry(state="unmanaged")).unchanged()
    assert image(api, plain) == f"{plain.name}:1.0.0"


def test_templates_of_klm_are_no_catalog_of_ours(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, klm: Klm
) -> None:
    own = own_module(driver, api, "own")
    publish(plain, "1.0.0")
    klm.offers(documents(driver.catalog))
    for file in driver.catalog.glob("*.yaml"):
        file.unlink()
    publish(own, "1.0.0")
    for document in documents(driver.catalog):
        document["metadata"]["namespace"] = "kyma-system"
        api.apply(document)
    manifests = driver.folder / "manifests"
    entry = own.entry(manifest=str(manifests / f"{own.name}-1.0.0.yaml"))
    driver.manage(entry, catalog=["cluster"]).succeeded()
    entry = plain.entry(manifest=str(manifests / f"{plain.name}-1.0.0.yaml"))
    refused = driver.manage(entry, catalog=["cluster"])
    assert f"manifest has no effect on {plain.name}, which Kyma's lifecycle manager (KLM)" in refused.message
    assert refused.writes == []
    assert [one["name"] for one in driver.info(catalog=["cluster"]).result["catalog"]] == [own.name]


def test_a_module_that_klm_has_let_go_is_ours_to_take_although_its_field_manager_stays(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, klm: Klm
) -> None:
    objects = plain.objects("1.0.0")
    klm.wants(plain.name, managed=False)
    klm.reports(plain.name, state="Unmanaged")
    klm.applies(objects)
    klm.lets_go(objects)
    publish(plain, "1.0.0", "2.0.0")
    assert "(KLM) has no channel regular of it" in driver.manage(plain.name).message
    klm.wants()
    klm.reports()

    adopted = driver.manage(plain.entry(version="1.0.0")).succeeded()
    assert (adopted.row["action"], adopted.writes) == ("adopt", [])
    upgraded = driver.manage(plain.name).succeeded()
    assert upgraded.result["summary"][0] == f"{plain.name} 2.0.0: Ready, upgraded from 1.0.0"
    assert image(api, plain) == f"{plain.name}:2.0.0"
    driver.manage(plain.name).unchanged()
    driver.manage(plain.absent()).succeeded()
    assert_gone(api, plain)


def test_a_takeover_of_what_klm_has_left_behind_runs_the_new_version(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, klm: Klm
) -> None:
    """KLM forgets a module whose entry was removed while it couldn't be looked up: its label stays."""
    klm.applies(plain.objects("1.0.0"))
    publish(plain, "1.0.0", "2.0.0")
    for entry in ({}, {"channel": "regular"}, {"state": "absent"}, {"state": "unmanaged"}):
        refused = driver.manage(plain.entry(**entry))
        assert f"{LABEL}: kyma" in refused.message
        assert refused.writes == []
    assert image(api, plain) == f"{plain.name}:1.0.0"
    done = driver.manage(plain.name, takeover=True).succeeded()
    assert done.result["summary"][0] == f"{plain.name} 2.0.0: Ready, upgraded from 1.0.0"
    assert image(api, plain) == f"{plain.name}:2.0.0"
    driver.manage(plain.name).unchanged()


@pytest.mark.parametrize("check", [True, False])
def test_a_version_that_does_not_run_after_the_apply_is_an_error_that_names_its_holder(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, check: bool
) -> None:
    install(driver, plain)
    held = deepcopy(plain.objects("1.0.0")[-1])
    by_hand(api, [held], "image-updater")
    publish(plain, "1.0.0", "2.0.0")
    for _again in range(2):
        failed = driver.manage(plain.name, check=check)
        assert f"Deployment {plain.namespace}/{plain.manager[2]} runs 1.0.0, not 2.0.0" in failed.message
        assert "image-updater" in failed.message
        assert failed.row["state"] == "Error"
        assert "upgraded" not in "\n".join(failed.result["summary"])
    assert image(api, plain) == f"{plain.name}:1.0.0"
    driver.manage(plain.name, force_conflicts=True).succeeded()
    assert image(api, plain) == f"{plain.name}:2.0.0"
    driver.manage(plain.name).unchanged()


def test_a_misspelt_name_in_the_whole_list_deletes_nothing(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, shop: OwnModule
) -> None:
    other, given_up = own_module(driver, api, "other"), own_module(driver, api, "given")
    for module in (plain, shop, other, given_up):
        publish(module, "1.0.0")
    driver.manage(plain.name, shop.name, other.name, given_up.entry(policy="ignore")).succeeded()
    misspelt = f"{plain.name[:-2]}{plain.name[-1]}{plain.name[-2]}x"
    for entry in ({"name": misspelt, "state": "unmanaged"}, {"name": misspelt}):
        for check in (True, False):
            refused = driver.manage(entry, other.absent(), shop.name, exclusive=True, check=check)
            assert f"module {misspelt}: it is not in the catalog" in refused.message
            assert f"Did you mean {plain.name}?" in refused.message
            for module in (plain, other, given_up):
                assert f"{module.name} 1.0.0: Ready (it is not removed" in "\n".join(
                    refused.result["summary"]
                )
            assert refused.writes == []
    for module in (plain, shop, other, given_up):
        assert_whole(api, module)
    driver.manage(shop.name, plain.name, exclusive=True).succeeded()
    assert_gone(api, other)
    assert_whole(api, plain)


@pytest.fixture
def mandatory(driver: ModuleDriver, api: LiveCluster) -> OwnModule:
    """A mandatory module that is installed, beside another one in the catalog."""
    module, other = own_module(driver, api, "mandatory"), own_module(driver, api, "other")
    publish(other, "1.0.0")
    module.publish("1.0.0")
    module.offer(mandatory={"version": "1.0.0"})
    driver.manage(exclusive=True, allow_empty=True).succeeded()
    assert_whole(api, module)
    return module


def test_a_mandatory_module_is_not_removed_while_its_catalog_has_it(
    api: LiveCluster, driver: ModuleDriver, mandatory: OwnModule
) -> None:
    for state in ("absent", "unmanaged"):
        for policy in ("create_and_delete", "ignore"):
            for options in ({"check": True}, {}, {"exclusive": True}):
                refused = driver.manage(mandatory.entry(state=state, policy=policy), **options)
                assert f"module {mandatory.name}: it is mandatory" in refused.message
                assert refused.writes == []
    assert_whole(api, mandatory)
    assert driver.manage(exclusive=True, allow_empty=True).succeeded().writes == []


def test_a_mandatory_module_that_the_catalog_no_longer_has_is_removed_by_name(
    api: LiveCluster, driver: ModuleDriver, mandatory: OwnModule
) -> None:
    for file in driver.catalog.glob(f"{mandatory.name}*.yaml"):
        file.unlink()
    planned = driver.manage(exclusive=True, allow_empty=True, check=True).succeeded()
    assert f"{mandatory.name} 1.0.0: NotInstalled, would be deleted" in "\n".join(planned.result["summary"])
    driver.manage(exclusive=True, allow_empty=True).succeeded()
    assert_gone(api, mandatory)


@pytest.mark.parametrize("how", ["delete_kyma", "delete"])
def test_deleting_everything_removes_a_mandatory_module_by_name(
    api: LiveCluster, driver: ModuleDriver, mandatory: OwnModule, how: str
) -> None:
    delete = driver.delete_kyma if how == "delete_kyma" else driver.delete_all
    planned = delete(check=True).succeeded()
    assert f"{mandatory.name} 1.0.0: NotInstalled, would be deleted" in "\n".join(planned.result["summary"])
    assert_whole(api, mandatory)
    delete().succeeded()
    assert api.get(*mandatory.manager) is None


@pytest.fixture
def shipped(own_cluster: OwnCluster, tmp_path: Path, driver: ModuleDriver) -> Iterator[ModuleDriver]:
    """A user with the shipped deployer's role and the rights for the objects of modules alone."""
    (tmp_path / "shipped").mkdir()
    playbook_of(own_cluster, tmp_path / "shipped", "shipped")
    account = {"namespace": HOME, "name": "shipped"}
    verbs = ["get", "list", "watch", "create", "patch", "delete"]
    of_modules = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "modules-of-tests"},
        "rules": [
            {"apiGroups": [""], "resources": ["namespaces", "serviceaccounts"], "verbs": verbs},
            {"apiGroups": ["apps"], "resources": ["deployments", "statefulsets"], "verbs": verbs},
            {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["list"]},
        ],
    }
    deployer = yaml.safe_load((ROLES / "deployer.yaml").read_text())
    roles = [deployer, of_modules]
    granted = [*roles, *(binding_of(role["metadata"]["name"], account) for role in roles)]
    for obj in granted:
        own_cluster.api.apply(obj)
    yield replace(driver, kubeconfig=tmp_path / "shipped" / "kubeconfig")
    for obj in granted:
        own_cluster.api.delete(obj["apiVersion"], obj["kind"], obj["metadata"]["name"])


def test_the_shipped_deployers_role_is_enough_on_a_cluster_without_klm(
    shipped: ModuleDriver, plain: OwnModule
) -> None:
    publish(plain, "1.0.0")
    shipped.manage(plain.name, catalog=["cluster", str(shipped.catalog)]).succeeded()
    shipped.manage(plain.name, catalog=["cluster", str(shipped.catalog)]).unchanged()


def test_the_shipped_deployers_role_reads_what_klm_has(
    api: LiveCluster, shipped: ModuleDriver, plain: OwnModule, klm: Klm
) -> None:
    """And without that right nothing is concluded: a refused read is no proof that there is no KLM."""
    own = own_module(shipped, api, "own")
    publish(own, "1.0.0")
    publish(plain, "1.0.0")
    klm.wants(plain.name)
    catalog = ["cluster", str(shipped.catalog)]
    refused = shipped.manage(plain.name, own.name, catalog=catalog)
    assert "(KLM) has no channel regular of it" in refused.message
    assert_whole(api, own)

    role = ("rbac.authorization.k8s.io/v1", "ClusterRole", "kyma-lifecycle-deployer", None)
    deployer = api.get(*role)
    assert deployer is not None
    rules = [rule for rule in deployer["rules"] if "kymas" not in rule["resources"]]
    api.patch(*role, {"rules": rules})
    for modules in ([plain.name], [own.absent()]):
        refused = shipped.manage(*modules, catalog=catalog)
        assert "the Kyma resource kyma-system/default can't be read" in refused.message
        assert "get kymas.operator.kyma-project.io" in refused.message
    assert refused.writes == []
    assert_whole(api, own)


def test_a_field_manager_of_klm_alone_is_no_mark(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    """On a cluster whose KLM is gone for good."""
    by_hand(api, plain.objects("1.0.0"), APPLIER)
    publish(plain, "1.0.0", "2.0.0")
    driver.manage(plain.name).succeeded()
    assert image(api, plain) == f"{plain.name}:2.0.0"
