# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which objects are seen to be valid without a server; that a server agrees is tested on a real one."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.plain_objects import is_surely_valid


def plain(kind: str = "ConfigMap", **parts: Any) -> Object:
    meta = {"name": "a.b-1", "namespace": "new", **parts.pop("metadata", {})}
    return {"apiVersion": "v1", "kind": kind, "metadata": meta, **parts}


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
    ],
    ids=lambda obj: str(obj)[:120],
)
def test_what_the_server_has_to_judge(obj: Object) -> None:
    assert not is_surely_valid(obj)
