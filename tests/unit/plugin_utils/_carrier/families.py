# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process of Python's own with children, of which tests end some, and waiting for what comes of that."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

# Python doesn't end a sleep for a signal that arrives between its look for signals and its call of the kernel
# (seen 3 times in 8,000). So a process that is ended by a signal sleeps for many short times.
SLEEP = "[time.sleep(0.1) for _turn in range(600)]"


def begin(code: str, *arguments: Path) -> subprocess.Popen[bytes]:
    """A process that runs some code, once that has printed that it has begun.

    Its output is not buffered here: `communicate` would lose what a buffer has read ahead of the first line.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
    )
    assert process.stdout
    assert process.stdout.readline() == b"begun\n"
    return process


def comes_true(what: Callable[[], bool], seconds: float = 30) -> bool:
    """Wait until something is so, for a while at most; whether it is."""
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.05)
    return what()
