# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CPU seconds of a step have those of all that it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT

BUSY = "import time\nwhile time.process_time() < 0.5: pass\n"
STEP = f"""
import subprocess, sys, time
from pathlib import Path
from tests.make.cpu_time import run_measured

done = Path(sys.argv[1])

def alone():
    pass

def child():
    subprocess.run([sys.executable, "-c", {BUSY!r}])

def orphan():
    # As tests.cluster starts a control plane: the program that starts it ends before it.
    program = {BUSY!r} + "import os; open(" + repr(str(done)) + ", 'w').write(str(os.getpid()))"
    subprocess.run([sys.executable, "-c", "import subprocess, sys; "
        "process = subprocess.Popen([sys.executable, '-c', " + repr(program) + "]); process.returncode = 0"])
    while not (done.exists() and done.read_text()) or Path("/proc", done.read_text()).exists():
        time.sleep(0.01)

def work():
    {{work}}()
    return 7

code, seconds = run_measured(work)
print(code, seconds)
"""


def measured(work: str, folder: Path) -> tuple[int, float]:
    script = STEP.replace("{work}", work)
    done = subprocess.run(
        [sys.executable, "-c", script, folder / "done"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    code, seconds = done.stdout.split()
    return int(code), float(seconds)


def test_the_exit_code_is_that_of_the_step(tmp_path: Path) -> None:
    code, seconds = measured("alone", tmp_path)
    assert code == 7
    assert seconds < 0.5


def test_a_program_that_it_waits_for_counts(tmp_path: Path) -> None:
    assert measured("child", tmp_path)[1] >= 0.5


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans another parent")
def test_a_program_whose_parent_has_ended_counts(tmp_path: Path) -> None:
    code, seconds = measured("orphan", tmp_path)
    assert code == 7
    assert seconds >= 0.5
