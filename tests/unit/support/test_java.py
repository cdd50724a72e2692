# Copyright: (c) 2026, the kyma.lifecycle authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests of rulebooks are skipped for want of Java with a reason, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.java import why_no_java


def java(folder: Path, script: str) -> Path:
    """Write a program that stands in for Java."""
    folder.mkdir(parents=True)
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("version", ["17.0.15", "17", "25.0.1", "26-ea"])
def test_a_java_that_is_new_enough_will_do(tmp_path: Path, version: str) -> None:
    java(tmp_path / "bin", f"""echo 'openjdk version "{version}" 2025-04-15' >&2""")
    assert why_no_java({"PATH": str(tmp_path / "bin")}) == ""


@pytest.mark.parametrize(("version", "named"), [("11.0.2", "11"), ("1.8.0_402", "1"), ("16.0.1", "16")])
def test_an_older_one_will_not(tmp_path: Path, version: str, named: str) -> None:
    program = java(tmp_path / "bin", f"""echo 'openjdk version "{version}"' >&2""")
    assert why_no_java({"PATH": str(tmp_path / "bin")}) == (
        f"ansible-rulebook needs Java 17 or newer, and {program} is version {named}"
    )


def test_java_home_is_taken_first(tmp_path: Path) -> None:
    java(tmp_path / "old" / "bin", """echo 'openjdk version "11.0.2"' >&2""")
    java(tmp_path / "new", """echo 'openjdk version "21.0.2"' >&2""")
    path = str(tmp_path / "new")
    assert "is version 11" in why_no_java({"PATH": path, "JAVA_HOME": str(tmp_path / "old")})
    assert why_no_java({"PATH": path, "JAVA_HOME": ""}) == ""


def test_none_and_a_broken_one_have_reasons_of_their_own(tmp_path: Path) -> None:
    assert "there is no java on the PATH" in why_no_java({"PATH": str(tmp_path)})
    assert "doesn't start" in why_no_java({"PATH": "", "JAVA_HOME": str(tmp_path / "gone")})
    java(tmp_path / "bin", "exit 1")
    assert "names no version" in why_no_java({"PATH": str(tmp_path / "bin")})
