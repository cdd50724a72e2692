# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page that says which test shows which case names only tests that there are, and each case has one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.cluster.paths import ROOT
from tests.unit.docs.test_threat_model import usual_tests

PAGE = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", PAGE)))
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]*tests/[^|]*|\*\*[^|]+) \|$", PAGE, re.MULTILINE)


@cache
def names_in(path: str) -> frozenset[str]:
    """Return the names of all tests of a file, those in classes by both names."""

    def names(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                yield prefix + node.name
            elif isinstance(node, ast.ClassDef):
                yield from names(node.body, f"{node.name}::")

    return frozenset(names(ast.parse((ROOT / path).read_text(encoding="utf-8")).body))


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_each_test_that_it_names_is_there(path: str, name: str) -> None:
    assert name in names_in(path)


def test_each_of_the_faults_has_a_row_and_a_test_in_make_test() -> None:
    rows = dict(
        re.findall(
            r"^\| (\d+)[a-d]?\. [^|]+ \| ([^|]+) \|$", PAGE.partition("### The 16 faults")[2], re.MULTILINE
        )
    )
    assert sorted(map(int, rows)) == list(range(1, 17))
    for tests in rows.values():
        marked = [
            name
            for path, name in re.findall(r"`(tests/faults/\w+\.py)::(\w+)`", tests)
            if re.search(rf"@pytest\.mark\.fault\([^)]*\)\n(?:@.*\n)*def {name}\(", (ROOT / path).read_text())
        ]
        assert marked, tests


def test_each_case_has_a_test() -> None:
    assert [case for case, tests in ROWS if "none found" in tests] == []


def test_each_test_that_stands_for_others_is_in_make_test() -> None:
    table = PAGE.partition("### What only `make test-all` tries")[2].partition("\n## ")[0]
    for row in re.findall(r"^\| [^|]+ \| ([^|]+) \|$", table, re.MULTILINE):
        for path, name in re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", row):
            assert name.rpartition(":")[2] in usual_tests(ROOT / path), (path, name)
