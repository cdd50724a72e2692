# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The data of Linux on a process (proc_pid_stat(5))."""

from __future__ import annotations

from pathlib import Path


def stat_of(pid: int) -> list[str]:
    """The fields of a process's ``stat`` from the third one on: state, parent, and so on.

    Raises:
        OSError: there is no such process, or no such file system.
    """
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    # After the name in parentheses, which may hold anything.
    return stat.rpartition(")")[2].split()


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended. A zombie has ended."""
    try:
        return stat_of(pid)[0] != "Z"
    except OSError:
        return False
