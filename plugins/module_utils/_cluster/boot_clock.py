# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A clock for what others may take over."""

from __future__ import annotations

import time
from pathlib import Path


def boot_clock() -> float:
    """Seconds that only grow, also while the machine sleeps, which ``time.monotonic`` does not count."""
    # Only Linux has the first; that of macOS goes on while it sleeps, and its time.monotonic() does not.
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def boot_clock_id() -> str:
    """Which clock :func:`boot_clock` is here: processes where this is the same read the same clock.

    Empty where that can't be told: the clock starts anew with each boot, and a time namespace may set it off
    (``time_namespaces(7)``).
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/time').readlink()}"
    except OSError:
        return ""
