# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an engine counts, and the file that shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands import metrics as module
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.metrics import (
    EngineMetrics,
    Textfile,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._errands.reconciler import Outcome

from tests.support.prometheus import parse_metrics


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
        metrics.count_reconciliation(has_failed=has_failed)
    samples = parse_metrics(
        metrics.text({"Idle": 3, "Running": 1}, is_leader=True, waiting=4, longest_seconds=120.0)
    )
    assert samples == {
        "kyma_errands_leader": 1,
        'kyma_errands_errands{phase="Idle"}': 3,
        'kyma_errands_errands{phase="Running"}': 1,
        "kyma_errands_queue_length": 4,
        "kyma_errands_longest_reconciliation_seconds": 120,
        "kyma_errands_failing_watches": 0,
        "kyma_errands_runs_started_total": 2,
        'kyma_errands_runs_ended_total{outcome="failed",reason="ContainerFailed"}': 1,
        'kyma_errands_runs_ended_total{outcome="failed",reason="RunLost"}': 1,
        'kyma_errands_runs_ended_total{outcome="succeeded",reason="Completed"}': 1,
        "kyma_errands_run_seconds_total": 3.5,
        "kyma_errands_reconciliations_total": 3,
        "kyma_errands_reconciliation_errors_total": 1,
    }


def test_large_numbers_keep_all_their_digits() -> None:
    metrics = EngineMetrics()
    metrics.count_outcome(outcome("succeeded", "Completed", 12_345_678.25))
    samples = parse_metrics(metrics.text({"Idle": 1_234_567}, is_leader=False, waiting=0))
    assert samples["kyma_errands_run_seconds_total"] == 12_345_678.25
    assert samples['kyma_errands_errands{phase="Idle"}'] == 1_234_567


def test_odd_reasons_break_no_line() -> None:
    metrics = EngineMetrics()
    metrics.count_outcome(outcome("failed", 'a "b"\nc\\d', 1.0))
    samples = parse_metrics(metrics.text({}, is_leader=True, waiting=0))
    assert samples['kyma_errands_runs_ended_total{outcome="failed",reason="a \\"b\\"\\nc\\\\d"}'] == 1


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
