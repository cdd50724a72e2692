# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.benchmark`: measure, print tables, and fail if a bound is broken."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tests.cluster.console import say, timed
from tests.cluster.errors import ClusterError
from tests.cluster.paths import ROOT

from .bounds import bounds
from .errands import measure_errands
from .fleet import measure_fleet
from .measurements import Measurements
from .names import CASES, ERRANDS, FLEET, NEAR, OURS, PARTS, ROUND_TRIPS, SIZES, SMALL
from .page import limits, page, workloads
from .running import BenchmarkError, Place
from .store import measure_store
from .tables import report
from .trial import TOOLS, Trial, rounds_of
from .versions import versions
from .workload import COMPONENT, Workload

RELEASE = "2.9"
OURS_TOOL = "ours"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the cases of the command line; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmark", description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[*CASES, *PARTS, []], help="default: all of them")
    parser.add_argument("--objects", type=int, choices=SIZES, action="append", help="default: both")
    parser.add_argument("--away", type=int, choices=ROUND_TRIPS, action="append", help="ms; default: all")
    parser.add_argument("--tool", choices=TOOLS, action="append", help="default: all; bounds need both sides")
    parser.add_argument("--rounds", type=int, help="at most so many of everything, at least 1")
    parser.add_argument("--limit", type=float, help="seconds that one time of one case of a tool may take")
    parser.add_argument("--write", type=Path, help="the page that gets the tables, after each tool")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)  # so that no cluster is left behind
    measurements = Measurements()
    counts: dict[int, int] = {}
    for objects, away in _distances(options) if _deployments(options) else ():
        with timed(f"{objects} objects, {away} ms away"):
            for count in _measure(objects, away, options, measurements):
                counts[objects] = count
                # After each tool, so that its measurements survive an interruption.
                if options.write:
                    _write(options.write, measurements, counts, options.limit)
    for part in _parts(options):
        _measure_part(part, options, measurements)
        if options.write:
            _write(options.write, measurements, counts, options.limit)
    checked = bounds(measurements)
    load, cores = os.getloadavg()[1], os.cpu_count() or 1
    say(f"\n{report(measurements, checked)}\nThe load was {load:.1f} on {cores} cores.")
    is_met = all(one.is_met for one in checked) and all(one.is_met for one in measurements.figures)
    return 0 if is_met and not measurements.failures else 1


def _deployments(options: argparse.Namespace) -> list[str]:
    """The cases of deployments to measure."""
    return [case for case in options.cases or CASES if case in CASES]


def _distances(options: argparse.Namespace) -> list[tuple[int, int]]:
    """The sizes to measure, each with the round trips to the cluster: large ones only where it is near."""
    return [
        (objects, away)
        for objects in options.objects or SIZES
        for away in options.away or ROUND_TRIPS
        if objects == SMALL or away == NEAR
    ]


def _parts(options: argparse.Namespace) -> list[str]:
    """The cases on clusters of their own to measure."""
    if OURS_TOOL not in (options.tool or [OURS_TOOL]):
        return []
    return [part for part in PARTS if part in (options.cases or PARTS)]


def _measure_part(part: str, options: argparse.Namespace, measurements: Measurements) -> None:
    with timed(part), tempfile.TemporaryDirectory(prefix="kyma-bench-") as folder:
        place = Place(Path(folder))
        try:
            if part == FLEET:
                measure_fleet(place, measurements, _release(), options.rounds)
            elif part == ERRANDS:
                measure_errands(place, measurements, options.rounds)
            else:
                measure_store(place, measurements, options.rounds)
        except (BenchmarkError, ClusterError) as error:
            measurements.failures.append(f"{part} to the end")
            print(f"{part}: {error}", file=sys.stderr)


def _measure(
    objects: int, away: int, options: argparse.Namespace, measurements: Measurements
) -> Iterator[int]:
    """Let each tool deploy so many objects, and yield the exact number; a failing one stops no other."""
    with tempfile.TemporaryDirectory(prefix="kyma-bench-") as folder:
        place = Place(Path(folder))
        workload = Workload(_release(), place.folder / "workload", objects // SIZES[0])
        for tool in options.tool or TOOLS:
            trial = Trial(tool, place, workload, objects, away, measurements, options.limit)
            try:
                trial.run(_deployments(options), rounds_of(tool, objects, options.rounds, round_trip=away))
            except (BenchmarkError, ClusterError) as error:
                measurements.failures.append(f"{tool} with {objects} objects, {away} ms away, to its end")
                print(f"{tool} with {objects} objects: {error}", file=sys.stderr)
            yield workload.count


def _write(file: Path, measurements: Measurements, counts: Mapping[int, int], limit: float | None) -> None:
    facts = {
        "versions": versions(),
        "release": RELEASE,
        "ours": OURS,
        "component": COMPONENT,
        "limits": limits(limit),
    }
    tables = report(measurements, bounds(measurements))
    file.write_text(page(tables, **facts, workloads=workloads(counts)), encoding="utf-8")


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
