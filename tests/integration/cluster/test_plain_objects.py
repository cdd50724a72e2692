# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real API server accepts whatever is seen to be valid without it."""

from __future__ import annotations

import base64

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Object
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.live import LiveCluster
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.plain_objects import is_surely_valid
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

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


@st.composite
def objects(draw: st.DrawFn) -> Object:
    kind = draw(st.sampled_from(["ConfigMap", "Secret", "ServiceAccount"]))
    meta = {
        "name": draw(NAMES),
        "namespace": "default",
        "labels": draw(st.dictionaries(WORDS, WORDS, max_size=2)),
        "annotations": draw(st.dictionaries(WORDS, TEXTS, max_size=2)),
    }
    obj: Object = {"apiVersion": "v1", "kind": kind, "metadata": meta}
    if kind == "ServiceAccount":
        return {**obj, "automountServiceAccountToken": draw(st.booleans())}
    if kind == "ConfigMap":
        return {**obj, "data": draw(st.dictionaries(WORDS, TEXTS, max_size=2))}
    return {
        **obj,
        "type": draw(st.sampled_from(["Opaque", "kubernetes.io/tls"])),
        "data": draw(st.dictionaries(WORDS, ENCODED, max_size=2)),
        "stringData": draw(st.dictionaries(WORDS, TEXTS, max_size=2)),
    }


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(obj=objects())
def test_the_server_accepts_what_is_surely_valid(live_cluster: LiveCluster, obj: Object) -> None:
    event(str(is_surely_valid(obj)))
    if is_surely_valid(obj):
        live_cluster.create(obj, dry_run=True)
