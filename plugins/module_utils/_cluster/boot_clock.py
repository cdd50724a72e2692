# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A clock for leases that other processes may take over."""

from __future__ import annotations

import time
from pathlib import Path


def boot_clock() -> float:
    """Seconds that only increase, also while the machine is suspended, unlike those of ``time.monotonic``."""
    # Only Linux has CLOCK_BOOTTIME. On macOS CLOCK_MONOTONIC counts suspend, and time.monotonic() does not.
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def boot_clock_id() -> str:
    """The identity of the clock of :func:`boot_clock`: processes with the same id read the same clock.

    Empty if it is unknown: the clock restarts with each boot, and a time namespace may shift it
    (``time_namespaces(7)``).
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {Path('/proc/self/ns/time').readlink()}"
    except OSError:
        return ""
