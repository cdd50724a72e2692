# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.benchmark`: measure, print tables, and fail where a bound is broken."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Collection, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.cluster.console import say, timed
from tests.cluster.errors import ClusterError
from tests.cluster.paths import ROOT

from .bounds import bounds
from .measurements import Measurements
from .names import CASES, OURS, SIZES
from .page import page, workloads
from .running import BenchmarkError, Place
from .tables import report
from .trial import TOOLS, Trial, rounds_of
from .versions import versions
from .workload import COMPONENT, Workload

RELEASE = "2.9"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[*CASES, []], help="default: all of them")
    parser.add_argument("--objects", type=int, choices=SIZES, action="append", help="default: both")
    parser.add_argument("--tool", choices=TOOLS, action="append", help="default: all; bounds need both sides")
    parser.add_argument("--rounds", type=int, help="at most so many of everything, at least 1")
    parser.add_argument("--write", type=Path, help="the page that gets the tables, if all went well so far")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)  # so that no cluster is left behind
    measurements = Measurements()
    counts: dict[int, int] = {}
    failures: list[str] = []
    for objects in options.objects or SIZES:
        with timed(f"{objects} objects"):
            counts[objects], failed = _measure(
                objects, options.cases or CASES, options.tool or TOOLS, options.rounds, measurements
            )
        failures += failed
    found = bounds(measurements)
    tables = report(measurements, found)
    load, cores = os.getloadavg()[1], os.cpu_count() or 1
    say(f"\n{tables}\nThe load was {load:.1f} on {cores} cores.")
    if failures:
        print(f"Not measured: {', '.join(failures)}; see above.", file=sys.stderr)
    if options.write and not failures:
        facts = {"versions": versions(), "release": RELEASE, "ours": OURS, "component": COMPONENT}
        options.write.write_text(page(tables, **facts, workloads=workloads(counts)), encoding="utf-8")
    return 0 if not failures and all(bound.kept for bound in found) else 1


def _measure(
    objects: int,
    cases: Collection[str],
    tools: Collection[str],
    limit: int | None,
    measurements: Measurements,
) -> tuple[int, list[str]]:
    """Let each tool deploy so many objects; return how many exactly, and who failed, which stops no other."""
    failures = []
    with tempfile.TemporaryDirectory(prefix="kyma-bench-") as folder:
        place = Place(Path(folder))
        workload = Workload(_release(), place.folder / "workload", objects // SIZES[0])
        for tool in tools:
            trial = Trial(tool, place, workload, objects, measurements)
            try:
                trial.run(cases, rounds_of(tool, objects, limit))
            except (BenchmarkError, ClusterError) as error:
                failures.append(f"{tool} with {objects} objects")
                print(f"{failures[-1]}: {error}", file=sys.stderr)
        return workload.count, failures


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit("Stopped.")


def _release() -> Path:
    data = Path(os.environ.get("KYMA_TEST_DATA") or ROOT.parent / "shared" / "data")
    release = data / "kyma-releases" / RELEASE
    if not release.is_dir():
        raise BenchmarkError(f"There is no {release}: set KYMA_TEST_DATA to a folder with Kyma's releases.")
    return release


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchmarkError, ClusterError) as error:
        sys.exit(str(error))
