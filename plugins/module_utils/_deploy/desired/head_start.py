# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A head start for the components that decide when their wave is done."""

from __future__ import annotations

import threading
from collections.abc import Collection

LONGEST = 1.0
"""Seconds: who is not applied by then, as a migration comes first, keeps nobody waiting any longer."""


class HeadStart:
    """Lets some components apply before the others of their wave begin; usable from several threads.

    Args:
        first: the names of those that go first.
    """

    def __init__(self, first: Collection[str]) -> None:
        self._first = frozenset(first)
        self._left = set(first)
        self._lock = threading.Lock()
        self._over = threading.Event()
        if not first:
            self._over.set()

    def wait(self, name: str) -> None:
        """Wait for those that go first, unless this is one of them."""
        if name not in self._first:
            self._over.wait(LONGEST)

    def applied(self, name: str) -> None:
        """Take note that a component is applied, or won't be."""
        with self._lock:
            self._left.discard(name)
            if not self._left:
                self._over.set()
