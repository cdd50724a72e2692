# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible shows a failed task with two lines before it: no comment for maintainers stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROLES = Path(__file__).resolve().parents[3] / "roles"
LINES_BEFORE = 2
TASK = re.compile(r"\s*- name:")
FILES = sorted(ROLES.glob("*/tasks/*.yml"))


@pytest.mark.parametrize("file", FILES, ids=lambda one: f"{one.parts[-3]}/{one.stem}")
def test_no_comment_is_shown_beside_a_failed_task(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    tasks = [place for place, line in enumerate(lines) if TASK.match(line)]
    assert tasks
    for place in tasks:
        shown = lines[max(0, place - LINES_BEFORE) : place]
        assert [line for line in shown if line.strip().startswith("#")] == []
