# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real API server accepts whatever is seen to be valid without it."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.dry_run.plain_objects import (
    is_surely_valid,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.support.extent import examples

pytestmark = pytest.mark.cluster

# Mostly what is allowed, at the edges of it, and now and then what is not.
EDGES = st.sampled_from(
    ["a" * 63, "b" * 64, "c" * 253, "x" * 254, "", "-", ".", "..a", "a.", "A/b", "a/b/c", "é"]
)
WORDS = st.from_regex(r"([a-z0-9]{1,3}[.-])?[a-z0-9]{1,3}/?[A-Za-z0-9_.]{1,4}", fullmatch=True) | EDGES
NAMES = st.from_regex(r"([a-z0-9]{1,3}[.-]{1,2})?[a-z0-9]{1,3}", fullmatch=True) | EDGES
TEXTS = st.text(max_size=8)
ENCODED = st.binary(max_size=6).map(lambda data: base64.b64encode(data).decode()) | st.text(
    "aA=+/\n ", max_size=6
)


def mostly(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.integers(1, 12).flatmap(lambda number: odd if number == 12 else usual)


LABELS = st.from_regex(r"[a-z]([a-z0-9-]{0,3}[a-z0-9])?", fullmatch=True)
PORT_NUMBERS = mostly(st.sampled_from([1, 2, 3, 65535]), st.sampled_from([0, 65536]))
PORTS = st.fixed_dictionaries(
    {"port": PORT_NUMBERS, "name": mostly(LABELS, LABELS | EDGES)},
    optional={
        "targetPort": PORT_NUMBERS | mostly(LABELS, st.sampled_from(["a" * 15, "a" * 16, "a--b", ""])),
        "protocol": mostly(st.sampled_from(["TCP", "UDP", "SCTP"]), st.just("tcp")),
        "appProtocol": mostly(st.sampled_from(["http", "a.b/c"]), st.sampled_from(["A.b/c", ""])),
    },
)
SERVICES = st.fixed_dictionaries(
    {"ports": mostly(st.lists(PORTS, min_size=1, max_size=3), st.just([]))},
    optional={
        "type": mostly(st.just("ClusterIP"), st.sampled_from(["NodePort", "ExternalName"])),
        "clusterIP": mostly(st.just("None"), st.sampled_from(["", "10.0.0.300"])),
        "selector": st.dictionaries(LABELS, mostly(LABELS, WORDS), max_size=2),
        "publishNotReadyAddresses": st.booleans(),
        "sessionAffinity": mostly(st.just("None"), st.sampled_from(["ClientIP", "none"])),
    },
)
PAYLOADS = {
    "ConfigMap": st.fixed_dictionaries({"data": st.dictionaries(WORDS, TEXTS, max_size=2)}),
    "Secret": st.fixed_dictionaries(
        {
            "type": st.sampled_from(["Opaque", "kubernetes.io/tls"]),
            "data": st.dictionaries(WORDS, ENCODED, max_size=2),
            "stringData": st.dictionaries(WORDS, TEXTS, max_size=2),
        }
    ),
    "Service": st.fixed_dictionaries({"spec": SERVICES}),
    "ServiceAccount": st.fixed_dictionaries({"automountServiceAccountToken": st.booleans()}),
}
METADATA = st.fixed_dictionaries(
    {"name": mostly(LABELS, NAMES), "namespace": st.just("default")},
    optional={
        "labels": st.dictionaries(mostly(LABELS, WORDS), mostly(LABELS, WORDS), max_size=2),
        "annotations": st.dictionaries(mostly(LABELS, WORDS), TEXTS, max_size=2),
    },
)


@pytest.mark.parametrize("kind", PAYLOADS)
@settings(
    max_examples=examples(25),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(data=st.data())
def test_the_server_accepts_what_is_surely_valid(
    live_cluster: LiveCluster, kind: str, data: st.DataObject
) -> None:
    meta, payload = data.draw(METADATA), data.draw(PAYLOADS[kind])
    obj: Object = {"apiVersion": "v1", "kind": kind, "metadata": meta, **payload}
    assume(is_surely_valid(obj))
    live_cluster.create(obj, dry_run=True)
