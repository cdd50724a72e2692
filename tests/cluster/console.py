# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The output for people during a long command."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

PLAIN_SECONDS = 60.0
"""Between two lines of progress where no line can move."""
_CLEAR = "\r\x1b[K"


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


class MovingLine:
    """The progress of a long command: one line that moves on a terminal, a few plain lines elsewhere."""

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin with no line."""
        self._out = out or sys.stdout
        self._moves = self._out.isatty()
        self._clock = clock
        self._last = clock()

    def show(self, text: str) -> None:
        """Show the progress; where no line can move, only from time to time."""
        if self._moves:
            self._write(f"{_CLEAR}{text[: shutil.get_terminal_size().columns - 1]}")
        elif self._clock() - self._last >= PLAIN_SECONDS:
            self._last = self._clock()
            self._write(f"{text}\n")

    def clear(self) -> None:
        """Remove the line."""
        if self._moves:
            self._write(_CLEAR)

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print what begins, and how long it took."""
    say(f"{what} ...")
    begin = time.monotonic()
    yield
    say(f"{what}: {time.monotonic() - begin:.1f} s")
