# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A release drops a version of a CRD whose objects only a webhook can convert: fields have other names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.own_cluster import OwnCluster
from tests.support.playbook_run import Outcome, Playbook
from tests.support.small_release import NAMESPACE, SmallRelease, deployment
from tests.support.webhooks import converting

pytestmark = [pytest.mark.control_plane, pytest.mark.night]

Object = dict[str, Any]

CRD = "apiextensions.k8s.io/v1"
NAME = "offers.shop.test"
OLD, NEW = "shop.test/v1alpha1", "shop.test/v1"
MONEY = {OLD: "price", NEW: "cost"}
"""What the field of a version is called."""


def convert(obj: Object, version: str) -> Object:
    value = (obj.get("spec") or {}).get(MONEY[obj["apiVersion"]])
    return {**obj, "apiVersion": version, "spec": {MONEY[version]: value}}


def definition(version: str, conversion: Object) -> Object:
    spec = {"type": "object", "properties": {MONEY[version]: {"type": "string"}}}
    schema = {"type": "object", "properties": {"spec": spec}}
    name = version.rpartition("/")[2]
    return {
        "apiVersion": CRD,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": NAME},
        "spec": {
            "group": "shop.test",
            "scope": "Namespaced",
            "names": {"kind": "Offer", "plural": "offers", "singular": "offer", "listKind": "OfferList"},
            "conversion": conversion,
            "versions": [
                {"name": name, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            ],
        },
    }


def offer(name: str, version: str, value: str) -> Object:
    return {
        "apiVersion": version,
        "kind": "Offer",
        "metadata": {"name": name},
        "spec": {MONEY[version]: value},
    }


def write(release: SmallRelease, number: str, version: str, conversion: Object) -> Path:
    release.folder.joinpath("release.yaml").write_text(f"version: '{number}'\n")
    place = release.folder / "crds" / "shop" / "offers.yaml"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(definition(version, conversion)))
    release.write("catalog", offer("ours", version, "1"))
    release.write("checkout", deployment("checkout", f"example.com/fine:{number}"))
    return release.folder


@pytest.fixture(scope="module")
def conversion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Object]:
    with converting(tmp_path_factory.mktemp("webhook"), convert) as strategy:
        yield strategy


@pytest.fixture(scope="module")
def upgraded(small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, conversion: Object) -> Outcome:
    release = small.component("catalog").component("checkout")
    playbook.deploy(write(release, "1.0", OLD, {"strategy": "None"})).succeeded()
    by_hand = offer("theirs", OLD, "2")
    by_hand["metadata"]["namespace"] = NAMESPACE
    own_cluster.api.with_field_manager("kubectl-create").create(by_hand)
    folder = write(release, "1.1", NEW, conversion)
    rehearsed = playbook.deploy(folder, "--check", "--diff").succeeded()
    assert [one for one in rehearsed.requests if one.persists] == []
    return playbook.deploy(folder).succeeded()


def test_the_objects_are_converted_and_only_the_new_version_is_left(
    upgraded: Outcome, own_cluster: OwnCluster
) -> None:
    assert "2 objects are written again" in upgraded.text
    crd = own_cluster.api.get(CRD, "CustomResourceDefinition", NAME)
    assert crd
    assert [version["name"] for version in crd["spec"]["versions"]] == ["v1"]
    assert crd["status"]["storedVersions"] == ["v1"]
    offers = own_cluster.api.list(NEW, "Offer", NAMESPACE).items
    assert {obj["metadata"]["name"]: obj["spec"] for obj in offers} == {
        "ours": {"cost": "1"},
        "theirs": {"cost": "2"},
    }
    # Whose a field was can't be told where it has another name now, but of what we have applied anew.
    managers = {obj["metadata"]["name"]: obj["metadata"].get("managedFields") or [] for obj in offers}
    assert {manager["apiVersion"] for manager in managers["ours"]} == {NEW}
    assert managers["theirs"] == []


def test_converted_objects_can_be_applied_and_need_no_further_change(
    upgraded: Outcome, small: SmallRelease, playbook: Playbook, own_cluster: OwnCluster, conversion: Object
) -> None:
    assert upgraded
    again = playbook.deploy(small.folder).succeeded()
    assert (again.recap["ok"], again.recap["changed"]) == (1, 0)
    folder = write(small, "1.2", NEW, conversion)
    small.write("catalog", offer("ours", NEW, "3"))
    playbook.deploy(folder).succeeded()
    ours = own_cluster.api.get(NEW, "Offer", "ours", NAMESPACE)
    assert ours
    assert ours["spec"] == {"cost": "3"}
