# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages of workers after Ansible's main process was interrupted and no longer reads its own queue.

The main process imports an action plugin before it forks the first worker for it. So all workers share the
pipe that is created here. At its exit, the main process waits for its workers anyway and prints their
messages. It also prints those of workers that outlive it for a moment (see `exit_watcher`).
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import selectors
import time
from collections.abc import Iterator
from contextlib import suppress
from math import inf

from .screen.console import is_stdout_for_people, print_line

POLL_SECONDS = 0.2
SECONDS_AFTER_WORKERS = 10.0
"""How long to wait for messages of other processes, once all workers have ended."""
LONGEST_LINE = 2000
"""Bytes of a line; so many are written to a pipe in one piece (POSIX says 512 at least, Linux 4096)."""


class ExitMessages:
    """A pipe from the workers of the process that creates it, which prints their messages at its exit."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._screen: int | None = None
        self._reader, self._writer = os.pipe()
        # Without a reader, the pipe may be full: then no more messages are sent, and the work continues.
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        # At the exit, no plugin can be loaded any more. All workers inherit the answer, too.
        is_stdout_for_people()
        atexit.register(self._print_all)

    @property
    def writer(self) -> int:
        """The write end; the main process waits while any process holds it."""
        return self._writer

    def open_screen(self) -> None:
        """Let the lines of this worker reach the screen even if SIGTERM ends the main process first."""
        if self._screen is not None:
            return
        number = 1 if is_stdout_for_people() else 2
        # A socket can't be opened, and not every system has this folder.
        with suppress(OSError):
            self._screen = os.open(f"/proc/{self._owner}/fd/{number}", os.O_WRONLY | os.O_APPEND)

    def send_line(self, text: str) -> None:
        """Send one line."""
        line = " ".join(text.split("\n")).encode()[:LONGEST_LINE] + b"\n"
        is_orphaned = os.getppid() != self._owner
        with suppress(OSError):
            os.write(self._screen if is_orphaned and self._screen is not None else self._writer, line)

    def _print_all(self) -> None:
        if os.getpid() == self._owner:
            for line in self._lines():
                print_line(line)

    def _lines(self) -> Iterator[str]:
        """Every line that is sent, until no sender is left."""
        os.close(self._writer)
        os.set_blocking(self._reader, True)
        rest = b""
        end = inf
        with selectors.DefaultSelector() as selector:
            selector.register(self._reader, selectors.EVENT_READ)
            while time.monotonic() < end:
                if end == inf and not multiprocessing.active_children():
                    end = time.monotonic() + SECONDS_AFTER_WORKERS
                if not selector.select(POLL_SECONDS):
                    continue
                piece = os.read(self._reader, 1 << 16)
                if not piece:
                    return
                *whole, rest = (rest + piece).split(b"\n")
                yield from (line.decode(errors="replace") for line in whole)


EXIT_MESSAGES = ExitMessages()
