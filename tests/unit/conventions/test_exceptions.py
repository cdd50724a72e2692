# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No line is excepted from a check, and no file: CONTRIBUTING says so."""

from __future__ import annotations

import re

from tests.cluster.paths import ROOT

FOLDERS = ("examples", "extensions", "plugins", "tests")
EXCEPTION = re.compile(r"#\s*(?:noqa|type:\s*ignore|pylint:\s*disable|mypy:\s*ignore)\b", re.IGNORECASE)


def test_no_line_is_excepted_from_a_check() -> None:
    assert [
        f"{file.relative_to(ROOT)}:{number}"
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if EXCEPTION.search(line)
    ] == []


def test_no_file_is_excepted_from_sanity() -> None:
    assert [*(ROOT / "tests" / "sanity").glob("ignore*")] == []
