# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Kyma resource as a value: in the shapes that KLM and its users write, and with its owners."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER, ref_of
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import ApiError, Forbidden
from ansible_collections.kyma.lifecycle.plugins.module_utils._errors import LifecycleError
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.klm_rights import KYMA
from ansible_collections.kyma.lifecycle.plugins.module_utils._klm.kyma_resource import (
    KlmStatus,
    Kyma,
    read_kyma,
)
from ansible_collections.kyma.lifecycle.plugins.plugin_utils._migration_testing.memory_cluster import (
    MemoryCluster,
)

from tests.support.klm import PLACE, VERSION, Klm

ISTIO, KEDA = {"name": "istio"}, {"name": "keda", "state": "Unmanaged"}


def kyma_of(**parts: Any) -> Kyma:
    return Kyma({"metadata": {"uid": "1", **parts.pop("metadata", {})}, **parts})


@pytest.mark.parametrize(
    ("parts", "entries", "statuses"),
    [
        ({}, [], []),
        ({"spec": {"channel": "fast"}}, [], []),
        ({"spec": {"modules": None}, "status": {"modules": []}}, [], []),
        ({"spec": {"modules": [ISTIO]}, "status": {"modules": [ISTIO, KEDA]}}, ["istio"], ["istio", "keda"]),
    ],
)
def test_a_module_is_named_in_the_spec_or_in_the_status(
    parts: Any, entries: list[str], statuses: list[str]
) -> None:
    kyma = kyma_of(**parts)
    assert (list(kyma.entries), list(kyma.statuses)) == (entries, statuses)
    assert all(kyma.names(one) for one in (*entries, *statuses))
    assert not kyma.names("nats")


def test_the_resource_describes_the_runtime() -> None:
    assert (kyma_of().channel, kyma_of(spec={"channel": "fast"}).channel) == ("regular", "fast")
    assert kyma_of(metadata={"deletionTimestamp": "2026-11-30T10:00:00Z"}).is_deleting
    assert kyma_of(metadata={"labels": {"operator.kyma-project.io/skip-reconciliation": "true"}}).is_skipped
    assert not kyma_of().is_deleting
    assert not kyma_of().is_skipped
    assert kyma_of(status={"lastOperation": {"lastUpdateTime": "now"}}).last_operation == "now"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (KlmStatus("Ready", "1.0.0", has_template=True), False),
        (KlmStatus("Error", "1.0.0", has_template=True), False),
        (KlmStatus("Error", message="no versions found for channel: nope"), True),
        (KlmStatus("Warning", "1.0.0", message="it is slow", has_template=True), False),
        (
            KlmStatus("Warning", "1.0.0", message="module template update not allowed", has_template=True),
            True,
        ),
    ],
)
def test_klm_does_not_find_what_the_entry_wants(status: KlmStatus, *, expected: bool) -> None:
    assert status.is_lookup_error is expected


def test_no_resource_is_read_where_the_kind_is_not_served() -> None:
    cluster = MemoryCluster()
    assert read_kyma(cluster) is None
    assert [one for one in cluster.requests if one.ref.kind == KYMA.kind] == []
    Klm(cluster).install()
    cluster.delete(*PLACE)
    assert read_kyma(cluster) is None
    klm = Klm(cluster)
    klm.wants("keda")
    kyma = read_kyma(cluster)
    assert kyma is not None
    assert list(kyma.entries) == ["keda"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Forbidden("get Kyma", status=403, api_message="no right"), "no right"),
        (ApiError("get Kyma", status=500, api_message="etcd is away"), "etcd is away"),
    ],
)
def test_a_read_that_fails_is_no_proof_that_there_is_no_klm(error: ApiError, reason: str) -> None:
    cluster = MemoryCluster()
    Klm(cluster).install()
    cluster.fail_when(lambda request: request.verb == "get" and request.ref.kind == "Kyma", error)
    with pytest.raises(
        LifecycleError, match="whether Kyma's lifecycle manager manages this cluster"
    ) as raised:
        read_kyma(cluster)
    assert reason in str(raised.value)


def test_keys_of_an_entry_have_owners() -> None:
    """Ours alone, ours and another's, and another's alone."""
    cluster = MemoryCluster()
    klm = Klm(cluster)
    klm.install()
    entries = [{"name": "keda", "channel": "fast", "managed": True}]
    meta = {"name": PLACE[2], "namespace": PLACE[3]}
    intent = {"apiVersion": VERSION, "kind": "Kyma", "metadata": meta, "spec": {"modules": entries}}
    cluster.with_field_manager(FIELD_MANAGER).apply(intent, force=True)
    browser = cluster.with_field_manager("Mozilla")
    browser.apply(
        {**intent, "spec": {"channel": "regular", "modules": [{"name": "keda", "channel": "fast"}]}}
    )
    kyma = read_kyma(cluster)
    assert kyma is not None
    assert ref_of(kyma.object) == KYMA
    assert kyma.own_keys("keda") == {"name", "channel", "managed"}
    assert kyma.sole_keys("keda") == {"managed"}
    assert kyma.writer_of("keda", "channel")[0] == "Mozilla"
    assert kyma.writer_of("keda", "managed") == ("", "")
    assert kyma.own_keys("istio") == frozenset()
