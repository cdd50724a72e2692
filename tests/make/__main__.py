# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make <verb>...`: what the Makefile calls."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.cluster.errors import ClusterError

from .command import CommandError
from .outcome import Outcome, failed, write_outcome
from .report import Report
from .steps import FULL, GROUPS, STEPS, Step

FULL_EXTENT = {"KYMA_TESTS": "all", "KYMA_TEST_PAIRS": "10"}
"""Lets tests try all that they can; see tests/support/extent.py and PAIRS of the integration tests."""


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
        if options.verb == FULL:
            os.environ.update(FULL_EXTENT)
            os.environ.setdefault("SEED", f"{date.today():%Y%m%d}")
        if options.verb in GROUPS:
            return _all([STEPS[name] for name in GROUPS[options.verb]])
        if options.report:
            return _reported(STEPS[options.verb], options.report)
        return _one(STEPS[options.verb], options.kubeconfig)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
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
    outcome: Outcome
    try:
        outcome = step.do()
    except (CommandError, ClusterError) as error:
        outcome = failed(str(error))
    write_outcome(file, outcome)
    return 0 if outcome.failed == 0 else 1


def _all(steps: Sequence[Step]) -> int:
    report = Report(steps)
    report.run()
    report.close()
    return 0 if report.good else 1


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    """Stop as after Ctrl-C, so that running programs are ended."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
