# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free ports, so that two checkouts can run side by side."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress

FIRST, LAST = 20000, 29999
"""Below the range from which the system chooses ports itself, so that no other program gets one by chance."""


def free(count: int) -> list[int]:
    """Return so many different free ports of the loopback address."""
    with ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            port = random.randint(FIRST, LAST)
            with suppress(OSError):
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
                ports.append(port)
        return ports
