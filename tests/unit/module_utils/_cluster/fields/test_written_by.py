# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects without a field get one, so that the server records who has written them."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import FIELD_MANAGER
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.fields.written_by import (
    is_written_by,
    with_writer,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

MARK = {"lifecycle.kyma-project.io/written-by": FIELD_MANAGER}


def manifest(kind: str = "ServiceAccount", meta: dict[str, Any] | None = None, **content: Any) -> Any:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", **(meta or {})}, **content}


@pytest.mark.parametrize(
    "bare",
    [
        manifest(),
        manifest(meta={"namespace": "default"}),
        manifest(meta={"labels": {}, "annotations": None}),
        manifest(meta={"uid": "u", "resourceVersion": "1", "generation": 1, "creationTimestamp": "t"}),
        manifest("Cart", status={"a": "b"}),
        manifest("ConfigMap", data={}),
        manifest("Secret", data=None),
        manifest("Webhooks", webhooks=[], spec={"a": {"b": [{}]}}),
    ],
)
def test_an_object_without_a_field_is_marked(bare: dict[str, Any]) -> None:
    marked = with_writer(bare)
    assert marked["metadata"]["annotations"] == MARK
    assert with_writer(marked) == marked


@pytest.mark.parametrize(
    "manifest",
    [
        manifest(meta={"labels": {"a": ""}}),
        manifest(meta={"annotations": {"a": ""}}),
        manifest(meta={"labels": {"a": "b"}}),
        manifest(meta={"finalizers": ["a/b"]}),
        manifest("ConfigMap", data={"a": "1"}),
        manifest("ConfigMap", immutable=False),
        manifest("Deployment", spec={"replicas": 0}),
    ],
)
def test_an_object_with_a_field_stays_as_it_is(manifest: dict[str, Any]) -> None:
    assert with_writer(manifest) is manifest


@pytest.mark.cluster
def test_only_with_the_mark_does_the_server_record_the_writer(
    live_cluster: LiveCluster, namespace: str
) -> None:
    for name, marks in (("plain", False), ("marked", True)):
        obj = manifest(meta={"name": name, "namespace": namespace})
        applied = live_cluster.apply(with_writer(obj) if marks else obj)
        assert is_written_by(applied["metadata"]) is marks
