# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make test-all` goes on where it was ended, and ends with a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.make import __main__ as make
from tests.make import night, report, run_record
from tests.make.night import Night
from tests.make.outcome import Outcome, failed, passed
from tests.make.report import Row
from tests.make.run_record import open_record
from tests.make.steps import Step

LINT = Row("lint", Outcome(1, cpu_seconds=3.0), 5.0)


@pytest.fixture(autouse=True)
def code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The digest of the work tree, and records and pages in a folder of the test."""
    digest = ["code"]
    monkeypatch.setattr(night, "current_code", lambda: digest[0])
    monkeypatch.setattr(run_record, "OF_NIGHTS", tmp_path)
    monkeypatch.setattr(make, "ROOT", tmp_path)
    monkeypatch.setattr(night, "PAGE", tmp_path / "page.md")
    monkeypatch.setattr(report, "POLL_SECONDS", 0.0)
    monkeypatch.setenv("SEED", "")
    monkeypatch.setenv("KYMA_TESTS", "")
    monkeypatch.setenv("KYMA_TEST_PAIRS", "")
    return digest


def test_a_step_that_has_passed_is_known_to_the_next_night() -> None:
    first = Night.open("", "20261126")
    first.keep(LINT)
    first.keep(Row("faults", failed("a fault"), 60.0))
    second = Night.open("", "20261127")
    assert second.record.seed == "20261126"
    assert second.earlier == {"lint": LINT}


def test_a_result_is_not_recorded_if_the_work_tree_has_changed(code: list[str]) -> None:
    first = Night.open("", "20261126")
    code[0] = "other"
    first.keep(LINT)
    assert open_record("20261126", run_record.OF_NIGHTS, "code").lines == ()


def test_the_page_says_what_ran_and_what_did_not_and_why() -> None:
    rows = {
        "lint": LINT,
        "build": Row("build", failed("no network\nmore"), 3.0),
        "bench": Row("bench", failed("not tried, as build failed"), 0.0, was_tried=False),
        "unit-all": Row("unit-all", Outcome(90, 0, 2, "", "no Python 3.14; 2 tests skipped: no data"), 60.0),
    }
    steps = ("lint", "build", "bench", "unit-all", "faults")
    lines = night.page(steps, rows, {"lint": LINT}, "a night").splitlines()
    assert lines[0] == "# a night"
    ran, not_run = "\n".join(lines).split("## What did not run, and why")
    assert "| `lint` | passed in an earlier run | 5 | 3 | 1 | 0 | 0 |" in ran
    assert "| `build` | FAILED: no network | 3 | 0 | 0 | 1 | 0 |" in ran
    assert "| `unit-all` | passed | 60 | 0 | 90 | 0 | 2 |" in ran
    assert "`bench`" not in ran
    assert not_run.split("\n")[2:] == [
        "- `bench`: not tried, as build failed",
        "- `faults`: the run was ended before; `make test-all` goes on with it",
        "- part of `unit-all`: no Python 3.14",
        "- part of `unit-all`: 2 tests skipped: no data",
    ]


def test_a_page_without_gaps_says_so() -> None:
    assert night.page(["lint"], {"lint": LINT}, {}, "a night").endswith("and why\n\nEverything ran.\n")


@dataclass
class Played:
    """A step that ends at once, or is interrupted."""

    step: Step
    log: Path
    outcome: Outcome | None
    seconds: float = 1.0

    @property
    def has_ended(self) -> bool:
        if self.outcome is None:
            raise KeyboardInterrupt
        return True

    def ask_to_end(self) -> None: ...
    def wait(self, deadline: float) -> None: ...
    def kill(self) -> None: ...


STEPS = (
    Step("setup", "", Outcome),
    Step("lint", "", Outcome, ("setup",)),
    Step("faults", "", Outcome, ("setup",)),
)


@pytest.fixture
def run_night(tmp_path: Path) -> Callable[..., tuple[int | None, list[str]]]:
    """Play `make test-all`; return its exit code, or nothing for an interruption, and the steps that ran."""

    def play(**outcomes: Outcome | None) -> tuple[int | None, list[str]]:
        ran: list[str] = []

        def start(step: Step) -> Played:
            ran.append(step.name)
            return Played(step, tmp_path / "log", outcomes.get(step.name, passed()))

        try:
            return make._night(STEPS, start), ran
        except KeyboardInterrupt:
            return None, ran

    return play


def test_a_night_goes_on_with_the_steps_that_have_not_passed(
    run_night: Callable[..., tuple[int | None, list[str]]], code: list[str]
) -> None:
    assert run_night(faults=failed("a fault")) == (1, ["setup", "lint", "faults"])
    assert run_night() == (0, ["setup", "faults"])
    assert run_night(faults=failed("a fault")) == (1, ["setup", "lint", "faults"])
    code[0] = "other"
    assert run_night() == (0, ["setup", "lint", "faults"])


def test_an_interrupted_night_has_its_page_and_goes_on(
    run_night: Callable[..., tuple[int | None, list[str]]],
) -> None:
    assert run_night(faults=None) == (None, ["setup", "lint", "faults"])
    text = night.PAGE.read_text()
    assert "| `lint` | passed | 1 | 0 | 1 | 0 | 0 |" in text
    assert "- `faults`: the run was ended before; `make test-all` goes on with it" in text
    assert run_night() == (0, ["setup", "faults"])
    assert "| `lint` | passed in an earlier run | 1 |" in night.PAGE.read_text()
