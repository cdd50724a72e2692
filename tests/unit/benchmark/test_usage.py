# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How what a command uses is found out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmark.running import USAGE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are handed on by Linux only")

DETACHED = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        memory = b"x" * 150_000_000
        open("done", "w").close()
    os._exit(0)
os.wait()
"""


def used(folder: Path, *command: str) -> tuple[int, dict[str, float]]:
    report = folder / "usage.json"
    words = [sys.executable, str(USAGE), str(report), *command]
    code = subprocess.run(words, cwd=folder, check=False, timeout=60).returncode
    return code, json.loads(report.read_text())


def test_detached_processes_are_counted(tmp_path: Path) -> None:
    code, usage = used(tmp_path, sys.executable, "-c", DETACHED)
    assert code == 0
    assert (tmp_path / "done").exists()
    assert usage["peak"] > 140_000_000


def test_the_memory_of_the_main_process_is_that_of_no_other(tmp_path: Path) -> None:
    child = "memory = b'x' * 150_000_000"
    # Several, so that the main process exists long enough to be read.
    run = f"subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    code = f"import subprocess, sys; [{run} for number in range(5)]"
    _code, usage = used(tmp_path, sys.executable, "-c", code)
    assert 1_000_000 < usage["main"] < 100_000_000 < usage["peak"]


def test_the_exit_code_is_the_commands(tmp_path: Path) -> None:
    assert used(tmp_path, sys.executable, "-c", "raise SystemExit(3)")[0] == 3


def test_processors_time_is_counted(tmp_path: Path) -> None:
    _code, usage = used(tmp_path, sys.executable, "-c", "sum(range(3_000_000))")
    assert usage["cpu"] > 0
    assert usage["seconds"] > 0
