# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters of an engine, as a textfile for Prometheus's node exporter or any scraper of files."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from .._textfile import Sample, metric_family, write_textfile

PREFIX = "kyma_errands"


class EngineMetrics:
    """Counters of an engine. Usable from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = 0
        self._ended: Counter[tuple[str, str]] = Counter()
        self._seconds = 0.0
        self._reconciled = 0
        self._failed = 0

    def count_outcome(self, outcome: Mapping[str, Any]) -> None:
        """Count a change of phase, see :data:`~.reconciler.Outcome`."""
        with self._lock:
            if outcome["state"] == "started":
                self._started += 1
            if outcome["state"] in ("succeeded", "failed"):
                self._ended[outcome["state"], outcome["reason"]] += 1
                self._seconds += outcome["seconds"] or 0.0

    def count_reconciliation(self, *, has_failed: bool) -> None:
        """Count a reconciliation of an errand."""
        with self._lock:
            self._reconciled += 1
            self._failed += has_failed

    def text(
        self,
        phases: Mapping[str, int],
        *,
        is_leader: bool,
        waiting: int,
        longest_seconds: float = 0.0,
        failing_watches: int = 0,
    ) -> str:
        """All metrics in Prometheus's text format.

        Args:
            phases: how many errands are in each phase.
            is_leader: whether it holds the lease.
            waiting: how many errands wait for a reconciliation.
            longest_seconds: that the longest reconciliation which is not over has taken so far.
            failing_watches: how many kinds are not watched at the moment.
        """
        with self._lock:
            ended = dict(sorted(self._ended.items()))
            numbers = (self._started, self._seconds, self._reconciled, self._failed)
        started, seconds, reconciled, failed = numbers
        families: list[tuple[str, str, str, list[Sample]]] = [
            ("leader", "gauge", "Whether this engine holds the lease.", [({}, int(is_leader))]),
            (
                "errands",
                "gauge",
                "Errands by phase.",
                [({"phase": phase}, count) for phase, count in sorted(phases.items())],
            ),
            ("queue_length", "gauge", "Errands that wait for a reconciliation.", [({}, waiting)]),
            (
                "longest_reconciliation_seconds",
                "gauge",
                "How long the longest reconciliation that is not over has taken so far.",
                [({}, longest_seconds)],
            ),
            (
                "failing_watches",
                "gauge",
                "Kinds that this engine does not watch at the moment, although it holds the lease.",
                [({}, failing_watches)],
            ),
            ("runs_started_total", "counter", "Runs that this engine has started.", [({}, started)]),
            (
                "runs_ended_total",
                "counter",
                "Runs whose end this engine has recorded, by outcome and reason.",
                [
                    ({"outcome": outcome, "reason": reason}, count)
                    for (outcome, reason), count in ended.items()
                ],
            ),
            ("run_seconds_total", "counter", "Seconds that these runs took.", [({}, seconds)]),
            ("reconciliations_total", "counter", "How often errands were reconciled.", [({}, reconciled)]),
            ("reconciliation_errors_total", "counter", "How often that failed.", [({}, failed)]),
        ]
        return "".join(
            metric_family(f"{PREFIX}_{name}", type_, help_, samples)
            for name, type_, help_, samples in families
        )


class Textfile:
    """A textfile that is written when something has changed, and not too often.

    An unchanged text is written once in a while, too: the file's age shows whether an engine lives.

    Args:
        path: of the file; if empty, nothing is ever written.
        seconds: the minimum between two texts.
        longest: seconds after which the same text is written again.
    """

    def __init__(self, path: str, seconds: float = 5.0, longest: float = 60.0) -> None:
        self._path = path
        self._seconds = seconds
        self._longest = longest
        self._last = ""
        self._tried = self._written = -math.inf

    def write(self, text: Callable[[], str], *, now: bool = False) -> None:
        """Write the file if it is due, or at once.

        Args:
            text: returns the text; called only when it is due.
            now: whether to write in any case.

        Raises:
            OSError: the file can't be written. The next attempt is when it is next due.
        """
        moment = time.monotonic()
        if not self._path or not (now or moment - self._tried >= self._seconds):
            return
        self._tried = moment
        made = text()
        if made != self._last or moment - self._written >= self._longest:
            write_textfile(self._path, made)
            self._last, self._written = made, moment
