# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that every test belongs to exactly one suite, so that `make test-all` runs it, and runs it once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tests.cluster.paths import BUILD

from . import content, setup
from .command import CommandError, read
from .environments import MAIN
from .outcome import Outcome, failed, passed
from .suites import SUITES, Suite

COLLECTOR = "tests.support.collector"
OF_EXAMPLES = "examples/"
"""Tests of an example run in a pytest of their own, which tests/unit/examples starts."""
FOLDER = BUILD / "reports"


def check() -> Outcome:
    """Collect the tests of each suite, and compare them with all files of tests that there are."""
    setup.for_tests()
    files = _test_files()
    suites, everything = _collected(SUITES)
    problems = find_problems(suites, everything, files)
    print(*(f"{name}: {len(tests)} tests" for name, tests in suites.items()), *problems, sep="\n", flush=True)
    return failed(f"{len(problems)} problems with suites: {problems[0]}") if problems else passed()


def find_problems(
    suites: Mapping[str, Sequence[str]], everything: Sequence[str], files: Sequence[str]
) -> list[str]:
    """Return a line for each test that isn't in exactly one suite, and for each file that no suite has.

    Args:
        suites: the tests of each suite.
        everything: all tests in the folders of suites, also those that the markers of each leave out.
        files: all files of tests.
    """
    problems = []
    members = {name: frozenset(tests) for name, tests in suites.items()}
    for test in sorted({*everything, *(one for tests in members.values() for one in tests)}):
        of = [name for name, tests in members.items() if test in tests]
        if len(of) != 1:
            problems.append(f"{test} is in {' and in '.join(of) or 'no suite'}")
    collected = {test.partition("::")[0] for tests in (everything, *members.values()) for test in tests}
    problems += [f"{file}: no suite collects a test from it" for file in files if file not in collected]
    return problems


def _collected(suites: Sequence[Suite]) -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
    """Return the tests that pytest selects for each suite, as `file::name`, and all in their folders."""
    target = FOLDER / "collected.json"
    target.unlink(missing_ok=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    folders = sorted({folder for suite in suites for folder in suite.folders})
    described = {suite.name: {"folders": suite.folders, "markers": suite.markers} for suite in suites}
    code, printed = read(
        [MAIN.python, "-m", "pytest", "--collect-only", "-qq", "-p", COLLECTOR, *folders],
        env={
            **MAIN.variables,
            "KYMA_COLLECTED": str(target),
            "KYMA_SUITES": json.dumps(described),
            "KYMA_FAULTS": "whole",
            "KYMA_TESTS": "all",
        },
    )
    if code or not target.exists():
        raise CommandError(f"pytest can't collect the tests of the suites:\n{printed}")
    collected = json.loads(target.read_text(encoding="utf-8"))
    return collected["suites"], collected["everything"]


def _test_files() -> Sequence[str]:
    """Return all files of tests in the work tree."""
    names = [str(path) for path in content.tracked_files() if path.match("test_*.py")]
    return sorted(name for name in names if not name.startswith(OF_EXAMPLES))
