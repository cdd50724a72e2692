# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.benchmark`: measure, print a table, and fail where a bound is broken."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.console import say
from tests.cluster.errors import ClusterError
from tests.cluster.paths import ROOT

from .comparison import Comparison
from .first_deployment import first_deployment
from .nothing_to_do import nothing_to_do
from .running import BenchmarkError, Place

CASES = ("small", "large", "first")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="default: all of them")
    parser.add_argument("--rounds", type=int, default=9, help="of playbooks that have nothing to do (9)")
    parser.add_argument("--clusters", type=int, default=3, help="for each side of the first deployment (3)")
    options = parser.parse_args(arguments)
    try:
        release = _release()
        with tempfile.TemporaryDirectory(prefix="kyma-bench-") as folder:
            place = Place(Path(folder))
            comparisons = [
                _measure(case, place, release, options.rounds, options.clusters)
                for case in options.cases or CASES
            ]
    except (BenchmarkError, ClusterError) as error:
        print(error, file=sys.stderr)
        return 1
    _print(comparisons)
    return 0 if all(one.good for one in comparisons) else 1


def _measure(case: str, place: Place, release: Path, rounds: int, clusters: int) -> Comparison:
    if case == "small":
        return nothing_to_do(place, release, copies=1, bound=1.3, rounds=rounds)
    if case == "large":
        return nothing_to_do(place, release, copies=10, bound=1.8, rounds=rounds)
    return first_deployment(place, release, bound=0.5, rounds=clusters)


def _release() -> Path:
    release = (
        Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data") / "kyma-releases" / "2.9"
    )
    if not release.is_dir():
        raise BenchmarkError(f"There is no {release}: set KYMA_TEST_DATA to a folder with Kyma's releases.")
    return release


def _print(comparisons: Sequence[Comparison]) -> None:
    rows = [("what", "seconds", "against", "seconds", "ratio", "bound", "")]
    rows += [one.row() for one in comparisons]
    widths = [max(len(row[column]) for row in rows) for column in range(7)]
    say("")
    for row in rows:
        columns = [
            text.rjust(width) if column in (1, 3, 4) else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        say("  ".join(columns).rstrip())
    load, cores = os.getloadavg()[1], os.cpu_count() or 1
    say(f"\nMedians of several runs, taken in turns; the load was {load:.1f} on {cores} cores.")


if __name__ == "__main__":
    sys.exit(main())
