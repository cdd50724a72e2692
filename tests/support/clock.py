# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A clock for tests: seconds pass when a test says so."""

from __future__ import annotations

import threading
import time

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._runs.lease import lease_session

FOREVER = 1e6
"""Seconds that no test takes. If that is the only limit, what has ended did so for another reason."""


class Clock:
    """Replaces the module ``time`` in a tested module. Usable from several threads."""

    def __init__(self) -> None:
        self._now = 1000.0
        self._lock = threading.Lock()

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        """Let seconds pass, without a wait."""
        with self._lock:
            self._now += seconds


def let_leases_expire(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no real time pass while a process waits until another one's lease has expired."""
    passing = Clock()
    monkeypatch.setattr(lease_session, "boot_clock", passing.monotonic)
    monkeypatch.setattr(lease_session, "time", passing)


class StoppedClock:
    """Replaces the module ``time`` where no limit may run out. Sleeps take as long as ever."""

    def __init__(self) -> None:
        self._now = time.monotonic()

    def monotonic(self) -> float:
        """Return the same time as ever."""
        return self._now

    def sleep(self, seconds: float) -> None:
        """Let real seconds pass."""
        time.sleep(seconds)


class WatchedClock(Clock):
    """A clock on which no time passes unseen: a sleeper continues after another thread has read the time."""

    READINGS = 3
    """After so many, whoever watches the time has acted on what it read first."""

    def __init__(self) -> None:
        super().__init__()
        self._read = threading.Condition()
        self._readers: list[int] = []

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        with self._read:
            self._readers.append(threading.get_ident())
            self._read.notify_all()
        return super().monotonic()

    def sleep(self, seconds: float) -> None:
        """Let seconds pass, and wait until another thread has seen it."""
        with self._read:
            self._readers.clear()
            super().sleep(seconds)
            own = threading.get_ident()
            self._read.wait_for(lambda: sum(one != own for one in self._readers) >= self.READINGS, 5)
