# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects are seen to be valid without a server; that a server agrees is tested on a real one."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.dry_run.plain_objects import (
    is_surely_valid,
)


def plain(kind: str = "ConfigMap", **parts: Any) -> Object:
    meta = {"name": "a.b-1", "namespace": "new", **parts.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta, **parts}


PORT = {"port": 80}


def service(*ports: Any, metadata: dict[str, Any] | None = None, **spec: Any) -> Object:
    meta = {"name": "a-1", **(metadata or {})}
    return plain("Service", metadata=meta, spec={"ports": list(ports), **spec})


@pytest.mark.parametrize(
    "obj",
    [
        plain(),
        plain(data={"_a-b.C": "text", "k" * 253: "v"}),
        plain(
            metadata={"labels": {"example.com/A_b": "", "app": "x" * 63}, "annotations": {"a.b/c": "any ☃"}}
        ),
        plain("Secret", type="Opaque", data={"a": "YWI="}, stringData={"b": "text"}),
        plain("Secret"),
        plain("ServiceAccount", automountServiceAccountToken=False),
        service(PORT),
        service({"port": 65535, "targetPort": "http-metrics-15", "protocol": "UDP", "name": "a" * 63}),
        service({"port": 1, "targetPort": 65535, "appProtocol": "example.com/h2c"}, selector={"app": "x"}),
        service(PORT | {"name": "tcp"}, PORT | {"name": "udp", "protocol": "UDP"}, type="ClusterIP"),
        service(PORT, clusterIP="None", publishNotReadyAddresses=True, sessionAffinity="None"),
        service(PORT, metadata={"annotations": {"prometheus.io/scrape": "true"}}),
    ],
    ids=str,
)
def test_what_is_plain_and_valid(obj: Object) -> None:
    assert is_surely_valid(obj)


@pytest.mark.parametrize(
    "obj",
    [
        plain("Deployment"),
        plain() | {"apiVersion": "v2"},
        plain(metadata={"name": "A"}),
        plain(metadata={"name": "a" * 254}),
        plain(metadata={"name": "a\n"}),
        plain(metadata={"name": 1}),
        plain(metadata={"labels": {"a": "x" * 64}}),
        plain(metadata={"labels": {"a": 1}}),
        plain(metadata={"labels": {"a": None}}),
        plain(metadata={"labels": None}),
        plain(metadata={"labels": {"-a": "b"}}),
        plain(metadata={"labels": {"A.b/c": "d"}}),
        plain(metadata={"labels": {"/c": "d"}}),
        plain(metadata={"annotations": {"a": "x" * 256 * 1024}}),
        plain(metadata={"finalizers": ["x"]}),
        plain(data={"a/b": "c"}),
        plain(data={"..a": "c"}),
        plain(data={"": "c"}),
        plain(data={"a": 1}),
        plain(data=["a"]),
        plain(data={"a": "x" * 1024 * 1024}),
        plain(binaryData={"a": "YQ=="}),
        plain(immutable="yes"),
        plain("Secret", type="kubernetes.io/tls"),
        plain("Secret", data={"a": "no base64"}),
        plain("Secret", data={"a": "YQ"}),
        plain("Secret", data={"a": "YQ==YQ=="}),
        plain("ServiceAccount", automountServiceAccountToken="no"),
        plain("ServiceAccount", data={"a": "b"}),
        plain("Service", metadata={"name": "a"}),
        plain("Service", metadata={"name": "a"}, spec=None),
        service(),
        service(PORT, metadata={"name": "1a"}),
        service(PORT, metadata={"name": "a.b"}),
        service(PORT, metadata={"name": "a" * 64}),
        service(PORT, metadata={"annotations": {"service.beta.kubernetes.io/some-ranges": "10.0.0.0/8"}}),
        service(PORT, metadata={"annotations": {"kubernetes.io/x": ""}}),
        service(PORT) | {"status": {}},
        service(PORT, type="LoadBalancer"),
        service(PORT, type=["ClusterIP"]),
        service(PORT, clusterIP="10.0.0.1"),
        service(PORT, clusterIP=None),
        service(PORT, sessionAffinity="ClientIP"),
        service(PORT, publishNotReadyAddresses="yes"),
        service(PORT, selector={"a": "-"}),
        service(PORT, selector=None),
        service(PORT, ipFamilies=["IPv6"]),
        service(PORT, ports=None),
        service(PORT, ports={"a": PORT}),
        service("80"),
        service({"targetPort": 80}),
        service({"port": "80"}),
        service({"port": True}),
        service({"port": 0}),
        service({"port": 65536}),
        service(PORT | {"targetPort": 0}),
        service(PORT | {"targetPort": "a" * 16}),
        service(PORT | {"targetPort": "a--b"}),
        service(PORT | {"targetPort": "80"}),
        service(PORT | {"targetPort": None}),
        service(PORT | {"name": "A"}),
        service(PORT | {"name": ""}),
        service(PORT | {"name": 1}),
        service(PORT | {"protocol": "tcp"}),
        service(PORT | {"protocol": ["TCP"]}),
        service(PORT | {"appProtocol": "a b"}),
        service(PORT | {"appProtocol": None}),
        service(PORT | {"nodePort": 30000}),
        service(PORT, {"port": 81}),
        service(PORT | {"name": "a"}, {"port": 81}),
        service(PORT | {"name": "a"}, {"port": 81, "name": "a"}),
        service(PORT | {"name": "a"}, PORT | {"name": "b"}),
    ],
    ids=lambda obj: str(obj)[:120],
)
def test_what_the_server_has_to_judge(obj: Object) -> None:
    assert not is_surely_valid(obj)
