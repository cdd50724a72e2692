# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of what takes too long, and of what fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.benchmark import __main__ as benchmark
from tests.benchmark import trial
from tests.benchmark.measurements import Figure, Measurements, Sample, Setting
from tests.benchmark.names import CASES, FIRST, HELM, OURS, UNCHANGED
from tests.benchmark.running import Cluster, Place, TooLong
from tests.benchmark.tools.tool import Samples, Tool
from tests.benchmark.workload import Workload
from tests.cluster.procfs import is_running
from tests.support.eventually import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is used is found out on Linux only")

SLEEPS = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1e6)"])
open("child", "w").write(str(child.pid))
child.wait()
"""


OPTIONS = ["--objects", "3600", "--rounds", "1", "--tool", "helm", "--tool", "ours"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    (tmp_path / "audit.log").write_text("")
    return Cluster(tmp_path / "kubeconfig", tmp_path / "audit.log")


def test_a_command_over_its_limit_is_ended_with_its_child_processes(place: Place, cluster: Cluster) -> None:
    with pytest.raises(TooLong, match="longer than the 6 s") as raised, place.within(6):
        place.run([sys.executable, "-c", SLEEPS], cluster)
    assert raised.value.limit == 6
    child = int((place.folder / "child").read_text())
    eventually(lambda: not is_running(child))


def test_several_commands_have_one_time_together(place: Place, cluster: Cluster) -> None:
    def one_after_the_other() -> None:
        with place.within(3):
            for _number in range(100):
                place.run([sys.executable, "-c", "import time; time.sleep(0.5)"], cluster)

    with pytest.raises(TooLong):
        one_after_the_other()
    place.run([sys.executable, "-c", ""], cluster)


class Fine(Tool):
    """It is done at once."""

    row = OURS
    seconds = 1.0

    def first(self) -> Samples:
        """Nothing."""
        return {self.row: Sample(self.seconds, 0.5, 1_000_000)}

    unchanged = changed = first


class Slow(Fine):
    """It does not come to an end where nothing has changed."""

    row = HELM

    def unchanged(self) -> Samples:
        """Take too long."""
        raise TooLong("helm", 900)


class AtHand(Workload):
    """What is deployed, without any objects."""

    def __init__(self, *_given: object) -> None:
        self.count = 7


@pytest.fixture
def two_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def no_cluster(place: Place, **_where: int) -> Iterator[Cluster]:
        yield Cluster(place.folder, place.folder)

    monkeypatch.setattr(Place, "cluster", no_cluster)
    monkeypatch.setattr(benchmark, "Workload", AtHand)
    monkeypatch.setattr(benchmark, "_release", Path)
    monkeypatch.setattr(benchmark, "versions", lambda: "versions")
    figure = Figure("memory of the engine", 99, "MB", 150)
    monkeypatch.setattr(
        benchmark, "measure_errands", lambda _place, measurements, _most: measurements.figures.append(figure)
    )
    monkeypatch.setattr(benchmark, "measure_store", lambda *_given: None)
    monkeypatch.setattr(benchmark, "measure_fleet", lambda *_given: None)
    for module in (trial, benchmark):
        monkeypatch.setattr(module, "TOOLS", {"helm": Slow, "ours": Fine})


@pytest.mark.usefixtures("two_tools")
def test_a_tool_that_takes_too_long_stops_no_other_and_the_page_has_what_was_measured(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    assert benchmark.main([*OPTIONS, "--write", str(page)]) == 1
    text = page.read_text()
    assert "| helm upgrade, all components | > 900 s |      > 900 |" in text
    assert text.count("| kyma.lifecycle ") == len(CASES)
    assert "Not measured: helm with 3600 objects, 0 ms away, to its end." in text
    assert "is ended, and has that time with a `>`" in text
    assert "| memory of the engine |    99 MB |  150 MB | kept |" in text


@pytest.mark.usefixtures("two_tools")
def test_the_page_is_there_after_the_first_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"

    def cut_off(_tool: Tool) -> Samples:
        raise SystemExit(page.read_text())

    monkeypatch.setattr(Fine, "first", cut_off)
    monkeypatch.setattr(Slow, "first", Fine.changed)
    with pytest.raises(SystemExit, match="> 900 s"):
        benchmark.main([*OPTIONS, "--write", str(page)])


@pytest.mark.usefixtures("two_tools")
def test_cases_after_one_over_its_limit_are_not_measured(place: Place) -> None:
    measurements = Measurements()
    tool = trial.Trial("helm", place, AtHand(), 3600, 0, measurements)
    with pytest.raises(TooLong):
        tool.run(CASES, trial.Rounds(1, 1, 1))
    assert measurements.settings == [Setting(FIRST, 3600), Setting(UNCHANGED, 3600)]
