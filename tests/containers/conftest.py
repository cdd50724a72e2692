# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kind, for tests that need real containers: a connection to it and a namespace per test."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster

from tests.cluster import kind
from tests.cluster.paths import KIND_KUBECONFIG
from tests.support.eventually import eventually
from tests.support.needs import skip

HOW_TO_START = (
    "kind does not run. Start it: python -m tests.cluster up --provider kind\n"
    "Or run all tests of this kind: make containers"
)


@pytest.fixture(scope="session")
def kind_kubeconfig() -> str:
    """The path of a kubeconfig for the kind cluster that runs.

    Tests don't start kind: that takes half a minute, and minutes where its node image has to be built first.
    """
    if not kind.is_up():
        skip(f"This test needs real containers. {kind.why_not() or HOW_TO_START}")
    return str(KIND_KUBECONFIG)


@pytest.fixture
def live_cluster(kind_kubeconfig: str) -> LiveCluster:
    """A connection to kind of this test's own."""
    return connect({"kubeconfig": kind_kubeconfig})


@pytest.fixture
def namespace(kind_kubeconfig: str) -> Iterator[str]:
    """A fresh namespace on kind, with its default ServiceAccount, deleted afterwards."""
    cluster = connect({"kubeconfig": kind_kubeconfig})
    name = f"test-{secrets.token_hex(4)}"
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    # The API server refuses a pod as long as its ServiceAccount is missing.
    eventually(lambda: cluster.get("v1", "ServiceAccount", "default", name))
    yield name
    cluster.delete("v1", "Namespace", name)
