# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of pytest leaves nothing running, even if it is cut off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import daemon
from tests.cluster.state import State
from tests.make import pytest_run
from tests.make.environments import MAIN
from tests.make.pytest_run import kill_marked, stop_clusters

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.mark.parametrize("place", ["cluster0", "popen-gw1/cluster0"], ids=["alone", "with -n"])
def test_a_cluster_that_a_test_has_left_is_stopped(tmp_path: Path, place: str) -> None:
    state = State(tmp_path / place / "processes" / "state.json")
    state.add(daemon.start("etcd", SLEEP, tmp_path / "log"))
    stop_clusters(tmp_path)
    assert not state.daemons[0].alive()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of processes")
def test_a_process_that_a_test_has_left_is_killed_and_no_other(tmp_path: Path) -> None:
    marks = [f"KYMA_TEST_RUN={tmp_path}/{name}" for name in ("run", "run-2")]
    ours, other = (subprocess.Popen(["env", mark, *SLEEP], start_new_session=True) for mark in marks)
    try:
        while not (Path(f"/proc/{ours.pid}/cmdline").read_bytes()).startswith(sys.executable.encode()):
            pass
        kill_marked(marks[0])
        assert ours.wait(60) == -9
        assert other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()


@pytest.mark.parametrize("may_be_empty", [True, False])
def test_a_suite_without_a_test_has_failed_unless_it_may_be_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_be_empty: bool
) -> None:
    for name in ("REPORTS", "BUILD"):
        monkeypatch.setattr(pytest_run, name, tmp_path)
    monkeypatch.setattr(pytest_run, "run", lambda *_words, **_how: 5)
    monkeypatch.setattr(pytest_run, "temporary_folder", lambda _name: tmp_path)
    outcome = pytest_run.run_pytest(MAIN, "unit", [], may_be_empty=may_be_empty)
    assert outcome.failed == (0 if may_be_empty else 1)
