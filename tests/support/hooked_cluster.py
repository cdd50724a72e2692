# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with hooks at its calls: a test counts or fails them, or lets others act meanwhile."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.cluster import Cluster, Event
from ansible_collections.kyma.lifecycle.plugins.module_utils._cluster.wrapper import Call, ClusterWrapper

T = TypeVar("T")
Hook = Callable[[int, Call], None]
"""Gets the number of a call, from 1, and the call. What it raises is what the call raises."""


class Killed(BaseException):
    """The process ends here, as by SIGKILL: no code that handles errors sees it."""


def no_hook(number: int, call: Call) -> None:
    """Nothing happens."""


def kill_at(last: int) -> Hook:
    """A hook that ends the process at the call with this number."""

    def kill(number: int, _call: Call) -> None:
        if number == last:
            raise Killed

    return kill


class HookedCluster(ClusterWrapper):
    """Another cluster, whose calls are numbered in their order.

    Args:
        inner: that answers them.
        before, after: called before a call, and between its effect and its answer.
    """

    def __init__(self, inner: Cluster, *, before: Hook = no_hook, after: Hook = no_hook) -> None:
        super().__init__(inner)
        self.calls: list[Call] = []
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._before, self._after = before, after

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        with self._lock:
            number = next(self._numbers)
            self.calls.append(call)
        self._before(number, call)
        answer = ask()
        self._after(number, call)
        return answer

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        yield from ask()
