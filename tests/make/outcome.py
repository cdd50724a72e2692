# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The outcome of a step."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

IN_CI = os.environ.get("CI", "").lower() in ("true", "1", "yes")


@dataclass(frozen=True)
class Outcome:
    """How many checks passed, failed and were skipped.

    Attributes:
        passed: of its checks.
        failed: of its checks.
        skipped: of its checks.
        note: for people.
        left_out: what was not run, and why.
        cpu_seconds: that it took.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""
    left_out: str = ""
    cpu_seconds: float = 0.0


def passed(note: str = "") -> Outcome:
    """One check that passed."""
    return Outcome(passed=1, note=note)


def failed(note: str) -> Outcome:
    """One check that failed."""
    return Outcome(failed=1, note=note)


def skipped(reason: str) -> Outcome:
    """One check that can't run here; in CI, where everything has to be available, that is a failure."""
    return failed(f"{reason} (CI may skip nothing)") if IN_CI else Outcome(0, 0, 1, reason, reason)


def not_at_hand(what: str) -> Outcome:
    """One check that this machine can't run and need not: the available versions count."""
    return Outcome(note=what, left_out=what)


def together(outcomes: Iterable[Outcome]) -> Outcome:
    """Add outcomes up."""
    every = list(outcomes)
    return Outcome(
        sum(one.passed for one in every),
        sum(one.failed for one in every),
        sum(one.skipped for one in every),
        "; ".join(one.note for one in every if one.note),
        "; ".join(one.left_out for one in every if one.left_out),
        sum(one.cpu_seconds for one in every),
    )


def write_outcome(path: Path, outcome: Outcome) -> None:
    """Write an outcome to a file, whole or not at all."""
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps(asdict(outcome)), encoding="utf-8")
    draft.replace(path)


def read_outcome(path: Path) -> Outcome | None:
    """Return the outcome in a file; nothing if there is no such file."""
    try:
        return Outcome(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
