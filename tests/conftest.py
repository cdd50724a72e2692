# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What all tests share: the cluster to test on, a namespace per test, and the check of markers."""

from __future__ import annotations

import gc
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils import _redaction
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.live_cluster import LiveCluster
from hypothesis import HealthCheck, settings

from tests.support.control_plane import control_plane, pytest_exception_interact
from tests.support.needs import skip
from tests.support.suite_markers import (
    pytest_collection_modifyitems,
    pytest_runtest_protocol,
    pytest_runtest_setup,
)

__all__ = (
    "pytest_collection_modifyitems",
    "pytest_exception_interact",
    "pytest_runtest_protocol",
    "pytest_runtest_setup",
)

ROOT = Path(__file__).resolve().parent.parent

# Garbage collection as often as by default takes a sixth of the CPU seconds of the unit tests.
gc.set_threshold(100_000)

# On a busy machine, values are made slowly: that is no fault of a test.
settings.register_profile("busy machine", suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy machine")


def pytest_collection_finish() -> None:
    """Leave the collected tests out of later garbage collections."""
    gc.freeze()


@pytest.fixture(autouse=True)
def _no_known_secrets() -> None:
    """Forget the secrets of other tests in this process: their values are words that messages have."""
    for known in (_redaction.SEEN_SECRETS, _redaction._OWN_SECRETS):
        known._values.clear()


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The path of a kubeconfig for the API server that tests share.

    Each process of `pytest -n` starts an API server of its own, so that tests of two processes do not meet.
    Without `-n`, it is the cluster of `make cluster`. KYMA_TEST_KUBECONFIG names another one for both.
    """
    named = os.environ.get("KYMA_TEST_KUBECONFIG")
    if not named and "PYTEST_XDIST_WORKER" in os.environ:
        with control_plane(tmp_path_factory.mktemp("cluster")) as started:
            yield str(started)
        return
    path = Path(named or ROOT / ".cluster" / "kubeconfig")
    if not path.exists():
        skip(f"There is no cluster to test on, because {path} does not exist. Start one: make cluster")
    yield str(path)


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
