# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The played KLM on a real API server, and what its answers to writes of the Kyma resource are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import (
    Conflict,
    Invalid,
    NotFound,
    Untypeable,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.support.deployment_controllers import deployment_controllers
from tests.support.eventually import eventually
from tests.support.klm import APPLIER, DEFINITIONS, LABEL, PLACE, VERSION, Klm
from tests.support.kyma_clients import Busola, KymaCli
from tests.support.own_cluster import OwnCluster
from tests.support.played_klm import PlayedKlm
from tests.support.toy_module import toy_module, toy_release

from .conftest import CRD

pytestmark = pytest.mark.control_plane
ALPHA = toy_module("alpha")
OURS = "kyma-lifecycle"


@pytest.fixture(scope="module")
def served(own_cluster: OwnCluster) -> Iterator[LiveCluster]:
    """The cluster with KLM's definitions, which go with this file."""
    api = connect({"kubeconfig": str(own_cluster.kubeconfig)}, field_manager=OURS)
    PlayedKlm(api).install()
    yield api
    for definition in DEFINITIONS:
        api.delete(*CRD, definition["metadata"]["name"])


@pytest.fixture
def api(served: LiveCluster) -> LiveCluster:
    """The cluster with an empty Kyma."""
    served.delete(*PLACE)
    Klm(served).wants()
    return served


@pytest.fixture
def klm(api: LiveCluster, own_cluster: OwnCluster) -> Iterator[PlayedKlm]:
    """A KLM at work with alpha 1.0.0 (regular) and 2.0.0 (fast), beside controllers of Deployments."""
    one = PlayedKlm(api)
    one.catalog.publish(*(toy_release(ALPHA, version) for version in ("1.0.0", "2.0.0")))
    one.catalog.offer("alpha", regular="1.0.0", fast="2.0.0")
    with deployment_controllers({"own": own_cluster}), one.running(0.1):
        yield one
        for widget in api.list(f"{ALPHA.group}/v1", "Widget").items:
            api.delete(f"{ALPHA.group}/v1", "Widget", widget["metadata"]["name"], ALPHA.namespace)
        Klm(api).wants()
        eventually(lambda: not one.manifests)


def read(api: LiveCluster) -> Object:
    kyma = api.get(*PLACE)
    assert kyma is not None
    return kyma


def entries(api: LiveCluster) -> dict[str, Object]:
    return {one["name"]: one for one in read(api)["spec"].get("modules") or ()}


def module(api: LiveCluster) -> dict[str, Any]:
    """What the status says of alpha; nothing if it has no entry."""
    modules = (read(api).get("status") or {}).get("modules") or ()
    return next((dict(one) for one in modules if one["name"] == "alpha"), {})


def reaches(api: LiveCluster, **fields: Any) -> None:
    eventually(lambda: fields.items() <= module(api).items())


def image(api: LiveCluster) -> str:
    manager = api.get(*ALPHA.manager)
    if manager is None:
        return ""
    return str(manager["spec"]["template"]["spec"]["containers"][0]["image"]).rpartition(":")[2]


def intent(api: LiveCluster, *modules: Mapping[str, Any], uid: str = "") -> Object:
    """What we apply of a Kyma, for the one that there is or for another one."""
    meta = {"name": PLACE[2], "namespace": PLACE[3], "uid": uid or read(api)["metadata"]["uid"]}
    return {"apiVersion": VERSION, "kind": PLACE[1], "metadata": meta, "spec": {"modules": list(modules)}}


@pytest.mark.usefixtures("klm")
def test_a_module_is_installed_upgraded_and_removed(api: LiveCluster) -> None:
    Klm(api).wants("alpha")
    reaches(api, state="Ready", version="1.0.0", channel="regular")
    assert image(api) == "1.0.0"
    manager = api.get(*ALPHA.manager)
    assert manager is not None
    assert manager["metadata"]["labels"][LABEL] == "kyma"
    assert api.get(f"{ALPHA.group}/v1", "Widget", "default", ALPHA.namespace)

    Klm(api).wants({"name": "alpha", "channel": "fast"})
    eventually(lambda: image(api) == "2.0.0" and module(api)["state"] == "Ready")
    Klm(api).wants({"name": "alpha", "channel": "regular"})
    reaches(api, state="Warning", version="2.0.0")
    assert "ignore channel skew (from fast to regular)" in module(api)["message"]

    api.create(ALPHA.widget("users"))
    Klm(api).wants()
    reaches(api, state="Deleting")
    assert image(api) == "2.0.0"
    api.delete(f"{ALPHA.group}/v1", "Widget", "users", ALPHA.namespace)
    eventually(lambda: not module(api))
    assert image(api) == ""
    assert [name for name in ALPHA.crds if api.get(*CRD, name)] == []


def test_an_unmanaged_module_loses_its_label_and_goes_down_when_it_is_managed_again(
    api: LiveCluster, klm: PlayedKlm
) -> None:
    Klm(api).wants({"name": "alpha", "channel": "fast"})
    reaches(api, state="Ready", version="2.0.0")
    Klm(api).wants({"name": "alpha", "channel": "fast", "managed": False})
    eventually(lambda: not klm.manifests)
    assert module(api)["state"] == "Unmanaged"
    manager = api.get(*ALPHA.manager)
    assert manager is not None
    assert LABEL not in manager["metadata"]["labels"]
    assert APPLIER in {entry["manager"] for entry in manager["metadata"]["managedFields"]}
    Klm(api).wants({"name": "alpha", "channel": "regular"})
    eventually(lambda: image(api) == "1.0.0" and module(api)["state"] == "Ready")


@pytest.mark.usefixtures("klm")
def test_a_kyma_that_is_gone_comes_back_with_the_defaults_and_refuses_what_was_meant_for_the_old_one(
    api: LiveCluster,
) -> None:
    """A Kyma that was replaced is a 422, and one that is missing a 409."""
    uid = read(api)["metadata"]["uid"]
    Klm(api).wants("alpha")
    reaches(api, state="Ready")
    api.delete(*PLACE)
    eventually(lambda: api.get(*PLACE))
    assert entries(api) == {}
    with pytest.raises(Invalid, match=r"metadata\.uid: .*field is immutable"):
        api.apply(intent(api, {"name": "alpha"}, uid=uid), force=True)
    eventually(lambda: not module(api) and image(api) == "")


def test_an_apply_with_a_uid_creates_no_kyma_and_one_without_does(api: LiveCluster) -> None:
    applied = intent(api, {"name": "keda"})
    api.delete(*PLACE)
    with pytest.raises(Conflict, match="uid mismatch"):
        api.apply(applied, force=True)
    assert api.get(*PLACE) is None
    del applied["metadata"]["uid"]
    with pytest.raises(Invalid, match="channel: Required"):
        api.apply(applied, force=True)
    applied["spec"]["channel"] = "regular"
    api.apply(applied, force=True)
    assert list(entries(api)) == ["keda"]


def test_entries_are_owned_one_by_one(api: LiveCluster) -> None:
    """Defaults are filled in, an equal apply moves nothing, and a conflict names the writer and the entry."""
    Klm(api).wants("theirs")
    api.apply(intent(api, {"name": "keda", "channel": "fast", "managed": True}))
    keda = {"name": "keda", "channel": "fast", "managed": True, "customResourcePolicy": "CreateAndDelete"}
    assert entries(api)["keda"] == keda
    assert list(entries(api)) == ["theirs", "keda"]
    before = read(api)["metadata"]
    api.apply(intent(api, {"name": "keda", "channel": "fast", "managed": True}))
    assert read(api)["metadata"] == before
    Busola(api).set_channel("keda", "regular")
    with pytest.raises(Conflict, match=r'"Mozilla".*\.spec\.modules\[name="keda"\]\.channel'):
        api.apply(intent(api, {"name": "keda", "channel": "fast", "managed": True}))
    api.apply(intent(api, {"name": "keda", "channel": "fast", "managed": True}), force=True)
    assert entries(api)["keda"]["channel"] == "fast"


def test_leaving_an_entry_out_removes_it_unless_another_client_owns_it_too(api: LiveCluster) -> None:
    api.apply(intent(api, {"name": "keda"}, {"name": "nats"}))
    Klm(api).wants("keda")
    api.apply(intent(api))
    assert list(entries(api)) == ["keda"]


def test_an_entry_has_no_version(api: LiveCluster) -> None:
    with pytest.raises(Untypeable, match="version: field not declared in schema"):
        api.apply(intent(api, {"name": "keda", "version": "1.0.0"}), force=True)


def test_a_guarded_json_patch_removes_an_entry_at_its_index_alone(api: LiveCluster) -> None:
    """A refused test is a 422, after which one reads again."""
    Klm(api).wants("one", "two", "three")
    kyma = read(api)
    two = entries(api)["two"]

    def removal(index: int, uid: str = "") -> list[Object]:
        path = f"/spec/modules/{index}"
        return [
            {"op": "test", "path": "/metadata/uid", "value": uid or kyma["metadata"]["uid"]},
            {"op": "test", "path": path, "value": two},
            {"op": "remove", "path": path},
        ]

    KymaCli(api).delete("one")
    for refused in (removal(1), removal(7), removal(0, "another")):
        with pytest.raises(Invalid):
            api.patch(*PLACE, refused)
    assert list(entries(api)) == ["two", "three"]
    api.patch(*PLACE, removal(0))
    assert list(entries(api)) == ["three"]
    api.delete(*PLACE)
    with pytest.raises(NotFound):
        api.patch(*PLACE, removal(0))


def test_other_clients_lose_fields_and_hit_other_entries(api: LiveCluster) -> None:
    Klm(api).wants("one", "two", "three")
    api.patch(*PLACE, {"spec": {"skipMaintenanceWindows": True}})
    with pytest.raises(Conflict):
        KymaCli(api, between=lambda: Busola(api).set_managed("one", is_managed=False)).add("four")
    assert read(api)["spec"]["skipMaintenanceWindows"] is True
    KymaCli(api).unmanage("two")
    assert "skipMaintenanceWindows" not in read(api)["spec"]
    assert (entries(api)["two"]["managed"], entries(api)["two"]["customResourcePolicy"]) == (False, "Ignore")
    Busola(api, between=lambda: KymaCli(api).delete("one")).remove("two")
    assert list(entries(api)) == ["two"]
