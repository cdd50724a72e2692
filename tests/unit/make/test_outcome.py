# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What steps come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import outcome, suites
from tests.make.command import CommandError
from tests.make.outcome import Outcome
from tests.make.report import Report
from tests.make.steps import GROUPS, STEPS, Step

JUNIT = """<testsuites>
<testsuite tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"/>
</testsuites>"""


def counted(tmp_path: Path, code: int, **numbers: int) -> Outcome:
    report = tmp_path / "report.xml"
    report.write_text(JUNIT.format(**{"failures": 0, "errors": 0, "skipped": 0, **numbers}))
    return suites.counts(report, code)


@pytest.fixture(params=[False, True], ids=["at a desk", "in CI"])
def in_ci(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    for module in (outcome, suites):
        monkeypatch.setattr(module, "IN_CI", request.param)
    return bool(request.param)


def test_what_is_skipped_fails_in_ci(in_ci: bool) -> None:
    result = outcome.skipped("no kind here")
    assert (result.failed, result.skipped) == ((1, 0) if in_ci else (0, 1))
    assert "no kind here" in result.note


def test_tests_that_are_skipped_fail_in_ci(in_ci: bool, tmp_path: Path) -> None:
    result = counted(tmp_path, 0, tests=5, skipped=2)
    assert (result.passed, result.failed, result.skipped) == ((3, 2, 0) if in_ci else (3, 0, 2))


def test_failures_and_errors_are_counted(tmp_path: Path) -> None:
    result = counted(tmp_path, 1, tests=9, failures=2, errors=1)
    assert (result.passed, result.failed) == (6, 3)


def test_an_end_without_a_failed_test_is_no_success(tmp_path: Path) -> None:
    assert counted(tmp_path, 2, tests=9).failed == 1
    assert suites.counts(tmp_path / "none.xml", 4).failed == 1


def test_a_report_goes_on_and_counts(capsys: pytest.CaptureFixture[str]) -> None:
    def broken() -> Outcome:
        raise CommandError("no network")

    report = Report(3)
    report.run(Step("setup", "", broken))
    report.run(Step("unit", "", outcome.passed, ("setup",)))
    report.run(Step("style", "", outcome.passed))
    report.close()
    assert not report.good
    printed = capsys.readouterr().out
    assert "not tried, as setup failed" in printed
    assert printed.splitlines()[-1] == "1 passed, 2 failed"


def test_steps_come_after_what_they_need() -> None:
    for names in GROUPS.values():
        for place, name in enumerate(names):
            assert set(STEPS[name].needs) <= set(names[:place])
