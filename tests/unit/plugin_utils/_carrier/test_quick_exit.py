# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process ends without a last look for garbage, and nothing that was written gets lost by that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os, sys
from ansible_collections.kyma.lifecycle.plugins.plugin_utils.quick_exit import exit_quickly

class Log:
    def __init__(self, path):
        self.me = self  # a circle, so only a search for garbage would close the file
        self.file = open(path, "w")
    def __del__(self, write=os.write):
        write(1, b"collected ")

exit_quickly()
if "fork" in sys.argv:
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        os._exit(0)
log = Log(sys.argv[1])
log.file.write("the last line")
del log
"""


def ended(*argv: str) -> str:
    """What a process prints that has an open file in a circle of objects."""
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *argv],
        check=True,
        capture_output=True,
        text=True,
        env=dict(os.environ),
    ).stdout


def test_the_garbage_is_left_and_the_file_is_whole(tmp_path: Path) -> None:
    assert ended(str(tmp_path / "log")) == ""
    assert (tmp_path / "log").read_text() == "the last line"


def test_a_process_that_was_forked_ends_as_any_other(tmp_path: Path) -> None:
    assert ended(str(tmp_path / "log"), "fork") == "collected "
