# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the steps in tests/README.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.make import step_table
from tests.make.command import CommandError
from tests.make.generated_blocks import block
from tests.make.outcome import Outcome
from tests.make.step_table import PAGE, cost_of, write_costs, write_table
from tests.make.steps import GROUPS, TEST

PROOFS = {"lint": "Roles are good.", "unit": "Decisions."}
TABLE = """Measured one after the other, each alone: 400 s in all.

| step | seconds | CPU seconds | tests or checks | what only this step proves |
|---|---:|---:|---:|---|
| `lint` | 68 | 71 | 1 | Roles are good. |
| `unit` | 320 | 601 | 7890 | Decisions. |
| all | 388 | 672 | 7891 | |"""


def test_the_step_table_is_written_from_the_measured_costs(tmp_path: Path) -> None:
    costs = [
        cost_of("lint", Outcome(1, cpu_seconds=71.04), 68.21),
        cost_of("unit", Outcome(7880, 3, 7, cpu_seconds=601), 320),
    ]
    file, page = tmp_path / "reports" / "costs.json", tmp_path / "README.md"
    write_costs(costs, 400.0, 1, file)
    page.write_text(f"Before.\n{block('steps', 'old')}\nAfter.\n")
    write_table(PROOFS, page, file)
    assert page.read_text() == f"Before.\n{block('steps', TABLE)}\nAfter.\n"


def test_without_a_measurement_the_command_for_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"\n  make test LANES=1$"):
        write_table(PROOFS, tmp_path / "README.md", tmp_path / "none.json")


def test_the_page_has_each_step_of_make_test_and_what_it_proves() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| [\d]+ \| .* \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE))
    assert set(rows) == set(GROUPS[TEST])
    assert rows == step_table.PROOFS
