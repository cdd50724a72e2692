# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make faults` goes on where it was ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.make import run_record
from tests.make.run_record import code_digest, open_record


def test_a_new_run_gets_a_seed_and_has_nothing_to_skip(tmp_path: Path) -> None:
    record = open_record("", tmp_path, "code")
    assert int(record.seed) >= 0
    assert record.lines == ()
    assert open_record("4711", tmp_path, "code").seed == "4711"


def test_a_run_that_was_ended_goes_on(tmp_path: Path) -> None:
    first = open_record("4711", tmp_path, "code")
    first.path.write_text("tests/faults/test_a.py::test_one\n")
    for again in (open_record("4711", tmp_path, "code"), open_record("", tmp_path, "code")):
        assert again.seed == "4711"
        assert again.lines == ["tests/faults/test_a.py::test_one"]


def test_another_seed_starts_an_empty_record(tmp_path: Path) -> None:
    open_record("4711", tmp_path, "code").path.write_text("tests/faults/test_a.py::test_one\n")
    assert open_record("4712", tmp_path, "code").lines == ()


def test_other_code_starts_an_empty_record(tmp_path: Path) -> None:
    old = open_record("4711", tmp_path, "code")
    old.path.write_text("tests/faults/test_a.py::test_one\n")
    assert open_record("4711", tmp_path, "other code").lines == ()
    assert not old.path.exists()


def test_a_run_that_succeeded_is_forgotten(tmp_path: Path) -> None:
    record = open_record("4711", tmp_path, "code")
    record.path.write_text("tests/faults/test_a.py::test_one\n")
    record.remove()
    assert open_record("4711", tmp_path, "code").lines == ()


def test_the_digest_changes_with_every_file_but_those_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_record, "ROOT", tmp_path)
    monkeypatch.setattr(run_record, "tracked_files", lambda: {Path("a.py"), Path("docs/b.md")})
    (tmp_path / "docs").mkdir()
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "docs" / "b.md").write_text("1")
    before = [code_digest(besides) for besides in ("*.md", "docs/b.md", "none")]
    (tmp_path / "docs" / "b.md").write_text("2")
    after = [code_digest(besides) for besides in ("*.md", "docs/b.md", "none")]
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, True, False]
    (tmp_path / "a.py").write_text("2")
    assert code_digest("*.md") != before[0]
