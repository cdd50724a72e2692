# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A terminal that knows when it was written to."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator


def read_lines(terminal: int, seconds: float) -> Iterator[tuple[float, str]]:
    """The lines of a pseudo-terminal, each with its time (seconds since the epoch).

    They end when the terminal's other side is closed, or after that many seconds.
    """
    rest, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        ready = select.select([terminal], [], [], 1.0)[0]
        if not ready:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other side was closed
            break
        if not piece:
            break
        *whole, rest = (rest + piece).split(b"\n")
        yield from ((time.time(), line.decode().rstrip("\r")) for line in whole)
    os.close(terminal)
