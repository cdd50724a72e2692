# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A queue of items to reconcile, each only once and never by two workers at a time."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)

FIRST_DELAY, LONGEST_DELAY = 0.5, 60.0
"""Seconds before something that failed is tried again, doubling."""


class WorkQueue(Generic[Item]):
    """Items that workers take. Usable from several threads.

    An item that is added while it waits is there once. An item that is added while a worker has it is handed
    out again after that worker has finished.

    Args:
        clock: seconds that only grow; for tests.
        slow_group: the group of an item that may hold a worker for long; None for others. All slow items
            share one worker, which their groups take in turns.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        slow_group: Callable[[Item], Hashable | None] = lambda _item: None,
    ) -> None:
        self._clock = clock
        self._slow_group = slow_group
        self._turns: dict[Hashable, int] = {}
        self._changed = threading.Condition()
        self._ready: OrderedDict[Item, None] = OrderedDict()
        self._taken: dict[Item, float] = {}
        self._again: set[Item] = set()
        self._later: list[tuple[float, int, Item]] = []
        self._due: dict[Item, float] = {}
        self._failures: dict[Item, int] = {}
        self._numbers = itertools.count()
        self._is_closed = False

    def __len__(self) -> int:
        """How many items wait for a worker now."""
        with self._changed:
            return len(self._ready) + len(self._again)

    @property
    def longest_seconds(self) -> float:
        """For how many seconds a worker has had the item that was taken first; 0 if none has one."""
        with self._changed:
            return self._clock() - min(self._taken.values()) if self._taken else 0.0

    def has_ready(self) -> bool:
        """Whether an idle worker would get an item."""
        with self._changed:
            self._promote()
            return self._next() is not None

    def add(self, item: Item) -> None:
        """Hand out an item as soon as a worker is free."""
        with self._changed:
            self._add(item)

    def add_after(self, item: Item, seconds: float) -> None:
        """Hand out an item after some time, unless it is due earlier."""
        with self._changed:
            due_time = self._clock() + seconds
            if due_time < self._due.get(item, float("inf")):
                self._due[item] = due_time
                heapq.heappush(self._later, (due_time, next(self._numbers), item))
                self._changed.notify()

    def take(self) -> Item | None:
        """Wait for an item; None once the queue is closed."""
        with self._changed:
            while not self._is_closed:
                self._promote()
                if (item := self._next()) is not None:
                    del self._ready[item]
                    self._taken[item] = self._clock()
                    if (group := self._slow_group(item)) is not None:
                        self._turns[group] = next(self._numbers)
                    return item
                self._changed.wait(self._later[0][0] - self._clock() if self._later else None)
            return None

    def done(self, item: Item) -> None:
        """Record that the work on an item has succeeded."""
        with self._changed:
            self._failures.pop(item, None)
            self._give_back(item)

    def retry(self, item: Item) -> int:
        """Record that the work on an item has failed, and hand it out later; return its failures in a row."""
        with self._changed:
            failures = self._failures[item] = self._failures.get(item, 0) + 1
            self._give_back(item)
        self.add_after(item, min(FIRST_DELAY * 2 ** (failures - 1), LONGEST_DELAY))
        return failures

    def close(self) -> None:
        """Hand out no more items."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _next(self) -> Item | None:
        """The first item that a worker may take; if it is slow, the first of the group whose turn it is."""
        is_slow_taken = any(self._slow_group(one) is not None for one in self._taken)
        first = next((one for one in self._ready if not is_slow_taken or self._slow_group(one) is None), None)
        if first is None or self._slow_group(first) is None:
            return first
        slow = [one for one in self._ready if self._slow_group(one) is not None]
        return min(slow, key=lambda one: self._turns.get(self._slow_group(one), -1), default=first)

    def _add(self, item: Item) -> None:
        self._due.pop(item, None)
        if item in self._taken:
            self._again.add(item)
        elif item not in self._ready:
            self._ready[item] = None
            self._changed.notify()

    def _give_back(self, item: Item) -> None:
        self._taken.pop(item, None)
        # A slow item that waits may be taken now.
        self._changed.notify()
        if item in self._again:
            self._again.discard(item)
            self._add(item)

    def _promote(self) -> None:
        """Move the due items from later to now; skip an entry that an earlier one has replaced."""
        now = self._clock()
        while self._later and self._later[0][0] <= now:
            due_time, _number, item = heapq.heappop(self._later)
            if self._due.get(item) == due_time:
                self._add(item)
