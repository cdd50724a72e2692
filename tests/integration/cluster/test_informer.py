# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects that are held as they are now, on a real API server."""

from __future__ import annotations

import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.informer import Informer, InformerScope

from tests.support.eventually import eventually

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("metadata_only", [False, True])
def test_an_informer_follows_matching_objects_and_stops_at_once(
    live_cluster: LiveCluster, namespace: str, metadata_only: bool
) -> None:
    def config_map(name: str, label: str) -> Object:
        meta = {"name": name, "namespace": namespace, "labels": {"x": label}}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"k": "1"}}

    changes: list[tuple[Object | None, Object | None]] = []
    errors: list[Exception] = []
    live_cluster.create(config_map("first", "1"))
    live_cluster.create(config_map("other", "2"))
    subject = InformerScope("v1", "ConfigMap", namespace, "x=1", metadata_only=metadata_only)
    informer = Informer(
        live_cluster, subject, lambda old, new: changes.append((old, new)), on_error=errors.append
    )
    informer.start()
    try:
        assert informer.is_synced_within(60)
        assert [new and new["metadata"]["name"] for _old, new in changes] == ["first"]
        # The watch has begun when the next change is seen.
        live_cluster.create(config_map("second", "1"))
        eventually(lambda: len(changes) == 2)
        requests, spent = live_cluster.requests.total(), time.process_time()
        time.sleep(1)
        assert time.process_time() - spent < 0.3
        assert live_cluster.requests.total() == requests

        begun = time.monotonic()
        live_cluster.patch(
            "v1", "ConfigMap", "other", namespace, {"metadata": {"labels": {"x": "1"}}, "data": {"k": "2"}}
        )
        eventually(lambda: len(changes) == 3)
        assert time.monotonic() - begun < 10
        live_cluster.patch("v1", "ConfigMap", "first", namespace, {"metadata": {"labels": {"x": "2"}}})
        live_cluster.delete("v1", "ConfigMap", "second", namespace)
        eventually(lambda: len(changes) == 5)
        assert [(old is None, new is None) for old, new in changes] == [(True, False)] * 3 + [
            (False, True)
        ] * 2
        [held] = [one.object for one in informer._held.values()]
        assert held["metadata"]["name"] == "other"
        assert ("data" in held) is not metadata_only
        assert (held["apiVersion"], held["kind"]) == ("v1", "ConfigMap")
    finally:
        begun = time.monotonic()
        informer.stop()
        took = time.monotonic() - begun
    assert took < 10
    assert not informer._thread.is_alive()
    assert errors == []
