# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The counters of an engine, as a textfile for Prometheus's node exporter or any scraper of files."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from .._textfile import Histogram, Sample, histogram_family, metric_family, write_textfile
from .._timestamp import parse_time
from .errand_model import Errand, ErrandKey
from .status_change import SUCCEEDED

PREFIX = "kyma_errands"
DURATIONS = (1, 5, 15, 60, 300, 900, 3600, 14400)
"""The bounds of the buckets of durations, in seconds."""


class EngineMetrics:
    """Counters of an engine. Usable from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: Counter[str] = Counter()
        self._ended: Counter[tuple[str, str, str]] = Counter()
        self._durations: dict[str, Histogram] = {}
        self._reconciled = 0
        self._errors: Counter[str] = Counter()

    def count_outcome(self, outcome: Mapping[str, Any]) -> None:
        """Count a change of phase, see :data:`~.reconciler.Outcome`."""
        namespace, state = outcome["namespace"], outcome["state"]
        with self._lock:
            if state == "started":
                self._started[namespace] += 1
            if state in ("succeeded", "failed"):
                self._ended[namespace, state, outcome["reason"]] += 1
                if outcome["seconds"] is not None:
                    durations = self._durations.setdefault(namespace, Histogram(DURATIONS))
                    durations.observe(outcome["seconds"])

    def count_reconciliation(self, key: ErrandKey, *, has_failed: bool) -> None:
        """Count a reconciliation of an errand."""
        with self._lock:
            self._reconciled += 1
            self._errors[key.namespace] += has_failed

    def text(
        self,
        errands: Collection[Errand],
        *,
        is_leader: bool,
        waiting: int,
        oldest_reconciliation: float | None = None,
        failing_watches: int = 0,
    ) -> str:
        """All metrics in Prometheus's text format.

        Args:
            errands: of the cluster.
            is_leader: whether it holds the lease.
            waiting: how many errands wait for a reconciliation.
            oldest_reconciliation: when the longest reconciliation which is not over began, in seconds since
                1970; None if there is none.
            failing_watches: how many kinds are not watched at the moment.
        """
        phases = Counter((one.key.namespace, str(one.status.phase)) for one in errands)
        # An alert sees the first failure of a namespace only if there was a zero before it.
        zeros = {namespace: 0 for namespace, _phase in phases}
        begun: list[Sample] = [] if oldest_reconciliation is None else [({}, round(oldest_reconciliation))]
        with self._lock:
            failed = Counter(zeros)
            for (namespace, outcome, _reason), count in self._ended.items():
                failed[namespace] += count if outcome == "failed" else 0
            samples: dict[str, list[Sample]] = {
                "leader": [({}, int(is_leader))],
                "errands": _samples(phases, "namespace", "phase"),
                "oldest_open_run_timestamp_seconds": _samples(_open_runs(errands), "namespace"),
                "last_failure_timestamp_seconds": _samples(_failures(errands), "namespace"),
                "queue_length": [({}, waiting)],
                "oldest_reconciliation_timestamp_seconds": begun,
                "failing_watches": [({}, failing_watches)],
                "runs_started_total": _samples(self._started, "namespace"),
                "runs_ended_total": _samples(self._ended, "namespace", "outcome", "reason"),
                "run_failures_total": _samples(failed, "namespace"),
                "reconciliations_total": [({}, self._reconciled)],
                "reconciliation_errors_total": _samples({**zeros, **self._errors}, "namespace"),
            }
            durations = histogram_family(
                f"{PREFIX}_run_duration_seconds",
                "How long the runs took whose end this engine has recorded, by namespace.",
                [({"namespace": namespace}, one) for namespace, one in sorted(self._durations.items())],
            )
        return durations + "".join(
            metric_family(
                f"{PREFIX}_{name}", "counter" if name.endswith("_total") else "gauge", _HELP[name], values
            )
            for name, values in samples.items()
        )


_HELP = {
    "leader": "Whether this engine holds the lease.",
    "errands": "Errands by namespace and phase.",
    "oldest_open_run_timestamp_seconds": "When the run was recorded that has been open for longest.",
    "last_failure_timestamp_seconds": "When the last failure was recorded that no other run has followed.",
    "queue_length": "Errands that wait for a reconciliation.",
    "oldest_reconciliation_timestamp_seconds": "When the longest reconciliation began that is not over.",
    "failing_watches": "Kinds that this engine does not watch now, although it holds the lease.",
    "runs_started_total": "Runs that this engine has started, by namespace.",
    "runs_ended_total": "Runs whose end this engine has recorded, by namespace, outcome and reason.",
    "run_failures_total": "Runs whose failure this engine has recorded, by namespace.",
    "reconciliations_total": "How often errands were reconciled.",
    "reconciliation_errors_total": "How often that failed, by namespace.",
}


def _samples(values: Mapping[Any, float], *labels: str) -> list[Sample]:
    """The samples of values by one label, or by several as a tuple."""
    keys = {key: key if isinstance(key, tuple) else (key,) for key in sorted(values)}
    return [(dict(zip(labels, words, strict=True)), values[key]) for key, words in keys.items()]


def _open_runs(errands: Iterable[Errand]) -> dict[str, float]:
    """When the run was recorded that has been open for longest, by namespace."""
    oldest: dict[str, float] = {}
    for errand in errands:
        run = errand.status.open_run
        if run and (recorded := parse_time(run.recorded_at)):
            oldest[errand.key.namespace] = min(
                recorded.timestamp(), oldest.get(errand.key.namespace, math.inf)
            )
    return oldest


def _failures(errands: Iterable[Errand]) -> dict[str, float]:
    """When the last failure was recorded that is the last run of its errand, by namespace."""
    newest: dict[str, float] = {}
    for errand in errands:
        for condition in errand.status.conditions:
            recorded = parse_time(condition.get("lastTransitionTime"))
            if (condition["type"], condition.get("status")) == (SUCCEEDED, "False") and recorded is not None:
                namespace = errand.key.namespace
                newest[namespace] = max(recorded.timestamp(), newest.get(namespace, 0.0))
    return newest


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
