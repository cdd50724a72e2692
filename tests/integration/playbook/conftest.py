# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster for each file of tests: they deploy whole releases, and a cluster has only one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT
from tests.support.accounts import deployer_of
from tests.support.needs import skip
from tests.support.own_cluster import OwnCluster, new_cluster
from tests.support.playbook_run import Playbook
from tests.support.small_release import SmallRelease


@pytest.fixture(scope="module")
def own_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnCluster]:
    """A new, empty cluster of plain processes, ended after the last test of the file."""
    with new_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def may_hold() -> bool:
    """Whether the file's account also has the role of those who hold clusters; a file that holds says so."""
    return False


@pytest.fixture(scope="module")
def playbook(own_cluster: OwnCluster, tmp_path_factory: pytest.TempPathFactory, may_hold: bool) -> Playbook:
    """Runs the playbook on this file's cluster, as somebody who has the shipped role; see ``deployer_of``."""
    return deployer_of(own_cluster, tmp_path_factory.mktemp("user"), may_hold=may_hold)


@pytest.fixture(scope="module")
def kyma_releases() -> Path:
    """The folder with the real releases of Kyma; without them the test is skipped (but not in CI)."""
    folder = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data") / "kyma-releases"
    if not folder.is_dir():
        skip(f"no real releases: there is no {folder} (KYMA_TEST_DATA)")
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> SmallRelease:
    """A small release for this file's tests, still without components."""
    return SmallRelease(tmp_path_factory.mktemp("release") / "small")
