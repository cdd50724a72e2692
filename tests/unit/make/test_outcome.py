# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What steps come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import outcome, pytest_run
from tests.make.outcome import Outcome

JUNIT = """<testsuites>
<testsuite tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"/>
</testsuites>"""


SKIPPED = """<testsuites><testsuite tests="3" failures="0" errors="0" skipped="2">
<testcase name="a"><skipped message="no data"/></testcase>
<testcase name="b"><skipped message="no data"/></testcase>
</testsuite></testsuites>"""


def counted(tmp_path: Path, code: int, **numbers: int) -> Outcome:
    report = tmp_path / "report.xml"
    report.write_text(JUNIT.format(**{"failures": 0, "errors": 0, "skipped": 0, **numbers}))
    return pytest_run.counts(report, code)


@pytest.fixture(params=[False, True], ids=["at a desk", "in CI"])
def in_ci(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    for module in (outcome, pytest_run):
        monkeypatch.setattr(module, "IN_CI", request.param)
    return bool(request.param)


def test_a_skipped_step_fails_in_ci(in_ci: bool) -> None:
    result = outcome.skipped("no kind here")
    assert (result.failed, result.skipped) == ((1, 0) if in_ci else (0, 1))
    assert "no kind here" in result.note


def test_tests_that_are_skipped_fail_in_ci(in_ci: bool, tmp_path: Path) -> None:
    result = counted(tmp_path, 0, tests=5, skipped=2)
    assert (result.passed, result.failed, result.skipped) == ((3, 2, 0) if in_ci else (3, 0, 2))


@pytest.mark.usefixtures("in_ci")
def test_each_reason_of_skipped_tests_is_shown_once(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(SKIPPED)
    assert pytest_run.counts(tmp_path / "report.xml", 0).left_out == "2 tests skipped: no data"


def test_a_missing_interpreter_is_left_out() -> None:
    both = outcome.together([outcome.not_at_hand("no Python 3.14"), Outcome(2, cpu_seconds=1.5), Outcome(1)])
    assert both == Outcome(3, note="no Python 3.14", left_out="no Python 3.14", cpu_seconds=1.5)


def test_failures_and_errors_are_counted(tmp_path: Path) -> None:
    result = counted(tmp_path, 1, tests=9, failures=2, errors=1)
    assert (result.passed, result.failed) == (6, 3)


def test_an_end_without_a_failed_test_is_no_success(tmp_path: Path) -> None:
    assert counted(tmp_path, 2, tests=9).failed == 1
    assert pytest_run.counts(tmp_path / "none.xml", 4).failed == 1


def test_an_outcome_survives_its_file(tmp_path: Path) -> None:
    file = tmp_path / "outcome.json"
    assert outcome.read_outcome(file) is None
    outcome.write_outcome(file, Outcome(3, 1, 2, "a note", "a part", 1.5))
    assert outcome.read_outcome(file) == Outcome(3, 1, 2, "a note", "a part", 1.5)
    file.write_text("{")
    assert outcome.read_outcome(file) is None
