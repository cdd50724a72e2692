# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a command and writes the usage of all its processes; a separate program, for Linux.

Ansible's background tasks detach themselves, so that their usage is never added to Ansible's. So this process
adopts orphans below it, and waits for them too.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36  # prctl(2)
POLL_SECONDS = 0.02
"""How often the main process's memory is read: what it uses only in between is not seen."""


def main() -> int:
    """Run the command of the command line; return its exit code.

    Its first word is the file to write. The file has the `seconds` until the command ended, the `cpu` seconds
    of all processes, and the `peak`: the bytes of memory that the largest of them had at once. The `main` is
    the peak of the command's own process.
    """
    report, *command = sys.argv[1:]
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begin = time.monotonic()
    code, main_peak = _run(command)
    seconds = time.monotonic() - begin
    _wait_for_orphans()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
    usage = {"seconds": seconds, "cpu": cpu, "peak": peak, "main": main_peak}
    Path(report).write_text(json.dumps(usage), encoding="utf-8")
    return code


def _run(command: list[str]) -> tuple[int, int]:
    """The exit code of a command, and the peak of its memory without its children, in bytes."""
    peak = 0
    with subprocess.Popen(command) as process:
        while True:
            peak = max(peak, _peak_of(process.pid))
            try:
                return process.wait(POLL_SECONDS), peak
            except subprocess.TimeoutExpired:
                continue


def _peak_of(pid: int) -> int:
    """The peak of a process's memory so far; 0 if it has ended."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    lines = (line.split() for line in text.splitlines())
    return next((int(words[1]) * 1024 for words in lines if words[0] == "VmHWM:"), 0)


def _wait_for_orphans() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main())
