# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A clock for tests: seconds pass when a test says so."""

from __future__ import annotations

import threading


class Clock:
    """Replaces the module ``time`` in a module that is tested. Usable from several threads."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._lock = threading.Lock()

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        """Let seconds pass, without waiting."""
        with self._lock:
            self._now += seconds
