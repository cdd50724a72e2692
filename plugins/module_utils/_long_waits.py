# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Alarms for waits that take long: they report what is waited for, or end the wait."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, str, str], None]
"""Takes the program that is waited for, ``waiting 10 s``, and what is missing."""
WAIT_SECONDS, WAIT_PAUSE = 10.0, 30.0
"""Seconds after which a wait for another program is reported, and after which it is reported again."""
_WAIT_LISTENERS: list[Report] = []
_REPORTED_WAITS: dict[str, float] = {}


THREAD = "alarms"
"""The name of the thread that alarms share."""


class _Alarms:
    """The alarms of a process, which share a thread; it ends once there are none."""

    def __init__(self) -> None:
        self.reset()
        # A forked process has none of the threads, and a lock may be held there for ever.
        os.register_at_fork(after_in_child=self.reset)

    def reset(self) -> None:
        """Forget all alarms."""
        self._change = threading.Condition()
        self._due: dict[object, tuple[float, Callable[[], float | None]]] = {}
        self._is_running = False

    def add(self, alarm: object, seconds: float, act: Callable[[], float | None]) -> None:
        """Set an alarm."""
        with self._change:
            due = time.monotonic() + seconds
            is_first = all(due < other for other, _act in self._due.values())
            self._due[alarm] = due, act
            if not self._is_running:
                self._is_running = True
                threading.Thread(target=self._run, name=THREAD, daemon=True).start()
            elif is_first:
                self._change.notify()

    def remove(self, alarm: object) -> None:
        """Cancel an alarm."""
        with self._change:
            self._due.pop(alarm, None)

    def _run(self) -> None:
        with self._change:
            try:
                while self._due:
                    alarm, (due, act) = min(self._due.items(), key=lambda item: item[1][0])
                    if (rest := due - time.monotonic()) > 0:
                        self._change.wait(rest)
                        continue
                    again = act()
                    if again is None:
                        del self._due[alarm]
                    else:
                        self._due[alarm] = time.monotonic() + again, act
            finally:
                self._is_running = False


_ALARMS = _Alarms()


@contextmanager
def alarm(seconds: float, act: Callable[[], float | None]) -> Iterator[None]:
    """Call ``act`` in another thread if the block takes longer; after its end it is not called.

    Args:
        seconds: until the first call.
        act: what to do, at once; it returns the seconds until its next call, or None.
    """
    key = object()
    _ALARMS.add(key, seconds, act)
    try:
        yield
    finally:
        _ALARMS.remove(key)


def listen_to_waits(listener: Report) -> None:
    """Make this process call ``listener`` for :func:`report_wait`, in place of earlier listeners."""
    _WAIT_LISTENERS[:] = [listener]


@contextmanager
def report_wait(subject: str, reason: Callable[[], str]) -> Iterator[None]:
    """Report that the block waits for another program, if it takes long.

    Any number of threads may wait for the same subject: only one of them is reported.

    Args:
        subject: the program.
        reason: says what is missing; an empty text is not reported.
    """
    begin = time.monotonic()

    def report() -> float:
        now = time.monotonic()
        text = reason()
        if text and now - _REPORTED_WAITS.get(subject, -WAIT_PAUSE) >= WAIT_PAUSE:
            _REPORTED_WAITS[subject] = now
            for listener in _WAIT_LISTENERS:
                listener(subject, f"waiting {now - begin:.0f} s", text)
        return WAIT_PAUSE

    with alarm(WAIT_SECONDS, report):
        yield
