# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine counts, and the file that shows it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import metrics as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.errand_model import (
    Errand,
    ErrandKey,
    errand_from,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.metrics import (
    EngineMetrics,
    Textfile,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Outcome

from tests.support.prometheus import parse_metrics

NINE = datetime(2026, 11, 29, 9, tzinfo=UTC).timestamp()


def errand(namespace: str, phase: str, *, open_since: str = "", failed_at: str = "") -> Errand:
    """An errand in a phase."""
    run = {"number": 1, "reason": "Once", "generation": 1, "templateDigest": "", "job": "app-1"}
    status: dict[str, Any] = {"phase": phase}
    if open_since:
        status["run"] = {**run, "noted": open_since}
    if failed_at:
        status["conditions"] = [{"type": "Succeeded", "status": "False", "lastTransitionTime": failed_at}]
    return errand_from({"metadata": {"namespace": namespace, "name": "app"}, "status": status})


def outcome(state: str, reason: str = "", seconds: float | None = None) -> Outcome:
    return {"state": state, "namespace": "shop", "name": "app", "reason": reason, "seconds": seconds}


def test_outcomes_and_reconciliations_are_counted() -> None:
    metrics = EngineMetrics()
    for one in (
        outcome("waiting"),
        outcome("started", "Once"),
        outcome("started", "Once"),
        outcome("succeeded", "Completed", 2.5),
        outcome("failed", "ContainerFailed", 1.0),
        outcome("failed", "RunLost"),
    ):
        metrics.count_outcome(one)
    for has_failed in (False, False, True):
        metrics.count_reconciliation(ErrandKey("shop", "app"), has_failed=has_failed)
    errands = [
        errand("shop", "Idle"),
        errand("shop", "Idle"),
        errand("bank", "Running", open_since="2026-11-29T10:00:30Z"),
        errand("bank", "Waiting", open_since="2026-11-29T10:00:00Z"),
        errand("shop", "Failed", failed_at="2026-11-29T09:00:00Z"),
        errand("shop", "Failed", failed_at="2026-11-29T09:00:30Z"),
    ]
    text = metrics.text(errands, is_leader=True, waiting=4, oldest_reconciliation=NINE + 0.25)
    samples = parse_metrics(text)
    buckets = {
        bound: 2 if bound != "1" else 1 for bound in ("1", "5", "15", "60", "300", "900", "3600", "14400")
    }
    assert samples == {
        "kyma_errands_leader": 1,
        'kyma_errands_errands{namespace="bank",phase="Running"}': 1,
        'kyma_errands_errands{namespace="bank",phase="Waiting"}': 1,
        'kyma_errands_errands{namespace="shop",phase="Failed"}': 2,
        'kyma_errands_errands{namespace="shop",phase="Idle"}': 2,
        'kyma_errands_oldest_open_run_timestamp_seconds{namespace="bank"}': NINE + 3600,
        'kyma_errands_last_failure_timestamp_seconds{namespace="shop"}': NINE + 30,
        "kyma_errands_queue_length": 4,
        "kyma_errands_oldest_reconciliation_timestamp_seconds": NINE,
        "kyma_errands_failing_watches": 0,
        'kyma_errands_runs_started_total{namespace="shop"}': 2,
        'kyma_errands_runs_ended_total{namespace="shop",outcome="failed",reason="ContainerFailed"}': 1,
        'kyma_errands_runs_ended_total{namespace="shop",outcome="failed",reason="RunLost"}': 1,
        'kyma_errands_runs_ended_total{namespace="shop",outcome="succeeded",reason="Completed"}': 1,
        # A namespace without a failure has a zero, so that an alert sees the first one.
        'kyma_errands_run_failures_total{namespace="bank"}': 0,
        'kyma_errands_run_failures_total{namespace="shop"}': 2,
        **{
            f'kyma_errands_run_duration_seconds_bucket{{namespace="shop",le="{bound}"}}': count
            for bound, count in {**buckets, "+Inf": 2}.items()
        },
        'kyma_errands_run_duration_seconds_sum{namespace="shop"}': 3.5,
        'kyma_errands_run_duration_seconds_count{namespace="shop"}': 2,
        "kyma_errands_reconciliations_total": 3,
        'kyma_errands_reconciliation_errors_total{namespace="bank"}': 0,
        'kyma_errands_reconciliation_errors_total{namespace="shop"}': 1,
    }


def test_large_numbers_keep_all_their_digits() -> None:
    metrics = EngineMetrics()
    metrics.count_outcome(outcome("succeeded", "Completed", 12_345_678.25))
    samples = parse_metrics(metrics.text((), is_leader=False, waiting=1_234_567))
    assert samples['kyma_errands_run_duration_seconds_sum{namespace="shop"}'] == 12_345_678.25
    assert samples["kyma_errands_queue_length"] == 1_234_567


def test_odd_reasons_break_no_line() -> None:
    metrics = EngineMetrics()
    metrics.count_outcome(outcome("failed", 'a "b"\nc\\d', 1.0))
    samples = parse_metrics(metrics.text((), is_leader=True, waiting=0))
    assert (
        samples[
            'kyma_errands_runs_ended_total{namespace="shop",outcome="failed",reason="a \\"b\\"\\nc\\\\d"}'
        ]
        == 1
    )


class TestWhenItIsWritten:
    @pytest.fixture(autouse=True)
    def _clock(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.seconds = 0.0
        self.path = tmp_path / "errands.prom"
        self.made = 0
        self.file = Textfile(str(self.path), seconds=5.0, longest=60.0)
        monkeypatch.setattr(module.time, "monotonic", lambda: self.seconds)

    def write(self, text: str, seconds: float, *, now: bool = False) -> str:
        """Offer a text at a moment; what the file has since, or an empty string if it was not written."""
        self.seconds = seconds
        self.path.unlink(missing_ok=True)

        def make() -> str:
            self.made += 1
            return text

        self.file.write(make, now=now)
        return self.path.read_text() if self.path.exists() else ""

    def test_a_file_is_written_every_five_seconds_or_at_once_on_request(self) -> None:
        assert self.write("a", 0.0) == "a"
        assert self.write("b", 4.9) == ""
        assert self.made == 1
        assert self.write("b", 5.0) == "b"
        assert self.write("c", 6.0, now=True) == "c"

    def test_the_same_text_only_to_show_that_it_lives(self) -> None:
        assert self.write("a", 0.0) == "a"
        assert self.write("a", 30.0) == ""
        assert self.write("a", 60.0) == "a"

    def test_a_failure_is_not_repeated_at_every_look(self) -> None:
        self.file = Textfile(str(self.path / "nowhere" / "errands.prom"))
        with pytest.raises(FileNotFoundError):
            self.write("a", 0.0)
        self.write("a", 1.0)
        with pytest.raises(FileNotFoundError):
            self.write("a", 5.0)

    def test_no_file_is_written_without_a_path(self) -> None:
        self.file = Textfile("")
        assert self.write("a", 0.0, now=True) == ""
        assert self.made == 0
