# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The namespaces whose outputs take long: they share a worker, so that others get on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

SLOW_SECONDS = 600.0
"""How long a namespace counts as slow after the last time."""


class SlowNamespaces:
    """Namespaces in which a command or an output took too long lately. Usable from several threads.

    Args:
        clock: seconds that only grow; for tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}

    def add(self, namespace: str) -> None:
        """Record that something took too long in a namespace."""
        now = self._clock()
        with self._lock:
            self._until = {name: until for name, until in self._until.items() if until > now}
            self._until[namespace] = now + SLOW_SECONDS

    def __contains__(self, namespace: object) -> bool:
        """Whether a namespace is slow."""
        return self._until.get(str(namespace), 0.0) > self._clock()
