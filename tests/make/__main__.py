# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make <verb>...`: what the Makefile calls."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.cluster.console import say
from tests.cluster.errors import ClusterError
from tests.cluster.paths import ROOT

from . import night, selection, step_table
from .command import CommandError
from .cpu_time import run_measured
from .outcome import Outcome, failed, read_outcome, write_outcome
from .report import Report, Row
from .schedule import LANES
from .step_process import Running, StepProcess
from .steps import FULL, GROUPS, STEPS, TEST, Step

FULL_EXTENT = {"KYMA_TESTS": "all", "KYMA_TEST_PAIRS": "10"}
"""Lets tests try all that they can; see tests/support/extent.py and PAIRS of the integration tests."""

CONTINUED = ("demo", "cluster", "setup", "build")
"""The steps that keep what is complete when they are stopped."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the steps of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.make", description=__doc__)
    parser.add_argument("verb", choices=[*STEPS, *GROUPS])
    parser.add_argument(
        "--report", type=Path, help="the file that gets the outcome of a step, for its caller"
    )
    parser.add_argument(
        "--kubeconfig", default="", help="KUBECONFIG as an argument of make, for demo and cluster"
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        if options.verb in GROUPS:
            os.environ.pop(selection.ROOM, None)
            steps = [STEPS[name] for name in GROUPS[options.verb]]
            return _night(steps) if options.verb == FULL else _all(options.verb, steps)
        if options.report:
            return _reported(STEPS[options.verb], options.report)
        return _one(STEPS[options.verb], options.kubeconfig)
    except KeyboardInterrupt:
        more = f" `make {options.verb}` goes on from there." if options.verb in CONTINUED else ""
        print(f"Stopped.{more}", file=sys.stderr)
        return 130
    except (CommandError, ClusterError) as error:
        print(error, file=sys.stderr)
        return 1


def _one(step: Step, kubeconfig: str) -> int:
    outcome = step.do(kubeconfig) if step.takes_kubeconfig else step.do()
    if outcome.note:
        print(outcome.note, flush=True)
    return 0 if outcome.failed == 0 else 1


def _reported(step: Step, file: Path) -> int:
    """Run a step, and write its outcome to a file; the reader of the file prints the note."""
    code, cpu_seconds = run_measured(lambda: _outcome_written(step, file))
    outcome = read_outcome(file)
    if outcome:
        write_outcome(file, replace(outcome, cpu_seconds=cpu_seconds))
    return code


def _outcome_written(step: Step, file: Path) -> int:
    outcome: Outcome
    try:
        outcome = step.do()
    except (CommandError, ClusterError) as error:
        outcome = failed(str(error))
    write_outcome(file, outcome)
    return 0 if outcome.failed == 0 else 1


def _all(group: str, steps: Sequence[Step]) -> int:
    lanes = _lanes()
    report = Report(steps, lanes=lanes)
    report.run()
    report.close()
    if group == TEST:
        tried = [row for row in report.rows.values() if row.was_tried]
        costs = [step_table.cost_of(row.name, row.outcome, row.seconds) for row in tried]
        step_table.write_costs(costs, report.seconds, lanes)
    return 0 if report.good else 1


def _lanes() -> int:
    """Return how many lanes the person wants, as in `make test LANES=1`, which runs each step alone."""
    lanes = os.environ.get("LANES", "")
    if lanes and not (lanes.isdigit() and int(lanes)):
        raise CommandError(
            f"LANES={lanes}: this is no number of lanes. To run each step alone:\n  make test LANES=1"
        )
    return int(lanes or LANES)


def _night(steps: Sequence[Step], start: Callable[[Step], Running] = StepProcess) -> int:
    """Run the steps that haven't passed yet with this work tree, and end with a page about all of them."""
    os.environ.update(FULL_EXTENT)
    run = night.Night.open(os.environ.get("SEED", ""), f"{date.today():%Y%m%d}")
    os.environ["SEED"] = run.record.seed
    # A step that others need provides something, which may be gone.
    lasting = {step.name for step in steps} - {name for step in steps for name in step.needs}
    if run.earlier:
        say(
            f"Going on: {', '.join(run.earlier)} passed with this work tree and are not run again.\n"
            f"To run all steps again: rm {run.record.path.relative_to(ROOT)}"
        )

    def keep(row: Row) -> None:
        if row.name in lasting:
            run.keep(row)

    report = Report(steps, start=start, earlier=run.earlier, passed=keep)
    try:
        report.run()
    finally:
        report.close()
        head = f"make test-all, {date.today():%Y-%m-%d}, seed {run.record.seed}, work tree {run.record.code}"
        night.write_page(night.page([step.name for step in steps], report.rows, run.earlier, head))
    if report.good:
        run.record.remove()
    return 0 if report.good else 1


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    """Stop as after Ctrl-C, so that running programs are ended."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
