# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: the cluster to test on, and a namespace of a test's own."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live import LiveCluster

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def kubeconfig() -> str:
    """The path of the test cluster's kubeconfig; without one, the test is skipped (but not in CI)."""
    path = Path(os.environ.get("KYMA_TEST_KUBECONFIG") or ROOT / ".cluster" / "kubeconfig")
    if not path.exists():
        message = f"no cluster to test on: there is no {path} (make cluster)"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return str(path)


@pytest.fixture
def live_cluster(kubeconfig: str) -> LiveCluster:
    """A connection of this test's own, so that its counters start at zero."""
    return connect({"kubeconfig": kubeconfig})


@pytest.fixture
def namespace(kubeconfig: str) -> Iterator[str]:
    """A fresh namespace, deleted afterwards."""
    cluster = connect({"kubeconfig": kubeconfig})
    name = f"test-{secrets.token_hex(4)}"
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    yield name
    cluster.delete("v1", "Namespace", name)
