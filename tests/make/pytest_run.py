# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs pytest, counts the results of its tests, and leaves no cluster behind."""

from __future__ import annotations

import hashlib
import os
import signal
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import daemon
from tests.cluster.console import say, timed
from tests.cluster.paths import BUILD, ROOT
from tests.cluster.state import State

from .command import run
from .environments import Environment
from .outcome import IN_CI, Outcome, failed, passed

REPORTS = BUILD / "reports"


@dataclass(frozen=True)
class Sharing:
    """How processes share the tests of a suite.

    Attributes:
        processes: how many there are.
        distribution: the unit for a process, as in pytest-xdist's `--dist`.
        options: more of pytest-xdist.
    """

    processes: int
    distribution: str
    options: tuple[str, ...] = ()

    @property
    def words(self) -> Sequence[str]:
        """The arguments for pytest."""
        return ["-n", str(self.processes), "--dist", self.distribution, *self.options]


BY_FILE = Sharing(2, "loadfile")
"""CI's machine has two cores, and the tests of a file often share a cluster."""
BOTH_LANES_BY_FILE = Sharing(4, "loadfile")
"""Where nothing else takes a lane: three quarters of the time of two processes."""
WAITING_BY_FILE = Sharing(3, "loadfile")
"""For files of which each waits a third of its time for its cluster."""
WAITING_IN_ORDER = Sharing(3, "loadfile", ("--no-loadscope-reorder",))
"""The same, where the tests themselves say in which order they run."""
BY_TEST = Sharing(4, "load")
"""For tests that mostly wait, and of which each process can have a cluster of its own."""
NO_TESTS = 5
"""The exit code of pytest that has no test to run."""
MARK = "KYMA_TEST_RUN"
"""The variable by which the processes of a run are known, also those that have a session of their own."""
STATES = ("*/processes/state.json", "*/*/processes/state.json")
"""Where a cluster that a test has started is recorded, below pytest's folder for temporary files."""


def run_pytest(
    environment: Environment,
    suite: str,
    arguments: Sequence[str],
    *,
    variables: Mapping[str, str] | None = None,
    sharing: Sharing | None = None,
    minutes: float = 30,
    may_be_empty: bool = False,
) -> Outcome:
    """Run pytest in an environment.

    Args:
        environment: whose Python runs it.
        suite: names its report and its folder for temporary files.
        arguments: what selects the tests.
        variables: for its environment.
        sharing: how processes share the tests; None for one process.
        minutes: after which it is ended.
        may_be_empty: whether it is no failure if the markers leave out all tests.
    """
    name = f"{environment.name}-{suite}"
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    folder = temporary_folder(name)
    words = ["-q", "-rs", f"--junit-xml={report}", f"--basetemp={folder}"]
    if sharing:
        words += sharing.words
    with timed(f"pytest in .build/{environment.name}"):
        try:
            code = run(
                [environment.python, "-m", "pytest", *words, *arguments],
                env={**environment.variables, **(variables or {}), MARK: str(folder)},
                minutes=minutes,
            )
        finally:
            stop_clusters(folder)
            kill_marked(f"{MARK}={folder}")
    return passed("there is no such test") if may_be_empty and code == NO_TESTS else counts(report, code)


def temporary_folder(name: str) -> Path:
    """Return the folder for temporary files of one suite of this checkout. Pytest empties it first."""
    checkout = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    top = Path(tempfile.gettempdir()) / f"kyma-tests-{checkout}"
    top.mkdir(mode=0o700, exist_ok=True)
    return top / name


def stop_clusters(folder: Path) -> None:
    """Stop the clusters below a folder whose tests were interrupted before they stopped them."""
    for pattern in STATES:
        for file in folder.glob(pattern):
            state = State.read(file)
            if any(one.alive() for one in state.daemons):
                say(f"stopping the cluster that a test has left in {file.parents[1]}")
                daemon.stop_all(state.daemons)


def kill_marked(mark: str) -> None:
    """Kill the processes with this in their environment whose tests were interrupted before they ended them.

    Other systems than Linux show no environment, so nothing is found there.
    """
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                say(f"killing process {process.name}, which a test has left")
                os.kill(int(process.name), signal.SIGKILL)


def counts(report: Path, code: int) -> Outcome:
    """Return the outcome of pytest's report and its exit code."""
    if not report.exists():
        return failed(f"pytest ended with exit code {code} before a test ran")
    suites = ET.parse(report).getroot().iter("testsuite")
    sums = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in suites:
        for key in sums:
            sums[key] += int(suite.get(key, "0"))
    broken = sums["failures"] + sums["errors"]
    good = sums["tests"] - broken - sums["skipped"]
    if code and not broken:
        return Outcome(good, 1, sums["skipped"], f"pytest ended with exit code {code}")
    skipped = sums["skipped"]
    if not skipped:
        return Outcome(good, broken)
    left_out = f"{skipped} tests skipped: {', '.join(_reasons(report))}"
    if IN_CI:
        note = f"{skipped} tests were skipped, which CI may not"
        return Outcome(good, broken + skipped, 0, note, left_out)
    return Outcome(good, broken, skipped, f"{skipped} tests skipped", left_out)


def _reasons(report: Path) -> Sequence[str]:
    """Return why tests were skipped, each reason once."""
    return sorted({skipped.get("message", "") for skipped in ET.parse(report).getroot().iter("skipped")})
