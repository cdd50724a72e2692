# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The runs in a status: pure. The newest comes first, and their number is bounded.

Errands and one-off jobs have the same history.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from .._cluster.cluster import Object
from .._loose_json import number_of
from .._record_codec import from_record, to_record
from .job_outcome import JobOutcome

MOST_RUNS = 10
"""How many runs a status remembers."""
RUNNING, SUCCEEDED, FAILED, UNKNOWN = "running", "succeeded", "failed", "unknown"
"""States of a run. Unknown is a run that the history no longer has."""


def history_entry(run: int, outcome: JobOutcome, **more: Any) -> Object:
    """A run in a status.

    Args:
        run: its number.
        outcome: how it ended.
        more: other fields of the entry.
    """
    return {"run": run, **to_record(outcome), **more}


def with_run(
    history: Iterable[Mapping[str, Any]], entry: Mapping[str, Any], most: int = MOST_RUNS
) -> list[Object]:
    """The history with one more run. An entry of the same run is replaced.

    Args:
        history: the entries so far, in any order.
        entry: of the run.
        most: how many entries to retain.
    """
    others = [dict(one) for one in history if one.get("run") != entry.get("run")]
    runs = sorted([dict(entry), *others], key=lambda one: number_of(one.get("run")), reverse=True)
    return runs[:most]


def with_names_of_newest(
    history: Iterable[Mapping[str, Any]], fields: Collection[str], most: int
) -> list[Object]:
    """A history with a bounded size: the names of the newest runs, and only the counts of all others.

    Args:
        history: the entries, the newest first.
        fields: the lists of names in an entry, the most important first. The count of ``names`` is
            ``namesCount``.
        most: characters that all lists may have together.
    """
    entries = []
    for entry_of_run in history:
        entry = dict(entry_of_run)
        for name in fields:
            size = sum(len(text) + len('"", ') for text in entry.get(name) or ())
            if size > most:
                entry[f"{name}Count"] = len(entry.pop(name))
            most = max(most - size, 0)
        entries.append(entry)
    return entries


def run_report(run: int, outcome: JobOutcome | None, state: str = "") -> Object:
    """The report on a run for people and playbooks.

    Args:
        run: its number.
        outcome: how it ended; None if it has not, or if that is unknown.
        state: of the run, if it has no outcome.
    """
    if outcome is not None:
        state = SUCCEEDED if outcome.is_success else FAILED
    reported = outcome or JobOutcome(False, "")
    return {
        "run": run,
        "state": state,
        "outcome": reported.reason,
        "message": reported.message,
        "exit_code": reported.exit_code,
        "started": reported.started,
        "finished": reported.finished,
        "seconds": reported.seconds,
    }


def entry_report(entry: Mapping[str, Any]) -> Object:
    """The report for people and playbooks on a run of the history."""
    return run_report(number_of(entry.get("run")), from_record(JobOutcome, entry))
