# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The namespaces whose outputs take long: they share a worker in turns, so that others get on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .errand_model import ErrandKey

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
        self._until: dict[str | ErrandKey, float] = {}

    def add(self, key: ErrandKey) -> None:
        """Record that something of an errand took too long."""
        now = self._clock()
        with self._lock:
            until = {one: until for one, until in self._until.items() if until > now}
            self._until = {**until, **dict.fromkeys((key, key.namespace), now + SLOW_SECONDS)}

    def group(self, key: ErrandKey) -> tuple[str, bool] | None:
        """The namespace of an errand if it is slow, and whether that errand is slow itself; else None.

        So an errand that is not slow itself does not wait for all those of its namespace that are.
        """
        now, until = self._clock(), self._until
        return (key.namespace, until.get(key, 0.0) > now) if until.get(key.namespace, 0.0) > now else None
