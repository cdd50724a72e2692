# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A control plane that does not start is one error, however many tests need it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT
from tests.support import control_plane

CONFTEST = """
from pathlib import Path
import pytest
from tests.support import control_plane
from tests.support.control_plane import pytest_exception_interact

control_plane.BIN = Path({bin!r})
control_plane._run = lambda _state, _verb: (1, "etcd ended while it started\\nThe load was 30")

@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory):
    with control_plane.control_plane(tmp_path_factory.mktemp("cluster")) as started:
        yield started
"""
TESTS = """
import pytest

def test_before():
    pass

@pytest.mark.parametrize("number", range(60))
def test_it(kubeconfig, number):
    pass
"""


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of a control plane, as far as anybody checks."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "kube-apiserver").touch()
    monkeypatch.setattr(control_plane, "BIN", tmp_path / "bin")


@pytest.mark.parametrize("parallel", [(), ("-n", "1")], ids=["alone", "with -n"])
def test_a_control_plane_that_fails_to_start_ends_the_session(
    tmp_path: Path, parallel: tuple[str, ...]
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST.format(bin=str(tmp_path / "bin")))
    (tmp_path / "test_it.py").write_text(TESTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *parallel, tmp_path],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert re.search(r"^1 passed, 1 error in", done.stdout, re.MULTILINE), done.stdout
    assert done.stdout.count("etcd ended while it started\nThe load was 30") == 1
    assert "because its control plane did not start" in done.stdout
    assert "Traceback" not in done.stdout


def test_a_start_that_hangs_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    verbs: list[str] = []

    def run(_state: Path, verb: str) -> tuple[int, str]:
        verbs.append(verb)
        if verb == "up":
            raise subprocess.TimeoutExpired("up", control_plane.SECONDS)
        return 0, ""

    monkeypatch.setattr(control_plane, "_run", run)
    with pytest.raises(pytest.fail.Exception, match=r"did not start\.\nIt was ended after 900 s"):
        control_plane.start(tmp_path)
    assert verbs == ["up", "down"]
