# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The threat model has a test for each "can't", and `make test` runs each that it names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.cluster.paths import ROOT

PAGE = (ROOT / "docs" / "threat_model.md").read_text()
FILES = tuple((ROOT / "tests").rglob("test_*.py"))
ROWS = re.findall(r"^\| ([^|]+) \| (`test_[^|]+) \|$", PAGE, re.MULTILINE)


def test_each_table_of_what_they_cant_has_a_test_in_each_row() -> None:
    tables = re.findall(r"^\| [\w ]+ can't \| proven by \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert len(tables) == 13
    assert sum(table.count("\n") for table in tables) == len(ROWS) > 20


@pytest.mark.parametrize(("claim", "proof"), ROWS)
def test_make_test_runs_each_proof(claim: str, proof: str) -> None:
    assert claim
    files = re.findall(r"`(test_\w+\.py)`((?:[:,;] `test_\w+`)*)", proof)
    assert [f"`{name}`" for name, _tests in files] == re.findall(r"`test_\w+\.py`", proof)
    for name, listed in files:
        tests = re.findall(r"\w+", listed)
        assert tests, f"{name} is named without a test"
        run = {test for path in FILES if path.name == name for test in usual_tests(path)}
        assert run.issuperset(tests), f"make test does not run {set(tests) - run} of {name}"


NIGHT = "pytest.mark.night"


def usual_tests(path: Path) -> set[str]:
    """The tests of a file that each `make test` runs, not only `make test-all` or some of them."""
    tests = {test.name: test for test in found_tests(ast.parse(path.read_text()).body)}
    if path.parent.name != "faults":
        return {*tests}
    # Of the tests of a fault it runs one, which chance chooses.
    folder = (test for other in FILES if other.parent == path.parent for test in faults_in(other).values())
    count = Counter(folder)
    return {name for name, fault in faults_in(path).items() if count[fault] == 1}


def found_tests(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """The tests that are there without `IS_FULL`, and have a case then; none that are for a night."""
    if any("pytestmark" in text and NIGHT in text for text in map(ast.unparse, body)):
        return
    for one in body:
        if isinstance(one, ast.ClassDef):
            yield from found_tests(one.body)
        elif isinstance(one, ast.If):
            yield from found_tests(one.orelse if ast.unparse(one.test) == "IS_FULL" else one.body)
        elif isinstance(one, ast.FunctionDef) and one.name.startswith("test_"):
            marks = [ast.unparse(mark) for mark in one.decorator_list]
            if not any(map(is_left_out, marks)):
                yield one


def is_left_out(mark: str) -> bool:
    """Whether `make test` leaves out all cases of a test with this decorator."""
    return "cases([]," in mark or ("skipif" in mark and "IS_FULL" in mark) or mark == NIGHT


def faults_in(path: Path) -> dict[str, str]:
    """The faults of the tests of a file."""
    marks = {
        test.name: re.findall(
            r"pytest\.mark\.fault\('(.*)'\)", "\n".join(map(ast.unparse, test.decorator_list))
        )
        for test in found_tests(ast.parse(path.read_text()).body)
    }
    return {name: faults[0] for name, faults in marks.items() if faults}


def test_a_test_that_make_test_may_leave_out_is_no_proof(tmp_path: Path) -> None:
    file = tmp_path / "test_some.py"
    file.write_text(
        "def test_a(): ...\n"
        "if IS_FULL:\n    def test_b(): ...\nelse:\n    def test_c(): ...\n"
        "@pytest.mark.parametrize('x', cases([], [1]))\ndef test_d(x): ...\n"
        "@pytest.mark.skipif(not IS_FULL, reason='slow')\ndef test_e(): ...\n"
        "@pytest.mark.night\ndef test_g(): ...\n"
        "class TestF:\n    def test_f(self): ...\n"
    )
    assert usual_tests(file) == {"test_a", "test_c", "test_f"}
    file.write_text(f"pytestmark = [pytest.mark.cluster, {NIGHT}]\n" + file.read_text())
    assert usual_tests(file) == set()
    deployers = next(path for path in FILES if path.name == "test_two_deployers.py")
    assert "test_clocks_that_are_off_make_no_difference" in usual_tests(deployers)
    assert "test_the_next_run_continues_where_a_killed_one_stopped" not in usual_tests(deployers)
