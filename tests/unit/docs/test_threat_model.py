# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The threat model has a test for each "can't", and each that it names is there."""

from __future__ import annotations

import re

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
def test_the_proof_of_each_claim_exists(claim: str, proof: str) -> None:
    assert claim
    code = ""
    for name in re.findall(r"`(test_\w+(?:\.py)?)`", proof):
        if name.endswith(".py"):
            code = "\n".join(path.read_text() for path in FILES if path.name == name)
            assert code, name
        else:
            assert f"def {name}(" in code
