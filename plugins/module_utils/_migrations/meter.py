# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that counts its calls."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator

from .._cluster.cluster import Cluster, Event
from .._cluster.wrapper import Call, ClusterWrapper, T


class Meter:
    """Counts of the interface's calls. One call may be several HTTP requests, or none if it is cached.

    Attributes:
        calls: their number by verb (a method's name); those with ``dry_run`` count as ``<verb> (dry run)``.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self._lock = threading.Lock()

    def add(self, verb: str) -> None:
        """Add a call of a verb."""
        with self._lock:
            self.calls[verb] += 1


class MeteredCluster(ClusterWrapper):
    """Another cluster whose calls a meter counts; several of these may share a meter."""

    def __init__(self, inner: Cluster, meter: Meter | None = None) -> None:
        super().__init__(inner)
        self.meter = meter or Meter()

    def _through(self, call: Call, ask: Callable[[], T]) -> T:
        self.meter.add(f"{call.verb} (dry run)" if call.dry_run else call.verb)
        return ask()

    def _watched(self, ask: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        self.meter.add("watch")
        return ask()
