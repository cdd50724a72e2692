# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make test-all` over several nights: what has passed already, and the page at its end."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from tests.cluster.paths import BUILD

from . import run_record
from .outcome import Outcome
from .report import Row
from .run_record import RunRecord

PAGE = BUILD / "reports" / "test-all.md"
WRITTEN_BY_STEPS = "docs/benchmarks.md"
"""The step bench writes this page, which is no change of the code."""


class Night:
    """A run of `make test-all`: a step that has passed with the same work tree is not run again."""

    def __init__(self, record: RunRecord) -> None:
        """Continue the run of a record."""
        self.record = record
        self.earlier = passed_before(record.lines)

    @classmethod
    def open(cls, seed: str, new_seed: str) -> Night:
        """Continue the last night with this work tree, or begin one.

        Args:
            seed: of the command line; may be empty.
            new_seed: for a night that continues no other.
        """
        return cls(run_record.open_record(seed, run_record.OF_NIGHTS, current_code(), new_seed))

    def keep(self, row: Row) -> None:
        """Record a step that has passed, unless the work tree has changed since the run began."""
        if not row.outcome.failed and current_code() == self.record.code:
            self.record.add(json.dumps(asdict(row)))


def current_code() -> str:
    """Return a digest of all that the steps test."""
    return run_record.code_digest(besides=WRITTEN_BY_STEPS)


def passed_before(lines: Sequence[str]) -> Mapping[str, Row]:
    """Return the steps that have passed, from the lines of a record."""
    rows = [json.loads(line) for line in lines]
    return {row["name"]: Row(**{**row, "outcome": Outcome(**row["outcome"])}) for row in rows}


def page(steps: Sequence[str], rows: Mapping[str, Row], earlier: Mapping[str, Row], head: str) -> str:
    """Return the page: what ran, what didn't, and why.

    Args:
        steps: the names of all steps.
        rows: of steps that have ended, with those of `earlier`.
        earlier: of steps that have passed in an earlier run with the same work tree.
        head: the first line.
    """
    ran = [rows[name] for name in steps if name in rows and rows[name].was_tried]
    lines = [
        f"# {head}",
        "",
        "## What ran",
        "",
        "| step | result | seconds | CPU s | passed | failed | skipped |",
        "|---|---|---:|---:|---:|---:|---:|",
        *(_line(row, row.name in earlier) for row in ran),
        "",
        "## What did not run, and why",
        "",
    ]
    not_run = [
        f"- `{name}`: {_why_not(rows.get(name))}" for name in steps if name not in {row.name for row in ran}
    ]
    parts = [
        f"- part of `{row.name}`: {reason}"
        for row in ran
        for reason in row.outcome.left_out.split("; ")
        if reason
    ]
    return "\n".join([*lines, *([*not_run, *parts] or ["Everything ran."]), ""])


def _line(row: Row, is_earlier: bool) -> str:
    outcome = row.outcome
    result = f"FAILED: {outcome.note.splitlines()[0] if outcome.note else ''}" if outcome.failed else "passed"
    if is_earlier:
        result += " in an earlier run"
    counts = f"{outcome.passed} | {outcome.failed} | {outcome.skipped}"
    return f"| `{row.name}` | {result} | {row.seconds:.0f} | {outcome.cpu_seconds:.0f} | {counts} |"


def _why_not(row: Row | None) -> str:
    return row.outcome.note if row else "the run was ended before; `make test-all` goes on with it"


def write_page(text: str) -> None:
    """Write the page, and print it."""
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"\n{text}\nThis page is {PAGE}.", flush=True)
