# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every test is in one suite."""

from __future__ import annotations

from tests.make.partition import find_problems

FILES = ["tests/unit/test_a.py", "tests/faults/test_b.py"]
A, A_LIVE, B = (
    "tests/unit/test_a.py::test_a",
    "tests/unit/test_a.py::test_live",
    "tests/faults/test_b.py::test_b",
)


def test_a_partition_is_fine() -> None:
    suites = {"unit": [A], "integration": [A_LIVE], "faults": [B]}
    assert find_problems(suites, [A, A_LIVE], FILES) == []


def test_a_test_of_two_suites_is_reported() -> None:
    suites = {"unit": [A, A_LIVE], "integration": [A_LIVE], "faults": [B]}
    assert find_problems(suites, [A, A_LIVE], FILES) == [f"{A_LIVE} is in unit and in integration"]


def test_a_test_that_all_markers_leave_out_is_reported() -> None:
    suites = {"unit": [A], "integration": [], "faults": [B]}
    assert find_problems(suites, [A, A_LIVE], FILES) == [f"{A_LIVE} is in no suite"]


def test_a_file_in_a_folder_of_no_suite_is_reported() -> None:
    suites = {"unit": [A], "faults": [B]}
    assert find_problems(suites, [], [*FILES, "tests/later/test_c.py"]) == [
        "tests/later/test_c.py: no suite collects a test from it"
    ]
