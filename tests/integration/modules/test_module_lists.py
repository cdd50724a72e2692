# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several modules: whole lists, needs, mandatory and restricted ones, catalogs, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.eventually import eventually
from tests.support.file_server import serve_files
from tests.support.module_driver import ModuleDriver
from tests.support.own_module import CATALOG_VERSION, OwnModule

from .conftest import CRD, assert_gone, assert_whole, by_hand, named, own_module

pytestmark = [pytest.mark.control_plane, pytest.mark.night]


@pytest.fixture
def cart(driver: ModuleDriver, api: LiveCluster) -> OwnModule:
    """A second module."""
    return own_module(driver, api, "cart")


def publish(*modules: OwnModule, **spec: Any) -> None:
    for module in modules:
        module.publish("1.0.0")
        module.offer("1.0.0", **spec)


def test_modules_that_a_whole_list_lacks_are_removed_and_unmanaged_and_foreign_ones_stay(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, cart: OwnModule
) -> None:
    given_up, foreign = (own_module(driver, api, name) for name in ("given-up", "foreign"))
    publish(plain, cart, given_up, foreign)
    by_hand(api, foreign.objects("1.0.0"))
    driver.manage(plain.name, cart.name, given_up.name).succeeded()
    driver.manage(given_up.entry(state="unmanaged")).succeeded()
    # A list that is not the whole one touches only what it names.
    driver.manage(plain.name).unchanged()

    planned = driver.manage(plain.name, exclusive=True, check=True).succeeded()
    assert (planned.rows.keys(), planned.all_writes) == ({plain.name, cart.name}, [])
    assert f"{cart.name} 1.0.0" in "\n".join(planned.result["summary"])
    driver.manage(plain.name, exclusive=True).succeeded()

    assert_gone(api, cart)
    for module in (plain, given_up, foreign):
        assert_whole(api, module)
    driver.manage(plain.name, exclusive=True).unchanged()


def test_a_module_is_installed_after_what_it_needs_and_deleted_before_it(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule, cart: OwnModule
) -> None:
    publish(shop, cart)
    made: list[str] = []

    def note(call: Any) -> None:
        if call.verb in ("apply", "delete") and call.kind == "Deployment" and not call.dry_run:
            made.append(f"{call.verb} {call.name}")

    driver.manage(shop.entry(needs=[cart.name]), cart.name, before=note).succeeded()
    assert made == [f"apply {cart.manager[2]}", f"apply {shop.manager[2]}"]
    made.clear()

    # While the one that needs it is blocked, the other one stays.
    api.create(shop.widget("mine"))
    blocked = driver.manage(exclusive=True, allow_empty=True, before=note)
    assert made == []
    assert f"module {cart.name}: {shop.name} needs it" in blocked.message
    assert_whole(api, cart)

    api.delete(*named(shop.widget("mine")))
    driver.manage(exclusive=True, allow_empty=True, before=note).succeeded()
    assert made == [f"delete {shop.manager[2]}", f"delete {cart.manager[2]}"]
    assert_gone(api, cart)


def test_a_module_does_not_start_while_its_need_is_unhealthy_and_others_do(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, cart: OwnModule
) -> None:
    other = own_module(driver, api, "other")
    publish(plain, cart, other)
    unwell = cart.objects("1.0.0")
    unwell[-1]["spec"]["template"]["spec"]["nodeSelector"] = {"no": "such-node"}
    cart.publish("1.0.0", unwell)
    done = driver.manage(plain.entry(needs=[cart.name]), cart.name, other.name, timeout=3)
    assert f"module {plain.name}: it needs {cart.name}, which is not ready" in done.message
    assert api.get(*plain.manager) is None
    assert (done.state(cart.name), done.state(other.name)) == ("Error", "Ready")


@pytest.mark.parametrize("described_by", ["meta", "template"])
def test_mandatory_modules_are_always_there_and_in_no_list(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, cart: OwnModule, described_by: str
) -> None:
    publish(plain)
    if described_by == "meta":
        cart.publish("1.0.0")
        cart.offer(mandatory={"version": "1.0.0"})
    else:
        cart.publish("1.0.0", mandatory=True)
    driver.manage(plain.name, exclusive=True).succeeded()
    assert_whole(api, cart)
    driver.manage(exclusive=True, allow_empty=True).succeeded()
    assert_whole(api, cart)
    assert_gone(api, plain)
    driver.manage(exclusive=True, allow_empty=True).unchanged()


BETA, INTERNAL = "operator.kyma-project.io/beta", "operator.kyma-project.io/internal"


@pytest.mark.parametrize(
    ("spec", "labels", "word"),
    [
        ({"beta": True}, {BETA: "true"}, "beta"),
        ({"internal": True}, {INTERNAL: True}, "internal"),
        ({"kymaSelector": {"matchLabels": {"region": "eu"}}}, {"region": "eu"}, "region"),
        ({"kymaSelector": {}}, None, "matches no cluster"),
    ],
)
def test_restricted_modules_are_only_where_the_clusters_labels_allow_them(
    api: LiveCluster,
    driver: ModuleDriver,
    plain: OwnModule,
    spec: dict[str, Any],
    labels: dict[str, Any] | None,
    word: str,
) -> None:
    plain.publish("1.0.0")
    plain.offer("1.0.0", **spec)
    refused = driver.manage(plain.name)
    assert word in refused.message
    assert (refused.row["state"], refused.writes) == ("Error", [])
    if labels is None:
        return
    driver.manage(plain.name, cluster_labels=labels).succeeded()
    # What is no longer allowed stays as it is, in Error.
    no_longer = driver.manage(plain.name)
    assert (no_longer.row["state"], no_longer.writes) == ("Error", [])
    assert_whole(api, plain)


@pytest.fixture
def catalog_kinds(api: LiveCluster, kyma_modules: Path) -> Iterator[None]:
    """The real definitions of ModuleTemplates and ModuleReleaseMetas."""
    crds = [
        yaml.safe_load((kyma_modules / "crds" / f"{name}.yaml").read_text())
        for name in ("moduletemplates", "modulereleasemetas")
    ]
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kcp-system"}})
    for crd in crds:
        api.apply(crd)
        eventually(lambda crd=crd: api.resource(CATALOG_VERSION, crd["spec"]["names"]["kind"]))
    yield
    for crd in crds:
        api.delete(*CRD, crd["metadata"]["name"])


def test_the_clusters_own_documents_are_a_catalog(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, catalog_kinds: None, tmp_path: Path
) -> None:
    """And the same documents in a folder beside them are the same; another one of that version is refused."""
    del catalog_kinds
    path = plain.publish("1.0.0")
    with serve_files(tmp_path / "www") as server:
        link = server.put("plain.yaml", path.read_text())
        plain.publish("1.0.0", manifest=link)
        plain.offer("1.0.0")
        _put_into_cluster(api, driver.catalog)
        driver.manage(plain.name, catalog=["cluster"]).succeeded()
        driver.manage(plain.name, catalog=["cluster", str(driver.catalog)]).unchanged()
    (described,) = driver.info(catalog=["cluster"]).result["catalog"]
    assert described["versions"][0]["origins"] == [
        f"the cluster: ModuleTemplate kcp-system/{plain.name}-1.0.0"
    ]

    plain.publish("1.0.0", manifest=link, requiresDowntime=True)
    refused = driver.manage(plain.name, catalog=["cluster", str(driver.catalog)])
    assert "requiresDowntime" in refused.message
    assert "the cluster: " in refused.message
    assert str(driver.catalog) in refused.message
    assert_whole(api, plain)


def _put_into_cluster(api: LiveCluster, folder: Path) -> None:
    for file in folder.glob("*.yaml"):
        document: Object = yaml.safe_load(file.read_text())
        if document["kind"] == "ModuleTemplate":
            # The schema of older ones wants it.
            document["spec"].setdefault("descriptor", {})
        api.apply(document)


def test_for_an_air_gapped_cluster_images_are_rewritten_and_the_manifest_is_stored(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule, tmp_path: Path
) -> None:
    with serve_files(tmp_path / "www") as server:
        path = plain.publish("1.0.0")
        link = server.put("plain.yaml", path.read_text())
        plain.publish("1.0.0", manifest=link)
        plain.offer("1.0.0")
        mirrored = {"image_prefixes": {"registry.test:5000": "mirror.local/kyma"}, "pull_secret": "mirror"}
        done = driver.manage(plain.name, **mirrored).succeeded()
        assert link in "\n".join(done.result["warnings"])
        assert "sha256" in "\n".join(done.result["warnings"])
    manager = api.get(*plain.manager)
    assert manager is not None
    pod = manager["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == f"mirror.local/kyma/{plain.name}:1.0.0"
    assert pod["imagePullSecrets"] == [{"name": "mirror"}]
    # The server is down now, and all of it is needed once more.
    driver.manage(plain.name, **mirrored).unchanged()
    api.delete(*plain.manager)
    assert driver.manage(plain.name, **mirrored).succeeded().changed


def test_a_manifest_with_another_sha256_is_refused(
    api: LiveCluster, driver: ModuleDriver, plain: OwnModule
) -> None:
    path = plain.publish("1.0.0")
    plain.offer("1.0.0")
    refused = driver.manage(plain.name, checksums={str(path): "sha256:" + "0" * 64})
    assert "sha256" in refused.message
    assert (refused.row["state"], api.get(*plain.manager)) == ("Error", None)


def test_module_info_shows_the_catalog_and_what_is_installed(
    api: LiveCluster, driver: ModuleDriver, shop: OwnModule, cart: OwnModule
) -> None:
    publish(cart)
    shop.publish("1.0.0", data=shop.widget("default"))
    shop.publish("2.0.0", requiresDowntime=True)
    shop.offer(channels=[{"channel": "regular", "version": "1.0.0"}, {"channel": "fast", "version": "2.0.0"}])
    driver.manage(shop.entry(default=True)).succeeded()
    by_hand(api, cart.objects("1.0.0"))

    known = driver.info().unchanged()
    by_name = {one["name"]: one for one in known.result["catalog"]}
    assert by_name[shop.name]["channels"] == {"fast": "2.0.0", "regular": "1.0.0"}
    assert [(one["version"], one["requires_downtime"]) for one in by_name[shop.name]["versions"]] == [
        ("1.0.0", False),
        ("2.0.0", True),
    ]
    assert all(one["origins"] for one in by_name[shop.name]["versions"])
    row = known.rows[shop.name]
    assert {key: row[key] for key in ("managed", "state", "running", "policy", "default", "supported")} == {
        "managed": True,
        "state": "Ready",
        "running": "1.0.0",
        "policy": "create_and_delete",
        "default": True,
        "supported": True,
    }
    assert row["configuration"]["exists"]
    assert (known.state(cart.name), known.rows[cart.name]["managed"]) == ("Installed", False)
    assert known.result["state"] == "Ready"

    # A version in no channel is not supported.
    shop.offer(channels=[{"channel": "fast", "version": "2.0.0"}])
    assert not driver.info(shop.name).row["supported"]
    # What blocks is shown.
    api.create(shop.widget("mine"))
    driver.manage(shop.absent(), wait=False).succeeded()
    blocked = driver.info(shop.name)
    assert (blocked.result["state"], blocked.row["state"]) == ("Deleting", "Deleting")
    assert "mine" in "\n".join(blocked.row["blockers"])


TWENTY = 20


def test_twenty_modules_that_stay_as_they_are_cost_a_request_per_kind_and_a_handful(
    api: LiveCluster, driver: ModuleDriver
) -> None:
    """The handful is what discovery, three kinds of records, and the lists of labelled managers take."""
    namespace = own_module(driver, api, "many").namespace
    modules = [
        OwnModule(f"m{number}-{namespace[-6:]}", namespace, driver.catalog, has_kinds=False)
        for number in range(TWENTY)
    ]
    for module in modules:
        module.publish("1.0.0")
        module.offer("1.0.0")
    names = [module.name for module in modules]
    driver.manage(*names, workers=8).succeeded()
    eventually(lambda: driver.manage(*names).requests <= 12, 60)
    calm = driver.manage(*names, exclusive=True).unchanged()
    # Deployments and ServiceAccounts are its kinds.
    assert calm.requests <= 2 + 10
