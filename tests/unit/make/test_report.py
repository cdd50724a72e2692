# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of several steps shows, and how it ends."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT
from tests.make import report as reports
from tests.make.outcome import Outcome, failed, passed
from tests.make.report import Report, Row
from tests.make.screen import Screen
from tests.make.step_process import StepProcess, stop_all
from tests.make.steps import Step

OUTCOMES: Mapping[str, Outcome] = {
    "good": Outcome(1, cpu_seconds=2.5),
    "bad": failed("no network"),
    "wide": passed(),
}


@dataclass
class Played:
    """A step that prints a line each time it is looked at, and ends after some."""

    step: Step
    log: Path
    outcome: Outcome
    lines: int
    seconds: float = 1.5
    ended: list[str] = field(default_factory=list)

    @property
    def has_ended(self) -> bool:
        self.lines -= 1
        with self.log.open("a") as file:
            file.write(f"{self.step.name} has {self.lines} to go\n")
        return self.lines <= 0

    def ask_to_end(self) -> None:
        self.ended.append("asked")

    def wait(self, deadline: float) -> None:
        assert deadline > time.monotonic()
        self.ended.append("waited for")
        if self.step.name == "impatient":
            raise KeyboardInterrupt

    def kill(self) -> None:
        self.ended.append("killed")


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "POLL_SECONDS", 0.0)


@pytest.fixture
def out() -> io.BytesIO:
    return io.BytesIO()


@pytest.fixture
def begin(tmp_path: Path, out: io.BytesIO) -> Callable[..., Report]:
    """Make a report on steps that are played."""

    def report(
        *steps: Step,
        lines: Mapping[str, int] | None = None,
        started: list[Played] | None = None,
        earlier: Mapping[str, Row] | None = None,
        passed: Callable[[Row], None] = lambda _row: None,
    ) -> Report:
        def start(step: Step) -> Played:
            made = Played(step, tmp_path / step.name, OUTCOMES[step.name], (lines or {}).get(step.name, 1))
            if started is not None:
                started.append(made)
            return made

        return Report(steps, start=start, screen=Screen(out), earlier=earlier, passed=passed)

    return report


def step(name: str, *needs: str, lanes: int = 1) -> Step:
    return Step(name, f"what {name} does", Outcome, needs, lanes=lanes)


def test_the_report_goes_on_after_a_failure_and_counts_it(
    begin: Callable[..., Report], out: io.BytesIO, capsys: pytest.CaptureFixture[str]
) -> None:
    report = begin(step("bad"), step("wide", "bad", lanes=2), step("good"))
    report.run()
    report.close()
    assert not report.good
    assert b"wide: FAILED in 0.0 s\nnot tried, as bad failed\n" in out.getvalue()
    table = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in table if line][1:6] == ["step", "bad", "wide", "good", "one"]
    assert "bad                    1.5      0.0       0       1        0  no network" in table
    assert "good                   1.5      2.5       1       0        0" in table
    assert "one by one             3.0      2.5" in table
    assert table[-1] == "1 passed, 2 failed"


def test_a_step_that_has_passed_before_is_counted_and_not_run_again(begin: Callable[..., Report]) -> None:
    earlier = {"bad": Row("bad", passed(), 60.0)}
    started: list[Played] = []
    recorded: list[Row] = []
    report = begin(step("bad"), step("good", "bad"), started=started, earlier=earlier, passed=recorded.append)
    report.run()
    assert [one.step.name for one in started] == ["good"]
    assert report.good
    assert report.rows["bad"] == earlier["bad"]
    assert recorded == [report.rows["good"]]


def test_a_step_that_failed_or_was_not_tried_has_not_passed(begin: Callable[..., Report]) -> None:
    recorded: list[Row] = []
    report = begin(step("bad"), step("wide", "bad"), passed=recorded.append)
    report.run()
    assert recorded == []
    assert [row.was_tried for row in report.rows.values()] == [True, False]


def test_output_of_steps_side_by_side_is_not_mixed(begin: Callable[..., Report], out: io.BytesIO) -> None:
    report = begin(step("good"), step("bad"), lines={"good": 4, "bad": 2})
    report.run()
    assert report.good is False
    lines = out.getvalue().decode().splitlines()
    shown = [line for line in lines if line and set(line) != {"-"}]
    assert shown == [
        "[1/2] good: what good does",
        "good has 3 to go",
        "[beside it] bad: FAILED in 1.5 s",
        "good has 2 to go",
        "good has 1 to go",
        "good has 0 to go",
        "good: ok in 1.5 s",
        "[2/2] bad: what bad does",
        "bad has 1 to go",
        "bad has 0 to go",
        "bad: FAILED in 1.5 s",
        "no network",
    ]


def test_a_step_that_runs_on_is_shown_when_the_one_before_it_has_ended(
    begin: Callable[..., Report], out: io.BytesIO
) -> None:
    begin(step("good"), step("wide"), lines={"good": 2, "wide": 4}).run()
    text = out.getvalue().decode()
    assert text.index("good: ok") < text.index("wide has 3 to go") < text.index("wide: ok")
    assert "beside it" not in text


def test_an_interrupt_ends_all_steps(begin: Callable[..., Report], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reports.time, "sleep", interrupt)
    started: list[Played] = []
    report = begin(step("good"), step("bad"), lines={"good": 9, "bad": 9}, started=started)
    with pytest.raises(KeyboardInterrupt):
        report.run()
    assert [one.ended for one in started] == [["asked", "waited for", "killed"]] * 2


def test_a_second_interrupt_kills_the_steps(tmp_path: Path) -> None:
    steps = [Played(step(name), tmp_path / name, passed(), 1) for name in ("impatient", "good")]
    with pytest.raises(KeyboardInterrupt):
        stop_all(steps)
    assert [one.ended for one in steps] == [["asked", "waited for", "killed"], ["asked", "killed"]]


def test_a_step_s_process_leaves_its_outcome(tmp_path: Path) -> None:
    script = "import pathlib, sys; print('done'); pathlib.Path(sys.argv[-1]).write_text('{\"passed\": 7}')"
    process = of_script(tmp_path, script)
    wait(lambda: process.has_ended)
    assert process.outcome == Outcome(7)
    assert process.log.read_text() == "done\n"


def test_a_step_s_process_that_breaks_down_has_failed(tmp_path: Path) -> None:
    process = of_script(tmp_path, "raise SystemExit(3)")
    wait(lambda: process.has_ended)
    assert process.outcome == failed("the step ended with exit code 3 and no result")


def test_ctrl_c_ends_what_a_step_has_started(tmp_path: Path) -> None:
    """As `make` has it: a report, its step, and a program in a session of its own."""
    pid = tmp_path / "pid"
    program = f"""
import os, pathlib, signal, sys, time
def stop(*_arguments):
    pathlib.Path({str(tmp_path / "stopped")!r}).touch()
    sys.exit(0)
signal.signal(signal.SIGINT, stop)
pathlib.Path({str(pid)!r}).write_text(str(os.getpid()))
for _turn in range(600):
    time.sleep(0.1)
"""
    step_script = f"""
import signal, sys
from tests.make.__main__ import _stop
from tests.make.command import run
signal.signal(signal.SIGTERM, _stop)
run([sys.executable, "-c", {program!r}])
"""
    report_script = f"""
import signal, sys
from pathlib import Path
from tests.make.outcome import Outcome
from tests.make.report import Report
from tests.make.step_process import StepProcess, stop_all
from tests.make.steps import Step
# A shell starts what it runs in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
StepProcess._command = lambda self: [sys.executable, "-c", {step_script!r}]
Report([Step("long", "", Outcome)], start=lambda step: StepProcess(step, Path({str(tmp_path)!r}))).run()
"""
    with subprocess.Popen(
        [sys.executable, "-c", report_script], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as make:
        wait(lambda: pid.exists() and pid.read_text() != "")
        make.send_signal(signal.SIGINT)
        assert make.wait(90) != 0
    assert (tmp_path / "stopped").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def of_script(folder: Path, script: str) -> StepProcess:
    class Scripted(StepProcess):
        def _command(self) -> list[str | Path]:
            return [sys.executable, "-c", script, self._report]

    return Scripted(step("good"), folder)


def wait(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 90
    while not until():
        assert time.monotonic() < end
        time.sleep(0.01)
