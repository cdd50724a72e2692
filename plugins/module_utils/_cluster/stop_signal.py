# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A signal with which one thread ends the wait of another, also a wait for a server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class StopSignal:
    """Signals once, and for good, that a thread must stop. Usable from several threads.

    A thread that waits in a system call can't see it: it registers a function that ends such a wait.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._interrupts: dict[object, Callable[[], None]] = {}

    @property
    def is_set(self) -> bool:
        """Whether the signal is set."""
        return self._event.is_set()

    def set(self) -> None:
        """Set the signal, and end the registered waits."""
        if self._event.is_set():
            return
        with self._lock:
            self._event.set()
            # Under the lock: a wait that has just ended must not be interrupted any more.
            for interrupt in self._interrupts.values():
                interrupt()

    def wait(self, seconds: float) -> None:
        """Wait until the signal is set, or some seconds have passed."""
        self._event.wait(seconds)

    @contextmanager
    def interrupting(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Register a function that ends the wait in this block.

        Args:
            interrupt: ends the wait, from another thread. It must not block, and must not fail without a
                wait. It is called at once if the signal is already set.
        """
        key = object()
        with self._lock:
            if self._event.is_set():
                interrupt()
            self._interrupts[key] = interrupt
        try:
            yield
        finally:
            with self._lock:
                del self._interrupts[key]
