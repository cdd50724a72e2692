# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counting what is asked of a cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.errors import NotFound
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.login import Login
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.transport import Transport
from ansible_collections.kyma.lifecycle.plugins.module_utils._migrations.meter import MeteredCluster

from tests.support.apiserver import Reply, Seen, discovery_or, serve, status

OBJECT = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}}


@pytest.fixture
def metered() -> Iterator[MeteredCluster]:
    """A metered cluster in which every object is there, but for Pods."""

    def script(request: Seen) -> Reply:
        return status(404, "NotFound", "no", name="a") if "/pods/" in request.path else Reply(OBJECT)

    with serve(discovery_or(script)) as server:
        yield MeteredCluster(LiveCluster(Transport(Login(server.url))))


def test_calls_are_handed_on_and_counted_by_verb(metered: MeteredCluster) -> None:
    assert metered.get("v1", "ConfigMap", "a", "n") == OBJECT
    assert metered.get("v1", "Pod", "a", "n") is None
    assert metered.apply(OBJECT) == OBJECT
    assert metered.apply(OBJECT, dry_run=True) == OBJECT
    assert metered.create(OBJECT) == OBJECT
    assert metered.delete("v1", "ConfigMap", "a", "n")

    assert metered.meter.calls == {"get": 2, "apply": 1, "apply (dry run)": 1, "create": 1, "delete": 1}


def test_failures_count_too(metered: MeteredCluster) -> None:
    with pytest.raises(NotFound):
        metered.patch("v1", "Pod", "a", "n", {})
    assert metered.meter.calls == {"patch": 1}


def test_another_field_manager_counts_on_the_same_meter(metered: MeteredCluster) -> None:
    metered.with_field_manager("other").apply(OBJECT)
    assert metered.meter.calls == {"apply": 1}


def test_a_watch_counts_once_however_long(metered: MeteredCluster) -> None:
    assert list(metered.watch("example.org/v1", "Thing", resource_version="1", seconds=0.05)) == []
    assert metered.meter.calls == {"watch": 1}
