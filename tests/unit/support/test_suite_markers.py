# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A test without the marker that it needs is refused, when it is collected or when it starts a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import permission
from tests.cluster.errors import ClusterError
from tests.cluster.paths import ROOT

CONFTEST = """
import pytest
from tests.support.suite_markers import *

@pytest.fixture(scope="session")
def kubeconfig():
    return "here"

@pytest.fixture(scope="session")
def kind_kubeconfig():
    return "here"

@pytest.fixture(scope="module")
def own_cluster():
    from tests.cluster import permission
    permission.check()

@pytest.fixture
def deployed(own_cluster):
    pass
"""
STARTS = "from tests.cluster import permission\n\ndef test_it():\n    permission.check()\n"


def pytest_on(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on a file with this text."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_it.py").write_text(f"import pytest\n{text}")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n  cluster\n  control_plane\n  containers\n")
    environment = {
        name: value for name, value in os.environ.items() if name not in ("PYTEST_ADDOPTS", permission.MARKED)
    }
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, folder],
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["alone", "with -n"])
def test_a_fixture_for_a_cluster_needs_a_marker(tmp_path: Path, parallel: tuple[str, ...]) -> None:
    done = pytest_on(tmp_path, "def test_it(deployed):\n    pass\n", *parallel)
    assert done.returncode != 0
    message = "test_it uses the fixture own_cluster: mark it with pytest.mark.control_plane"
    assert message in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("fixture", "marker", "other"),
    [("kubeconfig", "cluster", "control_plane"), ("kind_kubeconfig", "containers", "cluster")],
)
def test_each_fixture_has_its_own_marker(tmp_path: Path, fixture: str, marker: str, other: str) -> None:
    done = pytest_on(tmp_path, f"@pytest.mark.{other}\ndef test_it({fixture}):\n    pass\n")
    assert done.returncode != 0
    assert f"mark it with pytest.mark.{marker}" in done.stdout + done.stderr


def test_a_test_with_the_marker_runs(tmp_path: Path) -> None:
    text = "pytestmark = pytest.mark.control_plane\n\ndef test_it(deployed):\n    pass\n"
    done = pytest_on(tmp_path, text)
    assert done.returncode == 0, done.stdout


def test_starting_a_cluster_by_other_means_needs_one_too(tmp_path: Path) -> None:
    done = pytest_on(tmp_path, STARTS)
    assert done.returncode == 1
    assert "test_it.py::test_it (call) starts a control plane: mark it with pytest.mark.contr" in done.stdout
    assert pytest_on(tmp_path, f"pytestmark = pytest.mark.cluster\n{STARTS}").returncode == 0


def test_a_control_plane_may_start_outside_of_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(permission.MARKED, raising=False)
    with pytest.raises(ClusterError, match="mark it"):
        permission.check()
    monkeypatch.delenv(permission.RUNNING_TEST)
    permission.check()
