# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs that a status remembers."""

from __future__ import annotations

from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.job_outcome import COMPLETED, JobOutcome
from ansible_collections.kyma.lifecycle.plugins.module_utils._jobs.run_history import (
    MOST_RUNS,
    history_entry,
    with_run,
)
from ansible_collections.kyma.lifecycle.plugins.module_utils._record_codec import from_record

DONE = JobOutcome(
    True, COMPLETED, exit_code=0, started="2026-11-25T00:00:00Z", finished="2026-11-25T00:01:00Z"
)


def test_an_entry_has_the_outcome_and_what_is_added() -> None:
    entry = history_entry(7, DONE, trigger="now")
    assert entry == {
        "run": 7,
        "succeeded": True,
        "reason": "Completed",
        "message": "",
        "exitCode": 0,
        "started": "2026-11-25T00:00:00Z",
        "finished": "2026-11-25T00:01:00Z",
        "trigger": "now",
    }
    assert from_record(JobOutcome, entry) == DONE


def test_an_outcome_of_a_status_that_lacks_fields() -> None:
    assert from_record(JobOutcome, {"succeeded": "yes", "exitCode": None}) == JobOutcome(False, "")


def test_the_newest_are_first_and_their_number_is_bounded() -> None:
    history: list[dict[str, object]] = []
    for run in range(1, 13):
        history = with_run(history, history_entry(run, DONE))
    assert [one["run"] for one in history] == list(range(12, 2, -1))
    assert len(history) == MOST_RUNS


def test_a_run_that_is_recorded_again_replaces_its_entry() -> None:
    before = [{"run": 2, "reason": "a"}, {"run": 1, "reason": "b"}]
    assert with_run(before, {"run": 1, "reason": "c"}) == [
        {"run": 2, "reason": "a"},
        {"run": 1, "reason": "c"},
    ]
    assert with_run(before, {"run": 10}, most=2) == [{"run": 10}, {"run": 2, "reason": "a"}]
    assert before[1]["reason"] == "b"
