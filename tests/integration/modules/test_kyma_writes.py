# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of Kyma's lifecycle manager (KLM) on a real API server: its writes into the Kyma resource."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import Kyma, read_kyma
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_writing import (
    StaleKyma,
    apply_entries,
    take_out_entries,
)

from tests.support.klm import PLACE, Klm
from tests.support.klm_at_work import CHANNELS, module_template, release_meta
from tests.support.module_driver import ModuleDriver

pytestmark = pytest.mark.control_plane


@pytest.fixture
def klm(api: LiveCluster, driver: ModuleDriver) -> Klm:
    """KLM in the cluster, with one entry of others; its definitions and namespace go with the modules."""
    del driver
    klm = Klm(api)
    klm.install()
    klm.wants("istio", "serverless")
    return klm


KEDA = {"name": "keda", "channel": "fast"}


def kyma_of(api: LiveCluster) -> Kyma:
    kyma = read_kyma(api)
    assert kyma is not None
    return kyma


def entry(name: str, **keys: Any) -> dict[str, Any]:
    return {"name": name, "customResourcePolicy": "CreateAndDelete", "managed": True, **keys}


def test_writes_keep_all_that_they_do_not_mean(api: LiveCluster, klm: Klm) -> None:
    before = {name: dict(one) for name, one in kyma_of(api).entries.items()}
    apply_entries(api, kyma_of(api), {"keda": entry("keda", channel="fast")})
    apply_entries(api, kyma_of(api), {"nats": entry("nats")})
    apply_entries(api, kyma_of(api), {"keda": entry("keda")})
    written = kyma_of(api)
    assert list(written.entries) == ["istio", "serverless", "keda", "nats"]
    assert {name: written.entries[name] for name in before} == before
    assert written.entries["keda"] == entry("keda"), "our own channel is not wanted any more"
    assert written.own_keys("istio") == frozenset()
    version = written.object["metadata"]["resourceVersion"]
    apply_entries(api, written, {"nats": entry("nats")})
    assert kyma_of(api).object["metadata"]["resourceVersion"] == version
    klm.reports("istio")
    take_out_entries(api, written, ["keda", "nats"])
    assert {name: dict(one) for name, one in kyma_of(api).entries.items()} == before


def test_a_resource_that_others_have_changed_gets_nothing(api: LiveCluster, klm: Klm) -> None:
    stale = kyma_of(api)
    api.with_field_manager("Mozilla").patch(*PLACE, [{"op": "remove", "path": "/spec/modules/0"}])
    for write in (
        lambda: apply_entries(api, stale, {"keda": entry("keda")}),
        lambda: take_out_entries(api, stale, ["serverless"]),
    ):
        with pytest.raises(StaleKyma):
            write()
    assert list(kyma_of(api).entries) == ["serverless"]
    api.delete(*PLACE)
    with pytest.raises(StaleKyma):
        apply_entries(api, stale, {"keda": entry("keda")})
    assert read_kyma(api) is None
    klm.wants("istio")
    for write in (
        lambda: apply_entries(api, stale, {"keda": entry("keda")}),
        lambda: take_out_entries(api, stale, ["istio"]),
    ):
        with pytest.raises(StaleKyma):
            write()
    assert list(kyma_of(api).entries) == ["istio"]


def test_a_run_writes_the_entry_and_a_second_one_nothing(
    api: LiveCluster, driver: ModuleDriver, klm: Klm
) -> None:
    klm.offers([release_meta("keda", CHANNELS), *(module_template("keda", one) for one in CHANNELS.values())])
    planned = driver.manage(KEDA, catalog=["cluster"], check=True, wait=False).succeeded()
    assert (planned.changed, planned.all_writes) == (True, [])
    done = driver.manage(KEDA, catalog=["cluster"], wait=False).succeeded()
    assert (done.writes, done.state("keda")) == (["apply Kyma default"], "Processing")
    assert kyma_of(api).entries["keda"] == entry("keda", channel="fast")
    driver.manage(KEDA, catalog=["cluster"], wait=False).unchanged()
    silent = driver.manage(KEDA, catalog=["cluster"], timeout=2)
    assert "KLM has never written a status" in silent.message
