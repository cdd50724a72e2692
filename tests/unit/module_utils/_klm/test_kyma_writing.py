# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes into the Kyma resource: each keeps all that it does not mean, whoever writes meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm import kyma_writing
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import (
    Kyma,
    read_kyma,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_writing import (
    StaleKyma,
    apply_entries,
    take_out_entries,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.klm import PLACE, VERSION, Klm

META = {"name": PLACE[2], "namespace": PLACE[3]}


def entry(name: str, **keys: Any) -> dict[str, Any]:
    return {"name": name, "customResourcePolicy": "CreateAndDelete", "managed": True, **keys}


@pytest.fixture
def cluster() -> MemoryCluster:
    cluster = MemoryCluster()
    Klm(cluster).install()
    Klm(cluster).wants("istio", "serverless")
    return cluster


def kyma_of(cluster: MemoryCluster) -> Kyma:
    kyma = read_kyma(cluster)
    assert kyma is not None
    return kyma


def others_of(cluster: MemoryCluster, *ours: str) -> list[Any]:
    spec = kyma_of(cluster).object["spec"]
    return [spec["channel"], [one for one in spec["modules"] if one["name"] not in ours]]


def test_one_module_in_one_write_and_another_in_the_next_both_stay(cluster: MemoryCluster) -> None:
    """An apply that leaves out an entry of ours removes it, and KLM then deletes that module."""
    before = others_of(cluster)
    apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda", channel="fast")})
    apply_entries(cluster, kyma_of(cluster), {"nats": entry("nats"), "btp": entry("btp")})
    apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda", managed=False)})
    entries = kyma_of(cluster).entries
    assert list(entries) == ["istio", "serverless", "keda", "nats", "btp"]
    assert entries["keda"] == entry("keda", managed=False)
    assert others_of(cluster, "keda", "nats", "btp") == before
    # Nothing of others became ours, too.
    assert kyma_of(cluster).own_keys("istio") == frozenset()


def test_the_same_write_again_changes_nothing(cluster: MemoryCluster) -> None:
    apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda")})
    before = kyma_of(cluster).object
    apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda")})
    assert kyma_of(cluster).object == before


def test_a_key_of_another_that_is_changed_leaves_its_other_keys(cluster: MemoryCluster) -> None:
    browser = cluster.with_field_manager("Mozilla")
    patch = [{"op": "add", "path": "/spec/modules/0/channel", "value": "fast"}]
    browser.patch(*PLACE, patch)
    apply_entries(cluster, kyma_of(cluster), {"istio": entry("istio", channel="regular")})
    assert kyma_of(cluster).entries["istio"]["channel"] == "regular"
    assert kyma_of(cluster).own_keys("istio") == {"name", "channel", "customResourcePolicy", "managed"}


def test_a_dry_run_writes_nothing(cluster: MemoryCluster) -> None:
    before = kyma_of(cluster).object
    after = apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda")}, dry_run=True)
    assert after.entries["keda"] == entry("keda")
    assert kyma_of(cluster).object == before


def replaced(cluster: MemoryCluster) -> None:
    """The Kyma resource is deleted, and KLM makes it anew with the default modules."""
    cluster.delete(*PLACE)
    Klm(cluster).wants("istio")


def deleted(cluster: MemoryCluster) -> None:
    cluster.delete(*PLACE)


def moved(cluster: MemoryCluster) -> None:
    """A PUT of the command line, which drops a field and adds a module."""
    cli = cluster.with_field_manager("kyma")
    cli.patch(*PLACE, {"spec": {"modules": [entry("serverless"), entry("istio", channel="fast")]}})


@pytest.mark.parametrize("happens", [replaced, deleted, moved])
def test_nothing_is_written_into_a_resource_that_others_have_changed(
    cluster: MemoryCluster, happens: Callable[[MemoryCluster], None]
) -> None:
    apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda")})
    kyma = kyma_of(cluster)
    happens(cluster)
    before = cluster.get(*PLACE)
    with pytest.raises(StaleKyma):
        apply_entries(cluster, kyma, {"nats": entry("nats")})
    assert cluster.get(*PLACE) == before


def test_an_intent_that_forgets_an_entry_of_ours_is_not_written(
    cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda")})

    def forgetting(kyma: Kyma, entries: Any) -> Object:
        meta = {**META, "uid": kyma.uid}
        modules = list(entries.values())
        return {"apiVersion": VERSION, "kind": "Kyma", "metadata": meta, "spec": {"modules": modules}}

    monkeypatch.setattr(kyma_writing, "intent_with", forgetting)
    before = kyma_of(cluster).object
    with pytest.raises(StaleKyma, match="the entry of keda"):
        apply_entries(cluster, kyma_of(cluster), {"nats": entry("nats")})
    assert kyma_of(cluster).object == before


def test_entries_go_although_others_own_them_too(cluster: MemoryCluster) -> None:
    apply_entries(cluster, kyma_of(cluster), {"keda": entry("keda"), "nats": entry("nats")})
    cluster.with_field_manager("kyma").apply(
        {"apiVersion": VERSION, "kind": "Kyma", "metadata": META, "spec": {"modules": [entry("keda")]}}
    )
    take_out_entries(cluster, kyma_of(cluster), ["keda", "nats"])
    assert list(kyma_of(cluster).entries) == ["istio", "serverless"]


def reordered(cluster: MemoryCluster) -> None:
    cluster.with_field_manager("Mozilla").patch(*PLACE, [{"op": "remove", "path": "/spec/modules/0"}])


def edited(cluster: MemoryCluster) -> None:
    patch = [{"op": "add", "path": "/spec/modules/1/channel", "value": "fast"}]
    cluster.with_field_manager("Mozilla").patch(*PLACE, patch)


@pytest.mark.parametrize("happens", [replaced, reordered, edited])
def test_no_entry_is_taken_out_at_an_index_that_is_not_its_own_any_more(
    cluster: MemoryCluster, happens: Callable[[MemoryCluster], None]
) -> None:
    kyma = kyma_of(cluster)
    happens(cluster)
    before = cluster.get(*PLACE)
    with pytest.raises(StaleKyma):
        take_out_entries(cluster, kyma, ["serverless"])
    assert cluster.get(*PLACE) == before


def test_a_status_that_moves_is_no_obstacle(cluster: MemoryCluster) -> None:
    """KLM writes it every 30 seconds, so a test on the resourceVersion would mostly fail."""
    kyma = kyma_of(cluster)
    Klm(cluster).reports("istio")
    take_out_entries(cluster, kyma, ["serverless"])
    assert list(kyma_of(cluster).entries) == ["istio"]


@pytest.mark.parametrize("seed", range(20))
def test_random_lists_leave_the_entries_of_others_as_they_are(seed: int) -> None:
    chance = random.Random(seed)
    cluster = MemoryCluster()
    Klm(cluster).install()
    names = [f"module-{number}" for number in range(8)]
    others = chance.sample(names, 4)
    Klm(cluster).wants(*others)
    ours = [name for name in names if name not in others]
    before = others_of(cluster, *ours)
    for _write in range(6):
        chosen = chance.sample(ours, chance.randint(1, len(ours)))
        present = [one for one in chosen if one in kyma_of(cluster).entries]
        if present and chance.random() < 0.4:
            take_out_entries(cluster, kyma_of(cluster), present)
        else:
            entries = {name: entry(name, managed=chance.random() < 0.5) for name in chosen}
            apply_entries(cluster, kyma_of(cluster), entries)
        assert others_of(cluster, *ours) == before
