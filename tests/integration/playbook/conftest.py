# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster for each file of tests: they deploy whole releases, and a cluster has only one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.http.connection import connect

from tests.cluster.paths import BIN, ROOT

from .accounts import deployer_of
from .audit import AuditLog
from .own_cluster import OwnCluster
from .running import Playbook
from .synthetic import SmallRelease


def _skip(message: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A new, empty cluster of plain processes, ended after the last test of the file."""
    if not (BIN / "kube-apiserver").exists():
        _skip("no programs for a cluster of our own (python -m tests.cluster build)")
    state = tmp_path_factory.mktemp("cluster")
    _command(state, "up", "--provider", "processes")
    try:
        kubeconfig = state / "kubeconfig"
        api = connect({"kubeconfig": str(kubeconfig)})
        yield OwnCluster(kubeconfig, AuditLog(state / "audit.log"), api)
    finally:
        _command(state, "down", "--provider", "processes")


def _command(state: Path, *arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.cluster", *arguments],
        cwd=ROOT,
        env={**os.environ, "KYMA_CLUSTER_DIR": str(state)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def playbook(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory) -> Playbook:
    """Runs the playbook on this file's cluster, as somebody who has the shipped role; see ``deployer_of``."""
    return deployer_of(own_cluster, tmp_path_factory.mktemp("user"))


@pytest.fixture(scope="module")
def kyma_releases() -> Path:
    """The folder with the real releases of Kyma; without them the test is skipped (but not in CI)."""
    folder = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data") / "kyma-releases"
    if not folder.is_dir():
        _skip(f"no real releases: there is no {folder} (KYMA_TEST_DATA)")
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallRelease:
    """A small release for this file's tests, still without components."""
    return SmallRelease(tmp_path_factory.mktemp("release") / "small")
