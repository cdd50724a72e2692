# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.make <verb>...`: what the Makefile calls."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.cluster.errors import ClusterError

from .command import CommandError
from .report import Report
from .steps import GROUPS, STEPS, Step


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the steps that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.make", description=__doc__)
    parser.add_argument("verb", choices=[*STEPS, *GROUPS])
    verb = parser.parse_args(arguments).verb
    try:
        if verb in GROUPS:
            return _all([STEPS[name] for name in GROUPS[verb]])
        return _one(STEPS[verb])
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    except (CommandError, ClusterError) as error:
        print(error, file=sys.stderr)
        return 1


def _one(step: Step) -> int:
    outcome = step.do()
    if outcome.note:
        print(outcome.note, flush=True)
    return 0 if outcome.failed == 0 else 1


def _all(steps: Sequence[Step]) -> int:
    report = Report(len(steps))
    for step in steps:
        report.run(step)
    report.close()
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
