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


def main() -> int:
    """Run the command of the command line; return its exit code.

    Its first word is the file to write. The file has the `seconds` until the command ended, the `cpu` seconds
    of all processes, and the `peak`: the bytes of memory that the largest of them had at once.
    """
    report, *command = sys.argv[1:]
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    begin = time.monotonic()
    code = subprocess.run(command, check=False).returncode
    seconds = time.monotonic() - begin
    _wait_for_orphans()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    usage = {"seconds": seconds, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024}
    Path(report).write_text(json.dumps(usage), encoding="utf-8")
    return code


def _wait_for_orphans() -> None:
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


if __name__ == "__main__":
    sys.exit(main())
