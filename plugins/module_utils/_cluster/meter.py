# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that counts its calls and measures the time of their answers."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from .cluster import Cluster, Event
from .wrapper import WRITES, Call, ClusterWrapper, T


class Meter:
    """Counts of the interface's calls. One call may be several HTTP requests, or none if it is cached.

    Attributes:
        calls: their number by verb (a method's name); those with ``dry_run`` count as ``<verb> (dry run)``.
        seconds: the time spent in them, by verb; parallel calls each count in full.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.seconds: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()

    def add(self, verb: str, seconds: float, calls: int = 1) -> None:
        """Add calls of a verb and their total time in seconds."""
        with self._lock:
            self.calls[verb] += calls
            self.seconds[verb] += seconds

    @property
    def reads(self) -> int:
        """The number of calls that can't have changed anything."""
        return sum(self.calls.values()) - self.writes

    @property
    def writes(self) -> int:
        """The number of calls that may have changed something."""
        return sum(self.calls[verb] for verb in WRITES)


class MeteredCluster(ClusterWrapper):
    """Another cluster whose calls a meter counts; several of these may share a meter."""

    def __init__(self, inner: Cluster, meter: Meter | None = None) -> None:
        super().__init__(inner)
        self.meter = meter or Meter()

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        started = time.monotonic()
        try:
            return ask()
        finally:
            verb = f"{call.verb} (dry run)" if call.dry_run else call.verb
            self.meter.add(verb, time.monotonic() - started)

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        self.meter.add("watch", 0.0)
        started = time.monotonic()
        try:
            yield from ask()
        finally:
            self.meter.add("watch", time.monotonic() - started, calls=0)
