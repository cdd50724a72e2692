# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The CPU seconds of a step, with those of the programs that it starts."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

ADOPT_ORPHANS = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2): the parent of a process whose own parent has ended."""


def run_measured(work: Callable[[], int]) -> tuple[int, float]:
    """Run a function in a child process; return its exit code and the CPU seconds of it and all below it.

    On Linux that includes the programs of a control plane, which the process that starts them leaves behind.
    Processes that are still there when the function has ended, like the cluster of `make cluster`, aren't
    counted.
    """
    _adopt_orphans()
    before = _cpu_seconds_of_ended()
    child = os.fork()
    if not child:
        sys.exit(work())
    # A signal to the group of processes is for the child, whose end this one waits for.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    code = _wait_for(child)
    return code, _cpu_seconds_of_ended() - before


def _wait_for(child: int) -> int:
    """Return the exit code of a child, and take those of all other processes that end before it."""
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def _cpu_seconds_of_ended() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _adopt_orphans() -> None:
    """Become the parent of orphans below this process; other systems than Linux have no such call."""
    with suppress(AttributeError):
        ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1, 0, 0, 0)
