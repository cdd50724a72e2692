# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release drops a version of a CRD, and objects of that version live."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ClusterError

from tests.support.audit import writes
from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, config_map, deployment

pytestmark = pytest.mark.control_plane

Object = dict[str, Any]

CRD = "apiextensions.k8s.io/v1"
NAME = "offers.shop.test"
OLD, NEW = "shop.test/v1alpha1", "shop.test/v1"
MANY = 40


def definition(*versions: str, storage: str) -> Object:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {"price": {"type": "string"}, "stock": {"type": "integer"}},
            }
        },
    }
    return {
        "apiVersion": CRD,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": "shop.test",
            "scope": "Namespaced",
            "names": {"kind": "Offer", "plural": "offers", "singular": "offer", "listKind": "OfferList"},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == storage,
                    "schema": {"openAPIV3Schema": schema},
                }
                for name in versions
            ],
        },
    }


def offer(name: str, api_version: str, **spec: Any) -> Object:
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": api_version, "kind": "Offer", "metadata": meta, "spec": spec}


def write(
    release: SmallRelease, version: str, crd: Object, *catalog: Object, image: str = "example.com/fine"
) -> Path:
    release.folder.joinpath("release.yaml").write_text(f"version: '{version}'\n")
    place = release.folder / "crds" / "shop" / "offers.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(crd))
    release.write("catalog", *catalog)
    release.write("checkout", deployment("checkout", image))
    return release.folder


@pytest.fixture(scope="module")
def release(small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster) -> SmallRelease:
    """Version 1.0 is deployed, with objects by us, by a person, and by somebody else who applies."""
    both = definition("v1alpha1", "v1", storage="v1alpha1")
    small.component("catalog", config_map("settings"))
    small.component("checkout", needs=["catalog"])
    folder = write(small, "1.0", both, config_map("settings"), offer("apples", OLD, price="1"))
    playbook.deploy(folder).succeeded()
    api = own_cluster.api
    for number in range(MANY):
        api.with_field_manager("kubectl-create").create(offer(f"pear-{number}", OLD, price="2"))
    api.with_field_manager("gitops").apply(offer("plums", OLD, price="3", stock=7))
    return small


def crd_of(cluster: OwnCluster) -> Object:
    live = cluster.api.get(CRD, "CustomResourceDefinition", NAME)
    assert live
    return live


def versions(cluster: OwnCluster) -> list[str]:
    return [version["name"] for version in crd_of(cluster)["spec"]["versions"]]


def written_in(cluster: OwnCluster) -> set[str]:
    """The versions in which anybody is noted to have written an Offer."""
    return {
        str(manager["apiVersion"])
        for obj in cluster.api.list(NEW, "Offer").items
        for manager in obj["metadata"]["managedFields"]
    }


def test_a_run_that_fails_leaves_both_versions(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    new = definition("v1", storage="v1")
    catalog = (config_map("settings"), offer("apples", NEW, price="1"))
    folder = write(release, "1.1", new, *catalog, image="broken.invalid/checkout")
    before = crd_of(own_cluster)
    looked = playbook.deploy(folder, "--check", "--diff").succeeded()
    assert writes(looked.requests) == []
    assert crd_of(own_cluster) == before
    outcome = playbook.deploy(folder, component_timeout=5).failed()
    assert outcome.components["checkout"]["state"] == "failed", outcome.text
    assert versions(own_cluster) == ["v1", "v1alpha1"]
    assert crd_of(own_cluster)["status"]["storedVersions"] == ["v1alpha1", "v1"]
    assert OLD in written_in(own_cluster)
    assert own_cluster.api.get(OLD, "Offer", "plums", NAMESPACE)


def test_the_run_that_succeeds_takes_the_old_version_away(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    new = definition("v1", storage="v1")
    catalog = (config_map("settings"), offer("apples", NEW, price="1"))
    outcome = playbook.deploy(write(release, "1.1", new, *catalog)).succeeded()
    assert (
        "foundation: narrowing (CustomResourceDefinition offers.shop.test: v1alpha1 is removed"
        in outcome.text
    )
    assert versions(own_cluster) == ["v1"]
    assert crd_of(own_cluster)["status"]["storedVersions"] == ["v1"]
    assert written_in(own_cluster) == {NEW}
    assert len(own_cluster.api.list(NEW, "Offer").items) == MANY + 2
    assert playbook.deploy(release.folder).succeeded().recap["changed"] == 0


def test_everybody_can_go_on_applying(
    release: SmallRelease, playbook: Playbook, own_cluster: OwnCluster
) -> None:
    new = definition("v1", storage="v1")
    catalog = (config_map("settings"), offer("apples", NEW, price="1.5"))
    playbook.deploy(write(release, "1.1", new, *catalog)).succeeded()
    api = own_cluster.api
    # Who applied a field still owns it: what is left out of the next apply goes.
    plums = api.with_field_manager("gitops").apply(offer("plums", NEW, price="4"))
    assert plums["spec"] == {"price": "4"}
    with pytest.raises(ClusterError, match="kubectl-create"):
        api.with_field_manager("gitops").apply(offer("pear-0", NEW, price="4"))
    api.with_field_manager("gitops").apply(offer("pear-0", NEW, price="4"), force=True)
