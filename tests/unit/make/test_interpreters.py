# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Of several Pythons of a version the newest one is taken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.make import interpreters


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:
    interpreters.installed.cache_clear()
    interpreters.look_at.cache_clear()
    yield
    interpreters.installed.cache_clear()
    interpreters.look_at.cache_clear()


def python(folder: Path, patch: int) -> Path:
    """A program that says that it is a Python 3.11."""
    folder.mkdir()
    program = folder / "python3.11"
    program.write_text(f"#!/bin/sh\necho 3 11 {patch} {program}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(("first", "second", "newest"), [(2, 7, 1), (7, 2, 0), (10, 9, 0)])
def test_the_newest_patch_release_counts_wherever_it_is_on_the_path(
    first: int, second: int, newest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [python(tmp_path / "one", first), python(tmp_path / "two", second)]
    monkeypatch.setenv("PATH", f"{tmp_path / 'one'}:{tmp_path / 'two'}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert interpreters.installed()[3, 11] == programs[newest]
