# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes of tests: the child processes of a process, and their usage; for Linux."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from tests.cluster.procfs import stat_of

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def descendants(pid: int) -> list[int]:
    """All processes below one, as far as the ones between have not ended."""
    children: dict[int, list[int]] = defaultdict(list)
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError):
                children[int(stat_of(int(folder.name))[1])].append(int(folder.name))
    below_all, rest = [], [pid]
    while rest:
        below = children[rest.pop()]
        below_all += below
        rest += below
    return below_all


def cpu_seconds(pid: int) -> float:
    """Processors' time that a process has used so far."""
    fields = stat_of(pid)
    return (int(fields[11]) + int(fields[12])) / _TICKS


def resident_bytes(pid: int) -> int:
    """The memory that a process has resident now."""
    return int(stat_of(pid)[21]) * _PAGE
